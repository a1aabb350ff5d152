import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { becomes, finished, signInAgain, signInByCall, signInByLink } from "../steps.mjs";

const base = `# who loads what
name: shared
params:
  day: "1"
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

const text = (page) => page.getByRole("textbox", { name: "Text of the workflow" });

/** openText opens the editor at its text. */
async function openText(server, page, workflow, more = "") {
  await page.goto(`${server.url}/p/etl/w/${workflow}/edit?view=text${more}`);
  await text(page).waitFor();
  await page.getByText("YAML ok").waitFor();
}

/** retype writes the whole text anew, as a paste does. */
async function retype(page, content) {
  await text(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(content);
  await page.getByText("unsaved").waitFor();
}

async function saveAs(page, message) {
  await page.getByRole("button", { name: "Save…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What has changed").fill(message);
  await dialog.getByRole("button", { name: "Save and publish" }).click();
  await dialog.waitFor({ state: "hidden" });
}

const newest = (server) => server.api("GET", "/projects/etl/workflows/shared");

const clean = async (page, where) => assert.deepEqual(await inBoth(page, where), []);

export const journeys = {
  "10: two people save: what is apart comes together, what both have changed is chosen": async ({ server, visit }) => {
    server.apply("etl", base);
    const one = await visit();
    // The second save of the same ground is refused.
    const two = await visit({ refused: [412] });
    await signInByLink(server, one.page);
    await signInAgain(server, two.page);
    for (const { page } of [one, two]) await openText(server, page, "shared");
    await retype(one.page, base.replace("echo 1", "echo one").replace("echo done", "echo finished"));
    await retype(two.page, base.replace("echo done", "echo over").replace("# slow", "# slow, mind it").replace('"1"', '"2"'));
    await saveAs(one.page, "the first");
    await saveAs(two.page, "the second");
    const merge = two.page.getByRole("region", { name: "Merge" });
    await merge.getByText("One field was changed by both.").waitFor();
    await clean(two.page, "merge");
    const go = merge.getByRole("button", { name: "Merge and save" });
    assert.ok(await go.isDisabled());
    const choice = merge.getByRole("radiogroup", { name: "report · script" });
    await choice.getByText("echo over").waitFor();
    await choice.getByText("echo finished").waitFor();
    await choice.getByRole("radio", { name: /^mine/ }).check();
    await go.click();
    await merge.waitFor({ state: "hidden" });
    await two.page.getByText("v3").waitFor();
    const saved = await newest(server);
    assert.equal(saved.latest, 3);
    for (const wanted of ["# who loads what", "echo one", "echo over", "# slow, mind it", 'day: "2"'])
      assert.ok(saved.text.includes(wanted), `${wanted} in\n${saved.text}`);
    // The one who was first is told at once, and goes on with both.
    await one.page.getByText("admin has saved version 3 while you were working").waitFor();
    await one.page.getByRole("button", { name: "See and merge" }).click();
    await one.page.getByRole("region", { name: "Merge" }).getByRole("button", { name: "Merge", exact: true }).click();
    await one.page.getByText("YAML ok").waitFor();
    assert.ok((await text(one.page).textContent()).includes("echo over"));
    await text(one.page).press("Control+End");
    await one.page.keyboard.insertText("# more\n");
    await one.page.getByRole("button", { name: "Save draft" }).click();
    await one.page.getByText("draft by admin").waitFor();
  },

  "11: unsaved work is asked for before it is left, and offered after a crash": async ({ server, visit }) => {
    server.apply("etl", base);
    const { page, context } = await visit();
    await signInByCall(server, page);
    await openText(server, page, "shared");
    const save = page.getByRole("button", { name: "Save…" });
    const nothing = page.getByRole("button", { name: "Save… There is nothing to save: this is the newest version as it is." });
    await nothing.hover();
    await page.getByRole("tooltip").getByText("There is nothing to save").waitFor();
    await nothing.press("Enter");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await retype(page, `${base}# mine\n`);
    await nothing.waitFor({ state: "detached" });
    assert.equal(await save.getAttribute("aria-disabled"), null);
    await page.getByRole("link", { name: "Today" }).first().click();
    const ask = page.getByRole("dialog", { name: "Leave with unsaved work?" });
    await ask.waitFor();
    await clean(page, "leave");
    await ask.getByRole("button", { name: "Stay here" }).click();
    assert.match(page.url(), /\/edit/);
    // The copy is written every two seconds, and at once when the first change is made.
    await page.waitForFunction(
      () =>
        new Promise((resolve) => {
          const open = indexedDB.open("porpoise-editor");
          open.onsuccess = () => {
            const all = open.result.transaction("unsaved").objectStore("unsaved").getAll();
            all.onsuccess = () => resolve(all.result.some((c) => c.text.endsWith("# mine\n")));
          };
        }),
    );
    // Loaded again, the tab offers its own work; so does another one, when the tab is gone at once.
    page.on("dialog", (d) => void d.accept());
    await page.reload();
    await page.getByText("Unsaved work on version 1 was found").waitFor();
    await page.close();
    const again = await context.newPage();
    await openText(server, again, "shared");
    await again.getByText("Unsaved work on version 1 was found").waitFor();
    await again.getByRole("button", { name: "Take it back" }).click();
    await again.getByText("unsaved").waitFor();
    assert.ok((await text(again).textContent()).includes("# mine"));
    await saveAs(again, "after the crash");
    await again.getByText("v2").waitFor();
    await again.getByRole("button", { name: /^Save… There is nothing to save/ }).waitFor();
    assert.ok((await newest(server)).text.endsWith("# mine\n"));
    await again.getByRole("link", { name: "Today" }).first().click();
    await again.getByRole("heading", { name: "Today" }).waitFor();
  },

  "12: versions compared as list, graph and text, and the first brought back as the fourth": async ({ server, visit, out }) => {
    server.apply("etl", base);
    server.apply("etl", base.replace("echo 1", "echo 2"));
    server.apply("etl", base.replace("- name: report", "- name: mail").replace("echo 1", "echo 3"));
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/w/shared?tab=versions`);
    await page.getByRole("radio", { name: "Compare from v1" }).check();
    await page.getByRole("radio", { name: "Compare to v3" }).check();
    await clean(page, "versions");
    await page.getByRole("button", { name: "Compare v1 with v3" }).click();
    await page.getByRole("heading", { name: "mail added" }).waitFor();
    await page.getByRole("heading", { name: "report removed" }).waitFor();
    const changed = page.getByRole("table", { name: "extract" });
    await changed.getByText("echo 1").waitFor();
    await changed.getByText("echo 3").waitFor();
    await clean(page, "differences");
    await page.getByText("Graph", { exact: true }).click();
    await page.getByRole("group", { name: /^mail, shell, added/ }).waitFor();
    await page.getByRole("group", { name: /^report, shell, removed/ }).waitFor();
    await clean(page, "differences as graph");
    await page.getByText("YAML", { exact: true }).click();
    await page.getByText("echo 3").waitFor();
    await clean(page, "differences as text");
    await page.screenshot({ path: `${out}diff-text.png` });
    await page.getByRole("button", { name: "All versions" }).click();
    await page.getByRole("row", { name: /v1/ }).getByRole("button", { name: "Restore" }).click();
    const dialog = page.getByRole("dialog", { name: "Restore version 1 as version 4" });
    await dialog.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("row", { name: /v4 published Version 1 again/ }).waitFor();
    const now = await newest(server);
    assert.deepEqual([now.latest, now.published, now.text], [4, 4, base]);
  },

  "14: run from the middle with changed parameters: only what is below runs": async ({ server, visit }) => {
    server.apply("etl", base);
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/w/shared/edit`);
    await page.locator(".react-flow__node", { hasText: "load" }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await clean(page, "run menu");
    await page.getByRole("menuitem", { name: "From the chosen tasks on…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("load runs, and all below it.").waitFor();
    await clean(page, "start dialog");
    await dialog.getByLabel(/^day/).fill("42");
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByText(/Instance \d+: 2 of \d tasks done · success/).waitFor();
    await page.getByRole("link", { name: "Open the instance" }).click();
    await page.locator(".big-state", { hasText: "success" }).waitFor();
    const id = page.url().match(/\/r\/(\d+)/)[1];
    await finished(server, id);
    const { items } = await server.api("GET", `/instances/${id}/tasks`);
    assert.deepEqual(
      items
        .map((t) => [t.name, t.state ?? ""])
        .filter(([, state]) => state === "success")
        .map(([name]) => name),
      ["load", "report"],
    );
    await page.getByRole("tab", { name: /Param/ }).click();
    const day = page.getByRole("row").filter({ has: page.getByRole("cell", { name: "day", exact: true }) });
    await becomes(() => day.getByRole("cell").nth(1).textContent(), /^42\b/);
    await day.getByText("start", { exact: true }).waitFor();
  },

  "an ended session keeps what was written, and so does a server that is away": async ({ server, visit }) => {
    server.apply("etl", base);
    const { page, context, wrong } = await visit();
    await signInByCall(server, page);
    await openText(server, page, "shared");
    await retype(page, `${base}# kept\n`);
    await context.setOffline(true);
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByRole("alert").getByText("It was not saved. Your work is still here.").waitFor();
    await clean(page, "not saved");
    await context.setOffline(false);
    await context.clearCookies();
    // Whichever request is next finds out.
    await page
      .getByRole("button", { name: "Try again" })
      .click({ timeout: 3000 })
      .catch(() => undefined);
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("User").fill("admin");
    await page.locator("input[name=password]").fill(server.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await text(page).getByText("# kept").waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("draft by admin").waitFor();
    const draft = await server.api("GET", "/projects/etl/workflows/shared/draft");
    assert.ok(draft.text.endsWith("# kept\n"));
    // What the browser writes down by itself about a network that is away.
    wrong.splice(0, wrong.length, ...wrong.filter((w) => !/ERR_INTERNET_DISCONNECTED/.test(w)));
  },
};
