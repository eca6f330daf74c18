import { cellValue, type Grid } from "./grid";

/** A grid seen from afar: each row shows the highest values of `step` rows of the grid. */
export interface Level {
  step: number;
  count: number;
  cells: Uint8Array; // by row, layer, column
}

export const STEP = 4;

export const rowCells = (g: Grid): number => g.layers.length * g.layout.columns;

/** Writes a row's values of all layers to `out` at `at`, where they are higher than what stands there. */
function raise(g: Grid, row: number, out: Uint8Array, at: number): void {
  if (g.gap[row]) return;
  let to = at;
  for (let l = 0; l < g.layers.length; l++) {
    for (let c = 0; c < g.layout.columns; c++, to++) {
      const value = cellValue(g, row, l, c);
      if (value > (out[to] as number)) out[to] = value;
    }
  }
}

function firstLevel(g: Grid): Level {
  const width = rowCells(g);
  const count = Math.ceil(g.count / STEP);
  const cells = new Uint8Array(count * width);
  for (let row = 0; row < g.count; row++) raise(g, row, cells, Math.floor(row / STEP) * width);
  return { step: STEP, count, cells };
}

function nextLevel(below: Level, width: number): Level {
  const count = Math.ceil(below.count / STEP);
  const cells = new Uint8Array(count * width);
  for (let row = 0; row < below.count; row++) {
    const from = row * width;
    const to = Math.floor(row / STEP) * width;
    for (let k = 0; k < width; k++) {
      const value = below.cells[from + k] as number;
      if (value > (cells[to + k] as number)) cells[to + k] = value;
    }
  }
  return { step: below.step * STEP, count, cells };
}

/** Steps 4, 16, 64 ... until a level has no more than `fewest` rows. */
export function pyramid(g: Grid, fewest: number): Level[] {
  const levels: Level[] = [];
  const width = rowCells(g);
  let count = g.count;
  while (count > fewest) {
    const below = levels[levels.length - 1];
    const level: Level = below ? nextLevel(below, width) : firstLevel(g);
    levels.push(level);
    count = level.count;
  }
  return levels;
}
