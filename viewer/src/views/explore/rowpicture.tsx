/** One operation of a warp in a line: its threads, and what its requests move. */
import type { Access } from "../../data/explore/insight";
import { rangeOf, rangesOf, runsOf } from "../../data/explore/pieces";
import { isActive, LANES, type Served, type Transaction } from "../../data/explore/transactions";

export const ROW = 26;
const CELL = 7;
export const THREADS_WIDTH = LANES * CELL;
export const PICTURE_WIDTH = 300;
const TOP = 4;
const TALL = ROW - 2 * TOP;
export const HUES = 8;
const MOST_BOXES = 64; // of bulk copies there would be thousands

const box = (x: number, y: number, width: number, height: number) =>
  `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;

/** A box a thread: filled where it is active; the bigger, the more of the last 100 operations had it active. */
export function Threads({ mask, activity }: { mask: number; activity: number[] }) {
  const paths = { on: "", off: "" };
  activity.forEach((share, lane) => {
    const size = 1.5 + (CELL - 2) * share;
    const way = isActive(mask, lane) ? "on" : "off";
    paths[way] += box(lane * CELL + (CELL - size) / 2, (ROW - size) / 2, size, size);
  });
  return (
    <svg
      class="threads"
      width={THREADS_WIDTH}
      height={ROW}
      viewBox={`0 0 ${THREADS_WIDTH} ${ROW}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="on" d={paths.on} />
      <path class="off" d={paths.off} />
    </svg>
  );
}

interface Box {
  t: Transaction;
  x: number;
  width: number;
}

/** Transactions side by side, as wide as they are big, all smaller where they would not fit. */
function boxesOf(transactions: Transaction[], width: number): Box[] {
  const shown = transactions.slice(0, MOST_BOXES);
  const bytes = shown.reduce((sum, t) => sum + t.size, 0);
  const gap = shown.length > 40 ? 1 : 2;
  const byte = Math.min(9 / 32, (width - gap * shown.length) / Math.max(1, bytes));
  let x = 0.5;
  return shown.map((t) => {
    const placed = { t, x, width: t.size * byte };
    x += placed.width + gap;
    return placed;
  });
}

/** A box a transaction; what is used of it has the colour of its range of addresses. */
function Transactions({ served, width }: { served: Served; width: number }) {
  const boxes = boxesOf(served.transactions, width);
  const ranges = rangesOf(boxes.map((b) => b.t));
  const used = new Map<number, string>();
  let edges = "";
  for (const { t, x, width: w } of boxes) {
    const hue = rangeOf(ranges, t.address) % HUES;
    edges += box(x, TOP + 0.5, w, TALL - 1);
    for (const [from, to] of runsOf(t.taken)) {
      const wide = Math.max(1, ((to - from) / t.size) * w);
      const at = x + (from / t.size) * w;
      used.set(hue, `${used.get(hue) ?? ""}${box(at, TOP + 0.5, wide, TALL - 1)}`);
    }
  }
  return (
    <>
      {[...used].map(([hue, d]) => (
        <path key={hue} class={`hue${hue}`} d={d} />
      ))}
      <path class="edges" d={edges} />
    </>
  );
}

/** A box a bank, from top to bottom a stripe a pass, in the pass's colour where it serves the bank. */
function Banks({ served, banks, width }: { served: Served; banks: number; width: number }) {
  const passes = served.passes.slice(0, MOST_BOXES);
  const pitch = Math.floor(Math.min(width, 320) / banks);
  const stripe = TALL / Math.max(1, passes.length);
  const used = new Map<number, string>();
  passes.forEach((pass, p) => {
    for (let bank = 0; bank < banks; bank++) {
      if (!pass.banks[bank]) continue;
      const d = box(bank * pitch + 1, TOP + p * stripe, pitch - 2.5, Math.max(0.6, stripe));
      used.set(p % HUES, `${used.get(p % HUES) ?? ""}${d}`);
    }
  });
  const edges = Array.from({ length: banks }, (_, bank) =>
    box(bank * pitch + 0.5, TOP - 0.5, pitch - 2, TALL + 1),
  ).join("");
  return (
    <>
      {[...used].map(([hue, d]) => (
        <path key={hue} class={`hue${hue}`} d={d} />
      ))}
      <path class="edges soft" d={edges} />
    </>
  );
}

/** What one request does. */
export function RequestPicture(p: { access: Access; banks: number; width: number }) {
  const { access, banks, width } = p;
  return (
    <svg
      class="moved"
      width={width}
      height={ROW}
      viewBox={`0 0 ${width} ${ROW}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {access.asked.space === "shared" ? (
        <Banks served={access.served} banks={banks} width={width} />
      ) : (
        <Transactions served={access.served} width={width} />
      )}
    </svg>
  );
}
