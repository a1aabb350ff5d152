import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inBoth } from "../axe.mjs";
import { becomes, finished, runFailing, signInByCall, signInByLink } from "../steps.mjs";

/** many is a workflow of 2,000 tasks in 40 columns of 50, each needing one or two of the column before. */
function many(last = "type: noop") {
  const rows = 50;
  const lines = ["name: many", "tasks:"];
  for (let x = 0; x < 40; x++) {
    for (let y = 0; y < rows; y++) {
      const needs = x === 0 ? [] : [`t${x - 1}.${y}`, ...(y % 2 === 0 ? [`t${x - 1}.${(y + 1) % rows}`] : [])];
      const kind = x === 39 && y === 20 ? last : "type: noop";
      lines.push(`  - {name: t${x}.${y}, ${kind}, needs: [${needs.join(", ")}]}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

const elements = (page) => page.evaluate(() => document.querySelectorAll("*").length);
const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);

/** inside says whether a node is wholly within the canvas. */
async function inside(page, name) {
  const [n, c] = [await node(page, name).boundingBox(), await page.locator(".canvas").boundingBox()];
  return n.x >= c.x && n.y >= c.y && n.x + n.width <= c.x + c.width && n.y + n.height <= c.y + c.height;
}

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("data-id"));

export const journeys = {
  "2,000 tasks open with few elements and requests, readable, on the task that failed": async ({ server, visit }) => {
    server.apply("etl", many("type: shell, script: exit 3"));
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/many/start", {});
    assert.equal((await finished(server, id)).state, "failed");
    const { page } = await visit();
    await signInByCall(server, page);
    const asked = [];
    const open = new Set();
    page.on("request", (r) => {
      if (!r.url().includes("/api/v1/")) return;
      asked.push(r.url().replace(/.*\/api\/v1/, ""));
      if (r.url().includes("/stream?")) open.add(r);
    });
    for (const end of ["requestfailed", "requestfinished"]) page.on(end, (r) => open.delete(r));
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await node(page, "t39.20").waitFor();
    assert.ok(await inside(page, "t39.20"), "the failed task is on the screen");
    const title = page.locator(".task-node strong").first();
    assert.ok((await title.boundingBox()).height >= 10, "names can be read");
    const views = asked.filter((a) => a.includes("/view"));
    assert.deepEqual(views, [`/instances/${id}/view?drawing=true`], "one request has the instance, its tasks, graph and canvas");
    // A page that comes late adds its topic: the stream is begun anew, and never a second one beside it.
    assert.equal(open.size, 1, "one stream is open");
    assert.ok((await elements(page)) <= 3200, `${await elements(page)} elements near`);
    assert.ok((await page.locator(".react-flow__node").count()) <= 120, "only nodes in sight are mounted");

    await page.getByRole("button", { name: "Fit" }).click();
    const far = page.getByRole("img", { name: /^2000 tasks/ });
    await far.waitFor();
    await node(page, "t39.20").waitFor({ state: "detached" });
    assert.equal(await page.locator(".react-flow__node, .react-flow__edge").count(), 0, "from afar no node is in the document");
    assert.ok((await elements(page)) <= 800, `${await elements(page)} elements from afar`);
    // Every task is painted in its state's colour; the red one is found by its colour, named, and clicked.
    const red = await far.evaluate((canvas) => {
      const ctx = canvas.getContext("2d");
      const { data, width } = ctx.getImageData(0, 0, canvas.width, canvas.height);
      const ratio = window.devicePixelRatio;
      for (let i = 0; i < data.length; i += 4) {
        if (data[i] > 180 && data[i + 1] < 70 && data[i + 2] < 40)
          return { x: ((i / 4) % width) / ratio + 3, y: Math.floor(i / 4 / width) / ratio + 2 };
      }
      return undefined;
    });
    assert.ok(red, "the failed task is red from afar");
    const box = await far.boundingBox();
    await page.mouse.move(box.x + red.x, box.y + red.y);
    await page.getByText("t39.20 · failed").waitFor();
    await page.mouse.click(box.x + red.x, box.y + red.y);
    await page.locator(".task-node.chosen", { hasText: "t39.20" }).waitFor();
    assert.match(page.url(), /task=t39\.20/);
    await becomes(() => inside(page, "t39.20"), true); // the view follows what was chosen
  },

  "the keyboard walks a graph of 2,000 tasks, and find flies to any of them": async ({ server, visit }) => {
    server.apply("etl", many());
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/many/start", {});
    await finished(server, id);
    const { page } = await visit({ reducedMotion: "reduce" });
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await node(page, "t0.0").waitFor();
    await page.getByRole("application", { name: "Graph of many" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-id") === "t0.0");
    for (let x = 1; x < 12; x++) {
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction((column) => document.activeElement?.getAttribute("data-id")?.startsWith(`t${column}.`), x);
      assert.ok(await inside(page, await focused(page)), `column ${x} is on the screen`);
    }
    const before = await focused(page);
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction((was) => document.activeElement?.getAttribute("data-id") !== was, before);
    assert.match(await focused(page), /^t11\./, "down stays in the column");
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-id")?.startsWith("t10."));

    await page.keyboard.press("Control+f");
    const field = page.getByRole("textbox", { name: "Find a task" });
    await field.fill("t38.4");
    await page.getByText("1 of 11").waitFor();
    await page.locator(".task-node.chosen", { hasText: "t38.4" }).waitFor();
    await field.press("Enter");
    await page.getByText("2 of 11").waitFor();
    await field.fill("nothing");
    await page.getByText("no such task").waitFor();
    await field.fill("t38.44");
    await field.press("Escape");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-id") === "t38.44");
    assert.ok(await inside(page, "t38.44"));
    await page.keyboard.press("Enter");
    await page.waitForURL(/task=t38\.44/);
  },

  "states are painted where the tasks stand, and follow goes with what runs": async ({ server, visit }) => {
    const gates = mkdtempSync(join(tmpdir(), "porpoise-e2e-gate-"));
    try {
      const chain = Array.from({ length: 12 }, (_, i) => {
        const script = i % 6 === 5 ? `until [ -e ${gates}/${i} ]; do sleep 0.05; done` : "true";
        return `  - {name: step ${i}, type: shell, script: '${script}'${i > 0 ? `, needs: [step ${i - 1}]` : ""}}`;
      });
      server.apply("etl", `name: chain\ntasks:\n${chain.join("\n")}\n`);
      const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/chain/start", {});
      const { page } = await visit();
      await signInByCall(server, page);
      await page.goto(`${server.url}/p/etl/r/${id}`);
      const runs = (name) => page.locator(`.react-flow__node[data-id="${name}"] .task-node.hue-running`);
      await runs("step 5").waitFor();
      assert.ok(await inside(page, "step 5"), "it opens on what runs");
      const place = () => node(page, "step 5").evaluate((n) => n.style.transform);
      const stood = await place();
      await page.getByRole("switch", { name: "Follow running" }).click();
      writeFileSync(join(gates, "5"), "");
      await runs("step 11").waitFor();
      await page.waitForFunction(() => {
        const n = document.querySelector('[data-id="step 11"]')?.getBoundingClientRect();
        const c = document.querySelector(".canvas").getBoundingClientRect();
        return n && n.left >= c.left && n.right <= c.right;
      });
      assert.equal(await place(), stood, "a state moves no node");
      await page.locator(".react-flow__edge.edge-done").first().waitFor({ state: "attached" });
      writeFileSync(join(gates, "11"), "");
      await page.locator(".big-state", { hasText: "success" }).waitFor();
    } finally {
      rmSync(gates, { recursive: true, force: true });
    }
  },

  "a graph runs down where a person wants that, and is remembered": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page } = await visit();
    await signInByCall(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}`);
    const below = async () => {
      const [a, b] = [await node(page, "extract").boundingBox(), await node(page, "report").boundingBox()];
      return b.y > a.y + a.height;
    };
    await node(page, "report").waitFor();
    assert.ok(!(await below()));
    await page.getByRole("button", { name: "Draw from top to bottom" }).click();
    await page.getByRole("button", { name: "Draw from left to right" }).waitFor();
    await node(page, "report").waitFor();
    assert.ok(await below());
    await page.reload();
    await node(page, "report").waitFor();
    assert.ok(await below());
    await page.getByRole("switch", { name: "Only problems" }).click();
    await page.locator(".task-node.dim", { hasText: "extract" }).waitFor();
    assert.equal(await page.locator(".task-node.dim").count(), 2, "what is well is dimmed");
  },

  "the graph is clean to axe near, afar and while searching, in both themes and forced colours": async ({
    server,
    visit,
    check,
    out,
    shots,
  }) => {
    server.apply("etl", many());
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/many/start", {});
    await finished(server, id);
    const failed = await runFailing(server);
    const wrong = [];
    const { page } = await visit();
    await signInByLink(server, page);
    const look = async (what) => {
      wrong.push(...(await inBoth(page, what)));
      if (shots) await page.screenshot({ path: `${out}graph-${what}.png` });
      await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
      wrong.push(...(await check(page, `${what} in forced colours`, "colours")));
      if (shots) await page.screenshot({ path: `${out}graph-${what}-forced.png` });
      await page.emulateMedia({ forcedColors: null, reducedMotion: null });
    };
    await page.goto(`${server.url}/p/etl/r/${failed}`);
    await node(page, "load dim").waitFor();
    await look("failed");
    await page.getByRole("switch", { name: "Only problems" }).click();
    await page.locator(".task-node.dim").first().waitFor();
    await look("problems");
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await node(page, "t0.0").waitFor();
    await page.keyboard.press("Control+f");
    await page.getByRole("textbox", { name: "Find a task" }).fill("t3");
    await look("near");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Fit" }).click();
    await page.locator(".far-view").waitFor();
    await look("afar");
    assert.deepEqual(wrong, []);
  },
};
