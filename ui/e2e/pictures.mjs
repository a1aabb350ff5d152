// All pictures of docs/pictures, of the real console: those of docs and of the guides.
//   node e2e/pictures.mjs [name...]
import { spawnSync } from "node:child_process";
import { launch, open } from "./browser.mjs";
import { startServer } from "./server.mjs";
import { becomes, finished, signInByLink } from "./steps.mjs";

const out = new URL("../../docs/pictures/", import.meta.url).pathname;
const wanted = process.argv.slice(2);
const chosen = (name) => wanted.length === 0 || wanted.includes(name);
const wide = { width: 1280, height: 720 };
const high = { width: 1280, height: 800 };
const phone = { width: 390, height: 780 };

/** nightly fails now and then in one task, and takes its time in another. */
const nightly = `name: nightly orders
params:
  n: {type: integer, default: "0"}
tasks:
  - {name: extract orders, type: shell, script: sleep 0.2}
  - {name: extract users, type: shell, script: 'sleep 0.1'}
  - name: load users
    type: shell
    needs: [extract users]
    script: |
      if [ $((n % 6)) -eq 4 ]; then echo "ERROR 1146: table dwh.dim_user does not exist"; exit 1; fi
  - name: load orders
    type: shell
    needs: [extract orders]
    retry: {times: 1, delay: 0s}
    script: 'sleep 0.$((n % 4)); [ $((n % 9)) -ne 7 ]'
  - {name: check sums, type: shell, needs: [load users, load orders], script: 'true'}
  - {name: aggregate, type: shell, needs: [check sums], script: sleep 0.1}
  - {name: report, type: shell, needs: [aggregate], script: 'true'}
  - {name: tell the shops, type: noop, needs: [report]}
`;

const release = `name: release
tasks:
  - name: ask
    type: approval
    message: Release the new price list to all shops?
    expires: 24h
    form:
      share: {type: integer, min: 1, max: 100, description: Percent of the shops at first}
  - {name: publish, type: noop, needs: [ask]}
`;

/** around are workflows that wait for the nightly one and start another, so that there is a lineage. */
const around = [
  "name: prices\ntasks:\n  - {name: fetch, type: noop}\n",
  `name: daily report
tasks:
  - {name: wait for orders, type: dependent, check: {all: [{workflow: nightly orders, date: today}]}}
  - {name: wait for prices, type: dependent, check: {all: [{workflow: prices, date: today}]}}
  - {name: mail, type: noop, needs: [wait for orders, wait for prices]}
`,
  `name: month end
tasks:
  - {name: wait, type: dependent, check: {all: [{workflow: daily report, date: today}]}}
  - {name: prices again, type: sub_workflow, workflow: prices, needs: [wait]}
`,
];
/** rebuild is done with the first six dates of its backfill, and goes on with the others for ten minutes. */
const rebuild = `name: rebuild
params:
  day: "\${system.biz.date}"
tasks:
  - {name: load, type: shell, script: 'case "$day" in 20260228|2026030[1-5]) ;; *) sleep 600;; esac'}
`;
const parts = Array.from({ length: 11 }, (_, n) => `  - {name: crunch ${n + 1}, type: shell, script: sleep 600}\n`);
const busy = `name: busy\ntasks:\n${parts.join("")}`;

async function shoot(page, name) {
  await page.waitForFunction(() => document.querySelectorAll(".skeleton, .code-waiting").length === 0);
  await page.evaluate(() => document.fonts.ready);
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().map((a) => a.effect?.getTiming().iterations !== Infinity && a.finished)),
  );
  await page.screenshot({ path: `${out}${name}.png` });
  console.log(name);
}

/** drawn says that the machine has a font for a language: without one its picture would be of empty boxes. */
const drawn = (language) => language === "en" || /\S/.test(spawnSync("fc-list", [":lang=zh"], { encoding: "utf8" }).stdout ?? "");

/** take makes a picture that is asked for: of an address, once what it is about is there. */
async function take({ page, url }, [name, path, ready, { size = wide, language = "en", theme = "light" } = {}]) {
  if (!chosen(name)) return;
  if (!drawn(language)) {
    console.log(`${name} is left out: there is no font for ${language} (apt-get install fonts-noto-cjk)`);
    return;
  }
  await page.setViewportSize(size);
  await page.evaluate(
    ([l, t]) => {
      localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
      localStorage.setItem("porpoise.theme", t);
    },
    [language, theme],
  );
  await page.goto(url + path);
  await ready(page);
  await shoot(page, name);
}

const there = (selector, hasText) => (page) => page.locator(selector, { hasText }).first().waitFor();

