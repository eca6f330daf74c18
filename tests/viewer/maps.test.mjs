// Heat maps, elements and phases of shared memory in a real browser. Exit status 77 where there is no browser: skipped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { becomes, eventually, launch, load, placeOf, report, sees, shows } from "../../viewer/test/tools.mjs";
import { browser, folder, context, visit, counts, has, cellAt, pointed, MAP, picture, visits } from "./page.mjs";

const { QUARTER, quartersMap } = await load("test/fixture/quarters.ts", folder);

/** How many colours there are on a canvas. */
const colorsOf = (page, selector) =>
  page.evaluate((s) => {
    const canvas = document.querySelector(s);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data.slice(i, i + 3).join());
    return seen.size;
  }, selector);

/** Does something that must change the picture. */
async function redraws(page, what, act, selector = MAP) {
  const before = await picture(page, selector);
  await act();
  await eventually(async () => assert.ok((await picture(page, selector)) !== before, what));
}

/** The colours of a canvas at its pixels. */
const colorsAt = (page, selector, places) =>
  page.evaluate(
    ([s, points]) => {
      const canvas = document.querySelector(s);
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      return points.map(([x, y]) => {
        const at = 4 * (Math.round(y) * canvas.width + Math.round(x));
        return data.slice(at, at + 3).join();
      });
    },
    [selector, places],
  );

const QUARTERS = [1 / 8, 3 / 8, 5 / 8, 7 / 8];

const distinct = (texts) => new Set(texts).size;

/** The offset of the first row in sight, as the table has it. */
const topOffset = async (page) =>
  Number((await page.locator(".gridtable tbody th >> nth=0").innerText()).replace(/,/g, ""));

test("pointing at the heat map tells the cell", () =>
  visit("#object/1?collapse=no", async (page) => {
    // Behind four sectors and a gap: the second line of the tile.
    await pointed(page, [5], /Word 0[^]*address\s+0x7f2a40200800\s+offset\s+2,048 bytes\s/);
    for (const part of [
      /element\s+\[512\] of 4 bytes/,
      /warps at word 0\s+1: 1/,
      /touched by\s+one warp/,
      /requests\s+1 read of its sector/,
      /demo\.cu:11 \(load\)/,
    ]) {
      await sees(page, ".cellinfo", part);
    }
    await page.mouse.click(...(await cellAt(page, 5)));
    await page.waitForURL(/at=2048/);
    await page.mouse.move(5, 5);
    await page.focus(".heatbox");
    await page.keyboard.press("ArrowRight");
    await sees(page, ".cellinfo", /Word 1/);
    await page.keyboard.press("ArrowUp"); // over the gap
    await sees(page, ".cellinfo", /offset\s+100 bytes/);
    await page.keyboard.press("End");
    await sees(page, ".cellinfo", /63,588 bytes/);
  }));

test("what comes at one distance again and again is one row", () =>
  visit("#object/1", async (page) => {
    await page.click("text=As a table");
    await counts(page, ".gridtable tbody tr", 1);
    await sees(page, ".gridtable tbody tr", /^0\s+(1\s+){9}4 of 64 sectors, × 32$/);
    await pointed(page, [0], /0 bytes, first of 4 sectors; 32 times, every 2 KiB/);
    await page.click("text=collapse equal rows");
    await page.waitForURL(/collapse=no/);
    await sees(page, ".gridtable caption", /of 159/);
  }));

test("the heat map is drawn, in colours, near and from afar", () =>
  visit("#object/6?map=1", async (page) => {
    await page.waitForSelector(".heatbox canvas");
    await becomes(async () => (await colorsOf(page, ".heatbox canvas")) > 4, true);
    await becomes(async () => (await colorsOf(page, ".objectbar")) > 1, true);
    await page.click('.zoom button:text-is("all")');
    await page.waitForSelector('.zoom button[disabled]:text-is("all")');
    await becomes(async () => (await colorsOf(page, ".heatbox canvas")) > 3, true);
  }));

