import { useComputedColorScheme } from "@mantine/core";
import { type RefObject, useEffect } from "react";

/** signSize is the width of a cell's glyph, in CSS pixels, as grid.css has it. */
const signSize = 16;
const names = ["check", "cross", "play", "square", "bars", "hourglass", "loop", "question"].map((n) => `--sign-${n}`);

/**
 * useBitmaps makes bitmaps of the glyphs of full cells once the grid has been painted, of the screen's own resolution. The style
 * sheet's are drawings, which the browser draws anew for each of a thousand cells of each frame of a scroll: that took 12 ms of it.
 */
export function useBitmaps(box: RefObject<HTMLElement | null>): void {
  const scheme = useComputedColorScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: in another scheme they have another colour
  useEffect(() => {
    const to = box.current;
    if (!to) return;
    let left = false;
    const later = setTimeout(async () => {
      const style = getComputedStyle(to);
      const drawings = names.map((name) => style.getPropertyValue(name));
      const made = await Promise.all(drawings.map(bitmap));
      if (left) return;
      // All at once: each change has the browser work out the style of a thousand cells anew.
      for (const [i, name] of names.entries()) if (made[i] !== undefined) to.style.setProperty(name, `url("${made[i]}")`);
    }, 100);
    return () => {
      left = true;
      clearTimeout(later);
      for (const name of names) to.style.removeProperty(name);
    };
  }, [box, scheme]);
}

/** bitmap draws what a url(...) names; undefined where the browser can't, and the drawing itself goes on serving. */
async function bitmap(url: string): Promise<string | undefined> {
  const source = /^url\("?(.*?)"?\)$/s.exec(url.trim())?.[1];
  if (source === undefined) return undefined;
  const size = Math.ceil(signSize * devicePixelRatio);
  const image = new Image(size, size);
  image.src = source;
  try {
    await image.decode();
  } catch {
    return undefined;
  }
  const canvas = document.createElement("canvas");
  canvas.width = size;
  canvas.height = size;
  canvas.getContext("2d")?.drawImage(image, 0, 0, size, size);
  return canvas.toDataURL();
}
