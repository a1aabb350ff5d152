import { useState } from "react";

/** useOnce says whether something has ever been so: what was once opened stays in the page, to close as it opened. */
export function useOnce(now: boolean): boolean {
  const [been, setBeen] = useState(now);
  if (now && !been) setBeen(true);
  return been || now;
}