test("a million sectors: hot, falsely shared, strided and random are told apart at first sight", async () => {
  const million = await report(folder, "million", ({ payload, parts }) => {
    const at = payload.maps.findIndex((m) => m.object === 6);
    const { object, kernel, launch, space, block } = payload.maps[at];
    payload.maps[at] = quartersMap(parts, { object, kernel, launch, space, block, warps: 32 });
    payload.objects.find((o) => o.id === 6).bytes = 128 * QUARTER;
    return { payload, parts };
  });
  await visit("#object/6?collapse=no", async (page) => {
    await page.waitForSelector(MAP);
    for (const text of [/hot/, /false sharing/, /strided/, /random/]) await sees(page, ".regions", text);
    const { width } = await placeOf(page, ".objectbar");
    const lanes = async () => {
      const ys = [10, 23, 36]; // pattern, sector, word
      const places = QUARTERS.map((x) => ys.map((y) => [x * width, y]));
      const colors = await colorsAt(page, ".objectbar", places.flat());
      return QUARTERS.map((_, q) => colors.slice(3 * q, 3 * q + 3));
    };
    const [hot, falsely, strided, random] = await lanes();
    assert.equal(distinct([hot, falsely, strided, random].map(([pattern]) => pattern)), 4);
    assert.equal(hot[1], hot[2]); // the sectors as hot as their words
    assert.equal(falsely[1], hot[1]);
    assert.notEqual(falsely[2], falsely[1]);
    assert.equal(strided[1], strided[2]);
    await redraws(page, "all", () => page.click('.zoom button:text-is("all")'));
    await page.mouse.move(5, 5);
    const { height } = await placeOf(page, MAP);
    const rows = async () => {
      const xs = [130, 164, 198, 415]; // words 0, 1, 2, and the sector
      const places = QUARTERS.map((y) => xs.map((x) => [x, 38 + y * (height - 38)]));
      const colors = await colorsAt(page, MAP, places.flat());
      return QUARTERS.map((_, q) => colors.slice(4 * q, 4 * q + 4).join(" "));
    };
    await picture(page);
    const highest = await rows();
    assert.equal(distinct(highest), 4, highest.join("\n"));
    await redraws(page, "mean", () => page.click('.switch button:text-is("mean")'));
    await page.waitForURL(/pixel=mean/);
    const means = await rows();
    assert.equal(distinct(means), 4, means.join("\n"));
    assert.deepEqual(means.slice(0, 3), highest.slice(0, 3)); // there all sectors are alike
    assert.notEqual(means[3], highest[3]);
    const { x, y } = await placeOf(page, MAP);
    await redraws(page, "point", () => page.mouse.move(x + 140, y + 100));
    await redraws(page, "nearer", () => page.press(".heatbox", "+"));
    await redraws(page, "wheel", () => page.mouse.wheel(0, 900));
  }, million);
});

test("a browser that forbids workers shows heat maps, too; a damaged one says so", async () => {
  const bare = await report(folder, "damaged", ({ payload, parts }) => ({
    payload,
    parts: parts.map((part, i) => (i === 0 ? part.slice(0, 40) : part)),
  }));
  for (const workers of [true, false]) {
    const page = await context.newPage();
    if (!workers) await page.addInitScript(() => delete window.Worker);
    await page.goto(`${pathToFileURL(bare).href}#object/1?map=2`);
    await page.waitForSelector(".heatbox canvas");
    await page.goto(`${pathToFileURL(bare).href}#object/1`);
    await sees(page, ".detail [role=alert]", /The heat map cannot be shown/);
    await page.close();
  }
});

test("blocks stand side by side, aligned by sector", () =>
  visit("#object/1", async (page) => {
    await page.click(".blocks label >> nth=1");
    await page.waitForURL(/map=1,2/);
    await sees(page, ".blocks", /\(0, 0, 0\) stands for others[^]*\(3, 0, 0\) unlike the others/);
    await sees(page, ".detail", /Blocks \(0, 0, 0\), \(1, 0, 0\) of launch 1/);
    await page.waitForSelector(".heatbox canvas");
    await page.click("text=As a table");
    await sees(page, ".gridtable tbody tr >> nth=0", /^0\s+(1\s+){9}(0\s+){9}4 of 64 sectors, × 32$/);
    await sees(page, ".gridtable tbody tr >> nth=1", /^128\s+(0\s+){9}(1\s+){9}4 of 64 sectors, × 32$/);
    await pointed(page, [1, 340], /in block \(1, 0, 0\)[^]*offset\s+1[2-5]\d bytes, first of 4 sectors/);
    await page.click(".blocks label >> nth=0");
    await sees(page, ".detail", /Block \(1, 0, 0\) of launch 1/);
  }));

test("shared memory by bank, words and owner", () =>
  visit("#object/8", async (page) => {
    await page.click("text=As a table");
    await counts(page, ".gridtable thead th", 34);
    await sees(page, ".gridtable tbody tr", /^0\s+1\s+2\s/); // the diagonal: written and read by one warp
    await page.click(".switch button >> text=owner");
    await page.waitForURL(/mode=owner/);
    await sees(page, ".legend", /one thread/);
    await pointed(page, [1, 118], /bank\s+0[^]*touched by\s+several warps/);
    await page.click(".switch button >> text=words");
    await page.waitForURL(/rows=words/);
    await counts(page, ".gridtable thead th", 11);
  }));

