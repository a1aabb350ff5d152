// Measures the console against its budgets, in a real Chromium against the real binary (bin/porpoise
// with the console built into it). Times are the page's own, read in the page.
//
//   node bench/console/main.mjs [--write] [--json] [--runs N] [--only MEASURE]
//
// It ends with 1 when a bar is missed. What can be counted (requests, elements, rows) is held by the
// journeys in ui/e2e/journeys too, so that it fails a build; times are only held here.
import { spawnSync } from "node:child_process";
import { findChromium, launch } from "../../ui/e2e/browser.mjs";
import { signInByLink } from "../../ui/e2e/steps.mjs";
import { clicked, frames, longest, median, opened, pan, percentile, presses, scroll, steps, stopFrames, typed, watchFrames, watchInput, work } from "./page.mjs";
import { load, machine, markdown, row, write } from "./report.mjs";
import { listed, needle, startSite } from "./site.mjs";

const asked = process.argv.slice(2);
const runs = Number(asked[asked.indexOf("--runs") + 1] ?? 0) || 5;
const only = asked.includes("--only") ? asked[asked.indexOf("--only") + 1] : undefined;
const say = (text) => asked.includes("--json") || console.error(`console: ${text}`);

async function times(n, one) {
  const out = [];
  for (let i = 0; i < n; i++) out.push(await one(i));
  return out;
}

/** idle measures what no page can be better than on this machine at this hour: nothing of the console is in it. */
async function idle(browser, state, site) {
  const page = await browser.newPage();
  const gaps = await frames(page, 240, () => undefined);
  const works = await times(runs, () => page.evaluate(work, steps));
  await page.close();
  const paints = await times(runs, async () => {
    const { context, paint } = await opened(browser, state, `${site.url}/readyz`, "body");
    await context.close();
    return paint;
  });
  return [
    row(`how fast the machine is: ${steps / 1e6} million steps of plain script`, median(works), "ms"),
    row("the same: first contentful paint of a page of one word, from the same server", median(paints), "ms"),
    row("the same: an empty page: a frame, p95 of 240", percentile(gaps, 95), "ms"),
  ];
}

/** pages measures the first paint, the data, and a route from the cache. */
async function pages(browser, state, site) {
  const loads = await times(runs, async () => {
    const { context, done, paint } = await opened(browser, state, `${site.url}/runs`, "[data-instance]");
    await context.close();
    return { done, paint };
  });
  const { page, context } = await opened(browser, state, `${site.url}/runs`, "[data-instance]");
  const list = 'nav a[href$="/runs"]';
  const today = 'nav a[href$="/projects"]';
  await clicked(page, today, "h1");
  const routes = await times(runs, async () => {
    const there = await clicked(page, list, "[data-instance]");
    await clicked(page, today, "table, .table, .empty");
    return there;
  });
  await context.close();
  return [
    row("first contentful paint of the list of instances, nothing cached", median(loads.map((l) => l.paint)), "ms", 500),
    row("the same page with its rows", median(loads.map((l) => l.done)), "ms", 1000),
    row("route change to a page in the cache", median(routes), "ms", 200),
  ];
}

/** graphs measures an instance of 2,000 tasks. */
async function graphs(browser, state, site) {
  const url = `${site.url}/p/bench/r/${site.big}`;
  const seen = await times(runs, async () => {
    const { page, context, done, requests } = await opened(browser, state, url, ".react-flow__node", ".react-flow__edge");
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    await context.close();
    return { done, elements, requests: requests.length };
  });
  const { page, context } = await opened(browser, state, url, ".react-flow__node");
  const near = await frames(page, 240, pan);
  await page.getByRole("button", { name: "Fit" }).click();
  await page.locator(".far-view").waitFor();
  const far = await frames(page, 240, pan);
  await context.close();
  return [
    row("2,000 tasks and 2,925 edges: from the address to usable, nothing cached", median(seen.map((s) => s.done)), "ms", 1000),
    row("its elements in the document", Math.max(...seen.map((s) => s.elements)), "", 3200),
    row("its requests to the API, beside the stream", Math.max(...seen.map((s) => s.requests))),
    row("panning it: a frame, p95 of 240", percentile(near, 95), "ms", 20),
    row("panning all of it from afar: a frame, p95 of 240", percentile(far, 95), "ms", 20),
  ];
}

