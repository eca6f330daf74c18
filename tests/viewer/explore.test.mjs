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
