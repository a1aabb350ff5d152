// Chromium, and what every journey holds it to: no error on the console, no request to
// another host, no violation of the page's policy, nothing typed that is lost.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { keepTyped } from "./typed.mjs";

const paths = [process.env.PORPOISE_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-headless-shell", "/usr/bin/google-chrome"];

/** findChromium installs Debian's package where it may; it gives undefined where there is none. */
export function findChromium() {
  const found = () => paths.find((p) => p && existsSync(p));
  if (found()) return found();
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.log("e2e: installing Debian's chromium");
    spawnSync("apt-get", ["update", "-q"], { stdio: "ignore" });
    spawnSync("apt-get", ["install", "-qy", "--no-install-recommends", "chromium"], { stdio: "ignore" });
  }
  return found();
}

export function launch() {
  return chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/**
 * open gives a page of a fresh person, and the list of what went wrong in it. refused are the
 * statuses that the journey asks for on purpose: the browser writes each down by itself.
 */
export async function open(browser, url, { refused = [], ...options } = {}) {
  const context = await browser.newContext({
    baseURL: url,
    locale: "en-US",
    timezoneId: "Europe/Berlin",
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  await context.addInitScript(keepTyped);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const wrong = [];
  // Any page may learn that its session is over; the browser writes that down too.
  const expected = new RegExp(`status of (${[401, ...refused].join("|")})`);
  // Its other tabs too: the context hears of all.
  context.on(
    "console",
    (m) => m.type() === "error" && !expected.test(m.text()) && wrong.push(`console: ${m.text()} (${m.location().url})`),
  );
  context.on("weberror", (e) => wrong.push(`page: ${e.error().stack ?? e.error()}`));
  context.on(
    "request",
    (r) => !r.url().startsWith(url) && !r.url().startsWith("data:") && !r.url().startsWith("blob:") && wrong.push(`foreign: ${r.url()}`),
  );
  return { context, page, wrong };
}
