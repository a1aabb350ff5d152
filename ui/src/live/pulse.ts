import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { heardPulse, type Pulse } from "../api/cluster";
import { live } from "./live";

function isPulse(data: unknown): data is Pulse {
  return typeof data === "object" && data !== null && "slots" in data && "masters" in data; // the server's own document says the rest
}

/** useLivePulse keeps the cluster's pulse as new as the server says, for as long as the page is there and not paused. */
export function useLivePulse(paused = false): void {
  const client = useQueryClient();
  useEffect(
    () =>
      paused
        ? undefined
        : live.subscribe("cluster", (message) => {
            if (message.kind === "pulse" && isPulse(message.data)) heardPulse(client, message.data);
          }),
    [client, paused],
  );
}
