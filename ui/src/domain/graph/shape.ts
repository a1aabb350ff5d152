// The sizes and directions of a graph's layout, for pages that draw one without making it.

/** Point is the upper left corner of a node. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Size is a width and a height in canvas units. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Direction is left to right or top to bottom. */
export type Direction = "LR" | "TB";

/** Points is a layout by task name. */
export type Points = Readonly<Record<string, Point>>;

/** Options of a layout. All nodes have one size: the canvas is faster for it, and edges need no measuring. */
export interface Options {
  readonly direction: Direction;
  readonly size: Size;
  readonly gap: Size;
  /** Above this many nodes the sweep takes over from dagre. */
  readonly dagreMax: number;
}

/**
 * defaults are those of the viewer and the editor alike: saved places hold in both. With the ranker
 * tight-tree (dagre's own default, network-simplex, takes many times that) 500 nodes take up to two
 * seconds of a worker on a busy machine and 1,500 close to five; the sweep places 2,000 in a twentieth of one.
 */
export const defaults: Options = { direction: "LR", size: { width: 200, height: 52 }, gap: { width: 64, height: 24 }, dagreMax: 500 };

/** towards gives the options of a direction: the wide gap, where edges bend, lies along the way. */
export function towards(direction: Direction): Options {
  const { width, height } = defaults.gap;
  return { ...defaults, direction, gap: direction === "LR" ? { width, height } : { width: height, height: width } };
}
