import { useQuery } from "@tanstack/react-query";
import type { Place, Shape } from "./layout";

// Arranging 500 tasks takes half a second of CPU: not on the page's own thread.
function arrange(shapes: Shape[], signal: AbortSignal): Promise<Record<string, Place>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    const end = () => worker.terminate();
    worker.onmessage = (event: MessageEvent<Record<string, Place>>) => {
      end();
      resolve(event.data);
    };
    worker.onerror = (event) => {
      end();
      reject(new Error(event.message || "the layout worker did not start"));
    };
    signal.addEventListener("abort", end);
    worker.postMessage(shapes);
  });
}

/** useLayout gives the nodes' places: those that were saved win, the rest is arranged. */
export function useLayout(tasks: Shape[], saved: Record<string, Place> | undefined) {
  const shapes = tasks.map(({ name, needs }) => ({ name, needs }));
  return useQuery({
    queryKey: ["arranged", shapes],
    queryFn: ({ signal }) => arrange(shapes, signal),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
    retry: false,
    select: (places) => ({ ...places, ...saved }),
  });
}
