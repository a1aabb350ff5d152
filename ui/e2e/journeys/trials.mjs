import assert from "node:assert/strict";
import { signInAgain, signInByCall, signInByLink } from "../steps.mjs";

const sized = `name: sized
params:
  rows: {type: integer, default: 30}
tasks:
  - {name: count, type: shell, script: ./count, retry: {times: 1, delay: 1m}}
  - name: route   # by size
    type: switch
    needs: [count]
    cases:
      - {when: rows < 10, then: [small]}
    else: [large]
  - {name: small, type: noop, needs: [route]}
  - {name: large, type: noop, needs: [route]}
  - {name: other, type: noop}
`;

const themes = async (page, check, name) => {
  const wrong = [];
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    wrong.push(...(await check(page, `${name} ${theme}`)));
  }
  return wrong;
};

const has = (page, text) => page.locator(".editor-text .cm-content", { hasText: text }).waitFor();

export const journeys = {
  "trials: cases are written and run in the editor, what came otherwise is found by its line, and undone by its own steps": async ({
    server,
    visit,
    check,
    out,
  }) => {
    server.apply("etl", sized);
    const { page } = await visit({ refused: [412] });
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/w/sized/edit?view=canvas`);
    await page.locator('.react-flow__node[data-id="route"]').waitFor();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    const trial = page.getByRole("region", { name: "Test cases", exact: true });
    const text = trial.locator(".cm-content");
    await text.getByText("all goes well").waitFor();
    await trial.getByRole("button", { name: "Run the cases" }).click();
    await trial.getByText("2 passed, 0 failed").waitFor();
    // A third case, by keys alone, that expects too much.
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText(
      "\n  - name: many rows\n    params: {rows: 50}\n    expect: {state: success, tasks: {small: success}}\n",
    );
    await page.keyboard.press("Control+Enter");
    await trial.getByText("2 passed, 1 failed").waitFor();
    const failed = trial.getByRole("listitem").filter({ hasText: "many rows" });
    await failed.getByText("skipped (not_chosen)").waitFor();
    await failed.getByText("small was passed over because other tasks were chosen").waitFor();
    const wrong = await themes(page, check, "test cases");
    await page.screenshot({ path: `${out}trials.png` });
    await failed
      .getByRole("button", { name: /^line \d+$/ })
      .last()
      .click();
    await page.waitForFunction(() => {
      const host = document.querySelector(".trial .code-host");
      return host?.shadowRoot?.activeElement?.classList.contains("cm-content");
    });
    // Undo is of the cases, not of the workflow.
    await page.keyboard.press("End");
    await page.keyboard.type(" # x");
    await text.getByText("# x").waitFor();
    await trial.getByText("of an earlier text").waitFor();
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await text.getByText("# x").waitFor({ state: "detached" });
    // A mistake in the cases is told with its line; the text is there after a reload.
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("  - {name: bad, expected: success}\n");
    await page.keyboard.press("Control+Enter");
    await trial.getByText("The cases have mistakes, so nothing was run.").waitFor();
    await page.reload();
    await trial.locator(".cm-content").getByText("name: bad").waitFor();
    // Saved, they are there in any other browser, and what is typed there over older ones asks first.
    await page.keyboard.press("Control+End");
    await trial.getByRole("button", { name: "Save the cases" }).click();
    await trial.getByText("saved by admin").waitFor();
    const other = await visit();
    await signInAgain(server, other.page);
    await other.page.goto(`${server.url}/p/etl/w/sized/edit?view=canvas&test=1`);
    const theirs = other.page.getByRole("region", { name: "Test cases", exact: true });
    await theirs.locator(".cm-content").getByText("name: bad").click();
    await other.page.keyboard.press("Control+End");
    await other.page.keyboard.insertText("# theirs\n");
    await theirs.getByRole("button", { name: "Save the cases" }).click();
    await theirs.getByText("saved by admin").waitFor();
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# mine\n");
    await trial.getByRole("button", { name: "Save the cases" }).click();
    await trial.getByText("admin has saved other cases meanwhile.").waitFor();
    wrong.push(...(await themes(page, check, "other cases")));
    await trial.getByRole("button", { name: "Take theirs" }).click();
    await text.getByText("# theirs").waitFor();
    // Before it is published, a version is held against them, and what is mended passes.
    await other.page.close();
    await page.setViewportSize({ width: 390, height: 800 });
    wrong.push(...(await themes(page, check, "test cases at 390")));
    await page.screenshot({ path: `${out}trials-390.png` });
    assert.deepEqual(wrong, []);
  },

  "trials: before a version is published, the saved cases say how they go with it": async ({ server, visit, check, out }) => {
    server.apply("etl", sized);
    await server.api("PUT", "/projects/etl/workflows/sized/cases", {
      text: "cases:\n  - {name: well, expect: success}\n  - {name: few, params: {rows: 5}, expect: {tasks: {small: success}}}\n",
      revision: 0,
    });
    const { page } = await visit();
    await signInByLink(server, page);
    await page.goto(`${server.url}/p/etl/w/sized/edit?view=text`);
    await has(page, "rows < 10");
    const text = page.locator(".editor-text .cm-content");
    await text.getByText("rows < 10").dblclick();
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# another version\n");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Save…" }).click();
    await dialog.getByText("All 2 test cases pass.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await text.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(sized.replace("rows < 10", "rows < 3"));
    await page.getByRole("button", { name: "Save…" }).click();
    await dialog.getByText("Of the test cases 1 fail: few").waitFor();
    assert.deepEqual(await themes(page, check, "a warning before publishing"), []);
    await page.screenshot({ path: `${out}trials-publish.png` });
    // It warns, and forbids nothing.
    await dialog.getByRole("button", { name: "Save and publish" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("status").getByText("v2").waitFor();
  },

  "branches: an edge out of a switch asks for its branch, by mouse and by keys, and can be given another": async ({
    server,
    visit,
    check,
    out,
  }) => {
    server.apply("etl", sized);
    const { page } = await visit({ viewport: { width: 1800, height: 900 } });
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/w/sized/edit?view=split`);
    const node = (name) => page.locator(`.react-flow__node[data-id="${name}"]`);
    await node("route").click();
    // By keys: connect, the task, the branch.
    await page.keyboard.press("c");
    await page.getByRole("combobox", { name: "Connect route to" }).fill("other");
    await page.keyboard.press("Enter");
    const ask = page.getByRole("dialog", { name: "route leads to other by" });
    await ask.getByRole("option", { name: /^Case 1/ }).waitFor();
    const wrong = await themes(page, check, "which branch");
    await page.screenshot({ path: `${out}branches.png` });
    await page.keyboard.press("Enter");
    await has(page, "- {when: rows < 10, then: [small, other]}");
    await page.locator('.react-flow__edge[data-id="route>other"]', { hasText: "1" }).waitFor();
    // Given another, from the list of the task's edges.
    await node("route").click();
    await page.keyboard.press("e");
    await page.getByRole("option", { name: "route → other which branch…" }).click();
    await page.getByRole("option", { name: /^Else/ }).click();
    await has(page, "else: [large, other]");
    await has(page, "- {when: rows < 10, then: [small]}");
    await has(page, "# by size");
    // Added behind the switch: the new task's edge asks as well.
    await node("route").click();
    await page.keyboard.press("a");
    await page.getByRole("combobox", { name: "Which type of task?" }).fill("noop");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "route leads to noop by" }).getByRole("option", { name: /^Else/ }).click();
    await has(page, "else: [large, other, noop]");
    // Without its edge it stands in no branch; every step is undone.
    await node("noop").click();
    await page.keyboard.press("e");
    await page.getByRole("option", { name: "route → noop remove" }).click();
    await has(page, "else: [large, other]");
    for (let i = 0; i < 5; i++) await page.getByRole("button", { name: "Undo" }).click();
    await has(page, "else: [large]");
    assert.deepEqual(wrong, []);
  },

  "forms: a dependent task is built from what there is, with the intervals of its dates; children and groups are picked": async ({
    server,
    visit,
    check,
    out,
  }) => {
    server.apply("etl", "name: load orders\ntasks:\n  - {name: load, type: noop}\n");
    server.apply("etl", "name: one month\nparams: {month: {type: string}, format: pdf}\ntasks:\n  - {name: write, type: noop}\n");
    server.apply("etl", sized);
    await server.api("PUT", "/projects/etl/task-groups/warehouse", { size: 3 });
    const { page } = await visit({ viewport: { width: 1800, height: 900 } });
    await signInByLink(server, page);
    await page.evaluate(() => localStorage.setItem("porpoise.settings", JSON.stringify({ zone: "Europe/Berlin" })));
    await page.goto(`${server.url}/p/etl/w/sized/edit?view=split`);
    const types = page.getByRole("complementary", { name: "Task types" });
    const panel = page.getByRole("complementary", { name: "Form" });
    await page.locator('.react-flow__node[data-id="route"]').waitFor();
    // What a dependent task waits for, and when that is.
    await types.getByRole("button", { name: "dependent" }).click();
    await panel.getByRole("button", { name: "Add a workflow" }).click();
    const item = panel.getByRole("group", { name: "Item 1" });
    await item.getByLabel("Workflow", { exact: true }).click();
    await page.getByRole("option", { name: "load orders" }).click();
    await panel.getByLabel("Shown for the schedule time").fill("2026-03-30T04:00");
    await item.getByRole("combobox", { name: "Which runs" }).click();
    await page.getByRole("option", { name: "last2Days" }).click();
    await item.getByText("each of 2 days: 2026-03-28 00:00 +01:00 to 2026-03-30 00:00 +02:00").waitFor();
    await has(page, "date: last2Days");
    await panel.getByRole("button", { name: "Add a group" }).click();
    await panel.getByRole("group", { name: "Any of these" }).waitFor();
    await has(page, "any:");
    const wrong = await themes(page, check, "the dependent builder");
    await page.screenshot({ path: `${out}forms-dependent.png` });
    await panel.getByRole("button", { name: "Remove 2" }).click();
    await panel.getByRole("group", { name: "Any of these" }).waitFor({ state: "detached" });
    // A child's parameters are offered as they are declared.
    await types.getByRole("button", { name: "sub_workflow" }).click();
    await panel.locator("#field-workflow").fill("one month");
    const child = panel.getByRole("link", { name: "Open one month in a new tab" });
    await child.waitFor();
    assert.match(await child.getAttribute("href"), /\/w\/one%20month$/);
    await panel.getByRole("button", { name: "Give month" }).click();
    await has(page, "month:");
    await panel.locator(".special-params li", { hasText: "month" }).getByText("given").waitFor();
    // Lists of a fan-out.
    await types.getByRole("button", { name: "dynamic" }).click();
    await panel.getByRole("button", { name: "Add a list" }).click();
    await panel.getByLabel("Items of list 1", { exact: true }).click();
    await page.keyboard.type("a,b");
    await page.keyboard.press("Enter");
    await has(page, "over: [{name: item, in: [a, b]}]");
    wrong.push(...(await themes(page, check, "the fan-out's form")));
    await page.screenshot({ path: `${out}forms-dynamic.png` });
    // A task group with its use.
    await page.getByRole("button", { name: "Fit", exact: true }).click();
    await page.locator('.react-flow__node[data-id="count"]').click();
    await panel.getByRole("tab", { name: /Run/ }).click();
    const fold = panel.getByRole("button", { name: /^Advanced/ });
    if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
    await panel.locator("#field-task_group").click();
    await page.getByRole("option", { name: /warehouse 0 of 3 places taken/ }).click();
    await has(page, "task_group: warehouse");
    await panel.getByLabel("Places it takes").fill("2");
    await has(page, "weight: 2");
    wrong.push(...(await themes(page, check, "a task group")));
    await page.screenshot({ path: `${out}forms-task-group.png` });
    assert.deepEqual(wrong, []);
  },
};
