// Opens a large report and measures: node test/large.mjs REPORT; prints one line of JSON a measurement.
import { statSync } from "node:fs";
import { findBrowser, launch, open, scratch } from "./tools.mjs";

/** Milliseconds from opening the file until the selector is there. */
async function opened(context, path, hash, selector) {
  const start = performance.now();
  const { page, problems } = await open(context, path, hash);
  await page.waitForSelector(selector);
  return { page, problems, ms: performance.now() - start };
}

export function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const round = (ms) => Math.round(ms * 10) / 10;
  return {
    frames: times.length,
    median: round(at(0.5)),
    p95: round(at(0.95)),
    worst: round(sorted.at(-1) ?? 0),
  };
}

/** What a hand on the wheel or on the strip does, an event a frame, in the page; the times between the frames. */
function hand({ kind, count }) {
  const canvas = document.querySelector(".heatbox canvas");
  const box = canvas.getBoundingClientRect();
  const grip = document.querySelector(".grip");
  grip.setPointerCapture = () => {}; // there is no real pointer
  const wheel = (deltaY, ctrlKey) => {
    const at = { clientX: box.left + 200, clientY: box.top + 300, bubbles: true, cancelable: true };
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, ctrlKey, ...at }));
  };
  const acts = {
    scroll: () => wheel(90, false),
    // A step nearer or farther ten times a second: all the way out, and back in.
    zoom: (i) => i % 6 === 0 && wheel(Math.floor(i / 60) % 2 === 0 ? 100 : -100, true),
    drag: (i) => {
      const y = 60 + 400 * (0.5 - 0.5 * Math.cos(i / 20));
      const at = { clientX: box.left + 10, clientY: box.top + y, bubbles: true, pointerId: 1 };
      grip.dispatchEvent(new PointerEvent(i === 0 ? "pointerdown" : "pointermove", at));
    },
  };
  return new Promise((resolve) => {
    const times = [];
    let last = 0;
    const tick = () => {
      const now = performance.now();
      if (last > 0) times.push(now - last);
      last = now;
      if (times.length === count) resolve(times);
      else {
        acts[kind](times.length);
        requestAnimationFrame(tick);
      }
    };
    requestAnimationFrame(tick);
  });
}

/** What a reader notices of a large report: the times to open it and the frames while moving about. */
export async function measure(context, path, count = 180) {
  const result = { megabytes: Math.round(statSync(path).size / 1e5) / 10 };
  const first = await opened(context, path, "", ".coverage");
  result.open_ms = Math.round(first.ms);
  await first.page.close();
  const map = await opened(context, path, "#object/1?map=1", ".heatbox canvas");
  result.open_map_ms = Math.round(map.ms);
  const { page, problems } = map;
  await page.waitForTimeout(300);
  const run = async (on, kind) => summary(await on.evaluate(hand, { kind, count }));
  result.scroll = await run(page, "scroll");
  result.drag = await run(page, "drag");
  result.zoom = await run(page, "zoom");
  await page.click("text=all");
  result.afar = await run(page, "scroll");
  await page.close();
  const two = await opened(context, path, "#object/1?map=1,2", ".heatbox canvas");
  result.open_two_ms = Math.round(two.ms);
  await two.page.waitForTimeout(300);
  result.scroll_two = await run(two.page, "scroll");
  await two.page.close();
  return { result, problems: [...first.problems, ...problems, ...two.problems] };
}

if (process.argv[1]?.endsWith("large.mjs")) {
  const browser = findBrowser();
  if (!browser || !process.argv[2]) {
    console.error("usage: node test/large.mjs REPORT; needs a Chromium (WARPLENS_BROWSER)");
    process.exit(1);
  }
  const context = await launch(browser, scratch());
  const { result, problems } = await measure(context, process.argv[2]);
  for (const [name, value] of Object.entries(result)) console.log(name, JSON.stringify(value));
  for (const problem of problems) console.error(problem);
  await context.close();
}
