import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { COUNTED, type CourseData, NONE } from "../../data/course";
import { lifeName, opPlace } from "../../data/coursewords";
import type { Model } from "../../data/model";
import type { FailedAllocation } from "../../data/payload";
import { aliveAt, boundsOf, type Curve, nothing, planned, replay } from "../../data/whatif";
import { Axis, callPlaces, timePlaces } from "../../widgets/timeline/axis";

export type Selection = { object: number } | { op: number } | undefined;
export type Order = "size" | "begin" | "saving";
export type Colour = "how" | "kernel";

export interface Narrowing {
  text: string;
  pattern: string; // "": any
  atPeak: boolean;
  least: number; // bytes
}

const MOST_OVER = 3; // times the peak
const MANY = 100; // objects: at first only those at the peak are listed
const MOST_CODES = 250; // of kernels, in a byte

export const ALL: Narrowing = { text: "", pattern: "", atPeak: false, least: 0 };

/** What the reader looks at in the course of a process on one device. */
export class MemoryState {
  readonly selection: Signal<Selection> = signal(undefined);
  readonly hover: Signal<Selection> = signal(undefined);
  readonly hoverObject: Signal<number | undefined> = signal(undefined);
  readonly made: Signal<Uint8Array>;
  readonly order: Signal<Order> = signal<Order>("size");
  readonly colour: Signal<Colour> = signal<Colour>("how");
  readonly narrowing: Signal<Narrowing> = signal(ALL);
  readonly byTime = signal(false);
  readonly axis: ReadonlySignal<Axis>;
  readonly now: Curve;
  readonly withPlan: Curve;
  readonly whatIf: ReadonlySignal<Curve | undefined>;
  readonly peakObjects: Set<number>;
  readonly peaks: { moment: number; bytes: number }[]; // the highest first
  readonly rows: ReadonlySignal<number[]>; // objects as they are listed
  readonly kernels: number[]; // that are launched, in the order of their first launches
  private readonly codes: Map<number, number>; // of kernels, from 1
  private readonly hitsBy: Map<number, number[]>; // by object
  private readonly saved: Float64Array; // by object
  private readonly names: string[]; // by object: what is searched, in small letters
  private readonly patterns: Map<number, Set<string>>;

  constructor(
    readonly m: Model,
    readonly d: CourseData,
    readonly device: number,
  ) {
    const calls = new Axis(callPlaces(d.ops.count));
    const times = d.ops.timed ? new Axis(timePlaces(d.ops.start)) : calls;
    this.axis = computed(() => (this.byTime.value ? times : calls));
    this.made = signal(nothing(d));
    this.now = replay(d, device, nothing(d));
    this.withPlan = replay(d, device, planned(d));
    this.whatIf = computed(() =>
      this.made.value.some(Boolean) ? replay(d, device, this.made.value) : undefined,
    );
    this.peakObjects = new Set(aliveAt(d, device, this.now.moment));
    this.peaks = this.foundPeaks();
    this.saved = new Float64Array(d.lives.count);
    this.patterns = new Map();
    this.hitsBy = new Map();
    this.noteHits();
    this.kernels = [...new Set(d.ops.kernel)].filter((k) => k > 0);
    this.codes = new Map(this.kernels.map((k, i) => [k, (i % MOST_CODES) + 1]));
    this.names = Array.from({ length: d.lives.count }, (_, o) => this.searched(o));
    if (this.all.length > MANY) this.narrowing.value = { ...ALL, atPeak: true };
    this.rows = computed(() => this.listed());
  }

  /** Those that the profile names, where the curve has them. */
  private foundPeaks(): { moment: number; bytes: number }[] {
    const { process, devices } = this.d.row;
    const own = devices[this.device];
    const here = this.m.payload.memory.peaks.filter(
      (p) =>
        own?.pool === undefined &&
        p.process === process &&
        p.device === own?.device &&
        p.bytes < this.now.peak,
    );
    const lower = here.map(({ bytes }) => ({ moment: this.now.bytes.indexOf(bytes), bytes }));
    const highest = { moment: this.now.moment, bytes: this.now.peak };
    return [highest, ...lower.filter(({ moment }) => moment >= 0)];
  }

  get hasPlan(): boolean {
    return this.d.hits.step.some((step) => step > 0);
  }

