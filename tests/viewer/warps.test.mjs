// How the page compares warps, without a browser: steps, operations, alignment, differences, tiles.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fixtureFolder, load, scratch } from "../../viewer/test/tools.mjs";

const folder = scratch();
const { stepsOf, Unfolded, warpsOf } = await load("src/data/explore/steps.ts", folder);
const { operationsOf } = await load("src/data/explore/operations.ts", folder);
const aligns = await load("src/data/explore/align.ts", folder);
const { align } = aligns;
const costPaths = await load("src/data/explore/cost.ts", folder);
const { Prices } = costPaths;
const { PathMaker } = await load("src/data/explore/operations.ts", folder);
const paths = await load("src/data/explore/path.ts", folder);
const { apart, curveOf, drawCurve, meanOf, PLANES, PoolMaker, Segments, Sums } = await load("src/data/explore/difference.ts", folder);
const tiles = await load("src/data/explore/tiles.ts", folder);
const tables = await load("src/data/explore/table.ts", folder);
const { Engine } = await load("src/data/explore/engine.ts", folder);
const asks = await load("src/data/explore/ask.ts", folder);
const { commonText } = await load("src/data/explore/alike.ts", folder);
const serving = await load("src/data/explore/served.ts", folder);
const { fixture } = await load("test/fixture/index.ts", folder);

const ALL = 0xffffffff;

/** Numbers that look random and are the same in every run. */
function randoms(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % n;
  };
}

/* ---- pages ---- */

test("steps are decoded from the bytes that the headers describe", () => {
  // Three rounds of an entry at pc 4 and an access at pc 6 that moves by 128 bytes; then a barrier at pc 9.
  const bytes = [5, 3, 0, 8, 3, 1, 0, 4, 0, 3, 0, 6, 2, 0, 0, 0, 9, 3, 2, 0, 0x80, 2, 9];
  const steps = stepsOf(Uint8Array.from(bytes), 7);
  assert.deepEqual(
    steps.map((s) => [s.kind, s.pc, s.mask, s.slot, ...s.offsets.slice(0, 2)]),
    [
      ...[0, 128, 256].flatMap((at) => [["entry", 4, 3, -1], ["access", 6, 3, 1, at, at + 4]]),
      ["barrier", 9, 1, -1],
    ],
  );
  // Lanes 0, 1, 3 at 128, 120, 136.
  const [odd] = stepsOf(Uint8Array.from([0, 10, 11, 3, 0, 0x80, 2, 0, 15, 32]), 1);
  assert.deepEqual(odd.offsets.slice(0, 4), [128, 120, Number.NaN, 136]);
  for (const n of [6, 8]) assert.throws(() => stepsOf(Uint8Array.from(bytes), n), /cannot be read/);
  for (let n = 0; n < bytes.length; n++)
    assert.throws(() => stepsOf(Uint8Array.from(bytes.slice(0, n)), 7), /cannot be read/);
  for (const [at, byte] of [[0, 1], [1, 1], [1, 4], [4, 0], [10, 6]])
    assert.throws(() => stepsOf(Uint8Array.from(bytes.with(at, byte)), 7), /cannot be read/);
});

test("warps are decoded from the bytes that the headers describe", () => {
  const seen = [];
  const bytes = Uint8Array.from([0, 0, 0, 0, 0, 1, 0x80, 2, 0, 3, 0, 127, 0]);
  warpsOf(bytes, 2, (block, number, begins) => seen.push([block, number, [...begins]]));
  assert.deepEqual(seen, [
    [0, 0, [0, 0]],
    [0, 1, [128, 0]],
    [3, 0, [64, 0]],
  ]);
});

/* ---- operations ---- */

const entry = (pc, mask = ALL) => ({ kind: "entry", pc, mask, slot: -1, offsets: [] });
const barrier = (pc) => ({ kind: "barrier", pc, mask: ALL, slot: -1, offsets: [] });
const access = (pc, mask = ALL, slot = 0, stride = 4) => ({
  kind: "access",
  pc,
  mask,
  slot,
  offsets: [...Array(32).keys()].map((l) => ((mask >>> l) & 1 ? l * stride : Number.NaN)),
});
const brief = (operations) =>
  operations.map((o) => `${o.pc}${o.accesses.length ? "a".repeat(o.accesses.length) : ""}${o.barrier ? "b" : ""}`).join(" ");

