import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { pages } from "./queries";
import type { components } from "./schema";

// Who is told of a project's events, and how that goes.

type Schemas = components["schemas"];
export type Listener = Schemas["Listener"];
export type Delivery = Schemas["Delivery"];
export type ListenerFilter = Schemas["ListenerFilter"];
export type ListenerBody = Schemas["PutListenerBody"];

/** No news of deliveries comes by the stream. */
const again = 15_000;

export const listenersQuery = (project: string) =>
  queryOptions({
    queryKey: ["listeners", project],
    queryFn: ({ signal }) =>
      pages((cursor) =>
        answer(api.GET("/projects/{project}/listeners", { params: { path: { project }, query: { cursor, limit: 200 } }, signal })),
      ),
    refetchInterval: again,
  });

/** allListenersQuery is one question for the listeners of every project that the person operates. */
export const allListenersQuery = queryOptions({
  queryKey: ["listeners"],
  queryFn: ({ signal }) => answer(api.GET("/listeners", { signal })),
  refetchInterval: again,
});

export const deliveriesQuery = (project: string, listener: string, state: Delivery["state"] | undefined) =>
  infiniteQueryOptions({
    queryKey: ["listeners", project, "deliveries", listener, state ?? ""],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/projects/{project}/listeners/{listener}/deliveries", {
          params: { path: { project, listener }, query: { state, cursor: pageParam || undefined, limit: 50 } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    refetchInterval: again,
  });

export function putListener(project: string, listener: string, body: ListenerBody) {
  return answer(api.PUT("/projects/{project}/listeners/{listener}", { params: { path: { project, listener } }, body }));
}

export function deleteListener(project: string, listener: string) {
  return answer(api.DELETE("/projects/{project}/listeners/{listener}", { params: { path: { project, listener } } }));
}

export function testListener(project: string, listener: string) {
  return answer(api.POST("/projects/{project}/listeners/{listener}/test", { params: { path: { project, listener } } }));
}

export function redeliver(project: string, listener: string, { instance_id, alert_id }: Delivery, skip: boolean) {
  return answer(
    api.POST("/projects/{project}/listeners/{listener}/redeliver", {
      params: { path: { project, listener } },
      body: { instance_id, alert_id, skip },
    }),
  );
}
