// The page's modules without a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { glossary } from "../../viewer/glossary.mjs";
import { fixtureFolder, load, scratch, viewer } from "../../viewer/test/tools.mjs";

const folder = scratch();
const decode = await load("src/data/decode.ts", folder);
const heat = await load("src/data/heat.ts", folder);
const grids = await load("src/data/grid.ts", folder);
const { makeGrid } = await load("src/data/makegrid.ts", folder);
const owners = await load("src/data/owner.ts", folder);
const pyramids = await load("src/data/pyramid.ts", folder);
const read = await load("src/data/read.ts", folder);
const regions = await load("src/data/regions.ts", folder);
const laning = await load("src/data/lanes.ts", folder);
const { MEAN_STEPS } = await load("src/data/summary.ts", folder);
const { QUARTER, quartersMap } = await load("test/fixture/quarters.ts", folder);
const geometries = await load("src/widgets/heatmap/geometry.ts", folder);
const benefits = await load("src/data/benefits.ts", folder);
const rooflines = await load("src/data/roofline.ts", folder);
const savings = await load("src/data/saving.ts", folder);
const remedies = await load("src/data/remedy.ts", folder);
const { rooflineWords, missingWords } = await load("src/pictures/roofline.tsx", folder);
const { occupancyWords, stepWords } = await load("src/pictures/occupancy.tsx", folder);
const { boundSentence, efficiencyWords } = await load("src/pictures/prediction.tsx", folder);
const modelModule = await load("src/data/model.ts", folder);
const layout = await load("src/pictures/layout.ts", folder);
const format = await load("src/widgets/format.ts", folder);
const palettes = await load("src/widgets/heatmap/palette.ts", folder);
const scale = await load("src/widgets/scale.ts", folder);
const sketches = await load("src/pictures/sketches.ts", folder);
const searching = await load("src/data/search.ts", folder);
const code = await load("src/widgets/highlight.ts", folder);
const phasing = await load("src/data/phases.ts", folder);
const banking = await load("src/views/uses/banks.tsx", folder);
const { families } = await load("src/data/families.ts", folder);
const { shownRanges } = await load("src/views/ranges.tsx", folder);
const { fixture } = await load("test/fixture/index.ts", folder);
const { encode } = await load("test/fixture/container.ts", folder);

const data = fixture(fixtureFolder);
const report = await decode.decode(encode(data.payload, data.parts));
const model = modelModule.buildModel(report);
const mapOf = (kernel, object, block = 0) =>
  report.payload.maps.find(
    (m) => m.kernel === kernel && m.object === object && m.block[0] === block,
  );
const tableOf = (map) => read.readMap(report.parts[map.part], map);
const layer = (table) => ({ table, planes: table.warmth });
const rowsOf = (grid) =>
  Array.from({ length: grid.count }, (_, i) => ({
    first: grid.first[i],
    repeat: grid.repeat[i],
    times: grid.times[i],
    stride: grid.stride[i],
    gap: grid.gap[i] === 1,
  }));

