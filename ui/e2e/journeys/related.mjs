import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finished, signInByLink } from "../steps.mjs";

const saga = `name: order
on_failure: compensate
tasks:
  - {name: reserve, type: shell, script: echo, compensate: {type: shell, script: echo released}}
  - {name: pay, type: shell, script: echo, needs: [reserve], compensate: {type: shell, script: echo refunded}}
  - {name: pack, type: shell, script: echo, needs: [reserve]}
  - {name: ship, type: shell, script: exit 3, needs: [pay, pack], compensate: {type: shell, script: echo}}
`;

const inner = `name: inner
tasks:
  - {name: deepest, type: shell, script: echo from below}
`;
const middle = `name: middle
tasks:
  - {name: go in, type: sub_workflow, workflow: inner}
  - {name: beside, type: noop, needs: [go in]}
`;
const outer = `name: outer
tasks:
  - {name: down, type: sub_workflow, workflow: middle}
`;

const part = (gate) => `name: part
params: {n: {description: which}}
tasks:
  - name: work
    type: shell
    script: |
      if [ "$n" = bad ]; then exit 3; fi
      if [ "$n" = slow ]; then while [ ! -e ${gate} ]; do sleep 0.1; done; fi
`;
const fan = `name: fan
tasks:
  - {name: each, type: dynamic, workflow: part, over: [{name: n, in: [a, b, bad, slow]}]}
`;
const up = `name: upstream
tasks:
  - {name: load, type: noop}
`;
const down = `name: downstream
tasks:
  - {name: upstream is there, type: dependent, check: {all: [{workflow: upstream, date: today}]}}
`;

const panelOf = (page, name) => page.getByRole("complementary", { name, exact: true });
const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);

async function start(server, workflow) {
  return (await server.api("POST", `/projects/etl/workflows/${encodeURIComponent(workflow)}/start`, {})).instance_id;
}

const themes = async (page, check, name) => {
  const wrong = [];
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    wrong.push(...(await check(page, `${name} ${theme}`)));
  }
  return wrong;
};

