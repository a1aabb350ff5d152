// Seeded numbers and workflows for property tests. A failing test prints its seed.

/** Random gives the same numbers for the same seed. */
export class Random {
  constructor(private state: number) {}

  /** next is a number of 0 to 1, without 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** below is a whole number of 0 to n-1. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** chance is true with this probability. */
  chance(p: number): boolean {
    return this.next() < p;
  }

  /** pick takes one of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new Error("pick from an empty list");
    return item;
  }
}

/** hardTexts are values that YAML writers get wrong. */
export const hardTexts = [
  "plain",
  "two words",
  "",
  " lead",
  "trail ",
  "yes",
  "No",
  "null",
  "~",
  "1",
  "1.5",
  "0x1f",
  "1:30",
  "2030-01-01",
  "2030-01-01T00:00:00Z",
  "a: b",
  "a #b",
  "#x",
  "- x",
  "it's",
  'say "hi"',
  "back\\slash",
  "{a}",
  "[b]",
  `\${region}`,
  `https://x/?a=\${b}&c`,
  "a, b",
  "a:b",
  "x:",
  "*a",
  "&a",
  "!t",
  "%d",
  "@x",
  "`x`",
  "中文 名",
  "é",
  "\u2028",
  "tab\there",
  "one\ntwo",
  "one\ntwo\n",
  "one\n\ntwo\n\n",
  "  lead\nrest",
  "\n",
  "\nfirst\n",
  "a\n  b\n",
  "# c\nx\n",
  "\r\n",
  "x\r\ny",
  "---",
  "...",
  "<<",
  "=",
  ".inf",
  "? x",
  "?x",
  "a\n \n",
  "end\n   ",
  "\ttab\nx\n",
  "😀 ok",
  "\u0001",
  "\ufeffbom",
];

/** randomWorkflow writes a workflow with comments, in one of many styles; acyclic, as a task needs only those above. */
export function randomWorkflow(r: Random): string {
  const style = r.pick(["block", "block", "zero", "flow", "json", "pretty"] as const);
  const count = r.below(7);
  const tasks = Array.from({ length: count }, (_, i) => ({
    name: `t${i}`,
    type: r.pick(["shell", "noop", "http"]),
    needs: Array.from({ length: i }, (_, n) => `t${n}`).filter(() => r.chance(0.35)),
  }));
  if (style === "json" || style === "pretty") {
    const plain = tasks.map((t) => (t.needs.length > 0 ? t : { name: t.name, type: t.type }));
    return (
      JSON.stringify({ name: "w", params: { region: "eu" }, tasks: plain }, undefined, style === "pretty" ? 2 : 0) +
      (r.chance(0.5) ? "\n" : "")
    );
  }
  let n = 0;
  const note = () => (r.chance(0.3) ? `   # note ${n++}` : "");
  const lines = ["# head", `name: w${note()}`, r.chance(0.5) ? "params: {region: eu}" : `params:${note()}\n  region: eu${note()}`];
  const dash = style === "zero" ? "" : "  ";
  const blank = r.chance(0.5);
  lines.push(count === 0 ? r.pick(["tasks: []", "tasks:", "tasks: [] # none"]) : `tasks:${note()}`);
  tasks.forEach((t, i) => {
    if (blank && i > 0) lines.push("");
    if (r.chance(0.3)) lines.push(`${dash}# above ${n++}`);
    if (style === "flow" || r.chance(0.15)) {
      const needs = t.needs.length > 0 ? `, needs: [${t.needs.join(r.pick([",", ", "]))}]` : "";
      lines.push(`${dash}- {name: ${t.name}, type: ${t.type}${needs}}${note()}`);
    } else lines.push(...blockTask(r, t, dash, note));
  });
  const text = lines.join("\n") + (r.chance(0.8) ? "\n" : "");
  return r.chance(0.15) ? text.replaceAll("\n", "\r\n") : text;
}

function blockTask(r: Random, t: { name: string; type: string; needs: string[] }, dash: string, note: () => string): string[] {
  const gap = r.chance(0.15) ? "   " : " ";
  const pad = `${dash} ${gap}`;
  const quote = r.pick(["", "'", '"']);
  const body = [`type: ${t.type}${note()}`];
  if (t.needs.length > 0) {
    const list = t.needs.map((need) => `${quote}${need}${quote}`);
    const inner = r.pick(["", "  "]);
    body.push(
      r.chance(0.5)
        ? `needs: [${list.join(", ")}]${note()}`
        : `needs:${note()}${list.map((x) => `\n${pad}${inner}- ${x}${note()}`).join("")}`,
    );
  }
  if (r.chance(0.4)) {
    const end = r.pick(["", "\n", "\n\n"]);
    body.push(`script: ${r.pick(["|", "|-", "|  # keep"])}\n${pad}  echo one # not a comment\n\n${pad}    two${end}`);
  }
  if (r.chance(0.3)) body.push(`retry: {times: 3, delay: 10s}${note()}`);
  if (r.chance(0.3)) body.push(`env:\n${pad}  A: one${note()}\n${pad}  B: "\${t0.rows} x"${note()}`);
  if (r.chance(0.5)) body.sort(() => (r.chance(0.5) ? 1 : -1));
  return [`${dash}-${gap}name: ${quote}${t.name}${quote}${note()}`, ...body.map((b) => pad + b)];
}
