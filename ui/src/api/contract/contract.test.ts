import { readdirSync, readFileSync } from "node:fs";
import { QueryClient } from "@tanstack/react-query";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { cellsOf, type SlotView } from "../../domain/cluster/slots";
import { rootCauses } from "../../domain/explain";
import { gantt } from "../../domain/gantt";
import { cellState, type Grid } from "../../domain/grid/grid";
import { fullest } from "../../domain/heat";
import { nodesOf } from "../../domain/lineage";
import { said } from "../../domain/problem";
import { may } from "../../domain/rights";
import { scheduleSays } from "../../domain/schedule/why";
import { isKnown, lookOf } from "../../domain/states";
import type { Instance } from "../client";
import { faults, schemasOf, type Type } from "./schema";

// The contract with the server: the same answers that its own tests compare
// (apiserver/testdata/*.json) fit the generated types, and are read by what the console reads
// them with. After a change of an answer, run `go test ./apiserver -update` and `npm run api`;
// a new file needs an entry here, with its schema and its reader.

const folder = new URL("../../../../apiserver/testdata/", import.meta.url);
const golden = (name: string): unknown => JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
const files = readdirSync(folder)
  .filter((f) => f.endsWith(".json"))
  .map((f) => f.slice(0, -".json".length));
const schemas = schemasOf(readFileSync(new URL("../schema.d.ts", import.meta.url), "utf8"));

type Queries = typeof import("../queries");
type Account = typeof import("../account");
type Choices = typeof import("../choices");
type Trials = typeof import("../trial");
type Backfills = typeof import("../backfills");
type Schedules = typeof import("../schedules");
type Cluster = typeof import("../cluster");
type Commands = typeof import("../commands");
type Tasks = typeof import("../tasks");
type Lineage = typeof import("../lineage");
type Admin = typeof import("../admin");
let tasks: Tasks;
let lineage: Lineage;
let admin: Admin;
let queries: Queries;
let account: Account;
let cluster: Cluster;
let commands: Commands;
let choices: Choices;
let trials: Trials;
let abouts: typeof import("../about");

type Grids = typeof import("../grid");
let grids: Grids;
let backfills: Backfills;
let schedules: Schedules;
const once = { project: "alpha", workflow: "daily", schedule: "once" };

/** What a query's function is given; the library's type asks for more than any of them reads. */
const context = { client: new QueryClient(), signal: new AbortController().signal, pageParam: "", meta: undefined, direction: "forward" };

/** ask runs a query of the console against the golden answer. */
async function ask<T>(query: { queryFn?: unknown; queryKey?: unknown; select?: unknown }): Promise<T> {
  // Each query's function takes the same context; its own type differs by its key.
  const answered = await (query.queryFn as (c: unknown) => Promise<T>)({ ...context, queryKey: query.queryKey });
  return typeof query.select === "function" ? query.select(answered) : answered;
}

beforeAll(async () => {
  // The client takes its base from the page, and its answers from the network.
  vi.stubGlobal("document", { baseURI: "http://porpoise.test/" });
  vi.stubGlobal("fetch", async () => served());
  queries = await import("../queries");
  account = await import("../account");
  cluster = await import("../cluster");
  commands = await import("../commands");
  grids = await import("../grid");
  backfills = await import("../backfills");
  schedules = await import("../schedules");
  choices = await import("../choices");
  trials = await import("../trial");
  abouts = await import("../about");
  tasks = await import("../tasks");
  lineage = await import("../lineage");
  admin = await import("../admin");
});

let served = () => new Response(null, { status: 204 });

function serve(body: unknown, status = 200): void {
  const type = status < 400 ? "application/json" : "application/problem+json";
  served = () => new Response(JSON.stringify(body), { status, headers: { "Content-Type": type } });
}

interface Entry {
  schema: string | Type;
  read?: () => Promise<void>; // with the answer served
  unread?: string; // why the console has no reader
  status?: number;
}

const states = (list: { state: string }[]) => {
  expect(list.length).toBeGreaterThan(0);
  for (const { state } of list) {
    expect(isKnown(state), `the console has no look for the state ${state}`).toBe(true);
    expect(lookOf(state).glyph).not.toBe("question");
  }
};

