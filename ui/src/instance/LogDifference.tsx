import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bytes } from "../domain/format";
import { useSay } from "../i18n";
import { plain } from "../log/ansi";
import { type Output, readWindow } from "../log/api";
import { firstDifference, maxBytes } from "../log/firstDifference";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";

interface Props {
  project: string;
  one: Output;
  other: Output;
}

/** maxShown bounds what is shown of a line; the log itself has the rest. */
const maxShown = 2000;

/** LogDifference says in which line the outputs of two attempts part. Both are read only now, from their beginning. */
export function LogDifference({ project, one, other }: Props) {
  const { t } = useSay();
  // Times and process ids differ in any two logs: what is looked for is what differs beside them.
  const [loose, setLoose] = useState(true);
  const found = useQuery({
    queryKey: ["difference", one, other, loose],
    queryFn: ({ signal }) => firstDifference(readWindow, one, other, loose, signal),
    refetchInterval: false,
    staleTime: 60_000,
  });
  const d = found.data;
  return (
    <div className="log-difference">
      <Switch label={t("compare.loose")} checked={loose} onChange={(e) => setLoose(e.currentTarget.checked)} />
      {found.isError && <ErrorView error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <SkeletonRows rows={2} />}
      {d?.end === "same" && <p>{t(d.line === 0 ? "compare.bothEmpty" : "compare.same", { count: d.line })}</p>}
      {d?.end === "bound" && <p>{t("compare.bound", { count: d.line, size: bytes(maxBytes) })}</p>}
      {d?.end === "differs" && (
        <>
          <p>{t("compare.differs", { n: d.line })}</p>
          <Line project={project} of={one} line={d.line} text={d.one} />
          <Line project={project} of={other} line={d.line} text={d.other} />
        </>
      )}
    </div>
  );
}

function Line({ project, of, line, text }: { project: string; of: Output; line: number; text: string | undefined }) {
  const { t } = useSay();
  return (
    <p className="log-difference-line">
      <Link
        to="/p/$project/r/$id"
        params={{ project, id: of.id }}
        search={{ task: of.task, attempt: String(of.attempt), panel: "log", line: text === undefined ? undefined : String(line) }}
        className="mono num"
      >
        {of.id}
      </Link>
      {text === undefined ? <span className="faint">{t("compare.ended")}</span> : <code>{plain(text).slice(0, maxShown)}</code>}
    </p>
  );
}
