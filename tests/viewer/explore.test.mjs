// The explorer's modules without a browser. WARPLENS_TRANSACTIONS names the program that writes what the C side makes of
// random requests (tests/analysis/write_transactions.c).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { load, scratch } from "../../viewer/test/tools.mjs";

const folder = scratch();
const { ARCHS } = await load("src/data/explore/archs.ts", folder);
const { archOf, archOfDevice, serve } = await load("src/data/explore/transactions.ts", folder);
const writer = process.env.WARPLENS_TRANSACTIONS ?? "";

const spelled = (served) => ({
  ...served,
  transactions: served.transactions.map((t) => ({
    ...t,
    taken: t.taken.map((on) => (on ? "1" : "0")).join(""),
  })),
});

test("requests are served as the C side serves them", { skip: !existsSync(writer) }, () => {
  const text = execFileSync(writer, ["4000"], { maxBuffer: 1 << 30, encoding: "utf8" });
  const lines = text.trimEnd().split("\n");
  assert.equal(lines.length, 4000);
  for (const line of lines) {
    const { archs, ...request } = JSON.parse(line);
    assert.deepEqual(Object.keys(archs).sort(), ARCHS.map((a) => a.id).sort());
    for (const arch of ARCHS)
      assert.deepEqual(spelled(serve(arch, request)), archs[arch.id], `${arch.id}: ${JSON.stringify(request)}`);
  }
});

test("a device has its row", () => {
  assert.equal(archOfDevice("12.0").id, "10.0");
  assert.equal(archOfDevice("8.6").id, "8.0");
  assert.equal(archOfDevice("1.3").id, "1.2");
  assert.equal(archOf("2.0").name, "2.x (Fermi)");
  assert.equal(archOf("none").id, ARCHS[0].id);
});

// ---- one warp ----

const { stories } = await load("test/fixture/warps.ts", folder);
const insight = await load("src/data/explore/insight.ts", folder);
const folds = await load("src/data/explore/folds.ts", folder);
const pieces = await load("src/data/explore/pieces.ts", folder);
const words = await load("src/data/explore/words.ts", folder);
const lists = await load("src/views/explore/list.tsx", folder);
const { OBJECTS } = await load("test/fixture/warps.ts", folder);
const story = (name) => stories().find((s) => s.name === name);

function insightsOf(name, arch = "9.0") {
  const { instructions, code, warp } = story(name);
  const objectById = new Map(OBJECTS.map((o) => [o.id, o]));
  return new insight.Insights({ payload: { instructions }, objectById }, 1, warp, archOf(arch), code);
}

/** What the only request of an operation is said to do. */
function said(name, operation, arch) {
  const [access] = insightsOf(name, arch).at(operation).accesses;
  return `${words.accessWords(access)} ${words.elsewhereWords(archOf(arch), access.asked)}`;
}

test("a naive transpose is told in words", () => {
  assert.equal(
    said("transposeNaive", 6, "9.0"),
    "This store takes 16 transactions of 32 bytes. 8 bytes of each are used: 128 B of 512 B that move (25\u00a0%). It would take 32 on compute capability 1.x.",
  );
  assert.equal(
    said("transposeNaive", 6, "1.0"),
    "This store takes 32 transactions of 32 bytes. 4 bytes of each are used: 128 B of 1 KiB that move (13\u00a0%). It would take 16 on compute capability 2.x and later.",
  );
});

test("a transpose by way of shared memory is told in words", () => {
  assert.equal(
    said("transposeShared", 8, "9.0"),
    "Shared memory serves this load in 8 wavefronts instead of 1: threads want different words of one bank (a bank conflict). It would take 4 on compute capability 3.x; 32 on 1.x.",
  );
  assert.match(said("transposeShared", 8, "1.2"), /32 wavefronts instead of 2/);
  assert.match(said("transposePadded", 8, "1.2"), /in 2 wavefronts: there is no bank conflict/);
  assert.match(said("transposeShared", 6, "9.0"), /in 1 wavefront: there is no bank conflict/);
});

test("words of operations say who takes part and what they are", () => {
  const signs = insightsOf("signs");
  assert.deepEqual(words.insightWords(signs.at(8)), [
    "All 32 threads are active, 16 of them access memory: the condition of the instruction is false for the others.",
  ]);
  assert.match(words.insightWords(signs.at(2)).join(" "), /A barrier/);
  assert.match(words.insightWords(insightsOf("transposeNaive").at(0)).join(" "), /accesses no memory/);
  const [atomic] = signs.at(5).accesses;
  assert.match(words.accessWords(atomic), /L2 takes 7 turns in all/); // 7 lanes change the busiest of 5 words
  assert.match(words.elsewhereWords(archOf("9.0"), atomic.asked, "async"), /before compute capability 8\.0/);
  assert.equal(words.rowWords(5, signs.at(5)), "Operation 6, line 55, atom.global.add.u32 %r10, [%rd3], 1;, global atomic: 1 × 32 B");
});

