import type { Hue } from "../domain/states";

// The colours of the current theme, for what is drawn on a <canvas>: the tokens of tokens.css.

/** Palette is the tokens that a canvas draws with. */
export interface Palette {
  ground: string;
  line: string;
  edge: string;
  ink: string;
  plain: string;
  hues: Record<Hue, string>;
}

/** readPalette reads the tokens as they are now. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const hue = (name: Hue) => token(`st-${name}`);
  return {
    ground: token("ground"),
    line: token("line"),
    edge: token("line-strong"),
    ink: token("ink"),
    plain: token("line-strong"),
    hues: {
      success: hue("success"),
      running: hue("running"),
      failed: hue("failed"),
      retry: hue("retry"),
      killed: hue("killed"),
      paused: hue("paused"),
      queued: hue("queued"),
      skipped: hue("skipped"),
    },
  };
}

/** watchTheme calls when the theme has changed, until the returned function is called. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
  return () => observer.disconnect();
}
