import { ActionIcon, TextInput } from "@mantine/core";
import { PanelLeftClose, PanelLeftOpen, Search } from "lucide-react";
import { useState } from "react";
import { TypeIcon } from "../../graph/TaskNodeBody";
import { useSay } from "../../i18n";
import { type TaskTypeEntry, useTaskTypes } from "../taskTypes";
import { useDragOut } from "./dragOut";

const categories = { run: "canvas.categoryRun", flow: "canvas.categoryFlow" } as const;
const key = "porpoise.editor.palette";

interface Props {
  onPick: (type: string) => void;
  /** over is called while an item is dragged, drop where it is let go; both in the window's pixels. */
  onOver: (at: { x: number; y: number } | undefined) => void;
  onDrop: (type: string, at: { x: number; y: number }) => void;
}

/** Palette lists the task types: a click appends one, a drag puts it where it is let go. */
export function Palette({ narrow, onPick, onOver, onDrop }: Props & { narrow: boolean }) {
  const { t } = useSay();
  const types = useTaskTypes();
  // What a person has chosen counts; before that, a narrow canvas keeps its room for the tasks.
  const [choice, setChoice] = useState(kept);
  const open = choice === null ? !narrow : choice !== "closed";
  const [text, setText] = useState("");
  const turn = () => {
    keep(open ? "closed" : "open");
    setChoice(open ? "closed" : "open");
  };
  if (!open) {
    return (
      <aside className="palette closed" aria-label={t("canvas.palette")}>
        <ActionIcon aria-label={t("canvas.paletteOpen")} title={t("canvas.paletteOpen")} onClick={turn}>
          <PanelLeftOpen size={15} />
        </ActionIcon>
      </aside>
    );
  }
  const wanted = text.trim().toLowerCase();
  const found = types.filter((x) => x.type.toLowerCase().includes(wanted) || x.description.toLowerCase().includes(wanted));
  return (
    <aside className="palette" aria-label={t("canvas.palette")}>
      <div className="palette-head">
        <TextInput
          aria-label={t("canvas.paletteFind")}
          placeholder={t("canvas.paletteFind")}
          leftSection={<Search size={13} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <ActionIcon aria-label={t("canvas.paletteClose")} title={t("canvas.paletteClose")} onClick={turn}>
          <PanelLeftClose size={15} />
        </ActionIcon>
      </div>
      {found.length === 0 && <p className="faint palette-none">{t("palette.nothing")}</p>}
      {(["run", "flow"] as const).map((category) => {
        const own = found.filter((x) => x.category === category);
        if (own.length === 0) return null;
        return (
          <section key={category} aria-label={t(categories[category])}>
            <h2>{t(categories[category])}</h2>
            {own.map((x) => (
              <Item key={x.type} entry={x} onPick={onPick} onOver={onOver} onDrop={onDrop} />
            ))}
          </section>
        );
      })}
      <p className="faint palette-hint">{t("canvas.paletteHint")}</p>
    </aside>
  );
}

function Item({ entry, onPick, onOver, onDrop }: Props & { entry: TaskTypeEntry }) {
  const drag = useDragOut({ onOver, onDrop: (at) => onDrop(entry.type, at), onClick: () => onPick(entry.type) });
  return (
    <>
      <button type="button" className="palette-item" title={entry.description} {...drag.handlers}>
        <TypeIcon type={entry.type} size={15} />
        {entry.type}
      </button>
      {drag.at && (
        <span className="palette-ghost" style={{ left: drag.at.x, top: drag.at.y }}>
          <TypeIcon type={entry.type} size={15} />
          {entry.type}
        </span>
      )}
    </>
  );
}

function kept(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is off: the choice lasts for this visit.
  }
}
