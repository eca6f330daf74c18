// The views of one warp in a real browser, on warps made by hand (viewer/test/fixture/warps.ts).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { becomes, findBrowser, launch, open, scratch, sees, warpPage } from "../../viewer/test/tools.mjs";

const folder = scratch();
let context;
let path;

before(async () => {
  path = await warpPage(folder);
  context = await launch(findBrowser(), folder, { colorScheme: "light" });
});
after(() => context?.close());

async function visit(hash, checks) {
  const { page, problems } = await open(context, path, hash);
  await page.waitForSelector(hash.includes("/operation") ? ".operationview" : ".oprow");
  await checks(page);
  assert.deepEqual(problems, []);
  await page.close();
}

const count = (page, selector, expected) => becomes(() => page.locator(selector).count(), expected);
/** The page comes to be there, and to show it. */
async function at(page, expected) {
  await becomes(() => page.evaluate(() => location.hash), expected);
  const operation = Number(expected.split("/")[2]);
  if (expected.includes("/warp/")) await page.waitForSelector(`#operation-${operation}.on`);
  else await sees(page, "h2", new RegExp(`^Operation ${operation + 1} of`));
}
/** How many closed shapes a path has. */
const boxes = (page, selector) =>
  page.locator(selector).evaluateAll((paths) =>
    paths.reduce((n, p) => n + (p.getAttribute("d").match(/M/g) ?? []).length, 0),
  );

test("a warp's operations stand in order, each with what it moves", () =>
  visit("#transposeNaive/warp/6", async (page) => {
    await sees(page, ".opsummary", /executes 8 operations; 2 of them access memory/);
    await count(page, ".oprow", 8);
    await sees(page, "#operation-6", /16 × 32 B/);
    assert.equal(await boxes(page, "#operation-5 .edges"), 4);
    assert.equal(await boxes(page, "#operation-6 .edges"), 16);
    assert.equal(await boxes(page, "#operation-6 .threads .on"), 32);
    await count(page, "#operation-6 .moved [class^=hue]", 8); // 16 ranges share 8 colours
    await count(page, "#operation-5 .moved [class^=hue]", 2);
    await sees(page, "#operation-0 .plain", /mov\.u32/);
  }));

test("another architecture moves other transactions", () =>
  visit("#transposeNaive/warp/6/1.0", async (page) => {
    await sees(page, "#operation-6", /32 × 32 B/);
    assert.equal(await boxes(page, "#operation-6 .edges"), 32);
    await page.goto(page.url().replace("/1.0", "/2.0"));
    await sees(page, "#operation-5", /2 × 128 B/);
  }));

test("banks have stripes of the passes that serve them", () =>
  visit("#transposeShared/warp/8", async (page) => {
    await sees(page, "#operation-8", /8 wavefronts/);
    assert.equal(await boxes(page, "#operation-8 .edges"), 32);
    assert.equal(await boxes(page, "#operation-8 .moved [class^=hue]"), 32);
    await count(page, "#operation-6 .moved [class^=hue]", 1);
    await sees(page, "#operation-7 .sign", /barrier/);
    await page.goto(page.url().concat("/1.2"));
    await sees(page, "#operation-8", /32 wavefronts/);
    assert.equal(await boxes(page, "#operation-8 .edges"), 16);
  }));

test("keys step through the operations, and from access to access", () =>
  visit("#transposeShared/warp/0", async (page) => {
    await page.focus(".oplist");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown"); // none is lost, however fast they come
    await at(page, "#transposeShared/warp/4/9.0");
    await page.keyboard.press("ArrowRight");
    await at(page, "#transposeShared/warp/5/9.0");
    await page.keyboard.press("End");
    await at(page, "#transposeShared/warp/10/9.0");
    await page.keyboard.press("ArrowLeft");
    await at(page, "#transposeShared/warp/9/9.0");
    await page.keyboard.press("Home");
    await at(page, "#transposeShared/warp/0/9.0");
    await page.click("#operation-3");
    await at(page, "#transposeShared/warp/3/9.0");
    await becomes(() => page.getAttribute(".oplist", "aria-activedescendant"), "operation-3");
    await becomes(() => page.getAttribute("#operation-3", "aria-selected"), "true");
  }));

test("loops are folded to a round, which can be turned", () =>
  visit("#reduce/warp/5", async (page) => {
    await sees(page, ".oprow.loop", /Loop at line 33: round\s*‹1 of 5›/);
    await count(page, ".oprow", 13); // 3 around the loop, 9 of a round, and what tells of the loop
    await page.click("[aria-label='Next round']");
    await at(page, "#reduce/warp/14/9.0"); // the same place in the next one
    await sees(page, ".oprow.loop", /2 of 5/);
    assert.equal(await boxes(page, "#operation-14 .threads .on"), 8);
    await page.click(".optools input");
    await count(page, ".oprow.loop", 0);
  }));

