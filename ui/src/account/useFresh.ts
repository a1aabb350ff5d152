import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { live } from "../live/live";

/** gather is how often an overview is read again at most, however much goes on. */
const gather = 2000;

/** useFresh reads what begins with the key again after the server has told of changed instances. */
export function useFresh(key: string): void {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leave = live.subscribe("instances", () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: [key] });
      }, gather);
    });
    return () => {
      leave();
      clearTimeout(timer);
    };
  }, [client, key]);
}
