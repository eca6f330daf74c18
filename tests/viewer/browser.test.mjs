// The report in a real browser, opened from disk. Exit status 77 where there is no browser: skipped.
// WARPLENS_SAMPLE names a folder with sample.html, written by the C side.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { findBrowser, launch, open, report, scratch } from "../../viewer/test/tools.mjs";

const browser = findBrowser();
const folder = scratch();
const sample = join(process.env.WARPLENS_SAMPLE ?? "", "sample.html");
let context;
let path;

before(async () => {
  path = await report(folder, "fixture");
  context = await launch(browser, folder, { colorScheme: "light" });
});
after(() => context?.close());

/** Opens the report, runs the checks and then makes sure that nothing went wrong unseen. */
async function visit(hash, checks, file = path) {
  const { page, problems } = await open(context, file, hash);
  await page.waitForSelector(".coverage, .empty");
  await checks(page);
  assert.deepEqual(problems, []);
  await page.close();
}

const text = (page, selector) => page.locator(selector).first().innerText();

/** The element comes to read like the pattern: what keys and links do takes a moment. */
async function sees(page, selector, pattern) {
  const end = Date.now() + 5000;
  while (Date.now() < end && !pattern.test(await text(page, selector))) await page.waitForTimeout(20);
  assert.match(await text(page, selector), pattern);
}
const count = (page, selector) => page.locator(selector).count();

test("opens at the dearest finding with line, remedy, picture and coverage", () =>
  visit("", async (page) => {
    assert.equal(await page.title(), "demo – warplens");
    assert.equal(await count(page, ".list .card"), 6);
    await sees(page, "h1", /Different warps use different words/);
    await sees(page, ".line.marked.first", /sum \+= A\[row \* n \+ k\]/);
    await sees(page, ".line.marked.first .number", /35/);
    await sees(page, ".remedy", /Let threadIdx\.x walk along the row/);
    await sees(page, ".picture >> nth=0", /32 sectors: 1 KiB moved, 128 B used/);
    await sees(page, ".picture >> nth=1", /4 sectors: 128 B moved/);
    await sees(page, ".detail", /counted on all 64 blocks/);
    await sees(page, ".coverage", /5 of 6 launches observed/);
    await sees(page, ".coverage", /left out by --kernel-name/);
  }));

test("deep links, back and forward", () =>
  visit("#finding/3", async (page) => {
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.click(".card >> nth=4");
    await sees(page, ".crumbs", /Finding 5 of 6/);
    assert.match(page.url(), /#finding\/5$/);
    await page.goBack();
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.goForward();
    await sees(page, ".crumbs", /Finding 5 of 6/);
  }));

test("keyboard", () =>
  visit("", async (page) => {
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.keyboard.press("k");
    await sees(page, ".crumbs", /Finding 2 of 6/);
    await page.keyboard.press("4");
    await sees(page, "h1", /^Overview$/);
    await page.keyboard.press("?");
    await page.locator("dialog").waitFor({ state: "visible" });
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "hidden" });
  }));

test("light and dark follow the system and the switch", () =>
  visit("", async (page) => {
    const shade = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const becomes = (color) =>
      page.waitForFunction((c) => getComputedStyle(document.body).backgroundColor === c, color);
    const light = await shade();
    await page.emulateMedia({ colorScheme: "dark" });
    await becomes("rgb(20, 23, 28)");
    await page.keyboard.press("t");
    await becomes(light);
    await page.reload();
    await page.waitForSelector(".coverage");
    assert.equal(await shade(), light);
    await page.keyboard.press("t");
    await becomes("rgb(20, 23, 28)");
    await page.emulateMedia({ colorScheme: "light" });
    await becomes(light);
  }));

test("a kernel's lines sort and open", () =>
  visit("#kernel/2", async (page) => {
    const first = ".lines > tbody > tr.opens >> nth=0";
    await sees(page, first, /demo\.cu:25 load shared/);
    await sees(page, first, /262,144\s+32\.0\s+1\.00/);
    await page.click(".lines th >> text=line");
    await sees(page, first, /demo\.cu:20/);
    await page.click(".lines tr.opens >> nth=0");
    await sees(page, ".detailrow", /ld\.global\.f32/);
    assert.equal(await page.getAttribute(".lines th >> nth=0", "aria-sort"), "ascending");
  }));

