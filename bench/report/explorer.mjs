// What a reader waits for in the explorer of a launch with very many warps: opens it in a headless Chromium, pans, zooms,
// goes to blocks, warps and operations, and prints the times.
//
//     node bench/report/explorer.mjs REPORT [--limits]
//
// With --limits it fails where the best of three runs takes longer than what is claimed (bench/report/results.md).
import { statSync } from "node:fs";
import { open } from "../../viewer/test/tools.mjs";
import { measureReport, slowest, summary } from "./runs.mjs";

const OPERATION_MS = 50;
const BYTES = 20_000_000;

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
  result.operation = summary(await page.evaluate(operations, { count: 100, blocks: await blocksOf(page) }), "operations");
  await page.close();
  return { result, problems };
}

const MOVES = /^(point|zoom|pan|scroll)/;

function tooSlow(result) {
  if (result.megabytes * 1e6 >= BYTES) return `${result.megabytes} MB`;
  if (result.operation.p95 >= OPERATION_MS) return `operation: ${JSON.stringify(result.operation)}`;
  return slowest(result, Object.keys(result).filter((what) => MOVES.test(what)));
}

await measureReport("explorer", measure, tooSlow);
