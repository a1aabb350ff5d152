import { useQuery } from "@tanstack/react-query";
import type { Explanation } from "../api/client";
import { explainQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Ago } from "../parts/Times";

/** Why prints the server's tree of reasons; the state is part of the question, so that a new one asks again. */
export function Why({ id, task, state }: { id: string; task?: string; state: string }) {
  const { t } = useSay();
  const why = useQuery(explainQuery(id, task));
  return (
    <section className="why" data-state={state}>
      <h3>{t("explain.title")}</h3>
      {why.isError ? (
        <ErrorView error={why.error} retry={() => void why.refetch()} />
      ) : why.isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        <ul>{<Reason e={why.data} />}</ul>
      )}
    </section>
  );
}

export function Reason({ e }: { e: Explanation }) {
  const { t } = useSay();
  return (
    <li>
      {e.text || t("explain.unknown", { code: e.code })}
      {e.since && (
        <span className="faint">
          {" "}
          (<Ago at={e.since} />)
        </span>
      )}
      {e.causes && e.causes.length > 0 && (
        <ul>
          {e.causes.map((c) => (
            <Reason key={`${c.code} ${c.text}`} e={c} />
          ))}
        </ul>
      )}
    </li>
  );
}
