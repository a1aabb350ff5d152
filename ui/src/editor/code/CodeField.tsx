import "./code.css";
import { ActionIcon } from "@mantine/core";
import { Maximize2 } from "lucide-react";
import { Suspense, useRef, useState } from "react";
import { useSay } from "../../i18n";
import { Modal } from "../../parts/layers";
import { piece } from "../../parts/piece";
import type { CodeFieldProps } from "./props";

export type { Language } from "./languages";
export type { KnownName } from "./names";

const FieldEditor = piece(() => import("./EditorCode").then((m) => m.FieldEditor));

/**
 * CodeField is a text field for code: it grows with its text, completes parameter names, and can
 * take the whole screen. Undo and redo go to the document around it, when there is one.
 */
export function CodeField(props: CodeFieldProps) {
  const { t } = useSay();
  const [large, setLarge] = useState(false);
  const caret = useRef<number>(undefined);
  const { label, error, description, required } = props;
  const editor = (begin: number | undefined) => (
    <Suspense fallback={<pre className="code-waiting">{props.value}</pre>}>
      <FieldEditor {...props} begin={begin} onCaret={(at) => (caret.current = at)} />
    </Suspense>
  );
  return (
    <div className="code-field">
      <div className="code-head">
        <span className="mantine-InputWrapper-label">
          {label}
          {required && <span aria-hidden="true"> *</span>}
        </span>
        <ActionIcon
          variant="subtle"
          aria-label={t("text.large", { label })}
          title={t("text.large", { label })}
          onClick={() => setLarge(true)}
        >
          <Maximize2 size={14} />
        </ActionIcon>
      </div>
      {description && <div className="code-note">{description}</div>}
      <div className="code-box" data-error={error !== undefined || undefined}>
        {!large && editor(undefined)}
      </div>
      {error && <div className="code-error">{error}</div>}
      <Modal
        opened={large}
        onClose={() => setLarge(false)}
        title={label}
        fullScreen
        // Esc closes what is open in the editor first, such as the list of completions.
        closeOnEscape={false}
        classNames={{ content: "code-large", body: "code-large-body" }}
        onKeyDown={(e) => e.key === "Escape" && !e.defaultPrevented && setLarge(false)}
      >
        {large && editor(caret.current ?? 0)}
      </Modal>
    </div>
  );
}
