import { plain } from "../log/ansi";

/** lastLines is the end of an output as plain text, without blank lines at its end. */
export function lastLines(tail: string, count: number): string {
  return tail.trimEnd().split("\n").slice(-count).map(plain).join("\n");
}