test("pointing at the heat map tells the cell", () =>
  visit("#object/1", async (page) => {
    const box = await page.locator(".heatbox canvas").boundingBox();
    await page.mouse.move(box.x + 140, box.y + 45); // third row: the second line of the tile
    await sees(page, ".cellinfo", /Word 0/);
    const info = await text(page, ".cellinfo");
    assert.match(info, /offset\s+2,048 bytes, first of 4 sectors/);
    assert.match(info, /element\s+\[512\] of 4 bytes/);
    assert.match(info, /warps at word 0\s+1: 1/);
    assert.match(info, /demo\.cu:11 \(load\)/);
    assert.match(info, /address\s+0x7f2a40200800/);
    await page.mouse.click(box.x + 140, box.y + 45);
    await page.mouse.move(5, 5);
    await page.keyboard.press("ArrowRight");
    await sees(page, ".cellinfo", /Word 1/);
    await page.keyboard.press("End");
    await sees(page, ".cellinfo", /63,492 bytes, first of 4 sectors/);
  }));

test("the heat map is drawn, in colours", () =>
  visit("#object/3", async (page) => {
    await page.waitForSelector(".heatbox canvas");
    await page.waitForTimeout(100);
    const colors = await page.evaluate(() => {
      const canvas = document.querySelector(".heatbox canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data.slice(i, i + 3).join());
      return seen.size;
    });
    assert.ok(colors > 4, `${colors} colours`);
  }));

test("collapsed rows unfold, maps can be chosen", () =>
  visit("#object/7", async (page) => {
    await sees(page, ".detail", /8 warps, 32 sectors touched/);
    const height = () => page.locator(".heatbox").evaluate((e) => e.scrollHeight);
    const before = await height();
    await page.click("text=collapse equal rows");
    await page.waitForFunction(
      (h) => document.querySelector(".heatbox").scrollHeight > h,
      before,
    );
    await page.click(".card >> text=d_in");
    await page.selectOption(".picker select", "2");
    assert.match(page.url(), /#object\/1\?map=2$/);
    await sees(page, ".detail", /launch 2 of/);
  }));

test("names and sources from a profile stay text", () =>
  visit("#kernel/5", async (page) => {
    await sees(page, "h1", /<\/script><img src=x onerror=alert\(1\)>/);
    assert.equal(await count(page, "img"), 0);
    assert.equal(await count(page, "script"), 2);
    const policy = await page.getAttribute("meta[http-equiv]", "content");
    assert.match(policy, /default-src 'none'/);
    assert.ok(!policy.includes("unsafe"));
  }));

test("the overview lists the run, kernels, objects and the peak", () =>
  visit("#overview", async (page) => {
    const page_text = await text(page, "main");
    for (const part of [/compute capability 9\.0, 132 SMs/, /gemm<float>/, /particles/, /5 MiB reached at/]) {
      assert.match(page_text, part);
    }
  }));

test("fits a narrow window without scrolling sideways", () =>
  visit("", async (page) => {
    for (const width of [1280, 1000, 700]) {
      await page.setViewportSize({ width, height: 800 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} pixels too wide at ${width}`);
    }
  }));

test("a profile without findings says so", async () => {
  const bare = await report(folder, "bare", ({ payload, section }) => ({
    payload: { ...payload, findings: [], maps: [] },
    section,
  }));
  await visit("", async (page) => sees(page, "h1", /^Overview$/), bare);
  await visit("#finding/1", async (page) => sees(page, "h1", /No findings/), bare);
  await visit("#object/1", async (page) => sees(page, ".detail", /No heat map/), bare);
});

test("a damaged file says so", async () => {
  const broken = join(folder, "broken.html");
  writeFileSync(broken, readFileSync(path, "utf8").replace(/(id="payload">.{200})[^<]*/, "$1"));
  const { page } = await open(context, broken);
  await page.waitForSelector("[role=alert]");
  await sees(page, "h1", /cannot be shown/);
  await page.close();
});

test("the report that the C side writes", { skip: !existsSync(sample) }, () =>
  visit(
    "",
    async (page) => {
      await sees(page, "h1", /Lanes of a warp collide/);
      await sees(page, ".line.marked.first", /tile\[threadIdx\.x\]\[threadIdx\.y \+ i\]/);
      await sees(page, ".coverage", /cudaGraphInstantiate/);
      await page.goto(page.url().replace(/#.*|$/, "#object/2"));
      const box = await page.locator(".heatbox canvas").boundingBox();
      await page.mouse.move(box.x + 140, box.y + 45);
      await sees(page, ".cellinfo", /offset\s+2,048 bytes, first of 4 sectors/);
      await sees(page, ".cellinfo", /8 writes/);
    },
    sample,
  ),
);
