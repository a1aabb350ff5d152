import type { Task } from "../api/client";
import { millis } from "../domain/format";

// Two instances side by side, task by task.

export interface TaskPair {
  name: string;
  one: Task | undefined;
  other: Task | undefined;
  took: number | undefined; // of the first, in ms
  otherTook: number | undefined;
  by: number | undefined; // how much longer the first took
}

function tookOf(task: Task | undefined): number | undefined {
  const from = millis(task?.started_at);
  const to = millis(task?.finished_at);
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}

/** taskPairs puts the tasks of two instances together by name: those that ended differently first, then by how
 * much longer they took; the order of the first instance breaks ties. */
export function taskPairs(one: Task[], other: Task[]): TaskPair[] {
  const others = new Map(other.map((x) => [x.name, x]));
  const names = [...one.map((x) => x.name), ...other.map((x) => x.name).filter((n) => !one.some((x) => x.name === n))];
  const ones = new Map(one.map((x) => [x.name, x]));
  const pairs = names.map((name): TaskPair => {
    const a = ones.get(name);
    const b = others.get(name);
    const [took, otherTook] = [tookOf(a), tookOf(b)];
    return { name, one: a, other: b, took, otherTook, by: took === undefined || otherTook === undefined ? undefined : took - otherTook };
  });
  const differs = (p: TaskPair) => (p.one?.state !== p.other?.state ? 0 : 1);
  return pairs
    .map((p, i) => ({ p, i }))
    .sort((a, b) => differs(a.p) - differs(b.p) || Math.abs(b.p.by ?? 0) - Math.abs(a.p.by ?? 0) || a.i - b.i)
    .map(({ p }) => p);
}

export interface ParamPair {
  name: string;
  one: string | undefined;
  other: string | undefined;
}

/** paramPairs lists every parameter of either, those that differ first. */
export function paramPairs(one: Record<string, string>, other: Record<string, string>): ParamPair[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  const pairs = names.map((name) => ({ name, one: one[name], other: other[name] }));
  return [...pairs.filter((p) => p.one !== p.other), ...pairs.filter((p) => p.one === p.other)];
}
