import { useQuery } from "@tanstack/react-query";
import { versionQuery } from "../api/queries";
import type { Rules } from "../domain/graph/rules";

/** useRules reads the rules of a version's tasks from its text; undefined until it has come, and where it has none. */
export function useRules(project: string, workflow: string, version: number): Rules | undefined {
  const found = useQuery({
    queryKey: ["rules", project, workflow, version],
    // The reader of texts is another file: most workflows are drawn before it is there, or without it.
    queryFn: async ({ client }): Promise<Rules | null> => {
      const { text } = await client.fetchQuery(versionQuery(project, workflow, version));
      return (await import("./readRules")).readRules(text);
    },
    enabled: version > 0,
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return found.data ?? undefined;
}
