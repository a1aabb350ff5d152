import { useQueryClient } from "@tanstack/react-query";

/** useReread reads again all that shows schedules. */
export function useReread(): () => void {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({ queryKey: ["schedules"] });
    void client.invalidateQueries({ queryKey: ["schedule"] });
  };
}