test("an address in the link is the cell that is shown; a box takes one there", () =>
  visit("#object/1?at=4100", async (page) => {
    await sees(page, ".cellinfo", /Word 1[^]*offset\s+4,100 bytes/);
    await page.fill(".goto input", "[1024]");
    await page.keyboard.press("Enter");
    await sees(page, ".cellinfo", /element\s+\[1,024\]/);
    await page.fill(".goto input", "0x7f2a40200804");
    await page.keyboard.press("Enter");
    await sees(page, ".cellinfo", /offset\s+2,052 bytes/);
    await page.fill(".goto input", "nowhere");
    await page.keyboard.press("Enter");
    await has(page, ".goto input", "aria-invalid", "true");
  }));

test("after every control the heat map scrolls, zooms, points and selects as before", () =>
  visit("#object/6", async (page) => {
    await page.setViewportSize({ width: 1280, height: 1600 }); // nothing scrolls but the map
    await page.waitForSelector(".heatbox canvas");
    const button = (name) => () => page.click(`.heattools button:text-is("${name}")`);
    const collapse = () => page.click("text=collapse equal rows");
    const controls = [
      ["unfolded", collapse],
      ["sectors", button("sectors")],
      ["owner", button("owner")],
      ["words", button("words")],
      ["warps", button("warps")],
      ["folded", collapse],
    ];
    const key = (name) => () => page.press(".heatbox", name);
    for (const [name, press] of controls) {
      await redraws(page, name, press);
      const { x, y } = await placeOf(page, ".heatbox canvas");
      const move = (dx, dy) => () => page.mouse.move(x + dx, y + dy);
      await redraws(page, `${name}: point`, move(140, 50));
      await redraws(page, `${name}: point elsewhere`, move(220, 50));
      await redraws(page, `${name}: select`, () => page.mouse.click(x + 220, y + 50));
      await redraws(page, `${name}: keys`, key("ArrowRight"));
      await redraws(page, `${name}: wheel`, () => page.mouse.wheel(0, 500));
      await redraws(page, `${name}: bar`, () => page.mouse.wheel(0, 1500), ".objectbar");
      await redraws(page, `${name}: all`, button("all"));
      await redraws(page, `${name}: nearer`, key("+"));
      for (let far = true; far; far = await page.isEnabled(".zoom button >> nth=1")) {
        await redraws(page, `${name}: numbers`, () => page.click(".zoom button >> nth=1"));
      }
      await page.mouse.move(5, 5);
      await redraws(page, `${name}: first row`, key("Home"));
      const seen = await picture(page);
      await page.reload();
      await page.waitForSelector(".heatbox canvas");
      assert.ok((await picture(page)) === seen, `${name}: as a page that opens there`);
    }
  }));

test("other blocks, launches, places and banks leave the heat map as alive", () =>
  visit("#object/1?collapse=no", async (page) => {
    await page.setViewportSize({ width: 1280, height: 1600 });
    await page.waitForSelector(MAP);
    const button = (name) => () => page.click(`.heattools button:text-is("${name}")`);
    const goTo = async () => {
      await page.fill(".goto input", "[9000]");
      await page.keyboard.press("Enter");
    };
    const controls = [
      ["two blocks", () => page.click(".blocks label >> nth=1")],
      ["one block", () => page.click(".blocks label >> nth=0")],
      ["another launch", () => page.selectOption(".picker select", { label: "transpose_shared, launch 2" })],
      ["a place", goTo],
      ["strip", () => page.locator(".grip").click({ position: { x: 8, y: 300 } })],
      ["object bar", () => page.locator(".objectbar").click({ position: { x: 30, y: 20 } })],
      ["mean", button("mean")],
      ["shared memory", async () => {
        await visits(page, "#object/8?collapse=no&rows=words");
        await page.waitForSelector(MAP);
      }],
      ["owner of words", button("owner")],
    ];
    for (const [name, press] of controls) {
      await press();
      const { x, y } = await placeOf(page, MAP);
      await redraws(page, `${name}: point`, () => page.mouse.move(x + 140, y + 56));
      await redraws(page, `${name}: point elsewhere`, () => page.mouse.move(x + 220, y + 56));
      await redraws(page, `${name}: wheel`, () => page.mouse.wheel(0, 400));
      await redraws(page, `${name}: keys`, () => page.press(".heatbox", "ArrowRight"));
      await redraws(page, `${name}: end`, () => page.press(".heatbox", "End"));
      await redraws(page, `${name}: home`, () => page.press(".heatbox", "Home"));
    }
  }));

