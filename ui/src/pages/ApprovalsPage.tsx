import { getRouteApi, Link } from "@tanstack/react-router";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Approval } from "../api/approvals";
import { Ask } from "../approval/Ask";
import { useWaiting } from "../approval/useWaiting";
import { keyOf } from "../domain/approval";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Ago, Due } from "../parts/Times";
import { useStay } from "../parts/useStay";

const route = getRouteApi("/approvals");

/** ApprovalsPage lists what waits for the reader's word. The open one stands in the address. */
export function ApprovalsPage() {
  const { t } = useSay();
  const { open } = route.useSearch();
  const go = useStay(route.useNavigate());
  const list = useWaiting();
  const items = list.data ?? [];
  const gone = useGone(items, open, list.isSuccess);
  const shown = gone ? [gone, ...items] : items;
  // With one alone there is nothing to choose.
  const at = open ?? (shown.length === 1 && shown[0] ? keyOf(shown[0]) : undefined);
  const turn = (key: string) => void go({ search: { open: key === at ? undefined : key }, replace: true });
  return (
    <div className="page">
      <div className="title-row">
        <h1>{t("approvals.title")}</h1>
      </div>
      {list.isError && !list.data ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : shown.length === 0 ? (
        <div className="empty">
          <h2>{t("approvals.emptyTitle")}</h2>
          <p>{t("approvals.empty")}</p>
        </div>
      ) : (
        <ul className="asks" aria-label={t("approvals.title")}>
          {shown.map((a) => (
            <Row key={`${keyOf(a)} ${a.attempt}`} a={a} open={keyOf(a) === at} gone={a === gone} onTurn={() => turn(keyOf(a))} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** useGone keeps what somebody has open when it no longer waits for him: what he was writing must not vanish without a word. */
function useGone(items: readonly Approval[], open: string | undefined, known: boolean): Approval | undefined {
  const last = useRef<Approval>(undefined);
  const found = items.find((a) => keyOf(a) === open);
  useEffect(() => {
    if (found) last.current = found;
  }, [found]);
  if (found || !known || !last.current || keyOf(last.current) !== open) return undefined;
  return { ...last.current, may_decide: false, state: "success" };
}

interface RowProps {
  a: Approval;
  open: boolean;
  gone: boolean;
  onTurn: () => void;
}

function Row({ a, open, gone, onTurn }: RowProps) {
  const { t } = useSay();
  const Mark = open ? ChevronDown : ChevronRight;
  return (
    <li data-approval={keyOf(a)}>
      <button type="button" className="asks-turn" aria-expanded={open} onClick={onTurn}>
        <Mark size={14} aria-hidden="true" />
        <span className="asks-what">{open ? a.task : a.message.split("\n", 1)[0] || a.task}</span>
        <span className="faint">
          {gone ? (
            t("approvals.gone")
          ) : a.expires_at ? (
            <>
              {t("approvals.expires")} <Due at={a.expires_at} />
            </>
          ) : (
            <Ago at={a.created_at} />
          )}
        </span>
        <span className="asks-where faint">
          {a.project} / {a.workflow} #{a.instance_id} · {a.task}
        </span>
      </button>
      {open && (
        <div className="asks-body">
          <Link
            className="asks-link"
            to="/p/$project/r/$id"
            params={{ project: a.project, id: a.instance_id }}
            search={{ task: a.task, panel: "about" }}
          >
            {t("approvals.instance", { id: a.instance_id })}
          </Link>
          <Ask approval={a} />
        </div>
      )}
    </li>
  );
}
