/**
 * keepTyped runs in every page before its own scripts: what a person has typed into a field stays until that person does
 * something more than typing elsewhere. A field that is emptied, overwritten or taken away before is an error on the
 * console, and with that of the journey.
 */
export function keepTyped() {
  const settles = 200; // ms in which a field may put right what was typed, or what was left
  const typed = new Map();
  const release = () => typed.clear();
  const on = (kinds, act) => {
    for (const kind of kinds) addEventListener(kind, act, true);
  };
  on(["pointerdown", "click", "submit", "popstate", "pagehide"], release);
  on(["keydown"], (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.key.length > 1 && !/^(Backspace|Delete|Tab|Shift|Arrow|Home|End)/.test(e.key))) release();
  });
  on(["input"], (e) => {
    const field = e.composedPath()[0];
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
      if (!/^(checkbox|radio|range|file)$/.test(field.type)) typed.set(field, { at: performance.now() });
  });
  on(["focusout"], (e) => {
    const known = typed.get(e.composedPath()[0]);
    if (known) typed.set(e.composedPath()[0], { at: performance.now() });
  });
  setInterval(() => {
    const now = performance.now();
    for (const [field, known] of typed) {
      if (now - known.at < settles) continue;
      const name = field.getAttribute("aria-label") ?? field.labels?.[0]?.textContent ?? field.name ?? field.id;
      if (known.value === undefined && field.isConnected) known.value = field.value;
      else if (!field.isConnected || field.value !== known.value) {
        typed.delete(field);
        const left = field.isConnected ? `"${field.value}" stands there` : "the field is gone";
        console.error(`lost input: "${known.value ?? ""}" in ${name}, and nobody asked for it: ${left}`);
      }
    }
  }, 50);
}
