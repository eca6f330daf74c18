// What a reader waits for in the view of memory with many calls and objects: opens bench_memory's report in a headless Chromium,
// moves about, ticks changes, and prints the times.
//
//     node bench/report/memory.mjs REPORT [--limits]
//
// With --limits it fails where the best of three runs takes longer than what is claimed (bench/report/results.md).
import { statSync } from "node:fs";
import { open } from "../../viewer/test/tools.mjs";
import { measureReport, slowest, summary } from "./runs.mjs";

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

const MOVES = ["scroll", "point", "tick", "zoom", "pan", "by_kernel_and_time"];

await measureReport("memory", measure, (result) => slowest(result, MOVES));