/** shop fills a server with a shop's nights, and gives the ids of what has run. */
async function shop(server) {
  for (const text of [nightly, release, ...around, rebuild]) server.apply("shop", text);
  const start = async (workflow, params, project = "shop") =>
    (await server.api("POST", `/projects/${project}/workflows/${encodeURIComponent(workflow)}/start`, { params })).instance_id;
  const ids = [];
  for (let n = 0; n < 24; n++) {
    const id = await start("nightly orders", { n });
    await finished(server, id);
    ids.push(id);
    if (n === 13) server.apply("shop", nightly.replace("sleep 0.2", "sleep 0.3"));
  }
  const [sales, genome] = [await start("nightly sales", {}, "examples"), await start("epigenomics", {}, "examples")];
  for (const id of [sales, genome]) await finished(server, id);
  for (const workflow of ["release", "prices"]) await start(workflow, {});
  const put = (workflow, name, cron, more) =>
    server.api("PUT", `/projects/shop/workflows/${encodeURIComponent(workflow)}/schedules/${name}`, {
      cron,
      timezone: "Europe/Berlin",
      ...more,
    });
  await server.api("PUT", "/projects/shop/calendars/holidays", { days: ["12-25", "12-26", "01-01", "sunday"] });
  await put("nightly orders", "nightly", "30 2 * * *", { calendar: { skip: ["holidays"] } });
  for (const [name, cron] of Object.entries({
    hourly: "0 * * * *",
    office: "*/15 8-18 * * MON-FRI",
    early: "15 2 * * *",
    evening: "0 20 * * *",
  }))
    await put("prices", name, cron);
  await put("daily report", "mornings", "0 6 * * MON-FRI");
  return { failed: ids[22], sales, genome };
}

/** month is the next one, of which all fires are foretold. */
function month() {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 7);
}

/** filling starts a backfill of a fortnight, and waits until six days are done and two run. */
async function filling(server) {
  const path = "/projects/shop/workflows/rebuild/backfills";
  const dates = { from: "2026-03-01", to: "2026-03-14", parallel: 2 };
  const { token } = await server.api("POST", `${path}?preview=true`, dates);
  const { backfill_id: id } = await server.api("POST", path, { ...dates, preview: token });
  await becomes(async () => (await server.api("GET", `${path}/${id}`)).progress.done, 6);
  return id;
}

async function ofOneNode(browser) {
  const server = await startServer();
  const { page } = await open(browser, server.url);
  await signInByLink(server, page);
  const { failed, sales, genome } = await shop(server);
  const backfill = chosen("backfill") ? await filling(server) : "";
  const at = { page, url: server.url };
  const of = "/p/shop/w/nightly%20orders";
  const failure = `/p/examples/r/${sales}?task=load+warehouse&panel=log`;
  const today = there("h2", "Failed in the last 24 hours");
  for (const picture of [
    ["grid", `${of}?tab=grid`, there("[role=grid] [role=gridcell].fill-solid")],
    ["today", "/", today],
    ["approvals", "/approvals", (p) => p.getByText("Release the new price list").first().click()],
    ["schedule", "/p/shop/schedules?new=1", there("[role=dialog] form")],
    ["calendar", `${of}/s/nightly?span=month&month=${month()}`, there(".calendar-day[data-worst]")],
    ["heat", "/schedules?heat=map", there(".heat-cell[data-n]")],
    ["backfill", `/p/shop/w/rebuild?tab=backfills&id=${backfill}`, there("[role=dialog] tbody tr")],
    ["lineage", "/lineage?at=shop%2Fdaily+report", there(".react-flow__edge")],
    ["editor", "/p/examples/w/nightly%20sales/edit?view=split&task=load+warehouse", there(".react-flow__edge"), { size: high }],
    ["instance", failure, there(".log-line"), { size: high }],
    ["graph", `/p/examples/r/${genome}`, there(".react-flow__edge"), { size: high }],
    ["dark", failure, there(".log-line"), { size: high, theme: "dark" }],
    ["chinese", "/", there(".today h2, #content h2"), { language: "zh-CN" }],
    ["phone", `/p/shop/r/${failed}`, there("button", "Recover"), { size: phone }],
  ])
    await take(at, picture);
  await server.stop();
}

async function ofACluster(browser) {
  const server = await startServer({ flags: ["--demo"], within: 60_000 });
  const { page } = await open(browser, server.url);
  await signInByLink(server, page);
  server.apply("shop", busy);
  await server.api("POST", "/projects/shop/workflows/busy/start", {});
  const at = { page, url: server.url };
  await take(at, [
    "cluster",
    "/cluster/slots",
    async (p) => {
      for (const many of ["3 masters", "3 workers"]) await p.getByText(many).waitFor();
    },
  ]);
  await take(at, ["workers", "/cluster/workers?w=worker-1", there(".worker-count", /^[1-9]/)]);
  await server.stop();
}

const cluster = ["cluster", "workers"];
const browser = await launch();
if (wanted.length === 0 || wanted.some((name) => !cluster.includes(name))) await ofOneNode(browser);
if (cluster.some(chosen)) await ofACluster(browser);
await browser.close();
