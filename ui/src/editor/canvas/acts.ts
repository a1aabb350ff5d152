// What a person can do on the canvas, by mouse, key or menu alike: commands with the places that
// belong to them, and the words that tell what was done.

import { type BranchKey, isBranching } from "../../domain/document/branches";
import type { Task } from "../../domain/document/read";
import { type Direction, defaults, layoutAll, type Point, type Points, placeNew, towards } from "../../domain/graph/layout";
import { illegalTargets } from "../../domain/graph/model";
import type { Moves, Place } from "../../domain/history/history";
import { layoutInWorker } from "../../graph/layoutClient";
import type { Say } from "../../i18n";
import type { Edge } from "../commands";
import * as commands from "../commands";
import type { Document } from "../document";
import { beside, makeRoom } from "./arrange";
import { endsOf } from "./nodes";
import type { Added, CanvasStore, Layer, Target } from "./ui";

/** Surroundings are what the acts need to know of the canvas at the moment they are called. */
export interface Surroundings {
  readonly t: Say;
  readonly points: Points;
  readonly direction: Direction;
  /** locked is why nothing may be changed, in words; the broken text has a refusal of its own. */
  readonly locked: string | undefined;
  /** The middle of what is seen, and the pointer where it is over the canvas, in the canvas's own units. */
  readonly middle: () => Point;
  readonly pointer: () => Point | undefined;
  /** Where a task is on the screen, for windows that open at it. */
  readonly screenOf: (task: string | undefined) => Point;
  readonly focus: (task: string | undefined) => void;
  readonly turn: (direction: Direction) => void;
  /** fit shows all, or of a long workflow as much as can be read. */
  readonly fit: () => void;
}

const { size } = defaults;
/** step is how far an arrow key with Alt moves a node. */
const step = 10;

/** Acts is made once per canvas; now answers with its surroundings. */
export class Acts {
  // What was copied last, with where it stood: the same text comes back in the same shape.
  private copied: { text: string; places: Points } | undefined;

  constructor(
    private readonly doc: Document,
    private readonly ui: CanvasStore,
    private readonly now: () => Surroundings,
  ) {}

  /** chosen are the tasks that are chosen and there. */
  get chosen(): readonly string[] {
    const there = new Set(this.tasks.map((t) => t.name));
    return this.doc.state.history.selection.tasks.filter((n) => there.has(n));
  }

  private get tasks(): readonly Task[] {
    return this.doc.state.reading.model.tasks;
  }

  open(layer: Layer): void {
    this.ui.setState({ layer });
  }

  /** close shuts the open window and gives the focus back to the canvas. */
  close(): void {
    if (!this.ui.getState().layer) return;
    this.ui.setState({ layer: undefined });
    this.now().focus(this.chosen.at(-1));
  }

  say(words: string): void {
    this.ui.setState({ said: words });
  }

  /** may tells whether changes are allowed, and says why where they are not. */
  private may(): boolean {
    const { locked } = this.now();
    if (locked === undefined) return true;
    const { good, errors } = this.doc.current();
    if (good) this.say(locked);
    else this.doc.refuse({ code: "broken_text", args: { line: String(errors[0]?.line ?? 1) } });
    return false;
  }

  // One command, what it said, and the focus on what it chose.
  private did(ok: boolean, words: string, focus?: string): boolean {
    if (ok) this.say(words);
    if (ok && focus !== undefined) this.now().focus(focus);
    return ok;
  }