test("a remedy tells what changes most, and how that is known", () => {
  const swap = {
    title: "Swap the thread's indices",
    advice: "Swap .x and .y.",
    counted: true,
    before: { requests: 4, sectors: 128, wavefronts: 0 },
    after: { requests: 4, sectors: 16, wavefronts: 0 },
    gain: { seconds: 0.5, low: 0, high: 1, of_program: 0.5 },
  };
  assert.match(remedies.changeWords(swap), /^128 → 16 sectors \(tried/);
  const pad = {
    ...swap,
    counted: false,
    gain: undefined,
    before: { requests: 4, sectors: 0, wavefronts: 64 },
    after: { requests: 4, sectors: 0, wavefronts: 4 },
  };
  assert.match(remedies.changeWords(pad), /^64 → 4 wavefronts \(not tried: the fewest/);
  const staged = { ...pad, before: swap.before, after: { requests: 1, sectors: 120, wavefronts: 400 } };
  assert.match(remedies.changeWords(staged), /^128 → 120 sectors/);
  const none = { requests: 4, sectors: 0, wavefronts: 0 };
  assert.equal(remedies.changeWords({ ...pad, before: none, after: none }), "");
  assert.equal(remedies.otherWords(swap), "Swap .x and .y (tried; saves 500 ms).");
  assert.equal(remedies.otherWords(pad), "Swap .x and .y (not tried).");
  const launch = { before: 2e-5, after: 8e-6, after_low: 5e-6, after_high: 1.4e-5 };
  const timed = { ...swap, gain: { ...swap.gain, ...launch } };
  assert.match(remedies.changeWords(timed), /A launch: 20\.0 µs → 8\.00 µs \(5\.00 µs to 14\.0 µs\)\.$/);
});

test("a sketch draws what is advised", () => {
  const hot = { pattern: "hot", evidence: [] };
  const swapped = { ...hot, remedies: [{ name: "swap-indices" }, { name: "stage-in-shared-memory" }] };
  assert.equal(sketches.sketchOf(swapped), sketches.SKETCHES["false-sharing"]);
  assert.equal(sketches.sketchOf({ ...hot, remedies: [] }), sketches.SKETCHES.hot);
  const tiles = sketches.sketchOf({
    ...hot,
    remedies: [{ name: "pass-tiles-through-shared-memory" }],
  });
  assert.match(tiles.after.code, /tile/);
});

test("a sketch draws the remedy, not what the pattern has most often", () => {
  const of = (pattern, ...names) =>
    sketches.sketchOf({ pattern, remedies: names.map((name) => ({ name })) });
  assert.match(of("misaligned", "stage-in-shared-memory").before.code, /a\[i - 1\]/);
  assert.match(of("misaligned", "pad-rows").after.code, /pitch/);
  assert.doesNotMatch(of("misaligned", "align").after.code, /pitch/);
  assert.match(of("uncoalesced", "widen-blocks").after.code, /dim3 block\(32/);
  assert.match(of("divergent", "add-up-in-whole-warps").after.code, /t < d/);
  assert.match(of("strided", "transpose-data").after.code, /transposed/);
  // A row for each thread: what is drawn is the change that is advised first, and no chunk of a vector.
  assert.match(of("uncoalesced", "transpose-data", "share-rows").after.code, /transposed/);
  assert.match(of("uncoalesced", "share-rows", "transpose-data").after.code, /warp \* n/);
  assert.match(of("uncoalesced", "run-along-rows").before.code, /lanes: rows/);
  assert.match(of("uncoalesced", "pass-tiles-through-shared-memory").after.code, /\+ r\) \* n/);
  assert.equal(of("uncoalesced", "let-lanes-take-neighbours"), sketches.SKETCHES.uncoalesced);
  assert.equal(of("bank-conflict", "private-copies"), undefined); // of atomics in device memory
  assert.equal(of("hot", "call-cheaper-function"), undefined);
  for (const pattern of Object.keys(sketches.SKETCHES))
    assert.equal(of(pattern), sketches.SKETCHES[pattern]);
});

test("a saving too small to be written is none", () => {
  const saving = { seconds: 4e-8, low: -1, high: 1e-4, of_program: 0.1 };
  assert.equal(savings.savedSeconds(saving), "nothing");
  assert.equal(savings.savedSeconds({ ...saving, seconds: 2e-6 }), "2.00 µs");
  assert.equal(savings.savedSeconds({ ...saving, seconds: 2e-6, of_program: 1e-6 }), "nothing");
  assert.equal(savings.savedAs(-1), "nothing");
});

test("a finding stands in the first line that is known", () => {
  const lines = [{ pc: 7 }, { pc: 9, file: 1, line: 68 }];
  assert.equal(modelModule.lineOf({ lines }).line, 68);
  assert.equal(modelModule.lineOf({ lines: lines.slice(0, 1) }).pc, 7);
  assert.equal(modelModule.lineOf({ lines: [] }), undefined);
});

test("a launch of one block has one block", () => {
  assert.equal(format.shapeOf([1, 1, 1], [256, 1, 1]), "1 block of 256 threads");
  assert.equal(format.shapeOf([16, 2, 1], [1, 1, 1]), "16 × 2 blocks of 1 thread");
});

test("a container survives packing and unpacking", () => {
  assert.deepEqual(report.payload, data.payload);
  assert.deepEqual(report.parts.slice(1), data.parts);
});

test("damaged data are refused with a message", async () => {
  const text = (bytes) => gzipSync(bytes).toString("base64");
  await assert.rejects(decode.decode("AAAA"));
  await assert.rejects(decode.decode(text("no report at all")));
  await assert.rejects(decode.decode(text("null")), /kind undefined/);
  const other = encode({ ...data.payload, schema: "warplens-report/2" }, data.parts);
  await assert.rejects(decode.decode(other), /warplens-report\/2/);
  const map = mapOf(1, 1);
  await assert.rejects(read.readMap(text(Buffer.alloc(100)), map), /end too early/);
  const outside = { ...map, columns: { ...map.columns, repeat: [1 << 30, map.rows] } };
  await assert.rejects(read.readMap(report.parts[map.part], outside), /end too early/);
});

test("a heat map's runs stand where the sectors were", async () => {
  const map = mapOf(1, 1); // 32 rows of 4 sectors, 2,048 bytes apart
  const table = await tableOf(map);
  assert.equal(map.sectors, 128);
  assert.deepEqual([...table.first.subarray(0, 2)], [0, 64]);
  assert.equal(heat.runAt(table, 66), 1);
  assert.equal(heat.runAt(table, 5), -1);
  assert.equal(heat.runAt(table, 1 << 20), -1);
  const grid = makeGrid([layer(table)], grids.LAYOUTS.words, true);
  assert.deepEqual(rowsOf(grid), [{ first: 0, repeat: 4, times: 32, stride: 64, gap: false }]);
  assert.equal(grids.rowEnd(grid, 0), 31 * 64 + 4);
  const single = makeGrid([layer(table)], grids.LAYOUTS.words, false);
  assert.equal(rowsOf(single).filter((r) => !r.gap).length, 128);
  assert.equal(single.count, 128 + 31); // the gaps between them
  assert.deepEqual(rowsOf(single)[4], { first: 4, repeat: 60, times: 1, stride: 0, gap: true });
  assert.equal(grids.rowAt(single, 66), 7);
  assert.equal(grids.rowAt(single, 0), 0);
});

test("rows of equal temperatures collapse though their warps differ", async () => {
  const map = mapOf(4, 7); // order: 32 elements a warp
  const table = await tableOf(map);
  assert.equal(table.runs, 8);
  const grid = makeGrid([layer(table)], grids.LAYOUTS.words, true);
  assert.deepEqual(rowsOf(grid), [{ first: 0, repeat: 32, times: 1, stride: 0, gap: false }]);
});

test("the words' history is right bit by bit, and the sector's is all of them", async () => {
  const table = await tableOf(mapOf(1, 2)); // warp w writes rows w, w + 8, ...
  for (let word = 0; word < 8; word++) {
    assert.equal(heat.warpsOf(table, 0, word), 1 << word);
  }
  assert.equal(heat.warpsOf(table, 0, 8), 0xff);
});

/** What a cell shows, worked out without rows: for comparison. */
function naive(layers, l, sector, plane) {
  const { table, planes } = layers[l];
  for (let run = 0; run < table.runs; run++) {
    const first = table.first[run];
    if (sector >= first && sector < first + table.repeat[run]) {
      return planes[plane * table.runs + run];
    }
  }
  return 0;
}

/** The sectors at which the rows of sectors begin that a row of the grid stands for. */
function placesOf(grid, row) {
  const places = [];
  for (let t = 0; t < grid.times[row]; t++) {
    for (let r = 0; r < grid.repeat[row]; r++) {
      places.push(grid.first[row] + t * grid.stride[row] + r * grid.layout.sectors);
    }
  }
  return places;
}

/** Every touched sector is in exactly one row, which shows what is there. */
function checkGrid(layers, layout, collapse) {
  const grid = makeGrid(layers, layout, collapse);
  const covered = new Set();
  for (let row = 0; row < grid.count; row++) {
    for (const place of placesOf(grid, row)) {
      assert.ok(!covered.has(place), `${place} in two rows`);
      covered.add(place);
      if (!grid.gap[row]) assert.equal(grids.rowAt(grid, place), row);
      for (let l = 0; l < layers.length; l++) {
        for (let c = 0; c < layout.columns; c++) {
          const inside = layout.kind === "words" ? 0 : layout.kind === "banks" ? c >> 3 : c;
          const plane = layout.kind === "words" ? c : layout.kind === "banks" ? c % 8 : 8;
          const value = grids.cellValue(grid, row, l, c);
          assert.equal(value, naive(layers, l, place + inside, plane));
          if (grid.gap[row]) assert.equal(value, 0);
        }
      }
    }
  }
  for (const { table } of layers) {
    for (let run = 0; run < table.runs; run++) {
      for (let s = table.first[run]; s < table.first[run] + table.repeat[run]; s++) {
        assert.ok(covered.has(Math.floor(s / layout.sectors) * layout.sectors));
      }
    }
  }
  return grid;
}

test("blocks side by side are aligned by sector, in every layout", async () => {
  const tables = await Promise.all([0, 1, 3].map((block) => tableOf(mapOf(1, 1, block))));
  for (const layout of Object.values(grids.LAYOUTS)) {
    for (const collapse of [true, false]) checkGrid(tables.map(layer), layout, collapse);
  }
});

test("rows are right for any maps, with and without periods", () => {
  let state = 7;
  const random = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 16) % n;
  };
  let folded = 0;
  for (let round = 0; round < 300; round++) {
    const layers = Array.from({ length: 1 + random(3) }, () => {
      const unit = Array.from({ length: 1 + random(3) }, () => [random(3), 1 + random(3), 1 + random(2)]);
      const runs = [];
      let at = random(4);
      for (let i = 0; i < 4 + random(20); i++) {
        // Mostly a pattern that comes again and again, now and then something else.
        const [skip, repeat, warmth] = random(12) === 0 ? [random(9), 1 + random(4), 1] : unit[i % unit.length];
        runs.push([at + skip, repeat, warmth]);
        at += skip + repeat;
      }
      return layer({
        runs: runs.length,
        first: Float64Array.from(runs, (r) => r[0]),
        repeat: Uint32Array.from(runs, (r) => r[1]),
        warmth: Uint8Array.from({ length: 9 * runs.length }, (_, i) => runs[i % runs.length][2]),
      });
    });
    for (const layout of Object.values(grids.LAYOUTS)) {
      checkGrid(layers, layout, false);
      folded += checkGrid(layers, layout, true).times.some((t) => t > 1) ? 1 : 0;
    }
  }
  assert.ok(folded > 50, `${folded} with periods`);
});

