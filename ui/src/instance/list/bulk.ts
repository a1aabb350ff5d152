import type { BulkResult } from "../../api/instances";

// One verb for many instances: in batches, so that progress shows and a person can stop it.

export interface Target {
  id: string;
  round: number;
}

/** batchSize is half of what one request may hold: an answer comes soon enough to look alive. */
const batchSize = 50;

/** runBulk sends batch after batch until all are answered or the signal says stop; a batch that got no
 * answer is sent once more, which does nothing twice, and then counts as unavailable. */
export async function runBulk(
  targets: Target[],
  send: (batch: Target[]) => Promise<BulkResult[]>,
  told: (results: BulkResult[]) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let at = 0; at < targets.length && !signal.aborted; at += batchSize) {
    const batch = targets.slice(at, at + batchSize);
    try {
      told(await send(batch).catch(() => send(batch)));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      told(batch.map(({ id }) => ({ id, result: "unavailable", message })));
    }
  }
}

/** tally counts the results by their word. */
export function tally(results: BulkResult[]): Map<BulkResult["result"], number> {
  const by = new Map<BulkResult["result"], number>();
  for (const r of results) by.set(r.result, (by.get(r.result) ?? 0) + 1);
  return by;
}
