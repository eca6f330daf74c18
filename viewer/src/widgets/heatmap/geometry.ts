import { LAYOUTS, type Layout } from "../../data/grid";
import { WORDS } from "../../data/heat";

/** Heights of a row, from near to far; behind the last one several rows share a pixel, 4, 16, 64 ... */
export const HEIGHTS = [18, 6, 2, 1] as const;
export const TEXT_HEIGHT = 18;
export const STRIP = 22;

const STRIP_GAP = 10;
const LABEL = 84;
const REPEAT = { wide: 150, narrow: 48 }; // "4 of 32 sectors, × 256"
const LAYER_GAP = 18;
const GROUP_GAP = 3;
const SECTOR_GAP = 6;
const WIDEST = { words: 34, sectors: 22, banks: 22 };
const NARROW = 560;

/** Where things lie across. */
export interface Geometry {
  width: number;
  left: number; // of the labels
  label: number;
  layers: number[]; // left edge of each layer's cells
  cell: number; // width of a cell with its gap
  sector: number; // of the sector's own cell, in the layout of words
  end: number; // behind the last layer
  wide: boolean; // there is room for whole numbers
}

/** Gaps that stand in front of a column. */
const gapsBefore = (layout: Layout, column: number): number =>
  layout.kind === "words"
    ? column === WORDS
      ? SECTOR_GAP
      : 0
    : Math.floor(column / WORDS) * GROUP_GAP;

export function geometry(width: number, layout: Layout, layers: number): Geometry {
  const left = STRIP + STRIP_GAP;
  const wide = width >= NARROW;
  const label = wide ? LABEL : 62;
  const repeat = wide ? REPEAT.wide : REPEAT.narrow;
  const room = width - left - label - repeat - (layers - 1) * LAYER_GAP;
  const words = layout.kind === "words";
  const fixed = words ? SECTOR_GAP : gapsBefore(layout, layout.columns - 1);
  const units = words ? WORDS + 1.35 : layout.columns;
  const most = WIDEST[layout.kind];
  const cell = Math.max(2, Math.min(most, Math.floor((room / layers - fixed) / units)));
  const sector = Math.round(cell * 1.35);
  const each = (words ? WORDS * cell + sector : layout.columns * cell) + fixed;
  const starts = Array.from(
    { length: layers },
    (_, l) => left + label + l * (each + (layers > 1 ? LAYER_GAP : 0)),
  );
  const end = (starts[layers - 1] ?? 0) + each;
  return { width, left, label, layers: starts, cell, sector, end, wide };
}

export const columnX = (g: Geometry, layout: Layout, layer: number, column: number): number =>
  (g.layers[layer] ?? 0) + column * g.cell + gapsBefore(layout, column);

export const columnWidth = (g: Geometry, layout: Layout, column: number): number =>
  layout === LAYOUTS.words && column === WORDS ? g.sector : g.cell;

/** The cell column under x; undefined beside all of them. */
export function columnAt(
  g: Geometry,
  layout: Layout,
  x: number,
): { layer: number; column: number } | undefined {
  for (let layer = 0; layer < g.layers.length; layer++) {
    for (let column = 0; column < layout.columns; column++) {
      const from = columnX(g, layout, layer, column);
      if (x >= from && x < from + columnWidth(g, layout, column)) return { layer, column };
    }
  }
  return undefined;
}

/** How near the rows are seen: a height, or rows to a pixel. */
export interface Zoom {
  height: number; // of a row, or of `step` rows together
  step: number;
}

/** All zooms of a grid, nearest first: down to where it fits as a whole, and fills the height. */
export function zooms(rows: number, height: number): Zoom[] {
  const all: Zoom[] = [];
  for (const h of HEIGHTS) {
    all.push({ height: h, step: 1 });
    if (rows * h <= height) return all;
  }
  for (let step = 4; ; step *= 4) {
    const count = Math.ceil(rows / step);
    if (count <= height) return [...all, { height: height / count, step }];
    all.push({ height: 1, step });
  }
}

export const rowsShown = (z: Zoom, height: number): number => (height / z.height) * z.step;
