export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" className="mark">
      <path d="M2 21c4-11 11-15 18-12 1-4 4-6 7-6-2 3-2 5 0 8 3 3 4 6 3 10-3-1-4-3-5-4-6 5-15 8-23 4z" />
    </svg>
  );
}
