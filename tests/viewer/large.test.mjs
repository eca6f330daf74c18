// A report with heat maps of a million sectors, made by bench_report: its size, and that all sectors can be reached. How long
// that takes is bench/report's matter. WARPLENS_BENCH_REPORT is that program; WARPLENS_BENCH_MEMORY makes one with many calls and objects.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { assertReplays } from "./replays.mjs";
import { findBrowser, launch, open, scratch, sees } from "../../viewer/test/tools.mjs";

const folder = scratch();
execFileSync(process.env.WARPLENS_BENCH_REPORT, [folder]);
const path = join(folder, "large.html");
const context = await launch(findBrowser(), folder);
after(() => context.close());

test("a report of a million sectors can be mailed", () => {
  assert.ok(statSync(path).size < 20_000_000, `${statSync(path).size} bytes`);
});

test("all of the million sectors are there", async () => {
  const { page, problems } = await open(context, path, "#object/1?map=1,2");
  await page.waitForSelector(".heatbox canvas");
  await sees(page, ".detail", /1,048,576 sectors each touched/);
  await page.focus(".heatbox");
  await page.keyboard.press("End"); // the first press selects the first cell
  await page.keyboard.press("End");
  await page.locator(".cellinfo", { hasText: "33,554,400 bytes" }).waitFor();
  await page.click("text=As a table");
  await sees(page, ".gridtable caption", /^Rows 1,0\d\d,\d\d\d to (1,0\d\d,\d\d\d) of \1$/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("changes of hundreds of objects are replayed as the findings have it", async () => {
  const at = join(folder, "memory");
  mkdirSync(at);
  execFileSync(process.env.WARPLENS_BENCH_MEMORY, [at, "4000", "400"]);
  const { changes, peak, after } = await assertReplays(join(at, "memory.html"), folder);
  assert.ok(changes > 200 && after < peak, `${changes} changes, ${peak} to ${after}`);
});
