// The pictures of the guides in docs/pictures, of the real console.
//   node e2e/pictures.mjs [name...]
import { launch, open } from "./browser.mjs";
import { startServer } from "./server.mjs";
import { finished, signInByLink } from "./steps.mjs";

const out = new URL("../../docs/pictures/", import.meta.url).pathname;
const wanted = process.argv.slice(2);
const chosen = (name) => wanted.length === 0 || wanted.includes(name);
const wide = { width: 1280, height: 720 };
const phone = { width: 390, height: 780 };

/** nightly fails now and then in one task, and takes its time in another. */
const nightly = `name: nightly orders
params:
  n: {type: integer, default: "0"}
tasks:
  - {name: extract orders, type: shell, script: sleep 0.2}
  - {name: extract users, type: shell, script: 'sleep 0.1'}
  - name: load users
    type: shell
    needs: [extract users]
    script: |
      if [ $((n % 6)) -eq 4 ]; then echo "ERROR 1146: table dwh.dim_user does not exist"; exit 1; fi
  - name: load orders
    type: shell
    needs: [extract orders]
    retry: {times: 1, delay: 0s}
    script: 'sleep 0.$((n % 4)); [ $((n % 9)) -ne 7 ]'
  - {name: check sums, type: shell, needs: [load users, load orders], script: 'true'}
  - {name: aggregate, type: shell, needs: [check sums], script: sleep 0.1}
  - {name: report, type: shell, needs: [aggregate], script: 'true'}
  - {name: tell the shops, type: noop, needs: [report]}
`;

const release = `name: release
tasks:
  - name: ask
    type: approval
    message: Release the new price list to all shops?
    expires: 24h
    form:
      share: {type: integer, min: 1, max: 100, description: Percent of the shops at first}
  - {name: publish, type: noop, needs: [ask]}
`;

async function shoot(page, name) {
  await page.waitForFunction(() => document.querySelectorAll(".skeleton").length === 0);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: `${out}${name}.png` });
  console.log(name);
}

async function ofOneNode(browser) {
  const server = await startServer();
  const { page } = await open(browser, server.url);
  await signInByLink(server, page);
  await page.setViewportSize(wide);
  server.apply("shop", nightly);
  server.apply("shop", release);
  const start = async (workflow, params) =>
    (await server.api("POST", `/projects/shop/workflows/${encodeURIComponent(workflow)}/start`, { params })).instance_id;
  const ids = [];
  for (let n = 0; n < 24; n++) {
    const id = await start("nightly orders", { n });
    await finished(server, id);
    ids.push(id);
    if (n === 13) server.apply("shop", nightly.replace("sleep 0.2", "sleep 0.3"));
  }
  await start("release", {});
  await server.api("PUT", "/projects/shop/workflows/nightly%20orders/schedules/nightly", { cron: "30 2 * * *", timezone: "Europe/Berlin" });
  if (chosen("grid")) {
    await page.goto(`${server.url}/p/shop/w/nightly%20orders?tab=grid`);
    await page.getByRole("grid").waitFor();
    await shoot(page, "grid");
  }
  if (chosen("today")) {
    await page.goto(`${server.url}/`);
    await page.getByText("Failed in the last 24 hours").waitFor();
    await shoot(page, "today");
  }
  if (chosen("approvals")) {
    await page.goto(`${server.url}/approvals`);
    await page.getByText("Release the new price list").first().click();
    await shoot(page, "approvals");
  }
  if (chosen("schedule")) {
    await page.goto(`${server.url}/p/shop/schedules?new=1`);
    await page.getByRole("dialog").waitFor();
    await shoot(page, "schedule");
  }
  if (chosen("phone")) {
    await page.setViewportSize(phone);
    await page.goto(`${server.url}/p/shop/r/${ids[22]}`);
    await page.getByRole("button", { name: "Recover" }).first().waitFor();
    await shoot(page, "phone");
  }
  await server.stop();
}

async function ofACluster(browser) {
  const server = await startServer({ flags: ["--demo"] });
  const { page } = await open(browser, server.url);
  await signInByLink(server, page);
  await page.setViewportSize(wide);
  await page.goto(`${server.url}/cluster/slots`);
  await page.getByText("3 masters").waitFor();
  await page.getByText("3 workers").waitFor();
  await shoot(page, "cluster");
  await server.stop();
}

const browser = await launch();
if (["grid", "today", "approvals", "schedule", "phone"].some(chosen)) await ofOneNode(browser);
if (chosen("cluster")) await ofACluster(browser);
await browser.close();
