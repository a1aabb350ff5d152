import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * useStay guards a page's navigate. A page is shown until the one that was asked for is there: what is changed within it
 * meanwhile, such as a choice that it keeps in its address, must neither take the person back nor mix the two addresses.
 */
export function useStay<Go extends (options: never) => Promise<void>>(go: Go): Go {
  const router = useRouter();
  return useCallback(
    ((options: never) => {
      const shown = router.state.resolvedLocation?.pathname;
      const leaving = shown !== undefined && shown !== router.latestLocation.pathname;
      return leaving && !("to" in options) ? Promise.resolve() : go(options);
    }) as Go,
    [router, go],
  );
}
