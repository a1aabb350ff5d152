import assert from "node:assert/strict";
import { createServer } from "node:http";
import { signInByLink } from "../steps.mjs";

export const journeys = {
  "a timer's firings are seen, those that fail too; it is disabled and enabled": {
    server: { flags: ["--listeners-reach", "any"] },
    run: async ({ server, visit, check }) => {
      const receiver = createServer((request, response) => {
        response.statusCode = request.url === "/bad" ? 500 : 200;
        response.end(request.url === "/bad" ? "no such order" : "thanks");
      });
      await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      try {
        const { page } = await visit();
        await signInByLink(server, page);
        await page.goto(`${server.url}/p/examples/timers`);
        await page.getByRole("heading", { name: "No timer yet" }).waitFor();
        const make = async (name, path) => {
          const notifyHTTPParam = { url: `http://127.0.0.1:${receiver.address().port}/${path}`, method: "POST", maxTries: 1 };
          const made = await page.request.post(`${server.url}/api/timer/v1/def`, {
            data: { app: "examples", name, cron: "* * * * * *", timezone: "Asia/Tokyo", notifyHTTPParam },
          });
          assert.ok(made.ok(), await made.text());
        };
        await make("ping", "good");
        await make("broken", "bad");
        await page.reload();
        for (const name of ["ping", "broken"]) {
          const row = page.locator(`[data-timer=${name}]`);
          await row.getByRole("button", { name: `Actions for ${name}` }).click();
          await page.getByRole("menuitem", { name: "Enable" }).click();
          await row.getByText("on", { exact: true }).waitFor();
        }
        await page.locator("[data-timer=ping]").getByRole("button", { name: "ping", exact: true }).click();
        const drawer = page.getByRole("dialog");
        await drawer.getByText("every second").waitFor();
        await drawer.getByText("thanks").first().waitFor();
        assert.deepEqual(await check(page, "timer"), []);
        await page.keyboard.press("Escape");
        await page
          .locator("[data-timer=broken]")
          .getByText(/failures? in a row/)
          .waitFor();
        assert.deepEqual(await check(page, "timers"), []);
        await page.locator("[data-timer=broken]").getByRole("button", { name: "broken", exact: true }).click();
        await drawer.getByText("no such order").first().waitFor();
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Actions for broken" }).click();
        await page.getByRole("menuitem", { name: "Disable" }).click();
        await page.locator("[data-timer=broken]").getByText("off", { exact: true }).waitFor();
      } finally {
        receiver.close();
      }
    },
  },
};