test("wheel, strips and keys move about", () =>
  visit("#object/6", async (page) => {
    await page.setViewportSize({ width: 1280, height: 1600 }); // nothing scrolls but the map
    await page.click("text=As a table");
    await page.waitForSelector(".gridtable tbody th");
    const box = await placeOf(page, ".heatbox canvas");
    const settles = (test) =>
      eventually(async () => {
        const at = await topOffset(page);
        assert.ok(test(at), String(at));
      });
    await page.mouse.move(box.x + 200, box.y + 200);
    await page.mouse.wheel(0, 1800);
    await settles((at) => at > 0);
    const after = await topOffset(page);
    await page.mouse.move(box.x + 10, box.y + 42); // the strip's window
    await page.mouse.down();
    await page.mouse.move(box.x + 10, box.y + 400, { steps: 4 });
    await page.mouse.up();
    await settles((at) => at > after);
    const bar = await placeOf(page, ".objectbar");
    await page.mouse.click(bar.x + 2, bar.y + bar.height / 2);
    await settles((at) => at === 0);
    await page.mouse.move(box.x + 200, box.y + 200);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 100);
    await page.keyboard.up("Control");
    await page.waitForSelector(".zoom button:not([disabled]) >> nth=1");
    await page.mouse.click(box.x + 140, box.y + 400); // from afar a click goes to the cell
    await page.waitForSelector(".zoom button[disabled] >> nth=0");
    await sees(page, ".cellinfo", /Word 0/);
  }));

test("collapsed rows unfold, launches can be chosen", () =>
  visit("#object/7", async (page) => {
    await sees(page, ".detail", /8 warps, 32 sectors touched/);
    const { height: before } = await placeOf(page, ".heatbox");
    await page.click("text=collapse equal rows");
    await page.waitForFunction(
      (h) => document.querySelector(".heatbox").clientHeight > h,
      before,
    );
    await page.click(".card >> text=d_in");
    await page.selectOption(".picker select", { label: "transpose_shared, launch 2" });
    await sees(page, ".detail", /launch 2 of/);
  }));

test("maps that are not in the report: how to have them", async () => {
  const fewer = await report(folder, "fewer", ({ payload, parts }) => {
    payload.coverage.maps_left_out = 9;
    return { payload, parts };
  });
  await visit("#finding/1", (page) => sees(page, ".coverage", /9 heat maps[^]*left out[^]*report --maps all/), fewer);
});

test("the table of elements sorts, filters and opens", () =>
  visit("#overview", async (page) => {
    await counts(page, ".uses > tbody > tr.opens", 3);
    await sees(page, ".uses > tbody > tr >> nth=0", /tile[^]*shared\s+4.KiB\s+100.%[^]*224\s+256\s+0\.75\s+3\.50/);
    await sees(page, ".uses > tbody > tr >> nth=2", /global[^]*≥.100.%/); // how often is not known: last
    await page.click(".uses th >> text=per block");
    await sees(page, ".uses > tbody > tr >> nth=0", /d_B/);
    await page.click(".uses > tbody > tr.opens >> nth=0");
    await sees(page, ".strip", /50.% \(2.KiB\) are not accessed/);
    await sees(page, ".strip", /Bytes 0 to 1,023 \(1.KiB\) have 90.% of the accesses/);
    await counts(page, ".strip rect.accessed", 3); // often, once, and what nobody touches
    await counts(page, ".strip .hotrange", 1);
  }));

test("a shared array's block goes on phase after phase, and a word has a life", () =>
  visit("#object/8", async (page) => {
    const phase = ".phasesteps";
    await sees(page, phase, /Phase 1 of 4\s+up to a barrier/);
    await sees(page, ".phasewords", /1,024 words stored by all 32 warps/);
    await sees(page, ".phaselines", /store\s+1,024 words\s+[^]*demo\.cu:\d+/);
    await counts(page, ".bankgrid .word", 1); // all words fare alike
    await page.click(".phasesteps button >> nth=1");
    await sees(page, phase, /Phase 2 of 4/);
    await sees(page, ".phasewords", /1,024 words read, 1,024 times in all, by all 32 warps/);
    await page.focus(".bankgrid");
    await page.keyboard.press("PageDown");
    await page.keyboard.press("PageDown");
    await sees(page, phase, /Phase 4 of 4\s+to the block's end/);
    await counts(page, ".bankgrid .word", 3); // read, not read again, and word 0
    await page.keyboard.press("ArrowRight");
    await sees(page, ".wordlife h3", /Word 0 bank 0, byte 0: 2 ranges/);
    await sees(page, ".wordranges", /1 – 2\s+1\s+filled from device memory\s+0\s+1/);
    await sees(page, ".wordranges", /3 – 4\s+1\s+computed, after 1 other range of this phase/);
    await page.keyboard.press("ArrowDown");
    await sees(page, ".wordlife h3", /Word 32 bank 0, byte 128/);
    await sees(page, ".wordlife", /In this phase, read 1 time by warp 0/);
    await page.click(".wordranges .link");
    await sees(page, phase, /Phase 1 of 4/);
    await sees(page, ".liveranges", /filled from device memory\s+0\s+32,768\s+25.%/);
  }));
