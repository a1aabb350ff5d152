import assert from "node:assert/strict";
import { finished, long, runFailing, signInByLink } from "../steps.mjs";

export const journeys = {
  "every page is clean to axe in both themes, and no wider than the window": async ({ server, visit, check, out, shots }) => {
    const id = await runFailing(server);
    server.apply("etl", long);
    await server.api("POST", "/projects/etl/workflows/long/start", {});
    const { instance_id: green } = await server.api("POST", "/projects/examples/workflows/etl/start", {});
    await finished(server, green);
    await server.api("PUT", "/projects/examples/workflows/etl/schedules/nightly", { cron: "30 2 * * *", timezone: "Europe/Berlin" });
    const { page } = await visit();
    await signInByLink(server, page);
    const pages = {
      today: "/",
      instances: "/runs",
      empty: "/runs?st=quarantined&span=1h",
      projects: "/projects",
      workflows: "/p/examples/workflows",
      workflow: "/p/examples/w/etl",
      versions: "/p/examples/w/etl?tab=versions",
      definition: "/p/examples/w/etl?tab=definition",
      start: "/p/examples/w/etl?start=1",
      failed: `/p/etl/r/${id}`,
      log: `/p/etl/r/${id}?task=load+dim&panel=log`,
      gantt: `/p/etl/r/${id}?tab=gantt`,
      tasks: `/p/etl/r/${id}?tab=tasks`,
      params: `/p/examples/r/${green}?tab=params`,
      events: `/p/etl/r/${id}?tab=events`,
      schedules: "/p/examples/schedules",
      schedule: "/p/examples/w/etl/s/nightly",
      "schedule-form": "/p/examples/w/etl/s/nightly?do=edit",
      backfills: "/p/examples/w/etl?tab=backfills",
      timers: "/p/examples/timers",
      missing: "/nowhere",
    };
    const wrong = [];
    const views = shots
      ? [
          { width: 1280, height: 800 },
          { width: 390, height: 800 },
        ]
      : [{ width: 1280, height: 800 }];
    const languages = shots ? ["en", "zh-CN"] : ["en"];
    for (const language of languages) {
      for (const theme of ["light", "dark"]) {
        await page.evaluate(
          ([l, t]) => {
            localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
            localStorage.setItem("porpoise.theme", t);
          },
          [language, theme],
        );
        for (const view of views) {
          await page.setViewportSize(view);
          for (const [name, path] of Object.entries(pages)) {
            await page.goto(server.url + path);
            await page.locator("#content h1, [role=dialog] form").first().waitFor();
            await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
            await page.waitForTimeout(250); // what opens has opened
            wrong.push(...(await check(page, `${name} ${theme} ${language} ${view.width}`)));
            const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
            if (wide) wrong.push(`${name} ${theme} ${language} ${view.width}: wider than the window`);
            if (shots) await page.screenshot({ path: `${out}${name}-${theme}-${language}-${view.width}.png` });
          }
        }
      }
    }
    assert.deepEqual(wrong, []);
  },
};
