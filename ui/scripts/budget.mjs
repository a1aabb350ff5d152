// Fails the build when the bundle outgrows its budget: gzipped bytes, by what a page loads.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const KiB = 1024;
const assets = new URL("../dist/app/assets/", import.meta.url).pathname;
const index = readFileSync(new URL("../dist/app/index.html", import.meta.url), "utf8");

const sizes = new Map();
for (const name of readdirSync(assets)) if (!/\.(br|gz)$/.test(name)) sizes.set(name, gzipSync(readFileSync(assets + name)).length);

const total = (test) => [...sizes].filter(([name]) => test(name)).reduce((sum, [, n]) => sum + n, 0);
// What the index loads at once; it names the pages' files too, for ahead.js.
const inShell = (name) => index.includes(`"./assets/${name}"`);
const ofInstance = (name) => /^(InstancePage|TaskPanel|ActionDialog|layout\.worker|Graph)/.test(name);
const ofEditor = (name) => /^(Editor|read\.worker|YamlText)/.test(name);
const limits = [
  ["shell JS", total((n) => n.endsWith(".js") && inShell(n)), 270 * KiB],
  ["shell CSS", total((n) => n.endsWith(".css") && inShell(n)), 40 * KiB],
  ["instance view JS", total((n) => ofInstance(n) && n.endsWith(".js")), 110 * KiB],
  ["editor JS", total((n) => ofEditor(n) && n.endsWith(".js")), 270 * KiB],
  ["everything", total(() => true), 1331 * KiB],
];
for (const [name, n] of sizes) {
  if (name.endsWith(".js") && !inShell(name) && !ofInstance(name) && !ofEditor(name)) limits.push([name, n, 50 * KiB]);
}
let failed = false;
for (const [what, bytes, limit] of limits) {
  const over = bytes > limit;
  failed ||= over;
  console.log(`${over ? "OVER " : "ok   "} ${what}: ${(bytes / KiB).toFixed(1)} of ${(limit / KiB).toFixed(0)} KiB gz`);
}
process.exit(failed ? 1 : 0);
