import { type HeatTable, PLANES, runAt, WORDS } from "./heat";

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

/** The rows as drawn. A row stands for `repeat` rows of sectors alike in all layers, or for a stretch that none touched.
 * Where that comes again and again at one distance, it stands for all `times`, a multiple of `stride` sectors apart. */
export interface Grid {
  layout: Layout;
  layers: Layer[];
  count: number;
  first: Float64Array; // sector, a multiple of the layout's
  repeat: Float64Array;
  times: Float64Array; // 1 where it comes once
  stride: Float64Array; // sectors; 0 where it comes once
  run: Int32Array[]; // by layer: the first run that ends behind the row's first sector
  gap: Uint8Array; // 1: untouched
}

/** What a cell shows, 0 where nobody was: of layer `l`, `column` of the row that begins at `sector`. */
export function valueAt(
  kind: Layout["kind"],
  layer: Layer,
  run: number,
  sector: number,
  column: number,
) {
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

/** The run under a cell and its plane; run -1 where nobody was. `sector`: another than the cell's first. */
export function runUnder(
  g: Grid,
  row: number,
  l: number,
  column: number,
  sector = sectorOf(g, row, column),
) {
  const run = runAt((g.layers[l] as Layer).table, sector);
  const plane =
    g.layout.kind === "words" ? column : g.layout.kind === "banks" ? column % WORDS : WORDS;
  return { run, plane, sector };
}

export function sectorOf(g: Grid, row: number, column: number): number {
  const first = g.first[row] as number;
  if (g.layout.kind === "words") return first;
  return first + (g.layout.kind === "banks" ? column >> 3 : column);
}

/** The sector behind the last one of a row, however often it comes. */
export function rowEnd(g: Grid, row: number): number {
  const sectors = (g.repeat[row] as number) * g.layout.sectors;
  const last = ((g.times[row] as number) - 1) * (g.stride[row] as number);
  return (g.first[row] as number) + last + sectors;
}

/** Whether a sector is one of those that a row stands for. */
function holds(g: Grid, row: number, sector: number): boolean {
  const stride = g.stride[row] as number;
  const inside = sector - (g.first[row] as number);
  const at = stride > 0 ? inside % stride : inside;
  return at < (g.repeat[row] as number) * g.layout.sectors && sector < rowEnd(g, row);
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
  const before = Math.max(0, low - 1);
  // Rows that come again and again at one distance lie within each other.
  for (let row = before; row >= 0 && g.stride[row] === g.stride[before]; row--) {
    if (holds(g, row, sector)) return row;
    if (g.stride[row] === 0) break;
  }
  return before;
}
