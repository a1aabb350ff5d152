import assert from "node:assert/strict";
import { inBoth } from "../axe.mjs";
import { finished, signInAgain, signInByLink } from "../steps.mjs";

const release = `name: release
params: {version: "7"}
tasks:
  - name: ask
    type: approval
    message: Release \${version} to the customers?
    expires: 2d
    form:
      percent: {type: integer, min: 1, max: 100, description: How many of them}
      note: none
  - {name: go, type: shell, needs: [ask], script: 'echo "$version to $percent percent: $note"'}
`;

async function start(server) {
  return (await server.api("POST", "/projects/etl/workflows/release/start", {})).instance_id;
}

export const journeys = {
  "approvals: what waits is counted, approved with its form, and rejected from the instance": async ({ server, visit, out }) => {
    server.apply("etl", release);
    // 422 is the answer to a value that does not fit.
    const { page } = await visit({ refused: [422] });
    await signInByLink(server, page);
    const wrong = [];
    await page.goto(`${server.url}/approvals`);
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    wrong.push(...(await inBoth(page, "no approvals")));
    // It comes by itself, with its count in the rail.
    const first = await start(server);
    await page.getByRole("link", { name: /^Approvals 1 waiting for you/ }).waitFor();
    const row = page.locator(`[data-approval="${first}/ask"]`);
    await row.getByText("Release 7 to the customers?").first().waitFor();
    await row.getByText("Operators of the project may decide.").waitFor();
    wrong.push(...(await inBoth(page, "an approval")));
    await page.screenshot({ path: `${out}approvals.png` });
    // What is missing, and what does not fit, is said at its field.
    await row.getByRole("button", { name: "Approve" }).click();
    await row.getByText("A value is needed.").waitFor();
    await row.getByRole("textbox", { name: /^percent/ }).fill("500");
    await row.getByRole("button", { name: "Approve" }).click();
    await page.waitForFunction(() => document.querySelector(".ask .mantine-InputWrapper-error")?.textContent.includes("100"));
    await row.getByRole("textbox", { name: /^percent/ }).fill("10");
    await row.getByRole("textbox", { name: /^Reason/ }).fill("tested");
    await row.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    assert.equal((await finished(server, first)).state, "success");
    // The next one is rejected where its task is looked at.
    const second = await start(server);
    await page.goto(`${server.url}/p/etl/r/${second}?task=ask`);
    const panel = page.getByRole("complementary", { name: "ask" });
    await panel.getByRole("radio", { name: "Approval" }).waitFor({ state: "attached" });
    await panel.getByText("Release 7 to the customers?").waitFor();
    await panel.getByRole("textbox", { name: /^Reason/ }).fill("not on a Friday");
    await panel.getByRole("button", { name: "Reject…" }).click();
    await panel.getByText("no retry asks again", { exact: false }).waitFor();
    wrong.push(...(await inBoth(page, "a rejection")));
    await page.screenshot({ path: `${out}approvals-reject.png` });
    await panel.getByRole("button", { name: "Reject", exact: true }).click();
    assert.equal((await finished(server, second)).state, "failed");
    await panel.getByText("not on a Friday").waitFor();
    await panel.getByText("It no longer waits.").waitFor();
    assert.deepEqual(wrong, []);
  },

  "approvals: on a phone in Chinese": async ({ server, visit, out }) => {
    server.apply("etl", release);
    const first = await visit();
    await signInByLink(server, first.page);
    const { page } = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
    await signInAgain(server, page);
    const id = await start(server);
    await page.evaluate(() => localStorage.setItem("porpoise.settings", JSON.stringify({ language: "zh-CN" })));
    await page.goto(`${server.url}/`);
    await page.getByRole("link", { name: /^审批.*1 项待您审批/ }).click();
    const row = page.locator(`[data-approval="${id}/ask"]`);
    await row.getByRole("textbox", { name: /^percent/ }).fill("5");
    const wrong = await inBoth(page, "approvals at 390");
    if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) wrong.push("too wide");
    await page.screenshot({ path: `${out}approvals-390.png` });
    await row.getByRole("button", { name: "通过" }).click();
    await page.getByRole("heading", { name: "没有待您审批的事项" }).waitFor();
    assert.equal((await finished(server, id)).state, "success");
    assert.deepEqual(wrong, []);
  },
};
