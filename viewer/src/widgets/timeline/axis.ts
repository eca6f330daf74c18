import { type Signal, signal } from "@preact/signals";

/** What of the axis is in sight. */
export interface Window {
  from: number;
  to: number;
}

const STEP = 1.3; // of zooming
const FEWEST = 4; // operations, or what corresponds to them, fill the width at least

/** The horizontal axis that pictures of a course share. Operation i reaches from place[i] to place[i + 1]. */
export class Axis {
  readonly window: Signal<Window>;

  constructor(readonly place: Float64Array) {
    this.window = signal({ from: 0, to: this.end });
  }

  get end(): number {
    return Math.max(this.place[this.place.length - 1] ?? 0, 1e-9);
  }

  get count(): number {
    return this.place.length - 1;
  }

  get least(): number {
    return Math.min(this.end, (this.end * FEWEST) / Math.max(FEWEST, this.count));
  }

  /** How many times nearer than all of it. */
  get zoom(): number {
    const { from, to } = this.window.value;
    return this.end / (to - from);
  }

  show(from: number, to: number): void {
    const width = Math.min(this.end, Math.max(this.least, to - from));
    const begin = Math.min(this.end - width, Math.max(0, from));
    this.window.value = { from: begin, to: begin + width };
  }

  showAll(): void {
    this.show(0, this.end);
  }

  /** Steps nearer, or farther where negative; what is at the share of the width stays there. */
  zoomBy(steps: number, share = 0.5): void {
    const { from, to } = this.window.value;
    const width = Math.min(this.end, Math.max(this.least, (to - from) * STEP ** -steps));
    const at = from + share * (to - from);
    this.show(at - share * width, at - share * width + width);
  }

  /** By a share of what is in sight. */
  panBy(share: number): void {
    const { from, to } = this.window.value;
    this.show(from + share * (to - from), to + share * (to - from));
  }

  /** So that the operation is in sight. */
  reveal(op: number): void {
    const { from, to } = this.window.value;
    const at = this.place[op] ?? 0;
    if (at >= from && (this.place[op + 1] ?? at) <= to) return;
    this.show(at - (to - from) / 2, at + (to - from) / 2);
  }

  x(place: number, width: number): number {
    const { from, to } = this.window.value;
    return ((place - from) / (to - from)) * width;
  }

  placeAt(x: number, width: number): number {
    const { from, to } = this.window.value;
    return from + (x / width) * (to - from);
  }

  /** The last operation that begins at the place or before it; the first where none does. */
  opAt(place: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.place[mid] as number) <= place) low = mid + 1;
      else high = mid;
    }
    return Math.max(0, Math.min(this.count - 1, low - 1));
  }
}

/** Each operation takes as much room as any other. */
export const callPlaces = (count: number): Float64Array =>
  Float64Array.from({ length: count + 1 }, (_, i) => i);

/** Seconds since the first operation; the last one gets room, too. */
export function timePlaces(start: Float64Array): Float64Array {
  const n = start.length;
  const first = start[0] ?? 0;
  const places = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) places[i] = ((start[i] as number) - first) * 1e-6;
  const last = places[n - 1] ?? 0;
  places[n] = last + Math.max(last / 50, 1e-6);
  return places;
}

/** Round numbers between two others, some of them. */
export function ticks(from: number, to: number, most: number, whole = false): number[] {
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-12)));
  const step = Math.max(
    whole ? 1 : 0,
    ([1, 2, 5, 10].find((s) => s * power >= rough) ?? 10) * power,
  );
  const found: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to + step * 1e-9; t += step) found.push(t);
  return found;
}

/** Likewise of bytes, in powers of two. */
export function byteTicks(top: number, most: number): number[] {
  let step = 1;
  while (top / step > most) step *= 2;
  const found: number[] = [];
  for (let t = 0; t <= top; t += step) found.push(t);
  return found;
}
