import { useMemo } from "preact/hooks";
import { ALLOCATION, COPY, FREE, LAUNCH, SET } from "../../data/course";
import { opWords } from "../../data/coursewords";
import type { Curve } from "../../data/whatif";
import { bytes, exact, seconds } from "../../widgets/format";
import { byteTicks, ticks } from "../../widgets/timeline/axis";
import { type CourseInk, fitted } from "../../widgets/timeline/paint";
import { Picture } from "../../widgets/timeline/picture";
import { AXIS, CURVE, gutter, LANE, plotWidth, TOP } from "./geometry";
import { Hand } from "./hand";
import type { MemoryState } from "./state";

type Context = CanvasRenderingContext2D;
const MOST_LANES = 6;

/** The height of each pixel column: the most that is in use within it. */
function columns(s: MemoryState, curve: Curve, width: number): Float64Array {
  const axis = s.axis.value;
  const { from, to } = axis.window.value;
  const most = new Float64Array(width).fill(-1);
  const last = axis.opAt(to);
  for (let op = axis.opAt(from); op <= last; op++) {
    const left = Math.max(0, Math.floor(axis.x(axis.place[op] as number, width)));
    const right = Math.min(width, Math.ceil(axis.x(axis.place[op + 1] as number, width)));
    const value = curve.bytes[op] as number;
    for (let x = left; x < Math.max(right, left + 1) && x < width; x++) {
      if (value > (most[x] as number)) most[x] = value;
    }
  }
  return most;
}

/** A line over the heights; none where they are negative. */
function outline(context: Context, heights: Float64Array, x0: number, y: (v: number) => number) {
  context.beginPath();
  let last = -1;
  for (let x = 0; x < heights.length; x++) {
    const value = heights[x] as number;
    if (value !== last && last >= 0) context.lineTo(x0 + x, y(last));
    if (value !== last && value >= 0) {
      if (last < 0) context.moveTo(x0 + x, y(value));
      else context.lineTo(x0 + x, y(value));
    }
    last = value;
  }
  if (last >= 0) context.lineTo(x0 + heights.length, y(last));
}

/** Only where they differ from others, and a pixel beside that. */
function different(heights: Float64Array, others: Float64Array): Float64Array {
  const differs = (x: number) => heights[x] !== others[x];
  return heights.map((h, x) => (differs(x) || differs(x - 1) || differs(x + 1) ? h : -1));
}

/** Where an amount of memory stands. */
const heightIn =
  (s: MemoryState) =>
  (v: number): number =>
    TOP + CURVE * (1 - v / s.top);

function drawScale(context: Context, s: MemoryState, x0: number, width: number, ink: CourseInk) {
  const { top } = s;
  const y = heightIn(s);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const t of byteTicks(top, 4)) {
    context.strokeStyle = ink.line;
    context.beginPath();
    context.moveTo(x0, Math.round(y(t)) + 0.5);
    context.lineTo(x0 + width, Math.round(y(t)) + 0.5);
    context.stroke();
    context.fillStyle = ink.muted;
    context.fillText(bytes(t), x0 - 8, y(t));
  }
}

/** A vertical line at a peak; its name above. */
function drawPeak(
  context: Context,
  s: MemoryState,
  { moment, bytes: size }: { moment: number; bytes: number },
  x0: number,
  width: number,
  ink: CourseInk,
) {
  const axis = s.axis.value;
  const x = axis.x(axis.place[moment] ?? -1, width);
  if (size === 0 || x < -1 || x > width) return;
  const highest = moment === s.now.moment;
  const top = heightIn(s)(size);
  context.fillStyle = ink.bad;
  context.globalAlpha = highest ? 1 : 0.6;
  context.fillRect(Math.round(x0 + x), top - 4, highest ? 1.5 : 1, TOP + CURVE - top + 4);
  context.globalAlpha = 1;
  context.textBaseline = "alphabetic";
  const text = `${highest ? "peak" : "second peak"} ${bytes(size)}`;
  const left = x <= width - context.measureText(text).width - 4;
  context.textAlign = left ? "left" : "right";
  context.fillText(text, x0 + x + (left ? 2 : -2), top - 6);
}

const APART = 130; // pixels between two peaks that both have names

/** The highest, and the others that do not stand beside it. */
function drawPeaks(context: Context, s: MemoryState, x0: number, width: number, ink: CourseInk) {
  const axis = s.axis.value;
  const x = (op: number) => axis.x(axis.place[op] ?? -1, width);
  for (const peak of s.peaks) {
    const apart = Math.abs(x(peak.moment) - x(s.now.moment)) >= APART;
    if (peak.moment === s.now.moment || apart) drawPeak(context, s, peak, x0, width, ink);
  }
}

