import { Button } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { differ } from "../../domain/document/text";
import { useSay } from "../../i18n";
import { Modal } from "../../parts/layers";
import { Ago } from "../../parts/Times";
import { useDocument } from "../context";
import { useDirty, useSaving } from "./context";
import { type Copy, every, type Keeper } from "./keep";

/** Guard keeps unsaved work: it asks before the page is left, and copies the work every two seconds. */
export function Guard({ keeper }: { keeper: Keeper }) {
  const { t } = useSay();
  const dirty = useDirty();
  const block = useBlocker({
    // Views and panels are the same page.
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  });
  useCopies(keeper, dirty);
  return (
    <Modal opened={block.status === "blocked"} onClose={() => block.reset?.()} title={t("editor.leaveTitle")}>
      <p>{t("editor.leaveText")}</p>
      <div className="dialog-end">
        <Button variant="default" onClick={() => block.proceed?.()}>
          {t("editor.leave")}
        </Button>
        <Button data-autofocus onClick={() => block.reset?.()}>
          {t("editor.stay")}
        </Button>
      </div>
    </Modal>
  );
}

function useCopies(keeper: Keeper, dirty: boolean): void {
  const doc = useDocument();
  const saving = useSaving();
  useEffect(() => {
    if (!dirty) {
      void keeper.forget().catch(() => undefined);
      return;
    }
    let kept = "";
    const keep = () => {
      const { text, places } = doc.state.history;
      const mark = `${doc.state.history.changed}`;
      if (mark === kept) return;
      kept = mark;
      // Storage may be full or off: the warning before leaving is still there.
      void keeper.keep({ text, places, version: saving.state.version, at: Date.now() }).catch(() => undefined);
    };
    keep();
    const timer = setInterval(keep, every);
    window.addEventListener("pagehide", keep);
    return () => {
      clearInterval(timer);
      window.removeEventListener("pagehide", keep);
    };
  }, [keeper, dirty, doc, saving]);
}

/** Found offers work that a tab which is gone has left. Nothing is taken or thrown away without a click. */
export function Found({ keeper }: { keeper: Keeper }) {
  const { t } = useSay();
  const doc = useDocument();
  const saving = useSaving();
  const [found, setFound] = useState<{ key: string; copy: Copy }>();
  useEffect(() => {
    let here = true;
    keeper.find(Date.now()).then(
      (one) => {
        if (here && one && one.copy.text !== saving.state.text) setFound(one);
      },
      () => undefined, // no storage, no copies
    );
    return () => {
      here = false;
    };
  }, [keeper, saving]);
  if (!found) return null;
  const end = () => {
    setFound(undefined);
    void keeper.drop(found.key);
  };
  return (
    <div className="editor-notice" role="status">
      <span>
        {t("editor.found", { version: found.copy.version })} <Ago at={new Date(found.copy.at).toISOString()} />
        {found.copy.version !== saving.state.version && <> · {t("editor.foundOld", { version: saving.state.version })}</>}
      </span>
      <Button
        onClick={() => {
          doc.change("take back", differ(doc.state.history.text, found.copy.text), { moves: found.copy.places });
          end();
        }}
      >
        {t("editor.takeBack")}
      </Button>
      <Button variant="default" onClick={end}>
        {t("editor.throwAway")}
      </Button>
    </div>
  );
}
