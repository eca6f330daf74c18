// What the C side writes, and the fixture, against the documented schemas.
// WARPLENS_SAMPLE names a folder with sample.json and sample.payload (tests/report/write_sample.c).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { comparison } from "../../viewer/test/schema-types.mjs";
import { compileSchema, fixtureFolder, load, scratch, viewer } from "../../viewer/test/tools.mjs";

const folder = scratch();
const { fixture } = await load("test/fixture/index.ts", folder);
const decode = await load("src/data/decode.ts", folder);
const heat = await load("src/data/heat.ts", folder);
const tables = await load("src/data/explore/table.ts", folder);
const engines = await load("src/data/explore/engine.ts", folder);
const { readMap } = await load("src/data/read.ts", folder);
const sample = process.env.WARPLENS_SAMPLE;
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const payloadSchema = compileSchema(readJson(join(viewer, "src/data/payload.schema.json")));
const outputSchema = compileSchema(readJson(join(viewer, "../docs/warplens-1.schema.json")));

function assertValid(check, value) {
  assert.ok(check(value), JSON.stringify(check.errors?.slice(0, 3)));
}

test("the fixture keeps to the payload's schema", () => {
  assertValid(payloadSchema, fixture(fixtureFolder).payload);
});

test("the schema is strict", () => {
  const { payload } = fixture(fixtureFolder);
  assert.ok(!payloadSchema({ ...payload, more: 1 }));
  assert.ok(!payloadSchema({ ...payload, maps: [{}] }));
});

/** Whether payload.ts and the schema say the same, as the compiler sees it. */
function sameTypes(schema, name) {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, comparison(schema, join(viewer, "src/data/payload")));
  const tsc = join(viewer, "node_modules/typescript/bin/tsc");
  const options = "--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck";
  const more = "--module esnext --moduleResolution bundler --target es2022";
  const done = spawnSync(process.execPath, [tsc, ...options.split(" "), ...more.split(" "), file]);
  return { same: done.status === 0, why: done.stdout.toString() };
}

test("payload.ts and the schema say the same", () => {
  const schema = () => readJson(join(viewer, "src/data/payload.schema.json"));
  const { same, why } = sameTypes(schema(), "same");
  assert.ok(same, why);
  const fewer = schema();
  delete fewer.properties.coverage.properties.sectors_dropped; // not required, so only the types can tell
  assert.ok(!sameTypes(fewer, "fewer").same);
  const other = schema();
  other.properties.maps.items.properties.merged = { type: "integer" };
  assert.ok(!sameTypes(other, "other").same);
});

test("the data of an HTML report keeps to the schema and decodes", { skip: !sample }, async () => {
  const report = await decode.decode(readFileSync(join(sample, "sample.payload"), "utf8"));
  assertValid(payloadSchema, report.payload);
  const [map] = report.payload.maps;
  const table = await readMap(report.parts[map.part], map);
  assert.equal(table.runs, 32);
  assert.deepEqual([...table.first.subarray(0, 3)], [0, 64, 128]);
  assert.equal(heat.popcount(table.history[31]), 8);
  assert.equal(heat.warpsOf(table, 31, 7), 1 << 7);
});

test("steps of warps decode to what the C side reads", { skip: !sample }, async () => {
  const report = await decode.decode(readFileSync(join(sample, "sample.payload"), "utf8"));
  const [row] = report.payload.explore;
  const part = (number) => report.parts[number];
  const { table, warps } = await tables.openLaunch(row, part(row.part), part(row.members));
  const steps = new engines.Steps(row.pages.map(part), table);
  const expected = readJson(join(sample, "sample.warps.json"));
  assert.equal(warps.count, 48);
  assert.equal(expected.length, 10);
  for (const e of expected) {
    const i = [...warps.block.keys()].find((k) => warps.block[k] === e.block && warps.number[k] === e.warp);
    const group = table.groups[warps.group[i]];
    const begins = [...warps.begins.subarray(warps.beginAt[i], warps.beginAt[i] + group.slots.length)];
    assert.deepEqual(group.slots.map((s) => [s.space, s.object]), e.slots);
    assert.deepEqual(begins, e.begins);
    const read = await steps.of(group.sequence);
    assert.equal(read.length, e.steps.length);
    for (const [k, step] of read.entries()) {
      const { slot, offsets, ...rest } = step;
      const known = offsets.map((o) => (Number.isNaN(o) ? null : o));
      assert.deepEqual(step.kind === "access" ? { ...rest, slot, offsets: known } : rest, e.steps[k]);
    }
  }
});

test("what rep_json writes keeps to warplens/1", { skip: !sample }, () => {
  const output = readJson(join(sample, "sample.json"));
  assertValid(outputSchema, output);
  assert.ok(!outputSchema({ ...output, schema: "warplens/2" }));
  assert.ok(!outputSchema({ ...output, extra: 1 }));
  const finding = { ...output.findings[0] };
  delete finding.excess_wavefronts;
  assert.ok(!outputSchema({ ...output, findings: [finding] }));
});
