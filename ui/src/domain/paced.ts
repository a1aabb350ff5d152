/**
 * Paced says things one after the other, no two of them closer than some time: what comes meanwhile is said together. Once
 * nothing has come for that long it says nothing at all, so that the same thing is news the next time.
 */
export class Paced {
  private waiting: string[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly say: (things: string[]) => void,
    private readonly apart: number,
  ) {}

  add(things: string[]): void {
    if (things.length === 0) return;
    this.waiting.push(...things);
    if (this.timer === undefined) this.turn();
  }

  /** stop forgets what is not said yet. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = [];
  }

  private turn(): void {
    const now = this.waiting;
    this.waiting = [];
    this.say(now);
    this.timer = now.length === 0 ? undefined : setTimeout(() => this.turn(), this.apart);
  }
}

/** newlyFailed are the tasks that have failed since. What had failed before the page was opened is no news. */
export function newlyFailed(was: ReadonlyMap<string, string>, tasks: readonly { name: string; state: string }[]): string[] {
  return tasks.filter((x) => x.state === "failed" && was.has(x.name) && was.get(x.name) !== "failed").map((x) => x.name);
}
