import { pieces } from "../log/ansi";

/** lastLines is the end of an output as plain text, without blank lines at its end. */
export function lastLines(tail: string, count: number): string {
  const lines = tail.trimEnd().split("\n").slice(-count);
  return lines
    .map((line) =>
      pieces(line)
        .map((p) => p.text)
        .join(""),
    )
    .join("\n");
}
