import { type Grid, type Layer, type Layout, valueAt } from "./grid";
import { lastSector } from "./heat";

// Beyond so many rows equal ones stay together, though the reader asked to see each.
const MOST_ROWS = 1 << 22;

class Rows {
  count = 0;
  first = new Float64Array(1024);
  repeat = new Float64Array(1024);
  times = new Float64Array(1024);
  stride = new Float64Array(1024);
  gap = new Uint8Array(1024);
  run: Int32Array[];

  constructor(layers: number) {
    this.run = Array.from({ length: layers }, () => new Int32Array(1024));
  }

  add(first: number, repeat: number, cursors: Int32Array, gap: boolean): void {
    if (this.count === this.first.length) this.grow();
    this.first[this.count] = first;
    this.repeat[this.count] = repeat;
    this.times[this.count] = 1;
    this.stride[this.count] = 0;
    this.gap[this.count] = gap ? 1 : 0;
    for (let l = 0; l < cursors.length; l++) {
      (this.run[l] as Int32Array)[this.count] = cursors[l] as number;
    }
    this.count++;
  }

  /** Brings row `from` to `to`, which is not behind it, as one that comes `times`. */
  move(from: number, to: number, times: number, stride: number): void {
    this.first[to] = this.first[from] as number;
    this.repeat[to] = this.repeat[from] as number;
    this.gap[to] = this.gap[from] as number;
    for (const run of this.run) run[to] = run[from] as number;
    this.times[to] = times;
    this.stride[to] = stride;
  }

  private grow(): void {
    const size = this.first.length * 2;
    const larger = <T extends Float64Array | Uint8Array | Int32Array>(old: T, made: T): T => {
      made.set(old);
      return made;
    };
    this.first = larger(this.first, new Float64Array(size));
    this.repeat = larger(this.repeat, new Float64Array(size));
    this.times = larger(this.times, new Float64Array(size));
    this.stride = larger(this.stride, new Float64Array(size));
    this.gap = larger(this.gap, new Uint8Array(size));
    this.run = this.run.map((old) => larger(old, new Int32Array(size)));
  }
}

/** Goes over the layers' runs together, a row of sectors after the other. */
class Sweep {
  readonly cursors: Int32Array;

  constructor(
    private readonly layers: Layer[],
    private readonly per: number, // sectors of a row
  ) {
    this.cursors = new Int32Array(layers.length);
  }

  /** Moves the cursors behind what ends before `sector`; the first sector at or behind it that was touched. */
  seek(sector: number): number {
    let next = Number.POSITIVE_INFINITY;
    this.layers.forEach(({ table }, l) => {
      let run = this.cursors[l] as number;
      while (
        run < table.runs &&
        (table.first[run] as number) + (table.repeat[run] as number) <= sector
      )
        run++;
      this.cursors[l] = run;
      if (run < table.runs) next = Math.min(next, Math.max(sector, table.first[run] as number));
    });
    return next;
  }

  /** How many rows from `sector` on are alike because no layer's run begins or ends in them; at least 1. */
  alike(sector: number): number {
    let end = Number.POSITIVE_INFINITY;
    this.layers.forEach(({ table }, l) => {
      const run = this.cursors[l] as number;
      if (run >= table.runs) return;
      const first = table.first[run] as number;
      end = Math.min(end, first > sector ? first : first + (table.repeat[run] as number));
    });
    return Math.max(1, Math.floor((end - sector) / this.per));
  }
}

const FEWEST_TIMES = 3; // that make a period

/** Finds stretches of rows that come again and again, and makes one row of all times that each of them comes. */
class Folder {
  constructor(
    private readonly rows: Rows,
    private readonly per: number, // sectors of a row
    private readonly longest: number, // rows of a period
    private readonly same: (a: number, b: number) => boolean,
  ) {}

  fold(): void {
    let to = 0;
    for (let i = 0; i < this.rows.count; ) {
      const { period, times } = this.periodAt(i);
      // The gap behind the last time is no part of the period: it may be longer, or not there.
      const gap = this.rows.gap[i + period - 1] ?? 0;
      to = this.keep(i, period, times, to);
      i += times > 1 ? period * times - gap : 1;
    }
    this.rows.count = to;
  }

  /** The shortest stretch from a row on that comes often enough; one row that comes once where there is none. */
  private periodAt(i: number): { period: number; times: number } {
    if (this.rows.gap[i]) return { period: 1, times: 1 };
    for (let period = 2; period <= this.longest; period++) {
      const times = this.timesOf(i, period);
      if (times >= FEWEST_TIMES) return { period, times };
    }
    return { period: 1, times: 1 };
  }

  private timesOf(i: number, period: number): number {
    let times = 1;
    while (this.comesAgain(i, i + times * period, period)) times++;
    return times;
  }

