import type { components } from "../api/schema";
import { useSay } from "../i18n";

type Diff = components["schemas"]["Diff"];
type FieldDiff = components["schemas"]["FieldDiff"];

/** DiffList says in words what was added, removed and changed. */
export function DiffList({ diff }: { diff: Diff }) {
  const { t } = useSay();
  const { tasks, edges, settings } = diff;
  const nothing =
    tasks.added.length + tasks.removed.length + tasks.changed.length + edges.added.length + edges.removed.length + settings.length === 0;
  if (nothing) return <p className="empty">{diff.same_text ? t("versions.same") : t("versions.sameMeaning")}</p>;
  return (
    <div className="diff-list">
      {settings.length > 0 && (
        <>
          <h3>{t("editor.workflow")}</h3>
          <Fields of={t("editor.workflow")} fields={settings} />
        </>
      )}
      {tasks.added.map((name) => (
        <h3 key={`+ ${name}`} className="mark-added">
          <span aria-hidden="true">+</span> {name} <span className="faint">{t("versions.added")}</span>
        </h3>
      ))}
      {tasks.removed.map((name) => (
        <h3 key={`- ${name}`} className="mark-removed">
          <span aria-hidden="true">−</span> {name} <span className="faint">{t("versions.removed")}</span>
        </h3>
      ))}
      {tasks.changed.map(({ task, fields }) => (
        <div key={`d ${task}`}>
          <h3>
            <span aria-hidden="true">Δ</span> {task}
          </h3>
          <Fields of={task} fields={fields} />
        </div>
      ))}
      {edges.added.length + edges.removed.length > 0 && (
        <>
          <h3>{t("versions.edges")}</h3>
          <ul>
            {edges.added.map((e) => (
              <li key={`+${e.from}>${e.to}`}>
                + {e.from} → {e.to}
              </li>
            ))}
            {edges.removed.map((e) => (
              <li key={`-${e.from}>${e.to}`}>
                − {e.from} → {e.to}
              </li>
            ))}
          </ul>
        </>
      )}
      {diff.cut && <p className="warning">{t("versions.cut")}</p>}
    </div>
  );
}

function Fields({ of, fields }: { of: string; fields: FieldDiff[] }) {
  const { t } = useSay();
  return (
    <div className="versions-box">
      <table className="plain" aria-label={of}>
        <thead>
          <tr>
            <th>{t("versions.field")}</th>
            <th>{t("versions.before")}</th>
            <th>{t("versions.after")}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((f) => (
            <tr key={f.field}>
              <td>
                <code>{f.field}</code>
              </td>
              <td>{f.before === undefined ? <em className="faint">{t("editor.notThere")}</em> : <pre>{f.before}</pre>}</td>
              <td>{f.after === undefined ? <em className="faint">{t("editor.notThere")}</em> : <pre>{f.after}</pre>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
