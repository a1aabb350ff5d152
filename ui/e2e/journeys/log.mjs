import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inBoth } from "../axe.mjs";
import { becomes, finished, signInByCall } from "../steps.mjs";

const lines = 420_000;
const needle = 400_000;

/** chatty prints a long log with colours, keeps it in a file too, and goes on until the gate is there. */
const chatty = (kept, gate) => `name: chatty
tasks:
  - name: talk
    type: shell
    script: |
      {
        awk 'BEGIN { for (i = 1; i <= ${lines}; i++) printf "\\033[32mINFO\\033[0m row %d%s\\n", i, i == ${needle} ? " with the needle" : "" }'
        i=0
        while [ ! -e ${gate} ]; do i=$((i+1)); printf '\\033[38;5;208mtick\\033[0m %d see https://example.com/t/%d.\\n' $i $i; sleep 0.02; done
        echo 'ERROR 7: the gate is there'
        echo 'so it ends'
      } | tee ${kept}
      exit 3
`;

async function place(page) {
  return page.evaluate(() => {
    const box = document.querySelector(".log").getBoundingClientRect();
    for (const row of document.querySelectorAll(".log-row")) {
      const at = row.getBoundingClientRect();
      if (at.bottom > box.top + 1) return { line: row.dataset.line, top: Math.round(at.top - box.top) };
    }
    return undefined;
  });
}

const rowsIn = (page) => page.locator(".log-row").count();
const freshLines = async (page) => Number((await page.locator(".log-end").textContent()).replaceAll(/\D/g, ""));

export const journeys = {
  "20: a chatty log is followed, searched and downloaded": async ({ server, visit, check, out, shots }) => {
    const folder = mkdtempSync(join(tmpdir(), "porpoise-log-"));
    const [kept, gate] = [join(folder, "kept"), join(folder, "gate")];
    try {
      server.apply("etl", chatty(kept, gate));
      const { instance_id: id } = await server.api("POST", "/projects/etl/workflows/chatty/start", {});
      const { page } = await visit();
      await signInByCall(server, page);
      await page.goto(`${server.url}/p/etl/r/${id}?task=talk&panel=log`);
      // It opens at the end and follows it, in colour.
      await page.locator(".log-line .ansi-own", { hasText: "tick" }).first().waitFor();
      assert.ok((await rowsIn(page)) <= 300);
      await becomes(() => page.locator(".log-line a").first().getAttribute("rel"), "noreferrer noopener");
      // Scrolled up, it stays put and counts what comes.
      await page.locator(".log").hover();
      await page.mouse.wheel(0, -2500);
      await page.locator(".log-end", { hasText: /[1-9]\d* new line/ }).waitFor();
      const [before, fresh] = [await place(page), await freshLines(page)];
      await page.waitForFunction((n) => Number(document.querySelector(".log-end").textContent.replace(/\D/g, "")) > n + 20, fresh);
      assert.deepEqual(await place(page), before);
      // The search finds what is far away.
      await page.locator(".log").focus();
      await page.keyboard.press("Control+f");
      await page.keyboard.type("NEEDLE");
      await page.keyboard.press("Enter");
      const hit = page.locator(".log-row[data-current]", { hasText: "with the needle" });
      await hit.waitFor();
      await becomes(() => hit.locator(".log-no").textContent(), String(needle));
      await becomes(() => hit.locator("mark").textContent(), "needle");
      await page.getByText("1 / 1", { exact: true }).waitFor();
      assert.ok((await rowsIn(page)) <= 300);
      const wrong = await inBoth(page, "log");
      if (shots) await page.screenshot({ path: `${out}log-find.png` });
      // A wrong expression says what is wrong; the right one finds its lines.
      await page.getByRole("button", { name: "Regular expression (RE2)" }).click();
      await page.getByRole("textbox", { name: "Find in the log" }).fill("row 3999(9");
      await page.locator(".log-find-error", { hasText: "has no partner" }).waitFor();
      wrong.push(...(await check(page, "log with a wrong expression")));
      await page.getByRole("textbox", { name: "Find in the log" }).fill("row 3999(97|99)");
      await page.getByText(/^\d \/ 2$/).waitFor();
      await page.getByRole("textbox", { name: "Find in the log" }).press("Enter");
      await page.locator(".log-row[data-current]", { hasText: "row 39999" }).waitFor();
      // Every match of a line is marked; the count is of lines.
      await page.getByRole("textbox", { name: "Find in the log" }).fill("with|n[e]+dle");
      await page.locator(".log-row[data-current] mark", { hasText: "needle" }).waitFor();
      await becomes(() => page.locator(".log-row[data-current] mark").allTextContents(), ["with", "needle"]);
      await page.getByText("1 / 1", { exact: true }).waitFor();
      await page.keyboard.press("Escape");
      assert.deepEqual(wrong, []);
      // A click on a number is an address that opens there for anybody.
      await page.locator(`.log-row[data-line="${needle}"] .log-no`).click();
      await page.waitForURL(new RegExp(`line=${needle}`));
      const colleague = await visit();
      await colleague.page.goto(page.url());
      await colleague.page.getByLabel("User").fill("admin");
      await colleague.page.locator("input[name=password]").fill(server.password);
      await colleague.page.getByRole("button", { name: "Sign in" }).click();
      await colleague.page.locator(".log-row[data-chosen]", { hasText: "with the needle" }).waitFor();
      // It fails; the banner leads to the line that says why.
      writeFileSync(gate, "");
      await finished(server, id);
      await page.getByRole("button", { name: /Open log at line \d+/ }).click();
      await page.locator(".log-row[data-chosen]", { hasText: "ERROR 7: the gate is there" }).waitFor();
      await page.getByText(/^end, [\d,]+ lines/).waitFor();
      // The download has the same bytes.
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Download", exact: true }).click(),
      ]);
      assert.equal(download.suggestedFilename(), "talk-1.log");
      const [got, want] = [readFileSync(await download.path()), readFileSync(kept)];
      assert.equal(got.length, want.length);
      assert.ok(got.equals(want), "the bytes are the same");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