  private noteHits(): void {
    const { hits, row } = this.d;
    for (let h = 0; h < hits.count; h++) {
      const object = hits.object[h] as number;
      const change = row.changes[hits.change[h] as number];
      const worth = Math.max(change?.saves ?? 0, hits.adds[h] as number);
      this.saved[object] = Math.max(this.saved[object] as number, worth);
      this.hitsBy.set(object, [...(this.hitsBy.get(object) ?? []), h]);
      const known = this.patterns.get(object) ?? new Set();
      if (change) known.add(change.pattern);
      this.patterns.set(object, known);
    }
  }

  private searched(object: number): string {
    const allocation = this.d.lives.allocate[object] as number;
    const place = allocation === NONE ? "" : opPlace(this.m, this.d, allocation);
    return `${lifeName(this.m, this.d, object)} ${place}`.toLowerCase();
  }

  patternsOf(object: number): Set<string> {
    return this.patterns.get(object) ?? new Set();
  }

  /** Objects that count on the device. */
  get all(): number[] {
    const { lives } = this.d;
    const found: number[] = [];
    for (let o = 0; o < lives.count; o++) {
      if (lives.device[o] === this.device && (lives.flags[o] as number) & COUNTED) found.push(o);
    }
    return found;
  }

  private listed(): number[] {
    const { text, pattern, atPeak, least } = this.narrowing.value;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const { bytes, begin } = this.d.lives;
    const kept = this.all.filter(
      (o) =>
        (!atPeak || this.peakObjects.has(o)) &&
        (bytes[o] as number) >= least &&
        (!pattern || this.patternsOf(o).has(pattern)) &&
        words.every((w) => this.names[o]?.includes(w)),
    );
    const order = this.order.value;
    const size = (a: number, b: number) => (bytes[b] as number) - (bytes[a] as number);
    const first = (a: number, b: number) => (begin[a] as number) - (begin[b] as number);
    const worth = (a: number, b: number) => (this.saved[b] as number) - (this.saved[a] as number);
    const compare = {
      size: (a: number, b: number) => size(a, b) || first(a, b),
      begin: (a: number, b: number) => first(a, b) || size(a, b),
      saving: (a: number, b: number) => worth(a, b) || size(a, b) || first(a, b),
    }[order];
    return kept.sort(compare);
  }

  /** Allocations on the device that failed for want of memory. */
  get failures(): FailedAllocation[] {
    return this.d.row.refusals.filter((r) => r.device === this.device);
  }

  /** Bytes in use when an operation comes. */
  usedBefore(op: number): number {
    return op > 0 ? (this.now.bytes[op - 1] as number) : 0;
  }

  /** The upper end of the curve's scale: what was asked for in vain is in it, unless that is very much. */
  get top(): number {
    const wanted = this.failures.map((r) => this.usedBefore(r.at) + (r.bytes ?? 0));
    const most = MOST_OVER * this.now.peak;
    return Math.max(this.now.peak, ...wanted.filter((w) => w <= most)) || 1;
  }

  /** The hits of an object. */
  hitsOf(object: number): number[] {
    return this.hitsBy.get(object) ?? [];
  }

  /** The operations between which the object is gone, should the hit's change be made. */
  goneBetween(hit: number): [number, number] {
    const { hits, lives, row } = this.d;
    const object = hits.object[hit] as number;
    const [from, to] = boundsOf(this.d, hit);
    switch (row.changes[hits.change[hit] as number]?.effect) {
      case "later":
        return [lives.begin[object] as number, to];
      case "sooner":
        return [from, lives.end[object] as number];
      default:
        return [from, to];
    }
  }

  /** A number that stands for a kernel, from 1. */
  kernelCode(kernel: number): number {
    return this.codes.get(kernel) ?? 1;
  }

  /** Selects the operation at the peak, and shows the time in which what is in use then lives. */
  toPeak(): void {
    const axis = this.axis.peek();
    const { begin, end } = this.d.lives;
    const objects = [...this.peakObjects];
    const place = (op: number) => axis.place[Math.min(op, axis.count)] as number;
    const from = place(Math.min(...objects.map((o) => begin[o] as number)));
    const to = place(Math.max(...objects.map((o) => end[o] as number)));
    const margin = (to - from) / 20;
    axis.show(from - margin, to + margin);
    this.select({ op: this.now.moment });
  }

  /** Makes it the selection; the operation comes into sight. */
  select(what: Selection): void {
    this.selection.value = what;
    if (what && "op" in what) this.axis.peek().reveal(what.op);
  }
}
