import "./approval.css";
import { Button, Select, Textarea, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Approval, approvalsQuery, decide, type FormField } from "../api/approvals";
import { ApiError } from "../api/client";
import { approvedBy, boundsOf, filledIn, missingIn, standingOf } from "../domain/approval";
import { type Say, useSay } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { Ago, Due } from "../parts/Times";
import { useMe } from "../shell/me";

/** Ask is an approval with all that its reader needs to decide: what is asked, who else has said what, the form, and the two answers. */
export function Ask({ approval: a }: { approval: Approval }) {
  const { t } = useSay();
  const me = useMe().name;
  const standing = standingOf(a, me);
  return (
    <div className="ask">
      <p className="ask-message">{a.message || t("approvals.noMessage")}</p>
      <Facts a={a} />
      {a.decisions.length > 0 && <Said a={a} />}
      {standing === "over" || standing === "decided" ? (
        <p className="faint">{t(standing === "over" ? "approvals.over" : "approvals.decided")}</p>
      ) : (
        <Answer a={a} why={standing === "mine" ? undefined : whoMay(t, a)} />
      )}
    </div>
  );
}

/** whoMay says who is asked: by name, by role, or operators. */
function whoMay(t: Say, { users, roles, not_starter }: Approval): string {
  const names = [...(users ?? []), ...(roles ?? []).map((r) => t("approvals.role", { role: r }))];
  const who = names.length > 0 ? t("approvals.who", { names: names.join(", ") }) : t("approvals.operators");
  return not_starter ? `${who} ${t("approvals.notStarter")}` : who;
}

function Facts({ a }: { a: Approval }) {
  const { t } = useSay();
  const yes = approvedBy(a);
  return (
    <dl className="ask-facts">
      <dt>{t("approvals.asked")}</dt>
      <dd>
        <Ago at={a.created_at} />
      </dd>
      {a.expires_at && (
        <>
          <dt>{t("approvals.expires")}</dt>
          <dd>
            <Due at={a.expires_at} />
            {`, ${t(a.on_expiry === "approve" ? "approvals.thenApproved" : a.on_expiry === "reject" ? "approvals.thenRejected" : "approvals.thenFails")}`}
          </dd>
        </>
      )}
      <dt>{t("approvals.quorum")}</dt>
      <dd className="num">{t("approvals.of", { n: yes.length, quorum: a.quorum })}</dd>
      <dt>{t("approvals.may")}</dt>
      <dd>{whoMay(t, a)}</dd>
    </dl>
  );
}

function Said({ a }: { a: Approval }) {
  const { t } = useSay();
  return (
    <ul className="ask-said">
      {a.decisions.map((d) => (
        <li key={d.by}>
          <strong>{d.by}</strong> {t(d.approve ? "approvals.saidYes" : "approvals.saidNo")}{" "}
          <span className="faint">
            <Ago at={d.at} />
          </span>
          {d.reason && <q>{d.reason}</q>}
          {d.values && Object.keys(d.values).length > 0 && (
            <span className="mono faint">
              {Object.entries(d.values)
                .map(([name, value]) => `${name}=${value}`)
                .join("  ")}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

// Asked before a no is sent: it ends the task for good.
function Sure({ busy, onNo, onBack }: { busy: boolean; onNo: () => void; onBack: () => void }) {
  const { t } = useSay();
  return (
    <div className="ask-sure" role="alertdialog" aria-label={t("approvals.reject")}>
      <p>{t("approvals.sure")}</p>
      <div className="ask-acts">
        <Button loading={busy} onClick={onNo} data-autofocus>
          {t("approvals.reject")}
        </Button>
        <Button variant="default" onClick={onBack}>
          {t("common.cancel")}
        </Button>
      </div>
    </div>
  );
}

function Answer({ a, why }: { a: Approval; why: string | undefined }) {
  const { t } = useSay();
  const client = useQueryClient();
  const [values, setValues] = useState<Record<string, string>>({});
  const [reason, setReason] = useState("");
  const [sure, setSure] = useState(false);
  const [tried, setTried] = useState(false);
  const act = useMutation({
    mutationFn: (approve: boolean) =>
      decide({ approval: a, approve, reason: reason.trim(), values: approve ? filledIn(a.form, values) : {} }),
    onSuccess: (_, approve) => {
      notifications.show({ message: t(approve ? "approvals.doneYes" : "approvals.doneNo", { task: a.task }), autoClose: 3000 });
      void client.invalidateQueries({ queryKey: approvalsQuery.queryKey });
      void client.invalidateQueries({ queryKey: ["instance", a.instance_id] });
    },
    onError: () => setSure(false),
  });
  const missing = new Set(missingIn(a.form, values));
  const refused = act.error instanceof ApiError ? act.error.fields : [];
  const wrong = (name: string) =>
    tried && missing.has(name) ? t("approvals.wanted") : refused.find((f) => f.field === `values.${name}`)?.message;
  const approve = (event: FormEvent) => {
    event.preventDefault();
    if (why !== undefined) return;
    setTried(true);
    if (missing.size === 0) act.mutate(true);
  };
  return (
    <form className="ask-form" onSubmit={approve}>
      {a.form.map((f) => (
        <Field
          key={f.name}
          field={f}
          value={values[f.name] ?? ""}
          error={wrong(f.name)}
          disabled={why !== undefined}
          onChange={(v) => setValues({ ...values, [f.name]: v })}
        />
      ))}
      <Textarea
        label={t("approvals.reason")}
        maxLength={4096}
        autosize
        minRows={1}
        maxRows={6}
        disabled={why !== undefined}
        value={reason}
        onChange={(e) => setReason(e.currentTarget.value)}
      />
      {act.isError && !refused.some((f) => f.field.startsWith("values.")) && <ErrorView error={act.error} />}
      {sure ? (
        <Sure busy={act.isPending} onNo={() => act.mutate(false)} onBack={() => setSure(false)} />
      ) : (
        <div className="ask-acts">
          <Guarded type="submit" why={why} loading={act.isPending}>
            {t("approvals.approve")}
          </Guarded>
          <Guarded variant="default" why={why} onClick={() => setSure(true)}>
            {t("approvals.reject")}…
          </Guarded>
        </div>
      )}
    </form>
  );
}

interface FieldProps {
  field: FormField;
  value: string;
  error: string | undefined;
  disabled: boolean;
  onChange: (value: string) => void;
}

function Field({ field: f, value, error, disabled, onChange }: FieldProps) {
  const { t } = useSay();
  const bounds = boundsOf(f);
  const common = {
    label: `${f.name} (${f.type})`,
    description: [f.description, bounds].filter(Boolean).join(" · ") || undefined,
    error,
    disabled,
    withAsterisk: f.default === undefined,
  };
  const empty = f.default === undefined ? t("hub.required") : t("schedules.paramEmpty", { value: f.default });
  const choices = f.enum && f.enum.length > 0 ? f.enum : f.type === "boolean" ? ["true", "false"] : undefined;
  if (choices) {
    const data = [{ value: "", label: empty }, ...choices.map((c) => ({ value: c, label: c }))];
    return <Select {...common} data={data} value={value} onChange={(v) => onChange(v ?? "")} />;
  }
  return (
    <TextInput
      {...common}
      value={value}
      placeholder={empty}
      inputMode={f.type === "integer" ? "numeric" : f.type === "number" ? "decimal" : undefined}
      autoComplete="off"
      onChange={(e) => onChange(e.currentTarget.value)}
    />
  );
}