test("from afar a pixel shows the hottest of its rows", async () => {
  const table = await tableOf(mapOf(4, 6));
  const grid = makeGrid([layer(table)], grids.LAYOUTS.words, false);
  const levels = pyramids.pyramid(grid, 10);
  assert.ok(levels.length >= 2 && levels.at(-1).count <= 10);
  for (const { step, count, cells } of levels) {
    for (let r = 0; r < count; r++) {
      for (let c = 0; c < 9; c++) {
        let most = 0;
        for (let row = r * step; row < Math.min((r + 1) * step, grid.count); row++) {
          if (!grid.gap[row]) most = Math.max(most, grids.cellValue(grid, row, 0, c));
        }
        assert.equal(cells[r * 9 + c], most);
      }
    }
  }
});

test("zooming ends where all rows are in sight", () => {
  for (const rows of [1, 30, 500, 100_000, 3_000_000]) {
    const all = geometries.zooms(rows, 560);
    const last = all.at(-1);
    assert.ok(geometries.rowsShown(last, 560) >= rows);
    assert.equal(all[0].height, 18);
  }
});

test("cells are found where they are drawn", () => {
  for (const layout of Object.values(grids.LAYOUTS)) {
    for (const layers of [1, 2, 4]) {
      for (const width of [320, 640, 1100]) {
        const g = geometries.geometry(width, layout, layers);
        for (let l = 0; l < layers; l++) {
          for (let column = 0; column < layout.columns; column++) {
            const x = geometries.columnX(g, layout, l, column) + 1;
            assert.deepEqual(geometries.columnAt(g, layout, x), { layer: l, column });
          }
        }
        if (layers <= 2) assert.ok(g.end <= width, `${layout.kind} ${layers} ${width}: ${g.end}`);
      }
    }
  }
});

test("what comes again and again at one distance is one row, and only that", () => {
  // Runs as [first sector, sectors, warps]: four times 2 of 8 sectors; then another distance, then another temperature.
  const runs = [[0, 2, 1], [8, 2, 1], [16, 2, 1], [24, 2, 1], [36, 2, 1], [44, 2, 3]];
  const table = {
    runs: runs.length,
    first: Float64Array.from(runs, (r) => r[0]),
    repeat: Uint32Array.from(runs, (r) => r[1]),
    warmth: Uint8Array.from({ length: 9 * runs.length }, (_, i) => runs[i % runs.length][2]),
  };
  const grid = makeGrid([layer(table)], grids.LAYOUTS.words, true);
  assert.deepEqual(
    rowsOf(grid).map((r) => [r.first, r.repeat, r.times, r.stride, r.gap]),
    [
      [0, 2, 4, 8, false],
      [26, 10, 1, 0, true],
      [36, 2, 1, 0, false],
      [38, 6, 1, 0, true],
      [44, 2, 1, 0, false],
    ],
  );
  // Two blocks that take turns at 4 sectors each: a row for each of them.
  const turn = (offset) => ({
    runs: 10,
    first: Float64Array.from({ length: 10 }, (_, i) => 8 * i + offset),
    repeat: new Uint32Array(10).fill(4),
    warmth: new Uint8Array(90).fill(1),
  });
  const turns = makeGrid([layer(turn(0)), layer(turn(4))], grids.LAYOUTS.words, true);
  assert.deepEqual(
    rowsOf(turns).map((r) => [r.first, r.repeat, r.times, r.stride]),
    [
      [0, 4, 10, 8],
      [4, 4, 10, 8],
    ],
  );
  assert.deepEqual([0, 4, 9, 13, 79].map((s) => grids.rowAt(turns, s)), [0, 1, 0, 1, 1]);
  const twice = makeGrid([layer({ ...table, runs: 2 })], grids.LAYOUTS.words, true);
  assert.equal(twice.count, 3); // too few times to make a period
});

test("owners: threads are told apart in shared memory only", async () => {
  const tile = await tableOf(mapOf(2, 8)); // row y written by warp y % 8, column x read by warp x % 8
  const ownerAt = (word) =>
    owners.ownerOf(tile, "shared", heat.runAt(tile, word >> 3), word % 8);
  assert.equal(ownerAt(0), 1); // (0, 0): lane 0 of warp 0 both times
  assert.equal(ownerAt(8), 2); // (0, 8): written by lane 8 of warp 0, read by its lane 0
  assert.equal(ownerAt(1), 3); // (0, 1): written by warp 0, read by warp 1
  const rows = await tableOf(mapOf(1, 1));
  assert.deepEqual([...new Set(owners.ownerPlanes(rows, "global"))], [2]);
  assert.equal(owners.ownerOf(await tableOf(mapOf(1, 2)), "global", 0, 8), 3);
});

test("popcount and ranges of warps", () => {
  assert.equal(heat.popcount(0xffffffff), 32);
  assert.equal(heat.popcount(0), 0);
  assert.equal(heat.ranges(0b1011), "0–1, 3");
  assert.equal(heat.ranges(-1), "0–31");
});

/** Numbers that differ by rounding alone. */
function near(value, expected) {
  assert.ok(Math.abs(value - expected) < 1e-12, `${value}, not ${expected}`);
}

test("the chart of benefits goes from what does not overlap to the least of both", () => {
  const b = report.payload.kernels.find((k) => k.id === 1).model.benefits;
  const chart = benefits.benefitChart(b);
  assert.deepEqual(chart.alone, { x: 9e-6, y: 5e-6 });
  near(chart.shifted.x, 5e-6);
  near(chart.shifted.y, 5e-6);
  assert.deepEqual(
    chart.steps.map((s) => s.benefit),
    ["serialisation", "parallelism", "floating_point", "memory_parallelism"],
  );
  for (const [i, step] of chart.steps.entries()) {
    assert.deepEqual(step.from, i > 0 ? chart.steps[i - 1].to : chart.shifted);
    near(step.from.x - step.to.x + step.from.y - step.to.y, b[step.benefit]);
  }
  near(chart.steps[3].to.x, chart.ideal.x);
  near(chart.steps[3].to.y, chart.ideal.y);
  near(chart.ideal.x, 2e-6);
  near(chart.ideal.y, 0.5e-6);
  assert.equal(chart.most, 9e-6);
});

