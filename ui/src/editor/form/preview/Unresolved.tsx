import { Button } from "@mantine/core";
import type { ParameterPreview } from "../../../api/client";
import { parsePath } from "../../../domain/document/path";
import { useSay } from "../../../i18n";
import { showField } from "../../text/go";

interface Props {
  names: ParameterPreview["unresolved"];
  task: string | undefined;
}

/** Unresolved lists the names that have no value, each with the way to its field. */
export function Unresolved({ names, task }: Props) {
  const { t } = useSay();
  if (names.length === 0) return null;
  return (
    <div className="preview-unresolved" role="alert">
      <strong>{t("form.preview.unresolved", { count: names.length })}</strong>
      <ul>
        {names.map((n) => {
          const path = parsePath(n.field);
          // A parameter that a start must give is the workflow's, whatever task is asked about.
          const own = task !== undefined && path[0] !== "params" ? task : undefined;
          return (
            <li key={`${n.name} ${n.field}`}>
              <code>{n.name}</code> <span className="faint">{n.field}</span>
              <Button variant="default" size="compact-xs" onClick={() => showField({ task: own, path })}>
                {t("form.preview.go")}
              </Button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
