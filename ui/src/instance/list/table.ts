import type { Instance } from "../../api/client";

// The rows of the list as a file.

const columns = [
  "id",
  "project",
  "workflow",
  "version",
  "state",
  "reason",
  "round",
  "created_by",
  "schedule_time",
  "created_at",
  "started_at",
  "finished_at",
] as const;

/** cell quotes what a reader of CSV would split, and disarms what a spreadsheet would run. */
function cell(value: unknown): string {
  let text = value === undefined || value === null ? "" : String(value);
  if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** asCSV is RFC 4180: a head, CRLF, quotes where they are needed. */
export function asCSV(rows: Instance[]): string {
  return [columns.join(","), ...rows.map((r) => columns.map((c) => cell(r[c])).join(","))].map((line) => `${line}\r\n`).join("");
}
