import { useQuery } from "@tanstack/react-query";
import { casesQuery, tryOut } from "../../api/trial";
import { useSay } from "../../i18n";
import { StateIcon } from "../../parts/StateIcon";
import { useDoc } from "../context";
import type { Origin } from "../origin";
import { useSaved } from "../versions/context";

/** maxNames is how many of the cases that fail are named: the panel of the cases has them all. */
const maxNames = 3;

/** Tried says before a version is published how the saved test cases go with it. It warns, and forbids nothing. */
export function Tried({ origin: { project, workflow } }: { origin: Origin }) {
  const { t } = useSay();
  const there = useSaved((s) => s.version > 0 || s.draft !== undefined);
  const text = useDoc((s) => s.history.text);
  const saved = useQuery({ ...casesQuery(project, workflow), enabled: there });
  const cases = saved.data?.text ?? "";
  const tried = useQuery({
    queryKey: ["trial", project, text, cases],
    queryFn: () => tryOut({ project, text, cases }),
    enabled: cases.trim() !== "",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (cases.trim() === "") return null;
  if (tried.isPending)
    return (
      <p className="faint tried" role="status">
        {t("trial.trying")}
      </p>
    );
  const { failed = 0, passed = 0, cases: ran = [] } = tried.data ?? {};
  const wrong = tried.isError || tried.data.text_errors.length + tried.data.cases_errors.length > 0;
  const names = ran.filter((c) => !c.passed).map((c) => c.name);
  const named = names.slice(0, maxNames).join(", ");
  return (
    <p className="tried" role="status">
      <StateIcon state={wrong || failed > 0 ? "failed" : "success"} size={16} />{" "}
      {wrong
        ? t("trial.cantTry")
        : failed > 0
          ? t("trial.somePass", { failed, names: names.length > maxNames ? t("trial.andMore", { names: named }) : named })
          : t("trial.allPass", { count: passed })}
    </p>
  );
}
