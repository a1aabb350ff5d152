import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { finished, long, signInByLink } from "../steps.mjs";

const routed = `name: routed
params:
  rows: {type: integer, default: 30}
tasks:
  - {name: load, type: shell, script: exit 3}
  - name: route
    type: switch
    cases:
      - {when: rows == 0, then: []}
      - {when: rows < 10, then: [small]}
      - {when: rows < 100, then: [middle]}
    else: [large]
  - {name: small, type: noop, needs: [route]}
  - {name: middle, type: noop, needs: [route]}
  - {name: large, type: noop, needs: [route]}
  - name: check
    type: conditions
    needs: [load]
    cases:
      - {when: load.state == "success", then: [publish]}
    else: [repair]
  - {name: publish, type: noop, needs: [check]}
  - {name: repair, type: noop, needs: [check]}
`;

const child = `name: one month
params: {month: {description: such as 2026-11}}
tasks:
  - {name: write, type: shell, script: 'echo "report of $month"'}
`;
const parent = `name: month end
tasks:
  - {name: report, type: sub_workflow, workflow: one month, params: {month: "2026-11"}}
  - {name: orders are there, type: dependent, check: {all: [{workflow: load orders, date: today}]}}
  - name: each
    type: dynamic
    workflow: one month
    over: [{name: month, in: ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"]}]
`;
const orders = `name: load orders
tasks:
  - {name: load, type: shell, script: echo loaded}
`;

const holder = long.replace("name: long", "name: holder").replace("    type: shell\n", "    type: shell\n    task_group: warehouse\n");
const waiter = `name: waiter
tasks:
  - {name: load, type: shell, task_group: warehouse, script: echo loaded}
`;

const panelOf = (page, name) => page.getByRole("complementary", { name, exact: true });

async function start(server, workflow, body = {}) {
  return (await server.api("POST", `/projects/etl/workflows/${encodeURIComponent(workflow)}/start`, body)).instance_id;
}

export const journeys = {
  "21: a branch that was not taken shows who chose, and by which value": async ({ server, visit, out }) => {
    server.apply("etl", routed);
    const { page } = await visit();
    await signInByLink(server, page);
    const id = await start(server, "routed");
    assert.equal((await finished(server, id)).state, "success");
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await page.locator('.react-flow__node[data-id="small"]').getByText("skipped", { exact: false }).waitFor();
    await page.locator('.react-flow__node[data-id="small"]').click();
    const small = panelOf(page, "small");
    await small.getByText("route chose Case 3, which does not lead here.").waitFor();
    await small.locator(".about-values", { hasText: "rows" }).getByText("30", { exact: true }).waitFor();
    await small.locator("li", { hasText: "Case 2" }).getByText("did not hold").waitFor();
    const wrong = await inBoth(page, "a branch not taken");
    await page.screenshot({ path: `${out}constructs-choice.png` });
    // From there to the task that ran instead.
    await small.getByRole("button", { name: "middle" }).click();
    await panelOf(page, "middle").waitFor();
    // The states that decided for conditions.
    await page.goto(`${server.url}/p/etl/r/${id}?task=publish`);
    const publish = panelOf(page, "publish");
    await publish.getByText("check chose Else, which does not lead here.").waitFor();
    await publish.locator(".about-values", { hasText: "load" }).getByText("failed").waitFor();
    assert.deepEqual(wrong, []);
  },

  "22: down to the child's log and back, to the instance that is waited for, and through a fan-out": async ({ server, visit, out }) => {
    for (const text of [child, orders, parent]) server.apply("etl", text);
    const { page } = await visit();
    await signInByLink(server, page);
    const id = await start(server, "month end");
    const wrong = [];
    // Down to the log of the child's task, and back by the browser's own button.
    await page.goto(`${server.url}/p/etl/r/${id}?task=report`);
    const report = panelOf(page, "report");
    await report.getByRole("link", { name: /write/ }).waitFor();
    wrong.push(...(await inBoth(page, "a child in place")));
    await page.screenshot({ path: `${out}constructs-child.png` });
    await report.getByRole("link", { name: /write/ }).click();
    await panelOf(page, "write").getByText("report of 2026-11").waitFor();
    assert.notEqual(/\/r\/(\d+)/.exec(page.url())[1], id);
    await page.goBack();
    await report.getByRole("link", { name: /write/ }).waitFor();
    assert.equal(/\/r\/(\d+)/.exec(page.url())[1], id);
    // What the dependent task waits for comes while it is looked at.
    await page.goto(`${server.url}/p/etl/r/${id}?task=orders+are+there&panel=about`);
    const waits = panelOf(page, "orders are there");
    await waits.getByText("load orders has no run", { exact: false }).waitFor();
    const loaded = await start(server, "load orders");
    await waits.getByRole("link", { name: `load orders #${loaded}` }).waitFor();
    await waits.getByRole("img", { name: "there" }).waitFor();
    wrong.push(...(await inBoth(page, "a dependent task")));
    await page.screenshot({ path: `${out}constructs-dependent.png` });
    await waits.getByRole("link", { name: `load orders #${loaded}` }).click();
    await page.getByRole("heading", { name: /^load orders/ }).waitFor();
    await page.goBack();
    await waits.waitFor();
    assert.equal((await finished(server, id)).state, "success");
    // Twelve children are one node, and a list by state.
    await page.goto(`${server.url}/p/etl/r/${id}`);
    await page.locator('.react-flow__node[data-id="each"]').getByText("12/12", { exact: false }).waitFor();
    await page.locator('.react-flow__node[data-id="each"]').click();
    const each = panelOf(page, "each");
    await each.getByText("12 of 12 made").waitFor();
    await each.getByRole("button", { name: /12 success/ }).waitFor();
    await each.getByRole("link").first().waitFor();
    wrong.push(...(await inBoth(page, "children")));
    await page.screenshot({ path: `${out}constructs-children.png` });
    assert.deepEqual(wrong, []);
  },

  "18: a full task group says who has its place, and the text changes once it is free": async ({ server, visit, out }) => {
    server.apply("etl", holder);
    server.apply("etl", waiter);
    await server.api("PUT", "/projects/etl/task-groups/warehouse", { size: 1 });
    const { page } = await visit();
    await signInByLink(server, page);
    const first = await start(server, "holder");
    await page.goto(`${server.url}/p/etl/r/${first}?task=sleeper`);
    await panelOf(page, "sleeper")
      .getByText(/pid \d+/)
      .waitFor();
    const second = await start(server, "waiter");
    await page.goto(`${server.url}/p/etl/r/${second}?task=load&panel=why`);
    const why = page.locator(".task-panel .why");
    await why.getByText("load waits for task group warehouse: 1 of 1 places are taken, 0 before it").waitFor();
    await why.getByText(`sleeper of instance ${first} has 1`).waitFor();
    // The holder is the way to its instance, not to a task of this one.
    assert.match(await why.getByRole("link", { name: first }).getAttribute("href"), new RegExp(`/p/etl/r/${first}$`));
    assert.deepEqual(await inBoth(page, "a full task group"), []);
    await page.screenshot({ path: `${out}constructs-task-group.png` });
    await page.evaluate(() => {
      window.kept = true;
    });
    await server.api("POST", `/instances/${first}/stop`, {});
    await page.locator(".task-panel .state-word", { hasText: "success" }).waitFor();
    await why.getByText("load waits for task group", { exact: false }).waitFor({ state: "detached" });
    assert.ok(await page.evaluate(() => window.kept), "the page was not loaded anew");
  },
};
