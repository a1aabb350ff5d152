// A real server in a folder of its own, and what a test needs of it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const root = new URL("../..", import.meta.url).pathname;
const startsWithin = 20_000;

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/**
 * sweep ends what is left of a folder's server: the runner of its tasks outlives it for a while, on purpose, and would take the
 * processor from the journeys after it.
 */
function sweep(dir) {
  if (!existsSync("/proc")) return;
  const parents = new Map();
  const ours = new Set();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      parents.set(
        pid,
        readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/.*\) \w /, "")
          .split(" ")[0],
      );
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`\0${dir}/`)) ours.add(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (pid) => ours.has(pid) || (parents.has(pid) && below(parents.get(pid)));
  for (const pid of [...parents.keys()].filter(below)) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

/**
 * startServer starts a node; flags go behind its own, basePath is where it is mounted, such as /porpoise. A demo's seven
 * processes may take longer than one: within is in ms.
 */
export async function startServer({ flags = [], basePath = "", within = startsWithin } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "porpoise-e2e-"));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}${basePath}`;
  const mount = basePath ? ["--base-path", basePath] : [];
  let output = "";
  let child;
  const begin = () => {
    child = spawn(join(root, "bin/porpoise"), ["standalone", "--data", join(dir, "data"), "--http", address, ...mount, ...flags], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const read = (chunk) => {
      output += chunk;
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
  };
  begin();
  const link = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the server printed no link:\n${output}`)), within);
    const look = () => {
      const found = output.match(/http:\/\/\S+\/sign-in\/\S+/);
      if (found) {
        clearTimeout(late);
        resolve(found[0]);
      }
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${output}`)));
  });
  const data = join(dir, "data");
  const token = readFileSync(join(data, "admin-token"), "utf8").trim();
  return {
    url,
    link,
    data,
    // What signs the admin in; the set-up changes it.
    password: readFileSync(join(data, "admin-password"), "utf8").trim(),
    log: () => output,
    apply: (project, yaml) => {
      const env = { ...process.env, PORPOISE_SERVER: url, PORPOISE_TOKEN: token };
      const done = spawnSync(join(root, "bin/porpoise"), ["apply", "-p", project, "-f", "-"], { env, input: yaml });
      if (done.status !== 0) throw new Error(`apply: ${done.stderr}${done.stdout}`);
    },
    api: async (method, path, body) => {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
        body: body ? JSON.stringify(body) : undefined,
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer.status === 204 ? undefined : answer.json();
    },
    /** kill ends the server as a power cut would; the tasks' runner goes on. */
    kill: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.kill("SIGKILL");
      }),
    /** restart begins it again with the same data at the same address. */
    restart: async () => {
      begin();
      for (const end = Date.now() + startsWithin; Date.now() < end; ) {
        const ready = await fetch(`${url}/readyz`).catch(() => undefined);
        if (ready?.ok) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`the server did not come back:\n${output}`);
    },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGINT");
        const hard = setTimeout(() => child.kill("SIGINT"), 1000);
        await gone;
        clearTimeout(hard);
      }
      sweep(dir);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
