import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, finished, runFailing, signInByCall, signInByLink } from "../steps.mjs";

const password = "seven blue horses swim";

/** setUp goes through the page of the first start, as a person does. */
async function setUp(page, name) {
  await page.getByRole("heading", { name: "Set up Porpoise" }).waitFor();
  await page.getByLabel("Name of the admin").fill(name);
  await page.locator("input[name=password]").fill(password);
  await page.locator("input[name=again]").fill(password);
  await page.getByRole("button", { name: "Create the admin" }).click();
}

async function signIn(page, user, secret) {
  await page.getByLabel("User").fill(user);
  await page.locator("input[name=password]").fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** person makes a user with a role, whose first password is replaced already, and opens a page as him. */
async function person({ server, visit }, name, role, project) {
  await server.api("POST", "/users", { name, password: "given by the admin" });
  if (role) await server.api("PUT", `/projects/${project}/members/${name}`, { role });
  const opened = await visit();
  const own = `${name} has his own`;
  await opened.page.request.post(`${server.url}/api/v1/session`, { data: { user: name, password: "given by the admin" } });
  await opened.page.request.put(`${server.url}/api/v1/session/password`, { data: { current: "given by the admin", new: own } });
  return { ...opened, password: own };
}

export const journeys = {
  "1: first start: create the admin, land on Today, run the example, see it green": async ({ server, visit, out }) => {
    const { page } = await visit({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(server.link);
    await page.getByRole("heading", { name: "Set up Porpoise" }).waitFor();
    // Nothing else is there yet: every address is the set-up.
    await page.goto(`${server.url}/projects`);
    await page.getByRole("heading", { name: "Set up Porpoise" }).waitFor();
    await page.locator("input[name=password]").fill("short");
    await page.getByText("Too short: 7 more to go.").waitFor();
    await page.locator("input[name=password]").fill(password);
    await page.getByText("Good.", { exact: true }).waitFor();
    await page.locator("input[name=again]").fill("something else");
    await page.getByText("The two passwords differ.").waitFor();
    // Pasting is allowed.
    await page.locator("input[name=password]").fill(password);
    await page.locator("input[name=password]").press("ControlOrMeta+a");
    await page.evaluate((text) => navigator.clipboard.writeText(text), password);
    await page.locator("input[name=again]").press("ControlOrMeta+a");
    await page.locator("input[name=again]").press("ControlOrMeta+v");
    await page.getByLabel("Name of the admin").fill("Li Wei");
    await page.screenshot({ path: `${out}set-up.png` });
    await page.getByRole("button", { name: "Create the admin" }).click();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    assert.ok(!existsSync(join(server.data, "admin-password")), "the printed password's file is gone");
    // What a new node ran by itself: one failure, with its reason, and a success.
    await page.locator(".trouble").getByText("ERROR 1146 (42S02)").first().waitFor();
    await page.getByRole("table", { name: "Latest" }).getByRole("link", { name: "hello" }).waitFor();
    await page.getByRole("button", { name: "Run the example epigenomics" }).click();
    await page.getByRole("heading", { name: /^epigenomics/ }).waitFor();
    await page.locator(".big-state", { hasText: "success" }).waitFor({ timeout: 30_000 });
    await page.getByRole("link", { name: "Today" }).first().click();
    await page.getByRole("listitem").filter({ hasText: "watch it turn green" }).getByRole("img", { name: "done" }).waitFor();
    // The failure: root cause and its line.
    await page.getByRole("listitem").filter({ hasText: "has failed" }).getByRole("link", { name: "Open it" }).click();
    await page.getByRole("heading", { name: /^nightly sales/ }).waitFor();
    await page.getByText("load warehouse").first().waitFor();
    await page.getByText("Table 'dwh.fact_sale' doesn't exist").first().waitFor();
  },

  "1b: sign in by password, leave, and come back to the same address": async ({ server, visit }) => {
    const first = await visit();
    await signInByLink(server, first.page);
    const { page } = await visit();
    await page.goto(`${server.url}/runs?span=7d`);
    await signIn(page, "admin", "wrong");
    await page.getByRole("alert").getByText("User or password is wrong.").waitFor();
    await page.getByText("简体中文").click();
    await page.getByRole("alert").getByText("用户名或密码错误。").waitFor();
    await page.getByText("English").click();
    await signIn(page, "admin", server.password);
    await page.getByRole("heading", { name: "Instances" }).waitFor();
    assert.match(page.url(), /\/runs\?span=7d$/);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Porpoise" }).waitFor();
    // A link works once: the sign-in says so, and the page is no bare error.
    await page.goto(server.link);
    await page.getByText("This link was used already").waitFor();
  },

  "1c: the printed password opens the set-up, and the new one the console": async ({ server, visit }) => {
    const { page } = await visit();
    await page.goto(`${server.url}/`);
    await signIn(page, "admin", server.password);
    await setUp(page, "root");
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(page, "root", password);
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
  },

  "1d: who was given a password replaces it before anything else": async ({ server, visit }) => {
    await server.api("POST", "/users", { name: "ann", password: "given by the admin" });
    const { page } = await visit({ refused: [422] });
    await page.goto(`${server.url}/projects`);
    await signIn(page, "ann", "given by the admin");
    await page.getByRole("heading", { name: "Choose a password of your own" }).waitFor();
    await page.getByLabel("Current password").fill("not this one");
    await page.locator("input[name=password]").fill(password);
    await page.locator("input[name=again]").fill(password);
    await page.getByRole("button", { name: "Save and go on" }).click();
    await page.getByText("The current password is wrong.").waitFor();
    await page.getByLabel("Current password").fill("given by the admin");
    await page.getByRole("button", { name: "Save and go on" }).click();
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    await page.getByText("An owner of one, or an admin, can make you a member.").waitFor();
  },

  "1e: projects, members and workflows by mouse": {
    server: { flags: ["--examples=false"] },
    run: async ({ server, visit }) => {
      const { page } = await visit({ refused: [409, 422] });
      await signInByLink(server, page);
      await server.api("POST", "/users", { name: "bob", password: "given by the admin" });
      await page.getByRole("link", { name: "Projects" }).first().click();
      await page.getByRole("heading", { name: "No project yet" }).waitFor();
      await page.getByRole("button", { name: "New project" }).click();
      await page.getByLabel("Name").fill(".bad");
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByText("begin and end with none of dot").waitFor();
      await page.getByLabel("Name").fill("sales");
      await page.getByLabel("Description").fill("Orders and customers");
      await page.getByRole("button", { name: "Create" }).click();
      await page.getByRole("heading", { name: "Workflows of sales" }).waitFor();
      await page.getByRole("heading", { name: "No workflow yet" }).waitFor();

      await page.getByRole("link", { name: "Members" }).click();
      await page.getByRole("button", { name: "Add a member" }).click();
      await page.getByRole("dialog").getByLabel("User").fill("nobody");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("There is no user of that name.").waitFor();
      await page.getByRole("dialog").getByLabel("User").fill("bob");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("cell", { name: "bob", exact: true }).waitFor();
      const role = page.getByRole("combobox", { name: "Role of bob" });
      await role.click();
      await page.getByRole("option", { name: /^owner/ }).click();
      await page.getByText("bob is owner now.").waitFor();
      await role.click();
      await page.getByRole("option", { name: /^viewer/ }).click();
      await page.getByRole("alert").getByText("The project must keep an owner.").waitFor();

      await page.getByRole("link", { name: "sales" }).click();
      await page.getByRole("button", { name: "New workflow" }).first().click();
      await page.getByLabel("Name").fill("daily");
      await page.getByRole("button", { name: "Open the editor" }).click();
      await page.waitForURL(/\/p\/sales\/w\/daily\/edit\?new=1$/);

      server.apply("sales", "name: daily\ndescription: Loads the day\ntasks:\n  - {name: a, type: noop}\n");
      const { instance_id: id } = await server.api("POST", "/projects/sales/workflows/daily/start", {});
      await finished(server, id);
      await page.goto(`${server.url}/p/sales/workflows`);
      const row = page.locator("[data-workflow=daily]");
      await row.getByRole("link", { name: `${id} success` }).waitFor();
      await row.getByRole("button", { name: "Actions for daily" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "Export as a file" }).click();
      const file = await download;
      assert.equal(file.suggestedFilename(), "daily.yaml");
      assert.match(readFileSync(await file.path(), "utf8"), /^name: daily\n/);
      await row.getByRole("button", { name: "Actions for daily" }).click();
      await page.getByRole("menuitem", { name: "Copy" }).click();
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      const copy = page.locator("[data-workflow='daily copy']");
      await copy.getByText("not published").waitFor();
      await page.getByRole("textbox", { name: "Filter by name or description" }).fill("copy");
      await page.getByText("1 workflow", { exact: true }).waitFor();
      assert.match(page.url(), /\?q=copy$/);
      await copy.getByRole("button", { name: "Actions for daily copy" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByLabel("Type daily copy to delete it").fill("daily");
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByText("Type the name exactly").waitFor();
      await page.getByLabel("Type daily copy to delete it").fill("daily copy");
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByText("daily copy is deleted.").waitFor();

      await page.getByRole("link", { name: "Projects" }).first().click();
      await page.getByRole("link", { name: /1 succeeded, 0 failed/ }).waitFor();
      await page.getByRole("button", { name: "Actions for sales" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByLabel("Type sales to delete it").fill("sales");
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("alert").getByText("workflow daily").waitFor();
    },
  },

  "rights: a viewer can't run, and sees why": async ({ server, visit }) => {
    const { page } = await person({ server, visit }, "vera", "viewer", "examples");
    await page.goto(`${server.url}/`);
    const run = page.getByRole("button", { name: /Run the example epigenomics/ });
    await run.waitFor();
    assert.equal(await run.getAttribute("aria-disabled"), "true");
    await run.hover();
    await page.getByRole("tooltip").getByText("This needs the role operator.").waitFor();
    await page.goto(`${server.url}/p/examples/workflows`);
    await page.getByRole("button", { name: "Actions for hello" }).click();
    const edit = page.getByRole("menuitem", { name: /^Edit/ });
    await edit.getByText("This needs the role editor. An owner of the project or an admin can give it to you.").waitFor();
    await edit.click({ force: true });
    assert.match(page.url(), /\/p\/examples\/workflows$/);
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("button", { name: /^New workflow/ }).getAttribute("aria-disabled"), "true");
    await page.goto(`${server.url}/p/examples/members?add=1`);
    await page.getByRole("cell", { name: "vera", exact: true }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.goto(`${server.url}/projects?new=1`);
    await page.getByRole("cell", { name: "viewer" }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    // The page is only polite: the server holds it.
    const answer = await page.request.post(`${server.url}/api/v1/projects/examples/workflows/hello/start`, { data: {} });
    assert.equal(answer.status(), 403);
  },

  "rights: what each role may press, and what the others are told": async ({ server, visit }) => {
    const roles = ["viewer", "operator", "editor", "owner"];
    const id = await runFailing(server, "examples");
    // The least role that each needs, by page.
    const needs = {
      "/p/examples/w/hello": { Run: "operator", Edit: "editor" },
      "/p/examples/workflows": { "New workflow": "editor" },
      "/p/examples/schedules": { "New schedule": "editor" },
      "/p/examples/timers": { "New timer": "editor" },
      "/p/examples/settings?tab=secrets": { "New secret": "editor" },
      "/p/examples/members": { "Add a member": "owner" },
      "/p/examples/w/nightly load/edit": { Run: "operator" },
      [`/p/examples/r/${id}?task=load dim`]: {
        "Recover failed": "operator",
        "Run all again": "operator",
        Acknowledge: "operator",
        "Rerun from": "operator",
        "Force success": "operator",
      },
      [`/p/examples/r/${id}?task=aggregate&panel=why`]: { "Recover failed": "operator", "Force success": "operator" },
      [`/p/examples/w/nightly load/grid?task=load dim&run=${id}`]: { "Rerun from": "operator", "Force success": "operator" },
      "/runs": { "Recover failed": "operator", "Run all again": "operator" },
    };
    // What stands on a page only after a step.
    const first = { "/runs": (page) => page.getByRole("checkbox", { name: `Choose nightly load ${id}` }).click() };
    const wrong = [];
    for (const role of roles) {
      const { page, context } = await person({ server, visit }, role, role, "examples");
      for (const [path, buttons] of Object.entries(needs)) {
        await page.goto(server.url + path);
        await first[path]?.(page);
        for (const [name, least] of Object.entries(buttons)) {
          const button = page
            .locator("#content")
            .getByRole(/^Edit/.test(name) ? "link" : "button", { name: new RegExp(`^${name}`) })
            .or(page.locator("#content").getByRole("button", { name: new RegExp(`^${name}`) }));
          await button.first().waitFor();
          const should = roles.indexOf(role) >= roles.indexOf(least);
          for (const one of await button.all()) {
            const may = (await one.getAttribute("aria-disabled")) !== "true";
            if (may !== should) wrong.push(`${role} ${may ? "may" : "may not"} press ${name} on ${path}`);
            else if (!may && !(await one.textContent()).includes(`This needs the role ${least}.`))
              wrong.push(`${name} does not tell a ${role} that it needs the role ${least}: ${await one.textContent()}`);
          }
        }
      }
      if (role === "viewer") {
        // A key asks for no more than its button.
        await page.goto(`${server.url}/p/examples/r/${id}`);
        await page.getByRole("button", { name: /^Run all again/ }).waitFor();
        await page.keyboard.press("r");
        await page.getByRole("alert").getByText("This needs the role operator.").waitFor();
        assert.equal(await page.getByRole("dialog").count(), 0);
      }
      await context.close();
    }
    assert.deepEqual(wrong, []);
  },

  "30: language, theme and timezone are kept after signing in again": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/profile?tab=preferences`);
    await page.getByText("简体中文").click();
    await page.getByText("深色").click();
    await page.getByRole("combobox", { name: "时区" }).click();
    await page.getByRole("option", { name: /Asia\/Kolkata/ }).click();
    const as = () =>
      page.evaluate(() => ({
        language: document.documentElement.lang,
        theme: document.documentElement.dataset.mantineColorScheme,
        zone: document.querySelector(".zone")?.textContent,
      }));
    const chosen = await as();
    assert.equal(chosen.language, "zh-CN");
    assert.equal(chosen.theme, "dark");
    assert.match(chosen.zone, /Asia\/Kolkata/);
    await page.getByRole("button", { name: "设置" }).click();
    await page.getByRole("button", { name: "退出登录" }).click();
    await page.getByRole("heading", { name: "登录 Porpoise" }).waitFor();
    await page.getByLabel("用户").fill("admin");
    await page.locator("input[name=password]").fill(server.password);
    await page.getByRole("button", { name: "登录" }).click();
    await page.getByRole("heading", { name: "我的账户" }).waitFor();
    await becomes(() => as(), chosen);
  },

  "30b: sessions are ended, tokens made and revoked, the password changed": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    const other = await visit();
    await other.page.goto(`${server.url}/`);
    await signIn(other.page, "admin", server.password);
    await other.page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.goto(`${server.url}/profile?tab=sessions`);
    await page.getByText("this one").waitFor();
    await page.getByRole("button", { name: /^End the session in Chrome/ }).click();
    await page.getByText("The session has ended.").waitFor();
    // It is told by the stream, or at the next question: whichever comes first puts the page behind the sign-in.
    await other.page.evaluate(() => {
      history.pushState(null, "", new URL("runs", document.baseURI));
      dispatchEvent(new PopStateEvent("popstate"));
    });
    await other.page.getByRole("heading", { name: "Sign in to Porpoise" }).waitFor();
    await signIn(other.page, "admin", server.password);
    // The page waited there unbroken.
    await other.page.getByRole("heading", { name: "Instances", exact: true }).waitFor();

    await page.getByRole("tab", { name: "Tokens" }).click();
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("nightly build");
    await page.getByRole("button", { name: "Create" }).click();
    const secret = await page.locator(".secret code").textContent();
    const ask = () => page.request.get(`${server.url}/api/v1/session`, { headers: { Authorization: `Bearer ${secret}` } });
    assert.equal((await ask()).status(), 200);
    await page.getByRole("button", { name: "I have copied it" }).click();
    assert.equal(await page.getByText(secret).count(), 0);
    await page.getByRole("button", { name: "Revoke nightly build" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("cell", { name: "nightly build", exact: true }).waitFor({ state: "detached" });
    assert.equal((await ask()).status(), 401);

    await page.getByRole("tab", { name: "Account" }).click();
    await page.getByLabel("Current password").fill(server.password);
    await page.locator("input[name=password]").fill(password);
    await page.locator("input[name=again]").fill(password);
    await page.getByRole("button", { name: "Change the password" }).click();
    await page.getByText("The password is changed.").waitFor();
    await page.getByRole("tab", { name: "Sessions" }).click();
    await page.getByText("this one").waitFor();
  },

  "import: a definition, one with a mistake as a draft, and an export of DolphinScheduler with its schedule": async ({
    server,
    visit,
    check,
  }) => {
    const exported = new URL("../../../internal/dolphin/testdata/chain/export.json", import.meta.url).pathname;
    await server.api("PUT", "/projects/dwh");
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/dwh/workflows`);
    const dialog = page.getByRole("dialog", { name: "Import workflows into dwh" });
    const field = dialog.getByLabel("Definition, or export of DolphinScheduler");
    const look = dialog.getByRole("button", { name: "Check" });
    await page.getByRole("button", { name: "Import", exact: true }).first().click();

    // A definition is saved byte for byte, under another name if that is wished for.
    const text = "name: daily # by hand\ntasks:\n  - {name: a,   type: noop}\n";
    await field.fill(text);
    await look.click();
    await dialog.getByText("daily can be saved: 1 task.").waitFor();
    assert.deepEqual(await check(page, "import of a definition"), []);
    await dialog.getByLabel("Name", { exact: false }).last().fill("hourly");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(/\/p\/dwh\/w\/hourly/);
    const saved = await server.api("GET", "/projects/dwh/workflows/hourly");
    assert.equal(saved.text, text.replace("daily", "hourly"));
    assert.equal(saved.published, 1);

    // One with a mistake says its line, and is mended in the editor.
    await page.goto(`${server.url}/p/dwh/workflows?import=1`);
    await field.fill("name: broken\ntasks:\n  - {name: a, type: noop, needs: [b]}\n");
    await look.click();
    await dialog.getByText("Line 3:").waitFor();
    await dialog.getByLabel("Name", { exact: false }).last().fill("broken");
    await dialog.getByRole("button", { name: "Open as a draft in the editor" }).click();
    await page.waitForURL(/\/p\/dwh\/w\/broken\/edit/);
    await page.getByText("needs: [b]").first().waitFor();

    // An export from a file: its workflow and its schedule, which is paused, and what became of each field.
    await page.goto(`${server.url}/p/dwh/workflows`);
    await page.getByRole("button", { name: "Import", exact: true }).first().click();
    await dialog.locator("input[type=file]").setInputFiles(exported);
    await dialog.getByLabel("Names for codes").waitFor();
    await dialog.getByLabel("Names for codes").fill("prod");
    await dialog.getByText("“prod” is not like").waitFor();
    assert.ok(await look.isDisabled());
    await dialog.getByLabel("Names for codes").fill("");
    await look.click();
    await dialog.getByText("1 workflow in the export.").waitFor();
    await dialog.getByRole("switch", { name: /daily_sales/ }).waitFor();
    const download = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Download the report" }).click();
    assert.equal((await download).suggestedFilename(), "import-report.txt");
    assert.deepEqual(await check(page, "import of an export"), []);
    await dialog.getByRole("button", { name: "Save and publish 1 workflow" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "daily_sales" }).first().waitFor();
    const schedule = await server.api("GET", "/projects/dwh/workflows/daily_sales/schedules/imported");
    assert.equal(schedule.enabled, false);

    // What is there stays: a second time nothing can be chosen.
    await page.getByRole("button", { name: "Import", exact: true }).first().click();
    await dialog.locator("input[type=file]").setInputFiles(exported);
    await look.click();
    await dialog.getByText("The project has one of this name").waitFor();
    assert.ok(await dialog.getByRole("switch", { name: /daily_sales/ }).isDisabled());
  },

  "base path: pages, deep links, live news, log, link and download below /porpoise/": {
    server: { basePath: "/porpoise" },
    run: async ({ server, visit }) => {
      const { page, context } = await visit();
      await page.goto(server.link);
      await setUp(page, "admin");
      await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
      assert.equal(page.url(), `${server.url}/`);
      const [cookie] = await context.cookies();
      assert.equal(cookie.path, "/porpoise/");
      await page.locator(".connection.live").waitFor();
      for (const [name, path] of Object.entries({ Instances: "/runs", Projects: "/projects" })) {
        await page.getByRole("link", { name }).first().click();
        await page.getByRole("heading", { name, exact: true }).waitFor();
        assert.ok(page.url().startsWith(server.url + path), page.url());
      }
      await page.goto(`${server.url}/p/examples/w/hello?start=1`);
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.getByRole("heading", { name: /^hello/ }).waitFor();
      // The stream tells of the end; nothing is asked for again.
      await page.locator(".big-state", { hasText: "success" }).waitFor();
      await page.locator(".react-flow__node", { hasText: "greet" }).click();
      await page.locator(".log-line", { hasText: "Hello, world!" }).waitFor();
      await page.reload();
      await page.locator(".log-line", { hasText: "Hello, world!" }).waitFor();
      await page.goto(`${server.url}/p/examples/workflows`);
      await page.getByRole("button", { name: "Actions for etl" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: "Export as a file" }).click();
      assert.equal((await download).suggestedFilename(), "etl.yaml");
      await page.goto(`${server.url}/nowhere`);
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    },
  },
};
