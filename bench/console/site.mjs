// The installation that is measured: the real binary, filled through its API.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../ui/e2e/server.mjs";
import { finished } from "../../ui/e2e/steps.mjs";

const rows = 50;
const columns = 40;

/** many is a workflow of 2,000 tasks and 2,925 edges; with a gate, the first 200 wait for it and the others for a second one. */
function many(name, gates) {
  const lines = [`name: ${name}`, "tasks:"];
  if (gates) {
    for (const gate of ["gate", "hold"]) {
      lines.push(`  - {name: ${gate}, type: shell, script: 'until [ -e ${gates}/${gate} ]; do sleep 0.05; done'}`);
    }
  }
  const total = rows * columns - (gates ? 2 : 0);
  for (let i = 0; i < total; i++) {
    const [x, y] = [Math.floor(i / rows), i % rows];
    const needs = x === 0 ? [] : [`t${x - 1}.${y}`, ...(y % 2 === 0 ? [`t${x - 1}.${(y + 1) % rows}`] : [])];
    if (gates) needs.splice(0, needs.length, ...(i < 200 ? ["gate"] : x === 4 ? ["hold"] : needs));
    lines.push(`  - {name: t${x}.${y}, type: noop, needs: [${needs.join(", ")}]}`);
  }
  return `${lines.join("\n")}\n`;
}

/** needle stands in the last line of the log of 100 MiB, and nowhere else. */
export const needle = "the needle of this haystack";
const printed = 100 * 1024 * 1024;
const chatty = `name: chatty
tasks:
  - name: print
    type: shell
    script: |
      yes "a line of output as tasks print them, about a hundred bytes with all that stands in it and its end" | head -c ${printed - 100}
      printf '\\n${needle}\\n'
`;

/** talking prints some 5,000 lines a second, for half a minute. */
const talking = `name: talking
tasks:
  - name: talk
    type: shell
    script: for i in $(seq 1 300); do seq -f "line %.0f of $i, as long as a line that a task prints" 1 520; sleep 0.1; done
`;

const tiny = "name: tiny\ntasks:\n  - {name: a, type: noop}\n";

/** listed is how many instances the list is filled with. */
export const listed = 10_000;

/** ledgered is how many fires the ledger of a schedule is filled with. */
const ledgered = 10_000;
/** gridded is how many instances the grid shows. */
const gridded = 30;

/** startSite starts a server and runs what the measures look at. */
export async function startSite(say) {
  const gates = mkdtempSync(join(tmpdir(), "porpoise-gates-"));
  const server = await startServer();
  const start = async (workflow) => (await server.api("POST", `/projects/bench/workflows/${workflow}/start`, {})).instance_id;
  const run = async (workflow, text) => {
    server.apply("bench", text);
    const id = await start(workflow);
    await finished(server, id);
    return id;
  };
  say("running 2,000 tasks, and one that prints 100 MiB");
  const big = await run("many", many("many"));
  const log = await run("chatty", chatty);
  const attempts = await server.api("GET", `/instances/${log}/tasks/print/attempts`);
  server.apply("bench", many("gated", gates));
  return {
    ...server,
    big,
    log,
    logBytes: attempts.items[0].log_bytes,
    /** again runs the 2,000 tasks until the grid has its thirty instances. */
    again: async () => {
      say(`running them ${gridded - 1} times more for the grid`);
      for (let i = 1; i < gridded; i++) await finished(server, await start("many"));
    },
    /** fill starts thousands of instances, so that the list has them. */
    fill: async () => {
      say(`starting ${listed} instances for the list`);
      server.apply("bench", tiny);
      let left = listed;
      const starter = async () => {
        while (left-- > 0) await start("tiny");
      };
      await Promise.all(Array.from({ length: 16 }, starter));
    },
    /**
     * fired makes a schedule with a ledger of 10,000 fires over the year until now. They are written into the database by
     * hand: nobody waits a year. That needs sqlite3 on the machine.
     */
    fired: async () => {
      say(`writing a ledger of ${ledgered} fires`);
      server.apply("bench", tiny);
      await server.api("PUT", "/projects/bench/workflows/tiny/schedules/hourly", { cron: "0 * * * *", enabled: false });
      const { id } = await server.api("GET", "/projects/bench/workflows/tiny/schedules/hourly");
      const begin = Date.UTC(new Date().getUTCFullYear(), 0, 1);
      const step = Math.floor((Date.now() - begin) / ledgered);
      const states = "CASE n % 7 WHEN 0 THEN 'missed' WHEN 1 THEN 'duplicate' ELSE 'skipped' END";
      const text = `PRAGMA busy_timeout = 10000;
        WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < ${ledgered - 1})
        INSERT INTO fire (source_id, planned_at, due_at, bucket, revision, open, state, reason, instance_id, fired_at, master, epoch)
        SELECT ${id}, ${begin} + n * ${step}, ${begin} + n * ${step}, 0, 1, 0, ${states}, '', 0, 0, 'm', 1 FROM c;`;
      const done = spawnSync("sqlite3", [join(server.data, "porpoise.db")], { input: text, encoding: "utf8" });
      if (done.status !== 0) throw new Error(`sqlite3: ${done.error ?? done.stderr}`);
      return { schedule: "hourly", fires: ledgered };
    },
    /** talk starts the task that prints without an end, and gives its instance. */
    talk: () => {
      server.apply("bench", talking);
      return start("talking");
    },
    slots: async () => (await server.api("GET", "/cluster/pulse")).slots.owners.length,
    /** gated starts the instance whose first 200 tasks end when the returned function is called. */
    gated: async () => {
      for (const gate of ["gate", "hold"]) if (existsSync(join(gates, gate))) rmSync(join(gates, gate));
      const id = await start("gated");
      return { id, open: (gate) => writeFileSync(join(gates, gate), "") };
    },
    stop: async () => {
      await server.stop();
      rmSync(gates, { recursive: true, force: true });
    },
  };
}
