import assert from "node:assert/strict";
import { alive, long, runFailing, signInByLink } from "../steps.mjs";

export const journeys = {
  "15: a failing instance says why, and a colleague opens the same view": async ({ server, visit }) => {
    const id = await runFailing(server);
    const { page } = await visit();
    await signInByLink(server, page);
    await page.locator(".trouble a", { hasText: "nightly load" }).click();
    const banner = page.locator(".banner.bad");
    await banner.getByText("ERROR 1146: table dwh.dim_user does not exist").waitFor();
    await banner.getByText("2 tasks blocked by it").waitFor();
    await banner.getByText(/exit 3/).waitFor();
    // The address has the line, marked where it opens.
    await banner.getByRole("button", { name: "Open log at line 2" }).click();
    await page.locator(".log-row[data-chosen] .log-line", { hasText: "ERROR 1146" }).waitFor();
    assert.equal(await page.locator(".log-line .ansi-green").textContent(), "ok");
    const address = page.url();
    assert.match(address, /task=load/);
    assert.match(address, /line=2/);
    const colleague = await visit();
    await colleague.page.goto(address);
    await colleague.page.getByLabel("User").fill("admin");
    await colleague.page.locator("input[name=password]").fill(server.password);
    await colleague.page.getByRole("button", { name: "Sign in" }).click();
    await colleague.page.locator(".log-line", { hasText: "ERROR 1146" }).waitFor();
    assert.equal(colleague.page.url(), address);
    await colleague.page.getByRole("button", { name: "Recover failed" }).click();
    const dialog = colleague.page.getByRole("dialog");
    await dialog.getByText("3 tasks change").waitFor();
    await dialog.getByText("2 tasks are done and stay as they are").waitFor();
    await dialog.getByRole("button", { name: "Recover failed" }).click();
    await colleague.page.getByText("round 2").waitFor();
    assert.ok(id);
  },

  "17: a killed task's process is really gone": async ({ server, visit }) => {
    server.apply("etl", long);
    const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/long/start", {});
    const { page } = await visit();
    await signInByLink(server, page);
    await page.goto(`${server.url}/p/etl/r/${id}?task=sleeper&panel=log`);
    const line = await page.locator(".log-line", { hasText: /pid \d+/ }).textContent();
    const pid = Number(line.match(/\d+/)[0]);
    assert.ok(alive(pid), `process ${pid} runs`);
    await page.locator(".task-actions").getByRole("button", { name: "Kill" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator("li", { hasText: "sleeper" }).waitFor();
    await dialog.getByRole("button", { name: "Kill" }).click();
    await page.locator(".task-node.hue-killed", { hasText: "killed" }).waitFor();
    await page.locator(".big-state", { hasText: "failed" }).waitFor();
    assert.ok(!alive(pid), `process ${pid} is gone`);
  },
};