/** Allocations that failed for want of memory: what they asked for, on top of what was in use. */
function drawFailures(context: Context, s: MemoryState, x0: number, width: number, ink: CourseInk) {
  const axis = s.axis.value;
  const y = heightIn(s);
  context.strokeStyle = ink.bad;
  context.fillStyle = ink.bad;
  context.textBaseline = "bottom";
  for (const { at, bytes: asked = 0 } of s.failures) {
    const place = axis.place[at] ?? axis.end;
    const x = Math.min(axis.x(place, width), width - 1);
    const wide = Math.max(3, axis.x(axis.place[at + 1] ?? place, width) - x);
    if (x + wide < 0 || x > width) continue;
    const used = s.usedBefore(at);
    const top = Math.max(TOP, y(used + asked));
    context.setLineDash([3, 2]);
    context.strokeRect(x0 + x, top, Math.min(wide, width - x), y(used) - top);
    context.setLineDash([]);
    context.globalAlpha = 0.12;
    context.fillRect(x0 + x, top, Math.min(wide, width - x), y(used) - top);
    context.globalAlpha = 1;
    const text = asked > 0 ? `failed: ${bytes(asked)} more` : "failed";
    const left = x <= width - context.measureText(text).width - 4;
    context.textAlign = left ? "left" : "right";
    context.fillText(text, x0 + x + (left ? 1 : -1), top - 1);
  }
}

/** What the device has, where the scale reaches so far. */
function drawDevice(context: Context, s: MemoryState, x0: number, width: number, ink: CourseInk) {
  const total = s.failures[0]?.total;
  if (total === undefined || total > s.top) return;
  const y = Math.round(heightIn(s)(total)) + 0.5;
  context.strokeStyle = ink.text;
  context.beginPath();
  context.moveTo(x0, y);
  context.lineTo(x0 + width, y);
  context.stroke();
  context.fillStyle = ink.text;
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText(`the device has ${bytes(total)}`, x0 + 4, y - 1);
}

function drawCurves(context: Context, s: MemoryState, x0: number, width: number, ink: CourseInk) {
  const y = heightIn(s);
  const now = columns(s, s.now, width);
  outline(context, now, x0, y);
  context.strokeStyle = ink.used;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineTo(x0 + width, y(0));
  context.lineTo(x0, y(0));
  context.fillStyle = ink.usedSoft;
  context.globalAlpha = 0.55;
  context.fill();
  context.globalAlpha = 1;
  const whatIf = s.whatIf.value;
  if (s.hasPlan && !whatIf) {
    context.setLineDash([5, 3]);
    outline(context, different(columns(s, s.withPlan, width), now), x0, y);
    context.strokeStyle = ink.good;
    context.stroke();
    context.setLineDash([]);
  }
  if (whatIf) {
    outline(context, columns(s, whatIf, width), x0, y);
    context.strokeStyle = ink.good;
    context.lineWidth = 2;
    context.stroke();
  }
  context.lineWidth = 1;
}

function drawAxis(context: Context, s: MemoryState, x0: number, width: number, ink: CourseInk) {
  const axis = s.axis.value;
  const { from, to } = axis.window.value;
  const y = TOP + CURVE;
  context.textBaseline = "top";
  context.fillStyle = ink.muted;
  context.textAlign = "right";
  context.fillText(s.byTime.value ? "time" : "call", x0 - 8, y + 6);
  for (const t of ticks(from, to, width / 90, !s.byTime.value)) {
    const x = axis.x(t, width);
    const text = s.byTime.value ? (t === 0 ? "0" : seconds(t)) : exact(t);
    const half = context.measureText(text).width / 2;
    context.textAlign = x + half > width ? "right" : x < half ? "left" : "center";
    context.fillRect(Math.round(x0 + x), y, 1, 4);
    context.fillText(text, Math.min(x0 + x, x0 + width), y + 6);
  }
  if (axis.zoom <= 1.001) return;
  const share = width / axis.end; // what is in sight, of all
  context.fillStyle = ink.line;
  context.fillRect(x0, y + AXIS - 3, width, 2);
  context.fillStyle = ink.accent;
  context.fillRect(x0 + from * share, y + AXIS - 3, Math.max(3, (to - from) * share), 2);
}

const laneColor = (kind: number, ink: CourseInk): string =>
  kind === ALLOCATION || kind === FREE
    ? ink.text
    : kind === COPY || kind === SET
      ? ink.copy
      : kind === LAUNCH
        ? ink.launch
        : ink.line;

/** The queues that have operations, the busiest of them. */
export function lanesOf(s: MemoryState): number[] {
  const { ops, row } = s.d;
  const busy = new Uint32Array(row.queues.length);
  for (let op = 0; op < ops.count; op++) {
    const queue = ops.queue[op] as number;
    busy[queue] = (busy[queue] as number) + 1;
  }
  return row.queues
    .map((_, q) => q)
    .filter((q) => busy[q])
    .sort((a, b) => (busy[b] as number) - (busy[a] as number))
    .slice(0, MOST_LANES)
    .sort((a, b) => a - b);
}

export function laneName(s: MemoryState, queue: number): string {
  const row = s.d.row.queues[queue];
  if (!row) return "";
  if (row.thread) return row.number > 1 ? `host thread ${row.number}` : "host";
  return row.number === 0 ? "default stream" : `stream ${row.number}`;
}