  /** addType adds a task of a type: after the chosen ones, at a point, or on an edge. */
  addType(type: string, added: Added = { after: this.chosen }): void {
    if (!this.may()) return;
    const { t, points, direction } = this.now();
    this.ui.setState({ layer: undefined });
    if ("edge" in added) {
      const { from, to } = added.edge;
      const room = makeRoom(points, from, to, direction);
      const name = commands.insert(this.doc, added.edge, { name: type, type }, room.at, room.moves);
      this.did(name !== undefined, t("canvas.saidInserted", { task: name ?? "", from, to }), name);
      return;
    }
    const needs = [...added.after];
    const at = added.at ?? this.placeAfter(needs);
    const name = commands.add(this.doc, { name: type, type, ...(needs.length > 0 && { needs }) }, { at, after: needs.at(-1) });
    const words =
      needs.length > 0
        ? t("canvas.saidAddedAfter", { task: name ?? "", needs: needs.join(", ") })
        : t("canvas.saidAdded", { task: name ?? "" });
    const asks = name !== undefined ? needs.find((n) => this.branches(n)) : undefined;
    this.did(name !== undefined, words, asks === undefined ? name : undefined);
    if (asks !== undefined && name !== undefined) this.askBranch({ from: asks, to: name });
  }

  /** branches tells whether an edge out of a task wants to know of which of its branches. */
  branches(task: string): boolean {
    return this.tasks.some((t) => t.name === task && isBranching(t));
  }

  /** askBranch lets a person say out of which branch an edge leads; one that is not there yet is drawn with the answer. */
  askBranch(edge: Edge): void {
    if (!this.may()) return;
    // After what was done is drawn: a new task has its place by then.
    requestAnimationFrame(() => this.open({ kind: "branch", screen: this.now().screenOf(edge.from), edge }));
  }

  branch(edge: Edge, key: BranchKey): void {
    this.ui.setState({ layer: undefined });
    if (!this.may()) return;
    const { t } = this.now();
    const name = key === "any" ? t("canvas.branchAny") : key === "else" ? t("canvas.branchElse") : t("form.cases.one", { n: key + 1 });
    this.did(commands.branch(this.doc, edge, key), t("canvas.saidBranch", { ...edge, branch: name }));
  }

  private placeAfter(needs: readonly string[]): Place {
    const { points, direction, middle } = this.now();
    if (Object.keys(points).length === 0) {
      const { x, y } = middle();
      return { x: Math.round(x - size.width / 2), y: Math.round(y - size.height / 2) };
    }
    const name = "\n"; // no task's name
    return placeNew([...this.tasks, { name, needs: [...needs] }], points, towards(direction))[name] ?? { x: 0, y: 0 };
  }

  /** dropTask puts a task that stands by itself on an edge. */
  threadOn(edge: Edge, task: string): void {
    if (!this.may()) return;
    const { t, points, direction } = this.now();
    const { [task]: _, ...others } = points;
    const room = makeRoom(others, edge.from, edge.to, direction);
    const ok = commands.thread(this.doc, edge, task, { ...room.moves, [task]: room.at });
    this.did(ok, t("canvas.saidInserted", { task, ...edge }), task);
  }

  connect(from: string, to: string): void {
    this.ui.setState({ layer: undefined });
    if (!this.may()) return;
    // What cannot be drawn is refused before anything is asked.
    const legal = !illegalTargets(this.tasks, from).has(to);
    if (legal && this.branches(from)) this.askBranch({ from, to });
    else this.did(commands.connect(this.doc, from, to), this.now().t("canvas.saidConnected", { from, to }));
  }

  reconnect(edge: Edge, end: Partial<Edge>): void {
    if (!this.may() || (end.from ?? edge.from) + end.to === edge.from + edge.to) return;
    const next = { ...edge, ...end };
    const ok = commands.reconnect(this.doc, edge, end);
    this.did(ok, this.now().t("canvas.saidConnected", next));
    if (ok && next.from !== edge.from && this.branches(next.from)) this.askBranch(next);
  }

  disconnect(edges: readonly Edge[]): void {
    if (!this.may() || edges.length === 0) return;
    const { t } = this.now();
    this.ui.setState({ edges: [], layer: undefined });
    const [one] = edges;
    const words =
      edges.length === 1 && one ? t("canvas.saidDisconnected", { ...one }) : t("canvas.saidDisconnectedAll", { count: edges.length });
    this.did(commands.disconnect(this.doc, edges), words);
  }

