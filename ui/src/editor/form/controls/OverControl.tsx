import { ActionIcon, Button, TagsInput } from "@mantine/core";
import { Plus, X } from "lucide-react";
import { fieldOf } from "../../../domain/document/path";
import { isFields } from "../../../domain/document/read";
import type { Value } from "../../../domain/document/tree";
import { useSay } from "../../../i18n";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { freeKey, listOf, shown } from "../values";
import type { ControlProps } from "./Simple";

/** maxLists is how many lists a dynamic task may combine. */
const maxLists = 5;
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the workflow's own form of a reference
const emptyReference = "${}";

/** OverControl has the lists of a dynamic task: each with the child's parameter, and its items or ${name} of a value that holds them. */
export function OverControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const errors = useErrors(field, target, false);
  const value = target.read(field.path);
  const rows = Array.isArray(value) ? value : [];
  const put = (path: readonly (string | number)[], next: Value | undefined) => target.write([...field.path, ...path], next);
  const add = () => {
    const taken = rows.map((one: Value) => (isFields(one) ? shown(one.name) : ""));
    const fresh = { name: freeKey("item", taken), in: [] };
    if (rows.length === 0) target.write(field.path, [fresh]);
    else put([rows.length], fresh);
  };
  const remove = (i: number) => (rows.length === 1 ? target.write(field.path, undefined) : put([i], undefined));
  return (
    <FieldRow field={field} target={target} errors={errors} wide group>
      <div className="map-rows">
        {rows.map((one: Value, i: number) => {
          const own = isFields(one) ? one : {};
          const at = [...field.path, i];
          const name = shown(own.name);
          const wrong = [...target.problems([...at, "name"]), ...target.problems([...at, "in"])];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a list has no name but its number
            <div className="special-list" key={i} data-field={fieldOf(at)} role="group" aria-label={t("special.list", { n: i + 1 })}>
              <input
                className="fi mono"
                value={name}
                aria-label={t("special.listName", { n: i + 1 })}
                autoComplete="off"
                spellCheck={false}
                onChange={(e) => target.type([...at, "name"], e.target.value, { before: name, after: e.target.value })}
              />
              <Items value={own.in} at={at} label={t("special.listIn", { n: i + 1 })} target={target} />
              <ActionIcon size={24} aria-label={t("special.listRemove", { n: i + 1 })} onClick={() => remove(i)}>
                <X size={13} />
              </ActionIcon>
              {wrong.length > 0 && <p className="fr-error">{[...new Set(wrong.map((p) => p.message))].join(" ")}</p>}
            </div>
          );
        })}
        {rows.length < maxLists && (
          <Button variant="subtle" size="compact-xs" leftSection={<Plus size={12} />} onClick={add}>
            {t("special.listAdd")}
          </Button>
        )}
      </div>
    </FieldRow>
  );
}

interface ItemsProps {
  value: Value | undefined;
  at: readonly (string | number)[];
  label: string;
  target: ControlProps["target"];
}

// A list is tags; ${name} alone is a value that holds the list.
function Items({ value, at, label, target }: ItemsProps) {
  const { t } = useSay();
  const path = [...at, "in"];
  const reference = typeof value === "string";
  const text = shown(value);
  return (
    <div className="special-items">
      {reference ? (
        <input
          id={idOf(path)}
          className="fi mono"
          value={text}
          aria-label={label}
          autoComplete="off"
          spellCheck={false}
          onChange={(e) => target.type(path, e.target.value, { before: text, after: e.target.value })}
        />
      ) : (
        <TagsInput
          id={idOf(path)}
          size="xs"
          value={listOf(value)}
          aria-label={label}
          placeholder={t("form.addTag")}
          acceptValueOnBlur
          splitChars={[","]}
          onChange={(next) => target.write(path, next)}
        />
      )}
      <button type="button" className="link" onClick={() => target.write(path, reference ? [] : emptyReference)}>
        {t(reference ? "special.asList" : "special.asReference")}
      </button>
    </div>
  );
}