/** Each operation in the lane of its stream: one that does more hides one that does less. */
function drawLanes(
  context: Context,
  s: MemoryState,
  lanes: number[],
  x0: number,
  width: number,
  ink: CourseInk,
) {
  const axis = s.axis.value;
  const { from, to } = axis.window.value;
  const { ops } = s.d;
  const top = TOP + CURVE + AXIS;
  const rank = [4, 4, 3, 3, 2];
  const seen = lanes.map(() => new Uint8Array(width));
  const at = new Int32Array(s.d.row.queues.length).fill(-1);
  lanes.forEach((q, i) => {
    at[q] = i;
  });
  const last = axis.opAt(to);
  for (let op = axis.opAt(from); op <= last; op++) {
    const lane = at[ops.queue[op] as number] as number;
    if (lane < 0) continue;
    const kind = ops.kind[op] as number;
    const code = ((rank[kind] ?? 1) << 4) | kind;
    const left = Math.max(0, Math.floor(axis.x(axis.place[op] as number, width)));
    const wide = axis.x(axis.place[op + 1] as number, width) - left;
    const right = Math.min(width, left + Math.max(1, Math.floor(s.byTime.value ? 2 : wide)));
    const cells = seen[lane] as Uint8Array;
    for (let x = left; x < right; x++) if (code > (cells[x] as number)) cells[x] = code;
  }
  context.textBaseline = "middle";
  lanes.forEach((queue, i) => {
    const y = top + i * LANE;
    context.fillStyle = ink.empty;
    context.fillRect(x0, y + 1, width, LANE - 3);
    context.textAlign = "right";
    context.fillStyle = ink.muted;
    context.fillText(fitted(context, laneName(s, queue), x0 - 12), x0 - 8, y + LANE / 2);
    runs(seen[i] as Uint8Array, (from_, to_, code) => {
      context.fillStyle = laneColor(code & 15, ink);
      const gap = to_ - from_ > 3 ? 0.5 : 0;
      context.fillRect(x0 + from_, y + 1, to_ - from_ - gap, LANE - 3);
    });
  });
}

/** Stretches of equal values that are not 0. */
export function runs(cells: Uint8Array, take: (from: number, to: number, value: number) => void) {
  for (let x = 0; x < cells.length; ) {
    const value = cells[x] as number;
    let end = x + 1;
    while (end < cells.length && cells[end] === value) end++;
    if (value) take(x, end, value);
    x = end;
  }
}

/** What is pointed at, and what is selected, as lines over all of the height. */
export function drawMarks(
  context: Context,
  s: MemoryState,
  x0: number,
  width: number,
  height: number,
  ink: CourseInk,
) {
  const axis = s.axis.value;
  for (const [what, color] of [
    [s.hover.value, ink.muted],
    [s.selection.value, ink.accent],
  ] as const) {
    if (!what || !("op" in what)) continue;
    const x = axis.x(axis.place[what.op] as number, width);
    const wide = axis.x(axis.place[what.op + 1] as number, width) - x;
    if (x < -wide || x > width) continue;
    context.fillStyle = color;
    context.globalAlpha = 0.25;
    context.fillRect(x0 + Math.max(0, x), 0, Math.max(1, wide), height);
    context.globalAlpha = 1;
    context.fillRect(x0 + Math.max(0, x), 0, 1, height);
  }
}

export function CurvePane({ s }: { s: MemoryState }) {
  const lanes = useMemo(() => lanesOf(s), [s]);
  const height = TOP + CURVE + AXIS + lanes.length * LANE + 4;
  const hand = useMemo(() => new Hand(s), [s]);
  const draw = (context: Context, width: number, ink: CourseInk) => {
    const x0 = gutter(width);
    const plot = Math.floor(plotWidth(width));
    context.font = `11px ${ink.sans}`;
    drawScale(context, s, x0, plot, ink);
    drawCurves(context, s, x0, plot, ink);
    drawAxis(context, s, x0, plot, ink);
    drawLanes(context, s, lanes, x0, plot, ink);
    drawPeaks(context, s, x0, plot, ink);
    drawFailures(context, s, x0, plot, ink);
    drawDevice(context, s, x0, plot, ink);
    drawMarks(context, s, x0, plot, height, ink);
  };
  const selected = s.selection.value;
  const text =
    selected && "op" in selected
      ? `${opWords(s.m, s.d, selected.op)}: ${bytes(s.now.bytes[selected.op] as number)} in use`
      : "";
  return (
    <div
      class="curvebox"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
      tabIndex={0}
      role="application"
      aria-roledescription="chart"
      aria-label={`Memory in use, call after call; peak ${bytes(s.now.peak)}. Left and right select a call, plus and minus zoom`}
      onKeyDown={hand.keyOnCurve}
    >
      <Picture
        height={height}
        draw={draw}
        watch={[s, lanes]}
        onPointerMove={hand.move}
        onPointerLeave={hand.leave}
        onPointerDown={hand.down}
        onPointerUp={hand.upOnCurve}
        onWheel={hand.wheel}
      />
      <span class="unseen" aria-live="polite">
        {text}
      </span>
    </div>
  );
}
