// Pictures of the report for the documentation: node test/screenshots.mjs [--report FILE] [--out FOLDER]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findBrowser, launch, open, report, scratch, viewer } from "./tools.mjs";

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at > 0 ? process.argv[at + 1] : undefined;
};

const VIEWS = [
  { name: "finding", hash: "#finding/1" },
  { name: "kernel", hash: "#kernel" },
  { name: "object", hash: "#object" },
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
for (const colorScheme of ["light", "dark"]) {
  const context = await launch(browser, folder, { colorScheme });
  for (const view of VIEWS) {
    const { page } = await open(context, path, view.hash);
    await page.waitForSelector(".coverage");
    if (view.name === "object" && (await page.$(".heatbox canvas"))) {
      await page.click(".heatbox canvas", { position: { x: 200, y: 60 }, force: true });
    }
    const file = join(out, `${view.name}-${colorScheme}.png`);
    await page.screenshot({ path: file, fullPage: option("--full") !== undefined });
    console.log(file);
    await page.close();
  }
  await context.close();
}
