// Every page of the console, with something to see on each: journeys/every.mjs holds them to what must hold everywhere.
import { readFileSync } from "node:fs";
import { long as endless, finished, runFailing } from "./steps.mjs";

const stuck = "name: stuck\ntasks:\n  - {name: no worker, type: noop, worker_group: nowhere}\n";
const upstream = "name: load\nparams: {day: '20261120'}\ntasks:\n  - {name: a, type: noop}\n";
const downstream = `name: report
tasks:
  - {name: wait for load, type: dependent, check: {all: [{workflow: load, date: today}]}}
  - {name: mail, type: sub_workflow, workflow: load, needs: [wait for load]}
`;
const release = `name: release
tasks:
  - name: ask
    type: approval
    message: Release prices?
    form: {percent: {type: integer, min: 1, max: 100, description: Percent}}
`;

/** The longest names there may be, of Latin letters without a place to break and of Chinese ones, and a line of 4 KiB. */
const wide = "the_longest_name_that_somebody_may_give_to_a_thing_".padEnd(128, "and_on_");
const chinese = "每日订单与库存数据汇总核对及异常上报".repeat(8).slice(0, 128);
const tooLong = `name: ${chinese}
params: {${wide}: "${"1234567890".repeat(40)}"}
tasks:
  - name: ${wide}
    type: shell
    retry: {times: 1, delay: 0s}
    script: printf 'E%04095d\\n' 7 >&2; exit 1
  - {name: ${chinese}, type: noop, needs: [${wide}]}
`;
const tooLongWait = `name: ${wide}\ntasks:\n  - {name: ${wide}, type: noop, worker_group: ${wide}}\n`;

/** long fills a server with what is as long as it may be, and gives the addresses of pages of it. */
async function longest(server) {
  for (const text of [tooLong, tooLongWait]) server.apply(wide, text);
  const of = `/projects/${wide}`;
  const workflow = `${of}/workflows/${encodeURIComponent(chinese)}`;
  const put = (path, body) => server.api("PUT", path, body);
  await put(`${workflow}/schedules/${wide}`, { cron: "0 0 * * *", timezone: "America/Argentina/ComodRivadavia" });
  await put(`${of}/listeners/${wide}`, { url: `https://example.org/${wide}`, filter: { events: ["ended"], workflows: [chinese] } });
  await put(`${of}/params/${wide}`, { value: "1234567890".repeat(40), description: chinese });
  await put(`${of}/secrets/${wide}`, { value: "swordfish", description: chinese });
  await put(`${of}/environments/${wide}`, { variables: { [wide.toUpperCase()]: wide }, description: wide });
  await put(`${of}/task-groups/${wide}`, { size: 4, description: wide });
  await put(`${of}/calendars/${wide}`, { days: ["12-25"] });
  await server.api("POST", "/users", { name: wide, password: "given by the admin" });
  await put(`${of}/members/${wide}`, { role: "viewer" });
  await server.api("POST", `${of}/workflows/${wide}/start`, {});
  const { instance_id: id } = await server.api("POST", `${workflow}/start`, {});
  await finished(server, id);
  const at = `/p/${wide}`;
  const hub = `${at}/w/${encodeURIComponent(chinese)}`;
  const pages = {
    members: `${at}/members`,
    workflows: `${at}/workflows`,
    "delete of a workflow": `${at}/workflows?delete=${encodeURIComponent(chinese)}`,
    workflow: `${hub}?tab=overview`,
    grid: `${hub}?tab=grid`,
    "grid, a task": `${hub}?tab=grid&task=${wide}&run=${id}`,
    "instances of a workflow": `${hub}?tab=runs`,
    versions: `${hub}?tab=versions`,
    start: `${hub}?start=1`,
    editor: `${hub}/edit?task=${wide}`,
    "editor, list": `${hub}/edit?view=list`,
    instance: `${at}/r/${id}`,
    "instance, log": `${at}/r/${id}?task=${wide}&panel=log`,
    "instance, chart": `${at}/r/${id}?tab=gantt`,
    "instance, tasks": `${at}/r/${id}?tab=tasks`,
    "instance, parameters": `${at}/r/${id}?tab=params`,
    "instance, events": `${at}/r/${id}?tab=events`,
    schedules: `${at}/schedules`,
    schedule: `${hub}/s/${wide}`,
    "schedule, form": `${hub}/s/${wide}?do=edit`,
    lineage: `/lineage?project=${wide}`,
    "task groups": `/resources?kind=task-groups&open=${wide}%2F${wide}`,
    listeners: `${at}/listeners`,
    parameters: `${at}/settings`,
    secrets: `${at}/settings?tab=secrets`,
    environments: `${at}/settings?tab=environments`,
    calendars: `${at}/settings?tab=calendars`,
    "a user": `/admin?open=${wide}`,
  };
  return Object.fromEntries(Object.entries(pages).map(([name, path]) => [`long: ${name}`, path]));
}