export const journeys = {
  "related: what undoes tasks stands as their mirror below the graph, linked the other way round": async ({
    server,
    visit,
    check,
    out,
  }) => {
    server.apply("etl", saga);
    const { page } = await visit();
    await signInByLink(server, page);
    const id = await start(server, "order");
    assert.equal((await finished(server, id)).reason, "compensated");
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await page.getByText("Undone after a failure, the latest success first").waitFor();
    const at = async (name) => node(page, name).boundingBox();
    const [reserve, ship, pay, undoReserve, undoPay, undoShip] = await Promise.all(
      ["reserve", "ship", "pay", "reserve:compensate", "pay:compensate", "ship:compensate"].map(at),
    );
    for (const [task, undo] of [
      [reserve, undoReserve],
      [pay, undoPay],
      [ship, undoShip],
    ])
      assert.ok(Math.abs(task.x - undo.x) < 1 && undo.y > ship.y + ship.height, "each stands straight below its task, and below all work");
    await node(page, "pay:compensate").getByText("success", { exact: false }).waitFor();
    await node(page, "ship:compensate").getByText("skipped", { exact: false }).waitFor();
    // The way back: what undoes pay comes before what undoes reserve.
    assert.equal(await page.locator('.react-flow__edge[data-id="pay:compensate>reserve:compensate"].edge-undo').count(), 1);
    assert.match(await node(page, "reserve:compensate").getAttribute("aria-label"), /after reserve, pay:compensate/);
    assert.deepEqual(await themes(page, check, "a mirror"), []);
    await page.screenshot({ path: `${out}related-mirror.png` });
    // The canvas of the editor marks those that can be undone.
    await page.goto(`${server.url}/p/etl/w/order/edit`);
    await node(page, "pay").locator('[title="after a failure undone by: shell"]').waitFor();
    assert.match(await node(page, "pay").getAttribute("aria-label"), /undone by: shell/);
    assert.equal(await node(page, "pack").locator('[title^="after a failure"]').count(), 0);
  },

  "related: children inside children open in place, a reload keeps them open, and the child's own page is a link away": async ({
    server,
    visit,
    check,
    out,
  }) => {
    for (const text of [inner, middle, outer]) server.apply("etl", text);
    const { page } = await visit();
    await signInByLink(server, page);
    const id = await start(server, "outer");
    assert.equal((await finished(server, id)).state, "success");
    await page.goto(`${server.url}/p/etl/r/${id}?task=down`);
    const panel = panelOf(page, "down");
    const graph = panel.getByRole("region", { name: "The graph of middle" });
    await graph.locator('.react-flow__node[data-id="go in"]').getByText("success", { exact: false }).waitFor();
    await graph.locator('.react-flow__node[data-id="go in"]').click();
    await graph.getByRole("button", { name: "Open its child here" }).click();
    const deeper = panel.getByRole("region", { name: "The graph of inner" });
    await deeper.locator('.react-flow__node[data-id="deepest"]').click();
    await deeper.getByRole("link", { name: "Log" }).waitFor();
    assert.deepEqual(await themes(page, check, "a child in a child"), []);
    await page.screenshot({ path: `${out}related-nested.png` });
    await page.reload();
    await deeper.getByRole("link", { name: "Log" }).waitFor();
    assert.match(page.url(), new RegExp(`/r/${id}\\b`), "the page is still that of the outermost");
    // Out again by the trail, and into the log of the innermost.
    await deeper.getByRole("button", { name: /^middle #/ }).click();
    await graph.waitFor();
    await page.goBack();
    await deeper.getByRole("link", { name: "Log" }).click();
    await panelOf(page, "deepest").getByText("from below").waitFor();
  },

  "related: a fan-out says by state how far it is while it runs, in graph and list": async ({ server, visit, check, out }) => {
    const gate = join(server.data, "gate");
    server.apply("etl", part(gate));
    server.apply("etl", fan);
    const { page } = await visit();
    await signInByLink(server, page);
    const id = await start(server, "fan");
    await page.goto(`${server.url}/p/etl/r/${id}`);
    const each = node(page, "each");
    await each.locator('[title="4 of 4: 1 failed, 1 running, 2 success"]').waitFor();
    assert.match(await each.getAttribute("aria-label"), /4 of 4: 1 failed, 1 running, 2 success/);
    assert.deepEqual(await themes(page, check, "a fan-out"), []);
    await page.screenshot({ path: `${out}related-fan.png` });
    // It changes while it is looked at.
    assert.ok(!existsSync(gate));
    writeFileSync(gate, "");
    await each.locator('[title="4 of 4: 1 failed, 3 success"]').waitFor();
    await page.getByRole("tab", { name: "Tasks" }).click();
    await page.getByRole("row", { name: /each/ }).getByText("4 of 4: 1 failed, 3 success").waitFor();
  },

  "related: who waits for an instance is found from it, as what it waits for is from the other": async ({ server, visit, check, out }) => {
    for (const text of [up, down]) server.apply("etl", text);
    const { page } = await visit();
    await signInByLink(server, page);
    const waits = await start(server, "downstream");
    const loaded = await start(server, "upstream");
    assert.equal((await finished(server, waits)).state, "success");
    await page.goto(`${server.url}/p/etl/r/${loaded}?tab=related`);
    const list = page.getByRole("list", { name: "Waited for by" });
    await list.getByText("its task upstream is there waits for", { exact: false }).waitFor();
    assert.deepEqual(await themes(page, check, "related"), []);
    await page.screenshot({ path: `${out}related-waiters.png` });
    await list.getByRole("link", { name: `downstream #${waits}` }).click();
    await panelOf(page, "upstream is there")
      .getByRole("link", { name: `upstream #${loaded}` })
      .waitFor();
    await page.getByRole("tab", { name: "Related" }).click();
    await page.getByText("No other instance waits, or waited, for this one.").waitFor();
    await page
      .getByRole("region", { name: "Related" })
      .getByRole("link", { name: `upstream #${loaded}` })
      .waitFor();
  },

  "related: Escape closes one layer at a time": async ({ server, visit }) => {
    const gate = join(server.data, "gate");
    server.apply(
      "etl",
      `name: slow\nparams: {day: "\${system.biz.date}"}\ntasks:\n  - {name: work, type: shell, script: 'while [ ! -e ${gate} ]; do sleep 0.1; done'}\n`,
    );
    const { page } = await visit();
    await signInByLink(server, page);
    await page.goto(`${server.url}/p/etl/w/slow?tab=backfills`);
    await page.getByRole("button", { name: "New backfill" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("From").fill("2026-03-01");
    await form.getByLabel("To, included").fill("2026-03-03");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByRole("button", { name: "Start 3 runs" }).click();
    const drawer = page.getByRole("dialog", { name: /^Backfill \d+/ });
    const states = page.getByRole("option", { name: "failed" });
    await drawer.getByRole("combobox", { name: "State" }).click();
    await states.waitFor();
    await page.keyboard.press("Escape");
    await states.waitFor({ state: "hidden" });
    // Above the drawer a question; above both the palette.
    await drawer.getByRole("button", { name: "Cancel" }).click();
    const question = page.getByRole("dialog", { name: /^Cancel backfill/ });
    await question.waitFor();
    const palette = page.getByPlaceholder("Go to a page, a workflow, a schedule, an instance id …");
    // The key may come when the palette is open and the question still has the focus.
    for (const press of [() => question.dispatchEvent("keydown", { key: "Escape" }), () => page.keyboard.press("Escape")]) {
      await page.keyboard.press("Control+k");
      await palette.waitFor();
      await press();
      await palette.waitFor({ state: "hidden" });
      await question.waitFor();
    }
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
    await page.waitForTimeout(300); // what closes has closed
    assert.ok(await drawer.isVisible(), "the drawer under the question is still open");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    writeFileSync(gate, "");
  },
};
