// What the measurements of the report's page share: how a run is opened, repeated, summed up and held against what is claimed.
import { findBrowser, launch, scratch } from "../../viewer/test/tools.mjs";

const OPEN_MS = 2000;
const FRAME_MS = { median: 18, p95: 50 }; // 60 frames a second are 16.7 ms each
const RUNS = 3; // machines do other things, too

/** Of milliseconds; `what` names what was timed. */
export function summary(times, what = "frames") {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const round = (ms) => Math.round(ms * 10) / 10;
  return { [what]: times.length, median: round(at(0.5)), p95: round(at(0.95)), worst: round(sorted.at(-1) ?? 0) };
}

/** What took longer than it may of the opening and of the moves that are named; "" where nothing did. */
export function slowest(result, moves) {
  if (result.open_ms >= OPEN_MS) return `opened in ${result.open_ms} ms, more than ${OPEN_MS}`;
  const slow = moves.find(
    (what) => result[what].median >= FRAME_MS.median || result[what].p95 >= FRAME_MS.p95,
  );
  return slow ? `${slow}: ${JSON.stringify(result[slow])}` : "";
}

/** Reads the command line, and measures until a run is as fast as `tooSlow` asks (it gives "" then); ends the process. */
export async function measureReport(name, measure, tooSlow) {
  const [path, option] = process.argv.slice(2);
  if (!path || (option && option !== "--limits")) {
    console.error(`usage: node bench/report/${name}.mjs REPORT [--limits]`);
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
    for (const [key, value] of Object.entries(result)) console.log(key, JSON.stringify(value));
    for (const problem of problems) console.error(problem);
    slow = option && problems.length === 0 ? tooSlow(result) : problems.join("\n");
  }
  await context.close();
  if (slow) console.error(`${name}: ${slow}`);
  process.exit(slow ? 1 : 0);
}