test("an entry stands for the instructions of its basic block", () => {
  const blocks = new Map([
    [0, 3],
    [3, 2],
  ]);
  const steps = [entry(0), access(1), entry(3, 7), barrier(4), access(3, 3)];
  const operations = operationsOf(steps, blocks);
  assert.equal(brief(operations), "0 1a 2 3a 4b");
  assert.deepEqual(operations.map((o) => o.mask), [ALL, ALL, ALL, 7, 7]);
});

test("lanes that have parted run a block to its end", () => {
  const blocks = new Map([[5, 2]]);
  const steps = [entry(5, 0x0f), access(6, 0x0f), entry(5, 0xf0), access(6, 0xf0)];
  const operations = operationsOf(steps, blocks);
  assert.equal(brief(operations), "5 6a 5 6a");
  assert.deepEqual(operations.map((o) => o.mask), [0x0f, 0x0f, 0xf0, 0xf0]);
});

test("without entries requests are the operations, of several objects one", () => {
  const steps = [access(4, 0x3), access(4, 0xc, 1), access(4, 0x3), barrier(9)];
  assert.equal(brief(operationsOf(steps, new Map())), "4aa 4a 9b");
});

/* ---- alignment ---- */

/** The length of a longest common subsequence, by the table that everybody knows. */
function longest(a, b) {
  const t = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]);
  return t[a.length][b.length];
}

/** Partners of the first list in the second; -1: none. Checks that the runs are all of both, in order. */
function partners(a, b, runs) {
  const match = new Array(a.length).fill(-1);
  let [i, j] = [0, 0];
  for (const r of runs) {
    assert.ok(r.a === i && r.b === j && r.na + r.nb > 0);
    assert.ok(r.na === r.nb || r.na === 0 || r.nb === 0);
    if (r.na === r.nb)
      for (let k = 0; k < r.na; k++) {
        assert.equal(a[i + k], b[j + k]);
        match[i + k] = j + k;
      }
    [i, j] = [i + r.na, j + r.nb];
  }
  assert.ok(i === a.length && j === b.length);
  return match;
}

test("alignments are as long as they can be, and in order", () => {
  const random = randoms(5);
  for (let round = 0; round < 300; round++) {
    const list = () => Uint32Array.from({ length: random(30) }, () => random(1 + (round % 6)));
    const [a, b] = [list(), list()];
    const match = partners(a, b, align(a, b));
    assert.equal(match.filter((j) => j >= 0).length, longest(a, b), `${a} / ${b}`);
  }
});

test("an iteration more does not set what follows against something else", () => {
  const loop = (n) => [1, ...Array.from({ length: n }, () => [2, 3, 4]).flat(), 5, 6];
  const [a, b] = [Uint32Array.from(loop(3)), Uint32Array.from(loop(4))];
  const match = partners(a, b, align(a, b));
  assert.ok(match.every((j) => j >= 0));
  assert.equal(match[10], 13);
});

test("very unlike lists are aligned, if not as well", () => {
  const random = randoms(9);
  const a = Uint32Array.from({ length: 6000 }, () => random(4000));
  const b = Uint32Array.from({ length: 6000 }, () => random(4000));
  assert.ok(partners(a, b, align(a, b)).filter((j) => j >= 0).length > 50);
});

/* ---- differences ---- */

const ACCESSES = new Map([
  ["1 global", { op: "load", bytes: 4 }],
  ["2 shared", { op: "load", bytes: 4 }],
]);
const PLACE = {
  slots: [
    { space: "global", object: 1 },
    { space: "shared", object: 2 },
  ],
  begins: [0, 0],
  bases: new Map(),
};
const table = new paths.VisitTable();
const prices = new Prices(ACCESSES, "9.0");

