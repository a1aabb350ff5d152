import { describe, expect, it } from "vitest";
import { ApiError } from "../../api/error";
import { Document } from "../document";
import type { Origin } from "../origin";
import { localReader } from "../reader";
import { type Foreign, foreignIn, Saving, type Server } from "./saving";

const text = "name: w\ntasks:\n  - name: a\n    type: noop\n";
const origin: Origin = {
  project: "p",
  workflow: "w",
  version: 2,
  published: 1,
  base: text,
  text,
  format: "yaml",
  places: {},
  draft: undefined,
};

type Call = { name: string; [key: string]: unknown };

function open(answers: Partial<Server> = {}) {
  const calls: Call[] = [];
  const doc = new Document(text, {}, { reader: localReader, now: () => 0, after: () => () => undefined });
  const workflow = { id: "1", name: "w", project: "p", description: "", created_at: "", updated_at: "" };
  const told =
    <A extends object, R>(name: string, give: (wish: A) => R) =>
    async (wish: A) => {
      calls.push({ name, ...wish });
      return give(wish);
    };
  const server = {
    saveVersion: told("version", (w: { publish: boolean }) => ({
      ...workflow,
      latest: 3,
      published: w.publish ? 3 : 1,
      version: 3,
      created: true,
    })),
    saveDraft: told("draft", () => ({ text: "", format: "yaml", revision: 7, base_version: 2, updated_at: "then", updated_by: "me" })),
    dropDraft: told("drop", () => undefined),
    saveLayout: async (_: object, tasks: object) => {
      calls.push({ name: "layout", tasks });
      return { tasks: {} };
    },
    newest: async () => {
      throw new Error("not asked for");
    },
    ...answers,
    // The real functions' answers have more fields than a test needs.
  } as unknown as Server;
  return { doc, saving: new Saving(origin, doc, server), calls };
}

const append = (doc: Document, more: string) =>
  doc.change("edit", [{ from: doc.state.history.text.length, to: doc.state.history.text.length, insert: more }]);
const refused = (status: number) => () => Promise.reject(new ApiError(status, "no"));
const theirs = `${text}  - name: theirs\n    type: noop\n`;
const foreign: Foreign = { kind: "version", version: 5, text: theirs, by: "li", at: "now", revision: undefined };

