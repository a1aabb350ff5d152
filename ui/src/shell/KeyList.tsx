import { Kbd, Modal } from "@mantine/core";
import { type Sentence, useSay } from "../i18n";

const list: [string[], Sentence][] = [
  [["Ctrl", "K"], "keys.palette"],
  [["g", "t"], "keys.today"],
  [["g", "r"], "keys.runs"],
  [["g", "p"], "keys.projects"],
  [["/"], "keys.filter"],
  [["1", "…", "5"], "keys.tabs"],
  [["f"], "keys.fit"],
  [["l"], "keys.log"],
  [["?"], "keys.help"],
  [["Esc"], "keys.close"],
];

export function KeyList({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Modal opened={opened} onClose={onClose} title={t("keys.title")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <dl className="key-list">
        {list.map(([keys, what]) => (
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
    </Modal>
  );
}
