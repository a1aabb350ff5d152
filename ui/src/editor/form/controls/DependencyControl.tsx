import { ActionIcon, Autocomplete, Button, SegmentedControl, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { createContext, useContext, useState } from "react";
import { type DateValue, datesQuery } from "../../../api/choices";
import { type Group, groupOf, intervalWords, type Join, type Member } from "../../../domain/dependency";
import { renameKey } from "../../../domain/document/fields";
import { fieldOf, type Path } from "../../../domain/document/path";
import type { Fields, Value } from "../../../domain/document/tree";
import { useSay } from "../../../i18n";
import { useSettings } from "../../../settings";
import { useDocument } from "../../context";
import { sentenceOf } from "../../text/sentence";
import { FieldRow, useErrors } from "../FieldRow";
import { fromWall } from "../preview/wall";
import type { Target } from "../target";
import { shown } from "../values";
import { useNames, useProject } from "./Named";
import type { ControlProps } from "./Simple";
import { YamlOnly } from "./YamlOnly";

/** Dates are what each date means at the schedule time that is looked at. */
const Dates = createContext<readonly DateValue[]>([]);

/** DependencyControl builds what a dependent task waits for: a group of items and of groups, each item with the intervals that its date means. */
export function DependencyControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const errors = useErrors(field, target, false);
  const group = groupOf(target.read(field.path));
  const [at, setAt] = useState("");
  const { zone: chosen } = useSettings();
  const zone = chosen === "browser" ? Intl.DateTimeFormat().resolvedOptions().timeZone : chosen;
  const ms = fromWall(at, chosen);
  const dates = useQuery({ ...datesQuery(ms === undefined ? "" : new Date(ms).toISOString(), zone), retry: false });
  if (!group) return <YamlOnly field={field} target={target} />;
  return (
    <FieldRow field={field} target={target} errors={errors} wide group>
      <div className="special-when">
        <TextInput size="xs" type="datetime-local" label={t("special.at")} value={at} onChange={(e) => setAt(e.currentTarget.value)} />
        <span className="faint">{at === "" ? t("special.atNow", { zone }) : zone}</span>
      </div>
      <Dates value={dates.data?.items ?? []}>
        <GroupBox target={target} at={field.path} group={group} top />
      </Dates>
    </FieldRow>
  );
}

interface GroupProps {
  target: Target;
  /** at is the map that has all or any. */
  at: Path;
  group: Group;
  top?: boolean;
}

function GroupBox({ target, at, group, top = false }: GroupProps) {
  const { t } = useSay();
  const doc = useDocument();
  const { join, members } = group;
  const list = [...at, join];
  const turn = (to: Join) => {
    if (to === join) return;
    if (members.length > 0) doc.edit("rename key", (r) => renameKey(r, target.whole(list), to));
    else target.write(at, { [to]: [] });
  };
  const add = (fresh: Value) =>
    members.length === 0 ? target.write(at, { [join]: [fresh] }) : target.write([...list, members.length], fresh);
  const drop = (i: number) => (members.length === 1 && top ? target.write(at, undefined) : target.write([...list, i], undefined));
  const wrong = target.problems(list).filter((p) => p.path.length <= list.length);
  return (
    <div className="special-group" role="group" aria-label={t(join === "all" ? "special.all" : "special.any")} data-field={fieldOf(list)}>
      <SegmentedControl
        size="xs"
        aria-label={t("special.join")}
        data={[
          { value: "all", label: t("special.all") },
          { value: "any", label: t("special.any") },
        ]}
        value={join}
        onChange={(v) => turn(v === "any" ? "any" : "all")}
      />
      {members.map((m, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a member has no name but its number
        <MemberRow key={i} target={target} at={[...list, i]} n={i + 1} member={m} onDrop={() => drop(i)} />
      ))}
      {wrong.length > 0 && <p className="fr-error">{wrong.map((p) => sentenceOf(t, p)).join(" ")}</p>}
      <div className="special-adds">
        <Button variant="subtle" size="compact-xs" leftSection={<Plus size={12} />} onClick={() => add({ workflow: "", date: "today" })}>
          {t("special.addItem")}
        </Button>
        {top && (
          <Button
            variant="subtle"
            size="compact-xs"
            leftSection={<Plus size={12} />}
            onClick={() => add({ [join === "all" ? "any" : "all"]: [{ workflow: "", date: "today" }] })}
          >
            {t("special.addGroup")}
          </Button>
        )}
      </div>
    </div>
  );
}