describe("saving", () => {
  it("sends the newest version it knows, and is clean afterwards until the next edit", async () => {
    const { doc, saving, calls } = open();
    expect(saving.dirty()).toBe(false);
    append(doc, "# more\n");
    expect(saving.dirty()).toBe(true);
    expect(await saving.save({ as: "version", publish: true, message: "why" })).toBe(3);
    expect(calls).toMatchObject([{ name: "version", match: 2, publish: true, message: "why", text: `${text}# more\n`, draft: undefined }]);
    expect(saving.dirty()).toBe(false);
    expect(saving.state).toMatchObject({ version: 3, published: 3, base: `${text}# more\n` });
    doc.undo();
    expect(saving.dirty()).toBe(true);
  });

  it("has something for a version while there is an edit, a draft or no version yet", async () => {
    const { doc, saving } = open();
    expect(saving.worthVersion()).toBe(false);
    append(doc, "# more\n");
    expect(saving.worthVersion()).toBe(true);
    await saving.save({ as: "draft" });
    expect(saving.dirty()).toBe(false);
    expect(saving.worthVersion()).toBe(true);
    await saving.save({ as: "version", publish: false, message: "" });
    expect(saving.worthVersion()).toBe(false);
    saving.store.setState({ version: 0 });
    expect(saving.worthVersion()).toBe(true);
  });

  it("keeps a draft by its revision, and a version takes that revision away", async () => {
    const { doc, saving, calls } = open();
    append(doc, "broken: [\n");
    await saving.save({ as: "draft" });
    await saving.save({ as: "draft" });
    await saving.save({ as: "version", publish: false, message: "" });
    expect(calls.map((c) => [c.name, c.match, c.draft])).toEqual([
      ["draft", undefined, undefined],
      ["draft", 7, undefined],
      ["version", 2, 7],
    ]);
    expect(saving.state.draft).toBeUndefined();
  });

  it("keeps the places of tasks that are there, after the text", async () => {
    const { doc, saving, calls } = open();
    doc.change("move", [], { moves: { a: { x: 1, y: 2 }, gone: { x: 3, y: 4 } } });
    expect(saving.dirty()).toBe(true);
    await saving.save({ as: "draft" });
    expect(calls.map((c) => c.name)).toEqual(["draft", "layout"]);
    expect(calls[1]?.tasks).toEqual({ a: { x: 1, y: 2 } });
    expect(saving.dirty()).toBe(false);
  });

  it("loses nothing of a failed save, and says what failed", async () => {
    const { doc, saving } = open({ saveVersion: refused(503) });
    append(doc, "# more\n");
    const wish = { as: "version", publish: true, message: "" } as const;
    expect(await saving.save(wish)).toBeUndefined();
    expect(saving.state.phase).toMatchObject({ kind: "failed", wish });
    expect(saving.dirty()).toBe(true);
    expect(doc.state.history.text).toBe(`${text}# more\n`);
  });

  it.each([412, 428])("brings in what another has saved after a %i, and saves on top of it", async (status) => {
    const first = { left: 1 };
    const { doc, saving, calls } = open({
      newest: async () => foreign,
    });
    const inner = saving as unknown as { server: Server }; // the second answer differs from the first
    const real = inner.server.saveVersion;
    Object.assign(inner.server, { saveVersion: (w: Parameters<typeof real>[0]) => (first.left-- > 0 ? refused(status)() : real(w)) });
    append(doc, "# mine\n");
    const wish = { as: "version", publish: true, message: "" } as const;
    await saving.save(wish);
    expect(saving.state.phase).toMatchObject({ kind: "conflict", foreign });
    expect(doc.state.history.text).toBe(`${text}# mine\n`);
    saving.merged(`${theirs}# mine\n`);
    expect(saving.dirty()).toBe(true);
    await saving.save(wish);
    expect(calls.at(-1)).toMatchObject({ name: "version", match: 5, text: `${theirs}# mine\n` });
    doc.undo();
    expect(doc.state.history.text).toBe(`${text}# mine\n`);
  });

  it("tells of another's save, and not of its own", async () => {
    const { doc, saving } = open({ newest: async () => foreign });
    const news = { latest: 2, draft: 0, by: "li", at: "now" };
    saving.heard(news);
    expect(foreignIn(saving.state)).toBeUndefined();
    append(doc, "# more\n");
    const one = saving.save({ as: "version", publish: true, message: "" });
    saving.heard({ ...news, latest: 3 });
    expect(foreignIn(saving.state)).toBeUndefined();
    await one;
    expect(foreignIn(saving.state)).toBeUndefined();
    saving.heard({ ...news, latest: 3, draft: 9 });
    expect(foreignIn(saving.state)).toBe("draft");
    saving.heard({ ...news, latest: 5 });
    expect(foreignIn(saving.state)).toBe("version");
    await saving.bringIn("version");
    expect(saving.state.phase).toMatchObject({ kind: "conflict", foreign });
  });

  it("takes no second wish while one is under way", async () => {
    const { doc, saving, calls } = open();
    append(doc, "# more\n");
    const one = saving.save({ as: "draft" });
    expect(await saving.save({ as: "draft" })).toBeUndefined();
    await one;
    expect(calls).toHaveLength(1);
  });

  it("marks what was typed during a save as unsaved", async () => {
    const { doc, saving } = open();
    append(doc, "# more\n");
    const one = saving.save({ as: "draft" });
    append(doc, "# later\n");
    await one;
    expect(saving.dirty()).toBe(true);
  });
});