/** The path of such steps; an access costs what its lanes do. */
function pathOf(steps, blocks = new Map()) {
  const maker = new PathMaker(blocks, table);
  for (const s of steps) {
    if (s.kind === "entry") maker.enter(s.pc, s.mask);
    else if (s.kind === "barrier") maker.barrier(s.pc, s.mask);
    else maker.access(s.pc, s.mask, s.slot, s.slot === 1, prices.of(s, PLACE, 0, undefined, () => s.offsets));
  }
  return maker.done();
}

/** Its visits, unfolded. */
const visitsOf = (path) =>
  [...path.times].flatMap((n, part) =>
    Array.from({ length: n }, () => [...path.list.subarray(path.first[part], path.first[part + 1])]).flat(),
  ).map((number) => path.visits[number]);

const sumTo = (curve, plane, operations) => new Sums(curve, plane).to(operations);

/** By operation, and the first and last sum. */
const sums = (curve, plane) => Array.from({ length: curve.ops + 1 }, (_, i) => sumTo(curve, plane, i));

test("costs of requests are those of the architecture", () => {
  const visits = visitsOf(pathOf([access(1), access(1, ALL, 0, 32), access(2, ALL, 1, 128), barrier(3)]));
  assert.deepEqual(visits.map((v) => v.requests[0]?.sizes.length), [4, 32, 0, undefined]);
  assert.ok(visits.every((v) => v.requests.every((r) => r.sizes.every((size) => size === 32))));
  assert.deepEqual(visits.map((v) => v.requests[0]?.conflicts), [0, 0, 31, undefined]);
  assert.deepEqual(visits.map((v) => v.barrier), [0, 0, 0, 1]);
});

test("a request costs the same wherever it is moved to by 256 bytes, and else what it does there", () => {
  const steps = [0, 4, 260, 256, -252].map((first) => ({ ...access(1), offsets: access(1).offsets.map((o) => o + first) }));
  const cost = (first, step, own) => own.of(step, PLACE, first, 4, () => step.offsets).sizes.length;
  const own = new Prices(ACCESSES, "9.0");
  assert.deepEqual([0, 4, 260, 256, -252].map((first, i) => cost(first, steps[i], own)), [4, 5, 5, 4, 5]);
});

test("paths are folded, and unfold to what they were", () => {
  const random = randoms(21);
  const blocks = new Map([[0, 2], [2, 3], [5, 4]]);
  for (let round = 0; round < 200; round++) {
    const steps = [];
    while (steps.length < 120) {
      const body = Array.from({ length: 1 + random(4) }, () => entry([0, 2, 5][random(3)], random(5) ? ALL : 1 + random(9)));
      for (let n = random(3) ? 1 : 1 + random(30); n > 0; n--) steps.push(...body);
    }
    const path = pathOf(steps, blocks);
    assert.deepEqual(visitsOf(path).map((v) => [v.pc, v.mask]), steps.map((s) => [s.pc, s.mask]));
    assert.equal(paths.operationCount(path), operationsOf(steps, blocks).length);
    assert.equal(paths.lengthOf(path), steps.length);
  }
  assert.equal(pathOf(Array.from({ length: 9000 }, (_, i) => entry(i % 3 ? 2 : 0)), blocks).list.length, 3);
});

test("the difference of two operations, by hand", () => {
  const a = pathOf([access(1), access(2, 0xff, 1, 4)]);
  const b = pathOf([access(1, 0xffff, 0, 32), access(2, ALL, 1, 128)]);
  const [v, w] = [visitsOf(a), visitsOf(b)].map((visits) => visits.map((x) => x.requests[0]));
  // 4 sectors against 16: 12 * 32 bytes; 16 lanes
  assert.deepEqual(apart(ALL, v[0], 0xffff, w[0]), { threads: 0.5, shared: 0, global: 384 / 1024 });
  // 24 lanes; no conflict against 31 passes more
  assert.deepEqual(apart(0xff, v[1], ALL, w[1]), { threads: 0.75, shared: 31 / 8, global: 0 });
  const curve = curveOf(a, b);
  assert.deepEqual(sums(curve, "total"), [0, 0.875, 1.875]); // the second is at most 1
  assert.deepEqual(sums(curve, "shared"), [0, 0, 1]);
});