  disconnectById(id: string): void {
    this.disconnect([endsOf(id)]);
  }

  /** refocus gives the focus back to the chosen task, once what was done is drawn. */
  refocus(): void {
    this.now().focus(this.chosen.at(-1));
  }

  screenOf(task: string | undefined): Point {
    return this.now().screenOf(task);
  }

  /** remove takes the chosen tasks away, or else the chosen edges; the focus goes to a neighbour. */
  remove(names: readonly string[] = this.chosen): void {
    if (names.length === 0) {
      this.disconnect(this.ui.getState().edges.map(endsOf));
      return;
    }
    if (!this.may()) return;
    const { t } = this.now();
    const next = this.neighbour(names);
    const words =
      names.length === 1 ? t("canvas.saidRemoved", { task: names[0] ?? "" }) : t("canvas.saidRemovedAll", { count: names.length });
    if (commands.remove(this.doc, names)) {
      this.say(words);
      this.now().focus(next);
    }
  }

  private neighbour(gone: readonly string[]): string | undefined {
    const set = new Set(gone);
    const first = this.tasks.find((t) => set.has(t.name));
    const before = first?.needs.find((n) => !set.has(n));
    return (
      before ??
      this.tasks.find((t) => !set.has(t.name) && t.needs.some((n) => set.has(n)))?.name ??
      this.tasks.find((t) => !set.has(t.name))?.name
    );
  }

  /** copy answers the chosen tasks as text, and remembers how they stand. */
  copy(names: readonly string[] = this.chosen): string {
    if (names.length === 0) return "";
    const text = commands.copy(this.doc, names);
    const { points, t } = this.now();
    const set = new Set(names);
    const order = this.tasks.filter((x) => set.has(x.name)).map((x) => x.name);
    this.copied = { text, places: Object.fromEntries(order.flatMap((n) => (points[n] ? [[n, points[n]]] : []))) };
    this.say(t("canvas.saidCopied", { count: names.length }));
    return text;
  }

  cut(): string {
    const names = this.chosen;
    const text = this.copy(names);
    if (text !== "" && this.may()) this.remove(names);
    return text;
  }

  /** paste adds the tasks of a text beside the pointer, else beside what is chosen. */
  paste(text: string): void {
    if (!this.may()) return;
    const { t } = this.now();
    const names = commands.paste(this.doc, text, { after: this.chosen.at(-1), places: (tasks) => this.placePasted(text, tasks) });
    this.did(names.length > 0, t("canvas.saidPasted", { count: names.length }), names.at(-1));
  }

  private placePasted(text: string, tasks: readonly Task[]): Moves {
    const { points, direction, middle, pointer } = this.now();
    const old = this.copied?.text === text ? Object.values(this.copied.places) : [];
    const group: Record<string, Point> = {};
    const fresh = old.length === tasks.length ? {} : layoutAll(tasks, towards(direction));
    tasks.forEach((task, i) => {
      group[task.name] = (old.length === tasks.length ? old[i] : fresh[task.name]) ?? { x: 0, y: 0 };
    });
    return beside(points, group, this.wish(pointer(), middle()));
  }

  private wish(pointer: Point | undefined, middle: Point): Point {
    if (pointer) return { x: pointer.x - size.width / 2, y: pointer.y - size.height / 2 };
    const chosen = this.chosen.flatMap((n) => this.now().points[n] ?? []);
    const lowest = chosen.reduce<Point | undefined>((a, b) => (a && a.y >= b.y ? a : b), undefined);
    const left = Math.min(...chosen.map((p) => p.x));
    return lowest
      ? { x: left, y: lowest.y + size.height + defaults.gap.height }
      : { x: middle.x - size.width / 2, y: middle.y - size.height / 2 };
  }