const refused = async (want: number, codes: string[]) => {
  const error: unknown = await ask(queries.instanceQuery("1")).catch((e: unknown) => e);
  expect(error).toMatchObject({ status: want, requestId: "1" });
  if (typeof error === "object" && error !== null && "fields" in error) {
    expect(error.fields).toMatchObject(codes.map((code) => ({ code })));
  }
};

const entries: Record<string, Entry> = {
  project: { schema: "Project", read: async () => expect((await account.createProject("alpha", "")).name).toBe("alpha") },
  projects: {
    schema: "ListProject",
    read: async () => expect((await ask<{ role: string }[]>(queries.projectsQuery)).every((p) => may(p.role, "viewer"))).toBe(true),
  },
  overview: {
    schema: "ListProjectOverview",
    read: async () => expect(await ask(account.overviewQuery)).toMatchObject([{ name: "alpha", workflows: 1, day: { open: 1 } }]),
  },
  workflow_overview: {
    schema: "ListWorkflowOverview",
    read: async () => {
      const [w] = await ask<{ last: { state: string }[] }[]>(account.workflowOverviewQuery("alpha"));
      states(w?.last ?? []);
    },
  },
  sessions: {
    schema: "ListSession",
    read: async () => expect(await ask(account.sessionsQuery)).toMatchObject([{ current: false, address: "192.0.2.1" }]),
  },
  session: { schema: "Me", read: async () => expect(await ask(queries.sessionQuery)).toMatchObject({ name: "admin", set_up: false }) },
  members: { schema: "ListMember", read: async () => expect(await ask(account.membersQuery("alpha"))).toMatchObject([{ role: "owner" }]) },
  member: {
    schema: "Member",
    read: async () => expect(await account.putMember("alpha", "admin", "owner")).toMatchObject({ role: "owner" }),
  },
  users: { schema: "ListUser", read: async () => expect(await ask(account.usersQuery)).toMatchObject([{ name: "admin" }]) },
  token: {
    schema: "TokenAnswerBody",
    read: async () => expect(await account.createToken({ name: "ci", expires_at: "" })).toMatchObject({ secret: "pp_..." }),
  },
  workflow: {
    schema: "WorkflowText",
    read: async () => expect(await ask(queries.workflowQuery("alpha", "daily"))).toMatchObject({ name: "daily" }),
  },
  workflows: {
    schema: "ListWorkflow",
    read: async () => expect(await ask(queries.workflowsQuery("alpha"))).toMatchObject([{ name: "daily" }]),
  },
  versions: {
    schema: "ListVersion",
    read: async () => expect(await ask(queries.versionsQuery("alpha", "daily"))).toMatchObject({ items: [{ version: 1 }] }),
  },
  version: {
    schema: "VersionText",
    read: async () => expect(await ask(queries.versionQuery("alpha", "daily", 1))).toMatchObject({ version: 1 }),
  },
  layout: {
    schema: "Layout",
    read: async () => expect(await ask(queries.layoutQuery("alpha", "daily"))).toMatchObject({ tasks: { load: { x: 10, y: 20.5 } } }),
  },
  layout_none: { schema: "Layout", read: async () => expect(await ask(queries.layoutQuery("alpha", "daily"))).toEqual({ tasks: {} }) },
  graph: {
    schema: "Graph",
    read: async () => {
      const graph = await ask<{ tasks: { name: string }[] }>(queries.graphQuery("alpha", "daily", 1));
      expect(graph.tasks.map((t) => t.name)).toEqual(["extract", "load"]);
    },
  },
  instance: { schema: "Instance", read: async () => states([await commands.send({ id: "1", verb: "resume" })]) },
  instances: {
    schema: "ListInstance",
    read: async () => states((await ask<{ items: { state: string }[] }>(queries.instancesQuery({}))).items),
  },
  counts: {
    schema: "InstanceCounts",
    read: async () =>
      expect(Object.keys((await ask<{ states: Record<string, number> }>(queries.countsQuery({}))).states).every(isKnown)).toBe(true),
  },
  tasks: { schema: "ListTask", unread: "an instance's page reads them in its view" },
  view: {
    schema: "InstanceView",
    read: async () => {
      states([await ask<{ state: string }>(queries.instanceQuery("1"))]);
      states(await ask<{ state: string }[]>(queries.tasksQuery("1")));
    },
  },
  view_plain: { schema: "InstanceView", read: async () => states([await ask<{ state: string }>(queries.instanceQuery("1"))]) },
  attempts: { schema: "ListAttempt", read: async () => states(await ask<{ state: string }[]>(queries.attemptsQuery("1", "extract"))) },
  events: {
    schema: "ListEvent",
    read: async () => {
      const drawn = gantt(await ask<Parameters<typeof gantt>[0]>(queries.eventsQuery("1")), Date.parse("2026-11-21T12:00:01.000Z"));
      expect(Number.isFinite(drawn.from) && Number.isFinite(drawn.to)).toBe(true);
    },
  },
  explain: {
    schema: "Explanation",
    read: async () => {
      const causes = rootCauses(await ask<Parameters<typeof rootCauses>[0]>(queries.explainQuery("1")));
      expect(causes.length).toBeGreaterThan(0);
      expect(causes.every((c) => c.text !== "")).toBe(true);
    },
  },
  explain_task: {
    schema: "Explanation",
    read: async () =>
      expect(rootCauses(await ask<Parameters<typeof rootCauses>[0]>(queries.explainQuery("1", "load")))[0]?.task).toBe("extract"),
  },
  preview: {
    schema: "Preview",
    read: async () => expect(await ask(queries.previewQuery("1", "stop"))).toMatchObject({ result: "applied" }),
  },
  start: {
    schema: "Started",
    status: 202,
    read: async () =>
      expect(await commands.start({ project: "alpha", workflow: "daily", params: {}, key: "k" })).toMatchObject({ instance_id: "1" }),
  },
  pause: { schema: "Instance", status: 202, read: async () => states([await commands.send({ id: "1", verb: "pause" })]) },
  live_tasks: {
    schema: "ListLiveTask",
    read: async () => {
      const got = await ask<{ items: { state: string }[] }>(tasks.liveTasksQuery({ is: "running" }));
      states(got.items);
    },
  },
  live_tasks_waiting: {
    schema: "ListLiveTask",
    read: async () => expect(await ask(tasks.liveTasksQuery({ is: "waiting" }))).toMatchObject({ items: [] }),
  },
  live_tasks_unusual: {
    schema: "ListLiveTask",
    read: async () => expect(await ask(tasks.liveTasksQuery({ is: "waiting", older: "usual" }))).toMatchObject({ items: [] }),
  },
  acknowledge_none: {
    schema: "Problem",
    status: 409,
    read: async () =>
      expect(await commands.acknowledge({ id: "1", round: 1 } as Instance, "").catch((e: unknown) => said(e, (key) => key))).toBe(
        "today.notFailed",
      ),
  },
  user_tokens: {
    schema: "ListToken",
    read: async () => expect(Array.isArray(await ask(account.tokensOfQuery("admin")))).toBe(true),
  },
  user_sessions: {
    schema: "ListSession",
    read: async () => expect(Array.isArray(await ask(account.sessionsOfQuery("admin")))).toBe(true),
  },
  resources: {
    schema: "Resources",
    read: async () => {
      const { resourcesQuery } = await import("../resources");
      expect(await ask(resourcesQuery("worker-groups"))).toMatchObject({ items: [{ name: "default", tasks: 2, workers: 1 }] });
    },
  },
  listeners_all: {
    schema: "AllListeners",
    read: async () => {
      const { allListenersQuery } = await import("../listeners");
      expect(await ask(allListenersQuery)).toMatchObject({ items: [], cut: false });
    },
  },
  lineage: {
    schema: "Lineage",
    read: async () => expect(nodesOf(await ask<Parameters<typeof nodesOf>[0]>(lineage.lineageQuery(undefined)))).toEqual([]),
  },
  audit: {
    schema: "ListAuditEntry",
    read: async () =>
      expect(await ask(admin.auditQuery({ actor: "eve" }))).toMatchObject({ items: [{ actor: "eve", outcome: "refused" }] }),
  },
  about: { schema: "About", read: async () => expect(await ask(admin.aboutQuery)).toMatchObject({ masters: 1, workers: 1 }) },
  masters: { schema: "ListNodeFace", read: async () => expect(await ask(queries.mastersQuery)).toMatchObject({ items: [{ name: "m1" }] }) },
  workers: { schema: "ListNodeFace", read: async () => expect(await ask(queries.workersQuery)).toMatchObject({ items: [{ slots: 4 }] }) },
  not_found: { schema: "Problem", status: 404, read: () => refused(404, []) },
  wrong_fields: { schema: "Problem", status: 422, read: () => refused(422, ["not_in_enum", "out_of_range", "unknown_field"]) },
  draft_required: { schema: "Problem", status: 428, read: () => refused(428, ["required"]) },
  explain_codes: {
    schema: { kind: "list", of: { kind: "plain", name: "string" } },
    unread: "the words of every code are tested with the sentences",
  },
  worker: { schema: "WorkerDetail", unread: "the page of a worker comes with the page of the cluster" },
  worker_drain: { schema: "WorkerDetail", status: 202, unread: "workers drain by the command line" },
  worker_resume: { schema: "WorkerDetail", status: 202, unread: "workers drain by the command line" },
  failovers: {
    schema: "ListFailover",
    read: async () =>
      expect(await ask(cluster.failoversQuery("master"))).toMatchObject({ items: [{ kind: "master", instances: 2, lost: 1 }] }),
  },
  supervisor: {
    schema: "Supervisor",
    read: async () => expect(await ask(cluster.supervisorQuery)).toMatchObject({ master: "m1:a", fence: 1 }),
  },
  recoveries: {
    schema: "ListRecovery",
    read: async () => expect(await ask(cluster.recoveriesQuery(undefined))).toMatchObject({ items: [{ step: "killing", state: "done" }] }),
  },
  pulse: {
    schema: "Pulse",
    read: async () => {
      const pulse = await ask<{ slots: SlotView }>(cluster.pulseQuery);
      expect(cellsOf(pulse.slots).map((c) => c.owner)).toEqual(["m1", "m1", undefined, "m1"]);
    },
  },
  timer_slices: {
    schema: "TimerSlices",
    read: async () => {
      const { minutes } = await ask<{ minutes: { due: number[] }[] }>(cluster.timerSlicesQuery);
      expect(minutes.map((m) => m.due.length)).toEqual(Array(11).fill(32));
    },
  },
  running_tasks: {
    schema: "RunningTasks",
    read: async () => {
      const { items } = await ask<{ items: { state: string }[] }>(cluster.runningTasksQuery);
      states(items);
    },
  },
  slot_work: { schema: "SlotWork", read: async () => expect(await ask(cluster.slotWorkQuery(3))).toMatchObject({ slot: 3, hidden: 0 }) },
  busy_task_groups: { schema: "ListBusyTaskGroup", read: async () => expect(await ask(cluster.busyTaskGroupsQuery)).toEqual([]) },
  settings: {
    schema: "Settings",
    read: async () =>
      expect(await ask(cluster.settingsQuery)).toMatchObject({ settings: [{ source: "env" }, { secret: true, value: "" }] }),
  },
  rebalance: { schema: "RebalanceAnswerBody", status: 202, read: async () => expect(await cluster.askRebalance(3)).toEqual({ epoch: 3 }) },
  rebalance_late: {
    schema: "Problem",
    status: 409,
    read: async () =>
      expect(await cluster.askRebalance(2).catch((e: unknown) => e)).toMatchObject({
        status: 409,
        fields: [{ field: "epoch", code: "moved_on" }],
      }),
  },
  hold: { schema: "Hold", status: 202, unread: "clusters are held by the command line" },
  hold_again: { schema: "Hold", unread: "clusters are held by the command line" },
  hold_none: { schema: "Hold", unread: "clusters are held by the command line" },
  explain_held: { schema: "Explanation", unread: "read as every explanation is" },
  release: { schema: "Released", unread: "clusters are released by the command line" },
  slots: { schema: "Slots", unread: "the cluster's page reads the pulse, which has them" },
  join_token: { schema: "JoinTokenAnswerBody", unread: "nodes join by the command line" },
  bulk: { schema: "BulkAnswer", unread: "read where the list of instances acts on many" },
  histogram: { schema: "InstanceHistogram", unread: "read where the list of instances draws its bars" },
  grid: {
    schema: "Grid",
    read: async () => {
      const grid = await ask<Grid>(grids.gridQuery({ project: "alpha", workflow: "daily" }));
      const [column] = grid.columns;
      expect(grid.rows).toEqual(["extract", "load"]);
      expect(column && grid.rows.map((_, row) => cellState(grid, column, row))).toEqual(["running", "waiting"]);
      for (const state of Object.values(grid.words)) expect(isKnown(state), `the console has no look for the state ${state}`).toBe(true);
    },
  },
  task_history: {
    schema: "ListTaskRun",
    read: async () => states(await ask<{ state: string }[]>(grids.historyQuery({ project: "alpha", workflow: "daily" }, "extract"))),
  },
  neighbours: { schema: "Neighbours", unread: "read where an instance steps to the one before" },
  values: { schema: "ListValue", unread: "read where an instance shows its parameters" },
  draft: { schema: "Draft", unread: "read by the editor's own server, which its tests run" },
  restored: { schema: "SavedAnswerBody", unread: "read by the editor's own server, which its tests run" },
  validate: { schema: "Findings", unread: "read by the editor's findings, which its tests run" },
  validate_graph: { schema: "Findings", unread: "read by the editor's findings, which its tests run" },
  validate_warnings: { schema: "Findings", unread: "read by the editor's findings, which its tests run" },
  parameters: { schema: "ParameterPreview", unread: "read where the editor previews parameters" },
  start_preview: { schema: "Started", unread: "read where the editor previews a start" },
  backfill_preview: {
    schema: "BackfillCreated",
    read: async () =>
      expect(await backfills.previewBackfill(once, {})).toMatchObject({
        count: 3,
        token: "1.cafe",
        parts: [{ workflow: "daily", left_out: [] }],
      }),
  },
  schedule_preview: { schema: "CronPreview", unread: "read where a timer says its cron in words" },
  calendar: { schema: "Calendar", status: 201, unread: "calendars are made by the command line" },
  schedule: {
    schema: "ScheduleDetail",
    read: async () =>
      expect(await ask(schedules.scheduleQuery(once))).toMatchObject({ name: "once", next: [{ local: expect.any(String) }] }),
  },
  schedule_put: {
    schema: "Schedule",
    status: 201,
    read: async () => expect(await schedules.saveSchedule(once, {}, undefined)).toMatchObject({ name: "once", enabled: true }),
  },
  schedules: {
    schema: "ListSchedule",
    read: async () => expect(await ask(schedules.schedulesQuery("alpha"))).toMatchObject([{ name: "once" }]),
  },
  schedule_rules_preview: {
    schema: "SchedulePreview",
    read: async () =>
      expect(await ask(schedules.nextFiresQuery("alpha", {}))).toMatchObject({
        words: { en: expect.any(String) },
        next: [{}, { mark: "gap" }],
      }),
  },
  schedule_fires: {
    schema: "ListFire",
    read: async () => expect(await ask(schedules.firesQuery(once, "", ""))).toMatchObject({ items: [] }),
  },
  schedule_heat: {
    schema: "ScheduleHeat",
    read: async () => {
      const heat = await ask<{ days: { fires: number[] }[] }>(schedules.heatQuery({ timezone: "Europe/Berlin" }, ""));
      expect(fullest(heat.days.map((d) => d.fires))).toEqual([{ row: 1, column: 5, n: 1 }]);
    },
  },
  schedule_hour: {
    schema: "ListHourSchedule",
    read: async () =>
      expect(await ask(schedules.hourQuery({ timezone: "Europe/Berlin" }, "2040-01-02", 5))).toMatchObject({
        items: [{ name: "once", fires: 1 }],
      }),
  },
  schedule_fire_days: {
    schema: "FireDays",
    read: async () => expect(await ask(schedules.fireDaysQuery(once, "", ""))).toMatchObject({ timezone: "Europe/Berlin", days: [] }),
  },
  schedule_proof: {
    schema: "ScheduleProof",
    read: async () => expect(await ask(schedules.proofQuery(once, "", ""))).toMatchObject({ holds: true, planned: 0 }),
  },
  schedule_explain: {
    schema: "Explanation",
    read: async () =>
      expect(scheduleSays(await ask(schedules.explainScheduleQuery(once)))).toMatchObject({ key: "fires", at: expect.any(String) }),
  },
  schedule_fires_run: {
    schema: "RanFiresBody",
    status: 202,
    read: async () => expect(await schedules.runFires(once, [])).toMatchObject({ fires: [], left_out: [expect.any(String)] }),
  },
  schedule_codes: {
    schema: { kind: "list", of: { kind: "plain", name: "string" } },
    unread: "the words of every code are tested with the sentences",
  },
  schedule_wrong: {
    schema: "Problem",
    status: 422,
    read: async () => {
      const error: unknown = await ask(schedules.nextFiresQuery("alpha", {})).catch((e: unknown) => e);
      expect(error).toMatchObject({
        status: 422,
        fields: [{ field: "timezone" }, { field: "cron", column: 1 }, { field: "params.nights" }],
      });
    },
  },
  trial: {
    schema: "Trial",
    read: async () =>
      expect(await trials.tryOut({ project: "alpha", text: "", cases: "" })).toMatchObject({
        passed: 1,
        failed: 1,
        cases: [{ passed: true }, { passed: false, failures: [{ line: 5 }, { line: 5 }] }],
      }),
  },
  cases_none: {
    schema: "Cases",
    read: async () => expect(await ask(trials.casesQuery("alpha", "daily"))).toEqual({ text: "", revision: 0 }),
  },
  cases: {
    schema: "Cases",
    read: async () => expect(await trials.saveCases({ project: "alpha", workflow: "daily" }, "", 0)).toMatchObject({ revision: 1 }),
  },
  cases_stale: {
    schema: "Problem",
    status: 412,
    read: async () =>
      expect(await trials.saveCases({ project: "alpha", workflow: "daily" }, "", 0).catch((e: unknown) => e)).toMatchObject({
        status: 412,
        fields: [{ field: "revision", code: "stale" }],
      }),
  },
  waiters: { schema: "WaiterList", read: async () => expect(await ask(abouts.waitersQuery("1"))).toEqual({ items: [], cut: false }) },
  trial_wrong: {
    schema: "Trial",
    read: async () =>
      expect(await trials.tryOut({ project: "alpha", text: "", cases: "" })).toMatchObject({ cases_errors: [{ line: 2 }, {}], cases: [] }),
  },
  dates: {
    schema: "DateList",
    read: async () => {
      const { items } = await ask<{ items: { name: string; intervals: unknown[] }[] }>(choices.datesQuery("", "Europe/Berlin"));
      expect(items.find((d) => d.name === "lastWeek")?.intervals).toHaveLength(7);
    },
  },
  diff: { schema: "Diff", unread: "read where the editor compares versions" },
  log_window: { schema: { kind: "any" }, unread: "its route streams and has no schema; the log panel's tests read windows" },
  log_found: { schema: "LogFound", unread: "the log panel's tests read hits" },
  task_types: { schema: "TaskTypes", unread: "read by the editor's forms, which their tests run" },
};

