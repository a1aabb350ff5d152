import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Check, Play, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { overviewQuery, type ProjectOverview } from "../api/account";
import type { Instance } from "../api/client";
import { start } from "../api/commands";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Guarded } from "../parts/Guarded";
import { useMe, whyNot } from "../shell/me";
import { type Known, stepsDone } from "./steps";
import "./account.css";

const examples = "examples";
const example = "epigenomics";
const key = "porpoise.steps";

/** kept is what this browser remembers of the steps: "hidden", or "looked" at a failure. */
function kept(): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return ""; // storage is off: the steps stay
  }
}

function keep(value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // storage is off: it lasts for this visit
  }
}

interface Props {
  latest: Instance[];
  failed: Instance | undefined;
}

/** FirstSteps stands on Today until the first workflow of one's own is there, or until it is hidden. */
export function FirstSteps({ latest, failed }: Props) {
  const [memory, setMemory] = useState(kept);
  const projects = useQuery({ ...overviewQuery, enabled: memory !== "hidden" });
  if (memory === "hidden" || !projects.data) return null;
  const known = { latest, projects: projects.data, looked: memory === "looked" };
  const done = stepsDone(known);
  if (done.run && done.look && done.project && done.write) return null;
  const remember = (value: string) => {
    keep(value);
    setMemory(value);
  };
  return <Card known={known} failed={failed} remember={remember} />;
}

interface CardProps {
  known: Omit<Known, "projects"> & { projects: ProjectOverview[] };
  failed: Instance | undefined;
  remember: (value: string) => void;
}

function Card({ known, failed, remember }: CardProps) {
  const { t } = useSay();
  const me = useMe();
  const go = useNavigate();
  const done = stepsDone(known);
  const shown = known.projects.find((p) => p.name === examples);
  const own = known.projects.find((p) => p.name !== examples);
  const run = useMutation({
    mutationFn: start,
    onSuccess: (started) => void go({ to: "/p/$project/r/$id", params: { project: examples, id: started.instance_id } }),
  });
  return (
    <section className="welcome">
      <div className="title-row">
        <h2>{t("account.today.welcome")}</h2>
        <Tooltip label={t("account.today.hide")}>
          <ActionIcon className="push" aria-label={t("account.today.hide")} onClick={() => remember("hidden")}>
            <X size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
      <ol className="steps">
        <Step n={1} done={done.run} what={t("account.today.run")}>
          {shown ? (
            <Guarded
              leftSection={<Play size={14} />}
              loading={run.isPending}
              why={whyNot(t, shown.role, "operator")}
              onClick={() => run.mutate({ project: examples, workflow: example, params: {}, key: `steps-${Date.now()}-${Math.random()}` })}
            >
              {t("today.runExample", { name: example })}
            </Guarded>
          ) : (
            <span className="faint">{t("account.today.noExamples")}</span>
          )}
        </Step>
        <Step n={2} done={done.look} what={t("account.today.look")}>
          {failed && (
            <Link
              className="button-link"
              to="/p/$project/r/$id"
              params={{ project: failed.project, id: failed.id }}
              onClick={() => remember("looked")}
            >
              {t("account.today.open")}
            </Link>
          )}
        </Step>
        <Step n={3} done={done.project} what={t("account.today.project")}>
          {!done.project && (
            <Guarded
              variant="default"
              why={whyNot(t, me.admin ? "admin" : "none", "admin")}
              onClick={() => void go({ to: "/projects", search: { new: "1" } })}
            >
              {t("account.today.create")}
            </Guarded>
          )}
        </Step>
        <Step n={4} done={done.write} what={t("account.today.write")}>
          {own && !done.write && (
            <Button
              variant="default"
              onClick={() => void go({ to: "/p/$project/workflows", params: { project: own.name }, search: { new: "1" } })}
            >
              {t("account.today.editor")}
            </Button>
          )}
        </Step>
      </ol>
      <FormError error={run.error} />
    </section>
  );
}

function Step({ n, done, what, children }: { n: number; done: boolean; what: string; children: ReactNode }) {
  const { t } = useSay();
  return (
    <li>
      <span className={done ? "step-mark done" : "step-mark"} role="img" aria-label={done ? t("account.today.done") : String(n)}>
        {done ? <Check size={13} aria-hidden="true" /> : n}
      </span>
      <span className={done ? "step-what faint" : "step-what"}>{what}</span>
      {children}
    </li>
  );
}
