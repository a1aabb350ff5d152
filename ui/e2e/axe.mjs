import { createRequire } from "node:module";

const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** check gives every violation of WCAG 2.2 AA on the page as a line; in evaluate, the page's policy does not bind. */
export async function check(page, where) {
  const { readFileSync } = await import("node:fs");
  await page.evaluate(readFileSync(source, "utf8"));
  // A colour half-way between two is not what a person reads.
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().map((a) => (a.effect?.getTiming().iterations === Infinity ? 0 : a.finished))),
  );
  const found = await page.evaluate(async () => {
    const answer = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
    return answer.violations.map(
      (v) =>
        `${v.id}: ${v.nodes
          .map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`)
          .slice(0, 3)
          .join(" | ")}`,
    );
  });
  return found.map((f) => `${where}: ${f}`);
}
