// The whole way with a real program: profile, JSON, report, browser.
// WARPLENS is the command, WARPLENS_DEMO the program (examples/transpose_demo).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileSchema, findBrowser, launch, load, open, placeOf, scratch, sees, shows, viewer } from "../../viewer/test/tools.mjs";

const folder = scratch();
const profile = join(folder, "demo.wlprof");
const html = join(folder, "demo.html");
const warplens = (...args) =>
  execFileSync(process.env.WARPLENS, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    cwd: join(viewer, ".."), // where the paths in the demo's line information begin
  });
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

warplens("profile", "--backend", "emulate", "-f", "-o", profile, "--", process.env.WARPLENS_DEMO);
warplens("report", "-f", "-o", html, profile);

test("JSON keeps to warplens/1 and counts what the kernels do", () => {
  const output = JSON.parse(warplens("stats", "--format", "json", profile));
  const check = compileSchema(readJson(join(viewer, "../docs/warplens-1.schema.json")));
  assert.ok(check(output), JSON.stringify(check.errors?.slice(0, 3)));
  const stores = output.instructions.filter((i) => i.kernel.startsWith("transpose_naive") && i.op === "store");
  assert.ok(stores.length > 0);
  for (const i of stores) assert.equal(i.sectors, 32 * i.requests);
  const conflicts = output.instructions.filter((i) => i.wavefronts > i.wavefronts_min);
  assert.deepEqual([...new Set(conflicts.map((i) => i.kernel.split("(")[0]))], ["transpose_shared"]);
  for (const i of conflicts) assert.equal(i.wavefronts, 32 * i.wavefronts_min);
});

test("the report's data keep to their schema", async () => {
  const { decode } = await load("src/data/decode.ts", folder);
  const { readMap } = await load("src/data/read.ts", folder);
  const text = /id="payload">([^<]*)</.exec(readFileSync(html, "utf8"))[1];
  const report = await decode(text);
  const check = compileSchema(readJson(join(viewer, "src/data/payload.schema.json")));
  assert.ok(check(report.payload), JSON.stringify(check.errors?.slice(0, 3)));
  assert.ok(report.payload.maps.length >= 6);
  for (const map of report.payload.maps) {
    assert.equal((await readMap(report.parts[map.part], map)).first.length, map.rows);
  }
});

test("the report shows the demo's findings", { skip: !findBrowser() }, async () => {
  const context = await launch(findBrowser(), folder);
  after(() => context.close());
  const { page, problems } = await open(context, html);
  await shows(page, "");
  await sees(page, "h1", /Different warps use different words/); // saves most
  await sees(page, ".who", /d_out/);
  await page.keyboard.press("j");
  await page.locator("h1", { hasText: "Lanes of a warp collide" }).waitFor();
  await sees(page, ".line.marked.first", /= tile\[threadIdx\.x\]\[threadIdx\.y \+ j\];/);
  await sees(page, ".picture", /32 wavefronts/);
  await sees(page, ".who", /tile/);
  await sees(page, ".coverage", /3 of 3 launches observed/);
  await page.keyboard.press("3");
  await page.locator(".heatbox canvas").waitFor();
  assert.deepEqual(problems, []);
});

test("a kernel's page draws what bounds it, the longest as long as there is room", { skip: !findBrowser() }, async () => {
  const context = await launch(findBrowser(), folder);
  after(() => context.close());
  const { page, problems } = await open(context, html, "#kernel/1");
  await sees(page, "article", /Where its time goes\s+Predicted: [\d.]+ µs a launch, bound by \w+/);
  const cell = await placeOf(page, ".resources .length");
  const widths = await page.locator(".resources .length span").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  assert.ok(widths.length > 2 && widths[0] > 0.9 * cell.width - 20 && cell.width > 200, `${widths} in ${cell.width}`);
  for (const [i, width] of widths.entries()) assert.ok(i === 0 || width <= widths[i - 1]);
  assert.equal(await page.locator(".resources .bound").count(), 1);
  assert.deepEqual(problems, []);
});

