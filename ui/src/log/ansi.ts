import Anser from "anser";

// Colours of a terminal as pieces of text: never HTML, and only colours that the theme
// can show. What is no colour (cursor moves, bells) is taken out.

export interface Piece {
  text: string;
  className: string;
  color?: string;
  background?: string;
}

const otherEscapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be found
  /\u001b(?:\[[0-9;?]*[A-LN-Za-ln-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()][A-Z0-9]|[=>78])|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u007f]/g;

/** pieces cuts one line. A line that was redrawn by carriage returns shows its last text. */
export function pieces(line: string): Piece[] {
  const redrawn = line.lastIndexOf("\r") >= 0 ? line.slice(line.lastIndexOf("\r") + 1) : line;
  const clean = redrawn.replace(otherEscapes, "");
  if (!clean.includes("\u001b")) return [{ text: clean, className: "" }];
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true }).map((chunk) => {
    const names: string[] = chunk.decorations.map((d) => `ansi-${d}`);
    const piece: Piece = { text: chunk.content, className: "" };
    if (chunk.fg === "ansi-truecolor" || /palette/.test(chunk.fg ?? "")) piece.color = rgb(chunk.fg_truecolor) ?? palette(chunk.fg);
    else if (chunk.fg) names.push(chunk.fg);
    if (chunk.bg === "ansi-truecolor" || /palette/.test(chunk.bg ?? "")) piece.background = rgb(chunk.bg_truecolor) ?? palette(chunk.bg);
    else if (chunk.bg) names.push(`${chunk.bg}-bg`);
    piece.className = names.join(" ");
    return piece;
  });
}

function rgb(parts: string | null): string | undefined {
  return parts && /^\d+, ?\d+, ?\d+$/.test(parts) ? `rgb(${parts})` : undefined;
}

/** palette is the colour cube of 256-colour terminals. */
function palette(name: string | null): string | undefined {
  const n = Number(name?.match(/\d+$/)?.[0] ?? Number.NaN);
  if (!(n >= 16 && n <= 255)) return undefined;
  if (n >= 232) return `rgb(${[0, 0, 0].map(() => 8 + (n - 232) * 10).join(",")})`;
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const c = n - 16;
  return `rgb(${level(Math.floor(c / 36))},${level(Math.floor(c / 6) % 6)},${level(c % 6)})`;
}
