// A report with heat maps of a million sectors, made by bench_report: its size, the time to open it, frames.
// WARPLENS_BENCH_REPORT is that program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { measure } from "../../viewer/test/large.mjs";
import { findBrowser, launch, open, scratch, sees } from "../../viewer/test/tools.mjs";

const folder = scratch();
execFileSync(process.env.WARPLENS_BENCH_REPORT, [folder]);
const path = join(folder, "large.html");
const context = await launch(findBrowser(), folder);
after(() => context.close());

/** What took too long; 60 frames a second are 16.7 ms each. */
function slowest(result) {
  if (result.open_ms >= 2000) return `opened in ${result.open_ms} ms`;
  const moves = ["scroll", "drag", "zoom", "afar", "scroll_two"];
  const slow = moves.find((what) => result[what].median >= 18 || result[what].p95 >= 50);
  return slow ? `${slow}: ${JSON.stringify(result[slow])}` : "";
}

test("a million sectors: under 20 MB, open in two seconds, 60 frames a second", async () => {
  let slow;
  for (let run = 0; run < 3 && slow !== ""; run++) { // the best of three: machines do other things, too
    const { result, problems } = await measure(context, path, 120);
    console.log(JSON.stringify(result));
    assert.deepEqual(problems, []);
    assert.ok(result.megabytes < 20, `${result.megabytes} MB`);
    slow = slowest(result);
  }
  assert.equal(slow, "");
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
