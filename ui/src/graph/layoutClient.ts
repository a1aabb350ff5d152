import type { GraphTask } from "../domain/graph/model";
import type { Options, Points } from "../domain/graph/shape";

// The page's side of the layout worker: one worker for all graphs of the page, a promise per
// question. A question that nobody waits for any more is ended, not only ignored.

/** Question is what the worker is asked. */
export interface Question {
  id: number;
  tasks: GraphTask[];
  options: Partial<Options>;
  standing: Points;
}

/** Answer has the places of all tasks, or what went wrong. */
export type Answer = { id: number; points: Points } | { id: number; error: string };

/** Port is a Worker as far as the client uses it; tests give their own. */
export interface Port {
  postMessage(question: Question): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<Answer>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

interface Waiting {
  resolve: (points: Points) => void;
  reject: (error: Error) => void;
}

/** LayoutClient asks one worker, which it starts at the first question and keeps. */
export class LayoutClient {
  private port: Port | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(private readonly start: () => Port) {}

  /** ask gives a place for every task; it rejects with the worker's error, or with AbortError once the signal says so. */
  ask(tasks: readonly GraphTask[], options: Partial<Options>, standing: Points, signal?: AbortSignal): Promise<Points> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted());
      const id = ++this.last;
      const leave = () => {
        if (!this.waiting.delete(id)) return;
        reject(aborted());
        // Nobody waits: whatever the worker is at, it is outdated, and a new worker is quicker than its end.
        if (this.waiting.size === 0) this.end();
      };
      const settled = () => signal?.removeEventListener("abort", leave);
      this.waiting.set(id, {
        resolve: (points) => {
          settled();
          resolve(points);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener("abort", leave, { once: true });
      // Only what a layout looks at crosses over: what else a task carries would be copied for nothing.
      const shapes = tasks.map(({ name, needs, finally: last }) => (last ? { name, needs, finally: last } : { name, needs }));
      this.worker().postMessage({ id, tasks: shapes, options, standing });
    });
  }

  /** warm starts the worker ahead of the first question. */
  warm(): void {
    this.worker();
  }

  private worker(): Port {
    if (this.port) return this.port;
    const port = this.start();
    port.onmessage = ({ data }) => {
      const one = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ("error" in data) one?.reject(new Error(data.error));
      else one?.resolve(data.points);
    };
    port.onerror = (event) => {
      const all = [...this.waiting.values()];
      this.waiting.clear();
      this.end();
      for (const one of all) one.reject(new Error(event.message || "the layout worker did not start"));
    };
    this.port = port;
    return port;
  }

  private end(): void {
    this.port?.terminate();
    this.port = undefined;
  }
}

function aborted(): DOMException {
  return new DOMException("the layout is not wanted any more", "AbortError");
}

const client = new LayoutClient(() => new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" }));

/** warmLayout starts the worker while the tasks are still on their way. */
export function warmLayout(): void {
  client.warm();
}

/** layoutInWorker arranges tasks beside the page: those that stand keep their places, all others get one. */
export function layoutInWorker(
  tasks: readonly GraphTask[],
  options: Partial<Options> = {},
  standing: Points = {},
  signal?: AbortSignal,
): Promise<Points> {
  return client.ask(tasks, options, standing, signal);
}
