import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { play, prepare, scenes, words } from "../scenes.mjs";
import { signInByCall, signInByLink } from "../steps.mjs";

/** What no other journey holds to axe; the pages as they open are in every.mjs. */
const unchecked = [
  /^(today menu|palette|shortcuts|profile token|workflow missing|instance missing)/,
  /^(project |member |workflow (new|copy|delete|menu)|workflows none)/,
  /^(instances chosen|instance log (full|below)|editor new|restore|backfill cancel)/,
];

/** clean holds the unchecked scenes to axe. */
async function clean({ page, server, dictionary, all }) {
  const wrong = [];
  for (const [name, scene] of Object.entries(all)) {
    if (!unchecked.some((part) => part.test(name))) continue;
    await play(page, server, dictionary, scene);
    wrong.push(...(await inBoth(page, name)));
  }
  return wrong;
}

export const journeys = {
  "scenes: all are clean to axe in both themes": async ({ server, visit }) => {
    const { page } = await visit({ refused: [404] });
    await signInByLink(server, page);
    const all = scenes(await prepare(server));
    assert.deepEqual(await clean({ page, server, dictionary: await words("en"), all }), []);
  },

  "scenes: sign-in, set-up and the first Today are clean to axe in both themes": async ({ server, visit }) => {
    const stranger = await visit();
    const wrong = [];
    await stranger.page.goto(`${server.url}/`);
    await stranger.page.getByLabel("User").fill("admin");
    await stranger.page.locator("input[name=password]").fill("wrong");
    await stranger.page.getByRole("button", { name: "Sign in" }).click();
    await stranger.page.getByRole("alert").waitFor();
    wrong.push(...(await inBoth(stranger.page, "sign-in with error")));
    await stranger.page.locator("input[name=password]").fill(server.password);
    await stranger.page.getByRole("button", { name: "Sign in" }).click();
    await stranger.page.locator("input[name=again]").waitFor(); // the field of the sign-in has the same name
    await stranger.page.locator("input[name=password]").fill("seven");
    await stranger.page.locator("input[name=again]").fill("something else");
    wrong.push(...(await inBoth(stranger.page, "set-up")));
    const { page } = await visit({ refused: [404] });
    await signInByLink(server, page);
    wrong.push(...(await inBoth(page, "today, fresh")));
    assert.deepEqual(wrong, []);
  },

  "scenes: the tab key walks the shell in the order it is read, and every stop shows": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/projects`);
    await page.getByRole("link", { name: "examples" }).waitFor();
    const walked = [];
    for (let i = 0; i < 18; i++) {
      await page.keyboard.press("Tab");
      walked.push(
        await page.evaluate(() => {
          const e = document.activeElement;
          const seen = getComputedStyle(e).outlineStyle !== "none" || getComputedStyle(e).boxShadow !== "none";
          return `${e.getAttribute("aria-label") ?? e.textContent.trim()}${seen ? "" : " (no ring)"}`;
        }),
      );
    }
    assert.deepEqual(walked.slice(0, 17), [
      "Skip to content",
      "Main navigation",
      "Porpoise",
      "Search or doCtrl K",
      "Settings",
      "Today",
      "Instances",
      "Tasks",
      "Approvals",
      "Schedules",
      "Lineage",
      "Alerts",
      "Resources",
      "Projects",
      "Cluster",
      "Administration",
      "New project",
    ]);
    assert.ok(!walked.some((w) => w.endsWith("(no ring)")), walked.join(", "));
  },
};