test("benefits of nothing are no steps, and the ideal lies no higher than they lead", () => {
  const b = report.payload.kernels.find((k) => k.id === 1).model.benefits;
  // Few warps: floating-point arithmetic alone would take 4.5 of the 5 µs, all of it at full rate 2.
  const few = { ...b, serialisation: 0, parallelism: 3e-6, floating_point: 0, least_computation: 4.5e-6 };
  const chart = benefits.benefitChart({ ...few, memory_parallelism: 0, least_memory: 20e-6 });
  assert.deepEqual(
    chart.steps.map((s) => s.benefit),
    ["parallelism"],
  );
  near(chart.ideal.y, 2e-6);
  assert.equal(chart.ideal.x, 20e-6); // more than the 5 µs that do not overlap
  assert.equal(chart.most, 20e-6);
});

const kernelOf = (id) => report.payload.kernels.find((k) => k.id === id);
const measuredModel = { ...kernelOf(2).model, measured: 16e-6, efficiency: 0.625 };

test("a roofline tells what each level allows, and which allows least", () => {
  const chart = rooflines.rooflineChart(kernelOf(1).model);
  assert.deepEqual(
    chart.points.map((q) => [q.level.name, q.intensity, q.allowed / 1e12, q.reachable / 1e12]),
    [
      ["shared", 2, 60, 60],
      ["l1", 0.4, 10, 4],
      ["l2", 2.5, 12.5, 10],
      ["dram", 4, 16, 16],
    ],
  );
  assert.equal(chart.tightest.level.name, "l1");
  assert.equal(chart.computeAllowed, 20e12);
  near(chart.predicted / (28e6 / 12e-6), 1);
  assert.equal(chart.measured, undefined);
  assert.deepEqual([chart.words, chart.integer], ["FP32", false]);
  const measured = rooflines.rooflineChart(measuredModel);
  near(measured.measured / 75e9, 1);
  assert.ok(measured.integer);
});

test("arithmetic of two kinds runs side by side: the longer one is the limit", () => {
  const p = structuredClone(kernelOf(1).model);
  p.roofline.arithmetic.push({ name: "tensor", words: "tensor-core", operations: 84e6, ceiling: 40e12 });
  const chart = rooflines.rooflineChart(p);
  assert.equal(chart.operations, 112e6);
  near(chart.computeAllowed / (112e6 / (84e6 / 40e12)), 1);
  assert.equal(chart.words, "FP32 and tensor-core");
});

test("there is no roofline of nothing", () => {
  const p = kernelOf(1).model;
  assert.equal(rooflines.rooflineChart({ ...p, roofline: { ...p.roofline, arithmetic: [] } }), undefined);
  assert.equal(rooflines.rooflineChart({ ...p, roofline: { ...p.roofline, levels: [] } }), undefined);
});

test("the axes of a roofline are decades that hold all marks, roofs rise to the ceiling within them", () => {
  for (const p of [kernelOf(1).model, measuredModel]) {
    const c = rooflines.rooflineChart(p);
    const inside = (v, [least, most]) => v >= least && v <= most;
    for (const v of [...c.x, ...c.y]) near(Math.log10(v) % 1, 0);
    for (const q of c.points) {
      assert.ok(inside(q.intensity, c.x), `${q.intensity}`);
      const [from, to] = rooflines.roofOf(c, q.level);
      for (const end of [from, to]) {
        assert.ok(inside(end.x, c.x) && inside(end.y, c.y), `${end.x} ${end.y} in ${c.x} ${c.y}`);
        near(end.y / end.x / q.level.ceiling, 1);
      }
      assert.equal(to.y, c.compute[0].ceiling);
    }
    for (const v of [c.predicted, c.measured ?? c.predicted]) assert.ok(inside(v, c.y));
  }
  near(rooflines.onLog(10, [1, 100]), 0.5);
  assert.deepEqual(rooflines.ticks([0.1, 100]), [0.1, 1, 10, 100]);
});

test("a sentence says what the roofline shows", () => {
  const p = kernelOf(1).model;
  assert.equal(
    rooflineWords(rooflines.rooflineChart(p)).replaceAll("\u00a0", " "),
    "In L1 requests this kernel does 0.40 FP32 operations a byte; L1 requests allow at most 10 T operations a second" +
      " at that (4 T of accesses and a grid like its own). As predicted, it does 2.33 T: 23 %.",
  );
  assert.equal(
    rooflineWords(rooflines.rooflineChart(measuredModel)).replaceAll("\u00a0", " "),
    "At L2 this kernel does 0.10 integer operations a byte; L2 allows at most 500 G operations a second at that." +
      " As measured, it does 75 G: 15 %.",
  );
  const slow = structuredClone(p);
  slow.roofline.arithmetic[0].ceiling = 4e12;
  assert.match(
    rooflineWords(rooflines.rooflineChart(slow)),
    /that is no limit: its arithmetic is, of which the device does at most 4\u00a0T operations a second\. .*: 58\u00a0%/,
  );
  assert.equal(missingWords(p), "");
  const waits = { name: "latency", words: "latency: instructions that wait", seconds: 1 };
  assert.equal(
    missingWords({ ...p, bound: "latency", resources: [waits] }),
    " What bounds it, latency, is none of these limits.",
  );
});

test("occupancy in words: what limits, and what the next step takes", () => {
  const o = kernelOf(1).occupancy;
  const plain = (text) => text.replaceAll("\u00a0", " ");
  assert.equal(
    plain(occupancyWords(o)),
    "40 of 64 warps (63 %) are resident on a multiprocessor, in 5 blocks, limited by registers.",
  );
  assert.equal(
    stepWords(o),
    "With 40 instead of 48 registers a thread, 6 blocks instead of 5, 48 of 64 warps would be resident.",
  );
  const few = kernelOf(2).occupancy;
  assert.match(occupancyWords(few), /in 1 block, limited by the grid, .* Only 4 of 132 multiprocessors have a block at all\./);
  assert.match(stepWords(few), /^With 1,056 instead of 4 blocks in the grid, 8 blocks instead of 1, 64 of 64 warps/);
  const step = { ...o.step, of: "shared", now: 60000, wanted: 57344 };
  assert.match(stepWords({ ...o, step }), /^With 57,344 instead of 60,000 bytes of shared memory a block, /);
  assert.match(stepWords({ ...o, step: { ...step, of: "threads", blocks: 5 } }), /threads a block, 48 of 64 warps/);
  const { step: _, ...stuck } = { ...o, limits: [...o.limits, { name: "shared", words: "shared memory" }] };
  assert.match(occupancyWords(stuck), /limited by registers and shared memory\.$/);
  assert.equal(stepWords(stuck), "No change of one of them alone would let more in.");
  assert.match(occupancyWords({ ...stuck, warps: 64, limits: [] }), /in 5 blocks: as many as there can be\.$/);
  assert.equal(stepWords({ ...stuck, limits: [] }), "");
});

