// Pictures of the report for the documentation: node test/screenshots.mjs [--report FILE] [--out FOLDER]
// Without a report, of the fixture.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallScreenshot } from "./png.mjs";
import { findBrowser, launch, open, report, scratch, viewer } from "./tools.mjs";

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at > 0 ? process.argv[at + 1] : undefined;
};

const WIDE = { width: 1280, height: 860 };
const TALL = { width: 1280, height: 1420 };
const NARROW = { width: 400, height: 860 };
const VIEWS = [
  { name: "overview", hash: "#overview" },
  { name: "finding", hash: "#finding/1" },
  { name: "finding-dark", hash: "#finding/2", colorScheme: "dark" },
  { name: "finding-narrow", hash: "#finding/1", size: NARROW },
  { name: "kernel", hash: "#kernel/1", size: TALL },
  { name: "columns", hash: "#file/1?line=25&kernel=2&ptx=31", size: { width: 1600, height: 760 } },
  { name: "object", hash: "#object/2?map=1,2", cell: { x: 150, y: 47 } },
  { name: "object-dark", hash: "#object/6", colorScheme: "dark", cell: { x: 150, y: 120 } },
  { name: "object-narrow", hash: "#object/2", size: NARROW },
  { name: "memory", hash: "#memory/6", tick: true },
  { name: "banks", hash: "#object/8?mode=owner", cell: { x: 140, y: 200 } },
];

const browser = findBrowser();
if (!browser) {
  console.error("screenshots: no Chromium found; WARPLENS_BROWSER may name one");
  process.exit(1);
}
const folder = scratch();
const out = option("--out") ?? join(viewer, "../docs/images");
mkdirSync(out, { recursive: true });
const path = option("--report") ?? (await report(folder, "fixture"));
const context = await launch(browser, folder);
const blank = await context.newPage();
for (const { name, hash, colorScheme = "light", size = WIDE, cell, tick } of VIEWS) {
  const { page } = await open(context, path, hash);
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme });
  await page.waitForSelector(hash.startsWith("#object") ? ".heatbox canvas" : ".coverage");
  if (tick) await page.click("text=Tick the plan");
  if (cell) await page.click(".heatbox canvas", { position: cell });
  if (size === NARROW && hash.startsWith("#object")) {
    await page
      .locator(".heattools")
      .first()
      .evaluate((e) => e.scrollIntoView({ block: "start" }));
  }
  await page.waitForTimeout(200); // pictures are drawn with the next frame
  const file = join(out, `${name}.png`);
  writeFileSync(file, await smallScreenshot(page, blank));
  console.log(file);
  await page.close();
}
await context.close();
