// Pictures of the report for the documentation: node test/screenshots.mjs [--report FILE] [--out FOLDER]
// [--full]; without a report, of the fixture.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findBrowser, launch, open, report, scratch, viewer } from "./tools.mjs";

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at > 0 ? process.argv[at + 1] : undefined;
};

const VIEWS = [
  { name: "finding", hash: "#finding/1" },
  { name: "finding-dark", hash: "#finding/2", colorScheme: "dark" },
  { name: "kernel", hash: "#kernel" },
  { name: "object", hash: "#object/2", cell: { x: 200, y: 10 } },
  { name: "overview", hash: "#overview" },
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
for (const { name, hash, colorScheme = "light", cell } of VIEWS) {
  const { page } = await open(context, path, hash);
  await page.emulateMedia({ colorScheme });
  await page.waitForSelector(".coverage");
  if (cell) await page.click(".heatbox canvas", { position: cell, force: true });
  const file = join(out, `${name}.png`);
  await page.screenshot({ path: file, fullPage: process.argv.includes("--full") });
  console.log(file);
  await page.close();
}
await context.close();
