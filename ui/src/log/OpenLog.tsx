import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSay } from "../i18n";
import { searchLog } from "./api";

interface Props {
  id: string;
  task: string;
  attempt: number;
  onOpen: (line: string | undefined) => void;
}

/** OpenLog opens a log at the last line that looks like an error, where the server finds one. */
export function OpenLog({ id, task, attempt, onOpen }: Props) {
  const { t } = useSay();
  const error = useQuery({
    queryKey: ["log-error", id, task, attempt],
    queryFn: ({ signal }) => searchLog({ id, task, attempt, stream: undefined }, { errors: true, backward: true, limit: 1 }, signal),
    staleTime: 60_000,
    retry: false, // without it, the log opens at its end
  });
  const line = error.data?.hits[0]?.line;
  return (
    <Button variant="default" onClick={() => onOpen(line === undefined ? undefined : String(line))}>
      {line === undefined ? t("run.openLog") : t("log.openAt", { line })}
    </Button>
  );
}