test("efficiency is told of what was measured; a launch that is hardly longer than its start says so", () => {
  const p = measuredModel;
  assert.equal(efficiencyWords(p), "efficiency: of what its bound, traffic to L2, allows");
  assert.match(efficiencyWords({ ...p, efficiency: 1.2 }), /it is faster than that$/);
  assert.equal(efficiencyWords(kernelOf(1).model), "");
  assert.equal(boundSentence(p), "Bound by traffic to L2.");
  assert.equal(
    boundSentence({ ...p, bound: "launch" }),
    "It takes hardly longer than its launch; after that, traffic to L2 takes longest. Larger data would tell more about it.",
  );
});

test("no saving is below none, and one of a small run is told at full size", () => {
  const worth = { seconds: 1e-6, low: -1e-6, high: 2e-6, of_kernel: 0.25, of_program: 0.1, of_full: 0.31 };
  const words = (change, gain = "full") =>
    savings.savingWords({ gain, gain_note: "It gains little." }, { kernels: [1], worth: { ...worth, ...change } })
      .replaceAll("\u00a0", " ");
  assert.equal(words({}), "Saves 25 % of its time, as predicted.");
  assert.equal(words({ small: true }), "Saves 31 % of its time where the grid fills the device.");
  assert.equal(words({ of_kernel: -0.05 }), "Saves nothing, as predicted.");
  assert.equal(words({}, "hidden"), "It gains little.");
  assert.equal(savings.savingWords({ gain: "full", worth }, { kernels: [1, 2] }).replaceAll("\u00a0", " "),
    "Saves 25 % of its time, as predicted."); // of its own finding, where the group is of several kernels
  assert.equal(savings.savingWords({ gain: "full" }, { kernels: [1] }), "");
  assert.equal(savings.savedPart(-0.5), 0);
  assert.equal(savings.savedAtFullSize({ ...worth, small: true, of_full: -0.1 }), undefined);
  assert.equal(savings.savedAtFullSize(worth), undefined);
});

test("rates in powers of 1,000, and small ratios with two digits that count", () => {
  const small = [[0, "0.00"], [0.0156, "0.016"], [0.099, "0.099"], [0.1, "0.10"], [2.5, "2.50"], [0.00012, "0.00012"]];
  for (const [n, text] of small) assert.equal(format.intensity(n), text);
  const cases = [[0.5, "0.5 "], [999, "999 "], [999.6, "1 k"], [4.332e12, "4.33 T"], [182e9, "182 G"]];
  for (const [n, text] of cases) assert.equal(format.rate(n).replaceAll("\u00a0", " "), text);
});

test("loads and stores of a line are rows of their own", () => {
  const rows = model.linesOf.get(1);
  assert.deepEqual(
    rows.map((r) => [r.op, r.now / r.requests, r.min / r.requests]),
    [
      ["load", 4, 4],
      ["store", 32, 4],
    ],
  );
});

test("the picture of a request has as many sectors as were counted", () => {
  for (const i of report.payload.instructions) {
    const lanes = layout.lanesOf(i, 4);
    if (i.space === "shared") {
      assert.equal(layout.wavefrontsOf(lanes).length, i.wavefronts / i.requests);
      assert.equal(layout.wavefrontsOf(layout.ideal(lanes)).length, i.wavefronts_min / i.requests);
    } else if (lanes.shape !== "uniform") {
      assert.equal(layout.sectorsOf(lanes).length, i.sectors / i.requests);
      assert.equal(layout.sectorsOf(layout.ideal(lanes)).length, i.sectors_min / i.requests);
    }
  }
});

test("an example of irregular addresses has the measured number of sectors", () => {
  for (let sectors = 1; sectors <= 32; sectors++) {
    const shapes = { uniform: 0, contiguous: 0, misaligned: 0, strided: 0, irregular: 10 };
    const i = { shapes, bytes: 4, requests: 10, active_lanes: 320, sectors: 10 * sectors, stride: 0 };
    assert.equal(layout.sectorsOf(layout.lanesOf(i, 4)).length, sectors);
  }
});

test("atomic updates of one word take a pass each, and are drawn so", () => {
  const shapes = { uniform: 10, contiguous: 0, misaligned: 0, strided: 0, irregular: 0 };
  const i = { shapes, bytes: 4, requests: 10, active_lanes: 320, stride: 0, space: "shared", sectors: 0 };
  const atomic = layout.lanesOf({ ...i, op: "atomic", wavefronts: 320 }, 4);
  assert.equal(layout.wavefrontsOf(atomic).length, 32);
  assert.equal(layout.wavefrontsOf(layout.combined(atomic)).length, 1);
  assert.equal(layout.wavefrontsOf(layout.lanesOf({ ...i, op: "load", wavefronts: 10 }, 4)).length, 1);
});

test("an example of collisions in shared memory has the measured number of passes", () => {
  const shapes = { uniform: 0, contiguous: 0, misaligned: 0, strided: 0, irregular: 10 };
  for (let passes = 1; passes <= 32; passes++)
    for (const op of ["load", "atomic"]) {
      const i = { shapes, bytes: 4, requests: 10, active_lanes: 320, sectors: 0, stride: 0, space: "shared", op };
      assert.equal(layout.wavefrontsOf(layout.lanesOf({ ...i, wavefronts: 10 * passes }, 4)).length, passes);
    }
});

test("a picture says that it is an example where no request is known to have been so", () => {
  const shapes = { uniform: 0, contiguous: 10, misaligned: 0, strided: 0, irregular: 0 };
  const i = { shapes, bytes: 4, requests: 10, sectors: 40, stride: 0, space: "global", op: "load" };
  assert.equal(layout.lanesOf({ ...i, active_lanes: 320 }, 4).example, false);
  assert.equal(layout.lanesOf({ ...i, active_lanes: 311 }, 4).example, true); // a mean
  const odd = { ...shapes, contiguous: 0, irregular: 10 };
  assert.equal(layout.lanesOf({ ...i, shapes: odd, active_lanes: 320 }, 4).example, true);
});

test("what one lane alone takes is not drawn where requests move several sectors", () => {
  const shapes = { uniform: 11, contiguous: 0, misaligned: 0, strided: 1, irregular: 9 };
  const i = { shapes, bytes: 4, requests: 21, active_lanes: 21 * 3, stride: 4, space: "global" };
  assert.equal(layout.lanesOf({ ...i, sectors: 60 }, 4).shape, "irregular");
  assert.equal(layout.sectorsOf(layout.lanesOf({ ...i, sectors: 60 }, 4)).length, 3);
  assert.equal(layout.lanesOf({ ...i, sectors: 25 }, 4).shape, "uniform");
  assert.equal(layout.lanesOf({ ...i, sectors: 60, space: "shared" }, 4).shape, "uniform");
});