const backfilled = { from: "2026-03-01", to: "2026-03-03", parallel: 1 };

/** furnish fills a server, and gives the addresses of its pages by their names. */
export async function furnish(server) {
  const id = await runFailing(server);
  for (const text of [endless, stuck, upstream, upstream.replace("noop", "wait, for: 1s"), downstream, release]) server.apply("etl", text);
  const start = async (workflow, project = "etl") =>
    (await server.api("POST", `/projects/${project}/workflows/${workflow}/start`, {})).instance_id;
  const green = await start("etl", "examples");
  for (const workflow of ["stuck", "release"]) await start(workflow);
  const running = await start("long");
  const put = (path, body) => server.api("PUT", path, body);
  for (const [name, cron] of Object.entries({ nightly: "30 2 * * *", hourly: "0 * * * *" }))
    await put(`/projects/etl/workflows/load/schedules/${name}`, { cron, timezone: "Europe/Berlin" });
  await put("/projects/etl/listeners/ops", {
    url: "https://ops.example.org/hooks/porpoise",
    filter: { events: ["ended"] },
    secret: "swordfish",
  });
  await put("/projects/etl/params/region", { value: "eu-central", description: "Home region" });
  await put("/projects/etl/secrets/dwh_password", { value: "swordfish", description: "user etl" });
  await put("/projects/etl/environments/prod", { variables: { LANG: "C", REGION: "eu" }, description: "" });
  await put("/projects/etl/task-groups/dwh", { size: 4, rate: { tasks: 20, per: "1m" }, description: "The warehouse" });
  await put("/projects/etl/calendars/holidays", { days: ["12-25", "12-26", "sunday", "2026-05-01"] });
  await server.api("POST", "/users", { name: "vera", password: "given by the admin" });
  await put("/projects/etl/members/vera", { role: "viewer" });
  await finished(server, green);
  const plan = await server.api("POST", "/projects/etl/workflows/long/backfills?preview=true", backfilled);
  await server.api("POST", "/projects/etl/workflows/long/backfills", { ...backfilled, preview: plan.token });
  const long = await longest(server);
  const failed = `/p/etl/r/${id}`;
  const grid = "/p/etl/w/nightly%20load?tab=grid";
  return {
    today: "/",
    projects: "/projects",
    members: "/p/etl/members",
    workflows: "/p/etl/workflows",
    workflow: "/p/examples/w/etl?tab=overview",
    grid,
    "grid, a task": `${grid}&task=load+dim&run=${id}`,
    "grid, a history": `${grid}&task=load+dim`,
    "instances of a workflow": "/p/examples/w/etl?tab=runs",
    versions: "/p/etl/w/load?tab=versions",
    differences: "/p/etl/w/load?tab=versions&from=1&to=2",
    definition: "/p/examples/w/etl?tab=definition",
    start: "/p/examples/w/etl?start=1",
    editor: "/p/etl/w/nightly%20load/edit",
    "editor, text": "/p/etl/w/nightly%20load/edit?view=text",
    "editor, list": "/p/etl/w/nightly%20load/edit?view=list&task=load+dim",
    instances: "/runs",
    "no instances": "/runs?st=quarantined&span=1h",
    instance: failed,
    "instance, log": `${failed}?task=load+dim&panel=log`,
    "instance, chart": `${failed}?tab=gantt`,
    "instance, tasks": `${failed}?tab=tasks`,
    "instance, parameters": `/p/examples/r/${green}?tab=params`,
    "instance, events": `${failed}?tab=events`,
    "instance, running": `/p/etl/r/${running}`,
    tasks: "/tasks",
    "tasks, waiting": "/tasks?is=waiting",
    approvals: "/approvals",
    "all schedules": "/schedules",
    "schedules by hour": "/schedules?heat=map",
    schedules: "/p/etl/schedules",
    schedule: "/p/etl/w/load/s/nightly",
    "schedule, form": "/p/etl/w/load/s/nightly?do=edit",
    "schedule, pause": "/p/etl/w/load/s/nightly?do=pause",
    "schedule, trigger": "/p/etl/w/load/s/nightly?do=trigger",
    "schedule, delete": "/p/etl/w/load/s/nightly?do=delete",
    "schedules, pause of all": "/p/etl/schedules?all=pause",
    backfills: "/p/etl/backfills",
    "backfills of a workflow": "/p/etl/w/long?tab=backfills",
    "backfill, form": "/p/etl/w/long?tab=backfills&new=1",
    timers: "/p/etl/timers",
    "timers, form": "/p/etl/timers?new=1",
    lineage: "/lineage?at=etl%2Fload",
    "lineage, list": "/lineage?as=list",
    alerts: "/alerts",
    resources: "/resources",
    "resources, task groups": "/resources?kind=task-groups&open=etl%2Fdwh",
    "resources, environments": "/resources?kind=environments",
    "resources, secrets": "/resources?kind=secrets",
    listeners: "/p/etl/listeners",
    "listeners, form": "/p/etl/listeners?edit=ops",
    "listeners, delete": "/p/etl/listeners?delete=ops",
    parameters: "/p/etl/settings",
    "parameters, delete": "/p/etl/settings?delete=region",
    secrets: "/p/etl/settings?tab=secrets",
    "secrets, form": "/p/etl/settings?tab=secrets&edit=dwh_password",
    environments: "/p/etl/settings?tab=environments",
    "environments, form": "/p/etl/settings?tab=environments&edit=prod",
    "environments, delete": "/p/etl/settings?tab=environments&delete=prod",
    "task groups": "/p/etl/settings?tab=groups",
    "task groups, form": "/p/etl/settings?tab=groups&edit=dwh",
    calendars: "/p/etl/settings?tab=calendars",
    "calendars, form": "/p/etl/settings?tab=calendars&edit=holidays",
    slots: "/cluster/slots",
    workers: "/cluster/workers",
    queues: "/cluster/queues",
    "timers of the cluster": "/cluster/timers",
    failovers: "/cluster/failovers",
    supervisor: "/cluster/supervisor",
    config: "/cluster/config",
    users: "/admin",
    "users, form": "/admin?new=1",
    "users, password": "/admin?edit=vera",
    "users, delete": "/admin?delete=vera",
    audit: "/admin?tab=audit",
    "shared secrets": "/admin?tab=secrets",
    "shared secrets, form": "/admin?tab=secrets&new=1",
    about: "/admin?tab=about",
    account: "/profile",
    sessions: "/profile?tab=sessions",
    tokens: "/profile?tab=tokens",
    preferences: "/profile?tab=preferences",
    missing: "/nowhere",
    ...long,
  };
}

