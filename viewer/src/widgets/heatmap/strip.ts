import { cellValue, type Grid } from "../../data/grid";
import { type Level, rowCells } from "../../data/pyramid";

/** The highest value of a row of the grid, or of a level of its pyramid. */
function hottestOf(grid: Grid, level: Level | undefined, row: number): number {
  const { columns } = grid.layout;
  const width = rowCells(grid);
  if (!level && grid.gap[row]) return 0;
  let most = 0;
  for (let k = 0; k < width; k++) {
    const value = level
      ? (level.cells[row * width + k] as number)
      : cellValue(grid, row, Math.floor(k / columns), k % columns);
    if (value > most) most = value;
  }
  return most;
}

/** All rows, a pixel wide: each pixel shows the hottest of the rows that fall on it. `colors` are those of the highest level,
 * or of the grid where it has none. */
export function drawStrip(
  grid: Grid,
  levels: Level[],
  colors: Uint32Array,
  height: number,
): OffscreenCanvas {
  const strip = new OffscreenCanvas(1, height);
  const image = new ImageData(1, height);
  const pixels = new Uint32Array(image.data.buffer);
  const level = levels[levels.length - 1];
  const count = level?.count ?? grid.count;
  for (let y = 0; y < height; y++) {
    const from = Math.floor((y / height) * count);
    const to = Math.max(from + 1, Math.floor(((y + 1) / height) * count));
    let most = 0;
    for (let r = from; r < Math.min(to, count); r++) {
      most = Math.max(most, hottestOf(grid, level, r));
    }
    pixels[y] = colors[most] as number;
  }
  strip.getContext("2d")?.putImageData(image, 0, 0);
  return strip;
}