test("wide accesses are served in parts of a warp", () => {
  const lanes = (bytes, step = bytes) => ({
    address: Array.from({ length: 32 }, (_, l) => l * step),
    bytes,
  });
  assert.equal(layout.wavefrontsOf(lanes(4)).length, 1);
  assert.equal(layout.wavefrontsOf(lanes(8)).length, 2);
  assert.equal(layout.wavefrontsOf(lanes(16)).length, 4);
  assert.equal(layout.wavefrontsOf(lanes(4, 8)).length, 2);
  assert.equal(layout.wavefrontsOf(lanes(4, 0)).length, 1); // broadcast
  assert.equal(layout.sectorsOf({ address: [30], bytes: 4 }).length, 2);
});

test("numbers read well", () => {
  assert.equal(format.count(9999), "9,999");
  assert.equal(format.count(1_048_576), "1.05M");
  assert.equal(format.percent(0.0004), "<\u00a00.1\u00a0%");
  assert.equal(format.bytes(1536), "1.50 KiB");
  assert.equal(format.middle("transpose_shared<float, 32>", 12), "transpos…32>");
  assert.equal(format.quantity(12.345, "%"), "12.3 %");
  assert.equal(format.dim([16, 16, 1]), "16 × 16");
});

test("the legend ends at the block's warps, and text on it can be read", () => {
  assert.deepEqual(scale.heatSteps(24), [1, 2, 4, 8, 16, 24]);
  assert.deepEqual(scale.heatSteps(1), [1]);
  assert.equal(scale.inkOn(scale.heatColor(1, 32)), "#ffffff");
  assert.equal(scale.inkOn(scale.heatColor(32, 32)), "#000000");
});

