import type { Grid } from "../../data/grid";
import type { Cell } from "./painter";

/** The row, or the next one that was touched in the direction; the first and the last row always were. */
function touched(grid: Grid, row: number, direction: number): number {
  const inside = Math.min(grid.count - 1, Math.max(0, row));
  return grid.gap[inside] ? inside + direction : inside;
}

/** Where a key takes the selected cell, or the first one where none is; undefined for other keys. */
export function moved(
  cell: Cell | undefined,
  key: string,
  grid: Grid,
  page: number,
): Cell | undefined {
  const steps: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-page, 0],
    PageDown: [page, 0],
    Home: [-grid.count, 0],
    End: [grid.count, 0],
  };
  const step = steps[key];
  if (!step) return undefined;
  if (!cell) return { row: 0, layer: 0, column: 0 };
  const { columns } = grid.layout;
  const at = cell.layer * columns + cell.column + step[1];
  const across = Math.min(grid.layers.length * columns - 1, Math.max(0, at));
  return {
    row: touched(grid, cell.row + step[0], Math.sign(step[0])),
    layer: Math.floor(across / columns),
    column: across % columns,
  };
}
