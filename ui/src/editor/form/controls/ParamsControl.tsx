import { ActionIcon, Button, Select, TagsInput } from "@mantine/core";
import { ChevronDown, ChevronRight, Plus, X } from "lucide-react";
import { useState } from "react";
import { renameKey } from "../../../domain/document/fields";
import { fieldOf } from "../../../domain/document/path";
import { isFields } from "../../../domain/document/read";
import type { Fields, Value } from "../../../domain/document/tree";
import { useSay } from "../../../i18n";
import { useDocument } from "../../context";
import { sentenceOf } from "../../text/sentence";
import { FieldRow, useErrors } from "../FieldRow";
import type { Target } from "../target";
import { freeKey, like, listOf, shown, valueAt } from "../values";
import { Draft } from "./Draft";
import { useAdded } from "./MapControl";
import type { ControlProps } from "./Simple";

const types = ["string", "integer", "number", "boolean", "date", "list"] as const;

/** ParamsControl edits parameters: a name and a value, and below them what kind of value it is. */
export function ParamsControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const errors = useErrors(field, target, false);
  const value = target.read(field.path);
  const rows = isFields(value) ? Object.entries(value) : [];
  const { box, added } = useAdded();
  const add = () => {
    const key = freeKey(
      "param",
      rows.map(([k]) => k),
    );
    if (target.write([...field.path, key], "")) added(key);
  };
  return (
    <FieldRow field={field} target={target} errors={errors} wide group>
      <div className="map-rows" ref={box}>
        {rows.length === 0 && <p className="faint">{t("form.params.none")}</p>}
        {rows.map(([name, one]) => (
          <ParamRow key={name} name={name} value={one} at={[...field.path, name]} target={target} />
        ))}
        <Button variant="subtle" size="compact-xs" leftSection={<Plus size={12} />} onClick={add}>
          {t("form.params.add")}
        </Button>
      </div>
    </FieldRow>
  );
}

interface RowProps {
  name: string;
  value: Value;
  at: readonly (string | number)[];
  target: Target;
}

function ParamRow({ name, value, at, target }: RowProps) {
  const { t } = useSay();
  const doc = useDocument();
  const [open, setOpen] = useState(false);
  const declared = isFields(value) ? value : undefined;
  const standard = declared ? declared.default : value;
  const kind = typeof declared?.type === "string" ? declared.type : undefined;
  const text = shown(standard);
  const found = target.problems(at);
  const id = `field-${fieldOf(at)}`;
  return (
    <div className="param-row" data-field={fieldOf(at)} data-row={name}>
      <div className="map-row param">
        <ActionIcon size={24} aria-expanded={open} aria-label={t("form.params.more", { name })} onClick={() => setOpen(!open)}>
          {open ? <ChevronDown size={13} /> : <ChevronRight size={13} />}
        </ActionIcon>
        <Draft
          className="fi mono"
          value={name}
          aria-label={t("form.params.name")}
          aria-describedby={found.length > 0 ? `${id}-error` : undefined}
          aria-invalid={found.length > 0 || undefined}
          onCommit={(to) => to !== "" && doc.edit("rename key", (r) => renameKey(r, target.whole(at), to))}
        />
        <input
          className="fi mono"
          value={text}
          placeholder={declared && standard === undefined ? t("form.params.asked") : undefined}
          aria-label={t("form.params.value", { name })}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            const after = event.target.value;
            target.type(declared ? [...at, "default"] : at, like(after, kind, standard), { before: text, after });
          }}
          onBlur={() => declared && standard === "" && target.write([...at, "default"], undefined)}
        />
        <ActionIcon size={24} aria-label={t("form.map.remove", { name })} onClick={() => target.write(at, undefined)}>
          <X size={13} />
        </ActionIcon>
      </div>
      {found.length > 0 && (
        <p className="fr-error" id={`${id}-error`}>
          {found.map((p) => sentenceOf(t, p)).join(" ")}
        </p>
      )}
      {open && <ParamDetails name={name} value={value} at={at} target={target} />}
    </div>
  );
}

function ParamDetails({ name, value, at, target }: RowProps) {
  const { t } = useSay();
  const declared = isFields(value) ? value : undefined;
  const standard = declared ? declared.default : value;
  const kind = typeof declared?.type === "string" ? declared.type : undefined;
  const about = shown(declared?.description);
  // A value alone becomes a declaration with the first thing that is said about it.
  const write = (key: string, next: Value | undefined) => {
    if (declared) target.write([...at, key], next);
    else if (next !== undefined) target.write(at, { [key]: next, default: value });
  };
  const retype = (next: string) => {
    const told: Fields = { ...declared, type: next };
    target.write(at, standard === undefined ? told : { ...told, default: like(shown(standard), next, undefined) });
  };
  return (
    <div className="param-more">
      <span id={`${fieldOf(at)}-type`}>{t("form.field.params.type")}</span>
      <Select
        aria-labelledby={`${fieldOf(at)}-type`}
        data={[...types]}
        value={kind ?? null}
        placeholder={t("form.params.ofValue", { type: kindOf(standard) })}
        onChange={(next) => next !== null && retype(next)}
      />
      <span id={`${fieldOf(at)}-enum`}>{t("form.field.params.enum")}</span>
      <TagsInput
        size="xs"
        aria-labelledby={`${fieldOf(at)}-enum`}
        value={listOf(valueAt(declared ?? {}, ["enum"]))}
        placeholder={t("form.addTag")}
        acceptValueOnBlur
        onChange={(next) => write("enum", next.length === 0 ? undefined : next.map((x) => like(x, kind, standard)))}
      />
      <span id={`${fieldOf(at)}-about`}>{t("form.field.params.description")}</span>
      <input
        className="fi"
        aria-labelledby={`${fieldOf(at)}-about`}
        value={about}
        title={name}
        onChange={(event) => {
          const after = event.target.value;
          if (declared) target.type([...at, "description"], after, { before: about, after });
          else write("description", after);
        }}
        onBlur={() => declared && declared.description === "" && target.write([...at, "description"], undefined)}
      />
    </div>
  );
}

function kindOf(value: Value | undefined): string {
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : "string";
}
