// What a page is asked to measure about itself, with its own clock.

/** percentile of numbers, by nearest rank. */
export function percentile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((p / 100) * sorted.length) - 1))] ?? Number.NaN;
}

export const median = (numbers) => percentile(numbers, 50);

/** steps is the fixed piece of script that says how fast the machine is: a few tens of ms where nobody else works. */
export const steps = 15_000_000;

/** work does that many steps and gives the time, in ms. It is a function of the page's. */
export function work(n) {
  const began = performance.now();
  let x = 1;
  for (let i = 0; i < n; i++) x = (Math.imul(x, 31) + i) | 0;
  // Looked at, so that no step may be left out.
  return x === 0.5 ? 0 : performance.now() - began;
}

/**
 * opened goes to an address in a fresh browser context (nothing cached but the session's cookie), and gives
 * the first contentful paint, and when the first frame was over that showed all the selectors, in ms
 * since the navigation began.
 */
export async function opened(browser, state, url, ...selectors) {
  const context = await browser.newContext({ storageState: state, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const requests = [];
  page.on("request", (r) => r.url().includes("/api/v1/") && !r.url().includes("/stream") && requests.push(new URL(r.url()).pathname));
  await page.addInitScript((wanted) => {
    window.benchLong = [];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) window.benchLong.push(e.duration);
    }).observe({ type: "longtask", buffered: true });
    const look = () => {
      if (!wanted.every((s) => document.querySelector(s))) return requestAnimationFrame(look);
      // This frame is about to be painted; at the next one it has been.
      return requestAnimationFrame(() => {
        window.benchDone = performance.now();
      });
    };
    requestAnimationFrame(look);
  }, selectors);
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => window.benchDone !== undefined && performance.getEntriesByName("first-contentful-paint").length > 0);
  const [done, paint] = await page.evaluate(() => [window.benchDone, performance.getEntriesByName("first-contentful-paint")[0].startTime]);
  return { page, context, done, paint, requests };
}

/** longest is the longest task of the page's thread since it was opened, in ms; the browser tells of none below 50. */
export function longest(page) {
  return page.evaluate(() => Math.max(0, ...window.benchLong));
}

/** typed types a text into the field that has the focus, and gives the time from its last letter to the frame that shows what is looked for. */
export async function typed(page, text, shows) {
  const seen = page.evaluate(
    (selector) =>
      new Promise((resolve) => {
        let last = 0;
        document.addEventListener("input", () => {
          last = performance.now();
        });
        const look = () => {
          if (last === 0 || !document.querySelector(selector)) return requestAnimationFrame(look);
          return requestAnimationFrame(() => resolve(performance.now() - last));
        };
        look();
      }),
    shows,
  );
  await page.keyboard.type(text);
  return seen;
}

/** clicked gives the time from a click on one selector to the end of the first frame that shows another. */
export function clicked(page, on, shows) {
  return page.evaluate(
    ([from, to]) =>
      new Promise((resolve, reject) => {
        const target = document.querySelector(from);
        if (!target) return reject(new Error(`there is no ${from}`));
        const began = performance.now();
        target.click();
        const look = () => {
          if (performance.now() - began > 15000) return reject(new Error(`${to} did not come`));
          if (!document.querySelector(to)) return requestAnimationFrame(look);
          return requestAnimationFrame(() => resolve(performance.now() - began));
        };
        requestAnimationFrame(look);
      }),
    [on, shows],
  );
}

/** frames moves something once per frame and gives the times between frames, in ms. move is a function of the page's. */
export function frames(page, count, move, argument) {
  return page.evaluate(
    ([n, body, arg]) =>
      new Promise((resolve) => {
        // biome-ignore lint/security/noGlobalEval: the bench's own function, sent to its own page
        const step = eval(`(${body})`);
        const gaps = [];
        let last;
        const tick = (now) => {
          if (last !== undefined) gaps.push(now - last);
          last = now;
          if (gaps.length >= n) return resolve(gaps);
          step(gaps.length, arg);
          return requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
      }),
    [count, move.toString(), argument],
  );
}

/** pan turns the wheel over the canvas, by 24 pixels a frame, there and back. */
export function pan(i) {
  const pane = document.querySelector(".react-flow__pane");
  const box = pane.getBoundingClientRect();
  const way = i % 120 < 60 ? 24 : -24;
  const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
  pane.dispatchEvent(new WheelEvent("wheel", { deltaX: way, deltaY: way / 2, bubbles: true, cancelable: true, ...at }));
}

/** scroll moves a scroll box by 400 pixels a frame. */
export function scroll(_, selector) {
  document.querySelector(selector).scrollBy(0, 400);
}

/** watchFrames begins to note the gaps between frames; stopFrames gives them. */
export async function watchFrames(page) {
  await page.evaluate(() => {
    const gaps = [];
    window.benchGaps = gaps;
    let last;
    const tick = (now) => {
      if (window.benchGaps !== gaps) return;
      if (last !== undefined) gaps.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
}

export function stopFrames(page) {
  return page.evaluate(() => {
    const gaps = window.benchGaps;
    window.benchGaps = undefined;
    return gaps;
  });
}

/** watchInput begins to note how long each key press takes until the frame that shows it. */
export async function watchInput(page) {
  await page.evaluate(() => {
    window.benchInput = [];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) if (e.name === "keydown") window.benchInput.push(e.duration);
    }).observe({ type: "event", durationThreshold: 16 });
  });
}

/** presses gives a time per key press; those under the browser's threshold of 16 ms are not reported and count as that. */
export async function presses(page, keys) {
  await page.evaluate(() => {
    window.benchInput.length = 0;
  });
  for (const key of keys) await page.keyboard.press(key);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const seen = await page.evaluate(() => window.benchInput);
  return [...seen, ...new Array(Math.max(0, keys.length - seen.length)).fill(16)];
}
