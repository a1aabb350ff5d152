import { Autocomplete, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { taskGroupsQuery } from "../../../api/choices";
import { isFields } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { numberOr, shown } from "../values";
import { useProject } from "./Named";
import { type ControlProps, leave } from "./Simple";

const priorities = ["highest", "high", "medium", "low", "lowest"];

/** TaskGroupControl picks a task group of the project, with how full it is, and how many of its places the task takes. */
export function TaskGroupControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const project = useProject();
  const errors = useErrors(field, target);
  const groups = useQuery(taskGroupsQuery(project));
  const value = target.read(field.path);
  const own = isFields(value) ? value : undefined;
  const at = own ? [...field.path, "name"] : field.path;
  const name = own ? shown(own.name) : shown(value);
  const found = groups.data?.find((g) => g.name === name);
  // What says more than the name is a map; the name alone is enough again once nothing more is said.
  const more = (key: "weight" | "priority", next: string | number | undefined) => {
    if (own && next === undefined && Object.keys(own).every((k) => k === "name" || k === key)) target.write(field.path, name);
    else if (own) target.write([...field.path, key], next);
    else if (next !== undefined) target.write(field.path, { name, [key]: next });
  };
  return (
    <FieldRow field={field} target={target} errors={errors} quiet>
      <Autocomplete
        id={idOf(field.path)}
        size="xs"
        data={groups.data?.map((g) => g.name) ?? []}
        renderOption={({ option }) => <Option name={option.value} use={saidOf(option.value)} />}
        value={name}
        error={errors.text}
        placeholder={groups.data?.length === 0 ? t("special.noGroups") : undefined}
        autoComplete="off"
        spellCheck={false}
        onChange={(after) => target.type(at, after, { before: name, after })}
        onBlur={() => (name === "" ? target.write(field.path, undefined) : leave(field, target))}
      />
      {found && <p className="special-use faint num">{saidOf(found.name)}</p>}
      {name !== "" && (
        <div className="special-more">
          <label>
            {t("special.weight")}
            <input
              className="fi short"
              inputMode="numeric"
              placeholder="1"
              value={shown(own?.weight)}
              onChange={(e) => more("weight", e.target.value === "" ? undefined : numberOr(e.target.value))}
            />
          </label>
          <Select
            size="xs"
            label={t("special.priority")}
            placeholder={t("special.ownPriority")}
            data={priorities}
            clearable
            value={shown(own?.priority) || null}
            onChange={(next) => more("priority", next ?? undefined)}
          />
        </div>
      )}
    </FieldRow>
  );

  function saidOf(group: string): string {
    const g = groups.data?.find((x) => x.name === group);
    return g ? t("special.use", { used: g.used, size: g.size, waiting: g.waiting }) : "";
  }
}

function Option({ name, use }: { name: string; use: string }) {
  return (
    <span className="special-option">
      <span>{name}</span>
      <span className="faint num">{use}</span>
    </span>
  );
}
