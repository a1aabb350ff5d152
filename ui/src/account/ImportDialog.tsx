import { Button, FileButton, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { checkText, type Findings, type Imported, readImport } from "../api/imports";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { ImportExport } from "./ImportExport";
import { ImportOne } from "./ImportOne";
import { broughtOf, namesOf } from "./importing";

interface Props {
  project: string;
  opened: boolean;
  onClose: () => void;
}

type Seen = { what: "yaml" | "json"; text: string; findings: Findings } | { what: "export"; imported: Imported };

async function lookAt(project: string, text: string, names: string): Promise<Seen> {
  const what = broughtOf(text);
  if (what === "export") return { what, imported: await readImport(project, text, namesOf(names).names) };
  return { what, text, findings: await checkText(project, text, what) };
}

/** ImportDialog brings workflows along: a definition as YAML or JSON, or an export of DolphinScheduler. What it would save is shown before. */
export function ImportDialog({ project, opened, onClose }: Props) {
  const { t } = useSay();
  const [text, setText] = useState("");
  const [names, setNames] = useState("");
  const look = useMutation({ mutationFn: () => lookAt(project, text, names) });
  const brought = (value: string) => {
    setText(value);
    look.reset();
  };
  const seen = look.data;
  const wrong = namesOf(names).wrong[0];
  return (
    <Modal opened={opened} onClose={onClose} size={720} title={t("account.import.title", { project })}>
      <div className="stack">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            look.mutate();
          }}
        >
          <Textarea
            label={t("account.import.text")}
            description={t("account.import.about")}
            classNames={{ input: "mono" }}
            autosize
            minRows={5}
            maxRows={12}
            required
            spellCheck={false}
            value={text}
            onChange={(e) => brought(e.currentTarget.value)}
            data-autofocus
          />
          {broughtOf(text) === "export" && (
            <Textarea
              label={t("account.import.names")}
              description={t("account.import.namesAbout")}
              placeholder="environment:12610318974999 = prod"
              classNames={{ input: "mono" }}
              autosize
              maxRows={6}
              spellCheck={false}
              value={names}
              error={wrong !== undefined && t("account.import.namesWrong", { line: wrong })}
              onChange={(e) => {
                setNames(e.currentTarget.value);
                look.reset();
              }}
            />
          )}
          {look.isError && <FormError error={look.error} />}
          <div className="dialog-end">
            <FileButton accept=".yaml,.yml,.json" onChange={(file) => void file?.text().then(brought)}>
              {(props) => (
                <Button variant="default" {...props}>
                  {t("account.import.file")}
                </Button>
              )}
            </FileButton>
            <span className="push" />
            <Button variant="default" onClick={onClose}>
              {t("common.cancel")}
            </Button>
            <Button
              type="submit"
              variant={seen ? "default" : undefined}
              loading={look.isPending}
              disabled={text.trim() === "" || wrong !== undefined}
            >
              {t("account.import.look")}
            </Button>
          </div>
        </form>
        {seen?.what === "export" && <ImportExport project={project} imported={seen.imported} onClose={onClose} />}
        {seen && seen.what !== "export" && (
          <ImportOne key={seen.text} project={project} text={seen.text} format={seen.what} found={seen.findings} onClose={onClose} />
        )}
      </div>
    </Modal>
  );
}