/** The contrast of two colours by WCAG 2. */
function contrast(a, b) {
  const luminance = (color) => {
    const [r, g, b_] = palettes.rgb(color).map((v) => {
      const c = v / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b_;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

test("numbers stand out from the cells' colours", () => {
  for (const warps of [1, 2, 8, 24, 32]) {
    for (let t = 1; t <= warps; t++) {
      const color = scale.heatColor(t, warps);
      const c = contrast(color, scale.inkOn(color));
      assert.ok(c >= 4.5, `${t} of ${warps}: ${c.toFixed(2)}`);
    }
  }
  for (const color of palettes.OWNER_COLORS.filter(Boolean)) {
    const c = contrast(color, scale.inkOn(color));
    assert.ok(c >= 4.5, `${color}: ${c.toFixed(2)}`);
  }
});

test("the scale rises evenly in lightness, whatever colours an eye can see", () => {
  const light = [1, 2, 4, 8, 16, 32].map((t) => contrast(scale.heatColor(t, 32), "#000000"));
  for (let i = 1; i < light.length; i++) assert.ok(light[i] > light[i - 1] * 1.2);
});

test("patterns of regions have the analysis' thresholds", () => {
  const file = readFileSync(join(viewer, "../src/analysis/thresholds.def"), "utf8");
  const defaults = new Map([...file.matchAll(/^X\((\w+), ([\d.]+),/gm)].map((m) => [m[1], Number(m[2])]));
  for (const name of ["hot_share", "sharing_ratio", "strided_words", "strided_share", "random_shapes", "map_share"]) {
    assert.equal(regions[name.toUpperCase()], defaults.get(name), name);
  }
});

test("a million sectors tell hot, falsely shared, strided and random ones apart", async () => {
  const parts = [];
  const map = quartersMap(parts, { object: 6, kernel: 4, launch: 4, space: "global", block: [0, 0, 0], warps: 32 });
  const table = await read.readMap(parts[0], map);
  const pixels = 400;
  const found = regions.regionsOf(table, 32, 4 * QUARTER, pixels);
  const expected = ["hot", "false-sharing", "strided", "random"];
  assert.deepEqual(
    [...found].map((r) => regions.REGIONS[r]),
    Array.from({ length: pixels }, (_, x) => expected[Math.floor(x / 100)]),
  );
  const lane = (values, summary) =>
    [50, 150, 250, 350].map((x) => laning.laneOf(layer(table), values, 4 * QUARTER, pixels, summary)[x]);
  const [sectors, words] = [laning.wholeSectors(layer(table)), laning.hottestWords(layer(table))];
  assert.deepEqual(lane(sectors, "max").slice(0, 3), [32, 32, 1]);
  assert.deepEqual(lane(words, "max").slice(0, 3), [32, 4, 1]);
  assert.deepEqual(lane(words, "mean").slice(0, 3), [32, 4, 1].map((t) => t * MEAN_STEPS));
  const random = [lane(sectors, "max")[3], lane(sectors, "mean")[3] / MEAN_STEPS];
  assert.ok(random[0] >= 6 && random[1] > 2 && random[1] < 4, random.join());
});

test("a few sectors are not called random, nor are untouched ones anything", async () => {
  const table = await tableOf(mapOf(1, 1));
  const found = regions.regionsOf(table, 32, 4096, 64);
  assert.deepEqual([...new Set(found)].map((r) => regions.REGIONS[r]), ["none", "untouched"]);
});

test("from afar means are of the sectors that were touched, as often as they come", async () => {
  const table = await tableOf(mapOf(4, 6));
  const grid = makeGrid([layer(table)], grids.LAYOUTS.words, true);
  const levels = pyramids.pyramid(grid, 4, "mean");
  assert.deepEqual(levels.map((l) => l.step), pyramids.pyramid(grid, 4).map((l) => l.step));
  for (const { step, cells, count } of levels) {
    for (const row of [0, Math.floor(count / 2), count - 1]) {
      let [sum, weight] = [0, 0];
      for (let r = row * step; r < Math.min(grid.count, (row + 1) * step); r++) {
        if (grid.gap[r]) continue;
        weight += grid.repeat[r] * grid.times[r];
        sum += grid.repeat[r] * grid.times[r] * grids.cellValue(grid, r, 0, 3);
      }
      const expected = sum > 0 ? Math.max(1, Math.round((sum / weight) * MEAN_STEPS)) : 0;
      assert.equal(cells[row * 9 + 3], expected, `${step} ${row}`);
    }
  }
});

test("colouring code loses no character", () => {
  const lines = ['  out[x] = "a//b"; // rest', "#pragma unroll", "a/*b*/c 0x1p-3f 'x'", "", '"open'];
  for (const line of lines) {
    assert.equal(code.highlight(line).map((t) => t.text).join(""), line);
  }
  const kinds = code.highlight("float x = 1; // c").map((t) => t.kind);
  assert.ok(["type", "number", "comment"].every((k) => kinds.includes(k)));
});

test("sketches of remedies are of patterns, and of whole sectors", () => {
  const patterns = readFileSync(join(viewer, "../src/analysis/patterns.def"), "utf8");
  const ids = [...patterns.matchAll(/^X\(\w+, "([\w-]+)"/gm)].map((m) => m[1]);
  const of = (pattern, name) => sketches.sketchOf({ pattern, remedies: [{ name }] });
  const narrow = of("uncoalesced", "widen-blocks");
  assert.match(narrow.after.code, /block\(32, 8\)/);
  assert.equal(sketches.sketchOf({ pattern: "uncoalesced" }), sketches.SKETCHES.uncoalesced);
  const others = ["align", "stage-in-shared-memory"].map((name) => ["misaligned", of("misaligned", name)]);
  const sums = ["divergent", of("divergent", "add-up-in-whole-warps")];
  const columns = ["strided", of("strided", "transpose-data")];
  const drawn = [...Object.entries(sketches.SKETCHES), ["uncoalesced", narrow], ...others, sums, columns];
  assert.ok(drawn.length >= 10);
  for (const [id, { before, after }] of drawn) {
    assert.ok(ids.includes(id));
    assert.notDeepEqual(before, after);
    for (const { picture } of [before, after]) {
      for (const row of picture.grid ?? []) assert.equal(row.split(" ").length, 8);
    }
  }
});

test("the glossary has the words of the page, without marks of Markdown", () => {
  const terms = glossary().flatMap(({ term }) => term.split(", "));
  for (const word of ["request", "sector", "wavefront", "needed", "avoidable", "traffic", "warp", "lane", "bank", "heat map", "sampled block", "estimate", "finding", "gain", "place", "hot line", "coverage"]) {
    assert.ok(terms.includes(word), word);
  }
  for (const { means } of glossary()) assert.match(means, /^[^`*|[\]]+$/);
});

test("search finds by all words, names first", () => {
  const index = searching.searchIndex(model);
  const names = (query) => searching.search(model, index, query, 20).map((h) => `${h.kind} ${h.name}`);
  assert.equal(names("d_A")[0], "object d_A (demo.cu:61)");
  assert.equal(names("gemm")[0], "kernel gemm<float>");
  assert.ok(names("false-sharing").every((n) => n.startsWith("finding")));
  assert.ok(names("demo.cu").includes("file demo.cu"));
  assert.deepEqual(names("gemm nowhere"), []);
  assert.equal(names("emo.cu:35")[0], "line sum += A[row * n + k] * B[k * n + col];");
  assert.ok(names("__global__").every((n) => n.startsWith("line")));
  assert.ok(names("main").some((n) => n.startsWith("object"))); // which it allocates
  assert.deepEqual(names("  "), []);
});

const courses = await load("src/data/course.ts", folder);
const whatif = await load("src/data/whatif.ts", folder);
const words = await load("src/data/coursewords.ts", folder);
const axes = await load("src/widgets/timeline/axis.ts", folder);

/** The fixture's course of memory, unpacked. */
async function fixtureCourse() {
  const { payload, parts } = fixture(fixtureFolder);
  const report = await decode.decode(encode(payload, parts));
  const m = modelModule.buildModel(report);
  return { m, d: await courses.loadCourse(m, report.payload.memory.courses[0]) };
}

const MIB = 2 ** 20;
const made = (d, ...hits) => Uint8Array.from({ length: d.hits.count }, (_, h) => (hits.includes(h) ? 1 : 0));

test("a course of memory comes unpacked as it was", async () => {
  const { d } = await fixtureCourse();
  assert.equal(d.ops.count, 24);
  assert.deepEqual([...d.lives.bytes].map((b) => b / MIB), [1, 1, 0.25, 0.25, 0.25, 2, 0.25]);
  assert.deepEqual(courses.accessesOf(d, 12), [{ object: 2, how: 1 }, { object: 3, how: 1 }, { object: 4, how: 2 }]);
  assert.deepEqual(courses.accessesOf(d, 0), []);
  const { start, op, how } = d.touches;
  assert.deepEqual([...op.subarray(start[0], start[1])], [7, 10, 11]);
  assert.deepEqual([...how.subarray(start[5], start[6])], [2, 2, 3]);
  assert.ok(d.ops.unknown(13) && !d.ops.unknown(12) && d.ops.timed);
  assert.deepEqual([...d.ops.start.subarray(0, 3)], [5, 15, 35]);
  assert.ok(Math.abs(d.ops.took[10] - 2e-6) < 1e-12 && d.ops.took[7] < 0);
});

test("changes of memory are replayed: none of two saves by itself, both together do", async () => {
  const { d } = await fixtureCourse();
  const peak = (...hits) => whatif.replay(d, 0, made(d, ...hits)).peak / MIB;
  assert.deepEqual([peak(), peak(0), peak(1), peak(0, 1), peak(2), peak(3)], [5, 5, 5, 4, 5, 5]);
  const now = whatif.replay(d, 0, whatif.nothing(d));
  assert.equal(now.moment, 6);
  assert.deepEqual([...now.bytes].map((b) => b / MIB), [1, 2, 2.25, 2.5, 2.75, 4.75, ...Array(12).fill(5), 4, 3, 2.75, 2.5, 2.25, 0.25]);
  const both = whatif.replay(d, 0, whatif.planned(d));
  assert.deepEqual([both.moment, both.bytes[11] / MIB, both.bytes[12] / MIB, both.bytes[15] / MIB], [15, 3, 2, 4]);
  assert.deepEqual(whatif.aliveAt(d, 0, 18), [5, 1, 2, 3, 4, 6]);
});

test("an object that reuses another's memory takes the larger size, as long as either lives", async () => {
  const d0 = await fixtureCourse();
  const { d } = d0;
  d.row.changes[3].effect = "reuse"; // particles, in the memory of `in`, say
  d.hits.other[3] = 0;
  const curve = whatif.replay(d, 0, made(d, 3));
  assert.equal(curve.bytes[0] / MIB, 2);
  assert.equal(curve.bytes[6] / MIB, 4);
  assert.equal(curve.bytes[22] / MIB, 2.5 - 0.25);
  d.row.changes[3].effect = "away";
  d.hits.from[3] = 7;
  d.hits.to[3] = 10;
  const away = whatif.replay(d, 0, made(d, 3));
  assert.deepEqual([7, 8, 9, 10].map((op) => away.bytes[op] / MIB), [5, 3, 3, 5]);
  d.row.changes[3].effect = "left-out";
  assert.equal(whatif.replay(d, 0, made(d, 3)).peak / MIB, 3);
  d.row.changes[3].effect = "smaller";
  d.hits.bytes[3] = MIB / 2;
  assert.equal(whatif.replay(d, 0, made(d, 3)).peak / MIB, 3.5);
  assert.equal(words.hitWords(d0.m, d, 3), "512 KiB of its 2 MiB would be enough.");
});

test("a change with several hits is ticked, ticked in part, and unticked", async () => {
  const { d } = await fixtureCourse();
  d.row.changes[0].count = 2;
  assert.equal(whatif.madeOf(d, 0, made(d, 1)), "some");
  const all = whatif.toggled(d, 0, made(d, 1));
  assert.deepEqual([...all], [1, 1, 0, 0]);
  assert.equal(whatif.madeOf(d, 0, all), "all");
  assert.deepEqual([...whatif.toggled(d, 0, all)], [0, 0, 0, 0]);
});

test("what was found of an object is said with its calls", async () => {
  const { m, d } = await fixtureCourse();
  assert.equal(words.hitWords(m, d, 0), "Allocated 8 calls before its first use, the set at demo.cu:68.");
  assert.match(words.hitWords(m, d, 1), /^Kept for 5 calls after its last use, the launch of \S+, 3 times at demo\.cu:67\.$/);
  assert.match(words.hitWords(m, d, 2), /^Not freed after its last use, the launch of /);
  assert.equal(words.opPlace(m, d, 23), "");
});

test("the axis zooms where the pointer is, and stays within its ends", () => {
  const axis = new axes.Axis(axes.callPlaces(1000));
  axis.zoomBy(4, 0.25);
  const { from, to } = axis.window.value;
  assert.ok(Math.abs(from + 0.25 * (to - from) - 250) < 1e-6);
  axis.panBy(-100);
  assert.equal(axis.window.value.from, 0);
  axis.reveal(900);
  assert.ok(axis.window.value.from < 900 && axis.window.value.to > 901);
  axis.zoomBy(100);
  assert.ok(Math.abs(axis.window.value.to - axis.window.value.from - 4) < 1e-9);
  axis.zoomBy(-1000);
  assert.deepEqual(axis.window.value, { from: 0, to: 1000 });
  assert.deepEqual([axis.opAt(-5), axis.opAt(0.5), axis.opAt(999.9), axis.opAt(2000)], [0, 0, 999, 999]);
  const times = new axes.Axis(axes.timePlaces(Float64Array.of(1e6, 1e6, 3e6)));
  assert.deepEqual([times.opAt(0), times.opAt(1.9), times.opAt(2)], [1, 1, 2]);
});

test("ticks are round numbers within what is in sight", () => {
  assert.deepEqual(axes.ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(axes.ticks(3, 5, 20, true), [3, 4, 5]);
  assert.deepEqual(axes.byteTicks(5 * MIB, 4).map((b) => b / MIB), [0, 2, 4]);
});

const tile = await (async () => {
  const { payload, parts } = fixture(fixtureFolder);
  const row = payload.phases[0];
  return phasing.phaseData(await decode.unpack(parts[row.part - 1]), row);
})();

test("phases tell at each moment which run a word is in", () => {
  assert.deepEqual([...tile.start], [0, 32, 1056, 1089, 1601]);
  const first = phasing.runsAt(tile, 0);
  assert.deepEqual([first[0], first[31], first[32], first[1023]], [0, 0, 1, 31]);
  const last = phasing.runsAt(tile, 3); // half of the words are as phase 2 left them
  assert.ok(phasing.isOf(tile, 3, last[511]) && !phasing.isOf(tile, 3, last[512]));
  assert.equal(tile.writers[last[512]], 2 ** 16);
});

test("a word's ranges begin where it is filled, and those that are alike are told of together", () => {
  const own = phasing.rangesOf(tile, 0);
  assert.deepEqual(
    own.map((r) => [r.from, r.to, phasing.ORIGINS[r.origin].name, r.accesses, r.others]),
    [
      [0, 1, "loaded", 1, 0],
      [2, 3, "computed", 1, 1],
    ],
  );
  assert.equal(phasing.grouped(own).length, 2);
  const alike = phasing.grouped(phasing.rangesOf(tile, 33));
  assert.deepEqual(alike.map((r) => [r.from, r.to, r.alike, r.warps]), [[0, 3, 2, "1"]]);
  const unread = phasing.grouped(phasing.rangesOf(tile, 1023));
  assert.deepEqual(unread.map((r) => [r.from, r.to, r.accesses]), [[0, 1, 1], [2, 2, 0]]);
});

test("a phase's sum counts words once for each line", () => {
  const all = phasing.sumOf(tile, 0, (pc) => String(pc));
  assert.deepEqual([all.stored, all.read, all.stores, all.loads], [1024, 0, 1024, 0]);
  assert.equal(all.writers >>> 0, 0xffffffff);
  const two = { ...tile, row: { ...tile.row, pcsets: [[3, 7], [8]] } };
  assert.deepEqual(phasing.sumOf(two, 0, () => "one line").lines, [{ pc: 3, words: 1024 }]);
  assert.deepEqual(phasing.sumOf(two, 0, String).lines, [{ pc: 3, words: 1024 }, { pc: 7, words: 1024 }]);
});

test("words lie in their banks, and of a large array several share a cell", () => {
  const small = banking.layoutOf(64, 4);
  assert.deepEqual([small.rows, small.joined], [3, 1]);
  assert.deepEqual(banking.wordsOf(small, 0, 4), [0]);
  assert.deepEqual(banking.wordsOf(small, 0, 3), []); // before the array
  assert.deepEqual(banking.wordsOf(small, 2, 3), [63]);
  assert.deepEqual(banking.wordsOf(small, 2, 4), []); // behind it
  const large = banking.layoutOf(58_368, 0); // 228 KiB
  assert.ok(large.rows <= 64);
  assert.deepEqual(banking.wordsOf(large, 1, 5).length, large.joined);
});

test("kernels of one template are one row, with what they do together", () => {
  const kernel = (id, more) => ({ ...report.payload.kernels[0], id, ...more });
  const rows = families([
    kernel(1, { launches: 2, sectors: 5, family: "f", instance: "int" }),
    kernel(2, { launches: 1, sectors: 7 }),
    kernel(3, { launches: 3, sectors: 9, family: "f", instance: "float", lacks: true }),
  ]);
  assert.deepEqual(
    rows.map((r) => [r.id, r.members.map((k) => k.id), r.launches, r.sectors, r.lacks ?? false]),
    [
      [1, [1, 3], 5, 14, true],
      [2, [2], 1, 7, false],
    ],
  );
  assert.deepEqual(
    families([kernel(1, { device_seconds: 2 }), kernel(2, {})].map((k) => ({ ...k, family: "f" }))).map(
      (r) => r.device_seconds,
    ),
    [2 + (report.payload.kernels[0].device_seconds ?? 0)],
  );
});

test("ranges within one that is closed are not shown", () => {
  const ranges = [{}, { parent: 0 }, { parent: 1 }, {}, { parent: 3 }];
  assert.deepEqual(shownRanges(ranges, new Set()), [0, 3]);
  assert.deepEqual(shownRanges(ranges, new Set([0])), [0, 1, 3]);
  assert.deepEqual(shownRanges(ranges, new Set([1, 3])), [0, 3, 4]);
  assert.deepEqual(shownRanges(ranges, new Set([0, 1, 3])), [0, 1, 2, 3, 4]);
});
