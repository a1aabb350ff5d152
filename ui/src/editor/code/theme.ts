import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Variables of the page reach into the shadow root, so that one theme serves light and dark. A hue
// means a state everywhere in the console: code is told apart by weight and slant alone.
const ink = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.keyword, tags.controlKeyword], fontWeight: "600" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment, tags.meta], color: "var(--ink-2)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--ink-2)" },
  {
    tag: [tags.special(tags.variableName), tags.definition(tags.variableName)],
    textDecoration: "underline",
    textDecorationColor: "var(--line-strong)",
  },
]);

const control = {
  font: "inherit",
  color: "var(--ink)",
  background: "var(--ground)",
  border: "1px solid var(--line-strong)",
  borderRadius: "4px",
  minHeight: "24px",
  margin: "0",
  padding: "0 8px",
};

const ring = { outline: "2px solid var(--ink)", outlineOffset: "1px" };

const squiggle = (color: string) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${color} 1px`,
  textUnderlineOffset: "3px",
  textDecorationSkipInk: "none",
  paddingBottom: "0",
});

const mark = (color: string, shape: string) => ({
  content: "''",
  width: "8px",
  height: "8px",
  margin: "6px 4px 0",
  background: color,
  clipPath: shape,
});

const rules = EditorView.theme({
  "&": { color: "var(--ink)", background: "var(--ground)", height: "100%", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": {
    content: "''",
    position: "absolute",
    inset: "0",
    boxShadow: "inset 0 0 0 2px var(--ink)",
    pointerEvents: "none",
    zIndex: "300",
  },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-line": { padding: "0 12px 0 8px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--ink) 18%, transparent)",
  },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { background: "var(--ground)", color: "var(--ink-2)", border: "none", fontVariantNumeric: "tabular-nums" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 4px 0 12px" },
  ".cm-activeLine": { background: "transparent" },
  ".cm-activeLineGutter": { background: "transparent", color: "var(--ink)", fontWeight: "600" },
  ".cm-chosen": { boxShadow: "inset 2px 0 0 var(--ink)", background: "var(--ground-2)" },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": { background: "var(--ground-3)", outline: "1px solid var(--line-strong)" },
  "&.cm-focused .cm-nonmatchingBracket, .cm-nonmatchingBracket": { background: "transparent", color: "var(--st-failed-text)" },
  ".cm-searchMatch": { background: "var(--ground-3)", outline: "1px solid var(--line-strong)" },
  ".cm-searchMatch.cm-searchMatch-selected": { background: "var(--ink)", color: "var(--ink-on)" },
  ".cm-searchMatch.cm-searchMatch-selected *": { color: "var(--ink-on)" },
  ".cm-selectionMatch": { background: "var(--ground-3)" },
  ".cm-specialChar": { color: "var(--st-failed-text)" },
  ".cm-placeholder": { color: "var(--ink-2)" },
  ".cm-foldPlaceholder": { background: "var(--ground-3)", border: "1px solid var(--line-strong)", color: "var(--ink-2)", padding: "0 4px" },
  ".cm-panels": { background: "var(--ground-2)", color: "var(--ink)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search, .cm-dialog": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "6px",
    padding: "8px 40px 8px 12px",
    fontFamily: "var(--font)",
    fontSize: "13px",
  },
  ".cm-panel.cm-search br": { flexBasis: "100%", content: "''" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "4px",
    margin: "0",
    minHeight: "24px",
    fontSize: "13px",
    whiteSpace: "nowrap",
  },
  ".cm-panel.cm-search input[type=checkbox]": { margin: "0", width: "14px", height: "14px", accentColor: "var(--ink)" },
  ".cm-panel.cm-search .cm-textfield, .cm-textfield": {
    ...control,
    flex: "1 1 160px",
    maxWidth: "280px",
    fontFamily: "var(--mono)",
    fontSize: "12.5px",
  },
  ".cm-panel.cm-search .cm-button, .cm-button": { ...control, backgroundImage: "none", cursor: "pointer" },
  ".cm-button:hover": { background: "var(--ground-3)" },
  ".cm-panel.cm-search .cm-textfield:focus-visible, .cm-textfield:focus-visible, .cm-button:focus-visible, .cm-panel input:focus-visible, .cm-panel button:focus-visible":
    ring,
  ".cm-panel.cm-search [name=close], .cm-dialog-close": {
    color: "var(--ink)",
    fontSize: "18px",
    width: "28px",
    height: "28px",
    top: "6px",
    right: "6px",
    cursor: "pointer",
  },
  ".cm-tooltip": {
    background: "var(--ground)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    boxShadow: "0 4px 16px rgb(0 0 0 / 18%)",
    overflow: "hidden",
    fontFamily: "var(--font)",
    fontSize: "13px",
    maxWidth: "min(420px, 90vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete": {
    "& > ul": { fontFamily: "var(--mono)", fontSize: "12.5px", maxHeight: "240px", minWidth: "220px" },
    "& > ul > li": { padding: "2px 10px", lineHeight: "20px", display: "flex", gap: "12px" },
    "& > ul > li[aria-selected]": { background: "var(--ink)", color: "var(--ink-on)" },
  },
  ".cm-completionLabel": { flex: "none" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": {
    fontStyle: "normal",
    fontFamily: "var(--font)",
    color: "var(--ink-2)",
    marginLeft: "auto",
    overflow: "hidden",
    textOverflow: "ellipsis",
  },
  "li[aria-selected] .cm-completionDetail": { color: "var(--ink-on)" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "320px", lineHeight: "18px" },
  ".cm-tooltip.cm-tooltip-hover": { padding: "0" },
  ".cm-hover": {
    padding: "6px 10px",
    lineHeight: "18px",
    "& code": { fontFamily: "var(--mono)", fontSize: "12px" },
    "& p": { margin: "0 0 4px" },
  },
  ".cm-tooltip-lint": { padding: "0", margin: "0" },
  ".cm-diagnostic": {
    padding: "6px 10px",
    margin: "0",
    border: "none",
    borderLeft: "3px solid var(--st-failed)",
    lineHeight: "18px",
    whiteSpace: "pre-wrap",
  },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--st-retry)" },
  ".cm-lintRange-error": squiggle("var(--st-failed)"),
  ".cm-lintRange-warning": squiggle("var(--st-retry)"),
  ".cm-lintRange-active": { background: "var(--failed-ground)" },
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--st-failed)" },
  ".cm-lintPoint-warning:after": { borderBottomColor: "var(--st-retry)" },
  ".cm-gutter-lint": { width: "16px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0" },
  ".cm-lint-marker": { width: "16px", height: "20px" },
  ".cm-lint-marker-error": mark("var(--st-failed)", "circle()"),
  ".cm-lint-marker-warning": mark("var(--st-retry)", "polygon(50% 0, 100% 100%, 0 100%)"),
});

/** theme is the look of all code in the editor. */
export const theme = [rules, syntaxHighlighting(ink)];
