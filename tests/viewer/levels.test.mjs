// The explorer in a real browser: from the grid to an operation and back, by mouse and by keyboard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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

const folder = scratch();
let context;
let path;

before(async () => {
  path = await report(folder, "fixture");
  context = await launch(findBrowser(), folder, { colorScheme: "light" });
});
after(() => context?.close());

async function visit(hash, checks, file = path) {
  const { page, problems } = await open(context, file, hash);
  await shows(page, hash);
  await checks(page);
  assert.deepEqual(problems, []);
  await page.close();
}

const drawn = (page) => page.waitForSelector(".gridcanvas[data-drawn]");
const address = (page, pattern) =>
  eventually(async () => assert.match(await page.evaluate(() => location.hash), pattern));

test("the grid says what it shows", () =>
  visit("#explore", async (page) => {
    await drawn(page);
    await sees(page, ".levels", /^Grid$/);
    await sees(page, ".exploretools", /16 × 16 blocks of 32 × 8 threads; 2,048 warps of 256 blocks known/);
    await sees(page, ".repname", /block \(0, 0\)/);
    await sees(page, ".explorelegend", /Each tile is a thread block/);
    await sees(page, ".outliers", /warps 2 to 7 of block \(5, 2\) leave the loop/);
    await sees(page, ".explorecode", /tile\[threadIdx\.y \+ i\]/);
    await sees(page, ".explorecode", /ld\.global\.f32 %f13/);
  }));

