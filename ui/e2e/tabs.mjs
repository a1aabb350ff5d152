// What a person finds who has no mouse: where the tab key stops, in which order, and whether it shows.

const most = 400; // presses before a page is called endless
const batch = 20;

/** stops walks a page by the tab key, once around, and gives what is wrong as lines. */
export async function stops(page) {
  await page.evaluate(listen);
  let seen = 0;
  for (let pressed = 0; pressed < most; pressed += batch) {
    for (let i = 0; i < batch; i++) await page.keyboard.press("Tab");
    const { count, around, wrong } = await page.evaluate(() => window.tabStops);
    if (around) {
      await page.evaluate(() => document.activeElement?.blur());
      return wrong;
    }
    if (count === seen) return [...wrong, `the tab key is caught at ${await page.evaluate(() => window.tabStops.last)}`];
    seen = count;
  }
  return [`the tab key has not come around after ${most} presses`];
}

/** listen runs in the page: it looks at each element that takes the focus, at that moment. */
function listen() {
  const found = { count: 0, around: false, wrong: [], last: "" };
  window.tabStops = found;
  document.activeElement?.blur?.();
  const met = new Set();
  const say = (e) => {
    const words = (e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent ?? "").trim().slice(0, 40);
    return `${e.tagName.toLowerCase()}.${String(e.className).split(" ")[0]} "${words}"`;
  };
  const ring = (e) => {
    const s = getComputedStyle(e);
    return (s.outlineStyle !== "none" && Number.parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== "none";
  };
  /** What shows the focus of an element: itself, or where it is no wider than a dot, what it is the field of. */
  const shown = (e) => {
    const near = [e, e.nextElementSibling, ...(e.labels ?? []), e.parentElement, e.parentElement?.parentElement];
    return near.filter((x) => x instanceof Element);
  };
  for (const e of document.querySelectorAll("[tabindex]")) if (e.tabIndex > 0) found.wrong.push(`${say(e)} jumps the order of the page`);
  document.addEventListener("focusin", (event) => {
    if (found.around) return;
    // What sits in a shadow tree is its own matter: here it is one stop.
    const e = event.target;
    if (document.activeElement !== e) return; // it has handed the focus on already
    if (met.has(e)) {
      found.around = found.count > 1;
      return;
    }
    met.add(e);
    found.count++;
    found.last = say(e);
    if (e.shadowRoot) return;
    const parts = shown(e);
    if (!parts.some(ring)) found.wrong.push(`${say(e)} has the focus and no ring`);
    const box = (parts.find((x) => x.getBoundingClientRect().width > 4) ?? e).getBoundingClientRect();
    const [x, y] = [box.left + Math.min(box.width, 60) / 2, box.top + Math.min(box.height, 40) / 2];
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) {
      found.wrong.push(`${say(e)} has the focus outside of the window`);
      return;
    }
    const top = document.elementFromPoint(x, y);
    // The list of the field before closes a moment later.
    const leaving = top?.closest("[data-portal], [role=listbox], [role=presentation]");
    if (top && !leaving && !parts.some((p) => p.contains(top) || top.contains(p)))
      found.wrong.push(`${say(e)} has the focus below ${say(top)}`);
  });
}
