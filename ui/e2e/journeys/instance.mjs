import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alive, becomes, finished, runFailing, signInByCall, signInByLink } from "../steps.mjs";

/** slow takes its time to go, so that a person sees it go. */
const slow = `name: long
tasks:
  - name: sleeper
    type: shell
    script: |
      trap 'sleep 2; exit 1' TERM
      echo "pid $$"
      while true; do sleep 0.1; done
`;

export const journeys = {
  "expression: worked out with the values of a finished run": async ({ server, visit, check }) => {
    server.apply(
      "etl",
      "name: sums\nparams: {region: eu, limit: {type: integer, default: 40}}\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop, needs: [a]}\n",
    );
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/sums/start", {});
    await finished(server, id);
    const { page } = await visit({ refused: [422] });
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?tab=params`);
    const field = page.getByLabel("Work out an expression");
    const result = page.getByRole("status", { name: "What it comes to" });
    await field.fill("limit + 2");
    await field.press("Enter");
    await result.getByText("42", { exact: true }).waitFor();
    await field.fill('[region, task("b").state]');
    await page.getByRole("button", { name: "Work out", exact: true }).click();
    await result.getByText("success").waitFor();
    // What is wrong is said at the field, and what was typed stays.
    await field.fill("limit +");
    await field.press("Enter");
    await page.getByText(/at byte/).waitFor();
    assert.equal(await field.inputValue(), "limit +");
    assert.deepEqual(await check(page, "a wrong expression"), []);
  },

  "15: a failing instance says why, and a colleague opens the same view": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page } = await visit({ permissions: ["clipboard-read", "clipboard-write"] });
    await signInByLink(server, page);
    await page.getByRole("link", { name: /^failed nightly load/ }).click();
    const banner = page.locator(".banner.bad");
    await banner.getByText("ERROR 1146: table dwh.dim_user does not exist").waitFor();
    await banner.getByText("2 tasks blocked by it").waitFor();
    await banner.getByText(/exit 3/).waitFor();
    // The address has the line, marked where it opens.
    await banner.getByRole("button", { name: "Open log at line 2" }).click();
    await page.locator(".log-row[data-chosen] .log-line", { hasText: "ERROR 1146" }).waitFor();
    await becomes(() => page.locator(".log-line .ansi-green").textContent(), "ok");
    await banner.getByRole("button", { name: "Copy link" }).click();
    await banner.getByRole("button", { name: "Copied" }).waitFor();
    const address = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(address, page.url());
    assert.match(address, /task=load/);
    assert.match(address, /line=2/);
    const colleague = await visit();
    await colleague.page.goto(address);
    await colleague.page.getByLabel("User").fill("admin");
    await colleague.page.locator("input[name=password]").fill(server.password);
    await colleague.page.getByRole("button", { name: "Sign in" }).click();
    await colleague.page.locator(".log-line", { hasText: "ERROR 1146" }).waitFor();
    assert.equal(colleague.page.url(), address);
    await colleague.page.getByRole("button", { name: "Recover failed" }).click();
    const dialog = colleague.page.getByRole("dialog");
    await dialog.getByText("3 tasks change").waitFor();
    await dialog.getByText("2 tasks are done and stay as they are").waitFor();
    await dialog.getByRole("button", { name: "Recover failed" }).click();
    await colleague.page.getByText("round 2").waitFor();
    // Each bar has the median of its task.
    await page.goto(`${server.url}/p/etl/r/${id}?tab=gantt`);
    await becomes(async () => (await page.locator(".gantt-median").count()) >= 3, true);
  },

  "15b: a screen reader is told which task fails, once, while the page is open": async ({ server, visit }) => {
    const dir = mkdtempSync(join(tmpdir(), "porpoise-said-"));
    const gate = (name) => `while [ ! -e ${dir}/${name} ]; do sleep 0.1; done; exit 1`;
    server.apply(
      "etl",
      `name: gated\ntasks:\n  - {name: load dim, type: shell, script: "${gate("a")}"}\n  - {name: load fact, type: shell, script: "${gate("b")}"}\n`,
    );
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/gated/start", {});
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}`);
    const region = page.locator("[aria-live=polite][data-said]");
    await region.waitFor({ state: "attached" });
    await page.locator(".task-node.hue-running").nth(1).waitFor();
    // All that it ever says, each with its time.
    await region.evaluate((e) => {
      window.said = [];
      new MutationObserver(() => e.textContent && window.said.push([e.textContent, Date.now()])).observe(e, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    const said = () => page.evaluate(() => window.said.map(([text]) => text));
    writeFileSync(join(dir, "a"), "");
    await becomes(said, ["load dim failed"]);
    writeFileSync(join(dir, "b"), "");
    await page.waitForFunction(() => window.said.length === 2);
    assert.deepEqual(await said(), ["load dim failed", "load fact failed"]);
    const [first, second] = await page.evaluate(() => window.said.map(([, at]) => at));
    assert.ok(second - first >= 4900, `two sentences within ${second - first} ms`);
    // Whoever comes later is not told of what is long over.
    await page.reload();
    await page.locator(".banner.bad").waitFor();
    assert.equal(await region.textContent(), "");
    rmSync(dir, { recursive: true });
  },

  "17: a killed task is seen to be killed, then killed, and its process is really gone": async ({ server, visit }) => {
    server.apply("etl", slow);
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/long/start", {});
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?task=sleeper&panel=log`);
    const line = await page.locator(".log-line", { hasText: /pid \d+/ }).textContent();
    const pid = Number(line.match(/\d+/)[0]);
    assert.ok(alive(pid), `process ${pid} runs`);
    await page.locator(".task-actions").getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("li", { hasText: "sleeper" }).waitFor();
    await dialog.getByRole("button", { name: "Kill" }).click();
    await page.locator(".task-node", { hasText: "killing" }).waitFor();
    assert.ok(alive(pid), "it is still on its way out");
    await page.locator(".task-node.hue-killed", { hasText: "killed" }).waitFor();
    await page.locator(".big-state", { hasText: "failed" }).waitFor();
    assert.ok(!alive(pid), `process ${pid} is gone`);
  },
};
