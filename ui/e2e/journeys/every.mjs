import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { furnish, pictured, routes } from "../pages.mjs";
import { signInByLink } from "../steps.mjs";
import { stops } from "../tabs.mjs";

const desk = { width: 1280, height: 800 };
const ready = "#content h1, [role=dialog] form";

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

/** over says by how much the page is wider than its window, and what sticks out. */
function over(page) {
  return page.evaluate(() => {
    const by = document.documentElement.scrollWidth - window.innerWidth;
    if (by <= 0) return undefined;
    const out = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1);
    return `wider by ${by}: ${out.slice(0, 3).map((e) => `${e.tagName.toLowerCase()}.${e.className}`)}`;
  });
}

/** open opens a page and waits until all of it is there. */
async function open(server, page, path) {
  await page.goto(server.url + path);
  await page.locator(ready).first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".skeleton, .code-waiting").length === 0);
}

/** narrow opens the page in the widths of a phone, of 320 px, and of a desk at 200 %. */
async function narrow(page, say, widths) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: width === 640 ? 400 : 800 });
    const wide = await over(page);
    if (wide) say(`${width} px: ${wide}`);
  }
  await page.setViewportSize(desk);
}

/** more is how many different things a page asks the server for, where three do not do. */
const more = { today: 13, instances: 6, "no instances": 5, editor: 7, workflow: 4, grid: 5, start: 4, instance: 8, schedule: 8 };

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

/** look holds a page to everything, loaded once in each language. */
async function look({ server, page, check, folder, traffic }, name, path, wrong) {
  const say = (what) => wrong.push(`${name}: ${what}`);
  const shoot = (theme, language) =>
    pictured.includes(name) && page.screenshot({ path: `${folder}${name.replaceAll(/\W+/g, "-")}-${theme}-${language}.png` });
  await choose(page, "en", "light");
  await open(server, page, path);
  wrong.push(...(await check(page, `${name}, light`)));
  await shoot("light", "en");
  const { size } = traffic.things;
  if (size > (more[name.split(",")[0]] ?? 3)) say(`asks for ${size} things: ${[...traffic.things].join(", ")}`);
  if (traffic.streams.size > 1) say(`has ${traffic.streams.size} streams open`);
  for (const what of await stops(page)) say(what);
  await narrow(page, say, [640, 390, 320]);
  await page.setViewportSize({ width: 390, height: 800 });
  wrong.push(...(await check(page, `${name}, 390 px`, "layout")));
  await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
  if (pictured.includes(name)) wrong.push(...(await check(page, `${name}, forced colours`, "colours")));
  const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running").length);
  if (moving > 0) say(`${moving} animations run where none may`);
  await page.emulateMedia({ reducedMotion: null, forcedColors: null });
  await page.setViewportSize(desk);

  // The other language in the other theme: each is a load of its own.
  await choose(page, "zh-CN", "dark");
  await open(server, page, path);
  wrong.push(...(await check(page, `${name}, dark`, "colours")));
  await narrow(page, (what) => say(`in Chinese, ${what}`), [1280, 390, 320]);
  await shoot("dark", "zh-CN");
  if (!pictured.includes(name)) return;
  await paint(page, "light");
  await shoot("light", "zh-CN");
  await choose(page, "en", "dark");
  await open(server, page, path);
  await shoot("dark", "en");
}

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
    const given = { server, page, check, folder, traffic: asked(page) };
    const wrong = [];
    for (const [i, [name, path]] of pages.entries()) if (i % 2 === odd) await look(given, name, path, wrong);
    assert.deepEqual(wrong, []);
  };

export const journeys = {
  "every page: axe in both themes, tab order, 200 % zoom, 320 px, phone, forced colours, no motion, both languages (1)": half(0),
  "every page: axe in both themes, tab order, 200 % zoom, 320 px, phone, forced colours, no motion, both languages (2)": half(1),
};
