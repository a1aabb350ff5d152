import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type GridOf, gridQuery, readColumns } from "../api/grid";
import { type Grid, joined } from "../domain/grid/grid";
import { isLive } from "../domain/states";
import { live } from "../live/live";
import type { Message } from "../live/stream";

/** gather is how long changes are gathered before their columns are read, all at once. */
const gather = 250;
/** most is how many columns are read at once; the server takes no more. */
const most = 100;
/** asleep is how old a grid may be when the stream begins again and still only be looked over. */
const asleep = 15_000;
/** maxForeign bounds the instances of other workflows that are remembered, so as not to ask for them twice. */
const maxForeign = 10_000;

interface Change {
  id: string;
  state: string;
  seq: number;
}

function changeOf(data: unknown): Change | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { instance_id, state, seq } = data as Record<string, unknown>; // each is checked below
  if (typeof instance_id !== "string" || typeof state !== "string" || typeof seq !== "number") return undefined;
  return { id: instance_id, state, seq };
}

/** useLiveGrid reads the columns anew that the page's stream says have changed, and those that are new; the others stay as they are. */
export function useLiveGrid(of: GridOf): void {
  const client = useQueryClient();
  const { project, workflow, state, limit, until } = of;
  useEffect(() => {
    const here: GridOf = { project, workflow, state, limit, until };
    const key = gridQuery(here).queryKey;
    const wanted = new Set<string>();
    const foreign = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let left = false;
    const later = () => {
      timer ??= setTimeout(() => void bring(), gather);
    };
    const bring = async () => {
      const ids = [...wanted].slice(0, most);
      for (const id of ids) wanted.delete(id);
      try {
        const answer = await readColumns(here, ids);
        if (left) return;
        const found = new Set(answer.instances.map((i) => i.id));
        if (foreign.size > maxForeign) foreign.clear();
        for (const id of ids) if (!found.has(id)) foreign.add(id);
        const before = client.getQueryData<Grid>(key);
        // Another version has other rows: everything is read again.
        if (before && before.version !== answer.version) void client.invalidateQueries({ queryKey: key, exact: true });
        else if (before) client.setQueryData<Grid>(key, joined(before, answer, "anew"));
      } catch {
        // The stream's own state says that the server is away; the next word of it asks again.
      }
      timer = undefined;
      if (wanted.size > 0 && !left) later();
    };
    const leave = live.subscribe(`instances:${project}`, (message: Message) => {
      const grid = client.getQueryData<Grid>(key);
      const change = message.kind === "changed" ? changeOf(message.data) : undefined;
      if (change) {
        const column = grid?.columns.find((c) => c.id === change.id);
        const shown = state === undefined || state.split(",").includes(change.state);
        // Up to a day that was chosen nothing new comes.
        if (column ? column.seq >= change.seq : until !== undefined || foreign.has(change.id) || !shown) return;
        wanted.add(change.id);
        later();
        return;
      }
      // The stream begins, or has lost some: what was moving may have moved.
      const at = client.getQueryState(key)?.dataUpdatedAt ?? 0;
      if (message.kind === "lagged" || (at > 0 && Date.now() - at > asleep)) void client.invalidateQueries({ queryKey: key, exact: true });
      for (const c of grid?.columns ?? []) if (isLive(c.state)) wanted.add(c.id);
      if (wanted.size > 0) later();
    });
    return () => {
      left = true;
      clearTimeout(timer);
      leave();
    };
  }, [client, project, workflow, state, limit, until]);
}
