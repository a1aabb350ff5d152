import "./taskNode.css";
import {
  Circle,
  CircleDashed,
  Clock,
  Code,
  Database,
  Flag,
  GitFork,
  Globe,
  ListFilter,
  type LucideIcon,
  SquareTerminal,
  Undo2,
  UserCheck,
  Workflow,
} from "lucide-react";
import type { ReactNode } from "react";
import { lookOf } from "../domain/states";
import { useSay, word } from "../i18n";
import { StateIcon } from "../parts/StateIcon";

const icons: Record<string, LucideIcon> = {
  shell: SquareTerminal,
  python: Code,
  http: Globe,
  sql: Database,
  noop: Circle,
  wait: Clock,
  sub_workflow: Workflow,
  dynamic: Workflow,
  dependent: Clock,
  workflow: Workflow,
  approval: UserCheck,
  compensate: Undo2,
  conditions: GitFork,
  switch: GitFork,
};

/** TypeIcon stands for a type of task; one that it does not know is a dashed circle. */
export function TypeIcon({ type, size = 16 }: { type: string; size?: number }) {
  const Icon = icons[type] ?? CircleDashed;
  return <Icon size={size} aria-hidden className="type-icon" />;
}

/** NodeLook is what a node shows beside its name and type. All of it is optional but these two. */
export interface NodeLook {
  name: string;
  type: string;
  /** The state's code; undefined where no instance is shown, "" for a task that the start left out. */
  state?: string;
  /** A few words after the state: the time it takes, the attempt, why it waits. */
  note?: ReactNode;
  /** The note needs the room of the state's word: its sign, and the name of the node, say it too. */
  terse?: boolean;
  chosen?: boolean;
  dim?: boolean;
  /** Drawn dashed: it does not run as it stands (disabled, refused). */
  dashed?: boolean;
  /** What is wrong with it, in the upper right corner. */
  badge?: ReactNode;
  /** gate is the rule by which it may be passed over. */
  gate?: string;
  /** last marks a task that comes after all others. */
  last?: boolean;
  /** undone is the type of what undoes it. */
  undone?: string;
  /** Whatever belongs inside the node's box: handles. */
  children?: ReactNode;
}

/** TaskNodeBody is a task on a canvas, the same in the viewer and in the editor: 200 by 52. */
export function TaskNodeBody({ name, type, state, note, terse, chosen, dim, dashed, badge, gate, last, undone, children }: NodeLook) {
  const { t } = useSay();
  const { hue, fill } = lookOf(state ?? "");
  const classes = ["task-node"];
  if (state) classes.push(`hue-${hue}`, `fill-${fill}`);
  else classes.push("plain-node");
  if (state === "") classes.push("outside");
  if (chosen) classes.push("chosen");
  if (dim) classes.push("dim");
  if (dashed || fill === "dashed") classes.push("dashed");
  return (
    <div className={classes.join(" ")}>
      {state ? <StateIcon state={state} size={18} /> : <TypeIcon type={type} size={18} />}
      <span className="task-node-text">
        <strong title={name}>{name}</strong>
        <span>
          {state ? (
            <>
              <TypeIcon type={type} size={12} />
              {!terse && word(t, "state", state)}
            </>
          ) : (
            type
          )}
          {note && (terse ? <> {note}</> : <> · {note}</>)}
        </span>
      </span>
      {(gate || last || undone) && (
        <span className="task-node-rules">
          {gate && (
            <span title={gate}>
              <ListFilter size={14} aria-hidden />
            </span>
          )}
          {last && (
            <span title={t("graph.last")}>
              <Flag size={14} aria-hidden />
            </span>
          )}
          {undone && (
            <span title={t("graph.undoneBy", { type: undone })}>
              <Undo2 size={14} aria-hidden />
            </span>
          )}
        </span>
      )}
      {badge !== undefined && <span className="task-node-badge">{badge}</span>}
      {children}
    </div>
  );
}
