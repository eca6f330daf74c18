// What a reader waits for in the view of memory with many calls and objects: opens bench_memory's report in a headless Chromium,
// moves about, ticks changes, and prints the times.
//
//     node bench/report/memory.mjs REPORT [--limits]
//
// With --limits it fails where the best of three runs takes longer than what is claimed (bench/report/results.md).
import { statSync } from "node:fs";
import { findBrowser, launch, open, scratch } from "../../viewer/test/tools.mjs";

const OPEN_MS = 2000;
const FRAME_MS = { median: 18, p95: 50 }; // 60 frames a second are 16.7 ms each
const RUNS = 3; // machines do other things, too

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const round = (ms) => Math.round(ms * 10) / 10;
  return { frames: times.length, median: round(at(0.5)), p95: round(at(0.95)), worst: round(sorted.at(-1) ?? 0) };
}

/** What a hand does, an event a frame, in the page; the times between the frames. */
function hand({ kind, count }) {
  const canvas = document.querySelector(".livesbox canvas");
  const list = document.querySelector(".livesbox");
  const box = canvas.getBoundingClientRect();
  const middle = { clientX: box.left + box.width * 0.6, clientY: box.top + 100 };
  const wheel = (more) => canvas.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, ...middle, ...more }));
  const acts = {
    // A step nearer or farther ten times a second: all the way in, and out again.
    zoom: (i) => i % 3 === 0 && wheel({ deltaY: Math.floor(i / 60) % 2 === 0 ? -100 : 100, ctrlKey: true }),
    pan: (i) => wheel({ deltaX: Math.floor(i / 60) % 2 === 0 ? 40 : -40 }),
    scroll: () => {
      list.scrollTop += 45;
    },
    point: (i) =>
      canvas.dispatchEvent(
        new PointerEvent("pointermove", { bubbles: true, clientX: box.left + 260 + ((i * 7) % 500), clientY: box.top + ((i * 3) % 300) }),
      ),
    tick: (i) => i % 10 === 0 && document.querySelectorAll(".changes input")[(i / 10) % 6].click(),
  };
  return new Promise((resolve) => {
    const times = [];
    let last = 0;
    const next = () => {
      const now = performance.now();
      if (last > 0) times.push(now - last);
      last = now;
      if (times.length === count) resolve(times);
      else {
        acts[kind](times.length);
        requestAnimationFrame(next);
      }
    };
    requestAnimationFrame(next);
  });
}

async function measure(context, path, count = 180) {
  const result = { megabytes: Math.round(statSync(path).size / 1e5) / 10 };
  const start = performance.now();
  const { page, problems } = await open(context, path, "#memory");
  await page.waitForSelector(".livesbox canvas");
  result.open_ms = Math.round(performance.now() - start);
  await page.waitForTimeout(500);
  const run = async (kind) => summary(await page.evaluate(hand, { kind, count }));
  for (const kind of ["scroll", "point", "tick", "zoom", "pan"]) result[kind] = await run(kind);
  await page.selectOption('select[aria-label="What colours show"]', "kernel");
  await page.selectOption('select[aria-label="What the axis shows"]', "time");
  result.by_kernel_and_time = await run("pan");
  await page.close();
  return { result, problems };
}

/** What took longer than it may; "" where nothing did. */
function slowest({ megabytes, open_ms, ...moves }) {
  if (open_ms >= OPEN_MS) return `opened in ${open_ms} ms, more than ${OPEN_MS}`;
  const slow = Object.entries(moves).find(([, t]) => t.median >= FRAME_MS.median || t.p95 >= FRAME_MS.p95);
  return slow ? `${slow[0]}: ${JSON.stringify(slow[1])}` : "";
}

const [path, option] = process.argv.slice(2);
if (!path || (option && option !== "--limits")) {
  console.error("usage: node bench/report/memory.mjs REPORT [--limits]");
  process.exit(2);
}
const browser = findBrowser();
if (!browser) {
  console.log("skipped: no Chromium here (WARPLENS_BROWSER may name one)");
  process.exit(0);
}
const context = await launch(browser, scratch());
let slow;
for (let run = 0; run < RUNS && slow !== ""; run++) {
  const { result, problems } = await measure(context, path);
  for (const [name, value] of Object.entries(result)) console.log(name, JSON.stringify(value));
  for (const problem of problems) console.error(problem);
  slow = option && problems.length === 0 ? slowest(result) : problems.join("\n");
}
await context.close();
if (slow) console.error(`memory: ${slow}`);
process.exit(slow ? 1 : 0);