test("a warp does not differ from itself, half active or not", () => {
  const a = pathOf([access(1, 0x55555555), access(2, 0xffff, 1, 64)]);
  assert.deepEqual(sums(curveOf(a, a), "total"), [0, 0, 0]);
});

test("what only one of them executes is a difference of 1", () => {
  const [a, b] = [pathOf([access(1), barrier(3), access(2, ALL, 1)]), pathOf([access(1), access(2, ALL, 1)])];
  assert.deepEqual(sums(curveOf(a, b), "total"), [0, 0, 1, 1]);
  assert.deepEqual(sums(curveOf(b, a), "total"), [0, 0, 1]); // where it goes on without it
  const [long, short] = [pathOf([access(1), access(2, ALL, 1)]), pathOf([access(1)])];
  assert.deepEqual(sums(curveOf(short, long), "total"), [0, 1]); // where it has ended
  assert.deepEqual(sums(curveOf(short, short), "total"), [0, 0]);
});

test("means of bundles", () => {
  const curve = curveOf(pathOf([access(1), barrier(3), barrier(4)]), pathOf([barrier(4)]));
  assert.equal(meanOf(curve, "total", 0, 2), 1);
  assert.equal(meanOf(curve, "total", 1, 9), 0.5);
  assert.ok(Number.isNaN(meanOf(curve, "total", 3, 5)));
});

test("rounds of a loop that cost the same are compared once", () => {
  const blocks = new Map([[0, 7], [7, 23], [30, 4]]);
  const loop = (rounds) => pathOf([entry(0), ...Array.from({ length: rounds }, () => entry(7)), entry(30, 1), entry(30)], blocks);
  const than = loop(2056);
  const pool = new PoolMaker();
  let work = 0;
  for (let rounds = 8; rounds <= 4096; rounds += 8) {
    const path = loop(rounds);
    const curve = drawCurve(pool, new Segments(), path, than);
    assert.equal(curve.ops, 7 + 23 * rounds + 8);
    work += curve.work;
  }
  assert.ok(work < 20_000, `${work}`); // of 24 million operations
  const curve = curveOf(loop(2060), than);
  assert.deepEqual([2055, 2056, 2057].map((round) => meanOf(curve, "total", 7 + 23 * round, 7 + 23 * (round + 1))), [0, 1, 1]);
  assert.equal(sumTo(curve, "total", curve.ops), 4 * 23);
});

/* ---- against the C side ---- */

const writer = process.env.WARPLENS_COMPARISONS ?? "";

test("warps differ as the C side says", { skip: !existsSync(writer) }, () => {
  const text = execFileSync(writer, ["200"], { maxBuffer: 1 << 30, encoding: "utf8" });
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, 200);
  let [folded, alone, apartInSome] = [0, 0, 0];
  for (const { warps, blocks, accesses, bases, runs, total, threads, shared, global } of lines) {
    const place = { slots: PLACE.slots, begins: [0, 0], bases: new Map(bases) };
    const own = new Prices(new Map(accesses), "9.0");
    const [a, b] = warps.map(({ steps, page }) => {
      const bytes = Uint8Array.from(Buffer.from(page, "hex"));
      const path = costPaths.pathOf([new Unfolded(bytes, steps)], place, own, new Map(blocks), table);
      assert.equal(paths.operationCount(path), operationsOf(stepsOf(bytes, steps), new Map(blocks), place.slots).length);
      folded += path.times.some((n) => n > 1);
      return path;
    });
    assert.deepEqual(aligns.alignPaths(a, b).map((r) => [r.a, r.b, r.na, r.nb]), runs);
    const curve = curveOf(a, b);
    alone += runs.some(([, , na, nb]) => na === 0 && nb > 0);
    apartInSome += total.some((d) => d > 0);
    for (const [plane, wanted] of Object.entries({ total, threads, shared, global })) {
      const got = sums(curve, plane);
      assert.equal(curve.ops, wanted.length);
      let sum = 0;
      for (const [i, d] of wanted.entries()) assert.equal(got[i + 1], (sum += d), `${plane} ${i}`);
    }
  }
  assert.ok(folded > 200 && alone > 100 && apartInSome > 180, `${folded} ${alone} ${apartInSome}`);
});

