import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inBoth } from "../axe.mjs";
import { cuttable, forgive } from "../proxy.mjs";
import { becomes, finished, long, runFailing, signInByCall, signInByLink } from "../steps.mjs";

const tiny = `name: tiny
params: {day: "1"}
tasks:
  - {name: a, type: shell, script: 'exit "$day"'}
  - {name: b, type: noop, needs: [a]}
`;

/** begin starts instances of which every second fails. */
async function begin(server, count) {
  const ids = [];
  for (let i = 0; i < count; i++) {
    const made = await server.api("POST", "/projects/etl/workflows/tiny/start", { params: { day: String(i % 2) } });
    ids.push(made.instance_id);
  }
  return ids;
}

/** many starts instances of which every second fails, and waits for all. */
async function many(server, count) {
  server.apply("etl", tiny);
  const ids = await begin(server, count);
  for (const id of ids) await finished(server, id);
  return ids;
}

/** apart starts instances in two bursts with a whole second between them, and gives those of each that have failed. */
async function apart(server, first, second) {
  server.apply("etl", tiny);
  const bursts = [await begin(server, first)];
  const gone = Math.floor(Date.now() / 1000);
  while (Math.floor(Date.now() / 1000) < gone + 2) await new Promise((resolve) => setTimeout(resolve, 50));
  bursts.push(await begin(server, second));
  const failed = [];
  for (const ids of bursts) {
    const ends = [];
    for (const id of ids) ends.push(await finished(server, id));
    failed.push(ends.filter((one) => one.state === "failed").map((one) => one.id));
  }
  return failed;
}

const rowsOf = (page) => page.locator("[data-instance]").evaluateAll((rows) => rows.map((r) => r.getAttribute("data-instance")));

/** waiting are the beginnings of those that wait more than they work. */
export const waiting = ["29b: "];

