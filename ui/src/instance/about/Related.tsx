import "./about.css";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { waitersQuery } from "../../api/about";
import type { Instance, Task } from "../../api/client";
import { useSay } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { StateWord } from "../../parts/StateIcon";
import { Named } from "./Child";
import { Dependencies } from "./Dependencies";

interface Props {
  instance: Instance;
  tasks: Task[];
}

/** Related is every instance that this one has to do with: who waits for it, what it waits for, who started it and what it started. */
export function Related({ instance, tasks }: Props) {
  const { t } = useSay();
  const waits = tasks.filter((x) => x.type === "dependent" && x.state !== "");
  const children = tasks.filter((x) => x.child_instance_id);
  const { parent_instance_id: parent, rerun_of: again } = instance;
  return (
    <div className="related" tabIndex={0} role="region" aria-label={t("run.related")}>
      <Waiters id={instance.id} />
      {waits.length > 0 && (
        <Part title={t("about.waitsFor")}>
          {waits.map((x) => (
            <section key={x.name} aria-label={x.name}>
              <h4>
                <Link
                  to="/p/$project/r/$id"
                  params={{ project: instance.project, id: instance.id }}
                  search={{ task: x.name, panel: "about" }}
                >
                  {x.name}
                </Link>{" "}
                <StateWord state={x.state} size={14} />
              </h4>
              <Dependencies id={instance.id} task={x.name} />
            </section>
          ))}
        </Part>
      )}
      {(parent || again) && (
        <Part title={t("about.comesFrom")}>
          <ul className="about-list">
            {parent && (
              <li>
                <Named id={parent} />
                <span className="faint">{t("about.parentTask", { task: instance.parent_task ?? "" })}</span>
              </li>
            )}
            {again && (
              <li>
                <Named id={again} />
                <span className="faint">{t("about.runsAgain")}</span>
              </li>
            )}
          </ul>
        </Part>
      )}
      {children.length > 0 && (
        <Part title={t("about.children")}>
          <ul className="about-list">
            {children.map((x) => (
              <li key={x.name}>
                <Named id={x.child_instance_id ?? ""} />
                <span className="faint">{t("about.ofTask", { task: x.name })}</span>
              </li>
            ))}
          </ul>
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Waiters are the dependent tasks of other instances that wait, or waited, for an instance. */
function Waiters({ id }: { id: string }) {
  const { t } = useSay();
  const list = useQuery(waitersQuery(id));
  return (
    <Part title={t("about.waitedForBy")}>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={2} />
      ) : list.data.items.length === 0 ? (
        <p className="faint">{t("about.nobodyWaits")}</p>
      ) : (
        <ul className="about-list tall" aria-label={t("about.waitedForBy")}>
          {list.data.items.map((w) => (
            <li key={`${w.instance} ${w.task}`}>
              <div className="about-item">
                <Link to="/p/$project/r/$id" params={{ project: w.project, id: w.instance }} search={{ task: w.task, panel: "about" }}>
                  {t("about.childOf", { workflow: w.workflow, id: w.instance })}
                </Link>{" "}
                <StateWord state={w.state} size={14} />
                <div className="faint">
                  {t(w.for ? "about.waiterFor" : "about.waiter", { task: w.task, for: w.for ?? "" })} <span className="mono">{w.date}</span>
                  {w.task_state && (
                    <>
                      {" · "}
                      <StateWord state={w.task_state} size={12} />
                    </>
                  )}
                </div>
              </div>
            </li>
          ))}
        </ul>
      )}
      {list.data?.cut && <p className="faint">{t("about.waitersCut")}</p>}
    </Part>
  );
}
