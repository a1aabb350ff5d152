import { ChevronDown, ChevronRight } from "lucide-react";
import { Suspense } from "react";
import type { TaskType } from "../../api/client";
import { fieldOf } from "../../domain/document/path";
import { isFields, type Task } from "../../domain/document/read";
import type { Value } from "../../domain/document/tree";
import { useSay } from "../../i18n";
import { piece } from "../../parts/piece";
import { sentenceOf } from "../text/sentence";
import { CasesControl } from "./controls/CasesControl";
import { ConditionControl, JoinControl } from "./controls/Conditions";
import { MapControl } from "./controls/MapControl";
import { NameControl } from "./controls/NameControl";
import { NeedsControl } from "./controls/NeedsControl";
import { ParamsControl } from "./controls/ParamsControl";
import { ChoiceControl, type ControlProps, LineControl, ListControl, ScriptControl, SwitchControl, TextControl } from "./controls/Simple";
import { TasksControl } from "./controls/TasksControl";
import { TypeControl } from "./controls/TypeControl";
import { YamlOnly } from "./controls/YamlOnly";
import type { Field } from "./schema";
import type { Target } from "./target";
import { wrong } from "./values";
import { useFieldWords } from "./words";

const Special = piece(() => import("./controls/Special").then((m) => m.Special));

interface Props {
  fields: readonly Field[];
  target: Target;
  /** task and types are there where one task is edited. */
  task?: Task;
  types?: readonly TaskType[];
  /** open shows what is asked for seldom. */
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** Fields draws fields: what is asked for often first, the rest folded behind a line with the count of those that are set. */
export function Fields({ fields, target, task, types, open, onOpen }: Props) {
  const { t } = useSay();
  const plain = fields.filter((f) => !f.advanced);
  const own = fields.filter((f) => f.advanced);
  // What a group has for rare cases is folded with the rest, until it is set.
  const inner = plain.flatMap((f) => f.fields.filter((g) => g.advanced));
  const advanced = [...own, ...inner];
  const set = advanced.filter((f) => target.read(f.path) !== undefined || target.mixed(f.path)).length;
  const troubled = own.some((f) => target.problems(f.path).length > 0 || wrong(f, target.read(f.path)));
  const one = (f: Field) => <FieldOf key={fieldOf(f.path)} field={f} target={target} task={task} types={types} open={open} />;
  return (
    <>
      {plain.map(one)}
      {advanced.length > 0 && (
        <button type="button" className="form-fold" aria-expanded={open} onClick={() => onOpen(!open)}>
          {open ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
          {t("form.advanced")}
          <span className="faint">
            {set > 0 ? t("form.advancedSet", { set, count: advanced.length }) : t("form.advancedNone", { count: advanced.length })}
          </span>
          {troubled && !open && <span className="fr-error">{t("form.hasProblems")}</span>}
        </button>
      )}
      {open && own.map(one)}
    </>
  );
}

type OneProps = ControlProps & Pick<Props, "task" | "types" | "open">;

function filled(target: Target, f: Field): boolean {
  return target.read(f.path) !== undefined || target.mixed(f.path) || target.problems(f.path).length > 0;
}

function FieldOf({ field, target, task, types, open }: OneProps) {
  switch (field.control) {
    case "name":
      return task ? <NameControl field={field} target={target} task={task} /> : null;
    case "type":
      return task ? <TypeControl field={field} target={target} task={task} types={types ?? []} /> : null;
    case "needs":
      return task ? <NeedsControl field={field} target={target} task={task} /> : null;
    case "tasks":
      if (!listLike(target, field)) return <YamlOnly field={field} target={target} />;
      return task ? <TasksControl field={field} target={target} task={task} /> : null;
    case "cases":
      if (!listLike(target, field, isFields)) return <YamlOnly field={field} target={target} />;
      return task ? <CasesControl field={field} target={target} task={task} /> : null;
    case "condition":
      return <ConditionControl field={field} target={target} />;
    case "join":
      return <JoinControl field={field} target={target} />;
    case "line":
    case "integer":
    case "number":
    case "duration":
    case "moment":
      return <LineControl field={field} target={target} />;
    case "text":
      return <TextControl field={field} target={target} />;
    case "script":
      return <ScriptControl field={field} target={target} task={task} />;
    case "switch":
      return <SwitchControl field={field} target={target} />;
    case "choice":
      return <ChoiceControl field={field} target={target} />;
    case "list":
      return <ListControl field={field} target={target} />;
    case "map":
      return mapLike(target, field) ? <MapControl field={field} target={target} /> : <YamlOnly field={field} target={target} />;
    case "params":
      return mapLike(target, field) ? <ParamsControl field={field} target={target} /> : <YamlOnly field={field} target={target} />;
    case "group":
      return mapLike(target, field) ? <Group field={field} target={target} open={open} /> : <YamlOnly field={field} target={target} />;
    case "named":
    case "task_group":
    case "dependency":
    case "over":
      return (
        <Suspense fallback={<div className="fr" />}>
          <Special field={field} target={target} />
        </Suspense>
      );
    case "yaml":
      return <YamlOnly field={field} target={target} />;
  }
}

// What was written by hand in another shape is shown as it is, and edited where it was written.
function mapLike(target: Target, field: Field): boolean {
  const value = target.read(field.path);
  return value === undefined || value === null || isFields(value);
}

function listLike(target: Target, field: Field, each: (value: Value) => boolean = () => true): boolean {
  const value = target.read(field.path);
  return value === undefined || value === null || (Array.isArray(value) && value.every(each));
}

function Group({ field, target, open }: ControlProps & { open: boolean }) {
  const { t } = useSay();
  const { label } = useFieldWords();
  const own = target.problems(field.path).filter((p) => p.path.length <= field.path.length);
  return (
    <fieldset className="form-group" data-field={fieldOf(field.path)}>
      <legend>{label(field)}</legend>
      {own.length > 0 && <p className="fr-error">{own.map((p) => sentenceOf(t, p)).join(" ")}</p>}
      {field.fields
        .filter((f) => open || !f.advanced || filled(target, f))
        .map((f) => (
          <FieldOf key={f.key} field={f} target={target} open={open} />
        ))}
    </fieldset>
  );
}
