import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { furnish, pictured, routes, strip } from "../pages.mjs";
import { breakAll, failedIn, late, latin, longer, sentences } from "../states.mjs";
import { signInByCall, signInByLink } from "../steps.mjs";
import { stops } from "../tabs.mjs";

const desk = { width: 1280, height: 800 };
// A dialog that is in the address is what the page is about.
const ready = (path) => (/[?&](new|edit|delete|do|all|start)=/.test(path) ? "[role=dialog] :is(button, input)" : "#content h1");
/** quiet are the pages that wait for no answer: what they say came with who is signed in, or comes by the stream too. */
const quiet = /^(account|preferences|missing|slots)$/;
/** parts are shown by a page that is held to all of this without them: a dialog, a panel. */
const part = /, (form|pause|trigger|delete|pause of all|password)$|^start$/;

/** known are the Latin words that stand in a Chinese page, and why they may. */
const known = [
  /wait for load|all is there|to reckon with|report of a month|no worker/, // names
  /^(Small workflows to|Makes some sales figures|Which region's sales|How many orders)/, // the examples, as somebody wrote them
  /porpoise config check/, // to be typed
  /the first layout/, // what a master says of its layouts
  /ERROR 1146/, // a line that a task has printed
];

function choose(page, language, theme) {
  return page.evaluate(
    ([l, t]) => {
      localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
      localStorage.setItem("porpoise.theme", t);
    },
    [language, theme],
  );
}

const paint = (page, theme) => page.evaluate((t) => document.documentElement.setAttribute("data-mantine-color-scheme", t), theme);

/** over says by how much the page, or what scrolls in it as a whole, stays too wide, and what sticks out: what hovers is put in its place a moment later. */
async function over(page) {
  let wide;
  for (let i = 0; i < 20; i++) {
    wide = await page.evaluate(() => {
      for (const box of document.querySelectorAll("html, main, [role=dialog] :is(.mantine-Modal-body, .mantine-Drawer-body)")) {
        const by = box.scrollWidth - box.clientWidth;
        if (by <= 0) continue;
        const end = box.getBoundingClientRect().left + box.clientWidth + 1;
        const out = [...box.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > end && !e.closest(".scroll-x"));
        return `${box.tagName.toLowerCase()} is too wide by ${by}: ${out.slice(0, 3).map((e) => `${e.tagName.toLowerCase()}.${e.className}`)}`;
      }
      return undefined;
    });
    if (!wide) return undefined;
    await page.waitForTimeout(50);
  }
  return wide;
}

/** open opens a page and waits until all of it is there. */
async function open(server, page, path) {
  await page.goto(server.url + path);
  await complete(page, path);
}

async function complete(page, path) {
  await page.locator(ready(path)).first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".skeleton, .code-waiting").length === 0);
}

const zoomed = 640; // a desk at 200 %

/** narrow gives the page the widths of a desk, a phone and less, and before each look what act does. */
async function narrow(page, say, widths, act) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: width === zoomed ? 400 : 800 });
    await act?.();
    const wide = await over(page);
    if (wide) say(`${width} px: ${wide}`);
  }
  await page.setViewportSize(desk);
}

/** more is how many different things a page asks the server for, where three do not do. */
const more = {
  backfill: 4,
  today: 13,
  instances: 6,
  "no instances": 5,
  editor: 7,
  workflow: 4,
  grid: 5,
  start: 4,
  instance: 8,
  schedule: 8,
};