/** grids measures 2,000 tasks of 30 instances beside each other. */
async function grids(browser, state, site) {
  await site.again();
  const url = `${site.url}/p/bench/w/many?tab=grid`;
  const seen = await times(runs, async () => {
    const { page, context, done, requests } = await opened(browser, state, url, '[role="gridcell"].fill-solid');
    const cells = await page.locator("[role=gridcell]").count();
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    await context.close();
    return { done, cells, elements, requests: requests.length };
  });
  const { page, context } = await opened(browser, state, url, '[role="gridcell"].fill-solid');
  const gaps = await frames(page, 240, scroll, ".grid-scroll");
  await context.close();
  return [
    row("the grid of 2,000 tasks x 30 instances: from the address to painted, nothing cached", median(seen.map((s) => s.done)), "ms", 500),
    row("its elements in the document", Math.max(...seen.map((s) => s.elements)), "", 3200),
    row("its cells in the document, of 60,000", Math.max(...seen.map((s) => s.cells)), "", 2000),
    row("scrolling it: a frame, p95 of 240", percentile(gaps, 95), "ms", 20),
  ];
}

/** states measures 200 tasks that end at once, on the screen of somebody who watches. */
async function states(browser, state, site) {
  const all = await times(3, async () => {
    const { id, open } = await site.gated();
    const { page, context } = await opened(browser, state, `${site.url}/p/bench/r/${id}`, ".react-flow__node .hue-running");
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
    await watchFrames(page);
    const before = await busy();
    open("gate");
    await page.waitForFunction(() => /success\s*201/.test(document.body.innerText.replaceAll("\n", " ")));
    const gaps = await stopFrames(page);
    const work = (await busy()) - before;
    open("hold");
    await context.close();
    return { longest: Math.max(...gaps), work };
  });
  return [
    row("200 of 2,000 tasks change state: the longest frame until all is shown", median(all.map((a) => a.longest)), "ms", 50),
    row("the same: work of the page's thread, with reading all anew", median(all.map((a) => a.work)), "ms"),
  ];
}

/** input measures keys on the graph of 2,000 tasks, in its search field and from node to node. */
async function input(browser, state, site) {
  const { page, context } = await opened(browser, state, `${site.url}/p/bench/r/${site.big}`, ".react-flow__node");
  await watchInput(page);
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find a task" }).waitFor();
  const found = await presses(page, [..."t39.4", ..."Enter Enter Enter Backspace Backspace Backspace Backspace Backspace".split(" "), ..."t2.17"].map(String));
  await page.keyboard.press("Escape");
  const walked = await presses(page, new Array(12).fill(["ArrowRight", "ArrowDown"]).flat());
  await context.close();
  const both = [...found, ...walked];
  const list = await opened(browser, state, `${site.url}/runs`, "[data-instance]");
  await watchInput(list.page);
  const moved = await presses(list.page, new Array(12).fill(["j", "x", "k"]).flat());
  await list.context.close();
  return [
    row(`a key on that graph (search, arrows) to the frame that shows it, p95 of ${both.length}`, percentile(both, 95), "ms", 50),
    row(`a key on the list of instances (down, choose, up), p95 of ${moved.length}`, percentile(moved, 95), "ms", 50),
  ];
}

