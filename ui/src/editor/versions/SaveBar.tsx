import "./versions.css";
import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useEffect, useState } from "react";
import { projectsQuery } from "../../api/queries";
import { useSay } from "../../i18n";
import { Guarded } from "../../parts/Guarded";
import { Ago } from "../../parts/Times";
import type { Origin } from "../origin";
import { useDirty, useSaved, useSaving, useWorthVersion } from "./context";
import { SaveDialog } from "./SaveDialog";

const editors = new Set(["editor", "owner", "admin"]);

/** useMayEdit tells whether the person may change this project's workflows, and by which role not. */
export function useMayEdit(project: string): { may: boolean; role: string | undefined } {
  const projects = useQuery(projectsQuery);
  const role = projects.data?.find((p) => p.name === project)?.role;
  return { may: role === undefined || editors.has(role), role };
}

/** SaveBar says where the document stands, and saves it as a draft or as the next version. */
export function SaveBar({ origin }: { origin: Origin }) {
  const { t } = useSay();
  const saving = useSaving();
  const dirty = useDirty();
  const { may, role } = useMayEdit(origin.project);
  const [asking, setAsking] = useState(false);
  const phase = useSaved((s) => s.phase.kind);
  const draft = useSaved((s) => s.draft);
  useEffect(() => {
    const quick = () => {
      if (may && saving.dirty()) void saving.save({ as: "draft" });
    };
    window.addEventListener("porpoise:save", quick);
    return () => window.removeEventListener("porpoise:save", quick);
  }, [saving, may]);
  const worth = useWorthVersion();
  const why = may ? undefined : t("editor.noRight", { role: role ?? "" });
  return (
    <span className="save-bar push">
      <Standing dirty={dirty} />
      <Button.Group>
        <Button
          variant="default"
          disabled={!may || !dirty}
          loading={phase === "saving"}
          title={why ?? `${t("editor.saveDraft")} (Ctrl S)`}
          onClick={() => void saving.save({ as: "draft" })}
        >
          {t("editor.saveDraft")}
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px={6} aria-label={t("editor.moreSaves")} disabled={!may || !draft}>
              <ChevronDown size={14} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void saving.drop()}>{t("editor.dropDraft")}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Button.Group>
      <Guarded why={why ?? (worth ? undefined : t("editor.nothingToSave"))} onClick={() => setAsking(true)}>
        {t("editor.saveVersion")}
      </Guarded>
      <SaveDialog origin={origin} opened={asking} onClose={() => setAsking(false)} />
    </span>
  );
}

function Standing({ dirty }: { dirty: boolean }) {
  const { t } = useSay();
  const version = useSaved((s) => s.version);
  const published = useSaved((s) => s.published);
  const draft = useSaved((s) => s.draft);
  return (
    <span className="standing faint" role="status">
      {version === 0 ? t("editor.noVersion") : <span className="num">{t("common.version", { n: version })}</span>}
      {version > 0 && version === published && <> {t("editor.published")}</>}
      {draft && (
        <>
          {" · "}
          {t("editor.draftBy", { name: draft.by })} <Ago at={draft.at} />
        </>
      )}
      {dirty && <strong> · {t("editor.unsaved")}</strong>}
    </span>
  );
}
