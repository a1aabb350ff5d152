import assert from "node:assert/strict";
import { signInByLink } from "../steps.mjs";

const daily = `name: daily
params:
  table: orders
tasks:
  - {name: load, type: noop}
`;

/** ready opens the list of schedules of a project with one published workflow. */
async function ready(server, visit, options) {
  server.apply("shop", daily);
  const { page } = await visit(options);
  await signInByLink(server, page);
  await page.goto(`${server.url}/p/shop/schedules`);
  return page;
}

const put = (server, name, body) => server.api("PUT", `/projects/shop/workflows/daily/schedules/${encodeURIComponent(name)}`, body);

async function pick(page, scope, label, option) {
  await scope.getByRole("combobox", { name: label }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

/** clean holds a page to axe, and to its window's width, as it is now. */
async function clean(page, check, name) {
  await page.waitForTimeout(250); // what opens has opened
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.deepEqual([...(await check(page, name)), ...(wide ? [`${name}: wider than the window`] : [])], []);
}

export const journeys = {
  "25: every day at 02:30 in Berlin in words; the change of the clocks is marked; pause and resume": async ({ server, visit, check }) => {
    const page = await ready(server, visit, { refused: [412] });
    await page.getByRole("heading", { name: "No schedule yet" }).waitFor();
    await clean(page, check, "no schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog");
    await pick(page, form, "Workflow", "daily");
    await form.getByRole("textbox", { name: "Name" }).fill("nightly");
    await form.getByRole("textbox", { name: "From" }).fill("2027-03-27");
    await form.getByText("at 02:30 every day").waitFor();
    const fires = form.locator(".next-fires li");
    await fires.filter({ hasText: "2027-03-28 03:00 +02:00" }).getByText("clocks change: 02:30:00 does not exist that day").waitFor();
    assert.match(await fires.first().textContent(), /2027-03-27 02:30 \+01:00/);
    await form.getByRole("textbox", { name: /^table/ }).fill("returns");
    await form.getByRole("radio", { name: "Wait for its end" }).check();
    await clean(page, check, "new schedule");
    await form.getByRole("button", { name: "Create" }).click();
    const row = page.locator("[data-schedule=nightly]");
    await row.getByText("at 02:30 every day").waitFor();
    const made = await server.api("GET", "/projects/shop/workflows/daily/schedules/nightly");
    assert.deepEqual(
      [made.cron, made.timezone, made.start, made.overlap, made.params],
      ["30 2 * * *", "Europe/Berlin", "2027-03-27", "wait", { table: "returns" }],
    );

    await row.getByRole("button", { name: "Actions for nightly" }).click();
    await page.getByRole("menuitem", { name: "Pause" }).click();
    await page.getByRole("textbox", { name: "Why" }).fill("month end");
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await row.getByText("month end").waitFor();
    await row.getByRole("link", { name: "nightly" }).click();
    await page.getByRole("heading", { name: "nightly", exact: true }).waitFor();
    await page.getByText("month end").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("nightly fires again from now on.").waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();

    // The calendar goes to what is foretold, and opens its day by keys.
    await page.goto(`${server.url}/p/shop/w/daily/s/nightly?month=2027-03`);
    await page.getByRole("button", { name: "2027-03-28: 1 planned" }).waitFor();
    await page.locator("[data-day='2027-03-27']").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("1 fire is foretold by the rules.").waitFor();
    assert.match(page.url(), /day=2027-03-28/);
    await clean(page, check, "day");

    // Changed by somebody else meanwhile, the form does not write over it.
    await page.goto(`${server.url}/p/shop/w/daily/s/nightly?do=edit`);
    const edit = page.getByRole("dialog");
    await pick(page, edit, "Fires", "Every n minutes or hours");
    await edit.getByText("every 15 minutes").waitFor();
    const { revision } = await server.api("GET", "/projects/shop/workflows/daily/schedules/nightly");
    await fetchPut(server, page, revision);
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.getByText("Somebody else has changed it").waitFor();
  },

  "25b: a mistake in a cron is marked where it is; many are paused at once; a viewer sees why not": async ({ server, visit, check }) => {
    const page = await ready(server, visit, { refused: [422] });
    for (const name of ["night 1", "night 2", "noon"]) await put(server, name, { cron: "0 12 * * *", timezone: "Asia/Shanghai" });
    await put(server, "after load", { after: { workflow: "examples/hello", states: ["success", "failed"] } });
    await page.reload();
    await page.getByText("after examples/hello ends as success or failed").waitFor();
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog");
    await pick(page, form, "Workflow", "daily");
    await pick(page, form, "Fires", "By a cron expression");
    await form.getByRole("textbox", { name: "Cron" }).fill("0 61 * * *");
    await form.getByText("hour 61 is not in 0-23").waitFor();
    assert.equal(await form.locator(".cron-mistake mark").textContent(), "61");
    await clean(page, check, "wrong cron");
    await form.getByRole("textbox", { name: "Cron" }).fill("*/10 8-18 * * MON-FRI");
    await form.locator(".cron-mistake").waitFor({ state: "detached" });
    await form.locator(".next-fires li").first().waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });

    await page.getByRole("textbox", { name: "Filter by name" }).fill("night");
    await page.getByText("2 schedules", { exact: true }).waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Pause these" }).click();
    await page.getByText("2 schedules that are on will be paused.").waitFor();
    await page.getByRole("textbox", { name: "Why" }).fill("freeze");
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByText("2 schedules changed.").waitFor();
    await page.getByText("freeze").first().waitFor();
    const noon = await server.api("GET", "/projects/shop/workflows/daily/schedules/noon");
    assert.equal(noon.enabled, true);

    await server.api("POST", "/users", { name: "vera", password: "given by the admin" });
    await server.api("PUT", "/projects/shop/members/vera", { role: "viewer" });
    const { page: other } = await visit();
    const signedIn = await other.request.post(`${server.url}/api/v1/session`, { data: { user: "vera", password: "given by the admin" } });
    assert.ok(signedIn.ok());
    await other.request.put(`${server.url}/api/v1/session/password`, {
      data: { current: "given by the admin", new: "four words of my own" },
    });
    await other.goto(`${server.url}/p/shop/w/daily/s/noon?do=delete`);
    const pause = other.getByRole("button", { name: /^Pause/ });
    await pause.waitFor();
    assert.equal(await pause.getAttribute("aria-disabled"), "true");
    assert.equal(await other.getByRole("dialog").count(), 0);
  },

  "25c: a signed call fires a schedule; what its body gives is kept through the form": async ({ server, visit, check }) => {
    const page = await ready(server, visit, { refused: [422] });
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog");
    await pick(page, form, "Workflow", "daily");
    await form.getByRole("textbox", { name: "Name" }).fill("released");
    await pick(page, form, "Fires", "By a signed call");
    await form.getByRole("textbox", { name: "Secret that signs the calls" }).fill("no such name!");
    await form.locator(".mantine-InputWrapper-error").first().waitFor();
    await server.api("PUT", "/projects/shop/secrets/ci", { value: "spoken by nobody" });
    await form.getByRole("textbox", { name: "Secret that signs the calls" }).fill("ci");
    await form.getByRole("textbox", { name: "Parameters from the body" }).fill("table: release.table");
    await form.getByText("It fires when a signed call comes.").waitFor();
    await clean(page, check, "by a call");
    await form.getByRole("button", { name: "Create" }).click();
    const row = page.locator("[data-schedule=released]");
    await row.getByText("by a signed call").waitFor();
    const made = await server.api("GET", "/projects/shop/workflows/daily/schedules/released");
    assert.deepEqual(made.webhook, { secret: "ci", params: { table: "release.table" } });

    await page.goto(`${server.url}/p/shop/w/daily/s/released?do=edit`);
    const edit = page.getByRole("dialog");
    await edit.getByText(`POST /api/v1/hooks/${made.id}`).waitFor();
    await edit.getByRole("radio", { name: "Wait for its end" }).check();
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.waitFor({ state: "hidden" });
    const kept = await server.api("GET", "/projects/shop/workflows/daily/schedules/released");
    assert.deepEqual([kept.webhook, kept.overlap], [made.webhook, "wait"]);
  },

  "26b: fires of each second are in the ledger, each with its instance, and the proof holds": async ({ server, visit, check }) => {
    await ready(server, visit).then((page) => page.close());
    await put(server, "ticks", { cron: "* * * * * *", overlap: "allow" });
    const fired = async () => (await server.api("GET", "/projects/shop/workflows/daily/schedules/ticks/fires?state=fired&limit=200")).items;
    for (let i = 0; i < 300 && (await fired()).length < 4; i++) await new Promise((r) => setTimeout(r, 100));
    const { page } = await visit();
    await page.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: server.password } });
    await page.goto(`${server.url}/p/shop/w/daily?tab=schedules`);
    await page.locator("[data-schedule=ticks]").getByText("fired").waitFor();
    await page.getByRole("link", { name: "ticks" }).click();
    await page.getByText("It holds").waitFor();
    await clean(page, check, "schedule");
    const today = page.locator(".calendar-day[aria-current=date]");
    assert.match(await today.textContent(), /\d+ fired/);
    await today.click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("row").nth(3).waitFor();
    await clean(page, check, "fires of a day");
    await drawer.getByRole("link").first().click();
    await page.getByRole("heading", { name: /^daily/ }).waitFor();
    assert.match(page.url(), /\/p\/shop\/r\/\d+/);

    await page.goto(`${server.url}/p/shop/w/daily/s/ticks?do=trigger`);
    await page.getByRole("dialog").getByRole("button", { name: "Trigger now" }).click();
    await page.getByRole("heading", { name: /^daily/ }).waitFor();

    await page.goto(`${server.url}/p/shop/w/daily/s/ticks?do=delete`);
    await page.getByLabel("Type ticks to delete it").fill("ticks");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No schedule yet" }).waitFor();
    assert.match(page.url(), /\/p\/shop\/schedules$/);
  },
};

/** fetchPut changes the schedule as somebody else would. */
async function fetchPut(server, page, revision) {
  const done = await page.request.put(`${server.url}/api/v1/projects/shop/workflows/daily/schedules/nightly`, {
    data: { cron: "0 5 * * *" },
    headers: { "If-Match": `"${revision}"` },
  });
  assert.ok(done.ok(), await done.text());
}