test("by keyboard through all levels, and back", () =>
  visit("#explore", async (page) => {
    await drawn(page);
    await page.keyboard.press("ArrowRight"); // selects the first block
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await sees(page, ".pointed", /^block \(5, 2\), warp 0, operations 1 to 5: as warp 0 of block \(0, 0\) · demo\.cu:20/);
    await page.keyboard.press("Enter");
    await sees(page, ".levels", /^Grid › block \(5, 2\)$/);
    await page.waitForSelector(".blockcanvas");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await address(page, /block=37&warp=2/);
    await page.keyboard.press("Enter");
    await sees(page, ".levels", /^Grid › block \(5, 2\) › warp 2$/);
    await sees(page, ".warpview", /executes 23 operations/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await sees(page, ".explorecode", /operation 4/);
    await page.keyboard.press("Enter");
    await sees(page, ".levels", /› warp 2 › operation 4$/);
    await sees(page, ".operationview", /Operation 4 of 23/);
    for (const level of [/› warp 2$/, /› block \(5, 2\)$/, /^Grid$/]) {
      await page.keyboard.press("Escape");
      await sees(page, ".levels", level);
    }
    await drawn(page);
    await sees(page, ".pointed", /^block \(5, 2\), warp 2/); // what was selected still is
  }));

test("by mouse through all levels, and back by the names above", () =>
  visit("#explore", async (page) => {
    await drawn(page);
    const box = await placeOf(page, ".gridcanvas");
    await page.mouse.click(box.x + 60, box.y + 40);
    await sees(page, ".levels", /^Grid › block \(0, 0\)$/);
    const warps = await placeOf(page, ".blockcanvas");
    await page.mouse.move(warps.x + 100, warps.y + 60);
    await sees(page, ".pointed", /^warp 0, operations \d+ to \d+/);
    await page.mouse.click(warps.x + 100, warps.y + 60);
    await sees(page, ".levels", /› warp 0$/);
    await page.click(".openstep");
    await sees(page, ".levels", /› operation \d+$/);
    await page.click(".levels button >> text=block");
    await sees(page, ".levels", /› block \(0, 0\)$/);
    await page.click(".levels button >> text=Grid");
    await drawn(page);
    await page.goBack();
    await sees(page, ".levels", /› block \(0, 0\)$/);
  }));

test("pointing at a cell says what it is, and shows its lines", () =>
  visit("#explore/2?rep=5", async (page) => {
    await drawn(page);
    await sees(page, ".repname", /block \(5, 0\)/);
    await sees(page, ".rep", /your choice/);
    const box = await placeOf(page, ".gridcanvas");
    await page.mouse.move(box.x + 60, box.y + 40);
    await sees(page, ".pointed", /block \(0, 0\), warp \d, operation/);
    await sees(page, ".explorecode", /what is pointed at/);
    await page.mouse.move(box.x + box.width - 5, box.y + box.height - 5);
    await sees(page, ".pointed", /Point at a cell/);
    await page.click("text=Choose by itself");
    await sees(page, ".rep", /the most common/);
  }));

test("dragging moves the grid, and opens nothing", () =>
  visit("#explore", async (page) => {
    await drawn(page);
    for (let i = 0; i < 8; i++) await page.keyboard.press("+");
    const box = await placeOf(page, ".gridcanvas");
    await page.mouse.move(box.x + 400, box.y + 300);
    await sees(page, ".pointed", /^block/);
    const before = await page.locator(".pointed").innerText();
    await page.mouse.down();
    await page.mouse.move(box.x + 100, box.y + 100, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(box.x + 401, box.y + 300);
    await eventually(async () => assert.notEqual(await page.locator(".pointed").innerText(), before));
    await sees(page, ".levels", /^Grid$/);
  }));

test("the representative is chosen by hand, of blocks and of warps", () =>
  visit("#explore/2?level=grid&block=21&warp=1", async (page) => {
    await drawn(page);
    await page.keyboard.press("r");
    await sees(page, ".repname", /block \(5, 1\)/);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".blockcanvas");
    await sees(page, ".repname", /warp 0/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("r");
    await sees(page, ".repname", /warp 3/);
    await address(page, /than=3/);
  }));

test("rows stand for as many operations as one wants", () =>
  visit("#explore", async (page) => {
    await drawn(page);
    await sees(page, ".bundle", /5 operations/);
    await page.click(".bundle button >> nth=1");
    await sees(page, ".bundle", /10 operations/);
    for (let i = 0; i < 3; i++) await page.click(".bundle button >> nth=0");
    await sees(page, ".bundle", /1 operation/);
    assert.ok(await page.locator(".bundle button >> nth=0").isDisabled());
  }));

test("the step button and play go through the operations", () =>
  visit("#explore/2?block=0&warp=0", async (page) => {
    await sees(page, ".warpview", /executes 51 operations/);
    await page.click(".player button >> nth=2");
    await sees(page, ".player", /operation 2 of 51/);
    await page.click(".player button >> nth=1");
    await sees(page, ".player", /operation 1 of 51/);
    await page.click(".player button >> nth=0");
    await sees(page, ".player", /operation [3-9] of 51/);
    await page.click(".player button >> nth=0");
    await sees(page, ".player", /►/);
  }));

test("what is not played yet is veiled, until all is shown again", () =>
  visit("#explore", async (page) => {
    await drawn(page);
    await page.keyboard.press("ArrowRight"); // to select a block veils nothing
    await sees(page, ".player", /operation 72 of 72/);
    await page.click(".player button >> nth=1");
    await sees(page, ".player", /operation 71 of 72/);
    await address(page, /until=70/);
    await page.click("text=Show all");
    await sees(page, ".player", /operation 72 of 72/);
  }));

test("two launches stand side by side on one scale", () =>
  visit("#explore/2?beside=1", async (page) => {
    await page.waitForSelector("figure:nth-of-type(2) .gridcanvas[data-drawn]");
    const scales = () => page.locator(".gridcanvas").evaluateAll((all) => all.map((c) => c.dataset.drawn));
    await eventually(async () => {
      const [a, b] = await scales();
      assert.equal(a, b);
    });
    await sees(page, "figcaption >> nth=1", /transpose_naive, launch 1/);
    const right = "figure:nth-of-type(2)";
    await sees(page, `${right} figcaption`, /1,902 of [\d,]+ warps alike: 51 operations, 28 sectors/);
    await sees(page, ".strangers", /ran different code, so each is compared with a block of its own/);
    // Its blocks are chosen, compared with and opened as those of the launch itself are.
    await page.focus(`${right} .gridbox`);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await sees(page, ".pointed", /^At the right: block/);
    await page.keyboard.press("r");
    await sees(page, `${right} .rep`, /your choice/);
    await sees(page, "figure:nth-of-type(1) .rep", /the most common/);
    await page.keyboard.press("Enter");
    await sees(page, ".levels", /^Grid › block .*of transpose_naive, launch 1/);
    await address(page, /^#explore\/2\?.*on=1.*beside=1/);
    await page.click(".across button");
    await sees(page, ".levels", /of transpose_shared, launch 2/);
    await page.keyboard.press("Escape");
    await becomes(() => page.locator(".gridcanvas").count(), 2);
    await page.selectOption("select >> nth=1", "none");
    await becomes(() => page.locator(".gridcanvas").count(), 1);
  }));

test("a launch of another report stands beside this one's", async () => {
  const other = await report(folder, "other", (data) => data);
  const none = await report(folder, "none", (data) => {
    data.payload.explore = [];
    return data;
  });
  await visit("#explore", async (page) => {
    await drawn(page);
    await page.setInputFiles("input[type=file]", none);
    await sees(page, ".warntext", /none\.html does not hold what warps did/);
    await page.setInputFiles("input[type=file]", other);
    await page.waitForSelector("figure:nth-of-type(2) .gridcanvas[data-drawn]");
    await sees(page, "figcaption >> nth=1", /transpose_shared, launch 2 of other\.html/);
    await sees(page, "figcaption >> nth=0", /transpose_shared, launch 2 of this report/);
    await page.selectOption("select >> nth=1", "other-1");
    await sees(page, "figcaption >> nth=1", /transpose_naive, launch 1 of other\.html/);
    const box = await placeOf(page, "figure:nth-of-type(2) .gridcanvas");
    await page.mouse.click(box.x + 60, box.y + 40);
    await sees(page, ".levels", /^Grid › block \(0, 0\) .*of transpose_naive, launch 1 of other\.html/);
    await page.press(".blockbox", "Enter");
    await sees(page, ".warpview", /Warp \d executes \d+ operations/);
    await page.click(".openstep");
    await sees(page, ".operationview", /Operation \d+ of/);
    await becomes(() => page.locator(".explorecode a").count(), 0); // its files are not in this report
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.selectOption("select >> nth=1", "other-2");
    await sees(page, "figure:nth-of-type(2) .rep", /at the left/); // one code: one scale, and one block to compare with
    await page.click("text=Compare with its own");
    await sees(page, "figure:nth-of-type(2) .rep", /the most common/);
    await page.click("text=Compare with the one at the left");
    await sees(page, "figure:nth-of-type(2) .rep", /at the left/);
    await page.click("text=Put it away");
    await becomes(() => page.locator(".gridcanvas").count(), 1);
  });
});

test("what stands out is a click away", () =>
  visit("#explore", async (page) => {
    await page.click(".outliers td button");
    await sees(page, ".levels", /^Grid › block \(5, 2\)$/);
    await address(page, /block=37&warp=2/);
    await page.keyboard.press("Escape");
    await sees(page, ".outliers", /stands for 1,902 of 2,048 warps: 51 operations, 28 sectors, 193 wavefronts\./);
    await page.click(".outliers >> text=Open it");
    await sees(page, ".levels", /^Grid › block \(0, 0\) › warp 0$/);
    await sees(page, ".warpview", /executes 51 operations/);
  }));

test("a report without steps says how to get them", async () => {
  const file = await report(folder, "without", (data) => {
    data.payload.explore = [];
    return data;
  });
  await visit("#explore", async (page) => sees(page, ".empty", /--set sequences/), file);
  await visit("", async (page) => becomes(() => page.locator("nav >> text=Explorer").count(), 0), file);
});

test("a report without room says how to open one kernel", async () => {
  const file = await report(folder, "full", (data) => {
    data.payload.explore = data.payload.explore.map(({ pages, members, part, columns, ...row }) => ({ ...row, left_out: 9 }));
    return data;
  });
  await visit("#explore", async (page) => sees(page, ".empty", /2 launches found no room.*warplens explore PROFILE shows them/), file);
});

test("launches without room are counted beside those that have some", async () => {
  const file = await report(folder, "half", (data) => {
    const { pages, members, part, columns, ...row } = data.payload.explore[1];
    data.payload.explore[1] = { ...row, left_out: 9 };
    return data;
  });
  await visit("#explore", async (page) => sees(page, ".exploretools", /1 other launch found no room here/), file);
});

test("the file that warplens explore writes opens at the explorer", async () => {
  const file = await report(folder, "explorer", (data) => {
    data.payload.explorer = true;
    return data;
  });
  await visit("", async (page) => {
    await drawn(page);
    await sees(page, ".levels", /^Grid$/);
  }, file);
});

// ---- launches of which paths are known by hashes ----

const { pathsOf } = await load("test/fixture/explore.ts", folder);

/** Launch 1: nothing but hashes; launch 2: steps, too. Kernel 1 was launched nine times. */
function withPaths(data) {
  const [second, first] = data.payload.explore;
  const { launch, kernel } = first;
  const hashed = pathsOf(data.parts, 64);
  data.payload.explore = [
    { ...second, traced: true, hashed: pathsOf(data.parts, 256) },
    { launch, kernel, launches: 9, launches_known: 4, warps: 0, compared: hashed.compared, hashed },
  ];
  return data;
}

let hashed;
const visitHashed = async (hash, checks) => {
  hashed ??= await report(folder, "hashed", withPaths);
  return visit(hash, checks, hashed);
};

test("where only hashes are known, the grid says so, and how long warps ran", () =>
  visitHashed("#explore/1", async (page) => {
    await drawn(page);
    await sees(page, ".known", /hash of its path is known.*how many instructions.*nor what was accessed: --probes trace,path.*Of 1 other warp nothing is known/s);
    await sees(page, ".otherlaunches", /launched 9 times; 1 launch can be explored here\. Of 5 it is not known.*--heat-launches 0/s);
    await sees(page, ".outliers", /511 warps took 3 paths.*502 of them took/s);
    await sees(page, ".outliers", /60.%.*8 warps of 1 block ran 2\.5 times as many instructions.*250 instructions/s);
    await page.keyboard.press("ArrowRight");
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    await sees(page, ".pointed", /^block \(5, 0\), warp 0: 250 instructions in its longest thread, 2\.5 times as many as warp 0 of block \(0, 0\); 7 other warps took its path$/);
    await page.keyboard.press("Enter");
    await sees(page, ".levels", /^Grid › block \(5, 0\)$/);
    await sees(page, ".hashedwarps", /250.*60.%.*8/s);
    await page.keyboard.press("Escape");
    await drawn(page);
  }));

test("hashes without room are counted, too", async () => {
  const file = await report(folder, "nohashes", (data) => {
    const [{ hashed: _, ...steps }, { hashed, ...only }] = withPaths(data).payload.explore;
    const { part, columns, ...paths } = hashed;
    data.payload.explore = [steps, { ...only, hashed: { ...paths, left_out: 9 } }];
    return data;
  });
  await visit("#explore", async (page) => sees(page, ".exploretools", /1 other launch found no room here/), file);
});

test("steps without room beside hashes are told of", async () => {
  const file = await report(folder, "nosteps", (data) => {
    const { pages, members, part, columns, ...row } = withPaths(data).payload.explore[0];
    data.payload.explore = [{ ...row, left_out: 9 }];
    return data;
  });
  await visit("#explore", async (page) => {
    await drawn(page);
    await sees(page, ".known", /nor what was accessed: what a few blocks accessed found no room here, warplens explore --serve shows it/);
    assert.equal((await page.textContent(".known")).includes("--probes"), false);
  }, file);
});

test("a block whose paths differ, and a warp of which nothing is known", () =>
  visitHashed("#explore/1?block=9", async (page) => {
    await sees(page, ".hashedwarps", /A.*100.*3,200.*B.*60.*1,900.*40.%/s);
    assert.equal((await page.$$(".hashedwarps tbody tr")).length, 8);
    await page.evaluate(() => {
      location.hash = "#explore/1?block=63&warp=7";
    });
    await sees(page, ".hashedwarps", /100.*A/s);
    assert.equal((await page.$$(".hashedwarps tbody tr")).length, 7);
  }));

test("a traced block leads from its hashes to its steps", () =>
  visitHashed("#explore/2", async (page) => {
    await drawn(page);
    await sees(page, ".known", /except of 256 blocks.*requests were traced/s);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".blockcanvas");
    await sees(page, ".known", /requests of 256 of its 256 blocks were traced/);
    await page.keyboard.press("Escape");
    await sees(page, ".pointed", /^block \(0, 0\), warp 0: 100 instructions in its longest thread, the path of warp 0/);
  }));
