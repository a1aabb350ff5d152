// Journeys of a person through the console, in a real Chromium against a real server.
//   node e2e/run.mjs [--shots] [name...]
import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { check } from "./axe.mjs";
import { findChromium, launch, open } from "./browser.mjs";
import { startServer } from "./server.mjs";

if (!findChromium()) {
  if (process.env.CI) {
    console.error("e2e: there is no Chromium, and none could be installed");
    process.exit(1);
  }
  console.log("e2e: left out, there is no Chromium (apt-get install chromium)");
  process.exit(0);
}

const out = new URL("./out/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const wanted = process.argv.slice(2).filter((a) => !a.startsWith("--"));
const folder = new URL("./journeys/", import.meta.url);
const journeys = {};
const waits = [];
const alones = [];
for (const file of readdirSync(folder).sort()) {
  const module = await import(new URL(file, folder));
  Object.assign(journeys, module.journeys);
  waits.push(...(module.waiting ?? []));
  alones.push(...(module.alone ?? []));
}
const names = Object.keys(journeys).filter((name) => wanted.length === 0 || wanted.some((w) => name.includes(w)));

// Each lane takes the next journey that nobody has taken. A journey has its server and its browser to itself in its lane.
// Those that wait for long, for a lost network or a dead master, have a lane of their own: the processors are not theirs.
// What shows for a few seconds only is looked for alone, after all others: on busy processors a page may miss it.
const begins = (list) => (name) => list.some((beginning) => name.startsWith(beginning));
const last = names.filter(begins(alones));
const among = names.filter((name) => !last.includes(name));
const slow = among.filter(begins(waits));
const quick = among.filter((name) => !slow.includes(name));
let failed = 0;

async function lane(first, then) {
  const browser = await launch();
  const next = () => first.shift() ?? then.shift();
  for (let name = next(); name !== undefined; name = next()) await walk(browser, name);
  await browser.close();
}

async function walk(browser, name) {
  const started = Date.now();
  // A journey is a function, or says beside it how its server is started.
  const journey = journeys[name];
  const { run, server: options } = typeof journey === "function" ? { run: journey } : journey;
  const server = await startServer(options);
  const opened = [];
  const visit = async (options) => {
    const one = await open(browser, server.url, options);
    opened.push(one);
    return one;
  };
  try {
    await run({ server, visit, check, out, shots: process.argv.includes("--shots") });
    for (const { wrong } of opened) assert.deepEqual(wrong, [], "what the browser complained about");
    console.log(`ok    ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n${error.stack ?? error}`);
    for (const [i, { page, wrong }] of opened.entries()) {
      if (wrong.length > 0) console.log(`  the browser said: ${wrong.join("\n  ")}`);
      await page.screenshot({ path: `${out}failed-${name.replaceAll(/\W+/g, "-")}-${i}.png` }).catch(() => undefined);
    }
    console.log(`  the server said:\n${server.log().split("\n").slice(-8).join("\n")}`);
  } finally {
    for (const { context } of opened) await context.close();
    await server.stop();
  }
}

const began = Date.now();
const shares = [
  [quick, slow],
  [quick, slow],
  [slow, []],
].slice(0, names.length);
await Promise.all(shares.map(([first, then]) => lane(first, then)));
if (last.length > 0) await lane(last, []);
console.log(`${names.length} journeys, ${failed} failed, ${((Date.now() - began) / 1000).toFixed(0)} s`);
process.exit(failed > 0 ? 1 : 0);
