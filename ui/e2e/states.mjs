// What a page is like before its answers come, when they fail, when its words are longer, and in which words it speaks.
import { words } from "./scenes.mjs";

const answers = (url) => /\/api\//.test(url.pathname) && !/\/(session|stream)$/.test(url.pathname);
/** requestId is what the answer that fails is told to be. */
const requestId = "0e2e0e2e0e2e";
const problem = JSON.stringify({ title: "Internal Server Error", status: 500, detail: "the store is away", request_id: requestId });

/** late holds back every answer but who is signed in, and gives a function that lets them go. */
export async function late(page) {
  let go;
  const gone = new Promise((resolve) => {
    go = resolve;
  });
  await page.route(answers, async (route) => {
    await gone;
    // A page that was left meanwhile has no use for it.
    await route.continue().catch(() => undefined);
  });
  return async () => {
    go();
    await page.unroute(answers);
  };
}

/** breakAll lets every answer but who is signed in be a failure of the server, on a page whose clock can be put forward. */
export async function breakAll(page) {
  await page.clock.install();
  await page.route(answers, (route) =>
    route.fulfill({ status: 500, contentType: "application/problem+json", headers: { "X-Request-Id": requestId }, body: problem }),
  );
}

/** failedIn waits for the error that stands in the page, over the pauses before what failed is asked for again; it says what lacks. */
export async function failedIn(page) {
  const error = page.locator(".error-view").first();
  for (let i = 0; ; i++) {
    const there = await error.waitFor({ timeout: i === 20 ? 30_000 : 300 }).then(
      () => true,
      () => false,
    );
    if (there) break;
    if (i === 20) return ["no error stands in the page"];
    await page.clock.fastForward(5000);
  }
  const wrong = [];
  if ((await error.getByRole("button", { name: "Try again" }).count()) === 0) wrong.push("the error has no way to try again");
  if ((await error.getByText(requestId).count()) === 0) wrong.push("the error does not name its request");
  return wrong;
}

/** sentences are those of a language as patterns: what is put into one may be anything. */
export async function sentences(language) {
  const of = Object.values(await words(language));
  const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const told = of.filter((text) => /\p{L}{2}/u.test(text.replaceAll(/\{\{\w+\}\}/g, "")));
  return {
    plain: told.filter((text) => !text.includes("{{")),
    patterns: told
      .filter((text) => text.includes("{{"))
      .map(
        (text) =>
          `^${text
            .split(/\{\{\w+\}\}/)
            .map(escaped)
            .join(".+")}$`,
      ),
  };
}

/** longer makes each sentence of the console on the page longer by two fifths, as another language may be. */
export function longer(page, known) {
  return page.evaluate(({ plain, patterns }) => {
    window.lengthened ??= { plain: new Set(plain), patterns: patterns.map((p) => new RegExp(p, "s")), done: new WeakSet() };
    const { done, ...of } = window.lengthened;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const text = node.data.trim();
      if (done.has(node) || text === "" || !(of.plain.has(text) || of.patterns.some((p) => p.test(text)))) continue;
      done.add(node);
      const more = text.slice(0, Math.ceil(text.length * 0.4));
      // One word stays one: others make long words where English has none.
      node.data = text.includes(" ") ? `${node.data} ${more}` : `${node.data}${more.toLowerCase()}`;
    }
  }, known);
}

/**
 * latin gives the texts of a page in which three or more Latin words stand in a row outside of code, logs and what people
 * have named.
 */
export function latin(page) {
  return page.evaluate(() => {
    const theirs = "code, pre, kbd, .mono, .log, .cm-editor, script, style, [lang=en], .num time";
    const found = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const text = node.data.trim();
      if (!/\b[A-Za-z]{2,} [A-Za-z]+ [A-Za-z]+/.test(text)) continue;
      if (node.parentElement?.closest(theirs) || node.parentElement?.checkVisibility() === false) continue;
      found.add(text);
    }
    return [...found];
  });
}
