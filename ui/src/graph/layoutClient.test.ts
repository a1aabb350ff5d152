import { expect, it } from "vitest";
import { type Answer, LayoutClient, type Port, type Question } from "./layoutClient";

class Desk implements Port {
  readonly asked: Question[] = [];
  ended = false;
  onmessage: Port["onmessage"] = null;
  onerror: Port["onerror"] = null;
  postMessage(question: Question): void {
    this.asked.push(question);
  }
  terminate(): void {
    this.ended = true;
  }
  answer(data: Answer): void {
    this.onmessage?.({ data } as MessageEvent<Answer>); // the client reads the data only
  }
  fail(message: string): void {
    this.onerror?.({ message } as ErrorEvent); // the client reads the message only
  }
}

function office() {
  const desks: Desk[] = [];
  const client = new LayoutClient(() => {
    desks.push(new Desk());
    return desks[desks.length - 1] as Desk; // pushed one line above
  });
  return { desks, client };
}
const tasks = [{ name: "a", needs: [] }];
const points = { a: { x: 1, y: 2 } };

it("asks one worker again and again, and gives each answer to its own question", async () => {
  const { desks, client } = office();
  const first = client.ask(tasks, {}, {});
  const second = client.ask(tasks, {}, {});
  desks[0]?.answer({ id: 2, points });
  desks[0]?.answer({ id: 1, points: {} });
  expect([await first, await second]).toEqual([{}, points]);
  expect(desks).toHaveLength(1);
});

it("brings the worker's error back as an error, and goes on with the same worker", async () => {
  const { desks, client } = office();
  const first = client.ask(tasks, {}, {});
  desks[0]?.answer({ id: 1, error: "no place" });
  await expect(first).rejects.toThrow("no place");
  const second = client.ask(tasks, {}, {});
  desks[0]?.answer({ id: 2, points });
  expect(await second).toEqual(points);
  expect(desks).toHaveLength(1);
});

it("ends a worker that nobody waits for, but not one that somebody waits for", async () => {
  const { desks, client } = office();
  const stop = new AbortController();
  const left = client.ask(tasks, {}, {}, stop.signal);
  const kept = client.ask(tasks, {}, {});
  stop.abort();
  await expect(left).rejects.toThrow("not wanted");
  expect(desks[0]?.ended).toBe(false);
  desks[0]?.answer({ id: 1, points: {} });
  desks[0]?.answer({ id: 2, points });
  expect(await kept).toEqual(points);
  const again = new AbortController();
  const alone = client.ask(tasks, {}, {}, again.signal);
  again.abort();
  await expect(alone).rejects.toThrow("not wanted");
  expect(desks[0]?.ended).toBe(true);
});

it("rejects all that wait when the worker breaks, and starts a new one", async () => {
  const { desks, client } = office();
  const first = client.ask(tasks, {}, {});
  desks[0]?.fail("refused by the policy");
  await expect(first).rejects.toThrow("refused by the policy");
  const second = client.ask(tasks, {}, {});
  desks[1]?.answer({ id: 2, points });
  expect(await second).toEqual(points);
});
