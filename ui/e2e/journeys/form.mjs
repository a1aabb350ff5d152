import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { becomes, finished, signInByLink } from "../steps.mjs";

const daily = `name: daily   # kept
description: Loads the orders
params:
  day: \${system.biz.date}
  region: {type: string, default: eu, enum: [eu, us]}

tasks:
  # takes the rows out
  - name: extract   # pulls
    type: shell
    outputs: [rows]
    retry: {times: 3, delay: 30s}
    script: |
      set -eu   # not a YAML comment
      echo "rows=3" >> "$PORPOISE_OUTPUT"
  - name: call
    type: http
    needs: [extract]
    params: {region: asia}
    url: http://127.0.0.1:1/?rows=\${extract.rows}
  - name: load
    type: shell
    needs: [extract, call]   # both
    script: echo "$day $region $rows"
`;

async function edit(server, visit, search, text = daily, options = {}) {
  server.apply("etl", text);
  const { page } = await visit(options);
  await signInByLink(server, page);
  const name = /^name: (\S+)/.exec(text)[1];
  await page.goto(`${server.url}/p/etl/w/${name}/edit?${search}`);
  await page.locator(".editor-panel").waitFor();
  return page;
}

// The whole of a short text, as the text view has it.
async function yaml(page) {
  await page.locator(".editor-text .cm-line").first().waitFor();
  return (await page.locator(".editor-text .cm-line").allTextContents()).join("\n").trimEnd();
}

const has = (page, text) => page.locator(".editor-text .cm-content", { hasText: text }).waitFor();

const tab = (page, name) => page.getByRole("tab", { name, exact: true }).click();
const many = (n) =>
  `name: many\ntasks:\n${Array.from({ length: n }, (_, i) => `  - {name: t${i}, type: noop${i > 0 ? `, needs: [t${i - 1}]` : ""}}\n`).join("")}`;

