import assert from "node:assert/strict";
import { signInByLink } from "../steps.mjs";

const count = 200;
const last = `t${count}`;
/** Two hundred tasks one after the other: no window shows them all. */
const chain = `name: chain
tasks:
${Array.from({ length: count }, (_, i) => `  - name: t${i + 1}\n    type: noop\n${i > 0 ? `    needs: [t${i}]\n` : ""}`).join("")}`;

/** inSight waits until what the selector finds, with exactly this text, is wholly within its frame. */
const inSight = (page, frame, selector, text) =>
  page.waitForFunction(
    ([frame, selector, text]) => {
      const around = document.querySelector(frame);
      const roots = [document, ...[...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean)];
      const all = roots.flatMap((root) => [...root.querySelectorAll(selector)]);
      const found = all.find((e) => new RegExp(text).test(e.textContent));
      if (!around || !found) return false;
      const [box, at] = [around.getBoundingClientRect(), found.getBoundingClientRect()];
      return at.top >= box.top && at.bottom <= box.bottom && at.left < box.right && at.right > box.left;
    },
    [frame, selector, text],
  );

export const journeys = {
  "the task in the address is in sight when the editor opens, in every view": async ({ server, visit }) => {
    server.apply("etl", chain);
    const { page } = await visit();
    await signInByLink(server, page);
    const address = `${server.url}/p/etl/w/chain/edit`;
    const canvas = () => inSight(page, ".canvas-frame", `.react-flow__node[data-id=${last}]`, "");
    const text = () => inSight(page, ".editor-text", ".cm-line", `- name: ${last}$`);
    const list = () => inSight(page, ".list-grid", "[role=row]", `\\b${last}(?!\\d)`);
    for (const task of ["", `task=${last}`, `task=${last}&view=split`, `task=${last}&view=text`, `task=${last}&view=list`]) {
      await page.goto(`${address}?${task}`);
      if (task === "") {
        await inSight(page, ".canvas-frame", ".react-flow__node[data-id=t1]", "");
        continue;
      }
      if (task.endsWith("text") || task.endsWith("split")) await text();
      if (task.endsWith("list")) await list();
      if (task.endsWith(last) || task.endsWith("split")) await canvas();
      assert.match(page.url(), new RegExp(`task=${last}`));
    }
    // From one view to the next it stays in sight.
    await page.getByText("Canvas", { exact: true }).click();
    await canvas();
    await page.getByText("List", { exact: true }).click();
    await list();
    // On a phone each view scrolls by itself, below a bar that stays.
    await page.setViewportSize({ width: 390, height: 800 });
    for (const view of ["split", "text", "list"]) {
      await page.goto(`${address}?task=${last}&view=${view}`);
      await (view === "list" ? list() : text());
      const over = await page.locator("main").evaluate((main) => main.scrollHeight - main.clientHeight);
      assert.equal(over, 0, `${view}: the page is higher than the window`);
    }
  },
};
