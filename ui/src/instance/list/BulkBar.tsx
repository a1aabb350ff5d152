import { Button, Menu } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import type { Instance } from "../../api/client";
import type { BulkVerb } from "../../api/commands";
import { useSay } from "../../i18n";
import { Guarded } from "../../parts/Guarded";
import { GuardedItem } from "../../parts/GuardedItem";
import { bulkWord } from "./BulkDialog";
import type { Choice } from "./choice";

interface Props {
  choice: Choice;
  two?: readonly [Instance, Instance] | undefined; // where just two rows are chosen: they can be compared
  matching: string; // how many the filter matches, as far as is known
  why: string | undefined; // why nothing may be asked of them
  onAll: () => void;
  onClear: () => void;
  onVerb: (verb: BulkVerb, force: boolean) => void;
}

const first: { verb: BulkVerb; force: boolean }[] = [
  { verb: "recover", force: false },
  { verb: "rerun", force: false },
];
const rest: { verb: BulkVerb; force: boolean }[] = [
  { verb: "pause", force: false },
  { verb: "resume", force: false },
  { verb: "stop", force: false },
  { verb: "stop", force: true },
];

/** BulkBar stands below the list while rows are chosen. */
export function BulkBar({ choice, two, matching, why, onAll, onClear, onVerb }: Props) {
  const { t } = useSay();
  return (
    <section className="bulk-bar" aria-label={t("instances.chosenBar")}>
      <strong role="status">
        {choice.all ? t("instances.allChosen", { n: matching }) : t("instances.chosen", { count: choice.ids.size })}
      </strong>
      {!choice.all && (
        <button type="button" className="link" onClick={onAll}>
          {t("instances.chooseAll", { n: matching })}
        </button>
      )}
      <span className="push acts">
        {first.map((v) => (
          <Guarded key={v.verb} variant="default" why={why} onClick={() => onVerb(v.verb, v.force)}>
            {t(bulkWord(v))}
          </Guarded>
        ))}
        {two && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link
                {...props}
                to="/p/$project/r/$id"
                params={{ project: two[0].project, id: two[0].id }}
                search={{ tab: "compare", with: two[1].id }}
              />
            )}
          >
            {t("compare.chosen")}
          </Button>
        )}
        <Menu position="top-end" withInitialFocusPlaceholder={false}>
          <Menu.Target>
            <Button variant="default" aria-label={t("common.more")}>
              <Ellipsis size={16} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {rest.map((v) => (
              <GuardedItem key={t(bulkWord(v))} why={why} onClick={() => onVerb(v.verb, v.force)}>
                {t(bulkWord(v))}
              </GuardedItem>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Button variant="subtle" onClick={onClear}>
          {t("instances.clearChoice")}
        </Button>
      </span>
    </section>
  );
}
