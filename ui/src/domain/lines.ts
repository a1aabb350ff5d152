// Lists and maps as a person types them: one entry a line.

/** lines are the lines of a text that are not blank, without the blanks around them. */
export function lines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

export type Variables = { values: Record<string, string> } | { wrong: number };

/** variables reads NAME=value lines; a value keeps its blanks. wrong is the line, from 1, that is none. */
export function variables(text: string): Variables {
  const values: Record<string, string> = {};
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    const name = line.slice(0, Math.max(0, at)).trim();
    if (name === "") return { wrong: i + 1 };
    values[name] = line.slice(at + 1);
  }
  return { values };
}

/** textOf writes variables as lines, by name. */
export function textOf(values: Record<string, string>): string {
  return Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}
