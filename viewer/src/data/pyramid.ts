import { cellValue, type Grid } from "./grid";
import { meanCode, type Summary } from "./summary";

/** A grid seen from afar: each row stands for `step` rows of the grid. */
export interface Level {
  step: number;
  count: number;
  cells: Uint8Array; // by row, layer, column: the highest value, or the code of the mean
}

export const STEP = 4;

export const rowCells = (g: Grid): number => g.layers.length * g.layout.columns;

/** Sums over the sectors of `step` rows of the grid, each layer's over those that its block touched. */
interface Sums {
  step: number;
  count: number;
  sums: Float64Array; // by row, layer, column
  weights: Float64Array; // by row, layer: sectors
}

const emptySums = (step: number, count: number, g: Grid): Sums => ({
  step,
  count,
  sums: new Float64Array(count * rowCells(g)),
  weights: new Float64Array(count * g.layers.length),
});

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

/** Adds a row of the grid, as many times as it comes, to row `to` of the sums. */
function addRow(g: Grid, row: number, s: Sums, to: number): void {
  if (g.gap[row]) return;
  const weight = (g.repeat[row] as number) * (g.times[row] as number);
  let at = to * rowCells(g);
  for (let l = 0; l < g.layers.length; l++) {
    let touched = 0;
    for (let c = 0; c < g.layout.columns; c++, at++) {
      const value = cellValue(g, row, l, c);
      touched |= value;
      s.sums[at] = (s.sums[at] as number) + weight * value;
    }
    const w = to * g.layers.length + l;
    if (touched > 0) s.weights[w] = (s.weights[w] as number) + weight;
  }
}

function firstSums(g: Grid): Sums {
  const s = emptySums(STEP, Math.ceil(g.count / STEP), g);
  for (let row = 0; row < g.count; row++) addRow(g, row, s, Math.floor(row / STEP));
  return s;
}

function nextSums(below: Sums, g: Grid): Sums {
  const s = emptySums(below.step * STEP, Math.ceil(below.count / STEP), g);
  const join = (from: Float64Array, to: Float64Array, width: number) => {
    for (let row = 0, i = 0; row < below.count; row++) {
      const at = Math.floor(row / STEP) * width;
      for (let k = 0; k < width; k++, i++) {
        to[at + k] = (to[at + k] as number) + (from[i] as number);
      }
    }
  };
  join(below.sums, s.sums, rowCells(g));
  join(below.weights, s.weights, g.layers.length);
  return s;
}

function means(s: Sums, columns: number): Level {
  const cells = new Uint8Array(s.sums.length);
  for (let w = 0, i = 0; w < s.weights.length; w++) {
    for (let c = 0; c < columns; c++, i++) {
      cells[i] = meanCode(s.sums[i] as number, s.weights[w] as number);
    }
  }
  return { step: s.step, count: s.count, cells };
}

function meanLevels(g: Grid, fewest: number): Level[] {
  const levels: Level[] = [];
  let sums: Sums | undefined;
  while ((sums?.count ?? g.count) > fewest) {
    sums = sums ? nextSums(sums, g) : firstSums(g);
    levels.push(means(sums, g.layout.columns));
  }
  return levels;
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

function highestLevels(g: Grid, fewest: number): Level[] {
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

/** Steps 4, 16, 64 ... until a level has no more than `fewest` rows. */
export const pyramid = (g: Grid, fewest: number, summary: Summary = "max"): Level[] =>
  summary === "mean" ? meanLevels(g, fewest) : highestLevels(g, fewest);
