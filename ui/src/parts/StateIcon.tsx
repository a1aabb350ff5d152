import { type Glyph, lookOf } from "../domain/states";
import { useSay, word } from "../i18n";

const glyphs: Record<Glyph, string> = {
  check: "M4.6 8.3 7 10.6 11.5 5.6",
  play: "M6.3 5 11.2 8 6.3 11Z",
  cross: "M5.4 5.4 10.6 10.6M10.6 5.4 5.4 10.6",
  slash: "M5.2 10.8 10.8 5.2",
  loop: "M10.9 6.2A3.4 3.4 0 1 0 11.4 8.6M11.2 4.2V6.6H8.8",
  square: "M5.6 5.6H10.4V10.4H5.6Z",
  bars: "M6.2 5.2V10.8M9.8 5.2V10.8",
  hourglass: "M5.6 5H10.4L8 8ZM5.6 11H10.4L8 8Z",
  dots: "M5.2 8H5.3M8 8H8.1M10.7 8H10.8",
  hop: "M4.8 9.6C6 6 10 6 11.2 9.6M11.4 7V9.8H8.8",
  question: "M6.3 6.4C6.4 4.6 9.7 4.6 9.7 6.6C9.7 7.9 8 7.9 8 9.2M8 11.2V11.3",
};
const filled: Partial<Record<Glyph, true>> = { play: true, square: true, hourglass: true };

/** StateIcon is a state's colour, shape and glyph; its word stands beside it or in label. */
export function StateIcon({ state, size = 16, label }: { state: string; size?: number; label?: string }) {
  const { hue, glyph, fill } = lookOf(state);
  const solid = fill === "solid";
  return (
    <svg
      className={`state-icon hue-${hue} fill-${fill}`}
      viewBox="0 0 16 16"
      width={size}
      height={size}
      {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })}
    >
      <circle cx="8" cy="8" r={solid ? 8 : 7.1} className="shape" />
      <path d={glyphs[glyph]} className={filled[glyph] ? "glyph full" : "glyph"} />
    </svg>
  );
}

/** StateWord is the icon and the word. */
export function StateWord({ state, size }: { state: string; size?: number }) {
  const { t } = useSay();
  return (
    <span className={`state-word text-${lookOf(state).hue}`}>
      <StateIcon state={state} size={size} />
      <span>{state ? word(t, "state", state) : t("state.outside")}</span>
    </span>
  );
}
