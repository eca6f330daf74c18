// A report with heat maps of a million sectors, made by bench_report: its size, the time to open it, frames.
// WARPLENS_BENCH_REPORT is that program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { measure } from "../../viewer/test/large.mjs";
import { findBrowser, launch, open, scratch } from "../../viewer/test/tools.mjs";

const folder = scratch();
execFileSync(process.env.WARPLENS_BENCH_REPORT, [folder]);
const path = join(folder, "large.html");
const context = await launch(findBrowser(), folder);
after(() => context.close());

test("a million sectors: under 20 MB, open in two seconds, 60 frames a second", async () => {
  const { result, problems } = await measure(context, path, 120);
  console.log(JSON.stringify(result));
  assert.deepEqual(problems, []);
  assert.ok(result.megabytes < 20, `${result.megabytes} MB`);
  assert.ok(result.open_ms < 2000, `opened in ${result.open_ms} ms`);
  for (const what of ["scroll", "drag", "zoom", "afar", "scroll_two"]) {
    // 60 frames a second are 16.7 ms each; the rest is for machines that do other things, too.
    assert.ok(result[what].median < 18, `${what}: ${JSON.stringify(result[what])}`);
    assert.ok(result[what].p95 < 50, `${what}: ${JSON.stringify(result[what])}`);
  }
});

test("all of the million sectors are there", async () => {
  const { page, problems } = await open(context, path, "#object/1?map=1,2");
  await page.waitForSelector(".heatbox canvas");
  assert.match(await page.innerText(".detail"), /1,048,576 sectors each touched/);
  await page.focus(".heatbox");
  await page.keyboard.press("End"); // the first press selects the first cell
  await page.keyboard.press("End");
  await page.locator(".cellinfo", { hasText: "33,554,400 bytes" }).waitFor();
  await page.click("text=As a table");
  const rows = await page.innerText(".gridtable caption");
  assert.match(rows, /^Rows 1,0\d\d,\d\d\d to (1,0\d\d,\d\d\d) of \1$/);
  assert.deepEqual(problems, []);
  await page.close();
});
