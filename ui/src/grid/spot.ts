import type { Spot } from "../domain/grid/choice";

/** spotId is the id of the element that shows a place of the grid. */
export const spotId = (spot: Spot): string => `grid-${spot.row}-${spot.column}`;
