// The page's modules without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { fixtureFolder, load, scratch } from "../../viewer/test/tools.mjs";

const folder = scratch();
const decode = await load("src/data/decode.ts", folder);
const heat = await load("src/data/heat.ts", folder);
const modelModule = await load("src/data/model.ts", folder);
const layout = await load("src/pictures/layout.ts", folder);
const format = await load("src/widgets/format.ts", folder);
const scale = await load("src/widgets/scale.ts", folder);
const code = await load("src/widgets/highlight.ts", folder);
const { fixture } = await load("test/fixture/index.ts", folder);
const { container, encode } = await load("test/fixture/container.ts", folder);

const data = fixture(fixtureFolder);
const report = await decode.decode(encode(data.payload, data.section));
const model = modelModule.buildModel(report);
const mapOf = (kernel, object) =>
  report.payload.maps.find((m) => m.kernel === kernel && m.object === object);

test("a container survives packing and unpacking", () => {
  assert.deepEqual(report.payload, data.payload);
  assert.equal(report.section.byteLength, data.section.length);
});

test("damaged data are refused with a message", async () => {
  await assert.rejects(decode.decode("AAAA"));
  const text = (bytes) => gzipSync(bytes).toString("base64");
  await assert.rejects(decode.decode(text(Buffer.from("no report at all"))), /no warplens report/);
  const whole = container(data.payload, data.section);
  await assert.rejects(decode.decode(text(whole.subarray(0, 500))), /end too early/);
  const other = container({ ...data.payload, schema: "warplens-report/2" }, data.section);
  await assert.rejects(decode.decode(text(other)), /warplens-report\/2/);
  const short = await decode.decode(encode(data.payload, data.section.subarray(0, 16)));
  assert.throws(() => heat.heatTable(short, mapOf(3, 3)), /end too early/);
});

test("a heat map's runs stand where the sectors were", () => {
  const table = heat.heatTable(report, mapOf(1, 1)); // 32 rows of 4 sectors, 2,048 bytes apart
  assert.equal(table.map.sectors, 128);
  assert.deepEqual([...table.first.subarray(0, 2)], [0, 64]);
  assert.equal(heat.runAt(table, 66), 1);
  assert.equal(heat.runAt(table, 5), -1);
  const rows = heat.displayRows(table, true);
  assert.equal(rows.length, 63); // 32 and the gaps between them
  assert.deepEqual(rows[1], { run: -1, runs: 0, first: 4, sectors: 60 });
  const single = heat.displayRows(table, false).filter((r) => r.run >= 0);
  assert.equal(single.length, 128);
});

test("rows of equal temperatures collapse though their warps differ", () => {
  const table = heat.heatTable(report, mapOf(4, 7)); // order: 32 elements a warp
  assert.equal(table.map.rows, 8);
  assert.deepEqual(heat.displayRows(table, true), [{ run: 0, runs: 8, first: 0, sectors: 32 }]);
});

test("popcount and ranges of warps", () => {
  assert.equal(heat.popcount(0xffffffff), 32);
  assert.equal(heat.popcount(0), 0);
  assert.equal(heat.ranges(0b1011), "0–1, 3");
  assert.equal(heat.ranges(-1), "0–31");
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
  assert.equal(format.percent(0.0004), "< 0.1 %");
  assert.equal(format.bytes(1536), "1.50 KiB");
  assert.equal(format.middle("transpose_shared<float, 32>", 12), "transpos…32>");
  assert.equal(format.quantity(12.345, "%"), "12.3 %");
  assert.equal(format.dim([16, 16, 1]), "16 × 16");
});

test("the legend ends at the block's warps, and text on it can be read", () => {
  assert.deepEqual(scale.heatSteps(24), [1, 2, 4, 8, 16, 24]);
  assert.deepEqual(scale.heatSteps(1), [1]);
  assert.equal(scale.inkOn(scale.heatColor(1, 32)), "#ffffff");
  assert.equal(scale.inkOn(scale.heatColor(32, 32)), "#10141a");
});

test("colouring code loses no character", () => {
  const lines = ['  out[x] = "a//b"; // rest', "#pragma unroll", "a/*b*/c 0x1p-3f 'x'", "", '"open'];
  for (const line of lines) {
    assert.equal(code.highlight(line).map((t) => t.text).join(""), line);
  }
  const kinds = code.highlight("float x = 1; // c").map((t) => t.kind);
  assert.ok(["type", "number", "comment"].every((k) => kinds.includes(k)));
});