interface MemberProps {
  target: Target;
  at: Path;
  n: number;
  member: Member;
  onDrop: () => void;
}

function MemberRow({ target, at, n, member, onDrop }: MemberProps) {
  const { t } = useSay();
  return (
    <div className="special-member">
      {member.kind === "group" ? (
        <GroupBox target={target} at={at} group={member.group} />
      ) : (
        <ItemFields target={target} at={at} n={n} fields={member.fields} />
      )}
      <ActionIcon size={24} aria-label={t("special.drop", { n })} onClick={onDrop}>
        <X size={13} />
      </ActionIcon>
    </div>
  );
}

interface ItemProps {
  target: Target;
  at: Path;
  n: number;
  fields: Fields;
}

function ItemFields({ target, at, n, fields }: ItemProps) {
  const { t } = useSay();
  const home = useProject();
  const dates = useContext(Dates);
  const [project, workflow, task, date] = [fields.project, fields.workflow, fields.task, fields.date].map(shown);
  const where = project || home;
  const projects = useNames("project", where, "");
  const workflows = useNames("workflow", where, "");
  const tasks = useNames("task", where, workflow ?? "");
  const wrong = target.problems(at);
  const name = (key: string, label: string, value: string, data: string[], options: { grey?: string; optional?: boolean } = {}) => (
    <Autocomplete
      size="xs"
      label={label}
      data={data}
      limit={50}
      value={value}
      placeholder={options.grey}
      autoComplete="off"
      spellCheck={false}
      onChange={(after) =>
        after === "" && options.optional
          ? target.write([...at, key], undefined)
          : target.type([...at, key], after, { before: value, after })
      }
    />
  );
  const found = dates.find((d) => d.name === date);
  return (
    <div className="special-item" role="group" aria-label={t("special.item", { n })} data-field={fieldOf(at)}>
      {name("project", t("special.project"), project ?? "", projects, { grey: home, optional: true })}
      {name("workflow", t("special.workflow"), workflow ?? "", workflows)}
      {name("task", t("special.task"), task ?? "", tasks, { grey: t("special.whole"), optional: true })}
      <Select
        size="xs"
        label={t("special.date")}
        data={dateData(t, dates, date ?? "")}
        value={date || null}
        onChange={(next) => next !== null && target.write([...at, "date"], next)}
      />
      <Meaning value={found} />
      {found && found.intervals.length > 1 && (
        <Switch
          size="xs"
          label={t("special.once")}
          checked={fields.once === true}
          onChange={() => target.write([...at, "once"], fields.once === true ? undefined : true)}
        />
      )}
      {wrong.length > 0 && <p className="fr-error">{[...new Set(wrong.map((p) => sentenceOf(t, p)))].join(" ")}</p>}
    </div>
  );
}

const cycles = ["hour", "day", "week", "month"] as const;

// The dates by their cycle. One that is none of them stays until another is chosen.
function dateData(t: ReturnType<typeof useSay>["t"], dates: readonly DateValue[], own: string) {
  const groups = cycles.map((cycle) => ({
    group: t(`special.cycle.${cycle}`),
    items: dates.filter((d) => d.cycle === cycle).map((d) => ({ value: d.name, label: d.name })),
  }));
  const odd = own !== "" && !dates.some((d) => d.name === own);
  return odd ? [{ group: t("special.cycle.other"), items: [{ value: own, label: own }] }, ...groups] : groups;
}

/** Meaning shows the intervals of a date: from when to when, how many, and each of them on demand. */
function Meaning({ value }: { value: DateValue | undefined }) {
  const { t } = useSay();
  const words = value && intervalWords(value.intervals);
  if (!value || !words) return null;
  const { from, to, count } = words;
  if (count === 1) return <p className="special-meaning num">{t("special.interval", { from, to })}</p>;
  return (
    <details className="special-meaning num">
      <summary>{t(value.cycle === "hour" ? "special.hours" : "special.days", { from, to, count })}</summary>
      <ol>
        {value.intervals.map((i) => (
          <li key={i.from}>{intervalText(i)}</li>
        ))}
      </ol>
    </details>
  );
}

function intervalText(one: { from: string; to: string }): string {
  const words = intervalWords([one]);
  return words ? `${words.from} – ${words.to}` : "";
}
