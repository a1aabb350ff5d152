import { Button } from "@mantine/core";
import { fieldOf, nodeAt, type Path } from "../../../domain/document/path";
import { useSay } from "../../../i18n";
import { useDocument } from "../../context";
import { FieldRow, useErrors } from "../FieldRow";
import { useShowText } from "../useShowText";
import { shown } from "../values";
import type { ControlProps } from "./Simple";

/** YamlOnly shows what has no control of its own, and leads to its place in the text. */
export function YamlOnly({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  return (
    <FieldRow field={field} target={target} errors={errors} wide group>
      <InText path={target.whole(field.path)} text={shown(target.read(field.path))} />
    </FieldRow>
  );
}

/** InText is a value as it stands in the text, with the way there. */
export function InText({ path, text }: { path: Path; text: string }) {
  const { t } = useSay();
  const doc = useDocument();
  const show = useShowText();
  const go = () => {
    const reading = doc.current();
    const node = reading.good ? nodeAt(reading.root, path) : undefined;
    show(node?.from ?? 0, node?.to ?? 0);
  };
  return (
    <div className="in-text" data-field={fieldOf(path)}>
      <code>{text.length > 200 ? `${text.slice(0, 200)}…` : text}</code>
      <Button variant="default" size="compact-xs" onClick={go}>
        {t("form.inText")}
      </Button>
    </div>
  );
}
