import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inBoth } from "../axe.mjs";
import { finished, long, signInByLink } from "../steps.mjs";

const demo = { flags: ["--demo", "--demo-restart", "0s"], within: 60_000 };
const tabs = ["Slots", "Workers", "Queues", "Timers", "Failovers", "Supervisor", "Config"];

/** steady leaves a line for each of its tasks each time that one runs: nothing may stand there twice. */
const steady = (file) => `name: steady
tasks:
  - {name: first, type: shell, script: "echo $PORPOISE_ATTEMPT first >> ${file}; sleep 30"}
  - {name: second, type: shell, needs: [first], script: "echo $PORPOISE_ATTEMPT second >> ${file}; sleep 1"}
`;

const owners = (page) =>
  page.locator("[data-slot]").evaluateAll((cells) => cells.map((c) => (c instanceof HTMLElement ? (c.dataset.owner ?? "") : "")));

async function start(server, project, workflow) {
  return (await server.api("POST", `/projects/${project}/workflows/${workflow}/start`, {})).instance_id;
}

/** eventually asks until the answer will do: what a cluster agrees on has no other end than its own. */
async function eventually(ask, will, what, within = 40_000) {
  for (const end = Date.now() + within; Date.now() < end; ) {
    const got = await ask();
    if (will(got)) return got;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`${what} did not come within ${within} ms`);
}

/** waiting are the beginnings of those that wait more than they work. */
export const waiting = ["19: ", "28: "];
/** alone are those that look for what shows for a few seconds only. */
export const alone = ["28b: "];

