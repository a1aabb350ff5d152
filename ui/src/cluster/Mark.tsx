import { letterOf, type Marks } from "../domain/cluster/slots";

/** looks is how many hues and edges there are; the letter tells apart what shares one. */
export const looks = 8;

/** lookOfMark is the class of a master's hue and edge. */
export function lookOfMark(mark: number): string {
  return `m${mark % looks}`;
}

/** MasterMark is a master's letter on its hue, as on the map. */
export function MasterMark({ name, marks }: { name: string; marks: Marks }) {
  const mark = marks.get(name);
  if (mark === undefined) return null;
  return (
    <span className={`slot-mark ${lookOfMark(mark)}`} aria-hidden="true">
      {letterOf(mark)}
    </span>
  );
}
