import { Button, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { saveVersion } from "../api/definitions";
import { type Imported, saveSchedules } from "../api/imports";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { StateIcon } from "../parts/StateIcon";
import { saveAs } from "../parts/saveAs";
import { ImportFindings } from "./ImportFindings";

interface Props {
  project: string;
  imported: Imported;
  onClose: () => void;
}

/** Outcome is what became of one workflow: undefined before it was asked for. */
type Outcome = { saved: true } | { saved: false; error: unknown };

/** ImportExport saves the chosen workflows of an export, sub-workflows first; what is left to do by hand is listed. */
export function ImportExport({ project, imported, onClose }: Props) {
  const { t } = useSay();
  const client = useQueryClient();
  const { workflows, schedules, open, count } = imported;
  const can = (w: Imported["workflows"][number]) => !w.exists && w.errors.length === 0;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(workflows.filter(can).map((w) => w.name)));
  const [timed, setTimed] = useState(true);
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({});
  const theirs = schedules.filter((s) => chosen.has(s.workflow));
  const save = useMutation({
    mutationFn: async () => {
      const done: Record<string, Outcome> = { ...outcomes };
      // In their order: who runs another is refused before that is there.
      for (const { name: workflow, text } of workflows.filter((w) => chosen.has(w.name) && !done[w.name]?.saved)) {
        try {
          await saveVersion({ project, workflow, text, format: "yaml", match: 0, publish: true, message: "" });
          done[workflow] = { saved: true };
        } catch (error) {
          done[workflow] = { saved: false, error };
        }
        setOutcomes({ ...done });
      }
      void client.invalidateQueries({ queryKey: ["overview"] });
      void client.invalidateQueries({ queryKey: ["workflows"] });
      const saved = theirs.filter((s) => done[s.workflow]?.saved);
      if (timed && saved.length > 0) await saveSchedules(project, saved);
      void client.invalidateQueries({ queryKey: ["schedules"] });
      return done;
    },
    onSuccess: (done) => {
      const all = [...chosen].every((name) => done[name]?.saved);
      if (!all) return;
      notifications.show({ message: t("account.import.savedMany", { count: chosen.size }), autoClose: 4000, withCloseButton: false });
      onClose();
    },
  });
  const toggle = (name: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(name);
    else next.delete(name);
    setChosen(next);
  };
  return (
    <form
      className="stack"
      aria-label={t("account.import.result")}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <p role="status">
        {t("account.import.found", { count: workflows.length })}{" "}
        <span className="faint num">
          {t("account.import.counts", { mapped: count.mapped, changed: count.changed, hand: count.hand, none: count.none })}
        </span>
      </p>
      <ul className="import-list" aria-label={t("account.workflows.table")}>
        {workflows.map((w) => {
          const outcome = outcomes[w.name];
          return (
            <li key={w.name}>
              <Switch
                label={w.name}
                description={[
                  t("account.import.tasks", { count: w.tasks }),
                  w.was && t("account.import.was", { name: w.was }),
                  w.exists && t("account.import.exists"),
                ]
                  .filter(Boolean)
                  .join(" · ")}
                checked={chosen.has(w.name)}
                disabled={!can(w) || outcome?.saved}
                onChange={(e) => toggle(w.name, e.currentTarget.checked)}
              />
              {outcome?.saved && (
                <span className="state-word text-success">
                  <StateIcon state="success" size={14} /> {t("account.import.done")}
                </span>
              )}
              {outcome && !outcome.saved && <FormError error={outcome.error} />}
              <ImportFindings list={w.errors} />
            </li>
          );
        })}
      </ul>
      {open.length > 0 && (
        <details>
          <summary>{t("account.import.open", { count: count.hand + count.none })}</summary>
          <ul className="import-findings">
            {open.map((f) => (
              <li key={`${f.about} ${f.field} ${f.code} ${f.message}`}>
                <strong>{f.about}</strong> {f.message} <code className="faint">{f.field}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {theirs.length > 0 && (
        <Switch
          label={t("account.import.schedules", { count: theirs.length })}
          checked={timed}
          onChange={(e) => setTimed(e.currentTarget.checked)}
        />
      )}
      {save.isError && <FormError error={save.error} />}
      <div className="dialog-end">
        <Button variant="subtle" onClick={() => saveAs("import-report.txt", imported.report, "text/plain")}>
          {t("account.import.report")}
        </Button>
        <Button type="submit" loading={save.isPending} disabled={chosen.size === 0}>
          {t("account.import.saveMany", { count: chosen.size })}
        </Button>
      </div>
    </form>
  );
}