/** strip makes a project in which there is one workflow that has never run, and gives the pages on which there is nothing to see. */
export function strip(server) {
  server.apply("bare", upstream);
  const settings = "/p/bare/settings";
  return {
    instances: "/runs?project=bare",
    tasks: "/tasks?project=bare",
    "tasks, waiting": "/tasks?is=waiting&project=bare",
    approvals: "/approvals",
    "all schedules": "/schedules",
    alerts: "/alerts",
    "resources, environments": "/resources?kind=environments",
    "resources, secrets": "/resources?kind=secrets",
    "grid, never run": "/p/bare/w/load?tab=grid",
    "instances of a workflow": "/p/bare/w/load?tab=runs",
    schedules: "/p/bare/schedules",
    backfills: "/p/bare/backfills",
    "backfills of a workflow": "/p/bare/w/load?tab=backfills",
    timers: "/p/bare/timers",
    listeners: "/p/bare/listeners",
    parameters: settings,
    secrets: `${settings}?tab=secrets`,
    environments: `${settings}?tab=environments`,
    "task groups": `${settings}?tab=groups`,
    calendars: `${settings}?tab=calendars`,
    failovers: "/cluster/failovers",
    supervisor: "/cluster/supervisor",
    "timers of the cluster": "/cluster/timers",
    "audit of nobody": "/admin?tab=audit&actor=nobody",
    "shared secrets": "/admin?tab=secrets",
    "shared environments": "/admin?tab=environments",
    lineage: "/lineage?project=bare",
  };
}

/** pictured are the pages whose pictures are kept of each build, in both themes and languages. */
export const pictured = [
  "today",
  "projects",
  "workflows",
  "grid",
  "editor",
  "instances",
  "instance, log",
  "tasks, waiting",
  "schedule",
  "lineage",
  "workers",
  "alerts",
];

/** routes are the patterns of the router's addresses, but those that only lead to another. */
export function routes() {
  const source = readFileSync(new URL("../src/router.tsx", import.meta.url), "utf8");
  return source
    .split("createRoute({")
    .slice(1)
    .filter((route) => route.includes("component:"))
    .map((route) => /path: "([^"]+)"/.exec(route)[1]);
}
