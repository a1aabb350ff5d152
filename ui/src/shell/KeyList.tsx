import { Kbd } from "@mantine/core";
import { type Sentence, useSay } from "../i18n";
import { Modal } from "../parts/layers";

type KeyRows = [string[], Sentence][];

const everywhere: KeyRows = [
  [["Ctrl", "K"], "keys.palette"],
  [["g", "t"], "keys.today"],
  [["g", "r"], "keys.runs"],
  [["g", "k"], "keys.tasks"],
  [["g", "v"], "nav.approvals"],
  [["g", "s"], "keys.schedules"],
  [["g", "l"], "keys.lineage"],
  [["g", "a"], "keys.alerts"],
  [["g", "p"], "keys.projects"],
  [["g", "w"], "keys.workflows"],
  [["g", "m"], "keys.admin"],
  [["g", "c"], "keys.cluster"],
  [["/"], "keys.filter"],
  [["?"], "keys.help"],
  [["Esc"], "keys.close"],
];

const list: KeyRows = [
  [["j", "↓"], "keys.down"],
  [["k", "↑"], "keys.up"],
  [["x"], "keys.choose"],
  [["Shift", "X"], "keys.range"],
  [["Esc"], "keys.unchoose"],
];

const instance: KeyRows = [
  [["1", "…", "7"], "keys.tabs"],
  [["["], "keys.before"],
  [["]"], "keys.after"],
  [["l"], "keys.log"],
  [["e"], "keys.why"],
  [["r"], "keys.rerun"],
  [["f"], "keys.fit"],
  [["Ctrl", "F"], "keys.findTask"],
];

const editor: KeyRows = [
  [["←", "→"], "canvas.keyAlong"],
  [["↑", "↓"], "canvas.keyBeside"],
  [["Enter"], "canvas.keyForm"],
  [["A"], "canvas.keyAdd"],
  [["C"], "canvas.keyConnect"],
  [["E"], "canvas.keyEdges"],
  [["Del"], "canvas.keyRemove"],
  [["Shift", "←↑→↓"], "canvas.keyChoose"],
  [["Alt", "←↑→↓"], "canvas.keyMove"],
  [["Ctrl", "C / X / V"], "canvas.keyClipboard"],
  [["Ctrl", "D"], "canvas.keyDuplicate"],
  [["Ctrl", "A"], "canvas.keyAll"],
  [["Ctrl", "Z / Y"], "canvas.keyUndo"],
  [["Ctrl", "F"], "canvas.keyFind"],
  [["Ctrl", "S"], "canvas.keySave"],
  [["Menu"], "canvas.keyMenu"],
];

const grid: KeyRows = [
  [["Enter", "F2"], "keys.cell"],
  [["Space", "Shift"], "keys.pickRow"],
  [["Alt", "↑↓"], "keys.moveRow"],
  [["Insert"], "keys.addRow"],
  [["Ctrl", "Enter"], "keys.tryCases"],
];

// The grid has them all; the slot map, calendars and heat maps those that move and open.
const cells: KeyRows = [
  [["←↑→↓"], "keys.cells"],
  [["Page Up", "Page Down"], "keys.cellsPage"],
  [["Home", "End"], "keys.cellsEnds"],
  [["Ctrl", "Home / End"], "keys.cellsCorners"],
  [["Shift", "←↑→↓"], "keys.cellsRange"],
  [["Space"], "keys.cellsChoose"],
  [["Enter"], "keys.cellsOpen"],
];

const parts: { title: Sentence; rows: KeyRows }[] = [
  { title: "keys.everywhere", rows: everywhere },
  { title: "keys.list", rows: list },
  { title: "keys.instance", rows: instance },
  { title: "keys.cellsTitle", rows: cells },
  { title: "canvas.keys", rows: editor },
  { title: "keys.grid", rows: grid },
];

/** KeyList is every key that the console knows, by the page on which it works. */
export function KeyList({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Modal opened={opened} onClose={onClose} size={860} title={t("keys.title")}>
      <div className="key-lists">
        {parts.map(({ title, rows }) => (
          <section key={title}>
            <h3>{t(title)}</h3>
            <Rows of={rows} />
          </section>
        ))}
      </div>
    </Modal>
  );
}

function Rows({ of }: { of: KeyRows }) {
  const { t } = useSay();
  return (
    <dl className="key-list">
      {of.map(([keys, what]) => (
        <div key={what}>
          <dt>
            {keys.map((k) => (
              <Kbd key={k}>{k}</Kbd>
            ))}
          </dt>
          <dd>{t(what)}</dd>
        </div>
      ))}
    </dl>
  );
}
