// Pictures of the explorer for docs/explorer.md, from reports of examples/explorer: node test/gallery.mjs REPORTS [--out FOLDER]
// tools/gallery.sh makes the reports and runs this.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallScreenshot } from "./png.mjs";
import { findBrowser, launch, open, scratch, viewer } from "./tools.mjs";

const WIDE = { width: 1280, height: 800 };
const TALL = { width: 1280, height: 900 };

// access: which access of the warp to memory, from 1; opened: at the level of one operation.
const VIEWS = [
  { name: "naive", report: "transpose", launch: 1, at: "block=33&warp=3", access: 2, opened: true },
  { name: "warp", report: "transpose", launch: 2, at: "block=33&warp=3", access: 3 },
  {
    name: "shared",
    report: "transpose",
    launch: 2,
    at: "block=33&warp=3",
    access: 3,
    opened: true,
  },
  {
    name: "shared-1x",
    report: "transpose",
    launch: 2,
    at: "block=33&warp=3&arch=1.2",
    access: 3,
    opened: true,
    colorScheme: "dark",
  },
  {
    name: "padded",
    report: "transpose",
    launch: 3,
    at: "block=33&warp=3",
    access: 3,
    opened: true,
  },
  { name: "beside", report: "transpose", launch: 1, at: "beside=3&bundle=5" },
  { name: "grid", report: "haar", launch: 1, at: "" },
  { name: "block", report: "haar", launch: 1, at: "block=0" },
  { name: "reduction", report: "sums", launch: 3, at: "block=0&warp=0", access: 16 },
  { name: "scalar-product", report: "sums", launch: 2, at: "block=0" },
  {
    name: "multiply",
    report: "multiply",
    launch: 1,
    at: "block=9&warp=2",
    access: 5,
    opened: true,
  },
  {
    name: "histogram",
    report: "histogram",
    launch: 1,
    at: "block=3&warp=4",
    access: 2,
    opened: true,
  },
];

const reports = process.argv[2];
const browser = findBrowser();
if (!browser || !reports) {
  console.error("gallery: give a folder of reports; WARPLENS_BROWSER may name a Chromium");
  process.exit(1);
}
const at = process.argv.indexOf("--out");
const out = at > 0 ? process.argv[at + 1] : join(viewer, "../docs/images");
mkdirSync(out, { recursive: true });
const folder = scratch();
const context = await launch(browser, folder);
const blank = await context.newPage();

/** Walks to the access by the keys, and opens it. */
async function walk(page, { access, opened }) {
  await page.waitForSelector(".oprow.on");
  for (let i = 0; i < access; i++) {
    const before = await page.getAttribute(".oprow.on", "id");
    await page.press(".oplist", "ArrowRight");
    await page.waitForSelector(`.oprow.on:not(#${before})`);
  }
  if (!opened) return;
  await page.press(".oplist", "Enter");
  await page.waitForSelector(".operationview .oppicture");
}

for (const view of VIEWS) {
  const { name, report, launch: id, colorScheme = "light" } = view;
  const hash = `#explore/${id}${view.at ? `?${view.at}` : ""}`;
  const { page, problems } = await open(context, join(reports, `${report}.html`), hash);
  await page.setViewportSize(view.opened ? TALL : WIDE);
  await page.emulateMedia({ colorScheme });
  if (view.access) await walk(page, view);
  else await page.waitForSelector("canvas");
  await page.mouse.move(0, 0);
  await page.waitForTimeout(600); // a worker compares, and pictures are drawn with the next frame
  if (problems.length > 0) throw new Error(`${name}: ${problems.join("; ")}`);
  const file = join(out, `explorer-${name}.png`);
  writeFileSync(file, await smallScreenshot(page, blank));
  console.log(file);
  await page.close();
}
await context.close();
