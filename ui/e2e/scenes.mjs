// Every page, dialog, menu and state of the console worth a look: shots.mjs takes their
// pictures, and journeys/scenes.mjs holds each to axe in both themes. A scene finds its
// buttons by their sentence's key, so that it works in every language.
import assert from "node:assert/strict";
import { finished, long } from "./steps.mjs";

/** words reads the sentences of a language as the console has them. */
export async function words(language) {
  const { runnerImport } = await import("vite");
  const path = new URL(`../src/i18n/${language}/index.ts`, import.meta.url).pathname;
  const { module } = await runnerImport(path, { logLevel: "error", configFile: false });
  return Object.values(module).find((v) => typeof v === "object");
}

const shared = `# Loads the orders of a day into the warehouse.
name: shared
params:
  day: "20261120"
tasks:
  - name: extract
    type: shell
    script: echo 1
  - name: load # slow
    type: shell
    needs: [extract]
    script: echo "day $day"
  - name: report
    type: shell
    needs: [load]
    script: echo done
`;

/** prepare fills a server with what the scenes show, and gives the ids that their addresses need. */
export async function prepare(server) {
  const start = async (project, workflow, body = {}) =>
    (await server.api("POST", `/projects/${project}/workflows/${encodeURIComponent(workflow)}/start`, body)).instance_id;
  const failed = await start("examples", "nightly sales");
  const good = await start("examples", "nightly sales", { params: { table: "fact_sales" } });
  const genome = await start("examples", "epigenomics");
  const etl = await start("examples", "etl");
  server.apply("etl", shared);
  server.apply("etl", shared.replace("echo 1", "echo 2"));
  server.apply("etl", shared.replace("- name: report", "- name: mail").replace("echo 1", "echo 3"));
  server.apply("etl", long);
  const running = await start("etl", "long");
  const dates = { from: "2026-03-01", to: "2026-03-03", parallel: 1 };
  const backfills = "/projects/etl/workflows/long/backfills";
  const { token } = await server.api("POST", `${backfills}?preview=true`, dates);
  const { backfill_id: backfill } = await server.api("POST", backfills, { ...dates, preview: token });
  for (let i = 0; i < 6; i++) await finished(server, await start("examples", "hello"));
  for (const id of [failed, good, genome, etl]) await finished(server, id);
  await server.api("POST", "/users", { name: "li wei", password: "given by the admin" });
  await server.api("POST", "/users", { name: "vera", password: "given by the admin" });
  await server.api("PUT", "/projects/etl/members/li%20wei", { role: "editor" });
  await server.api("PUT", "/projects/etl/members/vera", { role: "viewer" });
  return { failed, good, genome, etl, running, backfill };
}

const exact = { exact: true };
const button = (key) => async (page, say) =>
  page
    .getByRole("button", { name: say(key), ...exact })
    .first()
    .click();
const named = (key, values) => async (page, say) =>
  page
    .getByRole("button", { name: say(key, values) })
    .first()
    .click();