export const journeys = {
  "28: a master of the demo is killed: its slots move, what runs goes on, the failover has numbers, nothing runs twice": {
    server: demo,
    run: async ({ server, visit, check, out, shots }) => {
      const { page, context } = await visit();
      await signInByLink(server, page);
      const marks = join(server.data, "marks");
      server.apply("shop", steady(marks));
      const ids = [];
      for (let i = 0; i < 9; i++) ids.push(await start(server, "shop", "steady"));
      const view = await context.newPage();
      await view.goto(`${server.url}/p/shop/r/${ids[0]}`);
      await view.locator(".task-node.hue-running").waitFor();

      await page.keyboard.press("g");
      await page.keyboard.press("c");
      await page.getByRole("heading", { name: "Cluster", exact: true }).waitFor();
      await page.locator("[data-slot]").first().waitFor();
      assert.equal(await page.locator("[data-slot]").count(), 256);
      const pulse = await eventually(
        () => server.api("GET", "/cluster/pulse"),
        (p) => p.masters.length === 3 && p.masters.reduce((sum, m) => sum + (m.instances ?? 0), 0) === ids.length,
        "the masters' word of what they drive",
      );
      const victim = pulse.masters.toSorted((a, b) => b.instances - a.instances)[0].name;
      await page.waitForFunction(() => new Set([...document.querySelectorAll("[data-slot]")].map((c) => c.dataset.owner)).size === 3);
      const before = await owners(page);
      if (shots) await page.screenshot({ path: `${out}cluster-slots.png` });
      assert.deepEqual(await check(page, "slots"), []);

      await page.getByRole("button", { name: `Actions for ${victim}` }).click();
      await page.getByRole("menuitem", { name: `Kill ${victim}` }).click();
      const dialog = page.getByRole("dialog", { name: `Kill ${victim}?` });
      await dialog.getByText(`${before.filter((o) => o === victim).length} slots`).waitFor();
      assert.deepEqual(await check(page, "kill dialog"), []);
      await dialog.getByRole("button", { name: "Kill", exact: true }).click();
      await dialog.waitFor({ state: "hidden" });
      const moved = async () => {
        const now = await owners(page);
        return now.length === 256 && now.every((o) => o !== victim && o !== "");
      };
      await eventually(moved, Boolean, "the move of the slots");
      const after = await owners(page);
      for (const [slot, owner] of before.entries())
        if (owner !== victim) assert.equal(after[slot], owner, `slot ${slot} had no need to move`);
      assert.equal(new Set(after).size, 2);
      await page.getByText(`cause: ${victim} left`).waitFor();
      await page.getByText(`${before.filter((o) => o === victim).length} slots moved`).waitFor();
      await page.getByText(/instances? taken over/).waitFor();
      if (shots) await page.screenshot({ path: `${out}cluster-slots-after.png` });

      // The view of an instance goes on by itself, and nothing has run twice.
      await view.waitForFunction(() => document.querySelectorAll(".task-node.hue-success").length === 2, undefined, { timeout: 60_000 });
      for (const id of ids) assert.equal((await finished(server, id)).state, "success");
      for (const id of ids) {
        const { items } = await server.api("GET", `/instances/${id}/tasks`);
        assert.deepEqual(
          items.map((x) => x.attempts),
          [1, 1],
        );
      }
      const lines = readFileSync(marks, "utf8").trim().split("\n");
      assert.equal(lines.length, 2 * ids.length);

      await page.getByRole("tab", { name: "Failovers" }).click();
      const rows = page.locator(`[data-failover="${victim}"]`);
      await rows.first().waitFor();
      const numbers = await rows.evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll("td.n")].map((td) => td.textContent ?? "")),
      );
      assert.equal(
        numbers.reduce((sum, n) => sum + Number(n[2]), 0),
        pulse.masters.find((m) => m.name === victim).instances,
      );
      assert.equal(
        numbers.reduce((sum, n) => sum + Number(n[4]), 0),
        0,
        "no task runs again",
      );
      for (const n of numbers) assert.match(n[0], /\d+(\.\d)? (ms|s)|\dm/);
      // What happened, step by step, by keys too.
      await rows.first().getByRole("button", { name: "Events" }).press("Enter");
      await page.locator(".failover-events li").filter({ hasText: /\+/ }).first().waitFor();
      // And which instances it took, each with a way to its events.
      const taken = page.getByRole("list", { name: "Instances that were taken over" });
      await taken.getByRole("listitem").first().waitFor();
      assert.equal(await taken.getByRole("listitem").count(), Number(numbers[0][2]));
      assert.match(await taken.getByRole("link").first().getAttribute("href"), /\/p\/shop\/r\/\d+\?tab=events$/);
      assert.deepEqual(await check(page, "failovers"), []);
      if (shots) await page.screenshot({ path: `${out}cluster-failovers.png` });
      await view.close();
    },
  },

  "28b: a worker falls silent: its row counts down, it is called lost, and its tasks run again elsewhere": {
    server: demo,
    run: async ({ server, visit, check }) => {
      const { page } = await visit();
      await signInByLink(server, page);
      server.apply("shop", long.replace("name: long", "name: long\ntimeout: {after: 10m}"));
      for (let i = 0; i < 6; i++) await start(server, "shop", "long");
      const busy = await eventually(
        () => server.api("GET", "/cluster/tasks"),
        ({ items }) => items.length === 6 && items.every((x) => x.state === "running") && new Set(items.map((x) => x.worker)).size === 3,
        "tasks on each worker",
      );
      const name = "worker-2";
      const lost = busy.items.filter((x) => x.worker === name).length;
      await page.goto(`${server.url}/cluster/workers`);
      const row = page.locator(`[data-worker="${name}"]`);
      await row.getByText("now", { exact: true }).waitFor();
      const pid = Number(server.log().match(new RegExp(`${name} +pid (\\d+)`))[1]);
      process.kill(pid, "SIGSTOP");
      try {
        await row.getByText(/called gone in/).waitFor();
        assert.deepEqual(await check(page, "a silent worker"), []);
        await row.waitFor({ state: "detached" });
        await page.getByRole("tab", { name: "Failovers" }).click();
        const failed = page.locator(`[data-failover="${name}"]`).first();
        await failed.waitFor();
        const after = await eventually(
          () => server.api("GET", "/cluster/tasks"),
          (tasks) => tasks.items.length === busy.items.length && tasks.items.every((x) => x.worker !== name && x.state === "running"),
          "the tasks on other workers",
        );
        assert.equal(after.items.filter((x) => x.attempt === 2).length, lost);
      } finally {
        process.kill(pid, "SIGKILL");
      }
    },
  },

  "19: all workers of a group stop: why says so; they come back, and it goes on without a reload": {
    server: { ...demo, flags: ["--demo", "--demo-restart", "20s"] },
    run: async ({ server, visit, check }) => {
      const { page } = await visit();
      await signInByLink(server, page);
      server.apply("shop", "name: short\ntasks:\n  - {name: only, type: shell, script: echo done}\n");
      const pids = [1, 2, 3].map((n) => Number(server.log().match(new RegExp(`worker-${n} +pid (\\d+)`))[1]));
      for (const pid of pids) process.kill(pid, "SIGTERM");
      const id = await start(server, "shop", "short");
      await page.goto(`${server.url}/p/shop/r/${id}?task=only&panel=why`);
      await page.evaluate(() => {
        window.kept = true;
      });
      const why = page.locator(".task-panel .why");
      // From when the page is there: what its own loading takes on a busy machine is held by the budgets.
      await page.locator(".task-panel").waitFor();
      await why.getByText("no worker of group default is alive").waitFor({ timeout: 5000 });
      assert.deepEqual(await check(page, "no worker"), []);
      await page.locator(".big-state", { hasText: "success" }).waitFor({ timeout: 40_000 });
      await why.getByText("no worker of group default is alive").waitFor({ state: "detached" });
      assert.ok(await page.evaluate(() => window.kept), "the page was not loaded anew");
    },
  },

  "28c: a worker is drained and resumed; a single node says so; every tab is clean, by keyboard too": async ({
    server,
    visit,
    check,
    out,
    shots,
  }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    server.apply("shop", long);
    const id = await start(server, "shop", "long");
    server.apply("shop", "name: nobody\ntasks:\n  - {name: waits, type: noop, worker_group: nowhere}\n");
    await start(server, "shop", "nobody");
    await page.getByRole("navigation", { name: "Main navigation" }).first().getByRole("link", { name: "Cluster" }).click();
    await page.getByText("a single node").waitFor();
    // By keyboard: one stop for the map, the arrows within it, Enter for the work of a slot.
    const slot = Number(BigInt(id) % 256n);
    await page.locator("[data-slot='0']").focus();
    for (let i = 0; i < Math.floor(slot / 16); i++) await page.keyboard.press("ArrowDown");
    for (let i = 0; i < slot % 16; i++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    const drawer = page.getByRole("dialog", { name: `Slot ${slot}` });
    await drawer.locator(`[data-instance="${id}"]`).waitFor();
    assert.deepEqual(await check(page, "slot"), []);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Rebalance" }).click();
    const rebalance = page.getByRole("dialog");
    await rebalance.getByText("agree anew").first().waitFor();
    assert.deepEqual(await check(page, "rebalance"), []);
    const { epoch } = (await server.api("GET", "/cluster/pulse")).slots;
    await rebalance.getByRole("button", { name: "Rebalance" }).click();
    await page.getByText("cause: asked for by admin").waitFor();
    assert.ok((await server.api("GET", "/cluster/pulse")).slots.epoch > epoch);

    await page.getByRole("tab", { name: "Workers" }).click();
    const worker = page.locator("[data-worker]");
    await worker.getByText(/^1 of \d+$/).waitFor();
    const name = await worker.getAttribute("data-worker");
    await worker.getByRole("button", { name: `Tasks of ${name}` }).click();
    await worker.getByRole("link", { name: "sleeper" }).waitFor();
    if (shots) await page.screenshot({ path: `${out}cluster-workers.png` });
    await worker.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: "Drain" }).click();
    const drain = page.getByRole("dialog", { name: `Drain ${name}` });
    await drain.getByText(/^1 task will finish/).waitFor();
    await drain.getByLabel("Reason").fill("kernel update");
    assert.deepEqual(await check(page, "drain"), []);
    await drain.getByRole("button", { name: "Drain" }).click();
    await worker.getByText("drains: kernel update").waitFor();
    await worker.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: "Resume" }).click();
    await worker.getByText("drains: kernel update").waitFor({ state: "detached" });
    // Its load is a line by and by; a view that is paused stands still, and says how old it is.
    await worker.locator(".spark polyline").waitFor();
    const pause = page.getByRole("button", { name: "Pause view" });
    await pause.click();
    await start(server, "shop", "long");
    await eventually(
      () => server.api("GET", "/cluster/pulse"),
      (p) => p.running === 2,
      "a second task",
    );
    await page
      .locator(".cluster-head")
      .getByText(/^[3-9] s old$/)
      .waitFor();
    await worker.getByText(/^1 of \d+$/).waitFor();
    await pause.click();
    await worker.getByText(/^2 of \d+$/).waitFor();
    for (const tab of tabs) {
      await page.getByRole("tab", { name: tab }).click();
      await page.locator(".panel table, .panel .empty, .panel .worker, .panel [data-slot]").first().waitFor();
      assert.deepEqual(await inBoth(page, tab), []);
      if (shots) await page.screenshot({ path: `${out}cluster-${tab}.png`, fullPage: true });
    }
    // What waits for ten seconds while nothing leaves is stuck, and the page says why.
    await page.goto(`${server.url}/cluster/queues`);
    const stuck = page.locator("[data-queue=nowhere]");
    await stuck.getByText("stuck", { exact: true }).waitFor();
    await stuck.getByText("no worker serves it").waitFor();
    assert.deepEqual(await inBoth(page, "a stuck queue"), []);
    await page.goto(`${server.url}/cluster/slots?view=table`);
    await page.getByRole("cell", { name: "0-255" }).waitFor();
    assert.deepEqual(await check(page, "slots as a table"), []);
  },

  "28e: an admin holds the whole cluster with a reason; nothing begins until it is released, which others are told they may not": async ({
    server,
    visit,
    check,
  }) => {
    await server.api("POST", "/users", { name: "vera", password: "given by the admin" });
    const vera = await visit();
    await vera.page.request.post(`${server.url}/api/v1/session`, { data: { user: "vera", password: "given by the admin" } });
    await vera.page.request.put(`${server.url}/api/v1/session/password`, {
      data: { current: "given by the admin", new: "a password of her own" },
    });
    await vera.page.goto(`${server.url}/cluster/slots`);
    const hers = vera.page.getByRole("button", { name: "Hold" });
    await hers.waitFor();
    assert.equal(await hers.getAttribute("aria-disabled"), "true");

    const { page } = await visit();
    await signInByLink(server, page);
    server.apply("shop", "name: quick\ntasks:\n  - {name: one, type: noop}\n");
    await page.goto(`${server.url}/cluster/slots`);
    await page.getByRole("button", { name: "Hold" }).click();
    const ask = page.getByRole("dialog", { name: "Hold the whole cluster" });
    await ask.getByRole("textbox", { name: "Reason" }).fill("the database moves");
    assert.deepEqual(await check(page, "hold"), []);
    await ask.getByRole("button", { name: "Hold everything" }).click();
    const banner = page.locator(".held");
    await banner.getByText(/held by admin: .* the database moves/).waitFor();
    assert.deepEqual(await check(page, "held"), []);
    const id = await start(server, "shop", "quick");

    // Whoever else looks sees it by itself, and why there is nothing to press.
    const release = vera.page.locator(".held").getByRole("button", { name: "Release" });
    await release.waitFor();
    assert.equal(await release.getAttribute("aria-disabled"), "true");
    await release.hover();
    await vera.page.getByRole("tooltip").getByText("Only an admin may do this").waitFor();

    assert.equal((await server.api("GET", `/instances/${id}`)).state, "submitted");
    await banner.getByRole("button", { name: "Release" }).click();
    const end = page.getByRole("dialog", { name: "Release the cluster" });
    await end.getByText("the database moves").waitFor();
    assert.deepEqual(await check(page, "release"), []);
    await end.getByRole("button", { name: "Release" }).click();
    await banner.waitFor({ state: "detached" });
    await finished(server, id);
    await page.getByRole("button", { name: "Hold" }).waitFor();
  },

  "28d: on a phone a viewer sees the cluster, and why he may not touch it": async ({ server, visit, check, out, shots }) => {
    await server.api("POST", "/users", { name: "vera", password: "given by the admin" });
    await server.api("PUT", "/projects/examples/members/vera", { role: "viewer" });
    const { page } = await visit({ viewport: { width: 390, height: 800 }, refused: [403] });
    await page.request.post(`${server.url}/api/v1/session`, { data: { user: "vera", password: "given by the admin" } });
    await page.request.put(`${server.url}/api/v1/session/password`, {
      data: { current: "given by the admin", new: "a password of her own" },
    });
    await page.goto(`${server.url}/`);
    await page.getByRole("navigation", { name: "Main navigation" }).last().getByRole("link", { name: "Cluster" }).click();
    await page.locator("[data-slot]").first().waitFor();
    for (const width of [390, 360]) {
      await page.setViewportSize({ width, height: 800 });
      for (const tab of tabs) {
        await page.getByRole("tab", { name: tab }).click();
        await page.locator(".panel table, .panel .empty, .panel .worker, .panel [data-slot]").first().waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wide <= 0, `${tab} is wider than ${width} by ${wide}`);
        assert.deepEqual(await check(page, `${tab} at ${width}`), []);
        if (shots) await page.screenshot({ path: `${out}cluster-phone-${tab}-${width}.png`, fullPage: true });
      }
    }
    await page.locator(".panel").getByText("Only an admin may do this").waitFor();
    await page.getByRole("tab", { name: "Slots" }).click();
    const rebalance = page.getByRole("button", { name: "Rebalance" });
    assert.equal(await rebalance.getAttribute("aria-disabled"), "true");
    await rebalance.hover();
    await page.getByRole("tooltip").getByText("Only an admin may do this").waitFor();
  },
};