export const journeys = {
  "24c: a row says what failed, what started it and how far it came, in the columns that a person wants": async ({
    server,
    visit,
    check,
    out,
    shots,
  }) => {
    server.apply("etl", "name: quick\ntasks:\n  - {name: a, type: noop}\n");
    for (let n = 0; n < 3; n++) {
      await finished(server, (await server.api("POST", "/projects/etl/workflows/quick/start", {})).instance_id);
    }
    server.apply("etl", long.replace("name: long", "name: quick"));
    const { instance_id: late } = await server.api("POST", "/projects/etl/workflows/quick/start", {});
    const id = await runFailing(server);
    const { page } = await visit({ viewport: { width: 1900, height: 900 } });
    await signInByCall(server, page);
    await page.goto(`${server.url}/runs?project=etl`);
    const row = page.locator(`[data-instance="${id}"]`);
    await row.getByText("load dim: ERROR 1146: table dwh.dim_user does not exist").waitFor();
    await row.getByText("manual", { exact: true }).waitFor();
    await row.getByText("5/5", { exact: true }).waitFor();
    assert.deepEqual(await check(page, "instances with outlines"), []);
    if (shots) await page.screenshot({ path: `${out}instances-columns.png` });

    // What runs for longer than ever has a view of its own.
    await page.getByRole("navigation", { name: "Saved views" }).getByRole("link", { name: "Late" }).click();
    await page.waitForURL(/late=1/);
    await page.locator(`[data-instance="${late}"]`).getByText("longer than usual").waitFor();
    assert.equal(await row.count(), 0);
    await page.getByRole("button", { name: "No longer only what is late" }).click();

    await page.goto(`${server.url}/runs?project=etl`);
    await page.getByRole("combobox", { name: "Trigger" }).click();
    await page.getByRole("option", { name: "schedule" }).click();
    await page.getByText("No instance matches.").waitFor();
    await page.getByText("These filters hide the rest: etl, schedule").waitFor();

    await page.goto(`${server.url}/runs?project=etl`);
    const head = page.getByRole("columnheader", { name: "Trigger" });
    await head.waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    const box = page.getByRole("menuitemcheckbox", { name: "Trigger" });
    await box.click();
    await becomes(() => box.getAttribute("aria-checked"), "false");
    await head.waitFor({ state: "detached" });
    assert.deepEqual(await check(page, "columns"), []);
    await page.reload();
    await row.waitFor();
    assert.equal(await head.count(), 0);
    for (const width of [1280, 900, 390, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await row.getByText("failed").waitFor();
      const over = () =>
        page.evaluate(
          () => [document.documentElement, document.querySelector(".table.instances")].filter((e) => e.scrollWidth > e.clientWidth).length,
        );
      await becomes(over, 0);
    }
  },

  "16: recover failed after the fix keeps what succeeded, and both logs": async ({ server, visit }) => {
    const dir = mkdtempSync(join(tmpdir(), "porpoise-fix-"));
    const fixed = join(dir, "fixed");
    server.apply(
      "etl",
      `name: mend
tasks:
  - {name: first, type: shell, script: echo first}
  - name: broken
    type: shell
    needs: [first]
    script: test -f ${fixed} || { echo it is broken; exit 1; }; echo it is mended
  - {name: last, type: noop, needs: [broken]}
`,
    );
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/mend/start", {});
    assert.equal((await finished(server, id)).state, "failed");
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await page.locator(".banner.bad").getByText("it is broken").waitFor();
    writeFileSync(fixed, "");
    await page.getByRole("button", { name: "Recover failed" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 tasks change").waitFor();
    await dialog.getByText("1 task is done and stays as it is").waitFor();
    await dialog.getByRole("button", { name: "Recover failed" }).click();
    await page.locator(".big-state", { hasText: "success" }).waitFor();
    await page.goto(`${server.url}/p/etl/r/${id}?tab=tasks&task=broken&panel=attempts`);
    const attempts = page.locator(".attempts > li");
    await attempts.nth(1).waitFor();
    await attempts.filter({ hasText: "#1" }).getByRole("button", { name: "Open log" }).click();
    await page.getByText("it is broken").first().waitFor();
    await page.goBack();
    await attempts.filter({ hasText: "#2" }).getByRole("button", { name: "Open log" }).click();
    await page.getByText("it is mended").first().waitFor();
    const first = await server.api("GET", `/instances/${id}/tasks/first/attempts`);
    assert.equal(first.items.length, 1);
    rmSync(dir, { recursive: true });
  },

  "16b: force the success of a failed task, and an outdated dialog says what has moved": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page, wrong } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?tab=tasks&task=load+dim&panel=why`);
    await page.locator(".task-actions").getByRole("button", { name: "Force success" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("li", { hasText: "aggregate" }).waitFor();
    await dialog.getByRole("button", { name: "Force success" }).click();
    await page.locator(".big-state", { hasText: "success" }).waitFor();
    await page.locator(".tr", { hasText: "load dim" }).getByText("forced success").waitFor();

    server.apply("etl", long);
    const { instance_id: run } = await server.api("POST", "/projects/etl/workflows/long/start", {});
    await page.goto(`${server.url}/p/etl/r/${run}?tab=tasks`);
    await page.locator(".tr", { hasText: "sleeper" }).getByText("running").waitFor();
    // Somebody else is quicker: between the look at the list and the click, a task is skipped.
    const quicker = async (route) => {
      await server.api("POST", `/instances/${run}/tasks/after/skip`);
      for (let i = 0; i < 100; i++) {
        const { items } = await server.api("GET", `/instances/${run}/tasks`);
        if (items[1].state === "skipped") break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await route.continue();
    };
    await page.route("**/stop", quicker, { times: 1 });
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await dialog.getByText("2 tasks change").waitFor();
    await dialog.getByRole("button", { name: "Stop", exact: true }).click();
    await dialog.getByText("The instance has moved on since").waitFor();
    await dialog.locator(".moved li", { hasText: "after: skipped" }).waitFor();
    await dialog.getByText("1 task changes").waitFor();
    await dialog.getByRole("button", { name: "Stop", exact: true }).click();
    await page.locator(".big-state", { hasText: "stopped" }).waitFor();
    forgive(wrong, /status of 409/);
  },

  "24: filter, brush the histogram, reload and share: the same rows; then rerun all that match": async ({ server, visit }) => {
    const since = new Date(Date.now() - 1000).toISOString();
    const [early, late] = await apart(server, 4, 8);
    const until = new Date(Date.now() + 1000).toISOString();
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/runs?project=etl&workflow=tiny`);
    await page.getByRole("link", { name: /^Failed 24 h/ }).click();
    await page.waitForURL(/st=failed/);
    await page.getByText("6 rows", { exact: true }).waitFor();
    assert.deepEqual(await rowsOf(page), [...early, ...late].reverse());
    // Of so short a time each bar is a second: the later burst begins where the widest gap between two bars ends.
    await page.goto(`${page.url()}&from=${since}&to=${until}`.replace(/span=[^&]*&/, ""));
    await becomes(async () => (await rowsOf(page)).length, 6);
    const bars = await page.locator(".histogram-bar").evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().x));
    const gaps = bars.slice(1).map((x, i) => x - bars[i]);
    const begins = bars[gaps.indexOf(Math.max(...gaps)) + 1];
    const box = await page.locator(".histogram-bars").boundingBox();
    await page.mouse.move(box.x + box.width - 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(begins + 1, box.y + 20, { steps: 4 });
    await page.mouse.up();
    const rows = late.toReversed();
    await becomes(() => rowsOf(page), rows);
    assert.notEqual(new URL(page.url()).searchParams.get("from"), since);
    await page.reload();
    await page.locator("[data-instance]").first().waitFor();
    await becomes(() => rowsOf(page), rows);
    const colleague = await visit();
    await colleague.page.goto(page.url());
    await colleague.page.getByLabel("User").fill("admin");
    await colleague.page.locator("input[name=password]").fill(server.password);
    await colleague.page.getByRole("button", { name: "Sign in" }).click();
    await colleague.page.locator("[data-instance]").first().waitFor();
    await becomes(() => rowsOf(colleague.page), rows);

    // By keys alone: down, choose, down, choose up to there.
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Shift+X");
    await page.getByText("3 rows chosen").waitFor();
    await page.getByRole("button", { name: "Choose all 4 that match" }).click();
    await page.getByRole("button", { name: "Run all again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Run all again is asked of 4 instances").waitFor();
    await dialog.getByRole("button", { name: "Run all again" }).click();
    await dialog.getByText("4 of 4").waitFor();
    await dialog.getByText("asked for", { exact: true }).first().waitFor();
    await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
    const rounds = (ids) => Promise.all(ids.map(async (id) => (await finished(server, id)).round));
    await becomes(() => rounds(rows), [2, 2, 2, 2]);
    assert.deepEqual(await rounds(early), [1, 1], "what the brush left out did not run again");
  },

  "24d: the instances of which a worker ran a task, from the worker on": async ({ server, visit }) => {
    await many(server, 2);
    const { name } = (await server.api("GET", "/cluster/pulse")).workers[0];
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/cluster/workers`);
    await page.getByRole("button", { name: `Tasks of ${name}` }).click();
    await page.getByRole("link", { name: "Instances that ran a task here" }).click();
    await page.waitForURL(new RegExp(`worker=${name}`));
    await page.locator("[data-instance]").first().waitFor();
    const field = page.getByLabel("On worker");
    assert.equal(await field.inputValue(), name);
    await field.fill("nobody");
    await page
      .getByText(/nobody/)
      .first()
      .waitFor();
    await page.locator("[data-instance]").first().waitFor({ state: "detached" });
    await page.goBack();
    await page.waitForURL(/cluster\/workers/);
  },

  "24b: new rows wait behind a button, and a bulk stop wants its words typed": async ({ server, visit, check }) => {
    await many(server, 3);
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/runs?project=etl&workflow=tiny`);
    await page.locator("[data-instance]").nth(2).waitFor();
    const rows = await rowsOf(page);
    await many(server, 2);
    await page.getByRole("button", { name: "2 new rows" }).waitFor();
    assert.deepEqual(await rowsOf(page), rows);
    await page.getByRole("button", { name: "2 new rows" }).click();
    await page.locator("[data-instance]").nth(4).waitFor();
    server.apply("etl", long);
    await server.api("POST", "/projects/etl/workflows/long/start", {});
    await page.goto(`${server.url}/runs?st=running&span=any`);
    await page.getByRole("checkbox").first().click();
    const wrong = [];
    await page.getByRole("button", { name: "More actions" }).click();
    const stop = page.getByRole("menuitem", { name: "Stop", exact: true });
    await stop.waitFor();
    wrong.push(...(await inBoth(page, "bulk menu")));
    await stop.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Type Stop 1 to confirm").waitFor();
    wrong.push(...(await inBoth(page, "bulk dialog")));
    assert.ok(await dialog.getByRole("button", { name: "Stop", exact: true }).isDisabled());
    await dialog.getByLabel(/Type Stop 1/).fill("Stop 1");
    await dialog.getByRole("button", { name: "Stop", exact: true }).click();
    await dialog.getByText("1 of 1").waitFor();
    wrong.push(...(await check(page, "bulk results")));
    await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
    // The row stays where it is and says what it has become.
    await page.locator(".tr", { hasText: "long" }).getByText("stopped", { exact: true }).waitFor();
    assert.deepEqual(wrong, []);
  },

  "29: a lost network marks the page stale, and it catches up without a reload": async ({ server, visit }) => {
    const network = await cuttable(server.url);
    server.apply("etl", long);
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/long/start", {});
    const { page, context, wrong } = await visit();
    await page.clock.install();
    await signInByCall(server, page);
    await page.goto(`${network.url}/p/etl/r/${id}?tab=tasks`);
    await page.locator(".tr", { hasText: "sleeper" }).getByText("running").waitFor();
    await page.locator(".connection.live").waitFor();
    await page.evaluate(() => {
      window.kept = true;
    });
    network.cut();
    // Forty seconds by the page's clock: it says for how long it has heard nothing.
    await page.clock.fastForward(40_000);
    await page.locator(".connection.stale", { hasText: /no word for 4\d/ }).waitFor();
    await server.api("POST", `/instances/${id}/stop`, {});
    assert.equal((await finished(server, id)).state, "stopped");
    network.mend();
    await page.locator(".big-state", { hasText: "stopped" }).waitFor({ timeout: 20_000 });
    await page.locator(".connection.live").waitFor();
    assert.ok(await page.evaluate(() => window.kept), "the page was not loaded anew");
    // More tabs than a browser gives connections to one server.
    const tabs = [];
    for (let i = 0; i < 8; i++) {
      tabs.push(await context.newPage());
      await tabs[i].goto(`${server.url}/p/etl/r/${id}?tab=tasks`);
    }
    for (const tab of tabs) await tab.locator(".big-state", { hasText: "stopped" }).waitFor();
    forgive(wrong, /net::ERR_|foreign: http:\/\/127\.0\.0\.1/);
    await network.stop();
  },

  "29b: a server that was killed comes back: stale mark, then all is there without a reload": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page, wrong } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?tab=tasks`);
    await page.locator(".connection.live").waitFor();
    await page.evaluate(() => {
      window.kept = true;
    });
    await server.kill();
    await page.locator(".connection.stale").waitFor({ timeout: 40_000 });
    await page.getByRole("tab", { name: "Events" }).click();
    await page.getByText("The server does not answer").waitFor();
    await server.restart();
    await page.locator(".connection.live").waitFor({ timeout: 30_000 });
    await page.getByRole("table", { name: "Events" }).waitFor({ timeout: 20_000 });
    assert.ok(await page.evaluate(() => window.kept), "the page was not loaded anew");
    forgive(wrong, /net::ERR_/);
  },

  "the instance view's dialogs, panels and errors are clean to axe in both themes": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page } = await visit();
    await signInByLink(server, page);
    const wrong = [];
    const look = async (path, ready, act) => {
      await page.goto(server.url + path);
      await act?.();
      await ready().waitFor();
      wrong.push(...(await inBoth(page, path)));
    };
    const at = `/p/etl/r/${id}`;
    const press = (name) => () => page.getByRole("button", { name, exact: true }).first().click();
    const dialog = (text) => () => page.getByRole("dialog").getByText(text).first();
    await look(`${at}?tab=tasks`, dialog("3 tasks change"), press("Recover failed"));
    await look(`${at}?tab=tasks`, dialog("Start the new instance"), async () => {
      await press("Run all again")();
      await page.getByRole("dialog").getByRole("switch").focus();
      await page.keyboard.press("Space");
    });
    await look(`${at}?tab=tasks&task=load+dim&panel=log`, dialog("Only it"), press("Rerun from here"));
    await look(`${at}?tab=tasks&task=load+dim&panel=attempts`, () => page.locator(".attempts > li").first());
    await look(`${at}?tab=tasks&task=load+dim&panel=values`, () => page.getByText("system_biz_date"));
    await look(`${at}?tab=tasks&task=aggregate&panel=why`, () => page.locator(".why li li").first());
    await look(`${at}?tab=compare`, () => page.getByText("There is no other instance"));
    await look(`${at}?tab=compare&with=${id}`, () => page.locator(".compare h3"));
    await look(`${at}?tab=gantt&task=load+dim`, () => page.getByRole("button", { name: "Zoom to the task" }));
    await look("/runs", () => page.locator(".histogram-table"), press("Show as a table"));
    await look("/runs", () => page.getByRole("menuitem", { name: "CSV" }), press("Export"));
    assert.deepEqual(wrong, []);
  },
};
