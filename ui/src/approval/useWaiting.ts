import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { approvalsQuery } from "../api/approvals";
import { live } from "../live/live";

// News of instances come up to four times a second; people do not.
const calm = 3000;

/** useWaiting keeps what waits for the reader as new as the stream's news, read at most once in a few seconds. */
export function useWaiting() {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const leave = live.subscribe("instances", () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          last = Date.now();
          void client.invalidateQueries({ queryKey: approvalsQuery.queryKey });
        },
        Math.max(250, last + calm - Date.now()),
      );
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [client]);
  return useQuery(approvalsQuery);
}
