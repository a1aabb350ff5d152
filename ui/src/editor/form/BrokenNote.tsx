import { Button } from "@mantine/core";
import { useSay } from "../../i18n";
import { useDoc, useDocument } from "../context";
import { mistakeOf } from "../text/sentence";
import { useShowText } from "./useShowText";

/** BrokenNote says that the text does not parse: until it does, no form may write into it. */
export function BrokenNote() {
  const { t } = useSay();
  const doc = useDocument();
  const show = useShowText();
  const error = useDoc((s) => (s.reading.good ? undefined : s.reading.errors[0]));
  if (!error) return null;
  return (
    <div className="form-broken" role="status">
      <p>{t("form.broken", { line: error.line, message: mistakeOf(t, error) })}</p>
      <div>
        <Button size="compact-xs" variant="default" onClick={() => show(error.from, error.to)}>
          {t("form.inText")}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => doc.undo()}>
          {t("editor.undo")}
        </Button>
      </div>
    </div>
  );
}
