import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { becomes, signInByCall, signInByLink } from "../steps.mjs";

const typed = `# Loads yesterday's sales.
name: daily
tasks:
  # where it all begins
  - name: extract
    type: shell
    script: echo 1

  - name: load    # to the warehouse
    type: shell
    needs: [ extract ]   # one for now
    script: |
      echo "rows: $rows"
      echo 2
    env: { rows: "\${extract.rows}" }
`;

const text = (page) => page.getByRole("textbox", { name: "Text of the workflow" });
const view = (page, name) => page.getByRole("radiogroup", { name: "View" }).getByText(name, { exact: true }).click();
const strip = (page) => page.getByRole("region", { name: "Problems" });
const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);

/** textOf is the text as its editor shows it; short texts are drawn whole. */
async function textOf(page) {
  await text(page).waitFor();
  return (await page.locator(".editor-text .cm-line").allTextContents()).join("\n");
}

async function open(server, page, more = "") {
  await page.goto(`${server.url}/p/etl/w/daily/edit?new=1${more}`);
  await text(page).waitFor();
}

async function write(page, content) {
  await text(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(content);
}

/** caretLine waits until the caret is in a line. */
async function caretLine(page, line) {
  await page.locator(".text-foot", { hasText: `Line ${line},` }).waitFor();
}

export const journeys = {
  "4: type it as YAML, rename a task in the form, and find comments and spacing as they were": async ({ server, visit, out, shots }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await server.api("PUT", "/projects/etl", {});
    await open(server, page, "&view=text");
    await write(page, typed.replace("    script: echo 1\n", "    script: echo 1\n    outputs: [rows]\n"));
    await page.getByText("YAML ok").waitFor();
    await strip(page).getByText("Problems 0").waitFor();
    await view(page, "Canvas");
    await node(page, "extract").click();
    const name = page.getByRole("complementary", { name: "Form" }).getByLabel("Name", { exact: true });
    await name.fill("fetch");
    await name.press("Enter");
    await node(page, "fetch").waitFor();
    await view(page, "YAML");
    const want = typed
      .replace("    script: echo 1\n", "    script: echo 1\n    outputs: [rows]\n")
      .replace("name: extract", "name: fetch")
      .replace("[ extract ]", "[ fetch ]")
      .replace("extract.rows", "fetch.rows");
    await becomes(() => textOf(page), want);
    // The one history: the same keys in the text take back what the form did.
    await text(page).focus();
    await page.keyboard.press("Control+z");
    await page.locator(".cm-line", { hasText: "name: extract" }).waitFor();
    await page.keyboard.press("Control+Shift+z");
    await page.locator(".cm-line", { hasText: "name: fetch" }).waitFor();
    await becomes(() => textOf(page), want);
    if (shots) await page.screenshot({ path: `${out}text-4.png` });
  },

  "4b: what is chosen on one side is shown on the other": async ({ server, visit, out }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await server.api("PUT", "/projects/etl", {});
    await open(server, page, "&view=split");
    const many = Array.from({ length: 60 }, (_, i) => `  - name: t${i}\n    type: noop\n${i ? `    needs: [t${i - 1}]\n` : ""}`).join("");
    await write(page, `name: daily\ntasks:\n${many}`);
    await strip(page).getByText("Problems 0").waitFor();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.locator(".react-flow__node.selected[data-id=t0]").waitFor();
    await becomes(() => page.locator(".cm-chosen").allTextContents(), ["  - name: t0", "    type: noop"]);
    await page.goto(`${page.url().replace("task=t0", "task=t50")}`);
    await text(page).waitFor();
    await page.screenshot({ path: `${out}text-4b.png` });
  },

  "5: broken YAML freezes the canvas with its line, and undo brings it back": async ({ server, visit, out }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await server.api("PUT", "/projects/etl", {});
    await open(server, page, "&view=split");
    // The server has nothing against it, however soon it answers.
    const sound = typed.replace(/\$\{extract\.rows\}/, "3");
    await write(page, sound);
    await node(page, "load").waitFor();
    await strip(page).getByText("YAML ok").waitFor();
    await page.locator(".cm-line", { hasText: "needs:" }).click();
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    await page.keyboard.press("Control+ArrowRight");
    await page.keyboard.press("Control+ArrowRight");
    await page.keyboard.insertText(" ]]: [");
    await strip(page)
      .getByText(/^line 11:/)
      .waitFor();
    await page.getByText(/^Line 11:.*The canvas shows the last text/).waitFor();
    // Strip, canvas and form say it in the same words.
    const says = await page.locator(".problem-says").first().textContent();
    assert.match(says, /^there is something here that does not belong here|^a key /);
    assert.ok((await page.locator(".canvas-notice").textContent()).includes(says));
    assert.ok((await page.locator(".form-broken").textContent()).includes(says));
    await becomes(() => node(page, "load").count(), 1);
    await becomes(() => textOf(page), / \]\]: \[/);
    await page.locator(".cm-lint-marker-error").first().waitFor();
    await page.screenshot({ path: `${out}text-5.png` });
    await page.getByRole("button", { name: "Undo" }).first().click();
    await strip(page).getByText("YAML ok").waitFor();
    await becomes(() => textOf(page), sound);
    await page.locator(".cm-lint-marker-error").first().waitFor({ state: "hidden" });
  },

  "9: four problems are the same in badge, field, gutter and strip, and each has a way to it": async ({ server, visit, out, check }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await server.api("PUT", "/projects/etl", {});
    await open(server, page, "&view=text");
    const wrong = `name: daily
tasks:
  - name: first
    type: shell
    script: echo \${a.b}
  - name: second
    type: shell
    needs: [frist]
    script: echo 2
    retry: {times: 1000}
  - name: third
    type: http
    needs: [first]
`;
    await write(page, wrong);
    await strip(page).getByText("Problems 4").waitFor();
    await strip(page)
      .getByRole("button", { name: /^Problems/ })
      .click();
    const rows = strip(page).getByRole("listitem");
    // The server knows the place of the fourth better than the page does.
    await rows.locator(".problem-line", { hasText: /^line 5$/ }).waitFor();
    await becomes(() => rows.count(), 4);
    const lines = await rows.locator(".problem-line").allTextContents();
    assert.deepEqual(lines, ["line 5", "line 8", "line 10", "line 11"]);
    await becomes(() => page.locator(".cm-lint-marker-error").count(), 4);
    // Each leads to its line.
    for (const [i, line] of [5, 8, 10, 11].entries()) {
      await rows.nth(i).getByRole("button").click();
      await caretLine(page, line);
      assert.ok(await text(page).evaluate((e) => e.getRootNode().activeElement === e));
    }
    await page.keyboard.press("Control+Home");
    for (const line of [5, 8]) {
      await page.keyboard.press("F8");
      await caretLine(page, line);
    }
    await page.keyboard.press("Shift+F8");
    await caretLine(page, 5);
    await page.locator(".cm-lint-marker-error").first().hover();
    await page.locator(".cm-tooltip-lint").waitFor();
    await page.screenshot({ path: `${out}text-9.png` });
    assert.deepEqual(await check(page, "text with problems and a tooltip"), []);
    // On the canvas the same ones are badges, and each leads to its field.
    await view(page, "Canvas");
    await node(page, "second").waitFor();
    await becomes(() => node(page, "second").locator(".node-problems").textContent(), "2");
    await becomes(() => node(page, "first").locator(".node-problems").textContent(), "1");
    await rows.nth(1).getByRole("button").click();
    const panel = page.getByRole("complementary", { name: "Form" });
    await panel.locator('[data-field="needs"]').getByText('there is no task "frist"').waitFor();
    await rows.nth(3).getByRole("button").click();
    await panel.locator('[data-field="url"]').getByText('"url" is missing').waitFor();
    await page.screenshot({ path: `${out}text-9b.png` });
    // A version is refused with the count, and nothing is lost: the draft takes it as it is.
    await page.getByRole("button", { name: "Save…" }).click();
    const save = page.getByRole("dialog", { name: "Save as version 1" });
    await save.getByText("4 errors are in the way of a version.").waitFor();
    assert.ok(await save.getByRole("button", { name: "Save and publish" }).isDisabled());
    await save.getByRole("button", { name: "Save draft" }).click();
    await save.waitFor({ state: "hidden" });
    await page.getByText("draft by admin").waitFor();
    const draft = await server.api("GET", "/projects/etl/workflows/daily/draft");
    assert.equal(draft.text, wrong);
    await page.reload();
    await strip(page).getByText("Problems 4").waitFor();
  },

  "4c: search, completion and explanations are clean to axe in both themes": async ({ server, visit, out, check }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    await server.api("PUT", "/projects/etl", {});
    // A page that is left with unsaved work asks first.
    page.on("dialog", (dialog) => dialog.accept());
    for (const [language, theme] of [
      ["en", "light"],
      ["zh-CN", "dark"],
    ]) {
      await page.evaluate(
        ([l, s]) => {
          localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
          localStorage.setItem("porpoise.theme", s);
        },
        [language, theme],
      );
      await page.goto(`${server.url}/p/etl/w/daily/edit?new=1&view=text`);
      const editor = page.locator(".editor-text [role=textbox]");
      await editor.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(typed.replace("    script: |", "    priority: hgh\n    script: |"));
      await page.locator(".cm-lint-marker-error").first().waitFor();
      await page.locator(".cm-line", { hasText: "# one for now" }).click();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.keyboard.type("ret");
      await page.locator(".cm-tooltip-autocomplete").waitFor();
      await page.screenshot({ path: `${out}text-assist-${theme}.png` });
      assert.deepEqual(await check(page, `${theme}: completion`), []);
      await page.keyboard.press("Enter");
      await page.locator(".cm-line", { hasText: "    retry: " }).waitFor();
      await page.keyboard.press("Control+z");
      await page.locator(".cm-line", { hasText: "priority" }).hover({ position: { x: 60, y: 10 } });
      await page.locator(".cm-hover").waitFor();
      await page.screenshot({ path: `${out}text-hover-${theme}.png` });
      assert.deepEqual(await check(page, `${theme}: explanation`), []);
      await page.keyboard.press("Control+f");
      await page.locator(".cm-search").waitFor();
      await page.keyboard.type("echo");
      await page.locator(".cm-searchMatch").first().waitFor();
      await page.screenshot({ path: `${out}text-search-${theme}.png` });
      assert.deepEqual(await check(page, `${theme}: search`), []);
      await page.keyboard.press("Escape");
      await page.locator(".cm-search").waitFor({ state: "detached" });
    }
  },

  "4d: nothing is rewritten that was not typed: CRLF, tabs, emoji, no line end, a large paste": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByLink(server, page);
    await server.api("PUT", "/projects/etl", {});
    const odd =
      '# \u{1F42C}\r\nname: odd # \u{1F469}\u200d\u{1F4BB}\r\ntasks:\r\n  - name: a\n    type: noop\r\n    description_: "x\ty"\r\n    # \tend';
    const path = "/projects/etl/workflows/odd/draft";
    const token = readFileSync(`${server.data}/admin-token`, "utf8").trim();
    const put = await fetch(`${server.url}/api/v1${path}`, {
      method: "PUT",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/yaml" },
      body: odd,
    });
    assert.ok(put.ok, await put.clone().text());
    await page.goto(`${server.url}/p/etl/w/odd/edit?view=text`);
    await page.locator(".cm-line", { hasText: "description_" }).click();
    await page.keyboard.press("End");
    await page.keyboard.type("!");
    await page.keyboard.press("Enter");
    await page.keyboard.type("# more");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("unsaved").waitFor({ state: "detached" });
    const saved = await server.api("GET", path);
    assert.equal(saved.text, odd.replace('y"\r\n', 'y"!\r\n    # more\r\n'));
    // A large paste, and typing in it.
    const line = "# 0123456789012345678901234567890123456789\n";
    const large = `name: odd\ntasks:\n  - name: a\n    type: noop\n${line.repeat(25_000)}`;
    await page.locator(".editor-text [role=textbox]").click();
    await page.keyboard.press("Control+a");
    await page.evaluate((content) => {
      const data = new DataTransfer();
      data.setData("text/plain", content);
      const target = document.querySelector(".editor-text .code-host").shadowRoot.querySelector(".cm-content");
      target.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, large);
    await page.locator(".text-foot", { hasText: "Line 25005," }).waitFor();
    await page.keyboard.type("# typed");
    await page.getByText("YAML ok").waitFor();
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("unsaved").waitFor({ state: "detached" });
    assert.equal((await server.api("GET", path)).text, `${large}# typed`.replaceAll("\n", "\r\n"));
  },
};
