// What a reader waits for in the explorer of a launch with very many warps: opens it in a headless Chromium, pans, zooms,
// goes to blocks, warps and operations, and prints the times.
//
//     node bench/report/explorer.mjs REPORT [--limits]
//
// With --limits it fails where the best of three runs takes longer than what is claimed (bench/report/results.md).
import { statSync } from "node:fs";
import { findBrowser, launch, open, scratch } from "../../viewer/test/tools.mjs";

const OPEN_MS = 2000;
const FRAME_MS = { median: 18, p95: 50 }; // 60 frames a second are 16.7 ms each
const OPERATION_MS = 50;
const BYTES = 20_000_000;
const RUNS = 3; // machines do other things, too

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const round = (ms) => Math.round(ms * 10) / 10;
  return {
    times: times.length,
    median: round(at(0.5)),
    p95: round(at(0.95)),
    worst: round(sorted.at(-1) ?? 0),
  };
}

/** What a hand on the mouse does, an event a frame, in the page; the times between the frames. */
function hand({ kind, count }) {
  const canvas = document.querySelector(".gridcanvas");
  const box = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {}; // there is no real pointer
  const at = (x, y) => ({
    clientX: box.left + x,
    clientY: box.top + y,
    bubbles: true,
    cancelable: true,
    pointerId: 1,
    button: 0,
    buttons: 1,
  });
  const move = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, at(x, y)));
  const wheel = (more) => canvas.dispatchEvent(new WheelEvent("wheel", { ...at(300, 200), ...more }));
  const acts = {
    // Round and round, some 30 pixels a frame.
    pan: (i) => {
      if (i % 60 === 0) {
        move("pointerup", 400, 250);
        move("pointerdown", 400, 250);
      }
      const turn = (i % 60) / 60;
      move("pointermove", 400 - 900 * turn, 250 - 600 * turn * (Math.floor(i / 60) % 2 ? -1 : 1));
    },
    scroll: (i) => wheel({ deltaY: Math.floor(i / 90) % 2 ? -60 : 60 }),
    // A step nearer or farther ten times a second.
    zoom: (i) => i % 6 === 0 && wheel({ deltaY: Math.floor(i / 60) % 2 ? 100 : -100, ctrlKey: true }),
    point: (i) =>
      canvas.dispatchEvent(
        new PointerEvent("pointermove", { ...at(60 + ((i * 37) % 700), 30 + ((i * 23) % 400)), buttons: 0 }),
      ),
  };
  return new Promise((resolve) => {
    const times = [];
    let last = 0;
    const tick = () => {
      const now = performance.now();
      if (last > 0) times.push(now - last);
      last = now;
      if (times.length === count) {
        move("pointercancel", 0, 0);
        resolve(times);
      } else {
        acts[kind](times.length);
        requestAnimationFrame(tick);
      }
    };
    requestAnimationFrame(tick);
  });
}

/** Milliseconds from a new address until that operation is shown, of operations far from each other. */
async function operations({ count, blocks }) {
  const shown = (selector, text) =>
    new Promise((resolve) => {
      const seen = () => {
        if (!document.querySelector(selector)?.textContent.includes(text)) return false;
        resolve();
        return true;
      };
      if (seen()) return;
      const observer = new MutationObserver(() => seen() && observer.disconnect());
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    });
  const times = [];
  for (let i = 0; i < count; i++) {
    const block = (i * 7919 + 13) % blocks;
    const step = (i * 31) % 70;
    const start = performance.now();
    location.hash = `#explore/1?block=${block}&warp=${i % 8}&step=${step}`;
    await shown(".levels", `block ${block} › warp ${i % 8} › operation ${step + 1}`);
    await shown(".operationview h2", `Operation ${step + 1} of `);
    times.push(performance.now() - start);
    await new Promise((go) => setTimeout(go, 20));
  }
  return times;
}

/** How many blocks the grid says that it has. */
const blocksOf = async (page) =>
  Number(/([\d,]+) blocks of/.exec(await page.innerText(".exploretools"))[1].replaceAll(",", ""));

async function measure(context, path) {
  const result = { megabytes: Math.round(statSync(path).size / 1e5) / 10 };
  const start = performance.now();
  const { page, problems } = await open(context, path, "#explore/1");
  await page.waitForSelector(".gridcanvas[data-drawn]");
  result.open_ms = Math.round(performance.now() - start);
  await page.waitForTimeout(500);
  const run = async (kind) => summary(await page.evaluate(hand, { kind, count: 180 }));
  result.point = await run("point");
  result.zoom = await run("zoom");
  await page.focus(".gridbox");
  await page.keyboard.press("0");
  for (const nearer of [4, 4, 4]) {
    for (let i = 0; i < nearer; i++) await page.keyboard.press("+");
    await page.waitForTimeout(200);
    const scale = await page.getAttribute(".gridcanvas", "data-drawn");
    result[`pan, cells ${Math.round(Number(scale) * 100) / 100} wide`] = await run("pan");
  }
  result.scroll = await run("scroll");
  result.operation = summary(await page.evaluate(operations, { count: 100, blocks: await blocksOf(page) }));
  await page.close();
  return { result, problems };
}

/** What took longer than it may; "" where nothing did. */
function slowest(result) {
  if (result.megabytes * 1e6 >= BYTES) return `${result.megabytes} MB`;
  if (result.open_ms >= OPEN_MS) return `opened in ${result.open_ms} ms, more than ${OPEN_MS}`;
  if (result.operation.p95 >= OPERATION_MS) return `operation: ${JSON.stringify(result.operation)}`;
  const moves = Object.keys(result).filter((what) => /^(point|zoom|pan|scroll)/.test(what));
  const slow = moves.find(
    (what) => result[what].median >= FRAME_MS.median || result[what].p95 >= FRAME_MS.p95,
  );
  return slow ? `${slow}: ${JSON.stringify(result[slow])}` : "";
}

const [path, option] = process.argv.slice(2);
if (!path || (option && option !== "--limits")) {
  console.error("usage: node bench/report/explorer.mjs REPORT [--limits]");
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
if (slow) console.error(`explorer: ${slow}`);
process.exit(slow ? 1 : 0);