/** logs measures the log of a task that printed 100 MiB: opened, and searched for its last line. */
async function logs(browser, state, site) {
  const url = `${site.url}/p/bench/r/${site.log}?task=print&panel=log`;
  const seen = await times(runs, async () => {
    const { context, done } = await opened(browser, state, url, ".log-line");
    await context.close();
    return done;
  });
  const hits = await times(runs, async () => {
    // From its first line, so that the hit is not on the screen already.
    const { page, context } = await opened(browser, state, `${url}&line=1`, ".log-line");
    await page.locator(".log").focus();
    await page.keyboard.press("Control+f");
    await page.locator(".log-find input").waitFor();
    const took = await typed(page, needle, ".log-row[data-current] mark");
    await context.close();
    return took;
  });
  const answers = await times(runs, async () => {
    const began = performance.now();
    const query = new URLSearchParams({ q: needle, limit: "1" });
    const { hits } = await site.api("GET", `/instances/${site.log}/tasks/print/attempts/1/log/search?${query}`);
    if (hits.length !== 1) throw new Error(`${hits.length} hits`);
    return performance.now() - began;
  });
  const kept = Math.round(site.logBytes / 1024 / 1024);
  return [
    row(`the log of a task that printed 100 MiB (${kept} MiB kept): from the address to its lines, nothing cached`, median(seen), "ms", 1000),
    row("a search through it for its last line: the server's answer", median(answers), "ms", 1000),
    row("the same: from the last letter typed to the hit on the screen", median(hits), "ms", 1000),
  ];
}

/** tailed is for how long a log that grows is watched, in seconds. */
const tailed = 15;

/** tails measures a log that is followed while thousands of lines come each second. */
async function tails(browser, state, site) {
  const id = await site.talk();
  const { page, context } = await opened(browser, state, `${site.url}/p/bench/r/${id}?task=talk&panel=log`, ".log-line");
  const last = () => page.evaluate(() => Number([...document.querySelectorAll(".log-row")].at(-1).dataset.line));
  await page.waitForTimeout(2000); // what its opening costs is not the question
  const [from, began] = [await last(), performance.now()];
  await watchFrames(page);
  await page.waitForTimeout(tailed * 1000);
  const gaps = await stopFrames(page);
  const rate = Math.round((((await last()) - from) / (performance.now() - began)) * 1000);
  const rows = await page.locator(".log-row").count();
  await context.close();
  return [
    row(`following a log of ${rate.toLocaleString("en")} lines a second: a frame, p95 of ${gaps.length}`, percentile(gaps, 95), "ms", 33),
    row("its rows in the document", rows),
  ];
}

/** tasks measures what holds the page's thread longest while pages open, and in the second after. */
async function tasks(browser, state, site) {
  const many = "/p/bench/w/many";
  const pages = {
    Today: ["/", "#content h2"],
    "the list of instances": ["/runs", "[data-instance]"],
    "the graph of 2,000 tasks": [`/p/bench/r/${site.big}`, ".react-flow__node"],
    "the grid of 2,000 tasks": [`${many}?tab=grid`, '[role="gridcell"].fill-solid'],
    "the editor of 2,000 tasks": [`${many}/edit`, ".react-flow__node"],
    "the text of 2,000 tasks": [`${many}/edit?view=text`, ".editor-text:not(:has(.code-waiting))"],
    "the log of 100 MiB": [`/p/bench/r/${site.log}?task=print&panel=log`, ".log-line"],
  };
  const out = [];
  for (const [what, [path, shows]] of Object.entries(pages)) {
    const long = await times(3, async () => {
      const { page, context } = await opened(browser, state, site.url + path, shows);
      await page.waitForTimeout(1000);
      const ms = await longest(page);
      await context.close();
      return ms;
    });
    out.push(row(`the longest task of the page's thread while it opens ${what}`, median(long), "ms", 200));
  }
  return out;
}

/** watched is for how long the slot map is watched, in seconds. */
const watched = 30;

/** cluster measures the slot map while a pulse comes each second. */
async function cluster(browser, state, site) {
  const { page, context } = await opened(browser, state, `${site.url}/cluster/slots`, "[data-slot]");
  const session = await context.newCDPSession(page);
  // The thread's own time: what others make it wait for is not the page's cost.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await session.send("Network.enable");
  let pulses = 0;
  session.on("Network.eventSourceMessageReceived", (m) => {
    if (m.eventName === "pulse") pulses++;
  });
  const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
  await page.waitForTimeout(3000); // what the page's opening costs is not the question
  const before = { busy: await busy(), pulses };
  await page.waitForTimeout(watched * 1000);
  const share = ((await busy()) - before.busy) / watched;
  await context.close();
  return [
    row(`the slot map of ${await site.slots()} slots, ${pulses - before.pulses} pulses in ${watched} s: share of a core that the page's thread takes`, share * 100, "%", 5),
  ];
}