test("a kernel's page draws what could be gained, as the model tells it", { skip: !findBrowser() }, async () => {
  const { BENEFITS } = await load("src/data/benefits.ts", folder);
  const { seconds } = await load("src/widgets/format.ts", folder);
  const context = await launch(findBrowser(), folder);
  after(() => context.close());
  const { page, problems } = await open(context, html, "#kernel/1");
  const name = await page.locator("h1").innerText();
  const told = JSON.parse(warplens("stats", "--format", "json", profile)).launches.find((l) => l.kernel === name).model.benefits;
  const rows = await page.locator(".benefits tr .num:not(.muted)").allInnerTexts();
  assert.deepEqual(rows, BENEFITS.map((b) => (told[b] > 0 ? seconds(told[b]) : "0")));
  assert.equal(await page.locator(".benefits .gain").count(), BENEFITS.filter((b) => told[b] > 0).length);
  const points = await page.locator(".benefits .point circle").evaluateAll((all) => all.map((c) => [c.cx.baseVal.value, c.cy.baseVal.value]));
  const [alone, shifted, ideal] = points;
  assert.equal(points.length, 3);
  assert.ok(shifted[0] <= alone[0] && shifted[1] === alone[1], `${points}`);
  assert.ok(ideal[1] > shifted[1], `${points}`); // y counts from above
  const plot = await page.locator(".benefits .axes path").first().evaluate((path) => {
    const { x, y, width, height } = path.getBBox();
    return { left: x, top: y, right: x + width, bottom: y + height };
  });
  for (const [x, y] of points) assert.ok(x >= plot.left && x <= plot.right && y >= plot.top && y <= plot.bottom, `${x} ${y}`);
  assert.deepEqual(problems, []);
});

test("a kernel's roofline and occupancy are those of the machine-readable output", { skip: !findBrowser() }, async () => {
  const { bytes, intensity, rate } = await load("src/widgets/format.ts", folder);
  const context = await launch(findBrowser(), folder);
  after(() => context.close());
  const { page, problems } = await open(context, html, "#kernel/1");
  const name = await page.locator("h1").innerText();
  const told = JSON.parse(warplens("stats", "--format", "json", profile)).launches.find((l) => l.kernel === name);
  const { arithmetic, levels } = told.model.roofline;
  const operations = arithmetic.reduce((sum, a) => sum + a.operations, 0);
  assert.ok(operations > 0 && levels.length >= 2, JSON.stringify(told.model.roofline));
  const rows = await page.locator(".roofline tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].slice(1, 5).map((cell) => cell.innerText)));
  assert.deepEqual(rows, levels.map((l) => [l.words, bytes(l.bytes), intensity(operations / l.bytes), rate((operations / l.bytes) * l.ceiling)]));
  const { warps, most, blocks, limits } = told.occupancy;
  await sees(page, ".occupancy", new RegExp(`^${warps} of ${most} warps .* in ${blocks} blocks, limited by ${limits[0].words}`));
  assert.equal(limits[0].name, "grid"); // 256 blocks on 132 multiprocessors
  assert.deepEqual(problems, []);
});

test("the phases of a real block's tile: filled from device memory, then each word read once", async () => {
  const counted = join(folder, "counted.wlprof");
  const page = join(folder, "counted.html");
  warplens("profile", "--backend", "emulate", "--probes", "frequency,shared", "-f", "-o", counted, "--", process.env.WARPLENS_DEMO);
  warplens("report", "-f", "-o", page, counted);
  const { decode, unpack } = await load("src/data/decode.ts", folder);
  const { phaseData, rangesOf, sumOf, BLOCK_END } = await load("src/data/phases.ts", folder);
  const { payload, parts } = await decode(/id="payload">([^<]*)</.exec(readFileSync(page, "utf8"))[1]);
  const check = compileSchema(readJson(join(viewer, "src/data/payload.schema.json")));
  assert.ok(check(payload), JSON.stringify(check.errors?.slice(0, 3)));
  const kernels = new Set(payload.phases.map((p) => payload.kernels.find((k) => k.id === p.kernel).short_name));
  assert.deepEqual([...kernels].sort(), ["transpose_padded", "transpose_shared"]);
  for (const row of payload.phases) {
    const d = phaseData(await unpack(parts[row.part]), row);
    assert.deepEqual([row.phases, row.left_out], [2, 0]);
    assert.ok(d.end[0] !== BLOCK_END && d.end[1] === BLOCK_END);
    const [fill, read] = [0, 1].map((phase) => sumOf(d, phase, String));
    assert.deepEqual([fill.stored, fill.stores, fill.read], [1024, 1024, 0]);
    assert.deepEqual([read.stored, read.read, read.loads], [0, 1024, 1024]);
    const ranges = rangesOf(d, 0); // from device memory, read once
    assert.deepEqual(ranges.map((r) => [r.from, r.to, r.origin, r.accesses]), [[0, 1, 1, 1]]);
  }
  const tile = payload.uses.find((u) => u.object === payload.phases[0].object);
  assert.equal(tile.accesses_per_range, 1);
  assert.equal(payload.uses.filter((u) => u.strip?.frequency).length, payload.uses.length);
});
