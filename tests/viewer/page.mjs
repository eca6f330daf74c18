// What the tests of a report in a real browser share: a browser, and the fixture's report, opened from disk.
// WARPLENS_SAMPLE names a folder with sample.html, written by the C side.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, eventually, findBrowser, launch, open, placeOf, report, scratch, shows } from "../../viewer/test/tools.mjs";

export const browser = findBrowser();

export const folder = scratch();

export const sample = join(process.env.WARPLENS_SAMPLE ?? "", "sample.html");

export let context;

export let path;

before(async () => {
  path = await report(folder, "fixture");
  context = await launch(browser, folder, { colorScheme: "light" });
});

after(() => context?.close());

/** Opens the report, runs the checks and then makes sure that nothing went wrong unseen. */
export async function visit(hash, checks, file = path) {
  const { page, problems } = await open(context, file, hash);
  await shows(page, hash);
  await checks(page);
  assert.deepEqual(problems, []);
  await page.close();
}

export const counts = (page, selector, expected) => becomes(() => page.locator(selector).count(), expected);

export const has = (page, selector, name, expected) => becomes(() => page.getAttribute(selector, name), expected);

/** The middle of a cell of the heat map, when rows have numbers. */
export async function cellAt(page, row, x = 140) {
  const box = await placeOf(page, ".heatbox canvas");
  return [box.x + x, box.y + 38 + row * 18 + 9];
}

/** Pointing at a cell comes to tell the pattern. */
export const pointed = (page, [row, x], pattern) =>
  eventually(async () => {
    await page.mouse.move(5, 5);
    await page.mouse.move(...(await cellAt(page, row, x)));
    assert.match(await page.locator(".cellinfo").innerText(), pattern);
  });

export const MAP = ".heatbox canvas";

/** A canvas's picture once it changes no more: two frames in a row are equal. */
export const picture = (page, selector = MAP) =>
  page.evaluate(async (s) => {
    const canvas = document.querySelector(s);
    const frame = () => new Promise((go) => requestAnimationFrame(go));
    for (let last = ""; ; ) {
      await frame();
      await frame();
      const now = canvas.toDataURL();
      if (now === last) return now;
      last = now;
    }
  }, selector);

/** Goes to another view of the report, until it stands there. */
export async function visits(page, hash) {
  await page.evaluate((h) => {
    location.hash = h;
  }, hash);
  await shows(page, hash);
  if (hash.startsWith("#object")) await page.waitForSelector(".heatbox canvas");
  if (hash.startsWith("#memory")) await page.waitForSelector(".livesbox canvas");
}

/** Whether the whole of an element is in sight, below what sticks to the window's upper edge. */
export const inSight = (page, selector) =>
  page.evaluate((s) => {
    const { top, bottom } = document.querySelector(s).getBoundingClientRect();
    return top >= 48 && bottom <= innerHeight;
  }, selector);
