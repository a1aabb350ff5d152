import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { becomes, finished, runFailing, signInAgain, signInByCall, signInByLink } from "../steps.mjs";

/** mending has a task that fails until a file is there; more stands behind its tasks. */
const mending = (fixed, more = "") => `name: nightly load
tasks:
  - {name: extract, type: shell, script: echo rows}
  - name: load dim
    type: shell
    needs: [extract]
    script: test -f ${fixed} || { echo it is broken; exit 1; }; echo it is mended
  - {name: report, type: noop, needs: [load dim]}
${more}`;

async function runs(server, workflow, count) {
  const ids = [];
  for (let i = 0; i < count; i++) {
    ids.push((await server.api("POST", `/projects/etl/workflows/${encodeURIComponent(workflow)}/start`, {})).instance_id);
    await finished(server, ids.at(-1));
  }
  return ids;
}

/** cell is the one of a task in an instance, once it is in a state. Rows and columns are found by their heads, as a person does. */
const cell = (page, task, id, state) => {
  const row = `[role=row]:has(.grid-task:text-is("${task}"))`;
  return page.locator(`${row} [role=gridcell][data-in="${id}"][aria-label*="${state}"]`);
};
const grid = (page) => page.getByRole("grid");

export const journeys = {
  "23: pick three failed cells of one task across runs, rerun them, watch them turn": async ({ server, visit, check }) => {
    const dir = mkdtempSync(join(tmpdir(), "porpoise-grid-"));
    const fixed = join(dir, "fixed");
    server.apply("etl", mending(fixed));
    const ids = await runs(server, "nightly load", 4);
    const { page } = await visit();
    await signInByLink(server, page);
    // A workflow that has run opens on its grid.
    await page.goto(`${server.url}/p/etl/w/nightly%20load`);
    await grid(page).waitFor();
    for (const id of ids) await cell(page, "load dim", id, "failed").waitFor();
    await becomes(() => page.locator("[role=rowheader] .grid-task").allTextContents(), ["extract", "load dim", "report"]);
    assert.deepEqual(await check(page, "grid"), []);

    // By mouse: the first by Ctrl, a rectangle of two more by a drag with Ctrl held.
    writeFileSync(fixed, "");
    await cell(page, "load dim", ids[0], "failed").click({ modifiers: ["Control"] });
    await page.keyboard.down("Control");
    await cell(page, "load dim", ids[1], "failed").hover();
    await page.mouse.down();
    await cell(page, "load dim", ids[2], "failed").hover();
    await page.mouse.up();
    await page.keyboard.up("Control");
    const bar = page.getByRole("region", { name: "Chosen cells" });
    await bar.getByText("3 cells chosen").waitFor();
    await bar.getByText(`load dim × ${ids.slice(0, 3).join(", ")}`).waitFor();
    assert.deepEqual(await check(page, "cells chosen"), []);
    await bar.getByRole("button", { name: "Run again…" }).click();
    const dialog = page.getByRole("dialog", { name: "Run 3 chosen tasks again" });
    await dialog.getByText("6 tasks run again").waitFor();
    for (const id of ids.slice(0, 3)) await dialog.locator("li", { hasText: id }).getByText("load dim, report").waitFor();
    assert.deepEqual(await check(page, "rerun of cells"), []);
    await dialog.getByRole("button", { name: "Run again", exact: true }).click();
    await dialog.getByText("3 of 3 asked").waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    // They turn by the stream: nothing is reloaded, and the one that was not chosen stays as it is.
    for (const id of ids.slice(0, 3)) {
      await cell(page, "load dim", id, "success").waitFor();
      await cell(page, "report", id, "success").waitFor();
    }
    await cell(page, "load dim", ids[3], "failed").waitFor();
    await cell(page, "load dim", ids[0], "success").hover();
    await page.locator(".grid-line", { hasText: `load dim, instance ${ids[0]}, success, attempt 2, ` }).waitFor();

    // A run that begins now comes by itself, on the right.
    const [fifth] = await runs(server, "nightly load", 1);
    await cell(page, "load dim", fifth, "success").waitFor();
    rmSync(dir, { recursive: true });
  },

  "23b: the grid by keys alone, its task in place, its history, and what a success forces": async ({ server, visit, check }) => {
    const ids = [await runFailing(server), ...(await runs(server, "nightly load", 2))];
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/w/nightly%20load/grid`);
    await grid(page).waitFor();
    assert.match(page.url(), /tab=grid/);
    await grid(page).focus();
    const active = () =>
      grid(page).evaluate((g) => document.getElementById(g.getAttribute("aria-activedescendant"))?.getAttribute("aria-label"));
    await becomes(() => active(), new RegExp(`^extract, instance ${ids[2]}, success`));
    await page.keyboard.press("ArrowDown");
    await becomes(() => active(), new RegExp(`^load dim, instance ${ids[2]}, failed, \\d`));
    await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("Shift+ArrowLeft");
    await page.getByText("3 cells chosen").waitFor();
    // The choice is in the address: who opens that has it too.
    await page.waitForURL((url) => url.searchParams.get("cells") === ids.map((id) => `${id}:load dim`).join(";"));
    const colleague = await visit();
    await signInAgain(server, colleague.page);
    await colleague.page.goto(page.url());
    const bar = colleague.page.getByRole("region", { name: "Chosen cells" });
    await bar.getByText("3 cells chosen").waitFor();
    await bar.getByRole("button", { name: "Clear selection" }).click();
    await colleague.page.waitForURL((url) => !url.searchParams.has("cells"));
    await bar.waitFor({ state: "detached" });
    // Enter opens the task of that instance beside the grid, with its log; Tab leaves the grid by one step.
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`run=${ids[0]}`));
    await page.locator(".task-panel").getByText("ERROR 1146").waitFor();
    assert.deepEqual(await check(page, "grid with a task"), []);
    await page.goBack();
    await page.locator(".task-panel").waitFor({ state: "detached" });
    // The name of a row opens the task over time.
    await grid(page).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    const history = page.getByRole("complementary", { name: "load dim over time" });
    await history.locator("tbody tr").nth(2).waitFor();
    await becomes(() => history.locator("tbody tr").count(), 3);
    assert.deepEqual(await check(page, "history of a task"), []);
    await history.getByRole("button", { name: "Close the panel" }).click();

    // A success is forced for each of the three; what it blocked runs.
    await page.getByRole("button", { name: "Force success…" }).click();
    const dialog = page.getByRole("dialog", { name: "Force the success of 3 tasks" });
    await dialog.getByText("In 3 instances:").waitFor();
    await dialog.getByRole("button", { name: "Force success", exact: true }).click();
    await dialog.getByText("3 of 3 asked").waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    for (const id of ids) await cell(page, "load dim", id, "forced success").waitFor();
    // Two runs can be set beside each other.
    await page.getByRole("button", { name: "Clear selection" }).click();
    for (const id of ids.slice(0, 2)) await cell(page, "load dim", id, "forced success").click({ modifiers: ["Control"] });
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await page.waitForURL(new RegExp(`/r/${ids[1]}\\?.*with=${ids[0]}`));
    await page.getByRole("button", { name: "First difference in the output of load dim" }).click();
    await page
      .locator("[data-workers]")
      .getByText(/^node-/)
      .waitFor();
    await page.getByText("The outputs are alike: 2 lines.").waitFor();
    assert.deepEqual(await check(page, "first difference"), []);
  },

  "the grid keeps what is gone, shows only the failed on request, and reads older runs when it is scrolled": async ({ server, visit }) => {
    const dir = mkdtempSync(join(tmpdir(), "porpoise-grid-"));
    const fixed = join(dir, "fixed");
    server.apply("etl", mending(fixed, "  - {name: old mail, type: noop, needs: [extract]}\n"));
    const first = await runs(server, "nightly load", 8);
    writeFileSync(fixed, "");
    server.apply("etl", mending(fixed, "  - {name: mail, type: noop, needs: [extract]}\n"));
    await runs(server, "nightly load", 30);
    const { page } = await visit();
    await signInByCall(server, page);
    const asked = [];
    page.on("request", (r) => r.url().includes("/grid?") && asked.push(new URL(r.url()).search));
    await page.goto(`${server.url}/p/etl/w/nightly%20load?tab=grid`);
    await grid(page).waitFor();
    const tasks = page.locator("[role=rowheader] .grid-task");
    assert.deepEqual((await tasks.allTextContents()).sort(), ["extract", "load dim", "mail", "report"]);
    assert.equal(await page.locator(`#content [role=columnheader] a[href*="/r/${first[0]}"]`).count(), 0);
    await grid(page).focus();
    await page.keyboard.press("Home");
    await page.getByText("38 instances, 4 tasks").waitFor();
    await page.keyboard.press("Control+Home");
    await cell(page, "load dim", first[0], "failed").waitFor();
    assert.equal(asked.length, 2, `one request for the newest, one for the older: ${asked}`);
    // The task that only older versions have stands last, and can be put away.
    assert.equal((await tasks.allTextContents()).at(-1), "old mail");
    await page.getByRole("button", { name: "Hide 1 task that version 2 does not have" }).click();
    assert.equal((await tasks.allTextContents()).includes("old mail"), false);
    // Only the failed: the rows stay where they are.
    const before = await tasks.allTextContents();
    await page.getByRole("radiogroup", { name: "Instances that are shown" }).getByText("failed").click();
    await page.getByText("8 instances, 4 tasks").waitFor();
    assert.deepEqual(
      (await tasks.allTextContents()).filter((x) => x !== "old mail"),
      before,
    );
    await page.getByRole("textbox", { name: "Find a task" }).fill("dim");
    await page.waitForURL(/q=dim/);
    await becomes(() => tasks.allTextContents(), ["load dim"]);
    // Up to a day: none were there a year ago, all are up to today.
    await page.getByLabel("Up to this day").fill("2020-01-01");
    await page.getByText("No instance of this workflow is failed.").waitFor();
    assert.match(page.url(), /until=2020-01-01/);
    await page.getByRole("button", { name: "Newest" }).click();
    await page.getByText("8 instances, 4 tasks").waitFor();
    rmSync(dir, { recursive: true });
  },

  "2,000 tasks of 30 instances are one request, and only what is in sight is mounted": async ({ server, visit }) => {
    const lines = ["name: wide", "tasks:", "  - {name: t0, type: noop}"];
    for (let i = 1; i < 2000; i++) lines.push(`  - {name: t${i}, type: noop, needs: [t0]}`);
    server.apply("etl", `${lines.join("\n")}\n`);
    const ids = await runs(server, "wide", 30);
    const { page } = await visit();
    await signInByCall(server, page);
    const asked = [];
    const sizes = [];
    page.on("request", (r) => r.url().includes("/api/v1/") && asked.push(new URL(r.url()).pathname.replace(/.*\/api\/v1/, "")));
    // On a busy machine many noops take several times their median, and each of those is told by its number.
    const lengths = (answer) => {
      const far = JSON.stringify(answer.instances.map((i) => i.far ?? []));
      return { all: JSON.stringify(answer).length - far.length, far: far.length };
    };
    page.on("response", async (r) => r.url().includes("/grid?") && sizes.push(lengths(await r.json())));
    await page.goto(`${server.url}/p/etl/w/wide?tab=grid`);
    await cell(page, "t0", ids[29], "success").waitFor();
    await page.locator(".connection.live").waitFor();
    assert.deepEqual(
      asked.filter((a) => a.includes("/grid")),
      ["/projects/etl/workflows/wide/grid"],
    );
    const { all, far } = sizes[0];
    assert.ok(all <= 120 * 1024 && far <= 10 * 60_000, `${all} bytes for 60,000 cells, and ${far} for durations far from their medians`);
    const counts = async () => ({
      cells: await page.locator("[role=gridcell]").count(),
      rows: await page.locator("[role=grid] [data-row]").count(),
      all: await page.evaluate(() => document.querySelectorAll("*").length),
    });
    for (const where of ["at the top", "at the end"]) {
      const n = await counts();
      assert.ok(n.rows <= 60 && n.cells <= 2000 && n.all <= 3200, `${where}: ${JSON.stringify(n)}`);
      await grid(page).focus();
      await page.keyboard.press("Control+End");
      await cell(page, "t1999", ids[29], "success").waitFor();
    }
    // The pointer fetches nothing.
    const before = asked.length;
    for (const at of [3, 9, 15]) await page.locator("[role=gridcell]").nth(at).hover();
    // How many approvals wait, the shell asks when it likes.
    assert.deepEqual(
      asked.slice(before).filter((a) => a !== "/approvals"),
      [],
    );
  },

  "the files of an attempt are listed and come down byte for byte": async ({ server, visit, check }) => {
    server.apply(
      "etl",
      `name: leaves
tasks:
  - name: write
    type: shell
    artifacts: [out/]
    script: |
      mkdir -p "$PORPOISE_ARTIFACTS/out"
      printf 'a,b\\n1,2\\n' > "$PORPOISE_ARTIFACTS/out/table 1.csv"
`,
    );
    const [id] = await runs(server, "leaves", 1);
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?task=write&panel=attempts`);
    const file = page.locator(".artifacts").getByRole("link", { name: "out/table 1.csv" });
    await file.waitFor();
    await page.locator(".artifacts").getByText("8 B").waitFor();
    assert.deepEqual(await check(page, "artifacts"), []);
    const [download] = await Promise.all([page.waitForEvent("download"), file.click()]);
    assert.equal(download.suggestedFilename(), "table 1.csv");
    const stream = await download.createReadStream();
    let text = "";
    for await (const chunk of stream) text += chunk;
    assert.equal(text, "a,b\n1,2\n");
  },
};
