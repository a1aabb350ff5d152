// Pictures of every scene, to be looked at.
//   node e2e/shots.mjs [--light|--dark] [--en|--zh-CN] [--wide|--phone] [--sheet] [scene...]
// They are written to e2e/out/shots; --sheet puts several on one picture as well.
import { mkdirSync, readFileSync } from "node:fs";
import { launch, open } from "./browser.mjs";
import { play, prepare, scenes, words } from "./scenes.mjs";
import { startServer } from "./server.mjs";
import { signInByLink } from "./steps.mjs";

const out = new URL("./out/shots/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const has = (flag) => process.argv.includes(`--${flag}`);
const some = (all) => (all.some(has) ? all.filter(has) : all);
const wanted = process.argv.slice(2).filter((a) => !a.startsWith("--"));
const windows = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 800 } };
const themes = some(["light", "dark"]);
const languages = some(["en", "zh-CN"]);
const views = some(["wide", "phone"]);
const chosen = (name) => wanted.length === 0 || wanted.some((w) => name.startsWith(w));

const browser = await launch();
const server = await startServer();
const sheets = new Map();

/** shoot keeps one picture and says when it is wider than its window. */
async function shoot(page, name, suffix) {
  const file = `${out}${name.replaceAll(" ", "-")}-${suffix}.png`;
  await page.screenshot({ path: file });
  sheets.set(suffix, [...(sheets.get(suffix) ?? []), file]);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) console.log(`wider by ${wide}: ${name} ${suffix}`);
}

/** each calls for every language, theme and window that is asked for. */
async function each(page, run) {
  for (const language of languages) {
    for (const theme of themes) {
      await page.evaluate(
        ([l, t]) => {
          localStorage.setItem("porpoise.settings", JSON.stringify({ language: l }));
          localStorage.setItem("porpoise.theme", t);
        },
        [language, theme],
      );
      for (const view of views) {
        await page.setViewportSize(windows[view]);
        await run(language, `${view}-${theme}-${language}`);
      }
    }
  }
}

/** before are the pages of who is not known yet. */
async function before() {
  if (!chosen("sign in") && !chosen("set up")) return;
  const fresh = await startServer();
  const { page, context } = await open(browser, fresh.url, { refused: [404] });
  await page.goto(`${fresh.url}/`);
  if (chosen("sign in")) {
    await each(page, async (_, suffix) => {
      await page.goto(`${fresh.url}/`);
      await page.locator("input[name=password]").waitFor();
      await shoot(page, "sign in", suffix);
      await page.locator("input").first().fill("admin");
      await page.locator("input[name=password]").fill("wrong");
      await page.locator("button[type=submit]").click();
      await page.getByRole("alert").waitFor();
      await shoot(page, "sign in error", suffix);
    });
  }
  if (chosen("set up")) {
    await page.goto(fresh.link);
    await each(page, async (_, suffix) => {
      await page.goto(`${fresh.url}/`);
      await page.locator("input[name=again]").waitFor();
      await page.locator("input[name=password]").fill("seven");
      await page.locator("input[name=again]").fill("something");
      await shoot(page, "set up", suffix);
    });
  }
  await context.close();
  await fresh.stop();
}

/** sheet puts the pictures of one kind on pages of four. */
async function sheet(suffix, files) {
  const phone = suffix.startsWith("phone");
  const [width, height, per] = phone ? [390, 800, 4] : [780, 488, 4];
  const page = await browser.newPage({
    viewport: { width: phone ? width * 4 : width * 2, height: phone ? height + 20 : (height + 20) * 2 },
  });
  for (let i = 0; i < files.length; i += per) {
    const pictures = files.slice(i, i + per).map((f) => {
      const name = f.slice(out.length).replace(`-${suffix}.png`, "");
      return `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${readFileSync(f).toString("base64")}"></figure>`;
    });
    await page.setContent(
      `<style>body{margin:0;display:flex;flex-wrap:wrap;font:12px/20px sans-serif;background:#f0c}figure{margin:0}img{display:block;width:${width}px;height:${height}px;outline:1px solid #f0c}figcaption{background:#ff0}</style>${pictures.join("")}`,
    );
    await page.screenshot({ path: `${out}sheet-${suffix}-${String(i / per).padStart(2, "0")}.png` });
  }
  await page.close();
}

try {
  await before();
  const { page } = await open(browser, server.url, { refused: [404] });
  await signInByLink(server, page);
  if (chosen("fresh")) {
    await each(page, async (_, suffix) => {
      await page.reload();
      await page.locator(".steps").waitFor();
      await shoot(page, "fresh", suffix);
    });
  }
  const all = Object.entries(scenes(await prepare(server))).filter(([name]) => chosen(name));
  page.on("dialog", (d) => void d.accept());
  await each(page, async (language, suffix) => {
    const dictionary = await words(language);
    for (const [name, scene] of all) {
      try {
        page.setDefaultTimeout(6000);
        await play(page, server, dictionary, scene);
      } catch (error) {
        console.log(`not reached: ${name} ${suffix}: ${String(error).split("\n")[0]}`);
      }
      await shoot(page, name, suffix);
    }
  });
  if (has("sheet")) for (const [suffix, files] of sheets) await sheet(suffix, files);
} finally {
  await browser.close();
  await server.stop();
}
