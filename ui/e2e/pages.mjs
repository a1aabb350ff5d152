// Every page of the console, with something to see on each: journeys/every.mjs holds them to what must hold everywhere.
import { readFileSync } from "node:fs";
import { finished, long, runFailing } from "./steps.mjs";

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
    message: Release the new prices to all shops?
    form: {percent: {type: integer, min: 1, max: 100, description: How many of them}}
`;

/** furnish fills a server, and gives the addresses of its pages by their names. */
export async function furnish(server) {
  const id = await runFailing(server);
  for (const text of [long, stuck, upstream, upstream.replace("noop", "wait, for: 1s"), downstream, release]) server.apply("etl", text);
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
  await put("/projects/etl/params/region", { value: "eu-central", description: "Where the data lives" });
  await put("/projects/etl/secrets/dwh_password", { value: "swordfish", description: "Of the user etl" });
  await put("/projects/etl/environments/prod", { variables: { LANG: "C", REGION: "eu" }, description: "" });
  await put("/projects/etl/task-groups/dwh", { size: 4, rate: { tasks: 20, per: "1m" }, description: "The warehouse" });
  await put("/projects/etl/calendars/holidays", { days: ["12-25", "12-26", "sunday", "2026-05-01"] });
  await server.api("POST", "/users", { name: "vera", password: "given by the admin" });
  await put("/projects/etl/members/vera", { role: "viewer" });
  await finished(server, green);
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
    backfills: "/p/etl/backfills",
    "backfills of a workflow": "/p/etl/w/load?tab=backfills",
    timers: "/p/etl/timers",
    lineage: "/lineage?at=etl%2Fload",
    "lineage, list": "/lineage?as=list",
    alerts: "/alerts",
    resources: "/resources",
    "resources, task groups": "/resources?kind=task-groups&open=etl%2Fdwh",
    "resources, environments": "/resources?kind=environments",
    "resources, secrets": "/resources?kind=secrets",
    listeners: "/p/etl/listeners",
    "listeners, form": "/p/etl/listeners?edit=ops",
    "no listeners": "/p/examples/listeners",
    parameters: "/p/etl/settings",
    secrets: "/p/etl/settings?tab=secrets",
    environments: "/p/etl/settings?tab=environments",
    "task groups": "/p/etl/settings?tab=groups",
    "task groups, form": "/p/etl/settings?tab=groups&edit=dwh",
    calendars: "/p/etl/settings?tab=calendars",
    slots: "/cluster/slots",
    workers: "/cluster/workers",
    queues: "/cluster/queues",
    "timers of the cluster": "/cluster/timers",
    failovers: "/cluster/failovers",
    supervisor: "/cluster/supervisor",
    config: "/cluster/config",
    users: "/admin",
    audit: "/admin?tab=audit",
    "shared secrets": "/admin?tab=secrets",
    about: "/admin?tab=about",
    account: "/profile",
    sessions: "/profile?tab=sessions",
    tokens: "/profile?tab=tokens",
    preferences: "/profile?tab=preferences",
    missing: "/nowhere",
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
