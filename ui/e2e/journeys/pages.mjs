import assert from "node:assert/strict";
import { createServer } from "node:http";
import { becomes, finished, long, runFailing, signInByCall, signInByLink } from "../steps.mjs";

const stuck = `name: stuck
tasks:
  - name: no worker
    type: noop
    worker_group: nowhere
`;
const grouped = (name) => `name: ${name}
tasks:
  - name: hold ${name}
    type: shell
    script: sleep 600
    task_group: dwh
`;
const upstream = "name: load\ntasks:\n  - {name: a, type: noop}\n";
const downstream = `name: report
tasks:
  - name: wait for load
    type: dependent
    check: {all: [{workflow: load, date: today}]}
  - name: mail
    type: sub_workflow
    workflow: load
    needs: [wait for load]
`;

/** viewer opens Today as somebody who may only look at the project examples, and operate nothing. */
async function viewer(server, visit, refused) {
  const [name, password] = ["vera", "given by the admin"];
  await server.api("POST", "/users", { name, password });
  await server.api("PUT", `/projects/examples/members/${name}`, { role: "viewer" });
  const { page } = await visit({ refused });
  const post = (path, data) => page.request.post(`${server.url}/api/v1${path}`, { data });
  assert.ok((await post("/session", { user: name, password })).ok());
  const own = "a password of her own";
  const changed = await page.request.put(`${server.url}/api/v1/session/password`, { data: { current: password, new: own } });
  assert.ok(changed.ok(), await changed.text());
  await page.goto(`${server.url}/`);
  await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
  return page;
}

/** receiver answers a listener's calls with a status that the journey chooses. */
async function receiver() {
  const heard = { status: 200, calls: [] };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      heard.calls.push(JSON.parse(body));
      response.statusCode = heard.status;
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { heard, url: `http://127.0.0.1:${server.address().port}/hook`, close: () => server.close() };
}

