// The report in a real browser, opened from disk. Exit status 77 where there is no browser: skipped.
// WARPLENS_SAMPLE names a folder with sample.html, written by the C side.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  becomes,
  eventually,
  findBrowser,
  launch,
  load,
  open,
  placeOf,
  report,
  scratch,
  sees,
  shows,
} from "../../viewer/test/tools.mjs";

const browser = findBrowser();
const folder = scratch();
const { QUARTER, quartersMap } = await load("test/fixture/quarters.ts", folder);
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
  await shows(page, hash);
  await checks(page);
  assert.deepEqual(problems, []);
  await page.close();
}

const counts = (page, selector, expected) => becomes(() => page.locator(selector).count(), expected);
const has = (page, selector, name, expected) => becomes(() => page.getAttribute(selector, name), expected);

test("opens at the dearest finding with line, remedy, picture and coverage", () =>
  visit("", async (page) => {
    await becomes(() => page.title(), "demo – warplens");
    await counts(page, ".list .card", 6);
    await sees(page, "h1", /Different warps use different words/);
    await sees(page, ".line.marked.first", /sum \+= A\[row \* n \+ k\]/);
    await sees(page, ".line.marked.first .number", /35/);
    await sees(page, ".remedy", /Let threadIdx\.x walk along the row/);
    await sees(page, ".picture >> nth=0", /32 sectors: 1 KiB moved, 128 B used/);
    await sees(page, ".picture >> nth=1", /4 sectors: 128 B moved/);
    await sees(page, ".detail", /counted on all 64 blocks/);
    await sees(page, ".coverage", /5 of 6 launches observed/);
    await sees(page, ".coverage", /left out by --kernel-name/);
    await sees(page, ".coverage", /1 launch estimated, from some of the blocks/);
    await sees(page, ".coverage", /3 memory instructions, line 11, 12\s+its address depends on data/);
  }));

test("a picture that is an example says so in its title", () =>
  visit("#finding/6", async (page) => {
    await sees(page, ".picture", /^Now, an example 5 sectors/);
    await visits(page, "#finding/1");
    await sees(page, ".picture", /^Now 32 sectors/);
  }));