/* ---- a whole launch ---- */

const report = fixture(fixtureFolder);
const row = report.payload.explore[0];
const part = (number) => report.parts[number - 1];
const source = {
  row,
  columns: part(row.part),
  members: part(row.members),
  pages: row.pages.map(part),
  accesses: report.payload.instructions
    .filter((i) => i.kernel === row.kernel)
    .map((i) => [`${i.pc} ${i.space}`, { op: i.op, bytes: i.bytes }]),
  bases: [],
};

test("warps of a launch, by block and number, with their kinds", async () => {
  const { warps, kinds, table } = await tables.openLaunch(row, source.columns, source.members);
  assert.equal(warps.count, 2048);
  for (let i = 0; i < warps.count; i++)
    assert.deepEqual([warps.block[i], warps.number[i]], [Math.floor(i / 8), i % 8]);
  assert.equal(table.sequences.length, 4);
  assert.equal(kinds.reduce((n, k) => n + k.warps, 0), 2048);
  // The out pointer moves by 64 bytes a warp: each sequence is two kinds, but for those that every other warp alone takes.
  const of = (block, warp) => warps.kind[block * 8 + warp];
  assert.notEqual(of(0, 0), of(0, 1));
  assert.equal(of(0, 0), of(0, 2));
  assert.equal(of(0, 0), of(1, 0));
  assert.notEqual(of(0, 0), of(5, 0));
});

/** The curve of a pair, as the worker's message brings it. */
async function curveOfPair(engine, pair) {
  const { curves } = await asks.reply(engine, { curves: [pair], arch: "9.0", room: 1e9 });
  return asks.unpacked(structuredClone(curves))[0];
}

test("a block with more passes differs where it has more, and nowhere else", async () => {
  const engine = await Engine.open(source);
  const kindOf = (block, warp) => engine.opened.warps.kind[block * 8 + warp];
  const curve = await curveOfPair(engine, { kind: kindOf(5, 0), than: kindOf(0, 0) });
  assert.equal(curve.ops, 9 + 9 * 7);
  const total = sums(curve, "total");
  const differing = [...Array(curve.ops).keys()].filter((i) => total[i + 1] > total[i]);
  assert.equal(differing.length, 3 * 7); // three passes of seven instructions
  const same = await curveOfPair(engine, { kind: kindOf(1, 2), than: kindOf(0, 0) });
  assert.equal(sumTo(same, "total", same.ops), 0);
});

test("curves for which there is no room are left out, and so are paths that nobody asks for", async () => {
  const engine = await Engine.open(source);
  const n = engine.opened.kinds.length;
  const curves = [...Array(n).keys()].map((kind) => ({ kind, than: 0 }));
  const ask = async (room) => {
    const reply = await asks.reply(engine, { curves, arch: "9.0", room });
    return asks.unpacked(reply.curves).map((c) => c && PLANES.map((plane) => sums(c, plane)));
  };
  const whole = await ask(Number.MAX_SAFE_INTEGER);
  assert.ok(n > 2 && whole.every((planes) => planes[0].length > 1));
  assert.deepEqual(await ask(1), whole.map((curve, i) => (i < 1 ? curve : undefined))); // it still begins in it
  assert.deepEqual(await ask(0), whole.map(() => undefined));
  const { paths: p } = await asks.reply(engine, { paths: [1] });
  const found = [];
  for (const kind of [0, 1, 2])
    asks.eachVisit(p, kind, 10, 20, (visit, at) => found.push([kind, p.pc[visit], at]));
  assert.deepEqual(found, [[1, 30, 9], [1, 30, 16]]);
});

/* ---- tiles ---- */

