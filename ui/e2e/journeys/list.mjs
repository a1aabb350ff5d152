import assert from "node:assert/strict";
import { signInByCall } from "../steps.mjs";

const count = 10_000;
const most = 60; // rows in the page

export const journeys = {
  "a list of 10,000 keeps at most 60 rows in the page, and reads on while it is scrolled": async ({ server, visit }) => {
    server.apply("etl", "name: tiny\ntasks:\n  - {name: a, type: noop}\n");
    let left = count;
    const starter = async () => {
      while (left-- > 0) await server.api("POST", "/projects/etl/workflows/tiny/start", {});
    };
    await Promise.all(Array.from({ length: 8 }, starter));
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/runs?workflow=tiny&project=etl`);
    const table = page.getByRole("table", { name: "Instances" });
    const rows = table.locator("[data-instance]");
    await rows.first().waitFor();
    // In the page: each frame goes to the end of what is there, and counts what is drawn.
    const seen = await table.evaluate(
      (box, within) =>
        new Promise((resolve) => {
          const end = performance.now() + within;
          let most = 0;
          let height = 0;
          const step = () => {
            most = Math.max(most, box.querySelectorAll("[data-instance]").length);
            if (/^\d+ rows$/.test(document.querySelector(".instances-page > .meta").textContent) || performance.now() > end)
              return resolve({ most, height });
            if (box.scrollHeight > height) {
              height = box.scrollHeight;
              box.scrollTo(0, height);
            }
            return requestAnimationFrame(step);
          };
          step();
        }),
      60_000,
    );
    await page.getByText(`${count} rows`, { exact: true }).waitFor();
    assert.ok(seen.most <= most, `${seen.most} rows are in the page`);
    assert.ok(seen.height >= count * 26, `the list is ${seen.height} px high`);
    await rows.last().waitFor();
  },
};