test("spans of generations are named", () => {
  const lanes = (place) => Array.from({ length: 32 }, (_, lane) => place(lane));
  const load = (bytes, place) => ({ op: "load", space: "global", bytes, mask: 0xffffffff, addresses: lanes(place) });
  assert.equal(words.elsewhereWords(archOf("1.0"), load(4, (l) => 4 * l + 4)), // 5 sectors, 2 lines, 3 segments
    "It would take 5 on compute capability 3.x and later; 2 on 2.x; 3 on 1.2.");
  assert.equal(words.elsewhereWords(archOf("9.0"), load(4, (l) => 4096 * l)), "Other generations of GPUs take as many.");
  assert.equal(words.threadWords(0b1000011101), "threads 0, 2–4, 9");
  assert.equal(words.threadWords(8), "thread 3");
});

test("opcodes have their signs, and tell their bytes", () => {
  const { signOf, bytesOfText, opcodeOf } = insight;
  assert.equal(opcodeOf("@!%p1 ld.global.f32 %f1, [%rd1];"), "ld.global.f32");
  assert.equal(signOf("@%p bar.sync 0;", false), "barrier");
  assert.equal(signOf("cp.async.bulk.tensor.2d [%r1];", false), "bulk");
  assert.equal(signOf("cp.async.ca.shared.global [%r1], [%rd1], 4;", false), "async");
  assert.equal(signOf("wgmma.mma_async.sync.aligned.m64n8k16 {};", false), "tensor");
  assert.equal(signOf("red.global.add.f32 [%rd1], %f1;", false), "atomic");
  assert.equal(signOf("add.f32 %f1, %f2, %f3;", false), undefined);
  assert.equal(bytesOfText("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];"), 16);
  assert.equal(bytesOfText("st.shared.u8 [%r1], %r2;"), 1);
  assert.equal(bytesOfText("ld.global.nc.b64 %rd2, [%rd1];"), 8);
  assert.equal(bytesOfText("cp.async.cg.shared.global [%r1], [%rd1], 16;"), 16);
  assert.equal(bytesOfText("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r2];"), 16);
});

test("the last hundred operations say how active a thread was", () => {
  const operations = Array.from({ length: 250 }, (_, i) => ({ pc: 0, mask: i < 200 ? 1 : 2 }));
  assert.deepEqual(insight.activityOf(operations, 9).slice(0, 3), [1, 0, 0]);
  assert.deepEqual(insight.activityOf(operations, 249).slice(0, 3), [0.5, 0.5, 0]);
  assert.deepEqual(insight.activityOf(operations, 199).slice(0, 2), [1, 0]);
});

test("loops show one round each", () => {
  const of = (...pcs) => pcs.map((pc) => ({ pc }));
  const shapes = (loops) => loops.map((l) => [l.start, l.end, l.rounds.length, shapes(l.inner)]);
  const nest = of(0, 1, 2, 3, 2, 3, 4, 1, 2, 3, 2, 3, 2, 3, 4, 5);
  const loops = folds.loopsOf(nest);
  assert.deepEqual(shapes(loops), [[1, 15, 2, [[2, 6, 2, []], [8, 14, 3, []]]]]);
  const rows = (chosen) => folds.rowsOf(nest.length, loops, new Map(chosen))
    .map((r) => (r.kind === "loop" ? `${r.round + 1}/${r.loop.rounds.length}` : nest[r.index].pc));
  assert.deepEqual(rows([]), [0, "1/2", 1, "1/2", 2, 3, 4, 5]);
  assert.deepEqual(rows([[1, 1], [8, 2]]), [0, "2/2", 1, "3/3", 2, 3, 4, 5]);
  assert.deepEqual(folds.loopsAround(loops, 13).map((l) => folds.roundAt(l, 13)), [1, 2]);
  // Lanes that have parted, and a function that is called twice, are no loops.
  assert.deepEqual(folds.loopsOf(of(0, 1, 5, 6, 2, 3, 7, 8)), []);
  assert.deepEqual(folds.loopsOf(of(0, 1, 20, 21, 2, 3, 20, 21, 4)), []);
  // Nothing is lost where nothing is folded.
  assert.equal(folds.rowsOf(5, [], new Map()).length, 5);
});

