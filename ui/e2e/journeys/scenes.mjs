import assert from "node:assert/strict";
import { play, prepare, scenes, words } from "../scenes.mjs";
import { signInByLink } from "../steps.mjs";

/** What no other journey holds to axe. */
const unchecked = [
  /^(today menu|palette|shortcuts|not found|profile|workflow missing|instance missing)/,
  /^(project |member|workflow (new|copy|delete|menu)|workflows none)/,
  /^(instances (chosen|empty)|instance log (full|below)|editor new)/,
];

const main = ["today", "projects", "workflows", "hub versions", "instances", "instance", "instance tasks", "profile", "editor list"];

/** inBoth checks the page in one theme, then in the other, without leaving it. */
async function inBoth(check, page, where) {
  const wrong = [];
  for (const theme of ["light", "dark"]) {
    await page.evaluate((t) => document.documentElement.setAttribute("data-mantine-color-scheme", t), theme);
    wrong.push(...(await check(page, `${where} ${theme}`)));
  }
  return wrong;
}

/** clean holds the unchecked scenes to axe. */
async function clean({ page, server, check, dictionary, all }) {
  const wrong = [];
  for (const [name, scene] of Object.entries(all)) {
    if (!unchecked.some((part) => part.test(name))) continue;
    await play(page, server, dictionary, scene);
    wrong.push(...(await inBoth(check, page, name)));
  }
  return wrong;
}

/** whole opens the main pages as those see them who need them large, still or in their own colours. */
async function whole({ page, server, check, dictionary, all }) {
  const wrong = [];
  await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
  for (const width of [640, 320]) {
    await page.setViewportSize({ width, height: 512 });
    for (const name of main) {
      // The grid of the list may scroll by itself (WCAG 1.4.10); the page around it may not.
      await play(page, server, dictionary, all[name]);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (over > 0) wrong.push(`${name} at ${width}: wider by ${over}`);
      const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running").length);
      if (moving > 0) wrong.push(`${name}: ${moving} animations run`);
      if (width === 320) wrong.push(...(await check(page, `${name} in forced colours`)));
    }
  }
  return wrong;
}

export const journeys = {
  // Both in one: what the scenes show takes a third of a minute to prepare.
  "scenes: all are clean to axe in both themes, and 200 % zoom, 320 px, forced colours and no motion take nothing away": async ({
    server,
    visit,
    check,
  }) => {
    const { page } = await visit({ refused: [404] });
    await signInByLink(server, page);
    const given = { page, server, check, dictionary: await words("en"), all: scenes(await prepare(server)) };
    assert.deepEqual([...(await clean(given)), ...(await whole(given))], []);
  },

  "scenes: sign-in, set-up and the first Today are clean to axe in both themes": async ({ server, visit, check }) => {
    const stranger = await visit();
    const wrong = [];
    await stranger.page.goto(`${server.url}/`);
    await stranger.page.getByLabel("User").fill("admin");
    await stranger.page.locator("input[name=password]").fill("wrong");
    await stranger.page.getByRole("button", { name: "Sign in" }).click();
    await stranger.page.getByRole("alert").waitFor();
    wrong.push(...(await inBoth(check, stranger.page, "sign-in with error")));
    await stranger.page.locator("input[name=password]").fill(server.password);
    await stranger.page.getByRole("button", { name: "Sign in" }).click();
    await stranger.page.locator("input[name=password]").fill("seven");
    await stranger.page.locator("input[name=again]").fill("something else");
    wrong.push(...(await inBoth(check, stranger.page, "set-up")));
    const { page } = await visit({ refused: [404] });
    await signInByLink(server, page);
    wrong.push(...(await inBoth(check, page, "today, fresh")));
    assert.deepEqual(wrong, []);
  },

  "scenes: the tab key walks the shell in the order it is read, and every stop shows": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    await page.goto(`${server.url}/projects`);
    await page.getByRole("link", { name: "examples" }).waitFor();
    const walked = [];
    for (let i = 0; i < 11; i++) {
      await page.keyboard.press("Tab");
      walked.push(
        await page.evaluate(() => {
          const e = document.activeElement;
          const seen = getComputedStyle(e).outlineStyle !== "none" || getComputedStyle(e).boxShadow !== "none";
          return `${e.getAttribute("aria-label") ?? e.textContent.trim()}${seen ? "" : " (no ring)"}`;
        }),
      );
    }
    assert.deepEqual(walked.slice(0, 9), [
      "Skip to content",
      "Main navigation",
      "Porpoise",
      "Search or doCtrl K",
      "Settings",
      "Today",
      "Instances",
      "Projects",
      "New project",
    ]);
    assert.ok(!walked.some((w) => w.endsWith("(no ring)")), walked.join(", "));
  },
};