/** retype writes the whole text of the editor anew, as a paste does. */
async function retype(page, text) {
  await page.locator(".editor-text [role=textbox]").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

const broken = shared.replace("    needs: [load]", "    needs: [load");
const mistaken = shared
  .replace("needs: [load]", "needs: [laod]")
  .replace("type: shell\n    script: echo 1", "type: shel\n    scrip: echo 1");

async function conflict(page, say, server) {
  await retype(page, shared.replace("echo done", "echo over"));
  server.apply("etl", shared.replace("echo done", `echo finished ${Date.now()}`));
  await button("editor.saveVersion")(page, say);
  const dialog = page.getByRole("dialog");
  await dialog.locator("button[type=submit], .mantine-Button-root").last().click();
  await page.locator(".merge").first().waitFor();
}

/** scenes gives [name, address, what makes it ready]; act sees the page, the words and the server. */
export function scenes(ids) {
  const failed = `/p/examples/r/${ids.failed}`;
  const edit = "/p/etl/w/shared/edit";
  const sales = "/p/examples/w/nightly%20sales";
  return {
    today: ["/"],
    "today menu": ["/", named("top.settings")],
    palette: ["/", (page) => page.locator(".find").click()],
    "palette search": [
      "/",
      async (page) => {
        await page.locator(".find").click();
        await page.keyboard.type("sales");
        await page.getByRole("dialog").getByText("nightly sales").first().waitFor();
      },
    ],
    "palette nothing": [
      "/",
      async (page) => {
        await page.locator(".find").click();
        await page.keyboard.type("zzzz");
      },
    ],
    shortcuts: ["/", async (page) => page.keyboard.press("?")],
    projects: ["/projects"],
    "project new": ["/projects?new=1"],
    "project edit": ["/projects?edit=etl"],
    "project delete": ["/projects?delete=etl"],
    "project menu": ["/projects", (page) => page.locator("tbody button, .row-menu").last().click()],
    members: ["/p/etl/members"],
    "member add": ["/p/etl/members?add=1"],
    "member remove": ["/p/etl/members?remove=vera"],
    workflows: ["/p/examples/workflows"],
    "workflows none": ["/p/examples/workflows?q=zzzz"],
    "workflow new": ["/p/etl/workflows?new=1"],
    "workflow import": ["/p/etl/workflows?import=1"],
    "workflow copy": ["/p/etl/workflows?copy=shared"],
    "workflow delete": ["/p/etl/workflows?delete=shared"],
    "workflow menu": ["/p/etl/workflows", (page) => page.locator("[data-workflow=shared] button").last().click()],
    hub: [`${sales}?tab=overview`],
    "hub grid": [`${sales}?tab=grid`],
    "hub grid task": [`${sales}?tab=grid&task=load+warehouse&run=${ids.failed}`],
    "hub grid history": [`${sales}?tab=grid&task=load+warehouse`],
    "hub grid chosen": [
      `${sales}?tab=grid`,
      async (page) => {
        for (const at of [0, 1])
          await page
            .locator("[role=gridcell].fill-solid")
            .nth(at)
            .click({ modifiers: ["Control"] });
      },
    ],
    "hub instances": [`${sales}?tab=runs`],
    "hub versions": ["/p/etl/w/shared?tab=versions"],
    "hub definition": [`${sales}?tab=definition`],
    "diff list": ["/p/etl/w/shared?tab=versions&from=1&to=3"],
    "diff graph": ["/p/etl/w/shared?tab=versions&from=1&to=3&as=graph"],
    "diff text": ["/p/etl/w/shared?tab=versions&from=1&to=3&as=text"],
    restore: [
      "/p/etl/w/shared?tab=versions",
      (page, say) =>
        page
          .getByRole("button", { name: say("versions.restore"), ...exact })
          .last()
          .click(),
    ],
    "backfill cancel": [`/p/etl/w/long?tab=backfills&id=${ids.backfill}`, button("backfills.cancel")],
    start: [`${sales}?start=1`],
    "editor canvas": [edit],
    "editor split": [`${sales}/edit?view=split&task=load+warehouse`],
    "editor text": [`${sales}/edit?view=text`],
    "editor list": [`${sales}/edit?view=list`],
    "editor new": ["/p/etl/w/fresh/edit?new=1"],
    "editor problems": [
      `${edit}?view=split`,
      async (page, say) => {
        await retype(page, mistaken);
        await page.locator(".node-problems").first().waitFor();
        await named("text.problems")(page, say).catch(() => page.locator(".problems button").first().click());
      },
    ],
    "editor broken": [
      `${edit}?view=split`,
      async (page) => {
        await retype(page, broken);
        await page.locator(".cm-lint-marker-error").first().waitFor();
      },
    ],
    "editor merge": [`${edit}?view=text`, conflict],
    "form general": [`${sales}/edit?task=load+warehouse`],
    "form params": [`${sales}/edit?task=load+warehouse&tab=params`],
    "form retry": [`${sales}/edit?task=load+warehouse&tab=retry`],
    "form run": [`${sales}/edit?task=load+warehouse&tab=run`],
    "form preview": [`${sales}/edit?task=load+warehouse&tab=preview`],
    "form workflow": [`${sales}/edit?view=list&task=`],
    "save dialog": [
      `${edit}?view=text`,
      async (page, say) => {
        await retype(page, shared.replace("echo 1", "echo one"));
        await button("editor.saveVersion")(page, say);
      },
    ],
    "leave dialog": [
      `${edit}?view=text`,
      async (page) => {
        await retype(page, shared.replace("echo 1", "echo one"));
        await page.locator("nav a:visible").first().click();
      },
    ],
    "editor run": [`${sales}/edit?run=${ids.failed}`],
    "editor run menu": [`${sales}/edit?task=load+warehouse`, button("hub.start")],
    instances: ["/runs?span=any"],
    "instances chosen": [
      "/runs?span=any",
      async (page) => {
        for (const at of [0, 1, 2]) await page.locator("[data-instance] input[type=checkbox]").nth(at).click();
      },
    ],
    "instances export": ["/runs?span=any", named("instances.export")],
    "instances empty": ["/runs?st=quarantined&span=1h&project=etl"],
    instance: [failed],
    "instance log": [`${failed}?task=load+warehouse&panel=log`],
    "instance log full": [`${failed}?task=load+warehouse&panel=log&full=1`],
    "instance log find": [
      `${failed}?task=load+warehouse&panel=log`,
      async (page) => {
        await page.locator(".log").focus();
        await page.keyboard.press("ControlOrMeta+f");
        await page.keyboard.type("error");
        await page.keyboard.press("Enter");
      },
    ],
    "instance log below": [`${failed}?task=load+warehouse&panel=log`, named("log.dockBottom")],
    "instance attempts": [`${failed}?task=load+warehouse&panel=attempts`],
    "instance values": [`${failed}?task=load+warehouse&panel=values`],
    "instance why": [`${failed}?task=mail+report&panel=why`],
    "instance gantt": [`${failed}?tab=gantt`],
    "instance tasks": [`${failed}?tab=tasks`],
    "instance params": [`${failed}?tab=params`],
    "instance events": [`${failed}?tab=events`],
    "instance compare": [`${failed}?tab=compare&with=${ids.good}`],
    "instance recover": [failed, named("act.recover")],
    "instance rerun": [failed, named("act.rerun")],
    "instance running": [`/p/etl/r/${ids.running}`],
    "instance stop": [`/p/etl/r/${ids.running}`, named("act.stop")],
    "instance genome": [`/p/examples/r/${ids.genome}`],
    "instance genome gantt": [`/p/examples/r/${ids.genome}?tab=gantt`],
    "instance missing": ["/p/examples/r/99999999"],
    "workflow missing": ["/p/examples/w/nothing"],
    profile: ["/profile"],
    "profile sessions": ["/profile?tab=sessions"],
    "profile tokens": ["/profile?tab=tokens"],
    "profile token": ["/profile?tab=tokens&new=1"],
    "profile preferences": ["/profile?tab=preferences"],
    "not found": ["/nowhere"],
  };
}

/** play opens a scene and waits until nothing of it is still on its way. */
export async function play(page, server, dictionary, [path, act]) {
  const say = (key, values = {}) => {
    const found = dictionary[key];
    assert.ok(found, `there is no sentence ${key}`);
    return found.replaceAll(/\{\{(\w+)\}\}/g, (_, v) => String(values[v] ?? ""));
  };
  await page.goto(server.url + path);
  await page.locator("#content h1, .error, [role=alert]").first().waitFor();
  await settled(page);
  if (act) {
    await act(page, say, server);
    await settled(page);
  }
}

async function settled(page) {
  await page.waitForFunction(() => document.querySelectorAll(".skeleton, .code-waiting").length === 0);
  await page.waitForTimeout(250); // what is asked for after the first paint begins to come
  // What opens has opened; a picture half-way is nobody's view.
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().map((a) => (a.effect?.getTiming().iterations === Infinity ? 0 : a.finished))),
  );
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}
