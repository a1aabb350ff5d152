import assert from "node:assert/strict";
import { becomes, finished, signInByLink } from "../steps.mjs";

const sized = `name: sized
params:
  rows: {type: integer, default: 30}
tasks:
  - name: small   # at once
    type: shell
    script: echo small
  - name: large
    type: shell
    script: echo large
  - name: publish
    type: noop
    needs: [small, large]
  - name: tidy
    type: shell
    script: echo tidy
    finally: true
    when: rows > 1
`;

const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);
const panelOf = (page) => page.getByRole("complementary", { name: "Form" });
const caseOf = (page, n) => panelOf(page).getByRole("group", { name: `Case ${n}`, exact: true });

async function yaml(page) {
  await page.locator(".editor-text .cm-line").first().waitFor();
  return (await page.locator(".editor-text .cm-line").allTextContents()).join("\n");
}

const has = (page, text) => page.locator(".editor-text .cm-content", { hasText: text }).waitFor();

async function edit(server, page, search) {
  await page.goto(`${server.url}/p/etl/w/sized/edit?${search}`);
  await page.locator(".editor-panel").waitFor();
}

export const journeys = {
  "cases: a switch is authored by mouse and keys, run, and the branch that was not chosen is seen": async ({
    server,
    visit,
    check,
    out,
  }) => {
    server.apply("etl", sized);
    const { page } = await visit();
    await signInByLink(server, page);
    await edit(server, page, "view=canvas");
    const keys = page.keyboard;
    await page.getByRole("complementary", { name: "Task types" }).getByRole("button", { name: "switch" }).click();
    await node(page, "switch").waitFor();
    const panel = panelOf(page);
    // The first case by the mouse: what does not need the switch yet will.
    await panel.getByRole("button", { name: "Add a case" }).click();
    await page.waitForFunction(() => document.activeElement?.id === "field-cases[0].when");
    await keys.type("rows < 10");
    await caseOf(page, 1).getByRole("textbox", { name: "Then" }).click();
    await page.getByRole("option", { name: "small will need this task" }).click();
    await caseOf(page, 1).getByRole("button", { name: "Remove small" }).waitFor();
    await keys.press("Escape");
    await page.locator('.react-flow__edge[data-id="switch>small"]', { hasText: "1" }).waitFor();
    await node(page, "small").click();
    assert.equal(await panel.getByRole("button", { name: "Remove switch" }).count(), 1, "small needs the switch");
    await node(page, "switch").click();
    // The second by keys alone: add, the condition, its task by some letters, and up it goes.
    await panel.getByRole("button", { name: "Add a case" }).focus();
    await keys.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "field-cases[1].when");
    await keys.type("rows < 1000");
    await caseOf(page, 2).getByRole("textbox", { name: "Then" }).focus();
    await keys.type("lar");
    await keys.press("ArrowDown");
    await keys.press("Enter");
    await caseOf(page, 2).getByRole("button", { name: "Remove large" }).waitFor();
    await keys.press("Escape");
    await caseOf(page, 2).getByRole("button", { name: "Move case 2 up" }).focus();
    await keys.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Move case 1 down");
    await becomes(() => caseOf(page, 1).getByRole("textbox", { name: "When" }).inputValue(), "rows < 1000");
    await caseOf(page, 1).getByRole("textbox", { name: "When" }).focus();
    await keys.press("Alt+ArrowDown");
    await page.waitForFunction(() => document.activeElement?.id === "field-cases[1].when");
    // Else of its own: needs stay what they are.
    await panel.getByRole("button", { name: "Choose nothing" }).click();
    await panel.locator("[id='field-else']").click();
    await page.getByRole("option", { name: "large", exact: true }).click();
    await keys.press("Escape");
    assert.equal(await panel.locator("[data-field=needs] .mantine-Pill-root").count(), 0);
    await page.locator('.react-flow__edge[data-id="switch>large"]', { hasText: "2, else" }).waitFor();
    await page.getByRole("button", { name: "Auto layout" }).click();
    await page.getByTestId("canvas-said").filter({ hasText: "Arranged all tasks" }).waitFor({ state: "attached" });
    await page.screenshot({ path: `${out}cases-canvas.png` });
    // One that is added and taken away again by keys leaves nothing.
    await panel.getByRole("button", { name: "Add a case" }).click();
    await caseOf(page, 3).waitFor();
    await caseOf(page, 3).locator(".mantine-InputWrapper-error").first().waitFor();
    await caseOf(page, 3).getByRole("button", { name: "Remove case 3" }).focus();
    await keys.press("Enter");
    await caseOf(page, 3).waitFor({ state: "detached" });
    await page.getByRole("region", { name: "Problems" }).getByText("Problems 0").waitFor();
    const wrong = [];
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      wrong.push(...(await check(page, `cases ${theme}`)));
    }
    assert.deepEqual(wrong, []);
    // Saved and run: 30 rows are the second case.
    await page.getByRole("button", { name: "Save…" }).click();
    const save = page.getByRole("dialog", { name: /^Save as version/ });
    await save.getByRole("button", { name: "Save and publish" }).click();
    await save.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("menuitem", { name: "The whole workflow…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("link", { name: "Open the instance" }).waitFor();
    await node(page, "small").getByText("skipped", { exact: false }).waitFor();
    await page.getByRole("link", { name: "Open the instance" }).click();
    await page.waitForURL(/\/r\/\d+/);
    const id = /\/r\/(\d+)/.exec(page.url())[1];
    assert.equal((await finished(server, id)).state, "success");
    await page.locator('.react-flow__edge[data-id="switch>large"].edge-done', { hasText: "2, else" }).waitFor();
    await page.locator('.react-flow__edge[data-id="switch>small"].edge-idle', { hasText: "1" }).waitFor();
    await page.getByRole("group", { name: /^small, .*in the branch of switch: 1: rows < 10/ }).waitFor();
    await page.screenshot({ path: `${out}cases-instance.png` });
    const [small, tidy] = await Promise.all(["publish", "tidy"].map((n) => node(page, n).boundingBox()));
    assert.ok(tidy.x > small.x + small.width, "what comes last stands beyond all others");
    await page.getByTitle("when: rows > 1").waitFor();
  },

  "cases: findings stand at their fields, comments stay, names follow, and a phone has room for it all": async ({
    server,
    visit,
    check,
    out,
  }) => {
    server.apply(
      "etl",
      `${sized.replaceAll("needs: [small, large]", "needs: [small, large]\n    join: one_success").replace("type: shell\n", "type: shell\n    needs: [route]\n")}  - name: route
    type: switch
    cases:
      # the usual
      - when: rows < 1000   # not many
        then: [small]
    else: []
`,
    );
    const { page } = await visit();
    await signInByLink(server, page);
    await edit(server, page, "view=split&task=route");
    const when = caseOf(page, 1).getByRole("textbox", { name: "When" });
    await when.fill("rows <");
    await caseOf(page, 1).locator("[data-field='cases[0].when'] .mantine-InputWrapper-error").waitFor();
    await when.fill("rows < 100");
    await has(page, "- when: rows < 100   # not many");
    await page.waitForFunction(() => document.querySelectorAll(".editor-panel .mantine-InputWrapper-error").length === 0);
    await page.locator(".editor-panel #field-name").fill("by size");
    await page.keyboard.press("Enter");
    await has(page, "needs: [by size]");
    // A join rule, and one in the author's own words.
    await edit(server, page, "view=split&task=publish&tab=run");
    const fold = page.getByRole("button", { name: /^Advanced/ });
    if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
    await page.locator("#field-join").click();
    await page.getByRole("option", { name: /^all_done/ }).click();
    await has(page, "join: all_done");
    await page.locator("#field-join").click();
    await page.getByRole("option", { name: "a condition…" }).click();
    await page.getByRole("textbox", { name: "Condition over the states of the needs" }).fill('small.state == "success"');
    await has(page, 'join: small.state == "success"');
    await becomes(() => yaml(page), /# the usual/);
    await page.screenshot({ path: `${out}cases-join.png` });
    const wrong = [];
    await page.setViewportSize({ width: 390, height: 800 });
    for (const language of ["en", "zh-CN"]) {
      for (const theme of ["light", "dark"]) {
        await page.evaluate(
          ([l, t]) => {
            localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
            localStorage.setItem("porpoise.theme", t);
          },
          [language, theme],
        );
        await page.goto(`${server.url}/p/etl/w/sized/edit?view=list&task=route`);
        const open = page.locator(".editor-panel.closed button").first();
        await page.locator(".editor-panel").waitFor();
        if (await open.isVisible()) await open.click();
        await page.locator(".case").first().waitFor();
        await page.screenshot({ path: `${out}cases-390-${language}-${theme}.png` });
        wrong.push(...(await check(page, `cases at 390 ${language} ${theme}`)));
        if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) wrong.push(`${language}: too wide`);
      }
    }
    assert.deepEqual(wrong, []);
  },
};
