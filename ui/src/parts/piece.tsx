import { type ComponentType, lazy, useState } from "react";

/**
 * piece is a component whose code is loaded apart, like React's lazy. Where the code is there already, it is drawn at once: lazy
 * waits even then, and React keeps what has waited for another 300 ms behind its fallback, so that a page does not flicker.
 * load begins to load it, and answers when it is there (undefined: already); a route that awaits it never shows the fallback.
 */
export function piece<P extends object>(
  read: () => Promise<ComponentType<P>>,
): ComponentType<P> & { load: () => Promise<void> | undefined } {
  let there: ComponentType<P> | undefined;
  let coming: Promise<ComponentType<P>> | undefined;
  const load = () => {
    coming ??= read().then(
      (component) => {
        there = component;
        return component;
      },
      (error: unknown) => {
        coming = undefined; // the next one who wants it asks again
        throw error;
      },
    );
    return coming;
  };
  const Late = lazy(() => load().then((component) => ({ default: component }))) as unknown as ComponentType<P>;
  // biome-ignore lint/correctness/noComponentHookFactories: made once for each module, not while drawing
  function Piece(props: P) {
    // Once drawn it stays what it is: another type would begin anew and forget what was typed.
    const [Drawn] = useState<ComponentType<P>>(() => there ?? Late);
    return <Drawn {...props} />;
  }
  Piece.load = () => (there ? undefined : load().then(() => undefined));
  return Piece;
}
