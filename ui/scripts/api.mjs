// Writes src/api/schema.d.ts from the document that a running binary serves.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
const address = process.env.PORPOISE_HTTP ?? "127.0.0.1:8197";

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${done.status}`);
}

async function document(tries) {
  for (let i = 0; i < tries; i++) {
    try {
      const answer = await fetch(`http://${address}/openapi.json`);
      if (answer.ok) return await answer.text();
    } catch {
      // not up yet
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no server answered on ${address}`);
}

run("go", ["build", "-trimpath", "-o", "bin/porpoise", "./cmd/porpoise"], root);
run("npm", ["ci", "--no-audit", "--no-fund", "--silent"], join(root, "ui/tools/openapi"));
const dir = mkdtempSync(join(tmpdir(), "porpoise-api-"));
const server = spawn(join(root, "bin/porpoise"), ["standalone", "--data", join(dir, "data"), "--http", address], { stdio: "ignore" });
try {
  writeFileSync(join(dir, "openapi.json"), await document(100));
  run(
    "node_modules/.bin/openapi-typescript",
    [join(dir, "openapi.json"), "-o", join(root, "ui/src/api/schema.d.ts")],
    join(root, "ui/tools/openapi"),
  );
} finally {
  const gone = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await gone;
  rmSync(dir, { recursive: true, force: true });
}