test("blocks and their places", () => {
  const grid = [4, 3, 2];
  for (let block = 0; block < 24; block++)
    assert.equal(tiles.indexOf(tiles.placeOf(block, grid), grid), block);
  assert.deepEqual(tiles.placeOf(13, grid), [1, 0, 1]);
});

test("tiles lie as the grid does, are wrapped, or are those that are known", () => {
  const columns = () => 10;
  const all = (n) => [...Array(n).keys()];
  const cube = tiles.layoutOf([4, 3, 2], all(24), columns);
  assert.deepEqual([cube.how, cube.columns, cube.rows], ["grid", 4, 7]); // a row between the slices
  const line = tiles.layoutOf([95, 1, 1], all(95), columns);
  assert.deepEqual([line.how, line.columns, line.rows], ["wrapped", 10, 10]);
  assert.equal(line.blockOf(95), undefined);
  const few = tiles.layoutOf([100, 100, 1], [3, 77, 5000], columns);
  assert.deepEqual([few.how, few.columns, few.rows], ["known", 3, 1]);
  for (const layout of [cube, line, few])
    for (let tile = 0; tile < layout.columns * layout.rows; tile++) {
      const block = layout.blockOf(tile);
      if (block !== undefined) assert.equal(layout.tileOf(block), tile);
    }
  assert.equal(few.tileOf(4), undefined);
});

test("sizes of bundles are 1, 2, 5, 10 ...", () => {
  assert.deepEqual([1, 24, 30, 100, 1000, 12345].map((n) => tiles.bundleFor(n, 24)), [1, 1, 2, 5, 50, 1000]);
});

const curveFrom = (values) => {
  const total = new Float64Array(values.length + 1);
  for (const [i, v] of values.entries()) total[i + 1] = total[i] + v;
  const pool = { total, from: Uint32Array.of(0, values.length + 1) };
  return { ops: values.length, pool, start: [0], piece: [0], before: { total: [0] }, tail: 0 };
};

/** The codes of a tile as `draw` puts them, at 0, 0. */
function drawn(shape, curves, pairs, size = 64) {
  const to = new Uint32Array(size * size).fill(tiles.GAP);
  const colors = Uint32Array.from({ length: tiles.CODES }, (_, code) => code);
  new tiles.TileRaster(shape, curves).draw(pairs, 0, 0, size, to, colors);
  return (x, y) => to[y * size + x];
}

test("a tile's pixels are the means of its cells", () => {
  const random = randoms(3);
  const curves = [24, 17, 24].map((n) => curveFrom(Array.from({ length: n }, () => random(101) / 100)));
  const pairs = [0, 1, 2, 0, -1, -2, 1, 2];
  const mean = (pair, from, to) => meanOf(curves[pair], "total", from, to);
  // cells of 5 x 4 pixels: one pixel of them is a gap
  let at = drawn({ warps: 8, bundles: 6, bundle: 4, width: 40, height: 24 }, curves, pairs);
  for (let w = 0; w < 8; w++)
    for (let b = 0; b < 6; b++) {
      const value = pairs[w] < 0 ? undefined : mean(pairs[w], 4 * b, 4 * b + 4);
      const other = pairs[w] === -2 ? tiles.ALONE : tiles.UNKNOWN;
      const code = value === undefined ? other : Number.isNaN(value) ? tiles.ENDED : tiles.differenceCode(value);
      assert.equal(at(5 * w + 1, 4 * b + 1), code, `${w} ${b}`);
      assert.equal(at(5 * w + 4, 4 * b), tiles.GAP);
    }
  // cells of a quarter of a pixel: each is the mean of those that have a value
  at = drawn({ warps: 8, bundles: 6, bundle: 4, width: 4, height: 3 }, curves, pairs);
  for (let x = 0; x < 4; x++)
    for (let y = 0; y < 3; y++) {
      const values = [pairs[2 * x], pairs[2 * x + 1]]
        .filter((pair) => pair >= 0)
        .map((pair) => Math.fround(mean(pair, 8 * y, 8 * y + 8)))
        .filter((v) => !Number.isNaN(v));
      const sum = values.reduce((s, v) => s + v, 0);
      if (values.length > 0) assert.equal(at(x, y), tiles.differenceCode(sum / values.length));
    }
});

