import { useSignal } from "@preact/signals";
import { cellValue, type Grid } from "../../data/grid";
import { SECTOR_BYTES, WORDS } from "../../data/heat";
import type { MemoryObject } from "../../data/payload";
import { exact } from "../../widgets/format";
import { repeatText } from "../../widgets/heatmap/painter";
import type { Sight } from "../../widgets/heatmap/sight";
import { startOf } from "./cell";

const ROWS = 40;

const columnName = (grid: Grid, column: number): string =>
  grid.layout.kind === "words" ? (column === WORDS ? "sector" : `w${column}`) : String(column);

/** The same as the canvas in words and numbers: the rows from the first in sight on. */
export function GridTable(p: { names: string[]; sight: Sight; object: MemoryObject }) {
  const open = useSignal(false);
  return (
    <details
      class="gridtable"
      onToggle={(e) => {
        open.value = e.currentTarget.open;
      }}
    >
      <summary>As a table</summary>
      {open.value && <Rows {...p} />}
    </details>
  );
}

function Rows({ names, sight, object }: Parameters<typeof GridTable>[0]) {
  const { grid } = sight;
  const top = Math.min(Math.floor(sight.top.value), Math.max(0, grid.count - 1));
  const rows = Array.from({ length: Math.min(ROWS, grid.count - top) }, (_, i) => top + i);
  const columns = Array.from({ length: grid.layout.columns }, (_, c) => c);
  return (
    <div class="tablebox">
      <table class="plain">
        <caption>
          Rows {exact(top + 1)} to {exact(top + rows.length)} of {exact(grid.count)}
        </caption>
        <thead>
          <tr>
            <th class="num">offset</th>
            {names.map((name) =>
              columns.map((c) => (
                <th key={`${name} ${c}`} class="num" title={name}>
                  {columnName(grid, c)}
                </th>
              )),
            )}
            <th class="text">repeats</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row}>
              <th scope="row" class="num">
                {exact((grid.first[row] ?? 0) * SECTOR_BYTES - startOf(object))}
              </th>
              {grid.gap[row] ? (
                <td colSpan={names.length * columns.length} class="text muted">
                  not touched
                </td>
              ) : (
                names.map((name, l) =>
                  columns.map((c) => (
                    <td key={`${name} ${c}`} class="num">
                      {cellValue(grid, row, l, c)}
                    </td>
                  )),
                )
              )}
              <td class="text nowrap">{repeatText(grid, row, true)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
