// Workflows and steps that several journeys share.
import assert from "node:assert/strict";

export const failing = `name: nightly load
params:
  table: dim_user
tasks:
  - name: extract
    type: shell
    script: for i in $(seq 1 200); do echo "row $i"; done
  - name: load dim
    type: shell
    needs: [extract]
    script: |
      printf 'connect dwh \\033[32mok\\033[0m\\n'
      echo "ERROR 1146: table dwh.$table does not exist" >&2
      exit 3
  - name: load fact
    type: shell
    needs: [extract]
    script: sleep 0.2; echo done
  - name: aggregate
    type: shell
    needs: [load dim, load fact]
    script: echo never
  - name: report
    type: shell
    needs: [aggregate]
    script: echo never
`;
export const long = `name: long
tasks:
  - name: sleeper
    type: shell
    script: |
      echo "pid $$"
      sleep 600
  - name: after
    type: noop
    needs: [sleeper]
`;

const final = new Set(["success", "failed", "stopped"]);

export async function finished(server, id) {
  for (let i = 0; i < 600; i++) {
    const one = await server.api("GET", `/instances/${id}`);
    if (final.has(one.state)) return one;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const why = await server.api("GET", `/instances/${id}/explain`);
  throw new Error(`instance ${id} did not end in a minute: ${JSON.stringify(why).slice(0, 2000)}`);
}

/**
 * signInByCall makes the page's person the admin, behind the set-up of the first start, and opens nothing: that page has a
 * journey of its own.
 */
export async function signInByCall(server, page) {
  await page.request.get(server.link);
  const password = "a journey of its own";
  const done = await page.request.post(`${server.url}/api/v1/setup`, { data: { name: "admin", password } });
  if (done.ok()) server.password = password;
}

/** signInByLink is that, and opens Today. */
export async function signInByLink(server, page) {
  await signInByCall(server, page);
  await page.goto(`${server.url}/`);
  await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
}

/** signInAgain opens Today as the admin, after the set-up. */
export async function signInAgain(server, page) {
  const done = await page.request.post(`${server.url}/api/v1/session`, { data: { user: "admin", password: server.password } });
  assert.ok(done.ok(), await done.text());
  await page.goto(`${server.url}/`);
  await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
}

export async function runFailing(server, project = "etl") {
  server.apply(project, failing);
  const { instance_id: id } = await server.api("POST", `/projects/${project}/workflows/nightly%20load/start`, {});
  assert.equal((await finished(server, id)).state, "failed");
  return id;
}

export function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** saveAndRun publishes what the editor has, runs the whole of it, and waits until all tasks on the canvas are green. */
export async function saveAndRun(page, tasks) {
  await page.getByRole("button", { name: "Save…" }).click();
  const save = page.getByRole("dialog", { name: /^Save as version/ });
  await save.getByRole("button", { name: "Save and publish" }).click();
  await save.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("menuitem", { name: "The whole workflow…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText(`${tasks} of ${tasks} tasks done · success`).waitFor();
  await becomes(() => page.locator(".task-node.hue-success").count(), tasks);
}

/**
 * becomes waits until what is read is what is wanted, a value or a pattern, and says the difference where it never is. What is
 * drawn follows what was done by a moment, which on a busy machine is longer.
 */
export async function becomes(read, wanted) {
  const holds = (got) => (wanted instanceof RegExp ? assert.match(got, wanted) : assert.deepEqual(got, wanted));
  for (let left = 200; ; left--) {
    const got = await read();
    try {
      return holds(got);
    } catch (error) {
      if (left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
