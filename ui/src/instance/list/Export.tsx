import { Button, Menu } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { Download, Link as LinkIcon, Terminal } from "lucide-react";
import { useState } from "react";
import { apiBase, type Instance } from "../../api/client";
import { readInstances } from "../../api/instances";
import type { InstanceFilter } from "../../api/queries";
import { useSay } from "../../i18n";
import { saveAs } from "../../parts/saveAs";
import type { InstancesSearch } from "../../search";
import { absolute, asCLI, asCurl } from "./filter";
import { asCSV } from "./table";

/** maxRows bounds what one file holds; what is left out is said. */
export const maxRows = 10_000;

/** readAll reads every row that a filter shows, in the order of the list. */
export async function readAll(
  filter: InstanceFilter,
  told: (n: number) => void,
  signal?: AbortSignal,
): Promise<{ rows: Instance[]; cut: boolean }> {
  const rows: Instance[] = [];
  let cursor: string | undefined;
  do {
    const page = await readInstances(filter, cursor, 200, signal);
    rows.push(...page.items);
    told(rows.length);
    cursor = page.next_cursor || undefined;
  } while (cursor !== undefined && rows.length < maxRows);
  return { rows: rows.slice(0, maxRows), cut: cursor !== undefined || rows.length > maxRows };
}

interface Props {
  filter: InstanceFilter;
  search: InstancesSearch;
  now: number;
}

/** Export gives the list away: as a file, as a question for a terminal, as a link whose times stand still. */
export function Export({ filter, search, now }: Props) {
  const { t } = useSay();
  const clipboard = useClipboard({ timeout: 1500 });
  const [read, setRead] = useState<number>();
  const file = async (kind: "csv" | "json") => {
    setRead(0);
    try {
      const { rows, cut } = await readAll(filter, setRead);
      if (kind === "csv") saveAs("instances.csv", "text/csv;charset=utf-8", asCSV(rows));
      else saveAs("instances.json", "application/json", `${JSON.stringify(rows, null, 2)}\n`);
      notifications.show({
        message: cut ? t("instances.exportCut", { count: maxRows }) : t("instances.exported", { count: rows.length }),
        autoClose: cut ? false : 3000,
      });
    } catch (error) {
      notifications.show({ message: `${t("error.title")}: ${error instanceof Error ? error.message : String(error)}`, autoClose: false });
    }
    setRead(undefined);
  };
  const copy = (text: string) => {
    clipboard.copy(text);
    notifications.show({ message: t("common.copied"), autoClose: 1500, withCloseButton: false });
  };
  const link = () => {
    const query = Object.entries(absolute(search, now)).flatMap(([k, v]) => (v === undefined ? [] : [[k, String(v)]]));
    copy(`${window.location.origin}${window.location.pathname}?${new URLSearchParams(query)}`);
  };
  return (
    <span className="push acts">
      <Button variant="default" leftSection={<LinkIcon size={14} />} onClick={link}>
        {t("common.copyLink")}
      </Button>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button variant="default" leftSection={<Download size={14} />} loading={read !== undefined}>
            {t("instances.export")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Download size={14} />} onClick={() => void file("csv")}>
            CSV
          </Menu.Item>
          <Menu.Item leftSection={<Download size={14} />} onClick={() => void file("json")}>
            JSON
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<Terminal size={14} />} onClick={() => copy(asCLI(filter))}>
            {t("instances.copyCLI")}
          </Menu.Item>
          <Menu.Item leftSection={<Terminal size={14} />} onClick={() => copy(asCurl(filter, apiBase))}>
            {t("instances.copyCurl")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </span>
  );
}
