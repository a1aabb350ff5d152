import { EditorView } from "@codemirror/view";

// Added and removed are told by a bar, by weight and by a line through: a hue means a state.
export const diffTheme = EditorView.theme({
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--ground-2)" },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: "var(--ground-2)" },
  "&.cm-merge-a .cm-changedText": { background: "none", textDecoration: "line-through", textDecorationThickness: "1px" },
  "&.cm-merge-b .cm-changedText": { background: "none", fontWeight: "650", textDecoration: "underline", textUnderlineOffset: "3px" },
  ".cm-changeGutter": { width: "3px", paddingLeft: "1px" },
  ".cm-changedLineGutter": { background: "var(--ink) !important" },
  ".cm-collapsedLines": { color: "var(--ink-2)", background: "var(--ground-3) !important", padding: "2px 8px", cursor: "pointer" },
});