describe("every answer that the server's tests compare", () => {
  it("has an entry in the contract, and the other way round", () => {
    expect(Object.keys(entries).sort()).toEqual([...files].sort());
  });

  it.each(Object.entries(entries))("%s fits its schema, and is read", async (name, entry) => {
    const body = golden(name);
    const type: Type = typeof entry.schema === "string" ? { kind: "ref", name: entry.schema } : entry.schema;
    expect(faults(schemas, type, body)).toEqual([]);
    if (!entry.read) {
      expect(entry.unread).toBeTruthy();
      return;
    }
    serve(body, entry.status);
    await entry.read();
  });
});

describe("the contract's own reading", () => {
  const answer = { id: "1", state: "running", created_at: "x" };
  const last: Type = { kind: "ref", name: "LastInstance" };

  it("finds what is missing, added, renamed, or of another type", () => {
    expect(faults(schemas, last, answer)).toEqual([]);
    expect(faults(schemas, last, { ...answer, state: undefined, status: "running" })).toHaveLength(2);
    expect(faults(schemas, last, { ...answer, id: 1 })).toEqual(["$.id: 1 is no string"]);
    expect(faults(schemas, last, { id: "1", state: "running" })).toEqual(["$.created_at is missing"]);
    expect(faults(schemas, { kind: "ref", name: "Member" }, { user: "a", role: "king" })).toHaveLength(1);
    expect(faults(schemas, { kind: "ref", name: "ListMember" }, { items: [{ user: "a", role: "owner" }, 7] })).toEqual([
      "$.items[1]: 7 is no object",
    ]);
  });
});
