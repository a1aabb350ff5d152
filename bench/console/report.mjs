// The table: on the screen, as JSON, and between the marks of docs/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";
import { join } from "node:path";
import { root } from "../../ui/e2e/server.mjs";

const begin = "<!-- console begin: written by `node bench/console/main.mjs --write` -->";
const end = "<!-- console end -->";

/** machine says when and on what it was measured. */
export function machine(browser) {
  const when = new Date().toISOString().slice(0, 16).replace("T", " ");
  const processors = cpus();
  return `Measured ${when} UTC: ${processors.length} cores (${processors[0]?.model ?? "unknown processor"}), Linux ${release()}, Chromium ${browser}, headless: every pixel is drawn by the processor.`;
}

export const load = () =>
  loadavg()
    .map((n) => n.toFixed(2))
    .join(" ");

/** row is one line: a value, its unit ("ms", "%" or ""), and the bar that it may not pass, if it has one. */
export function row(what, value, unit, bar) {
  return { what, value, unit, bar, missed: bar !== undefined && !(value <= bar) };
}

function figure(n, unit) {
  if (unit === "ms") return `${n < 100 ? n.toFixed(1) : n.toFixed(0)} ms`;
  return unit === "%" ? `${n.toFixed(1)} %` : String(Math.round(n * 100) / 100);
}

export function markdown({ machine, before, after, rows }) {
  const lines = [machine, "", `Load average over 1, 5 and 15 minutes: ${before} before the run, ${after} after it.`, ""];
  lines.push("| what | ours | bar | ours / bar | met |", "|---|---|---|---|---|");
  for (const r of rows) {
    const bar = r.bar === undefined ? ["-", "-", "-"] : [`<= ${r.bar}${r.unit && ` ${r.unit}`}`, (r.value / r.bar).toFixed(2), r.missed ? "NO" : "yes"];
    lines.push(`| ${[r.what, figure(r.value, r.unit), ...bar].join(" | ")} |`);
  }
  return `${lines.join("\n")}\n`;
}

/** write replaces what is between the marks. */
export function write(table) {
  const path = join(root, "docs/performance.md");
  const text = readFileSync(path, "utf8");
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md lacks the lines ${begin} and ${end}`);
  writeFileSync(path, `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`);
}
