const [width, height] = [60, 14];

/** Spark is a line of some numbers, the newest at its right end; what it says stands beside it as a number. */
export function Spark({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const top = Math.max(1, ...values);
  const points = values.map((v, i) => `${width - values.length + i + 1},${(height - 1 - (v / top) * (height - 2)).toFixed(1)}`);
  return (
    <svg className="spark" width={width} height={height} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
