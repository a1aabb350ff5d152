import { ActionIcon, Button, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { useSay } from "../../i18n";
import { useStay } from "../../parts/useStay";
import { type Sort, sorts } from "./rows";

const route = getRouteApi("/p/$project/w/$workflow/edit");

interface Props {
  shown: number;
  all: number;
  chosen: number;
  filter: string;
  sort: Sort;
  onAdd: () => void;
  onRemove: () => void;
  onMove: (way: "up" | "down") => void;
}

/** ListHead filters and orders the list, and does what is done with the rows that are chosen. */
export function ListHead({ shown, all, chosen, filter, sort, onAdd, onRemove, onMove }: Props) {
  const { t } = useSay();
  const go = useStay(route.useNavigate());
  const data = sorts.map((value) => ({ value, label: t(`list.sort.${value}`) }));
  return (
    <div className="list-head">
      <input
        className="fi"
        type="search"
        value={filter}
        placeholder={t("list.filter")}
        aria-label={t("list.filter")}
        onChange={(event) => {
          const q = event.target.value;
          void go({ search: (s) => ({ ...s, q: q === "" ? undefined : q }), replace: true });
        }}
      />
      <Select
        aria-label={t("list.sort")}
        w={130}
        data={data}
        value={sort}
        onChange={(next) => {
          const one = sorts.find((s) => s === next);
          void go({ search: (s) => ({ ...s, sort: one === "text" ? undefined : one }), replace: true });
        }}
      />
      <span className="faint num" role="status">
        {shown === all ? t("list.count", { count: all }) : t("list.countOf", { shown, count: all })}
        {chosen > 0 && `, ${t("list.chosen", { count: chosen })}`}
      </span>
      <span className="push list-acts">
        <Button variant="default" leftSection={<Plus size={14} />} title="Insert" onClick={onAdd}>
          {t("list.add")}
        </Button>
        <ActionIcon aria-label={t("list.up")} title={`${t("list.up")} (Alt ↑)`} disabled={all === 0} onClick={() => onMove("up")}>
          <ArrowUp size={15} />
        </ActionIcon>
        <ActionIcon aria-label={t("list.down")} title={`${t("list.down")} (Alt ↓)`} disabled={all === 0} onClick={() => onMove("down")}>
          <ArrowDown size={15} />
        </ActionIcon>
        <ActionIcon aria-label={t("list.remove")} title={`${t("list.remove")} (Del)`} disabled={all === 0} onClick={onRemove}>
          <Trash2 size={15} />
        </ActionIcon>
      </span>
    </div>
  );
}
