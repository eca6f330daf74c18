/** The grid of a launch as tiles, one a block: where each lies, and what is in it, pixel by pixel. */
import { type Curve, Sums } from "./difference";
import type { Launched } from "./launch";

/** Codes of pixels beyond those of differences, which are 0 .. DIFFERENCES - 1. */
export const DIFFERENCES = 240;
export const ENDED = 240; // the warp has ended
export const UNKNOWN = 241; // the warp is not in the profile
export const ALONE = 242; // there is no warp to compare it with
export const GAP = 243; // between cells
export const CODES = 244;

export const differenceCode = (value: number): number =>
  Math.min(DIFFERENCES - 1, Math.max(0, Math.round(value * (DIFFERENCES - 1))));

export type Dim = readonly [number, number, number];

export const indexOf = ([x, y, z]: Dim, grid: Dim): number => x + grid[0] * (y + grid[1] * z);

export const placeOf = (block: number, grid: Dim): [number, number, number] => [
  block % grid[0],
  Math.floor(block / grid[0]) % grid[1],
  Math.floor(block / (grid[0] * grid[1])),
];

/** Where the tiles lie: as the grid is; a grid of one row is broken into several, and of few known blocks only these are there. */
export interface Layout {
  columns: number;
  rows: number;
  how: "grid" | "wrapped" | "known";
  tileOf: (block: number) => number | undefined; // row * columns + column
  blockOf: (tile: number) => number | undefined;
}

const FEW = 8; // of so many blocks one is known: the others' places say nothing
const MOST_EMPTY = 1024; // places without a block that are shown all the same

function listed(blocks: number[], columns: number, how: "wrapped" | "known"): Layout {
  const at = new Map(blocks.map((block, i) => [block, i]));
  return {
    columns,
    rows: Math.ceil(blocks.length / columns),
    how,
    tileOf: (block) => at.get(block),
    blockOf: (tile) => blocks[tile],
  };
}

/** `columnsFor` tells how many columns suit so many tiles. */
export function layoutOf(
  grid: Dim,
  known: number[],
  columnsFor: (tiles: number) => number,
): Layout {
  const all = grid[0] * grid[1] * grid[2];
  if (known.length * FEW < all && all > MOST_EMPTY)
    return listed(known, Math.min(known.length, columnsFor(known.length)), "known");
  if (grid[1] * grid[2] === 1) {
    const columns = Math.min(all, columnsFor(all));
    return {
      columns,
      rows: Math.ceil(all / columns),
      how: columns < all ? "wrapped" : "grid",
      tileOf: (block) => block,
      blockOf: (tile) => (tile < all ? tile : undefined),
    };
  }
  const slice = grid[1] + 1; // an empty row between slices of z
  const columns = grid[0];
  return {
    columns,
    rows: grid[2] * slice - 1,
    how: "grid",
    tileOf: (block) => {
      const [x, y, z] = placeOf(block, grid);
      return (z * slice + y) * columns + x;
    },
    blockOf: (tile) => {
      const [x, row] = [tile % columns, Math.floor(tile / columns)];
      const [y, z] = [row % slice, Math.floor(row / slice)];
      return y === grid[1] || z >= grid[2] ? undefined : indexOf([x, y, z], grid);
    },
  };
}

/** Blocks whose warps are of the same kinds look alike. */
export interface Looks {
  of: Map<number, number>; // by block
  pairs: Int32Array[]; // of each look, by warp: index in `wanted`; -1: not known, -2: nothing to compare with
  wanted: { kind: number; than: number }[];
  warps: number; // of a block, at most
}

/** Compares each warp with that of the same number among `than`, which are kinds (of the representative block). */
export function looksOf(data: Launched, than: Int32Array): Looks {
  const looks: Looks = { of: new Map(), pairs: [], wanted: [], warps: 0 };
  const known = new Map<string, number>();
  const pairs = new Map<string, number>();
  const pairOf = (kind: number, w: number): number => {
    const other = than[w] ?? -1;
    if (kind < 0 || other < 0) return kind < 0 ? -1 : -2;
    const key = `${kind} ${other}`;
    const at = pairs.get(key) ?? looks.wanted.push({ kind, than: other }) - 1;
    pairs.set(key, at);
    return at;
  };
  for (const block of data.blocks) {
    const kinds = data.kindsOf(block);
    const key = kinds.join();
    let look = known.get(key);
    if (look === undefined) {
      look = looks.pairs.push(kinds.map(pairOf)) - 1;
      known.set(key, look);
    }
    looks.of.set(block, look);
    looks.warps = Math.max(looks.warps, kinds.length);
  }
  return looks;
}

