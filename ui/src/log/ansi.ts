import Anser from "anser";

// Colours of a terminal as pieces of text: never HTML. What is no colour (cursor moves,
// bells) is taken out, as the server's search does it. The theme sees to it that every
// colour can be read; see log.css.

export interface Piece {
  text: string;
  className: string;
  color?: string;
  background?: string;
  href?: string;
}

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to be found
  /\u001b(?:\[(?![0-9;]*m)[0-?]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()][\s\S]?|[=>78]|(?!\[[0-9;]*m))|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u007f]/g;

/** pieces cuts one line. A line that was redrawn by carriage returns shows its last text. */
export function pieces(line: string): Piece[] {
  const redrawn = line.slice(line.lastIndexOf("\r") + 1);
  const clean = redrawn.replace(hidden, "");
  if (!clean.includes("\u001b")) return [{ text: clean, className: "" }];
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true }).map((chunk) => {
    const names: string[] = chunk.decorations.map((d) => `ansi-${d}`);
    const piece: Piece = { text: chunk.content, className: "" };
    const color = coloured(chunk.fg, chunk.fg_truecolor);
    const background = coloured(chunk.bg, chunk.bg_truecolor);
    if (color) {
      piece.color = color;
      names.push("ansi-own");
    } else if (chunk.fg) names.push(named(chunk.fg));
    if (background) {
      piece.background = background;
      names.push("ansi-own-bg");
    } else if (chunk.bg) names.push(`${named(chunk.bg)}-bg`);
    piece.className = names.join(" ");
    return piece;
  });
}

/** plain is a line as it is shown. */
export function plain(line: string): string {
  return pieces(line)
    .map((p) => p.text)
    .join("");
}

const address = /https?:\/\/[^\s<>"'`]+/g;

/** withLinks makes pieces of the addresses in them. Only http and https are links. */
export function withLinks(all: Piece[]): Piece[] {
  return all.flatMap((piece) => {
    if (!piece.text.includes("://")) return [piece];
    const out: Piece[] = [];
    let at = 0;
    for (const found of piece.text.matchAll(address)) {
      const href = found[0].replace(/[.,;:!?)\]}]+$/, "");
      if (found.index > at) out.push({ ...piece, text: piece.text.slice(at, found.index) });
      out.push({ ...piece, text: href, href });
      at = found.index + href.length;
    }
    if (at < piece.text.length) out.push({ ...piece, text: piece.text.slice(at) });
    return out;
  });
}

const sixteen = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** named gives the first sixteen of the 256 colours the names that they have elsewhere. */
function named(name: string): string {
  const n = Number(/palette-(\d+)$/.exec(name)?.[1] ?? Number.NaN);
  return n < 16 ? `ansi-${n < 8 ? "" : "bright-"}${sixteen[n % 8]}` : name;
}

/** coloured is a colour of the 256 or of all; undefined for the sixteen that have a name. */
function coloured(name: string | null, rgb: string | null): string | undefined {
  if (name === "ansi-truecolor") return rgb && /^\d+, ?\d+, ?\d+$/.test(rgb) ? `rgb(${rgb})` : undefined;
  const n = Number(/palette-(\d+)$/.exec(name ?? "")?.[1] ?? Number.NaN);
  if (!(n >= 16 && n <= 255)) return undefined;
  if (n >= 232) return `rgb(${[0, 0, 0].map(() => 8 + (n - 232) * 10).join(",")})`;
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const c = n - 16;
  return `rgb(${level(Math.floor(c / 36))},${level(Math.floor(c / 6) % 6)},${level(c % 6)})`;
}