  duplicate(names: readonly string[] = this.chosen): void {
    if (names.length === 0 || !this.may()) return;
    const { points, t } = this.now();
    const group = Object.fromEntries(names.flatMap((n) => (points[n] ? [[n, points[n]]] : [])));
    const [first] = Object.keys(group);
    const at = first === undefined ? undefined : group[first];
    if (first === undefined || !at) return;
    const top = Math.min(...Object.values(group).map((p) => p.y));
    const left = Math.min(...Object.values(group).map((p) => p.x));
    const there = beside(points, group, { x: left, y: top + size.height + defaults.gap.height })[first] ?? at;
    const made = commands.duplicate(this.doc, names, { x: there.x - at.x, y: there.y - at.y });
    this.did(made.length > 0, t("canvas.saidPasted", { count: made.length }), made.at(-1));
  }

  selectAll(): void {
    this.doc.select(this.tasks.map((x) => x.name).filter((n) => n !== ""));
    this.say(this.now().t("canvas.saidChosen", { count: this.tasks.length }));
  }

  /** choose makes tasks the chosen ones; add keeps those that were. */
  choose(task: string, add = false): void {
    const before = this.chosen;
    if (!add) this.doc.select([task]);
    else this.doc.select(before.includes(task) ? before.filter((n) => n !== task) : [...before, task]);
    this.ui.setState({ edges: [] });
  }

  chooseEdge(id: string, add: boolean): void {
    const { edges } = this.ui.getState();
    this.doc.select([]);
    this.ui.setState({ edges: !add ? [id] : edges.includes(id) ? edges.filter((e) => e !== id) : [...edges, id] });
  }

  /** nudge moves the chosen nodes by an arrow key; a run of presses is one step of the history. */
  nudge(x: number, y: number): void {
    if (this.chosen.length === 0 || !this.may()) return;
    const { points } = this.now();
    const moves = Object.fromEntries(
      this.chosen.flatMap((n) => {
        const p = points[n];
        return p ? [[n, { x: p.x + x * step, y: p.y + y * step }]] : [];
      }),
    );
    commands.move(this.doc, moves, "nudge");
    this.say(this.now().t("canvas.saidMoved", { count: this.chosen.length }));
  }

  move(moves: Moves): void {
    if (this.may()) commands.move(this.doc, moves);
  }

  /** arrange places all tasks anew, in a worker; one step of the history. */
  async arrange(direction: Direction = this.now().direction): Promise<void> {
    if (!this.may()) return;
    const { t } = this.now();
    const tasks = this.tasks;
    const points = await layoutInWorker(tasks, towards(direction));
    if (tasks !== this.tasks) return void this.arrange(direction);
    this.now().turn(direction);
    commands.move(this.doc, whole(points));
    this.say(t("canvas.saidArranged"));
    this.now().fit();
  }

  undo(): void {
    if (this.doc.state.history.past.length > 0) this.doc.undo();
  }

  redo(): void {
    if (this.doc.state.history.future.length > 0) this.doc.redo();
  }

  /** menu opens the menu of what is under the pointer, or of what has the focus. */
  menu(on: Target, screen: Point): void {
    if (on.kind === "task" && !this.chosen.includes(on.task)) this.choose(on.task);
    if (on.kind === "edge") this.chooseEdge(`${on.edge.from}>${on.edge.to}`, false);
    this.open({ kind: "menu", screen, on });
  }

  pickAfter(after: readonly string[] = this.chosen): void {
    if (this.may()) this.open({ kind: "types", screen: this.now().screenOf(after.at(-1)), added: { after } });
  }

  pickTarget(from: string | undefined = this.chosen.at(-1)): void {
    if (from !== undefined && this.may()) this.open({ kind: "connect", screen: this.now().screenOf(from), from });
  }

  listEdges(of: string | undefined = this.chosen.at(-1)): void {
    if (of !== undefined) this.open({ kind: "edges", screen: this.now().screenOf(of), of });
  }
}

function whole(points: Points): Moves {
  return Object.fromEntries(Object.entries(points).map(([n, p]) => [n, { x: Math.round(p.x), y: Math.round(p.y) }]));
}
