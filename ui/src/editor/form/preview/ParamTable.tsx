import type { ParameterPreview } from "../../../api/client";
import { type Say, useSay } from "../../../i18n";

type Param = ParameterPreview["params"][number];

/** originOf says where a value comes from, in words. */
export function originOf(t: Say, link: { origin: string; from?: string }): string {
  switch (link.origin) {
    case "start":
      return t("form.origin.start");
    case "task":
      return t("form.origin.task");
    case "output":
      return link.from === undefined ? t("form.origin.someOutput") : t("form.origin.output", { task: link.from });
    case "workflow":
      return t("form.origin.workflow");
    case "built_in":
      return t("form.origin.builtin");
    default:
      return link.origin;
  }
}

/** ParamTable has each parameter's value with the chain of its sources: the strongest first, those that it hides struck out. */
export function ParamTable({ params }: { params: readonly Param[] }) {
  const { t } = useSay();
  const own = params.filter((p) => p.origin !== "built_in");
  const builtIn = params.filter((p) => p.origin === "built_in");
  return (
    <section className="preview-params">
      <h3>{t("form.field.params")}</h3>
      {own.length === 0 && <p className="faint">{t("form.params.none")}</p>}
      <dl>
        {own.map((p) => (
          <One key={p.name} param={p} />
        ))}
      </dl>
      {builtIn.length > 0 && (
        <details>
          <summary>{t("form.preview.builtin", { count: builtIn.length })}</summary>
          <dl>
            {builtIn.map((p) => (
              <One key={p.name} param={p} />
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}

function One({ param }: { param: Param }) {
  const { t } = useSay();
  return (
    <div className="preview-param" data-param={param.name}>
      <dt className="mono">
        {param.name} <span className="faint">{param.type}</span>
      </dt>
      {param.chain.map((link, i) => (
        <dd key={`${link.origin} ${link.from ?? ""}`}>
          {i === 0 ? (
            <code>{param.value === "" ? "''" : param.value}</code>
          ) : (
            <s className="mono faint">{link.value === "" ? "''" : link.value}</s>
          )}
          <span className="faint">
            {originOf(t, link)}
            {i > 0 && `, ${t("form.preview.hidden")}`}
          </span>
        </dd>
      ))}
    </div>
  );
}
