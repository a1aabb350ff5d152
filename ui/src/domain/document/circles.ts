// Circles of needs, as the server finds them: one per group of tasks that all reach each other,
// named by a shortest way from its first task back to it.

/** groups returns those of more than one task, by indices: Tarjan's components, without recursion. */
export function groups(pred: readonly (readonly number[])[]): number[][] {
  const n = pred.length;
  const number = new Int32Array(n);
  const low = new Int32Array(n);
  const edge = new Int32Array(n);
  const onStack = new Uint8Array(n);
  const out: number[][] = [];
  const stack: number[] = [];
  const calls: number[] = [];
  let count = 0;
  const least = (t: number, value: number) => {
    low[t] = Math.min(low[t] ?? 0, value);
  };
  for (let root = 0; root < n; root++) {
    if (number[root]) continue;
    calls.push(root);
    for (let t = calls.at(-1); t !== undefined; t = calls.at(-1)) {
      if (!number[t]) {
        number[t] = low[t] = ++count;
        stack.push(t);
        onStack[t] = 1;
      }
      const at = edge[t] ?? 0;
      edge[t] = at + 1;
      const next = pred[t]?.[at];
      if (next !== undefined) {
        if (!number[next]) calls.push(next);
        else if (onStack[next]) least(t, number[next] ?? 0);
        continue;
      }
      calls.pop();
      const up = calls.at(-1);
      if (up !== undefined) least(up, low[t] ?? 0);
      if (low[t] !== number[t]) continue;
      const group = stack.splice(stack.lastIndexOf(t));
      for (const one of group) onStack[one] = 0;
      if (group.length > 1) out.push(group);
    }
  }
  return out;
}

/** circle is a shortest way from the first task of a group along its needs back to itself, both ends named. */
export function circle(pred: readonly (readonly number[])[], group: readonly number[]): number[] {
  const first = Math.min(...group);
  const inside = new Set(group);
  const from = new Map<number, number>();
  const queue = [first];
  for (let at = 0; at < queue.length; at++) {
    const t = queue[at] ?? first;
    for (const next of pred[t] ?? []) {
      if (next === first) {
        const path = [first];
        for (let back = t; back !== first; back = from.get(back) ?? first) path.push(back);
        path.push(first);
        return path;
      }
      if (inside.has(next) && !from.has(next)) {
        from.set(next, t);
        queue.push(next);
      }
    }
  }
  return [];
}
