import { Switch } from "@mantine/core";
import { useState } from "react";
import type { ParameterPreview } from "../../../api/client";
import { useSay } from "../../../i18n";
import { sayOr } from "../words";
import { rendered } from "./rendered";

type Spec = NonNullable<ParameterPreview["task"]>;

/** PreviewedTask is the task as a worker would get it: its fields with values put in, and the variables of its process. */
export function PreviewedTask({ task }: { task: Spec }) {
  const { t } = useSay();
  const [values, setValues] = useState(true);
  const { script, ...fields } = task.fields;
  const env = Object.entries(task.env).sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    <section className="preview-task">
      {typeof script === "string" && (
        <>
          <h3 className="preview-head">
            {t("form.field.script")}
            <Switch label={t("form.preview.withValues")} checked={values} onChange={() => setValues(!values)} />
          </h3>
          <pre className="preview-code" role="region" tabIndex={0} aria-label={t("form.preview.script")}>
            {values
              ? rendered(script, task.env).map((piece, i) =>
                  piece.name === undefined ? (
                    piece.text
                  ) : (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no other identity
                    <mark key={i} title={piece.name}>
                      {piece.text}
                    </mark>
                  ),
                )
              : script}
          </pre>
        </>
      )}
      <dl>
        {Object.entries(fields).map(([key, value]) => (
          <div className="preview-param" key={key}>
            <dt>{sayOr(t, `form.field.${key}`, key)}</dt>
            <dd>
              <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
      <details open={typeof script !== "string" || undefined}>
        <summary>{t("form.preview.env", { count: env.length })}</summary>
        <dl>
          {env.map(([name, value]) => (
            <div className="preview-param" key={name}>
              <dt className="mono">{name}</dt>
              <dd>
                <code>{value === "" ? "''" : value}</code>
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
