// Reading a text where it does not hold up the page: at 2,000 tasks a reading takes most of a second.

import { type Reading, read } from "../domain/document/read";

/** inPlaceMax is the length of a text that is read at once: some tens of milliseconds. */
export const inPlaceMax = 16_384;

/** Reader reads texts elsewhere; an answer may come late, and its caller drops what is outdated. */
export interface Reader {
  read(text: string): Promise<Reading>;
  close(): void;
}

/** workerReader reads in a worker, which is started with the first long text. */
export function workerReader(): Reader {
  let worker: Worker | undefined;
  let next = 0;
  const open = new Map<number, { resolve: (r: Reading) => void; reject: (e: unknown) => void }>();
  const begin = () => {
    const w = new Worker(new URL("./read.worker.ts", import.meta.url), { type: "module" });
    w.onmessage = ({ data }: MessageEvent<{ id: number; reading: Reading }>) => {
      open.get(data.id)?.resolve(data.reading);
      open.delete(data.id);
    };
    w.onerror = (event) => {
      for (const one of open.values()) one.reject(new Error(event.message));
      open.clear();
      worker = undefined;
    };
    return w;
  };
  return {
    read: (text) =>
      new Promise((resolve, reject) => {
        worker ??= begin();
        const id = next++;
        open.set(id, { resolve, reject });
        worker.postMessage({ id, text });
      }),
    close: () => worker?.terminate(),
  };
}

/** localReader reads at once: for tests, and where there are no workers. */
export const localReader: Reader = { read: async (text) => read(text), close: () => undefined };
