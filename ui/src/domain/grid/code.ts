// How the server writes the columns of a grid (apiserver/gridcode.go): letters, since 2,000 tasks of 30 instances as
// objects would be 10 MB.

/** none stands for a task that an instance does not have. */
export const none = ".";
const never = " ";
const far = "~";
/** The letters of durations, in the order of their code points; the one in the middle is the median itself. */
const times = "!#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|";
const middle = (times.length - 1) / 2;
/** How far neighbouring letters are apart. */
const step = 1.03;

const places = new Map([...times].map((letter, i) => [letter, i - middle]));

/** expand writes equal neighbours out: s3f is sssf. Rows that are not told have no task. */
export function expand(runs: string, rows: number): string {
  const out = runs.replaceAll(/(\D)(\d+)/g, (_, letter: string, n: string) => letter.repeat(Number(n)));
  return out.padEnd(rows, none);
}

/** durations reads letters and what was too far for them, in ms per row; NaN where there is none. */
export function durations(took: string, pairs: readonly number[] | null | undefined, median: readonly number[]): Float64Array {
  const out = new Float64Array(median.length).fill(Number.NaN);
  for (let row = 0; row < Math.min(took.length, out.length); row++) {
    const letter = took[row] ?? never;
    const place = places.get(letter);
    if (letter === never || letter === far || place === undefined) continue;
    // One is added to both sides: nothing is as good a duration as any.
    out[row] = Math.max(0, Math.round(((median[row] ?? 0) + 1) * step ** place - 1));
  }
  for (const [row, ms] of twos(pairs)) out[row] = ms;
  return out;
}

/** twos reads a list of pairs that is written flat. */
export function twos(flat: readonly number[] | null | undefined): [number, number][] {
  const out: [number, number][] = [];
  for (let i = 0; flat && i + 1 < flat.length; i += 2) out.push([flat[i] ?? 0, flat[i + 1] ?? 0]);
  return out;
}
