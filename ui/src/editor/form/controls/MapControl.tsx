import { ActionIcon, Button } from "@mantine/core";
import { Plus, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { renameKey } from "../../../domain/document/fields";
import { isFields } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { useDocument } from "../../context";
import { FieldRow, useErrors } from "../FieldRow";
import { freeKey, like, shown } from "../values";
import { useFieldWords } from "../words";
import { Draft } from "./Draft";
import type { ControlProps } from "./Simple";

/** MapControl edits names and values as rows. */
export function MapControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const { label } = useFieldWords();
  const doc = useDocument();
  const errors = useErrors(field, target);
  const value = target.read(field.path);
  const rows = isFields(value) ? Object.entries(value) : [];
  const { box, added } = useAdded();
  const add = () => {
    const key = freeKey(
      field.key === "headers" ? "X-Name" : "name",
      rows.map(([k]) => k),
    );
    if (target.write([...field.path, key], "")) added(key);
  };
  return (
    <FieldRow field={field} target={target} errors={errors} wide group>
      <div className="map-rows" ref={box}>
        {rows.map(([key, one]) => {
          const at = [...field.path, key];
          const text = shown(one);
          return (
            <div className="map-row" key={key} data-row={key}>
              <Draft
                className="fi mono"
                value={key}
                aria-label={t("form.map.name", { field: label(field) })}
                onCommit={(to) => to !== "" && doc.edit("rename key", (r) => renameKey(r, target.whole(at), to))}
              />
              <input
                className="fi mono"
                value={text}
                aria-label={t("form.map.value", { name: key })}
                autoComplete="off"
                spellCheck={false}
                readOnly={typeof one === "object" && one !== null}
                onChange={(event) => {
                  const after = event.target.value;
                  target.type(at, like(after, undefined, one), { before: text, after });
                }}
              />
              <ActionIcon size={24} aria-label={t("form.map.remove", { name: key })} onClick={() => target.write(at, undefined)}>
                <X size={13} />
              </ActionIcon>
            </div>
          );
        })}
        <Button variant="subtle" size="compact-xs" leftSection={<Plus size={12} />} onClick={add}>
          {t("form.map.add")}
        </Button>
      </div>
    </FieldRow>
  );
}

/** useAdded puts the caret into the name of a row that has just been added. */
export function useAdded() {
  const box = useRef<HTMLDivElement>(null);
  const [fresh, setFresh] = useState<string>();
  useEffect(() => {
    if (fresh === undefined) return;
    const input = box.current?.querySelector<HTMLInputElement>(`[data-row="${CSS.escape(fresh)}"] input`);
    if (!input) return;
    input.focus();
    input.select();
    setFresh(undefined);
  });
  return { box, added: setFresh };
}
