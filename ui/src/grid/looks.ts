import { duration } from "../domain/format";
import { type Column, cellState, type Grid } from "../domain/grid/grid";
import { lookOf } from "../domain/states";
import { type Say, word } from "../i18n";

// The classes and the words of a cell: made once per state, not once per cell.

const classes = new Map<string, string>();

/** classOf draws a state as a cell: its colour, its fill and its glyph. */
export function classOf(state: string): string {
  let made = classes.get(state);
  if (made === undefined) {
    const { hue, glyph, fill } = lookOf(state);
    made = `grid-cell hue-${hue} fill-${fill} glyph-${glyph}`;
    classes.set(state, made);
  }
  return made;
}

/** Saying tells of a cell in words. */
export type Saying = (grid: Grid, column: Column, row: number) => string;

/**
 * sayingOf makes what a screen reader hears of a cell, and what the line below the grid shows: load_dim, instance 8841, failed,
 * attempt 2, 12 s. The sentence is looked up once per language: a scroll says a thousand cells, each frame.
 */
export function sayingOf(t: Say): Saying {
  const whole = t("grid.says", { task: "\ue001", id: "\ue002", state: "\ue003" });
  const blank = t("grid.saysNone", { task: "\ue001", id: "\ue002" });
  const comma = t("grid.comma");
  const states = new Map<string, string>();
  const worded = (state: string) => {
    const known = states.get(state) ?? word(t, "state", state);
    states.set(state, known);
    return known;
  };
  return (grid, column, row) => {
    const task = grid.rows[row] ?? "";
    const state = cellState(grid, column, row);
    const parts: Record<string, string> = { "\ue001": task, "\ue002": column.id, "\ue003": state === undefined ? "" : worded(state) };
    let out = (state === undefined ? blank : whole).replaceAll(/[\ue001-\ue003]/g, (mark) => parts[mark] ?? "");
    const tries = column.tries.get(row);
    if (tries !== undefined) out += comma + t("grid.attempt", { n: tries });
    const ms = column.took[row] ?? Number.NaN;
    return Number.isNaN(ms) ? out : out + comma + duration(ms);
  };
}
