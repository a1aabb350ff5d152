import assert from "node:assert/strict";
import { becomes, failing, finished, runFailing, signInByLink } from "../steps.mjs";

const phone = (width, locale) => ({ viewport: { width, height: 800 }, locale, hasTouch: true, isMobile: true });

/** settle goes through the set-up by its calls, for a page in any language. */
async function settle(server, page) {
  await page.request.get(server.link);
  await page.request.post(`${server.url}/api/v1/setup`, { data: { name: "admin", password: "a journey of its own" } });
}

/** counted says how many clicks a person has made on the page since. */
async function counted(page) {
  await page.evaluate(() => {
    window.clicks = 0;
    document.addEventListener(
      "click",
      (event) => {
        if (event.isTrusted) window.clicks++;
      },
      true,
    );
  });
  return () => page.evaluate(() => window.clicks);
}

const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

export const journeys = {
  "on call: a failure is acknowledged with a note, leaves Today for everybody, and comes back": async ({
    server,
    visit,
    check,
    out,
    shots,
  }) => {
    const id = await runFailing(server);
    const { page } = await visit();
    await signInByLink(server, page);
    const line = page.locator(".trouble li", { hasText: id });
    await line.getByText(/load dim/).waitFor();
    await line.getByRole("button", { name: /^Acknowledge/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Note for others").fill("dim_user was dropped, OPS-7");
    assert.deepEqual(await check(page, "acknowledge"), []);
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await line.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Show acknowledged (1)" }).click();
    await page.waitForURL(/acknowledged=1/);
    await line.getByText(/acknowledged by admin .*OPS-7/).waitFor();
    assert.deepEqual(await check(page, "acknowledged"), []);
    if (shots) await page.screenshot({ path: `${out}today-acknowledged-en.png` });
    // Whoever opens the run is told the same.
    await line.getByRole("link").first().click();
    const banner = page.locator(".banner");
    await banner.getByText(/acknowledged by admin .*OPS-7/).waitFor();
    // There it is taken back, and said, too: that is where an alert leads.
    await banner.getByRole("button", { name: "Take back" }).click();
    await banner.getByRole("button", { name: "Acknowledge" }).click();
    await dialog.getByLabel("Note for others").fill("dim_user was dropped, OPS-8");
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await banner.getByText(/acknowledged by admin .*OPS-8/).waitFor();
    await page.goto(`${server.url}/?acknowledged=1`);

    // A colleague with the same list, on a phone and in Chinese, takes it back.
    const { page: other } = await visit(phone(360, "zh-CN"));
    await other.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: server.password } });
    await other.goto(`${server.url}/?acknowledged=1`);
    const theirs = other.locator(".trouble li", { hasText: id });
    await theirs.getByText(/由 admin 认领/).waitFor();
    assert.equal(await wide(other), false);
    if (shots) await other.screenshot({ path: `${out}today-acknowledged-360-zh.png` });
    await theirs.getByRole("button", { name: /^撤回认领/ }).tap();
    await theirs.getByRole("button", { name: /^认领/ }).waitFor();
    await other.getByText("没有已认领的失败").waitFor();

    // Acknowledged again, then recovered: when it fails anew nobody has seen that.
    const { round } = await server.api("GET", `/instances/${id}`);
    await server.api("PUT", `/instances/${id}/acknowledgement`, { round, note: "" });
    await server.api("POST", `/instances/${id}/recover`);
    for (const end = Date.now() + 30_000; ; ) {
      const one = await server.api("GET", `/instances/${id}`);
      if (one.round > round && one.state === "failed") break;
      assert.ok(Date.now() < end, "it did not fail again");
      await page.waitForTimeout(100);
    }
    await page.goto(`${server.url}/`);
    await line.getByRole("button", { name: /^Acknowledge/ }).waitFor();
  },

  "on call: from the alert's link to understood and recovered in three clicks, at a desk and on a phone": async ({
    server,
    visit,
    out,
    shots,
  }) => {
    server.apply("etl", failing);
    let settled = false;
    for (const [name, options, words] of [
      ["1280-en", { viewport: { width: 1280, height: 800 } }, { log: /^Open log/, recover: /^Recover failed/ }],
      ["390-zh", phone(390, "zh-CN"), { log: /^打开.*日志|^在第.*日志|日志/, recover: /^恢复失败任务/ }],
    ]) {
      const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/nightly%20load/start", {});
      assert.equal((await finished(server, id)).state, "failed");
      const { page } = await visit(options);
      if (settled) await page.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: "a journey of its own" } });
      else await settle(server, page);
      settled = true;
      // The address that a listener sends.
      await page.goto(`${server.url}/p/etl/r/${id}?task=load+dim`);
      const banner = page.locator(".banner.bad");
      await banner.getByText("load dim").first().waitFor();
      await banner.getByText(/ERROR 1146/).waitFor();
      const clicks = await counted(page);
      if (shots) await page.screenshot({ path: `${out}alert-${name}.png` });
      await banner.getByRole("button", { name: words.log }).first().click();
      await page.locator(".log-line", { hasText: "ERROR 1146" }).waitFor();
      if (shots) await page.screenshot({ path: `${out}alert-log-${name}.png` });
      await page.getByRole("button", { name: words.recover }).first().click();
      const dialog = page.getByRole("dialog");
      await dialog.locator(".touched li").first().waitFor();
      await dialog.getByRole("button").last().click();
      await dialog.waitFor({ state: "hidden" });
      for (const end = Date.now() + 30_000; (await server.api("GET", `/instances/${id}`)).round < 2; ) {
        assert.ok(Date.now() < end, "it was not recovered");
        await page.waitForTimeout(100);
      }
      assert.equal(await clicks(), 3, `clicks at ${name}`);
    }
  },

  "on call: what fails again and again is one line, and above the first steps": async ({ server, visit, check }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    const order = () =>
      page.evaluate(() => {
        const [steps, failures] = [
          document.querySelector(".welcome"),
          document.querySelector("#content section:has(> h2 ~ :is(.trouble, .calm))"),
        ];
        return steps && failures ? (steps.compareDocumentPosition(failures) & 4 ? "steps first" : "failures first") : "not there";
      });
    await becomes(order, "steps first");
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await runFailing(server));
    server.apply("etl", failing.replace("nightly load", "other load"));
    const { instance_id: other } = await server.api("POST", "/projects/etl/workflows/other%20load/start", {});
    assert.equal((await finished(server, other)).state, "failed");
    await page.reload();
    const lines = () => page.locator(".trouble li[data-failed]").evaluateAll((all) => all.map((one) => one.dataset.failed));
    await becomes(async () => (await lines()).filter((id) => [...ids, other].includes(id)), [other, ids[2]]);
    assert.equal(await order(), "failures first");
    const more = page.getByRole("button", { name: "2 more of nightly load failed by the same task" });
    await more.click();
    await becomes(async () => (await lines()).filter((id) => [...ids, other].includes(id)), [other, ids[2], ids[1], ids[0]]);
    assert.equal(await more.getAttribute("aria-expanded"), "true");
    assert.deepEqual(await check(page, "today, grouped"), []);
  },

  "on call: what was set aside is let go, from Today and from its page": async ({ server, visit, check }) => {
    const id = await runFailing(server);
    const { page } = await visit();
    // Only a panic in a master sets an instance aside: here the answers say that one has been.
    const aside = (one) => (one.id === id ? { ...one, state: "quarantined" } : one);
    let quarantined = true;
    await page.route(/\/api\/v1\/instances(\/\d+\/view)?\?/, async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      if (!quarantined) return route.fulfill({ response: answer });
      const json = body.items ? { ...body, items: body.items.map(aside) } : { ...body, instance: aside(body.instance) };
      await route.fulfill({ response: answer, json });
    });
    const asked = [];
    await page.route("**/release-quarantine", async (route) => {
      asked.push(new URL(route.request().url()).pathname);
      quarantined = asked.length < 2;
      await route.fulfill({ status: 202, json: await server.api("GET", `/instances/${id}`) });
    });
    await signInByLink(server, page);
    const dialog = page.getByRole("dialog");
    const release = async (within) => {
      await within.getByRole("button", { name: /^Release/ }).click();
      await dialog.getByText("Released, it goes on from where it was.").waitFor();
      assert.deepEqual(await check(page, "release"), []);
      await dialog.getByRole("button", { name: "Release" }).click();
      await dialog.waitFor({ state: "hidden" });
    };
    const line = page.locator(".trouble li", { hasText: id });
    assert.equal(await line.getByRole("button", { name: /^Recover/ }).count(), 0);
    await release(line);
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await release(page.locator(".instance-head"));
    assert.deepEqual(asked, Array(2).fill(`/api/v1/instances/${id}/release-quarantine`));
    // What it is now is read anew.
    await page.locator(".instance-head").getByRole("button", { name: "Recover failed" }).waitFor();
  },

  "on call: resources say who uses them, and an admin ends another user's session and token": async ({
    server,
    visit,
    check,
    out,
    shots,
  }) => {
    server.apply(
      "etl",
      "name: load\ntasks:\n  - {name: a, type: shell, script: ls, task_group: dwh}\n  - {name: b, type: shell, script: ls, task_group: dwh, worker_group: gpu}\n",
    );
    const { page } = await visit();
    await signInByLink(server, page);
    await page.locator(".rail").getByRole("link", { name: "Resources" }).click();
    const one = (id) => page.locator(`[data-resource="${id}"]`);
    await one("/gpu").getByText("no worker serves it: its tasks wait").waitFor();
    await page.getByRole("tab", { name: "Task groups" }).click();
    await one("etl/dwh").getByText("named by tasks, but not there").waitFor();
    await one("etl/dwh").getByRole("button", { name: "used by 2 tasks" }).click();
    await one("etl/dwh").getByRole("link", { name: "etl / load" }).waitFor();
    assert.match(page.url(), /open=etl%2Fdwh/);
    assert.deepEqual(await check(page, "resources"), []);
    if (shots) await page.screenshot({ path: `${out}resources-en.png` });
    await one("etl/dwh").getByRole("link", { name: "Make it" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("dwh");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.goto(`${server.url}/resources?kind=task-groups`);
    await one("etl/dwh").getByText("0 of 1 taken").waitFor();

    await server.api("POST", "/users", { name: "bob", password: "given by the admin" });
    const stranger = await visit();
    assert.ok(
      (await stranger.page.request.post(`${server.url}/api/v1/session`, { data: { user: "bob", password: "given by the admin" } })).ok(),
    );
    await page.goto(`${server.url}/admin?open=bob`);
    await dialog.getByRole("heading", { name: "Sessions and tokens of bob" }).waitFor();
    await dialog.getByText("This user has no token.").waitFor();
    assert.deepEqual(await check(page, "ways of a user"), []);
    if (shots) await page.screenshot({ path: `${out}ways-en.png` });
    await dialog.getByRole("button", { name: /^End/ }).click();
    await dialog.getByRole("button", { name: /^End/ }).waitFor({ state: "detached" });
    assert.equal((await stranger.page.request.get(`${server.url}/api/v1/session`)).status(), 401);

    const id = await runFailing(server);
    const { instance_id: running } = await server.api("POST", "/projects/etl/workflows/load/start", {});
    await server.api("PUT", "/projects/etl/workflows/load/schedules/nightly", { cron: "30 2 * * *" });
    const run = `/p/etl/r/${id}`;
    const paths = [
      "/",
      "/runs",
      run,
      `${run}?task=load+dim&panel=log`,
      `/p/etl/r/${running}`,
      "/approvals",
      "/tasks?is=waiting",
      "/alerts",
      "/admin",
    ];
    for (const tab of ["slots", "workers", "queues", "failovers"]) paths.push(`/cluster/${tab}`);
    for (const kind of ["worker-groups", "task-groups", "environments", "secrets"]) paths.push(`/resources?kind=${kind}`);
    paths.push("/schedules", "/p/etl/schedules", "/p/etl/w/load/s/nightly");
    for (const [width, locale] of [
      [360, "zh-CN"],
      [390, "en-GB"],
    ]) {
      const { page: phoned } = await visit(phone(width, locale));
      await phoned.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: server.password } });
      for (const path of paths) {
        await phoned.goto(`${server.url}${path}`);
        await phoned.locator("#content h1").first().waitFor();
        assert.equal(await wide(phoned), false, `${path} is wider than ${width}`);
        if (shots) await phoned.screenshot({ path: `${out}phone-${width}${path.replaceAll(/\W+/g, "-")}.png` });
      }
      await phoned.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
      await phoned.goto(`${server.url}/resources`);
      await phoned.locator("[data-resource]").first().waitFor();
      if (shots) await phoned.screenshot({ path: `${out}phone-${width}-forced.png` });
    }
  },
};