/** asked watches what a page asks for: the shell's session and approvals aside, each thing counted once. */
function asked(page) {
  const things = new Set();
  const streams = new Set();
  page.on("request", (r) => {
    const path = new URL(r.url()).pathname.replace(/.*\/api\//, "");
    if (path.endsWith("/stream")) streams.add(r);
    else if (r.url().includes("/api/") && !/^v1\/(session|approvals)$/.test(path)) things.add(`${r.method()} ${path}`);
  });
  for (const end of ["requestfailed", "requestfinished"]) page.on(end, (r) => streams.delete(r));
  // What the page before still asks for is not this one's.
  page.on("response", (r) => r.request().isNavigationRequest() && things.clear());
  return { things, streams };
}

/** look holds a page to everything, loaded once in each language, and once more with answers that fail. */
async function look(given, name, path, wrong) {
  const { server, page, check, folder, traffic } = given;
  const say = (what) => wrong.push(`${name}: ${what}`);
  const shoot = (theme, language) =>
    pictured.includes(name) && page.screenshot({ path: `${folder}${name.replaceAll(/\W+/g, "-")}-${theme}-${language}.png` });
  await choose(page, "en", "light");
  await open(server, page, path);
  // What is only longer than elsewhere is held to its widths.
  if (name.startsWith("long: ")) return narrow(page, say, [1280, 390, 360]);
  wrong.push(...(await check(page, `${name}, light`)));
  await shoot("light", "en");
  const { size } = traffic.things;
  if (size > (more[name.split(",")[0]] ?? 3)) say(`asks for ${size} things: ${[...traffic.things].join(", ")}`);
  if (traffic.streams.size > 1) say(`has ${traffic.streams.size} streams open`);
  for (const what of await stops(page)) say(what);
  await narrow(page, say, [1280, zoomed, 390, 360, 320]);
  await page.setViewportSize({ width: 390, height: 800 });
  wrong.push(...(await check(page, `${name}, 390 px`, "layout")));
  await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
  if (pictured.includes(name)) wrong.push(...(await check(page, `${name}, forced colours`, "colours")));
  const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running").length);
  if (moving > 0) say(`${moving} animations run where none may`);
  await page.emulateMedia({ reducedMotion: null, forcedColors: null });
  await narrow(
    page,
    (what) => say(`in longer words, ${what}`),
    [1280, 390, 320],
    () => longer(page, given.english),
  );
  if (!part.test(name) && !quiet.test(name)) await fail(given, name, path, wrong);

  // The other language in the other theme: each is a load of its own, and the answers to this one are late.
  await choose(page, "zh-CN", "dark");
  if (part.test(name) || quiet.test(name)) await open(server, page, path);
  else await wait(given, name, path, wrong);
  wrong.push(...(await check(page, `${name}, dark`, "colours")));
  await narrow(page, (what) => say(`in Chinese, ${what}`), [1280, 390, 320]);
  for (const text of await latin(page)) if (!known.some((one) => one.test(text))) say(`in Chinese stands "${text.slice(0, 100)}"`);
  await shoot("dark", "zh-CN");
  if (!pictured.includes(name)) return;
  await paint(page, "light");
  await shoot("light", "zh-CN");
  await choose(page, "en", "dark");
  await open(server, page, path);
  await shoot("dark", "en");
}

/** fail opens the page on a server that answers with failures: what failed stands in its place. */
async function fail({ server, broken, check }, name, path, wrong) {
  await broken.goto(server.url + path);
  const lacking = await failedIn(broken);
  wrong.push(...lacking.map((what) => `${name}, failed: ${what}`), ...(await check(broken, `${name}, failed`)));
}

/** wait opens the page while its answers are late: it says that it waits, as wide as its window, until they come. */
async function wait({ server, page, check }, name, path, wrong) {
  const go = await late(page);
  await page.goto(server.url + path);
  const skeleton = page.locator(".skeleton, .code-waiting").first();
  await skeleton.waitFor({ timeout: 10_000 }).catch(() => wrong.push(`${name}, loading: nothing says so`));
  wrong.push(...(await check(page, `${name}, loading`)));
  await narrow(page, (what) => wrong.push(`${name}, loading: ${what}`), [390]);
  // What the stream has brought meanwhile is not all.
  if (!(await skeleton.isVisible())) wrong.push(`${name}, loading: nothing says so any more`);
  await go();
  await complete(page, path);
}

/** wanted chooses the pages by a pattern in PAGES, for who mends one. */
const wanted = new RegExp(process.env.PAGES ?? "");

/** half walks every second page: two lanes share them. */
const half =
  (odd) =>
  async ({ server, visit, check, out }) => {
    const pages = Object.entries(await furnish(server));
    // A page that nobody put into the list is held to nothing.
    for (const route of routes()) {
      const pattern = new RegExp(`^${route.replaceAll(/\$\w+/g, "[^/]+")}$`);
      assert.ok(
        pages.some(([, path]) => pattern.test(path.split("?")[0])),
        `no page of pages.mjs is of ${route}`,
      );
    }
    const folder = `${out}pages/`;
    mkdirSync(folder, { recursive: true });
    const { page } = await visit();
    await signInByLink(server, page);
    // A form that is left asks nothing here.
    page.on("dialog", (d) => void d.accept());
    const { page: broken } = await visit({ refused: [500] });
    await broken.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: server.password } });
    await breakAll(broken);
    const given = { server, page, broken, check, folder, traffic: asked(page), english: await sentences("en") };
    const wrong = [];
    for (const [i, [name, path]] of pages.entries()) {
      if (i % 2 !== odd || !wanted.test(name)) continue;
      // What a page does not come to is wrong with it alone.
      await look(given, name, path, wrong).catch((error) => wrong.push(`${name}: ${error.message}`));
    }
    assert.equal(wrong.join("\n"), "");
  };

/** empty walks the pages of a project in which nothing has happened. */
async function empty({ server, visit, check }) {
  const { page } = await visit();
  await signInByCall(server, page);
  await page.goto(server.url);
  const wrong = [];
  for (const [name, path] of Object.entries(strip(server))) {
    if (!wanted.test(name)) continue;
    for (const language of ["en", "zh-CN"]) {
      await choose(page, language, language === "en" ? "light" : "dark");
      await open(server, page, path);
      const say = (what) => wrong.push(`${name}, ${language}: ${what}`);
      if ((await page.locator(":is(.empty, .nobody, .text-retry):visible").count()) === 0) say("nothing says that there is nothing");
      await narrow(page, say, [390]);
      wrong.push(...(await check(page, `${name}, ${language}`, language === "en" ? "everything" : "colours")));
    }
  }
  assert.equal(wrong.join("\n"), "");
}

export const journeys = {
  "every page: axe, the tab key, widths, both themes and languages, longer words, late and failed answers (1)": half(0),
  "every page: axe, the tab key, widths, both themes and languages, longer words, late and failed answers (2)": half(1),
  "every page on which there is nothing to see says so, in both languages": empty,
};
