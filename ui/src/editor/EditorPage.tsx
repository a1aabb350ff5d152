import "./editor.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { useMe } from "../shell/me";
import { DocumentContext } from "./context";
import { Document } from "./document";
import { Frame } from "./Frame";
import { originQuery } from "./load";
import type { Origin } from "./origin";
import { workerReader } from "./reader";
import { SavingContext } from "./versions/context";
import { Keeper } from "./versions/keep";
import { Saving } from "./versions/saving";
import { server } from "./versions/server";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** EditorPage reads the workflow, its draft and its canvas once, and hands them to the editor. */
export function EditorPage() {
  const { project, workflow } = route.useParams();
  const { new: fresh } = route.useSearch();
  const me = useMe();
  const origin = useQuery({ ...originQuery(project, workflow, fresh === "1"), ...once });
  // A reading anew that fails must not take the editor, and what is unsaved in it, away.
  if (!origin.data) return origin.isError ? <ErrorView error={origin.error} retry={() => void origin.refetch()} /> : <SkeletonRows />;
  return <Editor key={`${project}/${workflow}`} origin={origin.data} user={me.name} />;
}

// What is edited must not change under the hands: foreign saves come in by a merge.
const once = { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false, refetchInterval: false } as const;

interface Parts {
  doc: Document;
  saving: Saving;
  keeper: Keeper;
}

function Editor({ origin: first, user: name }: { origin: Origin; user: string }) {
  // Both stay while the page does: an ended session, or a reading anew, must not begin the document again.
  const [origin] = useState(first);
  const [user] = useState(name);
  const [parts, setParts] = useState<Parts>();
  useEffect(() => {
    const doc = new Document(origin.text, origin.places, {
      reader: workerReader(),
      now: () => performance.now(),
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    });
    const keeper = new Keeper({ user, project: origin.project, workflow: origin.workflow });
    setParts({ doc, saving: new Saving(origin, doc, server), keeper });
    return () => {
      doc.close();
      keeper.close();
    };
  }, [origin, user]);
  if (!parts) return <SkeletonRows />;
  return (
    <DocumentContext value={parts.doc}>
      <SavingContext value={parts.saving}>
        <Frame origin={origin} keeper={parts.keeper} />
      </SavingContext>
    </DocumentContext>
  );
}