test("a request is what its instruction's opcode says", async () => {
  const { accessOf } = await load("src/data/explore/insight.ts", folder);
  const { requestOf } = await load("src/data/explore/cost.ts", folder);
  const known = { pc: 7, op: "load", space: "shared", bytes: 16, text: "@%p1 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {...};" };
  const step = { kind: "access", pc: 7, mask: 3, slot: 0, offsets: [0, 16, ...Array(30).fill(Number.NaN)] };
  const place = { slots: [{ space: "shared", object: 2 }], begins: [64], bases: new Map([[2, 1024]]) };
  const request = requestOf(step, place, new Map([["7 shared", accessOf(known)]]));
  assert.deepEqual([request.matrix, request.meeting, request.bytes, request.addresses[1]], [true, false, 16, 1104]);
  const plain = requestOf(step, place, new Map());
  assert.deepEqual([plain.op, plain.bytes, plain.matrix], ["load", 4, undefined]);
  assert.equal(accessOf({ ...known, text: "mbarrier.arrive.shared.b64 %rd1, [%r1];" }).meeting, true);
});

test("warps without a curve are not compared, and none for the mean of those beside them", () => {
  const curves = [curveFrom([0.5, 0.5]), undefined];
  const at = drawn({ warps: 2, bundles: 1, bundle: 2, width: 10, height: 4 }, curves, [0, 1]);
  assert.deepEqual([at(1, 1), at(6, 1)], [tiles.differenceCode(0.5), tiles.ALONE]);
  const narrow = drawn({ warps: 2, bundles: 1, bundle: 2, width: 1, height: 1 }, curves, [0, 1]);
  assert.equal(narrow(0, 0), tiles.differenceCode(0.5));
});

test("requests are counted as they are served, on every row of the table", async () => {
  const { ARCHS } = await load("src/data/explore/archs.ts", folder);
  const { serve } = await load("src/data/explore/transactions.ts", folder);
  const { moved } = await load("src/data/explore/moved.ts", folder);
  const random = randoms(17);
  for (let round = 0; round < 3000; round++) {
    const matrix = random(8) === 0;
    const bytes = matrix ? 16 : [1, 2, 4, 4, 4, 8, 16][random(7)];
    const mask = random(3) ? (random(0x7fffff) * 509 + 1) >>> 0 : ALL;
    const [begin, stride] = [random(4096) * bytes, [0, bytes, 2 * bytes, 128, 132][random(5)]];
    const scattered = random(3) === 0;
    const at = (lane) => begin + (scattered ? random(256) * bytes : lane * stride);
    const request = {
      op: ["load", "store", "atomic"][random(3)],
      space: matrix || random(2) ? "shared" : "global",
      matrix,
      meeting: random(16) === 0,
      bytes,
      mask,
      addresses: [...Array(32).keys()].map((lane) => ((mask >>> lane) & 1 ? at(lane) : Number.NaN)),
    };
    const arch = ARCHS[round % ARCHS.length];
    const served = serve(arch, request);
    const sizes = served.transactions.sort((a, b) => a.address - b.address).map((t) => t.size);
    const conflicts = Math.max(0, served.passes.length - served.fewestPasses);
    const what = `${arch.id} ${JSON.stringify(request)}`;
    for (let again = 0; again < 2; again++) assert.deepEqual(moved(request, arch.id), { sizes, conflicts }, what);
  }
});

/* ---- launches that a server gives ---- */

/** A profile whose launches are of these kernels, in this order; all given by a server, unless `place` is undefined. */
function servedModel(kernels, place = 0) {
  const names = [...new Set(kernels)];
  return {
    report: { place, parts: [] },
    payload: { explore: [], served: kernels.map((name, i) => ({ launch: i + 1, kernel: names.indexOf(name) + 10 })) },
    kernelById: new Map(names.map((name, i) => [i + 10, { name }])),
  };
}