/** A size of bundles that gives about so many rows: 1, 2, 5, 10, 20 ... */
export function bundleFor(operations: number, rows: number): number {
  const wanted = Math.max(1, operations / rows);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return ([1, 2, 5, 10].find((n) => n * power >= wanted) ?? 10) * power;
}

export interface TileShape {
  warps: number; // columns
  bundles: number; // rows
  bundle: number; // operations
  width: number; // pixels: a multiple of `warps`, or fewer than them
  height: number; // likewise of `bundles`
}

const WITH_GAP = 4; // pixels of a cell that has one to the next

/** How the rows and columns of a tile lie in its pixels. Where a cell is smaller than a pixel, the pixel is the mean of its cells. */
export class TileRaster {
  readonly across: number; // columns that are told apart
  readonly down: number;
  private readonly columns = new Map<number, Float32Array>(); // by pair: the mean of each row; NaN: it has ended

  constructor(
    readonly shape: TileShape,
    private readonly curves: (Curve | undefined)[],
  ) {
    this.across = Math.min(shape.width, shape.warps);
    this.down = Math.min(shape.height, shape.bundles);
  }

  private column(pair: number): Float32Array {
    const known = this.columns.get(pair);
    if (known) return known;
    const { bundles, bundle } = this.shape;
    const curve = this.curves[pair] as Curve; // `code` asks for no other
    const all = bundles * bundle;
    const sums = new Sums(curve, "total");
    const column = Float32Array.from({ length: this.down }, (_, row) => {
      const from = Math.floor((row * all) / this.down);
      const to = Math.floor(((row + 1) * all) / this.down);
      return sums.mean(from, Math.max(to, from + 1));
    });
    this.columns.set(pair, column);
    return column;
  }

  /** Of one column and row of a tile whose warps are compared as `pairs` have it. */
  private code(pairs: ArrayLike<number>, first: number, end: number, row: number): number {
    let [sum, n, ended, alone] = [0, 0, 0, 0];
    for (let w = first; w < end; w++) {
      const pair = pairs[w] ?? -1;
      if (pair < 0 || !this.curves[pair]) {
        if (pair !== -1) alone++;
        continue;
      }
      const mean = this.column(pair)[row] as number;
      if (Number.isNaN(mean)) ended++;
      else {
        sum += mean;
        n++;
      }
    }
    if (n > 0) return differenceCode(sum / n);
    return ended > 0 ? ENDED : alone > 0 ? ALONE : UNKNOWN;
  }

  /** Draws the tile with its corner at left, top, as far as it lies in an image of so many pixels a side. */
  draw(
    pairs: ArrayLike<number>,
    left: number,
    top: number,
    size: number,
    to: Uint32Array,
    colors: Uint32Array,
  ): void {
    const { width, height, warps } = this.shape;
    const [w, h] = [width / this.across, height / this.down];
    const [gapX, gapY] = [w >= WITH_GAP ? 1 : 0, h >= WITH_GAP ? 1 : 0];
    for (let c = 0; c < this.across; c++) {
      const x0 = Math.max(0, left + c * w);
      const x1 = Math.min(size, left + (c + 1) * w - gapX);
      if (x0 >= x1) continue;
      const first = Math.floor((c * warps) / this.across);
      const end = Math.max(first + 1, Math.floor(((c + 1) * warps) / this.across));
      for (let row = 0; row < this.down; row++) {
        const y0 = Math.max(0, top + row * h);
        const y1 = Math.min(size, top + (row + 1) * h - gapY);
        if (y0 >= y1) continue;
        const color = colors[this.code(pairs, first, end, row)] as number;
        for (let y = y0; y < y1; y++) {
          const at = y * size;
          for (let x = x0; x < x1; x++) to[at + x] = color;
        }
      }
    }
  }
}