/** lists measures the list of 10,000 instances: read to its end, then scrolled. */
async function lists(browser, state, site) {
  await site.fill();
  const { page, context } = await opened(browser, state, `${site.url}/runs?span=any`, "[data-instance]");
  const box = ".table.endless";
  await page.evaluate(
    ([selector, want]) =>
      new Promise((resolve) => {
        const until = performance.now() + 90_000;
        const tick = () => {
          const el = document.querySelector(selector);
          el.scrollTo(0, el.scrollHeight);
          if (el.scrollHeight >= want * 32 || performance.now() > until) return resolve();
          return setTimeout(tick, 20);
        };
        tick();
      }),
    [box, listed],
  );
  const loaded = await page.evaluate((selector) => Math.floor(document.querySelector(selector).scrollHeight / 32), box);
  await page.evaluate((selector) => document.querySelector(selector).scrollTo(0, 0), box);
  const gaps = await frames(page, 240, scroll, box);
  const inPage = await page.locator("[data-instance]").count();
  await context.close();
  return [
    row(`scrolling ${loaded.toLocaleString("en")} instances: a frame, p95 of 240`, percentile(gaps, 95), "ms", 20),
    row("rows of them in the document", inPage, "", 60),
  ];
}

/** ledger measures the year of a schedule that had 10,000 fires, its proof below, and the way from it to a month. */
async function ledger(browser, state, site) {
  const { schedule, fires } = await site.fired();
  const url = `${site.url}/p/bench/w/tiny/s/${schedule}`;
  const shown = async (what) => {
    const { context, done, requests } = await opened(browser, state, url, what);
    await context.close();
    return { done, requests: requests.length };
  };
  const days = await times(runs, () => shown(".calendar-day[data-worst]"));
  const proofs = await times(runs, () => shown(".proof-line"));
  const { page, context } = await opened(browser, state, url, ".calendar-day[data-worst]");
  const month = await times(runs, async () => {
    const there = await clicked(page, ".ledger-head input[value=month]", ".calendar.of-month");
    await clicked(page, ".ledger-head input[value=year]", ".calendar.of-year");
    return there;
  });
  await context.close();
  return [
    row(`the year of a schedule with ${fires.toLocaleString("en")} fires: from the address to its days, nothing cached`, median(days.map((d) => d.done)), "ms", 500),
    row("the same: to the proof below them", median(proofs.map((p) => p.done)), "ms"),
    row("its requests to the API", Math.max(...proofs.map((p) => p.requests))),
    row("from its year to a month", median(month), "ms", 200),
  ];
}

async function main() {
  if (!findChromium()) throw new Error("there is no Chromium: apt-get install chromium");
  const measures = [idle, pages, graphs, grids, states, input, logs, tails, tasks, cluster, lists, ledger].filter((m) => only === undefined || m.name === only);
  if (measures.includes(ledger) && spawnSync("sqlite3", ["-version"]).error) throw new Error("there is no sqlite3: apt-get install sqlite3");
  const before = load();
  const browser = await launch();
  const site = await startSite(say);
  const rows = [];
  try {
    const first = await browser.newContext({ baseURL: site.url });
    await signInByLink(site, await first.newPage());
    const state = await first.storageState();
    await first.close();
    for (const measure of measures) {
      say(measure.name);
      rows.push(...(await measure(browser, state, site)));
    }
    const report = { machine: machine(browser.version()), before, after: load(), rows };
    console.log(asked.includes("--json") ? JSON.stringify(report, null, 2) : markdown(report));
    if (asked.includes("--write") && !asked.includes("--only")) write(markdown(report));
  } finally {
    await browser.close();
    await site.stop();
  }
  const missed = rows.filter((r) => r.missed);
  for (const r of missed) console.error(`console: missed: ${r.what}: ${r.value.toFixed(1)}, the bar is ${r.bar}`);
  return missed.length > 0 ? 1 : 0;
}

process.exit(await main());
