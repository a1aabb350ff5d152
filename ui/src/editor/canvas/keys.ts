// The keys of the canvas. They are deaf inside fields, menus and the text view: a key typed there is text.

import { isStep, type Walker } from "../../domain/graph/walk";
import { settings } from "../../settings";
import type { Acts } from "./acts";

/** Stand is where the keys are pressed. */
export interface Stand {
  readonly acts: Acts;
  readonly walker: Walker;
  readonly here: string | undefined;
  /** go moves choice and focus to a task. */
  readonly go: (task: string, add: boolean) => void;
  readonly openForm: () => void;
  readonly leave: () => void;
}

const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const;

/** press does what a key stands for, and tells whether there was something. */
export function press(event: KeyboardEvent, stand: Stand): boolean {
  if (event.ctrlKey || event.metaKey) return !event.altKey && withControl(event, stand);
  if (event.altKey) {
    if (!isStep(event.key)) return false;
    const [x, y] = ways[event.key];
    stand.acts.nudge(x, y);
    return true;
  }
  if (isStep(event.key)) return walk(event.key, event.shiftKey, stand);
  return alone(event, stand);
}

// Copy, cut and paste are events of the browser: they work without a secure origin too.
function withControl(event: KeyboardEvent, { acts }: Stand): boolean {
  switch (event.key.toLowerCase()) {
    case "a":
      acts.selectAll();
      return true;
    case "d":
      acts.duplicate();
      return true;
    case "f":
      acts.open({ kind: "find" });
      return true;
    default:
      return false;
  }
}

function walk(step: keyof typeof ways, add: boolean, { walker, here, go }: Stand): boolean {
  const next = here === undefined ? undefined : walker.go(here, step);
  if (next !== undefined) go(next, add);
  return true;
}

function alone(event: KeyboardEvent, { acts, openForm, leave, here }: Stand): boolean {
  switch (event.key) {
    case "Delete":
    case "Backspace":
      acts.remove();
      return true;
    case "Enter":
      if (here !== undefined) acts.choose(here);
      openForm();
      return true;
    case "Escape":
      leave();
      return true;
  }
  if (!settings().letters) return false;
  switch (event.key.toLowerCase()) {
    case "a":
      acts.pickAfter(here !== undefined && acts.chosen.length < 2 ? [here] : acts.chosen);
      return true;
    case "c":
      acts.pickTarget(here);
      return true;
    case "e":
      acts.listEdges(here);
      return true;
    case "f":
      window.dispatchEvent(new Event("porpoise:fit"));
      return true;
    default:
      return false;
  }
}
