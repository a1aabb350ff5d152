import assert from "node:assert/strict";

const failing = `name: nightly load
params:
  table: dim_user
tasks:
  - name: extract
    type: shell
    script: for i in $(seq 1 200); do echo "row $i"; done
  - name: load dim
    type: shell
    needs: [extract]
    script: |
      printf 'connect dwh \\033[32mok\\033[0m\\n'
      echo "ERROR 1146: table dwh.$table does not exist" >&2
      exit 3
  - name: load fact
    type: shell
    needs: [extract]
    script: sleep 0.2; echo done
  - name: aggregate
    type: shell
    needs: [load dim, load fact]
    script: echo never
  - name: report
    type: shell
    needs: [aggregate]
    script: echo never
`;
const long = `name: long
tasks:
  - name: sleeper
    type: shell
    script: |
      echo "pid $$"
      sleep 600
  - name: after
    type: noop
    needs: [sleeper]
`;

const final = new Set(["success", "failed", "stopped"]);

async function finished(server, id) {
  for (let i = 0; i < 150; i++) {
    const one = await server.api("GET", `/instances/${id}`);
    if (final.has(one.state)) return one;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`instance ${id} did not end in 15 s`);
}

async function signInByLink(server, page) {
  await page.goto(server.link);
  await page.getByRole("heading", { name: "Today" }).waitFor();
}

async function runFailing(server) {
  server.apply("etl", failing);
  const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/nightly%20load/start", {});
  assert.equal((await finished(server, id)).state, "failed");
  return id;
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export const journeys = {
  "1: sign in by the link, run the example, see it green": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    await page.getByRole("button", { name: "Run the example hello" }).click();
    await page.getByRole("heading", { name: /^hello/ }).waitFor();
    await page.locator(".big-state", { hasText: "success" }).waitFor();
    assert.equal(await page.locator(".task-node.hue-success").count(), 3);
    await page.locator(".react-flow__node", { hasText: "greet" }).click();
    await page.locator(".log-line", { hasText: "Hello, world!" }).waitFor();
    await page.getByRole("link", { name: "Today" }).first().click();
    await page.getByRole("table", { name: "Latest" }).getByRole("link", { name: "hello" }).waitFor();
  },

  "1b: sign in by password, leave, and come back to the same address": async ({ server, visit }) => {
    const { page } = await visit();
    await page.goto(`${server.url}/runs?span=7d`);
    await page.getByLabel("User").fill("admin");
    await page.locator("input[name=password]").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("user or password is wrong").waitFor();
    await page.locator("input[name=password]").fill(server.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Instances" }).waitFor();
    assert.match(page.url(), /\/runs\?span=7d$/);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Porpoise" }).waitFor();
  },

  "15: a failing instance says why, and a colleague opens the same view": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page } = await visit();
    await signInByLink(server, page);
    await page.locator(".trouble a", { hasText: "nightly load" }).click();
    const banner = page.locator(".banner.bad");
    await banner.getByText("ERROR 1146: table dwh.dim_user does not exist").waitFor();
    await banner.getByText("2 tasks blocked by it").waitFor();
    await banner.getByText(/exit 3/).waitFor();
    await banner.getByRole("button", { name: "Open log" }).click();
    await page.locator(".log-line", { hasText: "ERROR 1146" }).waitFor();
    assert.equal(await page.locator(".log-line .ansi-green").textContent(), "ok");
    const address = page.url();
    assert.match(address, /task=load/);
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
    assert.ok(id);
  },

  "17: a killed task's process is really gone": async ({ server, visit }) => {
    server.apply("etl", long);
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/long/start", {});
    const { page } = await visit();
    await signInByLink(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?task=sleeper&panel=log`);
    const line = await page.locator(".log-line", { hasText: /pid \d+/ }).textContent();
    const pid = Number(line.match(/\d+/)[0]);
    assert.ok(alive(pid), `process ${pid} runs`);
    await page.locator(".task-actions").getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("li", { hasText: "sleeper" }).waitFor();
    await dialog.getByRole("button", { name: "Kill" }).click();
    await page.locator(".task-node.hue-killed", { hasText: "killed" }).waitFor();
    await page.locator(".big-state", { hasText: "failed" }).waitFor();
    assert.ok(!alive(pid), `process ${pid} is gone`);
  },

  "a long list keeps at most 60 rows in the page, and reads on while it is scrolled": async ({ server, visit }) => {
    server.apply("etl", "name: tiny\ntasks:\n  - {name: a, type: noop}\n");
    const starts = 250;
    for (let i = 0; i < starts; i++) await server.api("POST", "/projects/etl/workflows/tiny/start", {});
    const { page } = await visit();
    await signInByLink(server, page);
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

  "every page is clean to axe in both themes, and no wider than the window": async ({ server, visit, check, out, shots }) => {
    const id = await runFailing(server);
    server.apply("etl", long);
    await server.api("POST", "/projects/etl/workflows/long/start", {});
    const { instance_id: green } = await server.api("POST", "/projects/examples/workflows/etl/start", {});
    await finished(server, green);
    const { page } = await visit();
    await signInByLink(server, page);
    const pages = {
      today: "/",
      instances: "/runs",
      empty: "/runs?st=quarantined&span=1h",
      projects: "/projects",
      workflows: "/p/examples/workflows",
      workflow: "/p/examples/w/etl",
      versions: "/p/examples/w/etl?tab=versions",
      definition: "/p/examples/w/etl?tab=definition",
      start: "/p/examples/w/etl?start=1",
      failed: `/p/etl/r/${id}`,
      log: `/p/etl/r/${id}?task=load+dim&panel=log`,
      gantt: `/p/etl/r/${id}?tab=gantt`,
      tasks: `/p/etl/r/${id}?tab=tasks`,
      params: `/p/examples/r/${green}?tab=params`,
      events: `/p/etl/r/${id}?tab=events`,
      missing: "/nowhere",
    };
    const wrong = [];
    const views = shots
      ? [
          { width: 1280, height: 800 },
          { width: 390, height: 800 },
        ]
      : [{ width: 1280, height: 800 }];
    const languages = shots ? ["en", "zh-CN"] : ["en"];
    for (const language of languages) {
      for (const theme of ["light", "dark"]) {
        await page.evaluate(
          ([l, t]) => {
            localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
            localStorage.setItem("porpoise.theme", t);
          },
          [language, theme],
        );
        for (const view of views) {
          await page.setViewportSize(view);
          for (const [name, path] of Object.entries(pages)) {
            await page.goto(server.url + path);
            await page.locator("#content h1, [role=dialog] form").first().waitFor();
            await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
            await page.waitForTimeout(250); // what opens has opened
            wrong.push(...(await check(page, `${name} ${theme} ${language} ${view.width}`)));
            const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
            if (wide) wrong.push(`${name} ${theme} ${language} ${view.width}: wider than the window`);
            if (shots) await page.screenshot({ path: `${out}${name}-${theme}-${language}-${view.width}.png` });
          }
        }
      }
    }
    assert.deepEqual(wrong, []);
  },
};