test("every operation is in a row once its rounds are chosen", () => {
  const { operations } = insightsOf("reduce");
  const loops = folds.loopsOf(operations);
  assert.deepEqual(loops.map((l) => l.rounds.length), [5]);
  const seen = new Set();
  for (let round = 0; round < 5; round++)
    for (const row of folds.rowsOf(operations.length, loops, new Map([[loops[0].start, round]])))
      if (row.kind === "operation") seen.add(row.index);
  assert.equal(seen.size, operations.length);
});

test("addresses lie on an axis with gaps where they jump", () => {
  const at = (address, size = 32) => ({ address, size });
  const ranges = pieces.rangesOf([at(64), at(0), at(32), at(1024), at(0)]);
  assert.deepEqual(ranges, [{ begin: 0, end: 96 }, { begin: 1024, end: 1056 }]);
  const axis = pieces.axisOf(ranges, 146);
  assert.equal(axis.gap, 18);
  assert.equal(axis.scale, 1);
  assert.equal(pieces.placeOf(axis, 95), 95);
  assert.equal(pieces.placeOf(axis, 1024), 114);
  assert.equal(pieces.rangeOf(ranges, 1030), 1);
  assert.deepEqual(pieces.runsOf([true, true, false, true]), [[0, 2], [3, 4]]);
});

test("pieces of lanes add up to what is taken", () => {
  for (const { name } of stories().slice(0, 5)) {
    const insights = insightsOf(name);
    for (let i = 0; i < insights.count; i++)
      for (const { asked, served } of insights.at(i).accesses)
        for (const t of served.transactions) {
          const taken = new Array(t.size).fill(false);
          for (const p of pieces.piecesOf(asked, t)) taken.fill(true, p.from - t.address, p.to - t.address);
          assert.deepEqual(taken, t.taken);
        }
  }
});

test("a barrier and the basic block that begins with it are one operation", async () => {
  const { operationsOf } = await load("src/data/explore/operations.ts", folder);
  const step = (kind, pc) => ({ kind, pc, mask: 0xffffffff, slot: -1, offsets: [] });
  const blocks = new Map([[0, 2], [2, 2]]);
  const shapes = (...steps) => operationsOf(steps, blocks).map((o) => [o.pc, o.barrier]);
  const wanted = [[0, false], [1, false], [2, true], [3, false]];
  assert.deepEqual(shapes(step("entry", 0), step("barrier", 2), step("entry", 2)), wanted);
  assert.deepEqual(shapes(step("entry", 0), step("entry", 2), step("barrier", 2)), wanted);
});

test("the costliest instructions of a warp come first", async () => {
  const { costliest, wasted } = await load("src/data/explore/costly.ts", folder);
  const rows = (name, arch) => costliest(insightsOf(name, arch), 9).map((c) => [c.first, c.operations, c.took, wasted(c)]);
  assert.deepEqual(rows("transposeNaive", "9.0"), [[6, 1, 16, 512 - 128]]);
  assert.deepEqual(rows("transposeNaive", "2.0"), [[6, 1, 16, 512 - 128], [5, 1, 2, 256 - 128]]);
  assert.deepEqual(rows("transposeShared", "9.0"), [[8, 1, 8, 7 * 128]]);
  assert.deepEqual(rows("reduce", "9.0"), [[47, 1, 1, 32 - 4]]); // the sum, by one thread
  assert.equal(costliest(insightsOf("signs"), 2).length, 2);
});

test("a long list draws what is in sight, however long it is", () => {
  const few = lists.inSight(10, 0, 100);
  assert.deepEqual([few.total, few.first, few.last, few.shift], [260, 0, 10, 0]);
  for (const count of [1000, 100_000, 10_000_000]) {
    const height = 500;
    const { total } = lists.inSight(count, 0, height);
    assert.ok(total <= 8_000_000);
    assert.equal(lists.inSight(count, total - height, height).last, count);
    for (const row of [0, 17, Math.floor(count / 2), count - 1]) {
      const top = lists.scrollTo(count, row, count / 3, height) ?? count / 3;
      const { first, last, shift } = lists.inSight(count, Math.min(top, total - height), height);
      assert.ok(first <= row && row < last, `${count}: row ${row} of ${first} to ${last}`);
      const y = row * 26 + shift - Math.min(top, total - height);
      assert.ok(y > -27 && y < height + 1, `${count}: row ${row} at ${y}`);
    }
  }
});