test("what costs more than it must leads to its operation", () =>
  visit("#transposeShared/warp/0", async (page) => {
    await count(page, ".costly tr", 1);
    await sees(page, ".costly tr", /line 25\s+ld\.shared\.f32[^]*1 time\s+8 wavefronts instead of 1/);
    await page.click(".costly button");
    await at(page, "#transposeShared/warp/8/9.0");
    await page.goto(page.url().replace("transposeShared/warp/8", "long/warp/0"));
    await count(page, ".costly tr", 0); // closed, with so many operations
    await page.click(".costly summary");
    await sees(page, ".costly", /None: all bytes that move are used/);
  }));

test("a hundred thousand operations are scrolled through", () =>
  visit("#long/warp/0", async (page) => {
    await page.click(".optools input");
    await becomes(async () => (await page.locator(".oprow").count()) < 60, true);
    await page.focus(".oplist");
    await page.keyboard.press("End");
    await sees(page, ".oprow.on .index", /^100,001$/);
    await becomes(async () => (await page.locator(".oprow").count()) < 60, true);
    await page.locator(".oplist").evaluate((e) => {
      e.scrollTop = e.scrollHeight / 2;
    });
    await sees(page, ".oprow .index", /^(49|50),\d{3}$/);
  }));

test("an operation's picture joins threads with their transactions", () =>
  visit("#transposeNaive/operation/6", async (page) => {
    await sees(page, ".oprequest p", /d_out: This store takes 16 transactions of 32 bytes/);
    await count(page, ".transaction", 16);
    await count(page, ".oplinks path", 32);
    await count(page, ".lanecolumn .on", 32);
    await page.hover(".lanecolumn .on >> nth=16");
    await sees(page, ".readout", /Thread 16 takes bytes 32,796 to 32,799 of d_out, in transaction 1/);
    await count(page, ".oplinks .lit", 1);
    await page.hover(".transaction >> nth=0");
    await sees(page, ".readout", /Transaction 1: bytes 32,768 to 32,799 of d_out; threads 0, 16 take 8 bytes/);
    await count(page, ".oplinks .lit", 2);
    await page.click(".elsewhere summary");
    await sees(page, ".elsewhere tr.on", /9\.0 \(Hopper\)\s+16\s+512 B\s+25/);
    await sees(page, ".elsewhere tbody tr:last-child", /1\.0, 1\.1\s+32\s+1 KiB\s+13/);
  }));

test("an operation's picture joins threads with banks, pass by pass", () =>
  visit("#transposeShared/operation/8", async (page) => {
    await sees(page, ".oprequest p", /tile: Shared memory serves this load in 8 wavefronts instead of 1/);
    await count(page, ".oppicture rect[class^=hue]", 32);
    await count(page, ".oppicture .idle", 8 * 32 - 32);
    await count(page, ".oplinks path", 32);
    await page.hover(".oppicture rect[class^=hue] >> nth=0");
    await sees(page, ".readout", /Wavefront 1, bank 6: bytes 24 to 27 of shared memory, for thread 0/);
    await page.goto(page.url().replace("transposeShared/operation/8", "signs/operation/9"));
    await becomes(() => page.locator(".oppicture text.in").first().textContent(), "★");
  }));

test("what does not take part is told apart, and keys lead on", () =>
  visit("#signs/operation/8", async (page) => {
    await count(page, ".lanecolumn .on", 16);
    await count(page, ".lanecolumn .stands", 16);
    await page.focus(".operationview");
    await page.keyboard.press("ArrowRight");
    await at(page, "#signs/operation/9/9.0");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await at(page, "#signs/operation/7/9.0");
    await page.click("text=↓ next");
    await at(page, "#signs/operation/8/9.0");
  }));

test("copies show both of their sides, and a barrier its threads", () =>
  visit("#signs/operation/0", async (page) => {
    await count(page, ".oprequest", 2);
    await sees(page, "h2", /async copy/);
    await page.goto(page.url().replace("operation/0", "operation/2"));
    await sees(page, ".operationview", /A barrier: the warp waits here/);
    await count(page, ".oprequest", 0);
    await page.goto(page.url().replace("operation/2", "operation/10"));
    await sees(page, ".oprequest", /256 transactions of 32 bytes[^]*the first 64 transactions; 192 more follow/);
  }));

test("dark has colours of its own", () =>
  visit("#transposeNaive/operation/6", async (page) => {
    const color = () =>
      page.locator(".transaction .hue0").first().evaluate((e) => getComputedStyle(e).fill);
    const light = await color();
    await page.emulateMedia({ colorScheme: "dark" });
    await becomes(async () => (await color()) !== light, true);
  }));