  /** Whether the rows from `j` on are as those from `i` on. A gap at their end counts only once something follows it. */
  private comesAgain(i: number, j: number, period: number): boolean {
    const { rows } = this;
    const length = period - (rows.gap[i + period - 1] ?? 0);
    if (length < period && !this.alike(i + period - 1, j - 1)) return false;
    for (let m = 0; m < length; m++) if (!this.alike(i + m, j + m)) return false;
    return true;
  }

  private alike(a: number, b: number): boolean {
    const { rows } = this;
    if (b >= rows.count || rows.gap[a] !== rows.gap[b]) return false;
    if (rows.repeat[a] !== rows.repeat[b]) return false;
    return rows.gap[a] === 1 || this.same(a, b);
  }

  /** Keeps the touched rows of a period, or a single row as it is; where the next one goes. */
  private keep(i: number, period: number, times: number, to: number): number {
    const { rows } = this;
    if (times === 1) {
      rows.move(i, to, 1, 0);
      return to + 1;
    }
    let length = 0;
    for (let m = 0; m < period; m++) length += rows.repeat[i + m] as number;
    let at = to;
    for (let m = 0; m < period; m++) {
      if (!rows.gap[i + m]) rows.move(i + m, at++, times, length * this.per);
    }
    return at;
  }
}

/** Makes the rows of one grid. */
class Maker {
  private readonly rows: Rows;
  private readonly sweep: Sweep;
  private readonly per: number;

  constructor(
    private readonly layers: Layer[],
    private readonly layout: Layout,
    private readonly collapse: boolean,
  ) {
    this.per = layout.sectors;
    this.rows = new Rows(layers.length);
    this.sweep = new Sweep(layers, this.per);
  }

  make(): Grid {
    const end = Math.max(0, ...this.layers.map((l) => lastSector(l.table)));
    let at = this.rowOf(this.sweep.seek(Number.NEGATIVE_INFINITY));
    while (at < end) at = this.step(at);
    if (this.collapse) {
      // With a gap behind each layer's rows.
      const longest = 2 * this.layers.length;
      new Folder(this.rows, this.per, longest, (a, b) => this.alike(a, b)).fold();
    }
    const { count, first, repeat, times, stride, run, gap } = this.rows;
    const { layout, layers } = this;
    return { layout, layers, count, first, repeat, times, stride, run, gap };
  }

  /** The first sector of the row that holds a sector. */
  private rowOf(sector: number): number {
    return Math.floor(sector / this.per) * this.per;
  }

  /** Adds what begins at a sector; where the next begins. */
  private step(at: number): number {
    const { rows, per } = this;
    const { cursors } = this.sweep;
    const next = this.rowOf(this.sweep.seek(at));
    if (next > at) {
      rows.add(at, (next - at) / per, cursors, true);
      return next;
    }
    const n = this.sweep.alike(at);
    if (this.collapse || rows.count + n > MOST_ROWS) this.addOrJoin(at, n);
    else for (let k = 0; k < n; k++) rows.add(at + k * per, 1, cursors, false);
    return at + n * per;
  }

  private addOrJoin(at: number, n: number): void {
    const { rows } = this;
    const { cursors } = this.sweep;
    const last = rows.count - 1;
    const joins =
      this.collapse &&
      last >= 0 &&
      rows.gap[last] === 0 &&
      this.looksAs(last, (l) => cursors[l] as number, at);
    if (joins) rows.repeat[last] = (rows.repeat[last] as number) + n;
    else rows.add(at, n, cursors, false);
  }

  private alike(a: number, b: number): boolean {
    const { rows } = this;
    const run = (l: number) => (rows.run[l] as Int32Array)[b] as number;
    return this.looksAs(a, run, rows.first[b] as number);
  }

  /** Whether a row looks as the one at `sector`, for which the layers' cursors are given. */
  private looksAs(row: number, cursor: (l: number) => number, sector: number): boolean {
    const { kind, columns } = this.layout;
    const start = this.rows.first[row] as number;
    for (let l = 0; l < this.layers.length; l++) {
      const layer = this.layers[l] as Layer;
      const run = (this.rows.run[l] as Int32Array)[row] as number;
      const other = cursor(l);
      for (let c = 0; c < columns; c++) {
        const value = valueAt(kind, layer, run, start, c);
        if (value !== valueAt(kind, layer, other, sector, c)) return false;
      }
    }
    return true;
  }
}

/** The rows of maps side by side, aligned by sector; nothing is drawn before the first sector that was touched. */
export const makeGrid = (layers: Layer[], layout: Layout, collapse: boolean): Grid =>
  new Maker(layers, layout, collapse).make();
