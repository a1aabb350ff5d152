import { useQuery } from "@tanstack/react-query";
import { tasksOfVersionQuery } from "../../api/about";
import type { Instance, Task } from "../../api/client";
import { valuesQuery } from "../../api/instances";
import { tasksQuery } from "../../api/queries";
import { choosersOf, mentioned, type Way, waysOf } from "../../domain/choice";
import { type Say, useSay } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { StateIcon, StateWord } from "../../parts/StateIcon";

/** Choice shows the branches of a switch or conditions task, which was taken, and the values that decided. */
export function Choice({ instance, task, onShow }: { instance: Instance; task: Task; onShow: (task: string) => void }) {
  const { t } = useSay();
  const { project, workflow, version } = instance;
  const written = useQuery(tasksOfVersionQuery(project, workflow, version));
  if (written.isError) return <ErrorView error={written.error} retry={() => void written.refetch()} />;
  if (written.isPending) return <SkeletonRows />;
  const own = written.data.find((x) => x.name === task.name);
  if (!own) return null;
  const ways = waysOf(own, task.outputs?.branch);
  return (
    <section>
      {task.outputs?.branch === undefined && <p className="faint">{t("about.notYet")}</p>}
      <ol className="about-ways">
        {ways.map((w) => (
          <WayRow key={w.n ?? "else"} way={w} onShow={onShow} />
        ))}
      </ol>
      <h3>{t("about.decidedBy")}</h3>
      <Values instance={instance} task={task.name} needs={own.needs} conditions={ways.filter((w) => w.looked).map((w) => w.when)} />
    </section>
  );
}

/** nameOf is the name of a branch. */
export function nameOf(t: Say, n: number | undefined): string {
  return n === undefined ? t("about.else") : t("about.case", { n });
}

function WayRow({ way, onShow }: { way: Way; onShow: (task: string) => void }) {
  const { t } = useSay();
  const { taken } = way;
  const said =
    taken === undefined
      ? undefined
      : taken
        ? "about.taken"
        : !way.looked
          ? "about.notLooked"
          : way.n === undefined
            ? undefined
            : "about.notTaken";
  return (
    <li data-taken={taken === true || undefined}>
      <div className="about-way">
        <strong>{nameOf(t, way.n)}</strong>
        {way.when && <code>{way.when}</code>}
        {said && (
          <span className={taken ? "about-taken" : "faint"}>
            {taken && <StateIcon state="success" size={14} />} {t(said)}
          </span>
        )}
      </div>
      <div>
        <span className="faint">→ </span>
        {way.then.length === 0 ? (
          <span className="faint">{t("about.nothing")}</span>
        ) : (
          way.then.map((name, i) => (
            <span key={name}>
              {i > 0 && ", "}
              <button type="button" className="link" onClick={() => onShow(name)}>
                {name}
              </button>
            </span>
          ))
        )}
      </div>
    </li>
  );
}

interface ValuesProps {
  instance: Instance;
  task: string;
  needs: readonly string[];
  conditions: readonly string[];
}

// What the conditions that were looked at name: parameters and outputs, and how the tasks before it ended.
function Values({ instance, task, needs, conditions }: ValuesProps) {
  const { t } = useSay();
  const values = useQuery(valuesQuery(instance.id, task));
  const tasks = useQuery(tasksQuery(instance.id));
  if (values.isError) return <ErrorView error={values.error} retry={() => void values.refetch()} />;
  if (values.isPending) return <SkeletonRows rows={2} />;
  const names = new Set(
    mentioned(
      conditions,
      values.data.map((v) => v.name),
    ),
  );
  const states = mentioned(conditions, needs);
  if (names.size + states.length === 0) return <p className="faint">{t("about.noValues")}</p>;
  return (
    <dl className="about-values">
      {values.data
        .filter((v) => names.has(v.name))
        .map((v) => (
          <div key={`${v.from ?? ""} ${v.name}`}>
            <dt className="mono">{v.name}</dt>
            <dd className="mono">{v.value === "" ? '""' : v.value}</dd>
          </div>
        ))}
      {states.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <StateWord state={tasks.data?.find((x) => x.name === name)?.state ?? ""} size={14} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** PassedBy shows a task in a branch that was not taken who chose otherwise, and by which values. */
export function PassedBy({ instance, task, onShow }: { instance: Instance; task: Task; onShow: (task: string) => void }) {
  const { t } = useSay();
  const { project, workflow, version } = instance;
  const written = useQuery(tasksOfVersionQuery(project, workflow, version));
  const tasks = useQuery(tasksQuery(instance.id));
  if (written.isError) return <ErrorView error={written.error} retry={() => void written.refetch()} />;
  if (written.isPending || !tasks.data) return <SkeletonRows />;
  return choosersOf(written.data, task.name).map((own) => {
    const chooser = tasks.data.find((x) => x.name === own.name);
    const taken = waysOf(own, chooser?.outputs?.branch).find((w) => w.taken);
    if (!chooser) return null;
    return (
      <div key={own.name}>
        <p>
          {taken ? (
            t("about.passedBy", { task: own.name, branch: nameOf(t, taken.n) })
          ) : (
            <button type="button" className="link" onClick={() => onShow(own.name)}>
              {own.name}
            </button>
          )}
        </p>
        <Choice instance={instance} task={chooser} onShow={onShow} />
      </div>
    );
  });
}
