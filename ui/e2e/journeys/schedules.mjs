import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { becomes, finished, signInByCall } from "../steps.mjs";

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
  await signInByCall(server, page);
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

/** waiting are the beginnings of those that wait more than they work. */
export const waiting = ["26: ", "26b: "];

export const journeys = {
  "25: every day at 02:30 in Berlin in words; the change of the clocks is marked; pause and resume": async ({ server, visit, check }) => {
    const page = await ready(server, visit, { refused: [412], timezoneId: "America/New_York" });
    await page.getByRole("heading", { name: "No schedule yet" }).waitFor();
    await clean(page, check, "no schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog");
    await pick(page, form, "Workflow", "daily");
    await form.getByRole("textbox", { name: "Name" }).fill("nightly");
    // Neither the kind, the time nor the zone is what the form begins with.
    await pick(page, form, "Fires", "On days of the week");
    await form.getByLabel(/^At\b/).fill("07:15");
    await form.getByRole("button", { name: "Tue" }).click();
    await form.getByText("at 07:15 on Monday and Wednesday to Friday").waitFor();
    await pick(page, form, "Fires", "Daily at a time");
    await form.getByText("at 07:15 every day").waitFor();
    await form.getByLabel(/^At\b/).fill("02:30");
    await form.getByText("at 02:30 every day").waitFor();
    await form.getByText("in America/New_York").waitFor();
    await form.getByRole("combobox", { name: "Timezone" }).fill("berlin");
    await page.getByRole("option", { name: "Europe/Berlin", exact: true }).click();
    const fires = form.locator(".next-fires li");
    // In autumn the clock shows the hour twice.
    await form.getByRole("textbox", { name: "From" }).fill("2027-10-30");
    await fires.filter({ hasText: "2027-10-31 02:30" }).getByText("clocks change: the clock shows this time twice").first().waitFor();
    await form.getByRole("textbox", { name: "From" }).fill("2027-03-27");
    await fires.filter({ hasText: "2027-03-28 03:00 +02:00" }).getByText("clocks change: 02:30:00 does not exist that day").waitFor();
    await becomes(() => fires.first().textContent(), /2027-03-27 02:30 \+01:00/);
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
    await page.getByText("It does not fire: admin has paused it (month end).").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("nightly fires again from now on.").waitFor();
    await page.getByText(/^It fires next at 2027-03-27 02:30:00 \+01:00/).waitFor();
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

  "25d: the hours in which all schedules fire, with what fires in one": async ({ server, visit, check }) => {
    const page = await ready(server, visit);
    for (const name of ["ann", "ben"]) await put(server, name, { cron: "30 2 * * *", timezone: "Europe/Berlin" });
    await put(server, "often", { cron: "* * * * * *", timezone: "UTC", enabled: false });
    await page.goto(`${server.url}/schedules?week=2027-03-27`);
    await page.locator("[data-schedule=ann]").waitFor();
    await page.getByText("By hour", { exact: true }).click();
    const map = page.getByRole("table", { name: "Planned fires by day and hour" });
    // On the 28th the clocks leave out the hour of 02:30.
    await map.getByRole("button", { name: "Sat, Mar 27, 02:00: 2 fires" }).waitFor();
    await map.getByRole("button", { name: "Sun, Mar 28, 02:00: the clocks leave this hour out" }).waitFor();
    const later = map.getByRole("button", { name: "Sun, Mar 28, 03:00: 2 fires" });
    assert.equal(await map.locator("button[data-n='2']").count(), 7);
    assert.equal(await map.getByText("2", { exact: true }).count(), 0); // a number is there on demand
    await page.getByLabel("Numbers").check();
    assert.equal(await map.getByText("2", { exact: true }).count(), 7);
    await clean(page, check, "hours");

    // By keys: one tab stop, the arrows, Enter.
    await map.locator("[data-cell='0.0']").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    const hour = page.getByRole("dialog", { name: /^Fires on Sat, Mar 27 from 02:00/ });
    await hour.getByRole("link", { name: "ann" }).waitFor();
    await hour.getByRole("link", { name: "ben" }).waitFor();
    assert.equal(await hour.getByRole("link").count(), 2);
    assert.match(page.url(), /hour=2027-03-27T02/);
    await clean(page, check, "an hour");
    await page.reload();
    await hour.getByRole("link", { name: "ann" }).waitFor();
    await page.keyboard.press("Escape");
    await later.click();
    await page
      .getByRole("dialog", { name: /^Fires on Sun, Mar 28 from 03:00/ })
      .getByRole("link", { name: "ben" })
      .click();
    await page.getByRole("heading", { name: "ben", exact: true }).waitFor();

    // The table says the same, and of the project the same again.
    await page.goto(`${server.url}/p/shop/schedules?heat=table&week=2027-03-27`);
    const rows = page.locator(".heat-table tbody tr");
    await rows.first().getByText("2 fires").waitFor();
    assert.equal(await rows.count(), 7);
    await clean(page, check, "hours as a table");
    await server.api("POST", "/projects/shop/workflows/daily/schedules/often/resume");
    await page.reload();
    await page.getByText("their hours are estimated").waitFor();
    await page.getByText("about 3,602 fires").first().waitFor();
    await page.goto(`${server.url}/schedules?heat=map&week=2026-02-30`); // no date: it begins today
    await page.getByRole("table", { name: "Planned fires by day and hour" }).waitFor();
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
    await form.getByText("At place 3: “61” is not in 0-23.").waitFor();
    await becomes(() => form.locator(".cron-mistake mark").textContent(), "61");
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
    // What is shown says which of the two means something.
    await page.goto(`${server.url}/p/shop/schedules?is=off`);
    await page.getByText("2 schedules", { exact: true }).waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    const again = page.getByRole("menuitem", { name: "Pause these" });
    await again.getByText("These are paused already.").waitFor();
    assert.equal(await again.getAttribute("aria-disabled"), "true");
    await page.getByRole("menuitem", { name: "Resume these" }).click();
    await page.getByText("2 schedules that are paused will fire again.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByText("2 schedules changed.").waitFor();

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
    const page = await ready(server, visit, { refused: [422], permissions: ["clipboard-read", "clipboard-write"] });
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
    await becomes(() => row.locator(".c-next").textContent(), /^–$/);

    // Its page says what fires it, and gives the call away as a shell can make it: that starts an instance.
    await row.getByRole("link", { name: "released" }).click();
    await page.getByText("It fires when a signed call comes.").waitFor();
    await page.getByText("It fires by calls of").waitFor();
    assert.equal(await page.getByText(/never fires again/).count(), 0);
    assert.equal(await page.getByText("If no master was there when it was due").count(), 0);
    await clean(page, check, "a schedule that calls fire");
    await page.getByRole("button", { name: "Copy a call for a shell, with curl" }).click();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await becomes(clipboard, /^# SECRET is the value of the secret ci\n/);
    const lines = await clipboard();
    const called = JSON.parse(execFileSync("sh", ["-c", lines], { env: { ...process.env, SECRET: "spoken by nobody" }, encoding: "utf8" }));
    assert.equal(called.state, "fired");
    await finished(server, called.instance_id);

    await page.goto(`${server.url}/p/shop/w/daily/s/released?do=edit`);
    const edit = page.getByRole("dialog");
    await edit.getByText(`POST /api/v1/hooks/${made.id}`).waitFor();
    await edit.getByRole("radio", { name: "Wait for its end" }).check();
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.waitFor({ state: "hidden" });
    const kept = await server.api("GET", "/projects/shop/workflows/daily/schedules/released");
    assert.deepEqual([kept.webhook, kept.overlap], [made.webhook, "wait"]);
  },

  "25e: an hour that the clocks repeat: each of its fires says which it is by the reader's clock": async ({ server, visit, check }) => {
    const page = await ready(server, visit); // the reader is in Berlin
    await put(server, "half-past", { cron: "30 * * * *", timezone: "America/New_York", start: "2027-11-07 00:00" });
    await page.goto(`${server.url}/p/shop/w/daily/s/half-past?do=edit`);
    const form = page.getByRole("dialog");
    const fires = form.locator(".next-fires li");
    const first = fires.filter({ hasText: "2027-11-07 01:30 -04:00" });
    await first.getByText("06:30 +01:00 by your clock").waitFor();
    const again = fires.filter({ hasText: "2027-11-07 01:30 -05:00" });
    await again.getByText("07:30 +01:00 by your clock").waitFor();
    await again.getByText("the clock shows this time twice").waitFor();
    await clean(page, check, "a repeated hour");
    // Where both clocks agree there is nothing to add.
    await form.getByRole("combobox", { name: "Timezone" }).fill("Europe/Berlin");
    await page.getByRole("option", { name: "Europe/Berlin", exact: true }).click();
    await fires.first().filter({ hasText: "2027-11-07 00:30 +01:00" }).waitFor();
    assert.equal(await form.getByText("by your clock").count(), 0);
  },

  "25f: instances that take longer than the time between two fires: the form and the page say what comes of it": async ({
    server,
    visit,
    check,
  }) => {
    server.apply("shop", "name: slow\ntasks:\n  - {name: nap, type: shell, script: sleep 2}\n");
    const page = await ready(server, visit);
    const { instance_id: id } = await server.api("POST", "/projects/shop/workflows/slow/start", {});
    await finished(server, id);
    // It is about moments that are far off: nothing may start while it is looked at.
    const rules = { cron: "* * * * * *", start: "2099-01-01 00:00", overlap: "skip" };
    await server.api("PUT", "/projects/shop/workflows/slow/schedules/hasty", rules);
    await page.goto(`${server.url}/p/shop/w/slow/s/hasty`);
    const warning = page.locator(".meeting");
    await warning.getByText(/^Two of the next fires are 1\.0 s apart, and its last success took 2/).waitFor();
    await warning.getByText(/will start nothing\.$/).waitFor();
    await clean(page, check, "fires that meet");
    await page.getByRole("button", { name: "Change" }).click();
    const form = page.getByRole("dialog");
    await form
      .locator(".meeting")
      .getByText(/will start nothing/)
      .waitFor();
    await form.getByRole("radio", { name: "Stop it and start" }).check();
    await form
      .locator(".meeting")
      .getByText(/few will come to their end/)
      .waitFor();
    // Minutes leave it room.
    await form.getByRole("textbox", { name: "Cron" }).fill("* * * * *");
    await form.locator(".meeting").waitFor({ state: "detached" });
  },

  "25g: words and cron are two views of one schedule: each follows the other, and what has no words stays as it was typed": async ({
    server,
    visit,
    check,
  }) => {
    const page = await ready(server, visit);
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog");
    await pick(page, form, "Workflow", "daily");
    await form.getByRole("textbox", { name: "Name" }).fill("both");
    const cron = form.getByRole("textbox", { name: "Cron" });
    const kind = form.getByRole("combobox", { name: "Fires" });
    assert.equal(await cron.inputValue(), "30 2 * * *");
    await pick(page, form, "Fires", "On days of the week");
    await form.getByRole("button", { name: "Tue" }).click();
    await form.locator("input[type=time]").fill("18:05");
    await becomes(() => cron.inputValue(), "5 18 * * MON,WED,THU,FRI");
    // Pasted, it becomes words; what is typed on stays where it is typed.
    await cron.click();
    await cron.fill("0 6 1 * *");
    await becomes(() => kind.inputValue(), "On a day of the month");
    assert.equal(await form.locator("input[type=time]").inputValue(), "06:00");
    await cron.fill("*/20 8-18 * * MON-FRI");
    await becomes(() => kind.inputValue(), "By a cron expression");
    await form
      .getByText(/Monday to Friday/)
      .first()
      .waitFor(); // the server's words
    await clean(page, check, "an expression without words");
    await cron.fill("");
    await cron.pressSequentially("15 7 * * *");
    await becomes(() => kind.inputValue(), "Daily at a time");
    assert.equal(await cron.inputValue(), "15 7 * * *");
    await form.getByText("at 07:15 every day").waitFor();
    await form.getByRole("button", { name: "Create" }).click();
    await form.waitFor({ state: "hidden" });
    assert.equal((await server.api("GET", "/projects/shop/workflows/daily/schedules/both")).cron, "15 7 * * *");
  },

  "26: the master is down over fires; the ledger shows them missed, and why; one is run from the calendar, then the others": async ({
    server,
    visit,
    check,
  }) => {
    await ready(server, visit).then((first) => first.close()); // what loses its server is another journey
    // The same moments for three of which each has a policy of its own.
    const policies = { watch: "none", newest: "latest", each: "all" };
    for (const [name, policy] of Object.entries(policies))
      await put(server, name, { cron: "*/2 * * * * *", misfire: { policy, grace: "1s" } });
    const ledgerOf = (name) => `/projects/shop/workflows/daily/schedules/${name}`;
    const rows = async (state, name = "watch") => (await server.api("GET", `${ledgerOf(name)}/fires?state=${state}&limit=200`)).items;
    const of = ledgerOf("watch");
    const until = async (what, done) => {
      for (let i = 0; i < 300; i++) {
        const got = await done();
        if (got) return got;
        await new Promise((r) => setTimeout(r, 100));
      }
      throw new Error(`${what} did not come`);
    };
    await until("a fire", async () => (await rows("fired")).length > 0);
    await server.kill();
    await new Promise((r) => setTimeout(r, 7000)); // it is down over three of its moments
    const back = Date.now();
    await server.restart();
    await until("what was missed", async () => (await rows("missed")).length >= 3);
    for (const name of Object.keys(policies)) await server.api("POST", `${ledgerOf(name)}/pause`, { reason: "look what came of it" });
    const lost = await rows("missed");
    const missed = lost.length;
    // Of the moments of the outage, which "none" has let go, "all" has run each, and "latest" one at most: a newer one may have
    // come while the master began.
    const away = lost.map((f) => f.at).filter((at) => Date.parse(at) < back - 1000);
    assert.ok(away.length >= 3, `only ${away.length} moments were missed`);
    const among = async (state, name) => (await rows(state, name)).filter((f) => away.includes(f.at));
    const caught = (await among("fired", "each")).map((f) => [f.at, f.late_ms > 1000, f.instance_id !== undefined]);
    assert.deepEqual(caught.toSorted(), away.map((at) => [at, true, true]).toSorted());
    const passed = await among("missed", "newest");
    assert.ok(passed.every((f) => f.reason === "misfire_latest"));
    const newest = (await among("fired", "newest")).map((f) => f.at);
    assert.deepEqual(newest, away.toSorted().slice(passed.length));
    assert.ok(newest.length <= 1, `${newest.length} fires of the outage ran by the policy latest`);

    const { page } = await visit();
    await page.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: server.password } });
    // Late by seconds, and each with its instance.
    for (const [name, words, count] of [
      ["each", /fired\d+(\.\d)? s\d/, away.length],
      ["newest", "a newer late fire ran", passed.length],
    ]) {
      await page.goto(`${server.url}/p/shop/w/daily/s/${name}`);
      await page.locator(".calendar-day[data-worst]").first().click();
      const lines = page.getByRole("dialog").getByRole("row").filter({ hasText: words });
      await lines.first().waitFor();
      assert.ok((await lines.count()) >= count, `${name} says ${words} of ${await lines.count()} fires, want ${count}`);
    }
    await page.goto(`${server.url}/p/shop/w/daily/s/watch`);
    await page.getByText("It does not fire: admin has paused it (look what came of it).").waitFor();
    // No rule says what was due before the pause; journey 26b has a proof that holds.
    await page.getByText("It is not proved").waitFor();
    await clean(page, check, "a schedule that missed fires");
    const today = page.locator(".calendar-day[data-worst=missed]");
    await today.first().click();
    const drawer = page.getByRole("dialog").filter({ has: page.locator(".fires") });
    const line = drawer.getByRole("row").filter({ hasText: "late fires are let go" }).first();
    await line.getByRole("button", { name: /^Run the one of/ }).click();
    const ask = page.getByRole("dialog", { name: "Run this one" });
    await ask.getByText("missed: no master was there; late fires are let go").waitFor();
    await clean(page, check, "run one");
    await ask.getByRole("button", { name: "Run 1 instance" }).click();
    await page.getByText("1 instance started.").waitFor();
    await line.getByRole("link").waitFor();
    const made = (await rows("missed")).filter((f) => f.instance_id);
    assert.equal(made.length, 1);
    await finished(server, made[0].instance_id);
    const instance = await server.api("GET", `/instances/${made[0].instance_id}`);
    assert.equal(instance.schedule_time, made[0].at);

    // All others of the day at once: the list says which, and what runs already is not among them.
    await drawer.getByRole("button", { name: "Run what was missed" }).click();
    const all = page.getByRole("dialog", { name: "Run what was missed" });
    await all.getByRole("button", { name: `Run ${missed - 1} instances` }).waitFor();
    await becomes(() => all.locator(".run-list li").count(), missed - 1);
    await all.getByRole("button", { name: `Run ${missed - 1} instances` }).click();
    await page.getByText(`${missed - 1} instances started.`).waitFor();
    await until("every instance", async () => (await rows("missed")).every((f) => f.instance_id));
    const { verdict, planned, outcomes, open } = await server.api("GET", `${of}/proof`);
    const sum = Object.values(outcomes).reduce((a, b) => a + b, 0);
    assert.deepEqual([verdict, sum, outcomes.missed, open], ["unproven", planned, missed, 0]);
    await page.keyboard.press("Escape");
    await page.getByText("It is not proved").waitFor();
    await page.getByRole("button", { name: "Run what was missed" }).click();
    await page.getByText("Nothing is left to run.").waitFor();
    await clean(page, check, "nothing left");
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
    await becomes(() => today.textContent(), /\d+ fired/);
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
