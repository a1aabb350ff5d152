import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { becomes, saveAndRun, signInByCall, signInByLink } from "../steps.mjs";

const edit = (server, project, workflow, more = "") => `${server.url}/p/${project}/w/${encodeURIComponent(workflow)}/edit${more}`;

/** openNew opens the editor of a workflow that does not exist yet. */
async function openNew(server, page, name) {
  await page.goto(edit(server, "examples", name, "?new=1"));
  await page.getByRole("button", { name: "Drag a task here, or press A" }).waitFor();
}

const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);
const said = (page, words) => page.getByTestId("canvas-said").filter({ hasText: words }).waitFor({ state: "attached" });

/** dragTo moves the pointer as a hand does: in steps, so that what lies on the way sees it. */
async function dragTo(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 5 });
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
}

async function middle(locator) {
  const box = await locator.boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const out = (page, name) => middle(node(page, name).locator(".node-out"));

/** textOf reads the document as the text view has it. */
async function textOf(page) {
  await page.locator(".editor-head label", { hasText: "YAML" }).click();
  const lines = page.getByRole("textbox", { name: "Text of the workflow" }).locator(".cm-line");
  await lines.first().waitFor();
  const text = (await lines.allTextContents()).join("\n");
  await page.locator(".editor-head label", { hasText: "Canvas" }).click();
  await page.locator(".canvas-flow").waitFor();
  return text;
}

async function focused(page, name) {
  await page.waitForFunction((id) => document.activeElement?.getAttribute("data-id") === id, name);
}

/** graphOf is what is drawn: the edges, and where the nodes stand. */
function graphOf(page) {
  return page.evaluate(() => {
    const places = {};
    for (const e of document.querySelectorAll(".react-flow__node")) {
      const { m41, m42 } = new DOMMatrix(getComputedStyle(e).transform);
      places[e.getAttribute("data-id")] = [m41, m42];
    }
    const edges = [...document.querySelectorAll(".react-flow__edge")].map((e) => e.getAttribute("data-id")).sort();
    return { places, edges };
  });
}

const chain = `name: chain # kept
tasks:
  - name: a
    type: noop
  - name: b   # the second
    type: noop
    needs: [a]
`;

export const journeys = {
  "2: a DAG of five tasks is drawn by mouse, saved, run and green": async ({ server, visit, out: folder }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await openNew(server, page, "drawn");
    const ground = await page.locator(".canvas-flow").boundingBox();
    const palette = page.getByRole("complementary", { name: "Task types" });
    // Dragged to the ground, then a click after it, then a line to the ground, to a node, and one more.
    await dragTo(page, await middle(palette.getByRole("button", { name: "shell" })), { x: ground.x + 130, y: ground.y + 120 });
    await node(page, "shell").waitFor();
    await palette.getByRole("button", { name: "python" }).click();
    await said(page, "Added python after shell");
    await page.screenshot({ path: `${folder}canvas-1.png` });
    await dragTo(page, await out(page, "shell"), { x: ground.x + 290, y: ground.y + 300 });
    await page.getByRole("dialog", { name: "Which type of task?" }).waitFor();
    await page.screenshot({ path: `${folder}canvas-2.png` });
    await page.getByRole("option", { name: "http" }).click();
    await node(page, "http").waitFor();
    await dragTo(page, await middle(palette.getByRole("button", { name: "noop" })), { x: ground.x + 300, y: ground.y + 480 });
    await node(page, "noop").waitFor();
    await dragTo(page, await out(page, "python"), await middle(node(page, "noop")));
    await said(page, "Connected python to noop");
    await dragTo(page, await out(page, "http"), await middle(node(page, "noop")));
    await said(page, "Connected http to noop");
    await palette.getByRole("button", { name: "shell" }).click();
    await node(page, "shell_2").waitFor();
    await page.screenshot({ path: `${folder}canvas-3.png` });
    const text = await textOf(page);
    assert.match(text, /name: noop\s+type: noop\s+needs:\s*\[python, http\]|needs:\s+- python\s+- http/);
    assert.equal((text.match(/- name:/g) ?? []).length, 5, text);
    // What the tasks do is written into their forms; then it is saved, run and read.
    const panel = page.getByRole("complementary", { name: "Form" });
    for (const [task, field, value] of [
      ["shell", "Script", "echo one"],
      ["python", "Script", "print('two')"],
      ["http", "URL", `${server.url}/healthz`],
      ["shell_2", "Script", "echo the last one"],
    ]) {
      await node(page, task).click();
      const box = panel.getByRole("textbox", { name: field });
      await box.click();
      await page.keyboard.insertText(value);
    }
    await page.getByRole("region", { name: "Problems" }).getByText("Problems 0").waitFor();
    await saveAndRun(page, 5);
    await page.screenshot({ path: `${folder}canvas-green.png` });
    // While the instance's page is on its way this one is still there: what is done in it does not take anybody back.
    const tab = panel.getByRole("tab").last();
    await page.getByRole("link", { name: "Open the instance" }).evaluate(
      async (link, other) => {
        link.click();
        await new Promise((next) => setTimeout(next));
        other.click();
      },
      await tab.elementHandle(),
    );
    await page.waitForURL(/\/r\/\d+/);
    await page.locator(".react-flow__node", { hasText: "python" }).click();
    await page.locator(".log-line", { hasText: "two" }).waitFor();
  },

  "3: the same DAG by keyboard only": async ({ server, visit }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await openNew(server, page, "typed");
    const keys = page.keyboard;
    // Tab leads to the canvas, which is one stop: the next Tab leaves it.
    await page.locator(".editor-head label", { hasText: "Canvas" }).locator("input, span").first().focus();
    for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement?.matches(".canvas-flow"))); i++) await keys.press("Tab");
    const add = async (type, name) => {
      await keys.press("a");
      await page.getByRole("dialog", { name: "Which type of task?" }).waitFor();
      await keys.type(type);
      await keys.press("Enter");
      await focused(page, name);
    };
    await add("shell", "shell");
    await add("python", "python");
    await keys.press("ArrowLeft");
    await focused(page, "shell");
    await add("http", "http");
    await add("noop", "noop");
    await keys.press("ArrowLeft");
    await focused(page, "http");
    await keys.press("ArrowUp");
    await focused(page, "python");
    await keys.press("c");
    const list = page.getByRole("dialog", { name: "Connect python to" });
    await list.getByRole("option", { name: /shell would close a cycle/ }).waitFor();
    await keys.type("noop");
    await keys.press("Enter");
    await said(page, "Connected python to noop");
    await focused(page, "python");
    await keys.press("ArrowRight");
    await focused(page, "noop");
    await add("shell", "shell_2");
    await keys.press("Alt+ArrowDown");
    await said(page, "1 task moved");
    // Enter is the way into the form, whose first field takes the focus; keys there are text.
    await keys.press("Enter");
    const name = page.getByRole("complementary", { name: "Form" }).getByRole("textbox", { name: "Name" });
    await page.waitForFunction(() => document.activeElement?.closest(".editor-panel") !== null);
    await becomes(() => name.evaluate((e) => e === document.activeElement), true);
    await keys.press("End");
    await keys.type("ac");
    await keys.press("Tab");
    await node(page, "shell_2ac").waitFor();
    const text = await textOf(page);
    assert.equal((text.match(/- name:/g) ?? []).length, 5, text);
    assert.match(text, /name: noop\s+type: noop\s+needs: \[http, python\]/);
    assert.match(text, /name: shell_2ac\s+type: shell\s+needs: \[noop\]/);
    // What the tasks do is written, saved, run and read by keys too.
    const reach = async (selector, key = "Tab") => {
      for (let i = 0; i < 90; i++) {
        if (await page.evaluate((to) => document.activeElement?.closest(to) != null, selector)) return;
        await keys.press(key);
      }
      assert.fail(`${key} does not lead to ${selector}: ${await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 300))}`);
    };
    const into = async (task) => {
      await reach(".canvas-flow", "Shift+Tab");
      await keys.press("Control+f");
      await page.getByRole("textbox", { name: "Find a task" }).waitFor();
      await keys.type(task);
      await keys.press("Escape");
      await focused(page, task);
    };
    await reach(".canvas-flow");
    for (const [task, field, value] of [
      ["shell", "script", "echo one"],
      ["python", "script", "print('two')"],
      ["http", "url", `${server.url}/healthz`],
      ["shell_2ac", "script", "echo the last one"],
    ]) {
      await into(task);
      await keys.press("Enter");
      await page.waitForFunction(() => document.activeElement?.closest(".editor-panel") !== null);
      await reach(`[data-field="${field}"] :is(.code-host, textarea, input)`);
      await keys.type(value);
    }
    await page.getByRole("region", { name: "Problems" }).getByText("Problems 0").waitFor();
    const press = async (name) => {
      for (let i = 0; i < 90; i++) {
        if (await page.evaluate((n) => document.activeElement?.textContent.trim() === n, name)) return keys.press("Enter");
        await keys.press("Shift+Tab");
      }
      assert.fail(`Shift+Tab does not lead to ${name}`);
    };
    await press("Save…");
    const save = page.getByRole("dialog", { name: /^Save as version/ });
    await save.waitFor();
    await press("Save and publish");
    await save.waitFor({ state: "hidden" });
    await press("Run");
    await page.getByRole("menuitem", { name: "The whole workflow…" }).waitFor();
    await keys.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).waitFor();
    await press("Start");
    await page.getByText("5 of 5 tasks done · success").waitFor();
    await press("Open the instance");
    await page.waitForURL(/\/r\/\d+/);
    await reach(".canvas");
    await keys.press("Control+f");
    await keys.type("python");
    await keys.press("Escape");
    await focused(page, "python");
    await keys.press("Enter");
    await page.locator(".log-line", { hasText: "two" }).waitFor();
  },

  "6: insert on an edge, ten steps back and ten forth": async ({ server, visit }) => {
    server.apply("etl", chain);
    const { page } = await visit({ viewport: { width: 1900, height: 900 } });
    await signInByCall(server, page);
    await page.goto(edit(server, "etl", "chain", "?view=split"));
    await node(page, "a").waitFor();
    const lines = page.getByRole("textbox", { name: "Text of the workflow" }).locator(".cm-line");
    await lines.first().waitFor();
    const now = async () => ({ text: (await lines.allTextContents()).join("\n"), graph: await graphOf(page) });
    const seen = [await now()];
    const keys = page.keyboard;
    const step = async (words, run) => {
      await run();
      await said(page, words);
      // A node glides nowhere: what is drawn is what is there, one frame later.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      seen.push(await now());
    };
    const palette = page.getByRole("complementary", { name: "Task types" });
    const line = async (from, to) => {
      const [one, two] = [await node(page, from).boundingBox(), await node(page, to).boundingBox()];
      return { x: (one.x + one.width + two.x) / 2, y: (one.y + two.y) / 2 + one.height / 2 };
    };
    await step("Inserted noop between a and b", async () => {
      const at = await line("a", "b");
      await page.mouse.move(at.x - 6, at.y);
      await page.getByRole("button", { name: "Insert a task between a and b" }).click();
      await page.getByRole("option", { name: "noop" }).click();
    });
    await step("Inserted wait between noop and b", async () =>
      dragTo(page, await middle(palette.getByRole("button", { name: "wait" })), await line("noop", "b")),
    );
    await step("Deleted wait", () => keys.press("Delete"));
    await step("Connected noop to b", async () => {
      await node(page, "noop").focus();
      await node(page, "noop").click();
      await keys.press("c");
      await keys.type("b");
      await keys.press("Enter");
    });
    await step("1 task moved", () => keys.press("Alt+ArrowDown"));
    await step("1 task pasted", () => keys.press("Control+d"));
    await step("Added shell after noop_2", () => palette.getByRole("button", { name: "shell" }).click());
    await step("Removed the edge from noop_2 to shell", async () => {
      await node(page, "shell").focus();
      await keys.press("e");
      await page.getByRole("dialog", { name: "Edges of shell" }).waitFor();
      await keys.press("Enter");
    });
    await step("Arranged all tasks", () => page.getByRole("button", { name: "Auto layout" }).click());
    await step("Deleted 4 tasks", async () => {
      await node(page, "b").focus();
      await keys.press("Control+a");
      await said(page, "5 tasks chosen");
      await node(page, "a").click({ modifiers: ["Control"] });
      await page.waitForFunction(() => document.querySelectorAll(".react-flow__node.selected").length === 4);
      await keys.press("Delete");
    });
    assert.equal(seen.length, 11);
    await node(page, "a").focus();
    for (let i = 9; i >= 0; i--) {
      await keys.press("Control+z");
      await becomes(now, seen[i]);
    }
    for (let i = 1; i <= 10; i++) {
      await keys.press("Control+y");
      await becomes(now, seen[i]);
    }
    assert.match(seen[10].text, /# kept/);
  },

  "7: three tasks are copied into another workflow in another tab": async ({ server, visit }) => {
    server.apply("etl", `${chain}  - name: c\n    type: noop\n    needs: [b, a]\n  - name: other\n    type: noop\n    needs: [c]\n`);
    server.apply("etl", "name: target\ntasks:\n  - name: b\n    type: noop\n  - name: extra\n    type: noop\n    needs: [b]\n");
    const { page, context } = await visit();
    await signInByCall(server, page);
    await page.goto(edit(server, "etl", "chain"));
    await node(page, "a").click();
    await node(page, "b").click({ modifiers: ["Control"] });
    await node(page, "c").click({ modifiers: ["Shift"] });
    await page.keyboard.press("Control+c");
    await said(page, "3 tasks copied");
    const second = await context.newPage();
    await second.goto(edit(server, "etl", "target"));
    await node(second, "extra").click();
    await second.keyboard.press("Control+v");
    await said(second, "3 tasks pasted");
    await node(second, "b_2").waitFor();
    await becomes(async () => (await graphOf(second)).edges, ["a>b_2", "a>c", "b>extra", "b_2>c"]);
    const graph = await graphOf(second);
    const text = await textOf(second);
    assert.match(text, /name: b_2 {3}# the second\s+type: noop\s+needs: \[a\]/);
    assert.match(text, /name: c\s+type: noop\s+needs: \[b_2, a\]/);
    assert.ok(!text.includes("other"));
    const boxes = Object.values(graph.places);
    for (const [i, p] of boxes.entries()) {
      for (const q of boxes.slice(i + 1))
        assert.ok(Math.abs(p[0] - q[0]) >= 200 || Math.abs(p[1] - q[1]) >= 52, `no overlap: ${boxes.join(" / ")}`);
    }
  },

  "8: a cycle is refused with the path named": async ({ server, visit }) => {
    server.apply("etl", `${chain}  - name: c\n    type: noop\n    needs: [b]\n`);
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(edit(server, "etl", "chain"));
    await node(page, "c").waitFor();
    const before = await textOf(page);
    const from = await out(page, "c");
    const to = await middle(node(page, "a"));
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 8 });
    await node(page, "a").getByText("would close a cycle").waitFor();
    await page.mouse.up();
    const refused = page.getByRole("status").filter({ hasText: "That would close a cycle: a → b → c → a." });
    await refused.waitFor();
    await becomes(() => textOf(page), before);
    await refused.getByRole("button", { name: "Close" }).click();
    await refused.waitFor({ state: "detached" });
  },

  "2000 tasks are edited with few of them in the page": async ({ server, visit, out: folder }) => {
    const wide = 50;
    const tasks = Array.from({ length: 2000 }, (_, i) => {
      const needs = i < wide ? [] : [`t${i - wide}`, ...(i % 2 ? [`t${i - wide + ((i + 1) % wide) - (i % wide)}`] : [])];
      return `  - name: t${i}\n    type: noop\n${needs.length > 0 ? `    needs: [${[...new Set(needs)].join(", ")}]\n` : ""}`;
    });
    server.apply("etl", `name: big\ntasks:\n${tasks.join("")}`);
    const { page } = await visit();
    await signInByLink(server, page);
    const times = {};
    const timed = async (what, run) => {
      const begun = performance.now();
      await run();
      times[what] = Math.round(performance.now() - begun);
    };
    await timed("open", async () => {
      await page.goto(edit(server, "etl", "big"));
      await page.locator(".react-flow__node").first().waitFor();
    });
    const count = () => page.locator(".editor-canvas *").count();
    const near = await count();
    const box = await page.locator(".canvas-flow").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const frames = page.evaluate(
      () =>
        new Promise((done) => {
          const all = [];
          let last = performance.now();
          const tick = (at) => {
            all.push(at - last);
            last = at;
            if (all.length < 60) requestAnimationFrame(tick);
            else done(all.sort((a, b) => a - b));
          };
          requestAnimationFrame(tick);
        }),
    );
    for (let i = 0; i < 20; i++) await page.mouse.wheel(40, 30);
    const sorted = await frames;
    times["pan p95"] = Math.round(sorted[Math.floor(sorted.length * 0.95)]);
    const most = Math.max(near, await count());
    const name = await page.locator(".react-flow__node").nth(3).getAttribute("data-id");
    await node(page, name).click();
    await timed("add", async () => {
      await page.keyboard.press("a");
      await page.keyboard.press("Enter");
      await node(page, "shell").waitFor();
    });
    await timed("delete", async () => {
      await page.keyboard.press("Delete");
      await said(page, "Deleted shell");
    });
    console.log(`      2,000 tasks: ${JSON.stringify(times)} ms, ${most} elements near`);
    await page.keyboard.press("Control+f");
    await page.getByRole("textbox", { name: "Find a task" }).fill("t1999");
    await page.keyboard.press("Escape");
    await focused(page, "t1999");
    await page.screenshot({ path: `${folder}canvas-2000.png` });
    await timed("fit", async () => {
      await page.getByRole("button", { name: "Fit" }).click();
      await page.getByRole("img", { name: /2000 tasks/ }).waitFor();
    });
    const far = await count();
    console.log(`      all in view: ${times.fit} ms, ${far} elements`);
    await page.screenshot({ path: `${folder}canvas-far.png` });
    assert.ok(most < 3200, `${most} elements`);
    assert.ok(far < 400, `${far} elements from afar`);
  },

  "the canvas is clean to axe in both themes, with its menu, its lists and its refusals": async ({ server, visit, out: folder, shots }) => {
    server.apply("etl", `${chain}  - name: c\n    type: shell\n    script: echo\n    needs: [b]\n`);
    const { page } = await visit();
    await signInByLink(server, page);
    const wrong = [];
    for (const language of shots ? ["en", "zh-CN"] : ["en"]) {
      await page.evaluate((l) => localStorage.setItem("porpoise.settings", JSON.stringify({ language: l })), language);
      const at = async (what) => {
        wrong.push(...(await inBoth(page, `${what} ${language}`)));
        if (shots) await page.screenshot({ path: `${folder}canvas-${what}-${language}.png` });
      };
      await page.goto(edit(server, "etl", "chain"));
      await node(page, "b").click();
      await at("chosen");
      await page.keyboard.press("a");
      await page.getByRole("dialog").waitFor();
      await at("types");
      await page.keyboard.press("Escape");
      await page.keyboard.press("c");
      await page.getByRole("dialog").waitFor();
      await at("connect");
      await page.keyboard.press("Escape");
      await node(page, "b").click({ button: "right" });
      await page.getByRole("menu").waitFor();
      await at("menu");
      await page.keyboard.press("Escape");
      await dragTo(page, await out(page, "c"), await middle(node(page, "a")));
      await page.locator(".refusal").waitFor();
      await at("refused");
      await page.goto(edit(server, "etl", "chain", "?view=split"));
      const text = page.locator(".cm-content");
      await text.click();
      await page.keyboard.press("Control+End");
      await page.keyboard.insertText("  - name: [\n");
      await page.locator(".canvas-veil").waitFor();
      await at("broken");
      await page.keyboard.press("Control+z");
      await page.locator(".canvas-veil").waitFor({ state: "detached" });
      await page.goto(edit(server, "etl", "nothing", "?new=1"));
      await page.locator(".ghost-node").waitFor();
      await at("empty");
      if (shots) {
        await page.setViewportSize({ width: 390, height: 800 });
        await page.goto(edit(server, "etl", "chain"));
        await page.locator(".canvas-locked").waitFor();
        await at("phone");
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    }
    assert.deepEqual(wrong, []);
  },
};
