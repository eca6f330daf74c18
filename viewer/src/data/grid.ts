import { type HeatTable, lastSector, PLANES, runAt, WORDS } from "./heat";

/** How sectors are laid out in rows of cells. */
export interface Layout {
  kind: "words" | "sectors" | "banks";
  sectors: number; // of a row
  columns: number;
}

export const LAYOUTS = {
  words: { kind: "words", sectors: 1, columns: PLANES }, // a sector: its words, then itself
  sectors: { kind: "sectors", sectors: 32, columns: 32 }, // 1 KiB: a cell a sector
  banks: { kind: "banks", sectors: 4, columns: 32 }, // 128 bytes of shared memory: a cell a word, which is its bank
} as const satisfies Record<string, Layout>;

/** A sampled block's map, and the values that its cells show: 9 planes, a byte a run. */
export interface Layer {
  table: HeatTable;
  planes: Uint8Array;
}

/** The rows as drawn. A row stands for `repeat` rows of sectors alike in all layers, or for a stretch that none touched. */
export interface Grid {
  layout: Layout;
  layers: Layer[];
  count: number;
  first: Float64Array; // sector, a multiple of the layout's
  repeat: Float64Array;
  run: Int32Array[]; // by layer: the first run that ends behind the row's first sector
  gap: Uint8Array; // 1: untouched
}

// Beyond so many rows equal ones stay together, though the reader asked to see each.
const MOST_ROWS = 1 << 22;

class Rows {
  count = 0;
  first = new Float64Array(1024);
  repeat = new Float64Array(1024);
  gap = new Uint8Array(1024);
  run: Int32Array[];

  constructor(layers: number) {
    this.run = Array.from({ length: layers }, () => new Int32Array(1024));
  }

  add(first: number, repeat: number, cursors: Int32Array, gap: boolean): void {
    if (this.count === this.first.length) this.grow();
    this.first[this.count] = first;
    this.repeat[this.count] = repeat;
    this.gap[this.count] = gap ? 1 : 0;
    for (let l = 0; l < cursors.length; l++) {
      (this.run[l] as Int32Array)[this.count] = cursors[l] as number;
    }
    this.count++;
  }

  private grow(): void {
    const size = this.first.length * 2;
    const first = new Float64Array(size);
    const repeat = new Float64Array(size);
    const gap = new Uint8Array(size);
    first.set(this.first);
    repeat.set(this.repeat);
    gap.set(this.gap);
    this.first = first;
    this.repeat = repeat;
    this.gap = gap;
    this.run = this.run.map((old) => {
      const run = new Int32Array(size);
      run.set(old);
      return run;
    });
  }
}

/** What a cell shows, 0 where nobody was: of layer `l`, `column` of the row that begins at `sector`. */
function valueAt(kind: Layout["kind"], layer: Layer, run: number, sector: number, column: number) {
  const { table, planes } = layer;
  if (kind === "words") {
    const there = run < table.runs && (table.first[run] as number) <= sector;
    return there ? (planes[column * table.runs + run] as number) : 0;
  }
  const banks = kind === "banks";
  const at = runAt(table, sector + (banks ? column >> 3 : column), run);
  const plane = banks ? column % WORDS : WORDS;
  return at < 0 ? 0 : (planes[plane * table.runs + at] as number);
}

export const cellValue = (g: Grid, row: number, l: number, column: number): number =>
  valueAt(
    g.layout.kind,
    g.layers[l] as Layer,
    (g.run[l] as Int32Array)[row] as number,
    g.first[row] as number,
    column,
  );

/** The run under a cell and its plane; run -1 where nobody was. */
export function runUnder(g: Grid, row: number, l: number, column: number) {
  const { table } = g.layers[l] as Layer;
  const sector = sectorOf(g, row, column);
  const run = runAt(table, sector, (g.run[l] as Int32Array)[row]);
  const plane =
    g.layout.kind === "words" ? column : g.layout.kind === "banks" ? column % WORDS : WORDS;
  return { run, plane, sector };
}

export function sectorOf(g: Grid, row: number, column: number): number {
  const first = g.first[row] as number;
  if (g.layout.kind === "words") return first;
  return first + (g.layout.kind === "banks" ? column >> 3 : column);
}

/** Goes over the layers' runs together, a row of sectors after the other. */
class Sweep {
  readonly cursors: Int32Array;
  private readonly per: number;

  constructor(
    private readonly layers: Layer[],
    private readonly layout: Layout,
  ) {
    this.per = layout.sectors;
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

  same(rows: Rows, row: number, sector: number): boolean {
    const { kind } = this.layout;
    return this.layers.every((layer, l) => {
      const before = (rows.run[l] as Int32Array)[row] as number;
      const start = rows.first[row] as number;
      const now = this.cursors[l] as number;
      for (let c = 0; c < this.layout.columns; c++) {
        const a = valueAt(kind, layer, before, start, c);
        if (a !== valueAt(kind, layer, now, sector, c)) return false;
      }
      return true;
    });
  }
}

/** The rows of maps side by side, aligned by sector; nothing is drawn before the first sector that was touched. */
export function makeGrid(layers: Layer[], layout: Layout, collapse: boolean): Grid {
  const rows = new Rows(layers.length);
  const sweep = new Sweep(layers, layout);
  const per = layout.sectors;
  const end = Math.max(0, ...layers.map((l) => lastSector(l.table)));
  let at = Math.floor(sweep.seek(Number.NEGATIVE_INFINITY) / per) * per;
  while (at < end) {
    const next = Math.floor(sweep.seek(at) / per) * per;
    if (next > at) {
      rows.add(at, (next - at) / per, sweep.cursors, true);
      at = next;
      continue;
    }
    const n = sweep.alike(at);
    const last = rows.count - 1;
    if (collapse && last >= 0 && rows.gap[last] === 0 && sweep.same(rows, last, at)) {
      rows.repeat[last] = (rows.repeat[last] as number) + n;
    } else if (collapse || rows.count + n > MOST_ROWS) {
      rows.add(at, n, sweep.cursors, false);
    } else {
      for (let k = 0; k < n; k++) rows.add(at + k * per, 1, sweep.cursors, false);
    }
    at += n * per;
  }
  const { count, first, repeat, run, gap } = rows;
  return { layout, layers, count, first, repeat, run, gap };
}

/** The row that holds a sector, or the one before it. */
export function rowAt(g: Grid, sector: number): number {
  let low = 0;
  let high = g.count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((g.first[mid] as number) <= sector) low = mid + 1;
    else high = mid;
  }
  return Math.max(0, low - 1);
}
