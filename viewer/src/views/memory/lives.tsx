import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type CourseData, FIXED, LAUNCH, NONE, READ, WRITE } from "../../data/course";
import { lifeName } from "../../data/coursewords";
import { objectOf } from "../../data/model";
import { bytes, plural } from "../../widgets/format";
import { type CourseInk, fitted, kernelColor } from "../../widgets/timeline/paint";
import { Picture } from "../../widgets/timeline/picture";
import { shortObject } from "../names";
import { drawMarks, runs } from "./curve";
import { BAR, gutter, plotWidth, ROW } from "./geometry";
import { Hand } from "./hand";
import type { MemoryState } from "./state";

type Context = CanvasRenderingContext2D;
const NEVER_FREED = 2;
const HOST = 255; // the code of copies and sets among kernels'

/** The first of an object's accesses at an operation or behind it. */
function firstTouch(d: CourseData, object: number, op: number): number {
  let low = d.touches.start[object] as number;
  let high = d.touches.start[object + 1] as number;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((d.touches.op[mid] as number) < op) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** Pictures of the lives in one frame: what is the same for all rows is worked out once. */
class LivesPainter {
  private readonly unknown: Uint8Array;
  private readonly reads: Uint8Array;
  private readonly writes: Uint8Array;
  private readonly from: number; // operations in sight
  private readonly to: number;

  constructor(
    private readonly context: Context,
    private readonly s: MemoryState,
    private readonly x0: number,
    private readonly width: number,
    private readonly ink: CourseInk,
  ) {
    const axis = s.axis.value;
    this.from = axis.opAt(axis.window.value.from);
    this.to = axis.opAt(axis.window.value.to);
    this.unknown = new Uint8Array(width);
    this.reads = new Uint8Array(width);
    this.writes = new Uint8Array(width);
    for (let op = this.from; op <= this.to; op++) {
      if (s.d.ops.unknown(op)) this.cover(this.unknown, op, 1);
    }
  }

  private x(op: number): number {
    const axis = this.s.axis.peek();
    return axis.x(axis.place[Math.min(op, axis.count)] as number, this.width);
  }

  /** The pixels of an operation. */
  private cover(cells: Uint8Array, op: number, code: number): void {
    const left = Math.max(0, Math.floor(this.x(op)));
    const right = this.s.byTime.peek() ? left + 2 : Math.floor(this.x(op + 1));
    for (let x = left; x < Math.max(left + 1, right) && x < this.width; x++) cells[x] = code;
  }

  private bar(from: number, to: number, y: number, height: number, color: string): void {
    const left = Math.max(0, this.x(from));
    const right = Math.min(this.width, this.x(to));
    if (right < 0 || left > this.width || to <= from) return;
    this.context.fillStyle = color;
    this.context.fillRect(this.x0 + left, y, Math.max(1, right - left), height);
  }

  private label(object: number, y: number): void {
    const { context, s, x0, ink } = this;
    const row = objectOf(s.m, s.d.lives.id[object]);
    const size = bytes(s.d.lives.bytes[object] as number);
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = ink.muted;
    context.fillText(size, x0 - 8, y + ROW / 2);
    const room = x0 - 8 - context.measureText(size).width - 8 - 16;
    context.textAlign = "left";
    context.fillStyle = ink.text;
    context.fillText(fitted(context, row ? shortObject(row) : "?", room), 16, y + ROW / 2);
    if (!s.peakObjects.has(object)) return;
    context.fillStyle = ink.bad;
    context.beginPath();
    context.arc(7, y + ROW / 2, 3.5, 0, 7);
    context.fill();
  }

  private life(object: number, y: number): void {
    const { lives, ops } = this.s.d;
    const { ink, context } = this;
    const begin = lives.begin[object] as number;
    const end = Math.min(lives.end[object] as number, ops.count);
    const [first, last] = [lives.first[object] as number, lives.last[object] as number];
    this.bar(begin, end, y, BAR, ink.empty);
    if (first !== NONE) this.bar(first, last + 1, y, BAR, ink.usedSoft);
    context.strokeStyle = ink.line;
    const [left, right] = [Math.max(-1, this.x(begin)), Math.min(this.width + 1, this.x(end))];
    if (right > 0 && left < this.width)
      context.strokeRect(this.x0 + left + 0.5, y + 0.5, Math.max(1, right - left - 1), BAR - 1);
    if (lives.ended[object] === NEVER_FREED && !((lives.flags[object] as number) & FIXED)) {
      context.fillStyle = ink.bad;
      if (right <= this.width) context.fillRect(this.x0 + right - 3, y - 2, 3, BAR + 4);
    }
  }

  /** Reads in the upper half, writes in the lower one. */
  private marksByHow(object: number, y: number): void {
    const { reads, writes, ink, context, x0 } = this;
    const { touches } = this.s.d;
    const end = touches.start[object + 1] as number;
    reads.fill(0);
    writes.fill(0);
    for (let t = firstTouch(this.s.d, object, this.from); t < end; t++) {
      const op = touches.op[t] as number;
      if (op > this.to) break;
      const how = touches.how[t] as number;
      if (how & READ) this.cover(reads, op, 1);
      if (how & WRITE) this.cover(writes, op, 1);
    }
    runs(reads, (from, to) => {
      context.fillStyle = ink.used;
      context.fillRect(x0 + from, y + 1, to - from - (to - from > 4 ? 1 : 0), BAR / 2 - 1);
    });
    runs(writes, (from, to) => {
      context.fillStyle = ink.waste;
      context.fillRect(x0 + from, y + BAR / 2, to - from - (to - from > 4 ? 1 : 0), BAR / 2 - 1);
    });
  }

  private marksByKernel(object: number, y: number): void {
    const { reads, ink, context, x0, s } = this;
    const { touches, ops } = s.d;
    const end = touches.start[object + 1] as number;
    reads.fill(0);
    for (let t = firstTouch(s.d, object, this.from); t < end; t++) {
      const op = touches.op[t] as number;
      if (op > this.to) break;
      const code = ops.kind[op] === LAUNCH ? s.kernelCode(ops.kernel[op] as number) : HOST;
      this.cover(reads, op, code);
    }
    runs(reads, (from, to, code) => {
      context.fillStyle = code === HOST ? ink.muted : kernelColor(code - 1);
      context.fillRect(x0 + from, y + 1, to - from - (to - from > 4 ? 1 : 0), BAR - 2);
    });
  }

  /** Launches that may have accessed it, unseen. */
  private marksOfUnknown(object: number, y: number): void {
    const { lives } = this.s.d;
    const left = this.x(lives.begin[object] as number);
    const right = this.x(lives.end[object] as number);
    this.context.fillStyle = this.ink.muted;
    runs(this.unknown, (from, to) => {
      const [a, b] = [Math.max(from, left), Math.min(to, right)];
      if (b > a) this.context.fillRect(this.x0 + a, y + BAR / 2 - 1, b - a, 2);
    });
  }

  /** What goes with the changes that are ticked. */
  private gone(object: number, y: number): void {
    const { s, context, ink, x0 } = this;
    for (const hit of s.hitsOf(object)) {
      const change = s.d.row.changes[s.d.hits.change[hit] as number];
      if (!s.made.value[hit] || !change || change.effect === "nothing") continue;
      const whole = change.effect === "left-out" || change.effect === "reuse";
      const [a, b] = whole
        ? [s.d.lives.begin[object] as number, s.d.lives.end[object] as number]
        : s.goneBetween(hit);
      const left = Math.max(0, this.x(a));
      const right = Math.min(this.width, this.x(b));
      if (right <= left) continue;
      context.fillStyle = ink.bg;
      context.globalAlpha = 0.75;
      context.fillRect(x0 + left, y - 1, right - left, BAR + 2);
      context.globalAlpha = 1;
      context.strokeStyle = ink.good;
      context.setLineDash([3, 3]);
      context.strokeRect(x0 + left + 0.5, y + 0.5, right - left - 1, BAR - 1);
      context.setLineDash([]);
    }
  }

  row(object: number, top: number, selected: boolean): void {
    const y = top + (ROW - BAR) / 2;
    if (selected) {
      this.context.fillStyle = this.ink.select;
      this.context.fillRect(0, top, this.x0 + this.width, ROW);
    }
    this.label(object, top);
    this.life(object, y);
    if (this.s.colour.value === "how") this.marksByHow(object, y);
    else this.marksByKernel(object, y);
    this.marksOfUnknown(object, y);
    this.gone(object, y);
  }

  peak(height: number): void {
    const x = this.x(this.s.now.moment);
    if (this.s.now.moment === NONE || x < 0 || x > this.width) return;
    this.context.fillStyle = this.ink.bad;
    this.context.globalAlpha = 0.6;
    this.context.fillRect(Math.round(this.x0 + x), 0, 1.5, height);
    this.context.globalAlpha = 1;
  }
}

const MOST_HEIGHT = 24; // rows that are seen at once

export function LivesPane({ s }: { s: MemoryState }) {
  const box = useRef<HTMLDivElement>(null);
  const scrolled = useSignal(0);
  const hand = useMemo(() => new Hand(s), [s]);
  const rows = s.rows.value;
  const height = Math.min(MOST_HEIGHT, Math.max(1, rows.length)) * ROW;
  const page = Math.floor(height / ROW) - 1;
  const selected = s.selection.value;
  const object = selected && "object" in selected ? selected.object : undefined;
  useEffect(() => {
    const at = object === undefined ? -1 : rows.indexOf(object);
    const element = box.current;
    if (at < 0 || !element) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + height)
      element.scrollTop = (at + 1) * ROW - height;
  }, [object, rows, height]);
  const draw = (context: Context, width: number, ink: CourseInk) => {
    const x0 = gutter(width);
    const plot = Math.floor(plotWidth(width));
    context.font = `12px ${ink.sans}`;
    const painter = new LivesPainter(context, s, x0, plot, ink);
    const first = Math.floor(scrolled.value / ROW);
    for (let i = first; i < s.rows.value.length && i * ROW < scrolled.value + height; i++) {
      const o = s.rows.value[i] as number;
      painter.row(o, i * ROW - scrolled.value, o === object);
    }
    painter.peak(height);
    drawMarks(context, s, x0, plot, height, ink);
  };
  return (
    <div
      ref={box}
      class="livesbox"
      style={{ height: `${height}px` }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
      tabIndex={0}
      role="application"
      aria-roledescription="chart"
      aria-label={`${plural(rows.length, "object")} and when they live: up and down select one, left and right move along, plus and minus zoom`}
      onScroll={(e) => {
        scrolled.value = e.currentTarget.scrollTop;
      }}
      onKeyDown={(e) => void hand.keyOnLives(e, page)}
    >
      <div style={{ height: `${rows.length * ROW}px` }}>
        <Picture
          height={height}
          className="sticky"
          draw={draw}
          watch={[s, rows, object, height]}
          onPointerMove={(e) => {
            hand.move(e);
            s.hoverObject.value = rows[Math.floor((e.offsetY + scrolled.peek()) / ROW)];
          }}
          onPointerLeave={() => {
            hand.leave();
            s.hoverObject.value = undefined;
          }}
          onPointerDown={hand.down}
          onPointerUp={(e) => hand.upOnLives(e, scrolled.peek())}
          onWheel={hand.wheel}
        />
      </div>
      <span class="unseen" aria-live="polite">
        {object === undefined ? "" : lifeName(s.m, s.d, object)}
      </span>
    </div>
  );
}
