import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { becomes, signInByCall } from "../steps.mjs";

// What a cluster looks like in states that last for a moment, or need more machines than a test has: the server's own
// answers, changed on their way.

const masters = ["master-1", "master-2", "master-3"];
const slots = 256;
/** Every eighth slot is nobody's, and about to be the third's; every second one of the first moves to the second. */
const owners = Array.from({ length: slots }, (_, slot) => (slot % 8 === 7 ? -1 : slot % 3));
const after = owners.map((owner, slot) => (owner < 0 ? 2 : owner === 0 && slot % 2 === 0 ? 1 : owner));
const unowned = owners.filter((owner) => owner < 0).length;
const moving = owners.filter((owner, slot) => owner >= 0 && owner !== after[slot]).length;

const many = 60;

function change(pulse) {
  const [master] = pulse.masters;
  const [worker] = pulse.workers;
  const ago = (seconds) => new Date(Date.parse(pulse.at) - seconds * 1000).toISOString();
  const queue = (name, verdict, more) => ({
    kind: "group",
    name,
    verdict,
    running: 0,
    slots: 0,
    workers: 0,
    waiting: 9,
    oldest: ago(40),
    ...more,
  });
  return {
    ...pulse,
    masters: masters.map((name, i) => ({ ...master, name, slots: owners.filter((owner) => owner === i).length })),
    workers: Array.from({ length: many }, (_, i) => ({
      ...worker,
      name: `worker-${i + 1}`,
      ...(i === 1 && { draining: "kernel update" }),
      ...(i === 2 && { silent_since: ago((0.7 * pulse.limits.worker_ms) / 1000) }),
      ...(i === 3 && { version: "0.9.0" }),
    })),
    slots: {
      ...pulse.slots,
      members: masters,
      owners,
      overloaded: [1, 4],
      preparing: {
        acked: [masters[0]],
        missing: [masters[1]],
        at: ago(2),
        cause: "master-4 left",
        coordinator: masters[0],
        epoch: pulse.slots.epoch + 1,
        members: masters,
        owners: after,
      },
    },
    queues: [
      { ...pulse.queues[0], waiting: 400, oldest: ago(20), in_per_s: 5, out_per_s: 1, verdict: "growing" },
      queue("default", "draining", { in_per_s: 1, out_per_s: 2, workers: many, slots: 16 * many, running: 16 * many }),
      queue("nowhere", "stuck", { in_per_s: 0, out_per_s: 0 }),
    ],
    stuck: { overdue: 2, asked: 1, given_up: 1 },
  };
}

const states = ["asked", "applied", "done", "error"];
const recoveries = () => {
  const at = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
  return states.map((state, i) => ({
    id: String(i + 1),
    instance: String(100 + i),
    step: ["dispatched", "running", "killing", "command"][i],
    state,
    failures: i,
    first_at: at(90),
    asked_at: at(30),
    complete_by: at(60),
    ...(state === "error" && { result: "asked for five times, and nobody has answered" }),
  }));
};

/** feed changes the answers about the cluster; the stream, which would say how it is in truth, says nothing. */
async function feed(page) {
  const edit = (path, to) =>
    page.route(path, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: to(await response.json()) });
    });
  await edit("**/api/v1/cluster/pulse", change);
  await edit("**/api/v1/cluster/recoveries?*", (list) => ({ ...list, items: recoveries() }));
  await page.route("**/api/v1/stream*", (route) =>
    route.fulfill({ status: 200, contentType: "text/event-stream", body: "retry: 3600000\n\n" }),
  );
}

export const journeys = {
  "28e: slots that move and that are nobody's, sixty workers, queues that grow and are stuck, and what a supervisor did": async ({
    server,
    visit,
  }) => {
    const { page } = await visit();
    await signInByCall(server, page);
    await feed(page);
    const wrong = [];
    const look = async (name) => {
      wrong.push(...(await inBoth(page, name)));
      await page.setViewportSize({ width: 390, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) wrong.push(`${name}: wider than 390 by ${wide}`);
      await page.setViewportSize({ width: 1280, height: 800 });
    };

    await page.goto(`${server.url}/cluster/slots`);
    await page.getByText(`${moving + unowned} slots move`).waitFor();
    await page.getByText(new RegExp(`^${unowned} slots are nobody's, for`)).waitFor();
    await page.getByText("master-4 left").first().waitFor();
    // Without colours too: two letters and hatches for what moves, a ring and seconds for what is nobody's.
    const cell = (slot) => page.locator(`[data-slot="${slot}"]`);
    await becomes(() => cell(0).textContent(), "A›B");
    assert.equal(await cell(0).getAttribute("aria-label"), "Slot 0: master-1, moves to master-2 A›B");
    assert.match(await cell(0).evaluate((e) => getComputedStyle(e).backgroundImage), /repeating-linear-gradient/);
    await becomes(() => cell(1).textContent(), "B!");
    assert.equal(await cell(1).getAttribute("aria-label"), "Slot 1: master-2, its master has no room: any master takes its commands B!");
    await page.getByText("2 slots have masters without room: others take their commands").waitFor();
    assert.equal(await cell(7).getAttribute("aria-label"), "Slot 7: nobody, moves to master-3 ›C");
    await becomes(() => page.locator(".slot.moving").count(), moving + unowned);
    await becomes(() => page.locator(".slot.unowned").count(), unowned);
    await look("slots that move");
    await page.goto(`${server.url}/cluster/slots?view=table`);
    await page.getByRole("row").filter({ hasText: "nobody" }).waitFor();
    await look("slots that move, as a table");

    await page.goto(`${server.url}/cluster/workers`);
    const rows = page.locator("[data-worker]");
    await becomes(() => rows.count(), many);
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) <= 32, `a row of ${many} is ${Math.max(...heights)} px high`);
    await rows.nth(1).getByText("kernel update").waitFor();
    await rows
      .nth(2)
      .getByText(/called gone in/)
      .waitFor();
    await rows.nth(3).getByText("0.9.0").waitFor();
    await look("sixty workers");
    await page.getByRole("textbox", { name: "Filter by name" }).fill("worker-60");
    await becomes(() => rows.count(), 1);

    await page.goto(`${server.url}/cluster/queues`);
    for (const [name, word] of Object.entries({ commands: "growing", default: "draining", nowhere: "stuck" }))
      await page.locator(`[data-queue="${name}"]`).getByText(word, { exact: true }).waitFor();
    await page.locator("[data-queue=nowhere]").getByText("no worker serves it").waitFor();
    await look("queues that grow");

    await page.goto(`${server.url}/cluster/supervisor`);
    const did = page.getByRole("row").filter({ has: page.getByRole("link") });
    await becomes(() => did.count(), states.length);
    await did.last().getByText("given up").waitFor();
    await did.last().getByText("asked for five times, and nobody has answered").waitFor();
    await look("what the supervisor did");
    assert.deepEqual(wrong, []);
  },
};
