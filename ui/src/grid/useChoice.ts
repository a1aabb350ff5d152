import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { type Choice, chosenIn, written } from "../domain/grid/choice";
import type { WorkflowSearch } from "../searchSchedule";

/** rest is how long a choice must have rested before it is put into the address: a drag changes it with each cell. */
const rest = 150;

/** useChoice is the cells that are chosen. They are in the address too, unless they are too many for one. */
export function useChoice(
  cells: string | undefined,
  set: (part: WorkflowSearch, replace?: boolean) => void,
): [Choice, (choice: Choice) => void] {
  // at is the address as it was last seen, own what was last put there.
  const [state, setState] = useState(() => ({ at: cells, own: cells, choice: chosenIn(cells) }));
  const put = useDebouncedCallback((choice: Choice) => {
    const own = written(choice);
    setState((s) => ({ ...s, own }));
    set({ cells: own }, true);
  }, rest);
  // Another address, by a link or by Back, is another choice.
  if (cells !== state.at) setState({ at: cells, own: cells, choice: cells === state.own ? state.choice : chosenIn(cells) });
  const choose = (choice: Choice) => {
    setState((s) => ({ ...s, choice }));
    put(choice);
  };
  return [state.choice, choose];
}
