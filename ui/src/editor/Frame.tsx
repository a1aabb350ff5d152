import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Redo2, Undo2 } from "lucide-react";
import { Suspense, useEffect, useMemo } from "react";
import { useSay } from "../i18n";
import { Crumbs } from "../parts/Crumbs";
import { SkeletonRows } from "../parts/ErrorView";
import { piece } from "../parts/piece";
import { useStay } from "../parts/useStay";
import { type EditorView, editorViews } from "../search";
import { useKeys } from "../shell/keys";
import { Canvas } from "./canvas/Canvas";
import { useDoc, useDocument } from "./context";
import { TaskPanel } from "./form/TaskPanel";
import { ListView } from "./list/ListView";
import type { Origin } from "./origin";
import { Problems } from "./text/Problems";
import { TextView } from "./text/TextView";
import { useSaved } from "./versions/context";
import { Failure } from "./versions/Failure";
import { Found, Guard } from "./versions/Guard";
import type { Keeper } from "./versions/keep";
import { MergeView } from "./versions/MergeView";
import { News } from "./versions/News";
import { RunMenu } from "./versions/RunMenu";
import { RunStrip } from "./versions/run";
import { SaveBar } from "./versions/SaveBar";

const route = getRouteApi("/p/$project/w/$workflow/edit");
const TrialPanel = piece(() => import("./trial/TrialPanel").then((m) => m.TrialPanel));
const words = { canvas: "editor.canvas", split: "editor.split", text: "editor.text", list: "editor.list" } as const;

/** Frame is the editor's page: head, the views of the document, the form of what is chosen, the problems. */
export function Frame({ origin, keeper }: { origin: Origin; keeper: Keeper }) {
  const { t } = useSay();
  const doc = useDocument();
  const { view = "canvas", new: fresh, test } = route.useSearch();
  const go = useStay(route.useNavigate());
  const there = useSaved((s) => s.version > 0 || s.draft !== undefined);
  useEffect(() => {
    if (fresh && there) void go({ search: (s) => ({ ...s, new: undefined }), replace: true });
  }, [fresh, there, go]);
  const merging = useSaved((s) => s.phase.kind === "conflict");
  const keys = useMemo(() => ({ "mod+z": () => doc.undo(), "mod+y": () => doc.redo(), "mod+shift+z": () => doc.redo() }), [doc]);
  useKeys(keys);
  const turn = (on: boolean) => void go({ search: (s) => ({ ...s, test: on ? "1" : undefined }), replace: true });
  return (
    <div className="page fill editor">
      <header className="editor-head">
        <Crumbs project={origin.project}>{""}</Crumbs>
        <h1>
          <Link to="/p/$project/w/$workflow" params={{ project: origin.project, workflow: origin.workflow }}>
            {origin.workflow}
          </Link>
        </h1>
        <SegmentedControl
          aria-label={t("editor.view")}
          data={editorViews.map((v) => ({ value: v, label: t(words[v]) }))}
          value={view}
          onChange={(v) => void go({ search: (s) => ({ ...s, view: editorViews.find((x) => x === v) }), replace: true })}
        />
        <Steps />
        <Button variant="default" aria-expanded={test === "1"} onClick={() => turn(test === undefined)}>
          {t("trial.open")}
        </Button>
        <RunMenu origin={origin} />
        <SaveBar origin={origin} />
      </header>
      <Found keeper={keeper} />
      <News origin={origin} />
      <Failure />
      <RunStrip origin={origin} />
      {merging ? (
        <MergeView />
      ) : (
        <div className="editor-body" data-view={view}>
          <Views view={view} />
          <TaskPanel />
        </div>
      )}
      {test === "1" && (
        <Suspense fallback={<SkeletonRows />}>
          <TrialPanel origin={origin} onClose={() => turn(false)} />
        </Suspense>
      )}
      <Problems />
      <Guard keeper={keeper} />
    </div>
  );
}

function Views({ view }: { view: EditorView }) {
  return (
    <>
      {(view === "canvas" || view === "split") && <Canvas />}
      {(view === "text" || view === "split") && <TextView />}
      {view === "list" && <ListView />}
    </>
  );
}

function Steps() {
  const { t } = useSay();
  const doc = useDocument();
  const past = useDoc((s) => s.history.past.length > 0);
  const future = useDoc((s) => s.history.future.length > 0);
  return (
    <span className="editor-steps">
      <ActionIcon aria-label={t("editor.undo")} title={`${t("editor.undo")} (Ctrl Z)`} disabled={!past} onClick={() => doc.undo()}>
        <Undo2 size={15} />
      </ActionIcon>
      <ActionIcon aria-label={t("editor.redo")} title={`${t("editor.redo")} (Ctrl Y)`} disabled={!future} onClick={() => doc.redo()}>
        <Redo2 size={15} />
      </ActionIcon>
    </span>
  );
}
