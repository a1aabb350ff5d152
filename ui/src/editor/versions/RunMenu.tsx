import { Button, Menu } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { ChevronDown, Play } from "lucide-react";
import { useState } from "react";
import { useSay } from "../../i18n";
import { Guarded } from "../../parts/Guarded";
import { StartDialog, type StartFrom } from "../../parts/StartDialog";
import { useStay } from "../../parts/useStay";
import { useWhyNot } from "../../shell/me";
import { useDoc, useDocument } from "../context";
import type { Origin } from "../origin";
import { useDirty, useSaved, useSaving } from "./context";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** RunMenu starts the workflow as it stands on the page: unsaved text becomes a version first, since what ran must stay readable. */
export function RunMenu({ origin }: { origin: Origin }) {
  const { t } = useSay();
  const doc = useDocument();
  const saving = useSaving();
  const dirty = useDirty();
  const go = useStay(route.useNavigate());
  const why = useWhyNot(origin.project)("operator");
  const chosen = useDoc((s) => s.history.selection.tasks);
  const published = useSaved((s) => s.published);
  const version = useSaved((s) => s.version);
  const draft = useSaved((s) => s.draft !== undefined);
  const [asked, setAsked] = useState<{ version: number; from?: StartFrom }>();
  const unsaved = dirty || draft || version === 0;
  const ask = async (scope?: StartFrom["scope"]) => {
    const from = scope && { tasks: [...chosen], scope };
    const made = unsaved ? await saving.save({ as: "version", publish: false, message: "" }) : version;
    if (made !== undefined) setAsked({ version: made, from });
  };
  const none = chosen.length === 0 ? t("editor.runChoose") : undefined;
  if (why !== undefined) {
    return (
      <Guarded variant="default" why={why} leftSection={<Play size={13} />}>
        {t("editor.run")}
      </Guarded>
    );
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<Play size={13} />}
            rightSection={<ChevronDown size={13} />}
            onMouseDown={() => doc.seal()}
          >
            {t("editor.run")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {unsaved && <Menu.Label>{t("editor.runSaves", { version: version + 1 })}</Menu.Label>}
          <Menu.Item onClick={() => void ask()}>{t("editor.runAll")}</Menu.Item>
          <Menu.Item disabled={none !== undefined} title={none} onClick={() => void ask("downstream")}>
            {t("editor.runFrom")}
          </Menu.Item>
          <Menu.Item disabled={none !== undefined} title={none} onClick={() => void ask("only")}>
            {t("editor.runOnly")}
          </Menu.Item>
          <Menu.Item disabled={none !== undefined} title={none} onClick={() => void ask("upstream")}>
            {t("editor.runTo")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <StartDialog
        workflow={{ project: origin.project, name: origin.workflow, published }}
        version={asked?.version ?? 0}
        from={asked?.from}
        opened={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onStarted={(id) => {
          setAsked(undefined);
          void go({ search: (s) => ({ ...s, run: id }) });
        }}
      />
    </>
  );
}
