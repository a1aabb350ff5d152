import assert from "node:assert/strict";
import { signInByCall } from "../steps.mjs";

export const journeys = {
  "a long list keeps at most 60 rows in the page, and reads on while it is scrolled": async ({ server, visit }) => {
    server.apply("etl", "name: tiny\ntasks:\n  - {name: a, type: noop}\n");
    const starts = 250;
    for (let i = 0; i < starts; i++) await server.api("POST", "/projects/etl/workflows/tiny/start", {});
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/runs?workflow=tiny&project=etl`);
    const table = page.getByRole("table", { name: "Instances" });
    const rows = table.locator("[data-instance]");
    await rows.first().waitFor();
    for (let i = 0; i < 20; i++) {
      assert.ok((await rows.count()) <= 60, `${await rows.count()} rows are in the page`);
      await table.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await page.waitForTimeout(100);
      if (await page.getByText(`${starts} rows`, { exact: true }).isVisible()) return;
    }
    assert.fail("the end of the list did not come");
  },
};