test("a launch's counterpart is that launch of the kernel of that name, else the first of it, else the first of all", () => {
  const own = servedModel(["a", "b", "a", "c", "a"]);
  const other = servedModel(["b", "a", "b", "a"]);
  const at = (place) => serving.counterpart(own, serving.choicesOf(own)[place], other)?.launch;
  assert.deepEqual([0, 1, 2, 3, 4].map(at), [2, 1, 4, 1, 2]);
  assert.equal(serving.counterpart(own, serving.choicesOf(own)[0], servedModel([])), undefined);
});

test("of a report from a file only those launches can be explored that it holds", () => {
  const read = servedModel(["a", "b"]);
  read.report.place = undefined;
  read.payload.explore = [{ launch: 7, kernel: 10, pages: [1], compared: {} }, { launch: 8, kernel: 10, left_out: 9, compared: {} }];
  assert.deepEqual(serving.choicesOf(read).map((c) => c.launch), [7]);
});

test("beside another launch stand those whose steps are known", () => {
  const own = servedModel(["a", "b", "a"]);
  const other = servedModel(["b", "a", "a", "c"]);
  for (const i of [0, 1]) other.payload.served[i].hashed = true;
  other.payload.explore = [
    { launch: 7, kernel: 10, hashed: { columns: {} }, compared: {} },
    { launch: 8, kernel: 10, hashed: { left_out: 9 }, compared: {} },
    { launch: 9, kernel: 11, hashed: { columns: {} }, pages: [1], compared: {} },
  ];
  assert.deepEqual(serving.choicesOf(other).map((c) => c.launch), [7, 9, 1, 2, 3, 4]);
  assert.deepEqual(serving.steppedOf(other).map((c) => c.launch), [9, 3, 4]);
  const at = (place) => serving.counterpart(own, serving.choicesOf(own)[place], other)?.launch;
  assert.deepEqual([0, 1, 2].map(at), [9, 9, 3]); // of b nothing but hashes is known
});

test("a launch is asked for once, and again after a failure", async () => {
  const m = servedModel(["a", "b", "c", "d", "e", "f"], 1);
  const asked = [];
  let broken = false;
  globalThis.location = { href: "http://127.0.0.1:1/token/", host: "127.0.0.1:1", protocol: "http:" };
  globalThis.fetch = async (url) => {
    asked.push(String(url));
    if (broken) return new Response("the disk is gone\n", { status: 500 });
    return new Response(`${gzipSync(JSON.stringify({ launch: Number(String(url).split("/").pop()) })).toString("base64")}.AA`);
  };
  const [first, second, ...others] = serving.choicesOf(m);
  const held = await serving.heldOf(m, first);
  assert.deepEqual(held.row, { launch: 1 });
  assert.equal(held.parts[1], "AA");
  assert.equal(await serving.heldOf(m, first), held);
  broken = true;
  await assert.rejects(serving.heldOf(m, second), /warplens explore cannot give this launch: the disk is gone$/);
  broken = false;
  assert.deepEqual((await serving.heldOf(m, second)).row, { launch: 2 });
  const url = (n) => `http://127.0.0.1:1/token/launch/1/${n}`;
  assert.deepEqual(asked, [url(1), url(2), url(2)]);
  // Of several the last four are kept.
  for (const choice of others.slice(0, 3)) await serving.heldOf(m, choice);
  await serving.heldOf(m, second);
  assert.equal(asked.length, 6);
  await serving.heldOf(m, first);
  assert.equal(asked.length, 7);
});

test("what most warps do stands side by side in numbers", () => {
  const left = { alike: 90, count: 96, operations: 23, sectors: 20, wavefronts: 0 };
  const right = { alike: 96, count: 96, operations: 23, sectors: 8, wavefronts: 4 };
  assert.equal(commonText(left), "90 of 96 warps alike: 23 operations, 20 sectors, 0 wavefronts");
  assert.equal(commonText(right, left), "All 96 warps alike: 23 operations, 8 sectors (0.40 ×), 4 wavefronts");
  assert.equal(commonText({ ...right, operations: undefined, sectors: 1 }, left), "All 96 warps alike: 1 sector (0.05 ×), 4 wavefronts");
});
