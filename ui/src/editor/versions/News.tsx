import { Button } from "@mantine/core";
import { useEffect } from "react";
import { useSay } from "../../i18n";
import { live } from "../../live/live";
import { Ago } from "../../parts/Times";
import type { Origin } from "../origin";
import { useSaved, useSaving } from "./context";
import { foreignIn, type News as Word } from "./saving";

/** News says at once when another has saved what is being edited here. */
export function News({ origin }: { origin: Origin }) {
  const { t } = useSay();
  const saving = useSaving();
  const { project, workflow } = origin;
  // A stream that asks for what is not there is refused whole, with all its other topics.
  const there = useSaved((s) => s.version > 0 || s.draft !== undefined);
  useEffect(() => {
    if (!there) return;
    const leave = live.subscribe(`workflow:${project}/${workflow}`, ({ kind, data }) => {
      const word = kind === "workflow" ? wordOf(data) : undefined;
      if (word === "gone") leave();
      else if (word) saving.heard(word);
    });
    return leave;
  }, [saving, there, project, workflow]);
  const kind = useSaved(foreignIn);
  const news = useSaved((s) => s.news);
  if (!kind || !news) return null;
  return (
    <div className="editor-notice" role="status">
      <span>
        {t(kind === "version" ? "editor.mergeVersion" : "editor.mergeDraft", { version: news.latest, name: news.by })}, <Ago at={news.at} />
      </span>
      <Button onClick={() => void saving.bringIn(kind)}>{t("editor.bringIn")}</Button>
    </div>
  );
}

function wordOf(data: unknown): Word | "gone" | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const d = data as Partial<Record<"latest" | "draft_revision" | "by" | "at" | "gone", unknown>>; // each field is checked below
  if (d.gone === true) return "gone";
  if (typeof d.latest !== "number" || typeof d.draft_revision !== "number") return undefined;
  return { latest: d.latest, draft: d.draft_revision, by: String(d.by ?? ""), at: String(d.at ?? "") };
}