test("deep links, back and forward", () =>
  visit("#finding/3", async (page) => {
    await sees(page, ".crumbs", /Finding 3 of 6/);
    await page.click(".card >> nth=4");
    await sees(page, ".crumbs", /Finding 5 of 6/);
    await page.waitForURL(/#finding\/5$/);
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
    const [light, dark] = ["rgb(255, 255, 255)", "rgb(20, 23, 28)"];
    await becomes(shade, light);
    await page.emulateMedia({ colorScheme: "dark" });
    await becomes(shade, dark);
    await page.keyboard.press("t");
    await becomes(shade, light);
    await page.reload();
    await shows(page, "");
    await becomes(shade, light);
    await page.keyboard.press("t");
    await becomes(shade, dark);
    await page.emulateMedia({ colorScheme: "light" });
    await becomes(shade, light);
  }));

test("a kernel's lines sort and open", () =>
  visit("#kernel/2", async (page) => {
    const first = ".lines > tbody > tr.opens >> nth=0";
    await sees(page, first, /demo\.cu:25 load shared[^]*\s4\s/); // finding 4
    await sees(page, first, /262K\s+32\.0\s+1\.00/);
    await page.click(".lines th >> text=line");
    await sees(page, first, /demo\.cu:20/);
    await page.click(".lines tr.opens >> nth=0");
    await sees(page, ".detailrow", /ld\.global\.f32/);
    await page.focus(".lines tr.opens .opener >> nth=1");
    await page.keyboard.press("Enter");
    await sees(page, ".detailrow", /st\.shared\.f32/);
    await has(page, ".opener >> nth=1", "aria-expanded", "true");
    await has(page, ".lines th >> nth=0", "aria-sort", "ascending");
  }));

/** The middle of a cell of the heat map, when rows have numbers. */
async function cellAt(page, row, x = 140) {
  const box = await placeOf(page, ".heatbox canvas");
  return [box.x + x, box.y + 38 + row * 18 + 9];
}

/** Pointing at a cell comes to tell the pattern. */
const pointed = (page, [row, x], pattern) =>
  eventually(async () => {
    await page.mouse.move(5, 5);
    await page.mouse.move(...(await cellAt(page, row, x)));
    assert.match(await page.locator(".cellinfo").innerText(), pattern);
  });

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

test("the heat map is drawn, in colours, near and from afar", () =>
  visit("#object/6?map=1", async (page) => {
    await page.waitForSelector(".heatbox canvas");
    await becomes(async () => (await colorsOf(page, ".heatbox canvas")) > 4, true);
    await becomes(async () => (await colorsOf(page, ".objectbar")) > 1, true);
    await page.click('.zoom button:text-is("all")');
    await page.waitForSelector('.zoom button[disabled]:text-is("all")');
    await becomes(async () => (await colorsOf(page, ".heatbox canvas")) > 3, true);
  }));

const MAP = ".heatbox canvas";

/** A canvas's picture once it changes no more: two frames in a row are equal. */
const picture = (page, selector = MAP) =>
  page.evaluate(async (s) => {
    const canvas = document.querySelector(s);
    const frame = () => new Promise((go) => requestAnimationFrame(go));
    for (let last = ""; ; ) {
      await frame();
      await frame();
      const now = canvas.toDataURL();
      if (now === last) return now;
      last = now;
    }
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

/** The offset of the first row in sight, as the table has it. */
const topOffset = async (page) =>
  Number((await page.locator(".gridtable tbody th >> nth=0").innerText()).replace(/,/g, ""));

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

test("names and sources from a profile stay text", () =>
  visit("#kernel/5", async (page) => {
    await sees(page, "h1", /<\/script><img src=x onerror=alert\(1\)>/);
    await counts(page, "img", 0);
    await counts(page, "script", 2);
    const policy = await page.getAttribute("meta[http-equiv]", "content");
    assert.match(policy, /default-src 'none'/);
    assert.ok(!policy.includes("unsafe"));
  }));

test("the overview lists the run, kernels, objects and the peak", () =>
  visit("#overview", async (page) => {
    for (const part of [/compute capability 9\.0, 132 SMs/, /gemm<float>/, /particles/, /5 MiB reached at/]) {
      await sees(page, "main", part);
    }
  }));

test("peaks of several devices are told apart", async () => {
  const two = await report(folder, "devices", ({ payload, parts }) => {
    const [peak] = payload.memory.peaks;
    payload.memory.peaks.push({ ...peak, device: 1, bytes: 3_145_728 });
    payload.memory.devices.push({ process: 1, device: 1, name: "Second", peak_bytes: 3_145_728 });
    return { payload, parts };
  });
  const parts = [/peak memory, device 0\s+5 MiB/, /peak memory, device 1\s+3 MiB, Second/, /3 MiB on device 1 reached at/];
  await visit("#overview", async (page) => {
    for (const part of parts) await sees(page, "main", part);
  }, two);
});

test("findings of the whole program need no kernel, object or map", async () => {
  const whole = await report(folder, "whole", ({ payload, parts }) => {
    const [finding] = payload.findings;
    for (const key of ["kernel", "object", "share_of_kernel", "access"]) delete finding[key];
    Object.assign(finding, { subject: "program", unit: "bytes", lines: [] });
    Object.assign(payload.groups[0], { kernels: [], objects: [] });
    return { payload, parts };
  });
  await visit("#finding/1", async (page) => {
    await sees(page, ".detail h1", /Different warps use different words/);
    await sees(page, ".detail", /of the program's memory[^]*iB\s*avoidable memory/);
    for (const link of ["kernel", "object"]) await counts(page, `.detail a[href*="#${link}"]`, 0);
  }, whole);
  await visit("#overview", (page) => sees(page, "main", /Different warps use different words/), whole);
});

/** Goes to another view of the report, until it stands there. */
async function visits(page, hash) {
  await page.evaluate((h) => {
    location.hash = h;
  }, hash);
  await shows(page, hash);
  if (hash.startsWith("#object")) await page.waitForSelector(".heatbox canvas");
  if (hash.startsWith("#memory")) await page.waitForSelector(".livesbox canvas");
}

const VIEWS = ["#finding/1", "#finding/2", "#kernel/2", "#object/1?map=1,2", "#object/8", "#file/1", "#overview", "#memory", "#memory/6", "#glossary",
  "#explore", "#explore/2?block=37", "#explore/2?block=37&warp=2", "#explore/2?block=37&warp=2&step=3"];

test("fits a narrow window without scrolling sideways, every view", () =>
  visit("", async (page) => {
    for (const width of [1280, 1000, 700, 400]) {
      await page.setViewportSize({ width, height: 800 });
      for (const hash of VIEWS) {
        await visits(page, hash);
        const wide = () => page.evaluate(() => {
          if (document.documentElement.scrollWidth <= innerWidth) return "";
          const right = (e) => e.getBoundingClientRect().right;
          const all = [...document.querySelectorAll("main *, header *")];
          const widest = all.reduce((a, b) => (right(b) > right(a) ? b : a));
          return `${widest.tagName} ${widest.className} reaches ${right(widest)}`;
        });
        await eventually(async () => assert.equal(await wide(), "", `at ${width} in ${hash}`));
      }
    }
  }));

test("a kernel's page says first what bounds it, then what to do, then draws", () =>
  visit("#kernel/1", async (page) => {
    await sees(page, "p.bound", /^Bound by requests to L1\.$/);
    await sees(page, ".figures", /12\.0 µs\s+a launch, predicted\s+58\s%\s+of that: requests to L1/);
    await becomes(() => page.locator("article h2").allInnerTexts(), [
      "What to do",
      "Where its time goes",
      "How close it is to the device's limits",
      "What could be gained",
      "Occupancy",
      "Instructions",
      "Lines",
      "Elements",
      "Source",
    ]);
    await sees(page, ".links .advice", /\w+/);
    assert.equal(await page.locator("article >> text=/measured on the GPU|efficiency/").count(), 0);
  }));

test("where nothing tells what bounds a kernel, its page says why", async () => {
  const unknown = await report(folder, "unknown", ({ payload, parts }) => {
    const kernel = payload.kernels.find((k) => k.id === 1);
    delete kernel.model;
    kernel.model_missing = "No figures were measured of its device.";
    return { payload, parts };
  });
  await visit("#kernel/1", async (page) => {
    await sees(page, ".unbound", /^What bounds it is not known\. No figures were measured of its device\.$/);
    await counts(page, ".roofline, .benefits, p.bound, article .figures", 0);
    await sees(page, ".occupancy", /^40 of 64 warps/); // that needs no figures
  }, unknown);
});

test("where a launch was measured, its efficiency stands beside the prediction", async () => {
  const measured = await report(folder, "measured", ({ payload, parts }) => {
    const kernel = payload.kernels.find((k) => k.id === 2);
    Object.assign(kernel, { device_seconds: 32e-6, timed: 1, noted: 2 });
    Object.assign(kernel.model, { measured: 16e-6, efficiency: 0.625 });
    payload.program.collector = "inline";
    return { payload, parts };
  });
  await visit("#kernel/2", async (page) => {
    await sees(page, ".figures", /16\.0 µs\s+a launch, measured on the GPU\s+12\.0 µs\s+a launch, predicted/);
    await sees(page, ".figures", /63\s%\s+efficiency: of what its bound, traffic to L2, allows/);
    await counts(page, ".roofline .done", 1);
    await counts(page, ".roofline .predicted", 1);
    await sees(page, ".roofline", /Filled: measured; hollow: predicted\.[^]*It has no floating point/);
    await sees(page, ".roofline", /what is touched stays in L2/);
    await visits(page, "#kernel/1"); // nothing of it was measured
    await counts(page, ".roofline .predicted", 0);
    assert.equal(await page.locator("article >> text=/measured on the GPU|efficiency/").count(), 0);
  }, measured);
});

/** The middle of an element in the page. */
async function middleOf(page, selector) {
  const { x, y, width, height } = await placeOf(page, selector);
  return [x + width / 2, y + height / 2];
}

test("the roofline has a mark a level, below its roof, with figures at each", () =>
  visit("#kernel/1", async (page) => {
    await counts(page, ".roofline .done", 4);
    await counts(page, ".roofline .roof", 4);
    await counts(page, ".roofline .ceiling path", 1);
    await counts(page, ".roofline .reachable", 2); // of L1 and L2: the others reach all
    await counts(page, ".roofline .predicted", 0);
    const titles = await page.locator(".roofline .done title").allTextContents();
    assert.match(titles[2], /^L2: 2\.50 operations a byte, 2\.33\sT operations a second predicted$/);
    const roofs = await page.locator(".roofline .roof title").allTextContents();
    assert.ok(roofs.some((t) => /^device memory: at most 4\sTB\/s, measured of the device$/.test(t)), `${roofs}`);
    const marks = [];
    for (let i = 0; i < 4; i++) marks.push(await middleOf(page, `.roofline .done >> nth=${i}`));
    const [shared, l1, l2, dram] = marks;
    for (const [, y] of marks) assert.ok(Math.abs(y - l2[1]) < 2, `${marks}`); // one launch
    assert.ok(l1[0] < shared[0] && shared[0] < l2[0] && l2[0] < dram[0], `${marks}`);
    const bar = await middleOf(page, ".roofline .reachable >> nth=1");
    assert.ok(Math.abs(bar[0] - l2[0]) < 2 && bar[1] < l2[1], `${bar} above ${l2}`);
    const chart = await placeOf(page, ".roofline svg");
    for (const [x, y] of marks) assert.ok(x > chart.x && x < chart.x + chart.width && y > chart.y && y < chart.y + chart.height);
    await sees(page, ".roofline tr.on", /L1 requests\s+66\.8 MiB\s+0\.40\s+10\sT\s+23\s%/);
  }));

test("marks at one place do not hide each other", async () => {
  const same = await report(folder, "same", ({ payload, parts }) => {
    const [l1, l2] = ["l1", "l2"].map((name) => payload.kernels.find((k) => k.id === 1).model.roofline.levels.find((l) => l.name === name));
    l1.bytes = l2.bytes;
    return { payload, parts };
  });
  await visit("#kernel/1", async (page) => {
    const below = await placeOf(page, ".roofline .done >> nth=1");
    const above = await placeOf(page, ".roofline .done >> nth=2");
    assert.ok(below.width > above.width + 4 && below.height > above.height + 4, JSON.stringify([below, above]));
  }, same);
});

test("occupancy as a bar: resident warps, and those that the next step lets in", () =>
  visit("#kernel/1", async (page) => {
    await sees(page, ".occupancy", /^40 of 64 warps \(63\s%\).* limited by registers\.$/);
    const all = await placeOf(page, ".warps");
    const now = await placeOf(page, ".warps .now");
    const next = await placeOf(page, ".warps .next");
    assert.ok(Math.abs(now.width / all.width - 40 / 64) < 0.01, `${now.width} of ${all.width}`);
    assert.ok(Math.abs(next.width / all.width - 8 / 64) < 0.01 && next.x >= now.x + now.width - 1);
    await has(page, ".warps", "aria-label", "40 of 64 warps");
  }));

test("in a narrow window the charts take its width, and no more", () =>
  visit("#kernel/1", async (page) => {
    for (const width of [800, 420]) {
      await page.setViewportSize({ width, height: 900 });
      for (const chart of [".roofline svg", ".benefits svg", ".warps", ".roofline table"]) {
        const place = await placeOf(page, chart);
        assert.ok(place.x >= 0 && place.x + place.width <= width, `${chart}: ${JSON.stringify(place)} in ${width}`);
      }
    }
  }));

/** Finding 1 is worth something only where the grid fills the device; finding 2 costs time. */
const smallRun = ({ payload, parts }) => {
  const worth = { seconds: 1e-6, low: -1e-6, high: 2e-6, of_kernel: 0.01, of_program: 0.005, of_full: 0.31, small: true };
  const costs = { seconds: -1e-6, low: -3e-6, high: -1e-7, of_kernel: -0.02, of_program: -0.01, of_full: -0.05 };
  payload.groups[0].worth = worth;
  payload.groups[1].worth = costs;
  return { payload, parts };
};

test("a finding of a small run tells its gain at full size; none is below zero", async () => {
  const small = await report(folder, "small", smallRun);
  await visit("#finding/1", async (page) => {
    await sees(page, ".figures", /1\.00 µs\s+predicted to be saved[^]*31\s%\s+of the kernel's time where the grid fills the device/);
    await sees(page, ".card >> nth=1", /saves nothing/);
    await visits(page, "#finding/2");
    await sees(page, ".figures", /nothing\s+predicted to be saved/);
    for (const hash of ["#finding/2", "#overview", "#kernel/1", "#kernel/3"]) {
      await visits(page, hash);
      assert.doesNotMatch(await page.locator("main").innerText(), /[-−]\d[\d.]*\s?(%|µs|ms)/, hash);
    }
    await visits(page, "#overview");
    await sees(page, ".fixfirst", /31\s% of the kernel's where the grid fills the device/);
  }, small);
});

test("the remedy before and after, what it is worth and how sure we are", () =>
  visit("#finding/1", async (page) => {
    await sees(page, ".worth", /Worth fixing[^]*Counted, not estimated/);
    await counts(page, ".remedy .half svg", 2);
    await sees(page, ".remedy .half >> nth=0", /Before[^]*a sector moves once for every warp/);
    await sees(page, ".remedy .half >> nth=1", /After[^]*a sector moves once/);
    await sees(page, ".figures", /%\s+of the program's traffic[^]*%\s+of the kernel's sectors/);
    await sees(page, ".detail", /Why these blocks[^]*\(0, 0, 0\) stands for all 64 blocks/);
    await page.click(".more >> text=Heat map");
    await page.waitForSelector(".heatbox canvas");
    await page.goto(page.url().replace(/#.*/, "#finding/5"));
    await page.click(".more >> text=Heat map");
    await sees(page, ".detail", /launch 1 of transpose_naive/);
  }));

test("what gains little says so", async () => {
  const little = await report(folder, "little", ({ payload, parts }) => ({
    payload: {
      ...payload,
      findings: payload.findings.map((f) => ({ ...f, gain: "tiny", gain_note: "It gains little." })),
      groups: payload.groups.map((g, i) => ({ ...g, gain_reason: i < 4 ? "It is tiny." : "It waits." })),
      launches: payload.launches.map((l) => ({ ...l, blocks_observed: 1 })),
    },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".worth", /! It gains little\.[^]*Counted in part/);
      await sees(page, ".list", /Of little gain: not worth working on\. These patterns are there[^]*It is tiny\.[^]*It waits\./);
      await counts(page, ".list li .listhead", 2); // once for all of one reason
      await page.keyboard.press("4");
      await sees(page, ".verdict", /All 6 findings are of little gain/);
      await sees(page, "main", /Of little gain: not worth working on/);
    },
    little,
  );
});

test("findings that one change fixes are one, with its places", async () => {
  const grouped = await report(folder, "grouped", ({ payload, parts }) => {
    const [first, second, ...others] = payload.groups;
    const both = {
      ...first,
      count: 2,
      kernels: [...first.kernels, ...second.kernels],
      objects: [...first.objects, ...second.objects],
      advice: "Swap the indices of d_A and d_out.",
    };
    const number = (f, i) => ({ ...f, number: Math.max(1, i) });
    return { payload: { ...payload, findings: payload.findings.map(number), groups: [both, ...others] }, parts };
  });
  await visit(
    "",
    async (page) => {
      await counts(page, ".list .card", 5);
      await sees(page, ".card", /and 1 more place/);
      await sees(page, ".crumbs", /Finding 1 of 5/);
      await counts(page, ".places tbody tr", 2);
      await sees(page, ".places tr.on", /demo\.cu:35\s+gemm<float>/);
      await sees(page, ".remedy", /Swap the indices of d_A and d_out/);
      await page.click(".places a.mono >> text=d_B"); // its object
      await page.waitForURL(/#object\/4/);
      await page.goBack();
      await page.click(".places tbody tr >> nth=1 >> a >> nth=0");
      await page.waitForURL(/#finding\/1\?place=2$/);
      await sees(page, ".places tr.on", /d_B/);
      await sees(page, ".summary", /All 32 warps read/);
      await sees(page, ".remedy", /Swap the indices of d_A and d_out/);
      await page.keyboard.press("j");
      await sees(page, ".crumbs", /Finding 2 of 5/);
      await page.keyboard.press("2");
      await page.click(".links a >> text=1. ");
      await sees(page, ".crumbs", /Finding 1 of 5/);
    },
    grouped,
  );
});

test("very many objects are listed in part, until the reader asks for all", async () => {
  const many = await report(folder, "many", ({ payload, parts }) => {
    const extra = Array.from({ length: 400 }, (_, i) => ({
      ...payload.objects[0],
      id: 1000 + i,
      name: `buffer_${i}`,
    }));
    return { payload: { ...payload, objects: [...payload.objects, ...extra] }, parts };
  });
  await visit(
    "#object/1399",
    async (page) => {
      await sees(page, "h1", /buffer_399/);
      await counts(page, ".list .card", 201); // 200, and the one that is shown
      await sees(page, ".card.on", /buffer_399/);
      await sees(page, ".list", /and 207 more: search finds them/);
      await page.keyboard.press("4");
      await page.click("text=Show all 408 rows");
      await counts(page, "tr >> text=buffer_", 400);
    },
    many,
  );
});

test("maps that are not in the report: how to have them", async () => {
  const fewer = await report(folder, "fewer", ({ payload, parts }) => {
    payload.coverage.maps_left_out = 9;
    return { payload, parts };
  });
  await visit("#finding/1", (page) => sees(page, ".coverage", /9 heat maps[^]*left out[^]*report --maps all/), fewer);
});

test("a finding about no accesses is counted, and has no table of them", async () => {
  const few = await report(folder, "few", ({ payload, parts }) => ({
    payload: {
      ...payload,
      findings: payload.findings.map((f) => ({
        ...f,
        access: undefined,
        lines: f.lines.map((l) => ({ ...l, requests: 0 })),
      })),
    },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".worth", /Counted, not estimated/);
      await sees(page, ".detail", /How sure[^]*counted in all observed launches/);
      await counts(page, ".detail th >> text=times the needed", 0);
    },
    few,
  );
});

test("what is estimated is not called counted", async () => {
  const estimated = await report(folder, "estimated", ({ payload, parts }) => ({
    payload: { ...payload, launches: payload.launches.map((l) => ({ ...l, estimated: true })) },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".worth", /Counted in part/);
      await sees(page, ".detail", /estimated in some launches, from some of the blocks/);
    },
    estimated,
  );
});

test("without lines or sources the page says how to get them", async () => {
  const blind = await report(folder, "blind", ({ payload, parts }) => ({
    payload: {
      ...payload,
      files: payload.files.map((f) => ({ ...f, missing: "no such file", chunks: [] })),
      kernels: payload.kernels.map(({ file, line, ...k }) => k),
    },
    parts,
  }));
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, ".coverage", /5 kernels without line information: compile with nvcc -lineinfo/);
      await sees(page, ".coverage", /1 source file could not be read: demo\.cu \(no such file\)/);
      await sees(page, ".excerpt", /not in the profile: no such file\. Lines: 35/);
    },
    blind,
  );
});

test("a kernel's instructions", () =>
  visit("#kernel/2", async (page) => {
    await sees(page, ".mix", /memory 2\.5\s%[^]*integer 55\s%[^]*control flow 20\s%/);
    await counts(page, ".mixbar span", 4);
  }));

test("the overview says what to fix first and ranks the kernels", () =>
  visit("#overview", async (page) => {
    await sees(page, ".detail", /NVIDIA H200 · compute capability 9\.0 · 132 SMs · emulated/);
    await sees(page, ".fixfirst li >> nth=0", /sum \+= A\[row \* n \+ k\][^]*demo\.cu:35/);
    await sees(page, ".sortable tbody tr >> nth=0", /gemm<float>/);
    await page.click(".fixfirst a >> nth=1");
    await sees(page, ".crumbs", /Finding 2 of 6/);
  }));

test("sums that lack accesses are marked", async () => {
  const lacking = await report(folder, "lacking", ({ payload, parts }) => {
    for (const k of payload.kernels) if (k.id === 1) k.lacks = true;
    return { payload, parts };
  });
  await visit("#overview", (page) => sees(page, ".sortable tbody", /> \d[^]*> \d/), lacking);
  await visit("#kernel/1", (page) => sees(page, ".who", /> [^]* requests · > [^]* sectors/), lacking);
});

test("module variables that no kernel touched are a line", async () => {
  const idle = await report(folder, "idle", ({ payload, parts }) => {
    const variable = { kind: "symbol", space: "global", bytes: 4 };
    payload.objects.push({ ...variable, id: 91, name: "lonely" }, { ...variable, id: 92, name: "lonelier" });
    return { payload, parts };
  });
  await visit("#overview", async (page) => {
    await sees(page, ".idle summary", /^2 module variables that no kernel touched, as far as is known$/);
    await counts(page, ".sortable tbody tr:has-text('lonely')", 0);
    await page.click(".idle summary");
    await sees(page, ".idle", /lonely, lonelier/);
  }, idle);
});

test("search finds findings, kernels, objects and files", () =>
  visit("", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("particles");
    await sees(page, "[role=listbox]", /object\s+particles \(demo\.cu:64\)/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/#object\/6$/);
    await page.keyboard.press("/");
    await page.keyboard.type("demo.cu");
    await page.click("[role=option] >> text=file");
    await page.waitForURL(/#file\/1$/);
    await sees(page, "h1", /demo\.cu/);
    await page.keyboard.press("/");
    await page.keyboard.press("g"); // replaces what stood there; no view changes
    await page.keyboard.type("emm");
    await page.keyboard.press("ArrowDown");
    await has(page, "[role=combobox]", "aria-activedescendant", "hit1");
    await page.keyboard.press("Escape");
    await becomes(() => page.locator("[role=listbox]").isHidden(), true);
  }));

/** Whether the whole of an element is in sight, below what sticks to the window's upper edge. */
const inSight = (page, selector) =>
  page.evaluate((s) => {
    const { top, bottom } = document.querySelector(s).getBoundingClientRect();
    return top >= 48 && bottom <= innerHeight;
  }, selector);

test("a source file opens at its hottest line; keys and buttons go to the next hot one", () =>
  visit("", async (page) => {
    await page.setViewportSize({ width: 1280, height: 400 });
    await visits(page, "#file/1");
    const shown = () => page.getAttribute(".line.shown", "data-line");
    const order = [];
    await sees(page, ".hotlines", /Line 35, the hottest of \d+ hot lines: .* avoidable · finding 1/);
    await sees(page, ".line.shown", /sum \+= A\[row \* n \+ k\]/);
    for (let i = 0; i < 4; i++) {
      await becomes(() => inSight(page, ".line.shown"), true);
      order.push(await shown());
      await page.keyboard.press("n");
      await eventually(async () => assert.notEqual(await shown(), order.at(-1)));
    }
    assert.equal(new Set(order).size, 4);
    await page.keyboard.press("p");
    await becomes(shown, order[3]);
    await page.click(".hotlines button >> nth=0");
    await becomes(shown, order[2]);
    await page.waitForURL(new RegExp(`#file/1\\?line=${order[2]}$`));
    await page.click('.line.marked[data-line="35"]');
    await becomes(shown, "35");
    assert.ok(await page.isDisabled(".hotlines button >> nth=0"));
    await visits(page, "#file/1?line=1");
    await sees(page, ".hotlines", /Line 1 does not access memory$/);
    await page.click(".hotlines label"); // keys go on working there
    await page.keyboard.press("n");
    await becomes(shown, "35");
    await visits(page, "#finding/4");
    await page.click(".who a.place");
    await becomes(() => inSight(page, ".line.shown"), true);
    await sees(page, ".line.shown", /tile\[threadIdx\.x\]/);
  }));

test("Instructions stand beside the source, that of the selected line marked", () =>
  visit("", async (page) => {
    await visits(page, "#file/1?line=25");
    const pane = ".ptxpane";
    await sees(page, pane, /Instructions of[^]*instructions of line 25/);
    await becomes(() => page.locator(`${pane} select`).inputValue(), "2"); // which has the line
    await sees(page, `${pane} .insn.on:has-text("ld.shared")`, /25\s*ld\.shared\.f32 %f2, \[%r12\];\s*32\.0 wavefronts/);
    const shown = () => page.evaluate(() => {
      const [box, on] = [".ptxpane .code", ".insn.on"].map((s) =>
        document.querySelector(s).getBoundingClientRect());
      return on.top >= box.top && on.bottom <= box.bottom;
    });
    await becomes(shown, true);
    await page.click(`${pane} .insn:has-text("st.shared")`); // of another line
    await has(page, ".line.shown", "data-line", "20");
    await sees(page, pane, /instructions of line 20/);
    await page.selectOption(`${pane} select`, "3");
    await page.waitForURL(/line=20&kernel=3$/);
    await sees(page, pane, /0 instructions of line 20[^]*ld\.global/);
    await page.selectOption(`${pane} select`, "5");
    await sees(page, pane, /does not hold this kernel's instructions/);
    await page.click("label >> text=Instructions");
    await counts(page, pane, 0);
    await visits(page, "#kernel/2");
    await page.click("text=Source and instructions side by side");
    await page.waitForURL(/#file\/1\?line=\d+&kernel=2$/);
    await page.click("label >> text=Instructions");
    await page.setViewportSize({ width: 600, height: 800 });
    await becomes(() => page.locator(".insn:visible:not(.on)").count(), 0);
    await sees(page, `${pane} .insn.on`, /./);
  }));

test("findings and kernels are filtered by name, pattern and gain", async () => {
  const mixed = await report(folder, "mixed", ({ payload, parts }) => {
    payload.groups.slice(4).forEach((g) => {
      g.gain_reason = "It is tiny.";
    });
    return { payload, parts };
  });
  await visit("#finding/1", async (page) => {
    const cards = () => page.locator(".list .card").count();
    const select = (n, value) => page.selectOption(`.filter select >> nth=${n}`, value);
    await page.fill(".filter input", "GEMM d_");
    await sees(page, ".filter", /\d of 6 show all/);
    for (const text of await page.locator(".list .card").allInnerTexts()) assert.match(text, /gemm/);
    const gemm = await cards();
    assert.ok(gemm > 0 && gemm < 6);
    await page.keyboard.press("Escape");
    await page.fill(".filter input", "");
    await select(1, "little");
    await becomes(cards, 2);
    await sees(page, ".list .card .rank", /^5$/);
    await page.focus("body");
    await page.locator(".detail h1").click();
    await page.keyboard.press("j"); // from finding 1, which is not in the list: to its first
    await sees(page, ".crumbs", /Finding 5 of 6/);
    await select(1, "worth");
    await becomes(cards, 4);
    await select(0, "bank-conflict");
    await becomes(cards, 1);
    await page.locator(".detail h1").click();
    await page.keyboard.press("2");
    await becomes(cards, 1);
    await sees(page, ".list .card", /transpose_shared/);
    await page.fill(".filter input", "nowhere");
    await sees(page, ".list", /Nothing matches the filter/);
    await page.click("text=show all");
    await becomes(cards, 5);
  }, mixed);
});

test("search finds any line and place; Esc empties it", () =>
  visit("", async (page) => {
    const field = "[role=combobox]";
    await page.fill(field, "T sum =");
    await sees(page, "[role=listbox]", /line\s+T sum = 0/);
    await page.click("[role=option] >> text=T sum");
    await page.waitForURL(/#file\/1\?line=\d+$/);
    await sees(page, ".line.shown", /T sum/);
    await page.fill(field, "demo.cu:23");
    await sees(page, "[role=option]", /line[^]*demo\.cu:23/);
    await page.keyboard.press("Enter");
    await has(page, ".line.shown", "data-line", "23");
    await page.fill(field, "gemm");
    await page.focus(field);
    await page.keyboard.press("Escape");
    await becomes(() => page.inputValue(field), "");
    await becomes(() => page.locator("[role=listbox]").isHidden(), true);
  }));

test("a glossary tells what the words mean; the page links it, and search finds its words", () =>
  visit("#finding/1", async (page) => {
    await page.click(".coverage a >> text=Glossary");
    await sees(page, "h1", /^Glossary$/);
    await sees(page, ".glossary", /avoidable\s+sectors or wavefronts that a remedy would save/);
    await page.fill("[role=combobox]", "wavefront");
    await page.click("[role=option] >> text=word");
    await sees(page, ".glossary tr.on", /^wavefront\s+a step in which shared memory serves/);
    await becomes(() => inSight(page, ".glossary tr.on"), true);
  }));

test("in a narrow window the page alone scrolls up and down; the list opens at a button", () =>
  visit("", async (page) => {
    await page.setViewportSize({ width: 600, height: 700 });
    for (const hash of VIEWS) {
      await visits(page, hash);
      const inner = () => page.evaluate(() =>
        [...document.querySelectorAll("main *")]
          .filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowY))
          .filter((e) => e.scrollHeight > e.clientHeight + 1)
          .map((e) => e.className),
      );
      await becomes(inner, []);
    }
    await visits(page, "#finding/2");
    await becomes(() => page.isVisible(".list .card"), false);
    await page.click(".chooser button");
    await page.click(".card >> nth=4");
    await sees(page, ".crumbs", /Finding 5 of 6/);
    await becomes(() => page.isVisible(".list .card"), false);
    await becomes(() => page.evaluate(() => scrollY), 0);
    await page.click(".chooser >> text=next");
    await sees(page, ".crumbs", /Finding 6 of 6/);
  }));

test("a source file with what its lines move", () =>
  visit("#file/1", async (page) => {
    await sees(page, ".line.marked.first", /sum \+= A\[row \* n \+ k\]/);
    await becomes(async () => (await page.locator(".line").count()) > 60, true);
    await becomes(async () => (await page.locator(".line.marked").count()) >= 8, true);
    await page.click(".who a >> text=drift");
    await page.waitForURL(/#kernel\/4/);
  }));

test("on paper: light, without what only works on a screen", async () => {
  const { page, problems } = await open(context, path, "#object/1");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForSelector(".heatbox canvas");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await becomes(
    () => page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    "rgb(255, 255, 255)",
  );
  for (const hidden of [".top", ".list", ".goto"]) {
    await becomes(() => page.locator(hidden).first().isHidden(), true);
  }
  const corner = () => page.evaluate(() => {
    const canvas = document.querySelector(".heatbox canvas");
    const copy = new OffscreenCanvas(1, 1).getContext("2d");
    copy.drawImage(canvas, canvas.width - 1, canvas.height - 1, 1, 1, 0, 0, 1, 1);
    return copy.getImageData(0, 0, 1, 1).data.join();
  });
  await becomes(corner, "255,255,255,255");
  const pdf = await page.pdf();
  assert.ok(pdf.length > 10_000);
  assert.deepEqual(problems, []);
  await page.close();
});

test("nothing can be loaded from anywhere", async () => {
  const { page } = await open(context, path);
  const answers = [];
  page.on("response", (r) => answers.push(r.url()));
  await shows(page, "");
  await page.evaluate(() => {
    window.refused = [];
    addEventListener("securitypolicyviolation", (e) => window.refused.push(e.effectiveDirective));
    void fetch("https://example.invalid/").catch(() => undefined);
    const image = new Image();
    image.src = "https://example.invalid/x.png";
    document.body.append(image);
  });
  await becomes(() => page.evaluate(() => window.refused.sort()), ["connect-src", "img-src"]);
  assert.deepEqual(answers, []);
  await page.close();
});

/** Texts whose contrast with what lies behind them is less than WCAG 2 wants at level AA. */
function faint() {
  const parts = (color) => {
    const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => {
      const c = v / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parts(getComputedStyle(e).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  };
  const result = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || element.closest("svg, script, noscript, .unseen") || !element.checkVisibility()) continue;
    if (element.matches(":disabled")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(parts(style.color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      result.push(`${ratio.toFixed(2)} ${element.className} ${element.textContent.trim().slice(0, 40)}`);
    }
  }
  return [...new Set(result)];
}

for (const colorScheme of ["light", "dark"]) {
  test(`all text stands out, ${colorScheme}`, () =>
    visit("", async (page) => {
      await page.emulateMedia({ colorScheme });
      for (const hash of VIEWS) {
        await visits(page, hash);
        await becomes(() => page.evaluate(faint), []);
      }
    }));
}

test("what can be used has a name, and keys reach it in the order that it is read", () =>
  visit("", async (page) => {
    for (const hash of VIEWS) {
      await visits(page, hash);
      const nameless = () => page.evaluate(() =>
        [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0'], [role=img]")]
          .filter((e) => e.checkVisibility())
          .filter((e) => {
            const label = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? "";
            return !(label || e.textContent).trim();
          })
          .map((e) => e.outerHTML.slice(0, 80)),
      );
      await becomes(nameless, []);
    }
    await page.goto(page.url().replace(/#.*/, "#object/1"));
    await page.reload(); // else keys go on from where they were on the page before
    await page.waitForSelector(".heatbox canvas");
    const seen = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const what = await page.evaluate(() => {
        const e = document.activeElement;
        const order = [".jump", ".brand", "nav[aria-label=Views] a", ".search", ".list a", ".blocks", ".switch", ".zoom, .goto", ".heatbox", ".gridtable"];
        return order.findIndex((s) => e?.matches(s) || e?.closest(s));
      });
      if (what >= 0) seen.push(what);
    }
    const firsts = [...new Set(seen)];
    assert.deepEqual(firsts, [...firsts].sort((a, b) => a - b));
    assert.equal(firsts.length, 10);
  }));

test("a profile without findings says so", async () => {
  const bare = await report(folder, "bare", ({ payload, parts }) => ({
    payload: { ...payload, failures: [], findings: [], groups: [], maps: [] },
    parts,
  }));
  await visit("", async (page) => sees(page, "h1", /^Overview$/), bare);
  await visit("#finding/1", async (page) => sees(page, "h1", /No findings/), bare);
  await visit("#object/1", async (page) => sees(page, ".detail", /No heat map/), bare);
});

test("much that fits no pattern is not called nothing", async () => {
  const text = "1,234 sectors beyond those needed (25 % of all) belong to no pattern.";
  const left = await report(folder, "left", ({ payload, parts }) => ({
    payload: {
      ...payload,
      failures: [],
      findings: [],
      groups: [],
      maps: [],
      left_out: { text, patterns: 0, sectors: 1234, share_of_sectors: 0.25, much: true },
    },
    parts,
  }));
  const said = /1,234 sectors beyond those needed/;
  await visit("#overview", async (page) => sees(page, ".summary", said), left);
  await visit(
    "#finding/1",
    async (page) => {
      await sees(page, "h1", /^Unexplained sectors$/);
      await sees(page, ".empty", said);
      assert.doesNotMatch(await page.locator("main").innerText(), /[Nn]o (findings|memory access pattern)/);
    },
    left,
  );
});

test("a run that failed says so before all else, and never that there are no findings", async () => {
  await visit("#overview", async (page) => {
    await sees(page, ".failures", /launch 6 \(shift\) failed: access outside of any allocation at demo\.cu:7/);
    const above = await page.evaluate(() => {
      const [failures, first] = [".failures", ".fixfirst"].map((s) => document.querySelector(s).getBoundingClientRect().top);
      return failures < first;
    });
    assert.ok(above);
  });
  const bare = await report(folder, "failed", ({ payload, parts }) => ({
    payload: { ...payload, findings: [], groups: [], maps: [] },
    parts,
  }));
  await visit("#finding/1", async (page) => sees(page, "h1", /did not run to its end/), bare);
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
      await page.waitForSelector(".heatbox canvas");
      await pointed(page, [0], /offset\s+0 bytes, first of 4 sectors; 32 times, every 2 KiB/);
      await sees(page, ".cellinfo", /8 writes/);
    },
    sample,
  ),
);

test("memory shows its peak, what the plan saves, and objects with the largest first", () =>
  visit("#memory", async (page) => {
    await sees(page, "h1", /^5 MiB at the peak, 4 MiB with the plan$/);
    await sees(page, ".peaks", /With the plan\s+4 MiB, 20\s%\s+less/);
    await sees(page, ".memtools >> nth=1", /7 of 7 objects/);
    await sees(page, ".changes li >> nth=0", /long before[^]*particles[^]*Step 1 of the plan\. Saves 1 MiB of the plan/);
    await counts(page, ".selected", 0);
  }));

test("an allocation that failed stands before the curve, with what was in use then", () =>
  visit("#memory", async (page) => {
    await sees(page, ".failed", /cudaMalloc \(demo\.cu:64\) failed: it asked for 8 MiB when 3 MiB of 140 GiB were free/);
    await page.click("text=Tick the plan");
    await sees(page, ".failed", /With what is ticked 6 MiB would have been free, still too little/);
    await page.click(".failed >> text=what was in use");
    await sees(page, ".selected .facts", /memory in use after it\s+5 MiB/);
    await page.click(".zoomers >> text=peak");
    await sees(page, ".selected .facts", /order \(demo\.cu:65\)/);
  }));

test("what is ticked is replayed: the peak follows", () =>
  visit("#memory", async (page) => {
    const ticked = (text) => sees(page, ".peaks dd >> nth=2", text);
    await ticked(/^nothing is$/);
    await page.check(".changes li >> nth=0 >> input");
    await ticked(/^5 MiB$/);
    await page.check(".changes li >> nth=1 >> input");
    await ticked(/^4 MiB, 20\s%\s+less$/);
    await page.click("text=Untick all");
    await ticked(/^nothing is$/);
    await page.click("text=Tick the plan");
    await ticked(/^4 MiB/);
    await counts(page, ".changes input:checked", 2);
  }));

test("an object of memory tells where it is allocated, who uses it and what was found", () =>
  visit("#memory/6", async (page) => {
    await sees(page, ".selected h2", /particles/);
    await sees(page, ".selected", /2 MiB, 40\s%\s+of the peak/);
    await sees(page, ".selected .facts", /allocation at demo\.cu:64/);
    await sees(page, ".found", /Allocated 8 calls before its first use, the set at demo\.cu:68/);
    await sees(page, ".found", /What the set at demo\.cu:68 writes is replaced unread/);
    await sees(page, ".users", /copies and sets\s+0\s+2/);
    await sees(page, ".callpath", /cudaMalloc\s+allocate demo\.cu:50\s+main demo\.cu:59/);
    await page.click(".selected .facts >> text=/^set at/");
    await sees(page, ".selected", /Accesses\s+writes particles/);
    await sees(page, ".selected .facts", /memory in use after it\s+5 MiB/);
    await page.click(".selected .close");
    await counts(page, ".selected", 0);
  }));

test("memory is moved about in by keys", () =>
  visit("#memory", async (page) => {
    await page.waitForSelector(".livesbox canvas");
    await page.focus(".livesbox");
    await page.keyboard.press("ArrowDown");
    await sees(page, ".selected h2", /particles/);
    await page.keyboard.press("End");
    await sees(page, ".selected h2", /order/);
    await sees(page, ".selected .facts", /never freed/);
    await page.focus(".curvebox");
    await page.keyboard.press("p");
    await sees(page, ".selected h2", /^allocation$/);
    await sees(page, ".selected .facts", /order \(demo\.cu:65\)/);
    await page.keyboard.press("ArrowRight");
    await sees(page, ".selected h2", /^copy$/);
    await has(page, 'button[aria-label="Zoom out"]', "disabled", "");
    await page.keyboard.press("+");
    await has(page, 'button[aria-label="Zoom out"]', "disabled", null);
    await page.keyboard.press("0");
    await has(page, 'button[aria-label="Zoom out"]', "disabled", "");
  }));

test("memory is zoomed by the wheel, dragged, and selected in by a click", () =>
  visit("#memory", async (page) => {
    const box = await placeOf(page, ".livesbox canvas");
    await page.mouse.click(box.x + 300, box.y + 30); // the second row
    await sees(page, ".selected h2", /d_in/);
    await page.mouse.move(box.x + 500, box.y + 30);
    await sees(page, ".pointed", /d_in[^]*MiB in use/);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await has(page, 'button[aria-label="Zoom out"]', "disabled", null);
    const before = await page.locator(".pointed").innerText();
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(box.x + 500, box.y + 30);
    await eventually(async () => assert.notEqual(await page.locator(".pointed").innerText(), before));
    await sees(page, ".selected h2", /d_in/); // a drag selects nothing
  }));

test("objects of memory are narrowed by name, pattern, size and the peak", () =>
  visit("#memory", async (page) => {
    const shown = (n) => sees(page, ".memtools >> nth=1", new RegExp(`${n} of 7 objects`));
    await page.fill(".memtools input[type=search]", "demo.cu:61");
    await shown(1);
    await page.click(".memtools >> text=show all");
    await shown(7);
    await page.selectOption('select[aria-label*="pattern"]', "leak");
    await shown(1);
    await page.selectOption('select[aria-label*="pattern"]', "");
    await page.selectOption('select[aria-label*="size"]', String(2 ** 20));
    await shown(3);
    await page.selectOption('select[aria-label="What the axis shows"]', "time");
    await page.selectOption('select[aria-label="What colours show"]', "kernel");
    await sees(page, ".memlegend", /transpose/);
  }));

test("a finding about memory begins with its object and leads to its life, not to a map that there is none of", async () => {
  const of_memory = await report(folder, "of-memory", ({ payload, parts }) => {
    const [group] = payload.groups;
    const finding = payload.findings[group.first];
    for (const key of ["kernel", "access", "share_of_kernel"]) delete finding[key];
    Object.assign(finding, { pattern: "early-allocation", subject: "object", unit: "bytes", object: 5, lines: [] });
    payload.maps = payload.maps.filter((map) => map.object !== 5);
    return { payload, parts };
  });
  await visit("#finding/1", async (page) => {
    await sees(page, ".headline .who", /^d_C[^·]*device$/); // no line, and no dot before none
    await becomes(() => page.locator(".more a").allInnerTexts(), ["Its life among the others, and what the change saves"]);
    await page.click(".more a");
    await sees(page, ".selected h2", /d_C/);
  }, of_memory);
});

test("what is about how often data is accessed has no picture of one request", async () => {
  const often = await report(folder, "often", ({ payload, parts }) => {
    payload.findings[payload.groups[0].first].pattern = "promote";
    return { payload, parts };
  });
  const headings = (page) => page.locator("main h2").allInnerTexts();
  await visit("#finding/1", async (page) => assert.ok((await headings(page)).includes("One request of a warp")));
  await visit("#finding/1", async (page) => assert.ok(!(await headings(page)).includes("One request of a warp")), often);
});

test("a course of which operations are left out says so", async () => {
  const cut = await report(folder, "cut", ({ payload, parts }) => {
    payload.memory.courses[0].left_out = 1234;
    return { payload, parts };
  });
  await visit("#memory", (page) => sees(page, ".who", /24 operations, 1,234 more left out, at which nothing begins or ends/), cut);
});

test("a program without device memory has nothing to show of it", async () => {
  const none = await report(folder, "none", ({ payload, parts }) => {
    payload.memory.courses = [];
    return { payload, parts };
  });
  await visit("#memory", (page) => sees(page, ".empty", /allocated no device memory/), none);
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