const menu = async (page, row, item) => {
  await row.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

export const journeys = {
  "navigation: the rail, the pages of a project, keys and the palette lead everywhere": async ({ server, visit }) => {
    server.apply("etl", long);
    await server.api("PUT", "/projects/etl/workflows/long/schedules/moonlight", { cron: "30 2 * * *" });
    const { page } = await visit();
    await signInByLink(server, page);
    const rail = page.locator(".rail");
    for (const name of ["Instances", "Tasks", "Schedules", "Lineage", "Alerts", "Resources", "Projects", "Administration", "Today"]) {
      await rail.getByRole("link", { name, exact: true }).click();
      await page.locator("#content").getByRole("heading", { level: 1, name, exact: true }).waitFor();
      await becomes(() => rail.locator("[aria-current=page]").textContent(), name);
    }
    await page.goto(`${server.url}/p/etl/workflows`);
    const tabs = page.getByRole("navigation", { name: "Pages of etl" });
    for (const name of ["Schedules", "Timers", "Listeners", "Settings", "Members", "Workflows"]) {
      await tabs.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: `${name} of etl` }).waitFor();
      await becomes(() => tabs.locator("[aria-current=page]").textContent(), name);
      await becomes(() => rail.locator("[aria-current=page]").textContent(), "Projects");
    }
    const pairs = {
      k: ["/tasks", "Tasks"],
      v: ["/approvals", "Approvals"],
      s: ["/schedules", "Schedules"],
      l: ["/lineage", "Lineage"],
      a: ["/alerts", "Alerts"],
      m: ["/admin", "Administration"],
      p: ["/projects", "Projects"],
      t: ["/", "Today"],
    };
    for (const [key, [path, name]] of Object.entries(pairs)) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForURL(`${server.url}${path}`);
      // The strokes of a pair are a second apart at most: the page has come before the next one.
      await page.locator("#content").getByRole("heading", { level: 1, name, exact: true }).waitFor();
    }
    // The second stroke is nothing by itself, where a list has a key of that name.
    await page.goto(`${server.url}/runs`);
    await page.getByRole("heading", { name: "Instances", exact: true }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await page.waitForURL(`${server.url}/tasks`);
    await page.keyboard.press("Control+k");
    const find = page.getByPlaceholder("Go to a page, a workflow, a schedule, an instance id …");
    await find.fill("moonlight");
    await page.locator(".mantine-Spotlight-action", { hasText: "moonlight" }).click();
    await page.waitForURL(`${server.url}/p/etl/w/long/s/moonlight`);
    await page.keyboard.press("Control+k");
    await find.fill("Backfills of etl");
    await page.locator(".mantine-Spotlight-action", { hasText: "Backfills of etl" }).click();
    await page.waitForURL(`${server.url}/p/etl/backfills`);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Backfills of etl" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByRole("heading", { name: "Grid, slot map, calendar, heat map" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await find.fill("Run long");
    await page.locator(".mantine-Spotlight-action", { hasText: "Run long" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).waitFor();
  },

  "tasks: what runs and what waits, with the reason; one is killed, and the list says so by itself": async ({ server, visit, check }) => {
    server.apply("etl", long);
    server.apply("etl", stuck);
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/long/start", {});
    await server.api("POST", "/projects/etl/workflows/stuck/start", {});
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/tasks?project=etl`);
    const row = page.locator(`[data-task="${id} sleeper"]`);
    await row.getByText("running", { exact: true }).waitFor();
    await becomes(() => page.locator("[data-task]").count(), 1);
    assert.deepEqual(await check(page, "tasks"), []);

    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement?.textContent === "sleeper");
    await page.getByText("Waiting now", { exact: true }).click();
    const waits = page.locator("[data-task$='no worker']");
    await waits
      .getByText(/nowhere/)
      .first()
      .waitFor();
    await becomes(() => waits.locator(".c-why").textContent(), /nowhere/);
    assert.match(page.url(), /is=waiting/);
    assert.deepEqual(await check(page, "tasks that wait"), []);
    // What is typed counts after a moment, and whoever goes on typing then loses nothing.
    await page.getByLabel("Filter by task").pressSequentially("ano");
    await page.waitForURL(/q=ano/);
    await page.keyboard.type("ther");
    await page.waitForURL(/q=another/);
    await page.getByText("No task matches these filters.").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await waits.waitFor();

    await page.getByText("Running now", { exact: true }).click();
    await menu(page, row, "Kill");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1 task changes").waitFor();
    await dialog.getByRole("button", { name: "Kill" }).click();
    // The stream tells of it; nobody asks again.
    await row.waitFor({ state: "detached" });
  },

  "tasks: a viewer sees them, and why none can be killed": async ({ server, visit }) => {
    server.apply("examples", long);
    const { instance_id: id } = await server.api("POST", "/projects/examples/workflows/long/start", {});
    const page = await viewer(server, visit);
    await page.goto(`${server.url}/tasks?project=examples`);
    const row = page.locator(`[data-task="${id} sleeper"]`);
    await row.getByRole("button", { name: /^Actions for/ }).click();
    await page.getByRole("menuitem", { name: /^Kill/ }).getByText("This needs the role operator.").waitFor();
    await page.keyboard.press("Escape");
    await page.goto(`${server.url}/p/examples/listeners`);
    await page.getByText("This needs the role operator.").waitFor();
    await page.goto(`${server.url}/p/examples/settings?tab=secrets&new=1`);
    await page.getByText("No secret yet.").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal(await page.getByRole("button", { name: /^New secret/ }).getAttribute("aria-disabled"), "true");
    await page.goto(`${server.url}/admin`);
    await page.getByRole("heading", { name: "Only admins see this page" }).waitFor();
    await page.goto(`${server.url}/alerts`);
    await page.getByText("You are operator of no project").waitFor();
  },

  "listeners: nobody is told, then somebody is; a test, what was given up, a wrong address": {
    server: { flags: ["--listeners-reach", "any"] },
    run: async ({ server, visit, check }) => {
      const hook = await receiver();
      try {
        server.apply("etl", "name: bad\ntasks:\n  - {name: a, type: shell, script: exit 1}\n");
        const { page } = await visit({ refused: [422] });
        await signInByCall(server, page);
        await page.goto(`${server.url}/alerts`);
        const line = page.getByRole("row", { name: /etl/ });
        await line.getByText("nobody is told about failures").waitFor();
        assert.deepEqual(await check(page, "alerts"), []);
        await line.getByRole("link", { name: /^Add a listener/ }).click();
        const form = page.getByRole("dialog");
        await form.getByLabel("Name").fill("ops");
        await form.getByLabel("Calls").fill("http://169.254.169.254/latest");
        await form.getByRole("button", { name: "Save" }).click();
        await form.locator(".mantine-InputWrapper-error, .mantine-TextInput-error").first().waitFor();
        assert.deepEqual(await check(page, "listener form"), []);
        await form.getByLabel("Calls").fill(hook.url);
        await form.getByRole("button", { name: "Save" }).click();
        await form.waitFor({ state: "hidden" });
        const row = page.locator("[data-listener=ops]");
        await row.getByText("Failures", { exact: true }).waitFor();
        assert.equal(await page.getByRole("heading", { name: "Nobody is told about failures" }).count(), 0);

        await menu(page, row, "Send a test");
        await page.getByText(/^ops answered 200/).waitFor();
        const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/bad/start", {});
        assert.equal((await finished(server, id)).state, "failed");
        await menu(page, row, "Last deliveries");
        await page.locator(`[data-delivery="${id}"]`).waitFor();
        assert.ok(hook.heard.calls.some((c) => c.event === "test"));
        assert.deepEqual(await check(page, "deliveries"), []);
        await page.keyboard.press("Escape");

        await menu(page, row, "Disable");
        await row.getByText("off", { exact: true }).waitFor();
        // Who is off tells nobody: the page says so again.
        await page.getByRole("heading", { name: "Nobody is told about failures" }).waitFor();
        await menu(page, row, "Delete");
        await page.getByLabel("Type ops to delete it").fill("ops");
        await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
        await row.waitFor({ state: "detached" });
      } finally {
        hook.close();
      }
    },
  },

  "settings: parameters, secrets, environments, task groups and calendars are made and changed": async ({ server, visit, check }) => {
    for (const name of ["first", "second"]) server.apply("etl", grouped(name));
    const { page } = await visit({ refused: [409, 422] });
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/settings`);
    const dialog = page.getByRole("dialog");
    const thing = (name) => page.locator(`[data-thing="${name}"]`);
    const save = async () => {
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "hidden" });
    };
    await page.getByRole("button", { name: "New parameter" }).click();
    await dialog.getByLabel("Name").fill("PATH");
    await dialog.getByLabel("Value").fill("/tmp");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/PATH/).first().waitFor();
    assert.deepEqual(await check(page, "parameter refused"), []);
    await dialog.getByLabel("Name").fill("region");
    await dialog.getByLabel("Value").fill("eu");
    await save();
    await thing("region").getByText("eu", { exact: true }).waitFor();

    await page.getByRole("tab", { name: "Secrets" }).click();
    await page.getByRole("button", { name: "New secret" }).click();
    await dialog.getByLabel("Name").fill("db");
    await dialog.locator("input[name=value]").fill("swordfish");
    await save();
    await thing("db").waitFor();
    assert.equal(await page.getByText("swordfish").count(), 0);

    await page.getByRole("tab", { name: "Environments" }).click();
    await page.getByRole("button", { name: "New environment" }).click();
    await dialog.getByLabel("Name").fill("prod");
    await dialog.getByLabel("Variables").fill("LANG=C\nnothing");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Line 2 has no NAME=value").waitFor();
    await dialog.getByLabel("Variables").fill("LANG=C\nREGION=eu");
    await save();
    await thing("prod").getByText("2 variables").waitFor();

    await page.getByRole("tab", { name: "Calendars" }).click();
    await page.getByRole("button", { name: "New calendar" }).click();
    await dialog.getByLabel("Name").fill("holidays");
    await dialog.getByLabel("Days").fill("31-31");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/31-31/).last().waitFor();
    await dialog.getByLabel("Days").fill("12-25\nsunday");
    await save();
    await thing("holidays").getByText("2 entries").waitFor();

    await page.getByRole("tab", { name: "Task groups" }).click();
    await page.getByRole("button", { name: "New task group" }).click();
    await dialog.getByLabel("Name").fill("dwh");
    await save();
    for (const name of ["first", "second"]) await server.api("POST", `/projects/etl/workflows/${name}/start`, {});
    // Who takes the place and who waits comes with the news of the instances.
    await thing("dwh").getByText("1 of 1 taken, 1 waits").click();
    await dialog.getByRole("button", { name: /^Force start/ }).click();
    await dialog.getByText(/beyond the 1 of the group/).waitFor();
    await dialog.getByLabel("Why now").fill("the report is due");
    assert.deepEqual(await check(page, "places of a group"), []);
    await dialog.getByRole("alert").getByRole("button", { name: "Force start" }).click();
    await dialog.getByText("2 of 1 taken").waitFor();
    await dialog.getByText(/forced by admin: the report is due/).waitFor();
    await page.keyboard.press("Escape");
    await menu(page, thing("dwh"), "Delete");
    await page.getByLabel("Type dwh to delete it").fill("dwh");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("It is still in use by:").waitFor();
  },

  "administration: a user is made, disabled and enabled; the audit tells of it": async ({ server, visit, check }) => {
    const { page } = await visit({ refused: [422] });
    await signInByCall(server, page);
    await page.goto(`${server.url}/admin`);
    await page.getByRole("button", { name: "New user" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("bob");
    await dialog.locator("input[name=password]").fill("short");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("A password has 12 to 256 characters.").waitFor();
    await dialog.locator("input[name=password]").fill("given by the admin");
    await dialog.getByRole("button", { name: "Create" }).click();
    const bob = page.locator("[data-user=bob]");
    await bob.getByText("first password not replaced yet").waitFor();
    await menu(page, bob, "Disable");
    await bob.getByText("disabled").waitFor();
    await menu(page, bob, "Enable");
    await bob.getByText("first password not replaced yet").waitFor();
    await menu(page, bob, "Reset the password");
    await dialog.locator("input[name=password]").fill("another first password");
    await dialog.getByRole("button", { name: "Reset the password" }).click();
    await page.getByText("bob has a new first password.").waitFor();
    const stranger = await visit();
    const as = (password) => stranger.page.request.post(`${server.url}/api/v1/session`, { data: { user: "bob", password } });
    assert.equal((await as("given by the admin")).status(), 401);
    assert.ok((await as("another first password")).ok());
    await page
      .locator("[data-user=admin]")
      .getByRole("button", { name: /^Actions for/ })
      .click();
    await page
      .getByRole("menuitem", { name: /^Disable/ })
      .getByText("Nobody can disable")
      .waitFor();
    await page.keyboard.press("Escape");
    assert.deepEqual(await check(page, "users"), []);

    await page.getByRole("tab", { name: "Audit" }).click();
    await page.getByLabel("Action").fill("change-user");
    await page.waitForURL(/action=change-user/);
    await page.waitForFunction(() => {
      const actions = [...document.querySelectorAll(".audit code")].map((e) => e.textContent);
      return actions.length > 1 && actions.every((a) => a === "change-user");
    });
    assert.deepEqual(await check(page, "audit"), []);

    await page.getByRole("tab", { name: "Shared secrets" }).click();
    await page.getByRole("button", { name: "New secret" }).click();
    await dialog.getByLabel("Name").fill("shared");
    await dialog.locator("input[name=value]").fill("swordfish");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText(/^All are sealed by the key/).waitFor();
    await page.getByRole("button", { name: "Seal all anew" }).click();
    await page.getByText(/sealed anew by/).waitFor();
    await page.getByRole("tab", { name: "About" }).click();
    await page.getByText("standalone: one process has all parts").waitFor();
    await page.getByText("sqlite", { exact: true }).waitFor();
  },

  "lineage: what waits for what, as a graph and as a list; empty in words": async ({ server, visit, check }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    server.apply("bare", upstream);
    await page.goto(`${server.url}/lineage?project=bare`);
    await page.getByRole("heading", { name: "No workflow depends on another" }).waitFor();
    server.apply("etl", upstream);
    server.apply("etl", downstream);
    await server.api("PUT", "/projects/etl/workflows/report/schedules/after", { after: { workflow: "load" } });
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/load/start", {});
    await finished(server, id);
    await page.goto(`${server.url}/lineage?project=etl`);
    await page.locator(".react-flow__node", { hasText: "load" }).click();
    const beside = page.locator(".lineage aside");
    await beside.getByText("is waited for by task wait for load").waitFor();
    await beside.getByText("its ends fire schedule after").waitFor();
    await beside.getByText("success").first().waitFor();
    assert.match(page.url(), /at=etl/);
    assert.deepEqual(await check(page, "lineage"), []);
    await beside.getByRole("button", { name: "etl / report" }).first().click();
    await beside.getByRole("heading", { level: 2, name: /report/ }).waitFor();
    // Nothing waits for it: there is nothing to backfill with it.
    const backfill = beside.getByRole("button", { name: /^Backfill it with what waits for it/ });
    await becomes(() => backfill.getAttribute("aria-disabled"), "true");
    await page.getByText("As a list", { exact: true }).click();
    await page.getByRole("cell", { name: "starts it by task mail" }).waitFor();
    assert.deepEqual(await check(page, "lineage as a list"), []);
    await page
      .getByRole("link", { name: /etl \/ report/ })
      .first()
      .click();
    await page.waitForURL(`${server.url}/p/etl/w/report`);
    await page.goto(`${server.url}/lineage?project=etl&at=etl/load`);
    await backfill.click();
    const form = page.getByRole("dialog", { name: "Backfill load" });
    assert.equal(await form.getByRole("switch", { name: "Also what waits for this workflow" }).isChecked(), true);
    await form.getByLabel("From").fill("2026-03-01");
    await form.getByLabel("To, included").fill("2026-03-02");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByText("report v1: 2 dates").waitFor();
  },

  "30c: on a phone in Chinese, from Today to the failed run, its log, and recovered": async ({ server, visit, check }) => {
    const id = await runFailing(server);
    const { page } = await visit({ viewport: { width: 390, height: 800 }, locale: "zh-CN", hasTouch: true, isMobile: true });
    await page.request.get(server.link);
    await page.request.post(`${server.url}/api/v1/setup`, { data: { name: "admin", password: "a journey of its own" } });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
    for (const width of [390, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${server.url}/`);
      const failed = page.locator(".trouble li", { hasText: id });
      await failed.getByText(/load dim/).waitFor();
      assert.equal(await wide(), false, `Today is wider than ${width}`);
      assert.deepEqual(await check(page, `today at ${width}`), []);
      await failed.getByRole("link", { name: /^日志/ }).tap();
      await page.locator(".log-line", { hasText: "ERROR 1146" }).waitFor();
      assert.match(page.url(), /task=load/);
      assert.equal(await wide(), false, `the log is wider than ${width}`);
      await page.goBack();
      await page.locator(".bottom-bar").getByRole("link", { name: "今日" }).waitFor();
      assert.ok(
        await page
          .getByText(/^[+-]\d\d:\d\d$/)
          .or(page.locator(".zone", { hasText: /[+-]\d\d:\d\d$/ }))
          .first()
          .isVisible(),
        "whose hours these are",
      );
    }
    // What the bar has no room for is in the settings.
    await page.getByRole("button", { name: "设置" }).tap();
    assert.deepEqual(await check(page, "the settings of a phone"), []);
    await page.getByRole("navigation", { name: "更多页面" }).getByRole("link", { name: "调度" }).tap();
    await page.getByRole("heading", { level: 1, name: "调度" }).waitFor();
    await page.getByRole("navigation", { name: "更多页面" }).waitFor({ state: "detached" });
    await page.goBack();
    const failed = page.locator(".trouble li", { hasText: id });
    await failed.getByRole("button", { name: /^恢复/ }).tap();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".touched li").first().waitFor();
    await dialog.getByRole("button").last().tap();
    await dialog.waitFor({ state: "hidden" });
    for (const end = Date.now() + 30_000; (await server.api("GET", `/instances/${id}`)).round < 2; ) {
      assert.ok(Date.now() < end, "it was not recovered");
      await page.waitForTimeout(100);
    }
    // What was chosen for the browser is there after signing in again.
    await page.goto(`${server.url}/profile?tab=preferences`);
    await page.getByRole("radiogroup", { name: "主题" }).getByText("深色").tap();
    await page
      .getByRole("combobox", { name: "时区" })
      .or(page.getByRole("textbox", { name: "时区" }))
      .first()
      .tap();
    await page.getByRole("option", { name: /^Asia\/Tokyo/ }).tap();
    const kept = () =>
      page.evaluate(() => [
        document.documentElement.dataset.mantineColorScheme,
        document.documentElement.lang,
        localStorage["porpoise.settings"],
      ]);
    const chosen = await kept();
    assert.deepEqual(chosen.slice(0, 2), ["dark", "zh-CN"]);
    assert.match(chosen[2], /Asia\/Tokyo/);
    await page.request.delete(`${server.url}/api/v1/session`);
    await page.goto(`${server.url}/`);
    await page.getByLabel("用户").fill("admin");
    await page.locator("input[type=password]").fill("a journey of its own");
    await page.getByRole("button", { name: "登录" }).tap();
    await failed.waitFor();
    assert.deepEqual(await kept(), chosen);
  },

  "30d: on a phone of 360 px, a run is stopped and its task killed, and a schedule paused": async ({ server, visit, check }) => {
    server.apply("etl", long);
    const start = async () => (await server.api("POST", "/projects/etl/workflows/long/start", {})).instance_id;
    await server.api("PUT", "/projects/etl/workflows/long/schedules/nightly", { cron: "30 2 * * *" });
    const { page } = await visit({ viewport: { width: 360, height: 800 }, locale: "zh-CN", hasTouch: true, isMobile: true });
    await page.request.get(server.link);
    await page.request.post(`${server.url}/api/v1/setup`, { data: { name: "admin", password: "a journey of its own" } });
    const narrow = async (what) => {
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth), false, `${what} is wider than 360`);
      assert.deepEqual(await check(page, what), []);
    };
    const dialog = page.getByRole("dialog");
    const confirm = async (what) => {
      await dialog.locator(".touched li").first().waitFor();
      await narrow(what);
      await dialog.getByRole("button").last().tap();
      await dialog.waitFor({ state: "hidden" });
    };
    const stopped = await start();
    await page.goto(`${server.url}/p/etl/r/${stopped}`);
    await page.locator(".instance-head").getByRole("button", { name: "停止" }).tap();
    await confirm("the stop of a run");
    await page.locator(".instance-head .big-state").getByText("已停止").waitFor();

    const killed = await start();
    await page.goto(`${server.url}/p/etl/r/${killed}?task=sleeper`);
    await page.locator(".task-actions").getByRole("button", { name: "终止" }).tap();
    await confirm("the kill of a task");
    await page.locator(".instance-head .big-state").getByText("失败").waitFor();

    await page.goto(`${server.url}/p/etl/w/long/s/nightly`);
    await page.locator("#content").getByRole("button", { name: "暂停", exact: true }).tap();
    await dialog.getByRole("textbox").fill("值班");
    await narrow("the pause of a schedule");
    await dialog.getByRole("button", { name: "暂停" }).tap();
    await dialog.waitFor({ state: "hidden" });
    await page.locator("#content").getByRole("button", { name: "恢复" }).waitFor();
    await narrow("a paused schedule");
    assert.equal((await server.api("GET", "/projects/etl/workflows/long/schedules/nightly")).why, "值班");
  },
};