export const journeys = {
  "4 (form): rename a task in the form: comments and spacing unchanged, references renamed": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=split&task=extract");
    const name = page.locator("#field-name");
    await name.fill("-x");
    await page.getByText("must not begin with a dot or a dash").waitFor();
    await name.press("Escape");
    await becomes(() => name.inputValue(), "extract");
    await name.fill("call");
    await name.press("Enter");
    await page.getByText("Another task is called call.").waitFor();
    await name.fill("pull");
    await name.press("Enter");
    await page.locator(".form-title", { hasText: "pull" }).waitFor();
    await page.waitForURL(/task=pull/);
    const expected = daily.replace("- name: extract", "- name: pull").replaceAll(/(needs: \[|\$\{)extract/g, "$1pull");
    await has(page, "needs: [pull, call]");
    await becomes(() => yaml(page), expected.trimEnd());
    await page.keyboard.press("Control+z");
    await page.locator(".form-title", { hasText: "extract" }).waitFor();
    await becomes(() => yaml(page), daily.trimEnd());
  },

  "4 (form): type words into a field, take them back one by one; what is no number stays and says so": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=split");
    const about = page.locator("#field-description");
    await about.click();
    await page.keyboard.press("End");
    await page.keyboard.type(" every day", { delay: 5 });
    await becomes(() => about.inputValue(), "Loads the orders every day");
    await page.keyboard.press("Control+z");
    await becomes(() => about.inputValue(), "Loads the orders every ");
    await page.goto(page.url().replace(/\?.*/, "?view=split&task=extract&tab=retry"));
    const times = page.locator("[id='field-retry.times']");
    await times.fill("abc");
    await page.getByText("A whole number is wanted.").or(page.locator(".fr-error")).first().waitFor();
    await becomes(() => times.inputValue(), "abc");
    await becomes(() => yaml(page), /retry: \{times: abc, delay: 30s\}/);
    await times.fill("");
    await times.blur();
    await has(page, "retry: {delay: 30s}");
    await page.getByRole("button", { name: "Reset Delay to what is inherited" }).click();
    await page.locator(".editor-text .cm-line", { hasText: "retry" }).waitFor({ state: "detached" });
  },

  "4 (form): needs that would close a circle say so; another type asks before fields go": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=split&task=call");
    await page.getByRole("textbox", { name: "Needs" }).click();
    const circle = page.getByRole("option", { name: /load/ });
    await circle.getByText("would close a circle").waitFor();
    await becomes(() => circle.getAttribute("data-combobox-disabled"), "true");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Remove extract" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".editor-panel .mantine-Pill-root").length === 0);
    await page.getByRole("textbox", { name: "Needs" }).fill("extr");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove extract" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#field-type").click();
    await page.getByRole("option", { name: "noop" }).click();
    await page.getByText("As noop it has no: url.").waitFor();
    await page.getByRole("button", { name: "Change the type" }).click();
    await page.locator(".form-title", { hasText: "noop" }).waitFor();
    assert.doesNotMatch(await yaml(page), /url:/);
  },

  "9 (form): a problem leads to its field, in its part, behind Advanced": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=canvas");
    const show = (task, path) =>
      page.evaluate((detail) => window.dispatchEvent(new CustomEvent("porpoise:field", { detail })), { task, path });
    await show("load", ["interpreter"]);
    await page.waitForFunction(() => document.activeElement?.id === "field-interpreter");
    await show("extract", ["retry", "max_delay"]);
    await page.waitForFunction(() => document.activeElement?.id === "field-retry.max_delay");
    assert.match(page.url(), /task=extract/);
    assert.match(page.url(), /tab=retry/);
    await show(undefined, ["params", "region"]);
    await page.waitForFunction(() => document.activeElement?.closest("[data-field='params.region']"));
    await page.goBack();
    await page.locator(".editor-panel").waitFor();
  },

  "13: preview parameters for a chosen time, see the origin chain and the rendered script": async ({ server, visit }) => {
    server.apply("etl", daily.replace("  - name: call\n    type: http", "  - name: call\n    type: http\n    disabled: true"));
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/daily/start", {});
    await finished(server, id);
    const page = await edit(server, visit, "view=list&task=call&tab=preview");
    await page.locator("#preview-at").fill("2026-03-29T04:30:00");
    await page.locator(".preview-at", { hasText: "+02:00" }).waitFor();
    const day = page.locator("[data-param=day]");
    await day.getByText("20260328").waitFor();
    const region = page.locator("[data-param=region]");
    await region.getByText("asia").waitFor();
    await becomes(() => region.textContent(), /asia.*the task's own.*eu.*the workflow, hidden/);
    await page.getByText("1 name has no value").waitFor();
    await page.getByRole("button", { name: "Go to the field" }).click();
    await page.waitForFunction(() => document.activeElement?.id === "field-url");
    await page.getByRole("gridcell", { name: "load", exact: true }).click();
    await tab(page, "Preview");
    await page.locator(".preview-start summary").click();
    await page.locator("#preview-p-region").fill("us");
    await page.locator(".preview-code", { hasText: 'echo "20260328 us $rows"' }).waitFor();
    await page.getByText("A past instance").click();
    await page.locator("#preview-instance").click();
    await page.getByRole("option").first().click();
    await page.locator("[data-param=rows]", { hasText: "output of extract" }).waitFor();
    await page.locator(".preview-code", { hasText: / us 3"/ }).waitFor();
    assert.equal(await page.locator(".preview-unresolved").count(), 0);
  },

  "list: edit cells by keys alone, in place, one step each": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=list");
    const grid = page.getByRole("grid", { name: "Tasks" });
    await grid.focus();
    await page.keyboard.press("Enter");
    await page.locator(".list-field").waitFor();
    await page.keyboard.type("pull");
    await page.keyboard.press("Tab");
    await page.locator("select.list-field").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("7");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "grid");
    const row = (n) => page.getByRole("row").nth(n);
    await becomes(() => row(1).textContent(), /pullshell7/);
    await becomes(() => row(2).textContent(), /callhttppull/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("F2");
    await page.keyboard.type("often");
    await page.keyboard.press("Enter");
    await page.getByText("A whole number is wanted.").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Alt+ArrowDown");
    await page.waitForFunction(() => document.querySelectorAll("[role=row]")[3]?.textContent?.includes("call"));
    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
    await becomes(() => row(1).textContent(), /extractshell3/);
    await becomes(() => row(2).textContent(), /callhttpextract/);
    await page.getByRole("searchbox", { name: "Filter tasks" }).fill("http");
    await page.getByText("1 of 3 tasks").waitFor();
    await page.waitForURL(/q=http/);
  },

  "list: many tasks at once are one step; a new row and a removed one": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=list");
    const grid = page.getByRole("grid", { name: "Tasks" });
    await grid.focus();
    await page.keyboard.press("Control+a");
    await page.getByRole("heading", { name: "3 tasks" }).waitFor();
    const times = page.locator("[id='field-retry.times']");
    await becomes(() => times.getAttribute("placeholder"), "mixed");
    await times.fill("5");
    await page.waitForFunction(() => document.querySelectorAll(".l-retries").length === 4);
    const retries = () => page.locator("[role=gridcell].l-retries").allTextContents();
    await becomes(() => retries(), ["5", "5", "5"]);
    await page.keyboard.press("Control+z");
    await becomes(() => retries(), ["3", "", ""]);
    // Ctrl+A was three tasks: choosing one is a step in the address, the next choice takes its place.
    await page.getByRole("gridcell", { name: "load", exact: true }).click();
    await page.waitForURL(/task=load/);
    await page.locator("[role=gridcell].l-name", { hasText: "call" }).click();
    await page.waitForURL(/task=call/);
    await page.goBack();
    await page.locator(".form-title", { hasText: "Workflow" }).waitFor();
    assert.doesNotMatch(page.url(), /task=/);
    await page.goForward();
    await page.locator(".form-title", { hasText: "call" }).waitFor();
    await page.getByRole("button", { name: "Add below" }).click();
    await page.locator(".list-field").fill("check");
    await page.keyboard.press("Enter");
    await page.locator("[role=row]").nth(3).getByText("check").waitFor();
    await page.keyboard.press("Delete");
    await page.getByText("3 tasks").first().waitFor();
  },

  "list: 2,000 tasks with at most 60 rows in the page": async ({ server, visit }) => {
    const page = await edit(server, visit, "view=list", many(2000));
    const grid = page.getByRole("grid", { name: "Tasks" });
    await page.getByText("2,000 tasks").or(page.getByText("2000 tasks")).first().waitFor();
    const rows = () => page.locator("[role=row]").count();
    assert.ok((await rows()) <= 60, `${await rows()} rows`);
    await grid.focus();
    await page.keyboard.press("Control+End");
    await page.getByRole("gridcell", { name: "t1999", exact: true }).first().waitFor();
    assert.ok((await rows()) <= 60, `${await rows()} rows at the end`);
    await page.keyboard.press("PageUp");
    await page.getByRole("gridcell", { name: "t1979", exact: true }).first().waitFor();
    await page.keyboard.press("F2");
    await page.keyboard.type("renamed");
    await page.keyboard.press("Enter");
    await page.locator("[role=row]", { hasText: "renamed" }).first().waitFor();
  },

  "forms, list and preview are clean to axe in both themes, with lists open and errors shown": async ({ server, visit, out, shots }) => {
    const page = await edit(server, visit, "view=list&task=call");
    const wrong = [];
    const here = new URL(page.url()).pathname;
    const see = async (name, search, act = async () => undefined) => {
      await page.goto(`${server.url}${here}?${search}`);
      await page.locator(".form-title").waitFor();
      await act();
      wrong.push(...(await inBoth(page, name)));
      if (shots) await page.screenshot({ path: `${out}form-${name.replaceAll(" ", "-")}.png` });
    };
    const languages = shots ? ["en", "zh-CN"] : ["en"];
    for (const language of languages) {
      await page.evaluate((l) => localStorage.setItem("porpoise.settings", JSON.stringify({ language: l })), language);
      await see(`task ${language}`, "view=list&task=call");
      await see(`needs ${language}`, "view=list&task=call", () =>
        page.locator(".editor-panel .mantine-PillsInputField-field").last().click(),
      );
      await see(`type ${language}`, "view=list&task=call", () => page.locator("#field-type").click());
      await see(`script ${language}`, "view=split&task=load", () => page.locator(".editor-panel .cm-content").waitFor());
      await see(`params ${language}`, "view=list&task=call&tab=params", () => page.locator(".param-row button").first().click());
      await see(`errors ${language}`, "view=list&task=extract&tab=retry", async () => {
        await page.locator("[id='field-retry.times']").fill("abc");
        await page.locator(".fr-error").first().waitFor();
      });
      await see(`preview ${language}`, "view=list&task=load&tab=preview", () => page.locator(".preview-param").first().waitFor());
      await see(`workflow ${language}`, "view=list", () => page.locator("#field-on_failure").click());
      await see(`bulk ${language}`, "view=list", async () => {
        await page.getByRole("grid").focus();
        await page.keyboard.press("Control+a");
      });
      await see(`cell ${language}`, "view=list", async () => {
        await page.getByRole("grid").focus();
        await page.keyboard.press("Enter");
        await page.keyboard.type("-");
        await page.keyboard.press("Enter");
        await page.locator(".list-why").waitFor();
      });
      if (!shots) continue;
      await page.setViewportSize({ width: 390, height: 800 });
      await see(`narrow ${language}`, "view=list&task=call", () => page.locator(".editor-panel button").first().click());
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    assert.deepEqual(wrong, []);
  },
};
