import assert from "node:assert/strict";
import { createServer } from "node:http";
import { becomes, signInByCall } from "../steps.mjs";

/** waiting are the beginnings of those that wait more than they work. */
export const waiting = ["a timer's firings"];

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
        await signInByCall(server, page);
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

        // One that can't be planned any more says why: a timezone that a new version no longer knows, by the server's word.
        const gone = 'timezone: there is no timezone "Mars/Olympus"';
        await page.route(/\/api\/timer\/v1\//, async (route) => {
          const answer = await route.fetch();
          const text = await answer.text();
          const broken = (x) => (x?.name === "broken" ? { ...x, enabled: false, why: gone } : x);
          const told = (_, x) => (Array.isArray(x) ? x.map(broken) : broken(x));
          await route.fulfill({ response: answer, body: JSON.stringify(JSON.parse(text), told) });
        });
        await page.reload();
        await page.locator("[data-timer=broken]").getByText(`not planned any more: ${gone}`).waitFor();
        await page.locator("[data-timer=broken]").getByRole("button", { name: "broken", exact: true }).click();
        await drawer.getByText(`not planned any more: ${gone}`).waitFor();
        assert.deepEqual(await check(page, "a timer that broke"), []);
        await page.keyboard.press("Escape");
        await page.unrouteAll({ behavior: "wait" });

        // What all of them call, and what is due: the operators' view.
        await page.getByRole("link", { name: "All timers of the cluster" }).click();
        await page
          .locator("[data-called]")
          .getByText(/^[1-9].* a second/)
          .waitFor();
        await page.getByText(/p50 ≤ \d+ ms/).waitFor();
        await page.getByText(/^counted .* ago, every 5 s$/).waitFor();
        const map = page.getByRole("table", { name: "Firings that are due, by minute and bucket" });
        await map
          .getByRole("button", { name: /: 60 due$/ })
          .first()
          .waitFor();
        assert.deepEqual(await check(page, "timers of the cluster"), []);
        await page.getByLabel("Numbers").check();
        await map.getByText("60", { exact: true }).first().waitFor();
        await page.getByRole("radiogroup", { name: "Shown as" }).getByText("Table").click();
        await page.getByRole("columnheader", { name: "Fullest column" }).waitFor();
        await page.getByRole("cell", { name: "60" }).first().waitFor();
        assert.deepEqual(await check(page, "timers of the cluster as a table"), []);
      } finally {
        receiver.close();
      }
    },
  },

  "a timer is made in a form that shows its moments and the server's refusals, replaced, and deleted": {
    server: { flags: ["--listeners-reach", "any"] },
    run: async ({ server, visit, check }) => {
      const asked = [];
      const receiver = createServer((request, response) => {
        let body = "";
        request.on("data", (chunk) => {
          body += chunk;
        });
        request.on("end", () => {
          asked.push({ method: request.method, url: request.url, source: request.headers["x-source"], body });
          response.end("thanks");
        });
      });
      await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      try {
        const { page } = await visit({ refused: [422] });
        await signInByCall(server, page);
        await page.goto(`${server.url}/p/examples/timers`);
        await page.getByRole("button", { name: "New timer" }).click();
        const form = page.getByRole("dialog", { name: "New timer" });
        await form.getByRole("textbox", { name: "Name" }).fill("ping");
        await form.getByRole("textbox", { name: "Cron" }).fill("* * * * * *");
        await form.getByText("every second").waitFor();
        await form.locator(".next-fires li").first().waitFor();
        await form.getByRole("textbox", { name: "URL" }).fill("ftp://example.org");
        await form.getByRole("textbox", { name: "Tries at most" }).fill("99");
        await form.getByRole("button", { name: "Create" }).click();
        await form.getByText("only http and https are called").waitFor();
        await form.getByText("99 is not in 1-20").waitFor();
        await page.waitForTimeout(250); // what opens has opened
        assert.deepEqual(await check(page, "new timer"), []);
        await form.getByRole("textbox", { name: "URL" }).fill(`http://127.0.0.1:${receiver.address().port}/good`);
        await form.getByRole("textbox", { name: "Tries at most" }).fill("2");
        await form.getByRole("textbox", { name: "Headers" }).fill("X-Source: console");
        await form.getByRole("textbox", { name: "Body" }).fill("hello");
        await form.getByRole("button", { name: "Create" }).click();
        await form.waitFor({ state: "hidden" });
        const row = page.locator("[data-timer=ping]");
        await row.getByText("on", { exact: true }).waitFor();
        const called = async (path) => {
          for (let i = 0; i < 100; i++) {
            const found = asked.find((a) => a.url === path);
            if (found) return found;
            await new Promise((r) => setTimeout(r, 100));
          }
          throw new Error(`nobody called ${path}`);
        };
        const first = await called("/good");
        assert.deepEqual([first.method, first.source, first.body], ["POST", "console", "hello"]);

        await row.getByRole("button", { name: "Actions for ping" }).click();
        await page.getByRole("menuitem", { name: "Replace" }).click();
        const edit = page.getByRole("dialog", { name: "Replace ping" });
        await becomes(() => edit.getByRole("textbox", { name: "Headers" }).inputValue(), "X-Source: console");
        await edit.getByRole("textbox", { name: "URL" }).fill(`http://127.0.0.1:${receiver.address().port}/better`);
        await edit.getByRole("button", { name: "Replace" }).click();
        await edit.waitFor({ state: "hidden" });
        await row.getByText("on", { exact: true }).waitFor();
        await called("/better");

        await row.getByRole("button", { name: "Actions for ping" }).click();
        await page.getByRole("menuitem", { name: "Delete" }).click();
        await page.getByLabel("Type ping to delete it").fill("ping");
        await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
        await page.getByRole("heading", { name: "No timer yet" }).waitFor();
        assert.deepEqual(await check(page, "no timers"), []);
      } finally {
        receiver.close();
      }
    },
  },
};
