import { describe, expect, it } from "vitest";
import type { LogWindow, Output, Place } from "./api";
import { firstDifference, maxBytes } from "./firstDifference";

const output = (id: string): Output => ({ id, task: "a", attempt: 1, stream: undefined });

/** server answers windows of texts as the real one does, of at most some bytes. */
function server(texts: Record<string, string>, most = 1 << 30) {
  const asked: Place[] = [];
  const read = async (o: Output, at: Place): Promise<LogWindow> => {
    asked.push(at);
    const text = texts[o.id] ?? "";
    const offset = at.offset ?? 0;
    const data = text.slice(offset, offset + Math.min(most, at.limit ?? most));
    return { offset, next_offset: offset + data.length, size: text.length, eof: true, line: 1, newlines: 0, data };
  };
  return { asked, find: (loose: boolean) => firstDifference(read, output("1"), output("2"), loose) };
}

describe("the first line that differs", () => {
  it("is found in windows that end within lines", async () => {
    const same = Array.from({ length: 50 }, (_, i) => `row ${i}`).join("\n");
    const { find } = server({ 1: `${same}\nconnect ok\n`, 2: `${same}\nERROR 1146\n` }, 7);
    expect(await find(false)).toEqual({ line: 51, one: "connect ok", other: "ERROR 1146", end: "differs" });
  });

  it("is the one that only one of them has", async () => {
    const { find } = server({ 1: "a\nb\nc", 2: "a\nb\n" });
    expect(await find(false)).toEqual({ line: 3, one: "c", other: undefined, end: "differs" });
  });

  it("is none where both are the same, also empty", async () => {
    expect(await server({ 1: "a\nb", 2: "a\nb\n" }).find(false)).toMatchObject({ line: 2, end: "same" });
    expect(await server({}).find(false)).toMatchObject({ line: 0, end: "same" });
  });

  it("is not a number, where those do not count", async () => {
    const { find } = server({ 1: "12:01:07 pid 17\nloaded 3\nok", 2: "12:04:55 pid 2031\nloaded 3\nfailed" });
    expect(await find(true)).toMatchObject({ line: 3, one: "ok", other: "failed" });
    expect(await find(false)).toMatchObject({ line: 1 });
  });

  it("is not looked for without end", async () => {
    const long = "the same line over and over\n".repeat(maxBytes / 14);
    const { find, asked } = server({ 1: long, 2: `${long}end` });
    expect(await find(false)).toMatchObject({ end: "bound" });
    expect(asked.length).toBeLessThan(80);
  });
});
