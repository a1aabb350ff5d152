import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, signInByCall } from "../steps.mjs";

/** The date that fails until the file is there; the others wait until the gate is open. */
const daily = (dir) => `name: daily
params:
  day: "\${system.biz.date}"
tasks:
  - name: load
    type: shell
    script: |
      while [ ! -e ${dir}/gate ]; do sleep 0.1; done
      if [ "$day" = 20260304 ] && [ ! -e ${dir}/mended ]; then exit 3; fi
`;

const report = `name: report
tasks:
  - {name: wait, type: dependent, check: {all: [{workflow: daily, date: today}]}}
`;

export const journeys = {
  "27: a backfill of 14 days: previewed, paused, resumed, widened; one fails, is mended, and it ends 14 of 14": async ({
    server,
    visit,
    check,
  }) => {
    const file = (name) => join(server.data, name);
    server.apply("shop", daily(server.data));
    server.apply("shop", report);
    const { page } = await visit({ refused: [409] });
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/shop/w/daily?tab=backfills`);
    await page.getByRole("heading", { name: "No backfill yet" }).waitFor();
    await page.getByRole("button", { name: "New backfill" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("From").fill("2026-03-01");
    await form.getByLabel("To, included").fill("2026-03-14");
    await form.getByLabel("At once").fill("2");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByText("14 instances will run:").waitFor();
    await form.getByText("2026-03-14").waitFor();
    await page.waitForTimeout(250); // what opens has opened
    assert.deepEqual(await check(page, "plan"), []);
    // Another wish has no plan yet: what starts is what was looked at.
    await form.getByLabel("At once").fill("3");
    await form.getByRole("button", { name: "Preview" }).waitFor();
    await form.getByLabel("At once").fill("2");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByRole("button", { name: "Start 14 runs" }).click();

    const one = page.getByRole("dialog", { name: /^Backfill \d+/ });
    await one.getByText("0 of 14, 2 running").waitFor();
    assert.match(page.url(), /id=\d+/);
    await one.locator("tbody tr", { hasText: "2026-03-012026-02-28" }).waitFor(); // the date, and its business date
    await one.getByRole("button", { name: "Pause" }).click();
    await one.getByRole("button", { name: "Resume" }).waitFor();
    writeFileSync(file("gate"), "");
    // Paused, what ran ends and no other begins.
    await one.getByText("2 of 14").waitFor();
    assert.deepEqual(await check(page, "backfill"), []);
    rmSync(file("gate"));
    await one.getByRole("button", { name: "Resume" }).click();
    // Going on, it says when it will be over; more at once begin where it already runs.
    await one.getByText(/^2 of 14, 2 running, done at about [^,]*\d:\d\d/).waitFor();
    await one.getByLabel("Dates at once").fill("4");
    await one.getByRole("button", { name: "Apply" }).click();
    await one.getByText(/^2 of 14, 4 running/).waitFor();
    writeFileSync(file("gate"), "");
    await one.getByText("14 of 14, 1 failed").waitFor();

    await one.getByRole("combobox", { name: "State" }).click();
    await page.getByRole("option", { name: "failed" }).click();
    await one.locator("tbody tr", { hasText: "success" }).first().waitFor({ state: "detached" });
    await one.locator("tbody tr", { hasText: /^2026-03-052026-03-04failed/ }).waitFor();
    await becomes(() => one.locator("tbody tr").count(), 1);
    writeFileSync(file("mended"), "");
    await one.getByRole("button", { name: "Recover 1 failed date" }).click();
    const bulk = page.getByRole("dialog", { name: "Recover failed" });
    await bulk.getByText("failed").first().waitFor();
    assert.deepEqual(await check(page, "recovering dates"), []);
    await bulk.getByRole("button", { name: "Recover failed" }).click();
    await bulk.getByText("1 of 1").waitFor();
    await bulk.getByRole("button", { name: "Close", exact: true }).last().click();
    const row = page.locator("[data-backfill]");
    await one.getByText("14 of 14", { exact: true }).waitFor();
    await one.getByRole("button", { name: /failed date/ }).waitFor({ state: "detached" });
    await page.goto(`${server.url}/p/shop/w/daily?tab=backfills`);
    await row.getByText("14 of 14", { exact: true }).waitFor();

    // Of the same days none is missing or failed any more; one more is.
    await page.getByRole("button", { name: "New backfill" }).click();
    await form.getByLabel("From").fill("2026-03-13");
    await form.getByLabel("To, included").fill("2026-03-15");
    await form.getByRole("combobox", { name: "Of these" }).click();
    await page.getByRole("option", { name: "never ran or failed" }).click();
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByText("2 dates are left out:").waitFor();
    // What waits for the workflow runs for the same dates, if asked to.
    await form.getByRole("switch", { name: "Also what waits for this workflow" }).focus();
    await page.keyboard.press("Space");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByRole("heading", { name: "report v1: 3 dates" }).waitFor();
    await form.getByRole("button", { name: "Start 4 runs" }).waitFor();
    // A date that somebody has run since is not run again: what was looked at is refused, and the plan of now shown.
    rmSync(file("gate"));
    await server.api("POST", "/projects/shop/workflows/daily/start", { schedule_time: "2026-03-15T00:00:00+01:00" });
    await form.getByRole("button", { name: "Start 4 runs" }).click();
    await form.getByRole("alert").waitFor();
    await form.getByRole("button", { name: "Start 3 runs" }).waitFor();
    assert.deepEqual(await check(page, "a stale plan"), []);
    await form.getByRole("switch", { name: "Also what waits for this workflow" }).focus();
    await page.keyboard.press("Space");
    await form.getByLabel("To, included").fill("2026-03-16");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByRole("button", { name: "Start 1 run" }).click();
    await one.getByText("0 of 1, 1 running").waitFor();
    // Whoever looks at the workflow is told of it.
    await page.goto(`${server.url}/p/shop/w/daily?tab=overview`);
    const under = page.locator(".backfill-banner");
    await under.getByText("0 of 1, 1 running").waitFor();
    assert.deepEqual(await check(page, "banner of a backfill"), []);
    await under.getByRole("link").click();
    await one.getByText("0 of 1, 1 running").waitFor();
    await one.getByRole("button", { name: "Cancel" }).click();
    await page
      .getByRole("dialog", { name: /^Cancel backfill/ })
      .getByRole("button", { name: "Stop what runs" })
      .click();
    await one.locator(".backfill-state").getByText("cancelled").waitFor();
    await row.nth(1).waitFor();

    // The project's list has those of all its workflows, and leads to each.
    await page.goto(`${server.url}/p/shop/backfills`);
    await row.filter({ hasText: "cancelled" }).getByRole("link", { name: "daily" }).waitFor();
    await becomes(() => row.count(), 2);
    assert.deepEqual(await check(page, "backfills of a project"), []);
    await row.filter({ hasText: "cancelled" }).getByRole("link").first().click();
    await one.locator(".backfill-state").getByText("cancelled").waitFor();
  },

  "27b: a backfill from a schedule's calendar: its moments, its clock and its parameters, of the month or the day that is shown": async ({
    server,
    visit,
    check,
  }) => {
    server.apply("shop", "name: daily\nparams:\n  table: orders\ntasks:\n  - {name: load, type: noop}\n");
    await server.api("PUT", "/projects/shop/workflows/daily/schedules/nightly", {
      cron: "30 2 * * *",
      timezone: "Asia/Tokyo",
      params: { table: "returns" },
    });
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/shop/w/daily/s/nightly?span=month&month=2026-03`);
    await page.getByRole("button", { name: "Backfill 2026-03-01 – 2026-03-31" }).click();
    const form = page.getByRole("dialog", { name: "Backfill daily" });
    await form.getByText("The dates are those at which nightly fires, with its parameters.").waitFor();
    const holds = (label) => form.getByLabel(label).inputValue();
    assert.deepEqual(
      [await holds("From"), await holds("To, included"), await holds("Cron"), await holds("Timezone"), await holds(/^table/)],
      ["2026-03-01", "2026-03-31", "30 2 * * *", "Asia/Tokyo", "returns"],
    );
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByText("31 instances will run:").waitFor();
    await form.getByText("2026-03-31 02:30:00 +09:00").waitFor();
    await page.waitForTimeout(250); // what opens has opened
    assert.deepEqual(await check(page, "a backfill of a month"), []);
    await form.getByRole("button", { name: "Cancel" }).click();
    await form.waitFor({ state: "hidden" });
    // What the form began with is over with it.
    await becomes(() => new URL(page.url()).search, "?tab=backfills");

    await page.goto(`${server.url}/p/shop/w/daily/s/nightly?span=month&month=2026-03&day=2026-03-05`);
    await page.getByRole("dialog").getByRole("button", { name: "Backfill this day" }).click();
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByText("1 instance will run:").waitFor();
    await form.getByRole("button", { name: "Start 1 run" }).click();
    const one = page.getByRole("dialog", { name: /^Backfill \d+/ });
    await one.getByText("1 of 1").waitFor();
    const [made] = (await server.api("GET", "/instances?project=shop&workflow=daily")).items;
    assert.deepEqual([made.schedule_time, made.params.table], ["2026-03-04T17:30:00.000Z", "returns"]);
  },

  "27c: between the preview and the start a date has run: the plan is refused, and says how it differs; its cells lead to instances":
    async ({ server, visit, check }) => {
      server.apply("shop", "name: daily\ntasks:\n  - {name: load, type: noop}\n");
      const { page } = await visit({ refused: [409] });
      await signInByCall(server, page);
      await page.goto(`${server.url}/p/shop/w/daily?tab=backfills&new=1&first=2026-03-01&last=2026-03-05`);
      const form = page.getByRole("dialog", { name: "Backfill daily" });
      await form.getByRole("combobox", { name: "Of these" }).click();
      await page.getByRole("option", { name: "those that never ran" }).click();
      await form.getByRole("combobox", { name: "Timezone" }).fill("UTC");
      await page.getByRole("option", { name: "UTC", exact: true }).click();
      await form.getByRole("button", { name: "Preview" }).click();
      await form.getByText("5 instances will run:").waitFor();
      const of = "/projects/shop/workflows/daily/backfills";
      const body = { dates: ["2026-03-02", "2026-03-03"] };
      const { token } = await server.api("POST", `${of}?preview=true`, body);
      const { backfill_id: other } = await server.api("POST", of, { ...body, preview: token });
      await becomes(async () => (await server.api("GET", `${of}/${other}`)).state, "success");
      await form.getByRole("button", { name: "Start 5 runs" }).click();
      await form
        .getByRole("alert")
        .getByText("2 dates would not run any more. Something has moved since: look at the plan again.")
        .waitFor();
      await form.getByText("3 instances will run:").waitFor();
      await form.getByRole("button", { name: "Start 3 runs" }).click();
      const one = page.getByRole("dialog", { name: /^Backfill \d+/ });
      await one.getByText("3 of 3", { exact: true }).waitFor();
      const cells = one.getByRole("list", { name: "Dates by state" });
      await becomes(() => cells.getByRole("listitem").count(), 3);
      await page.waitForTimeout(250); // what opens has opened
      assert.deepEqual(await check(page, "cells of a backfill"), []);
      await cells.getByRole("link", { name: "2026-03-04 daily: success" }).click();
      await page.waitForURL(/\/p\/shop\/r\/\d+/);
    },
};
