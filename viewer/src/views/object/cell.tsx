import type { VNode } from "preact";
import { type Grid, runUnder, sectorOf } from "../../data/grid";
import {
  type HeatTable,
  ranges,
  SECTOR_BYTES,
  WORD_BYTES,
  WORDS,
  warmthOf,
  warpsOf,
} from "../../data/heat";
import type { Model } from "../../data/model";
import { OWNERS, ownerOf } from "../../data/owner";
import type { HeatMap, MemoryObject } from "../../data/payload";
import { FactRow } from "../../widgets/fact";
import { bytes, exact, plural } from "../../widgets/format";
import type { Cell } from "../../widgets/heatmap/painter";
import { place } from "../source";

/** The commonest access width of the kernel's instructions on the object. */
export function elementBytes(m: Model, map: HeatMap): number | undefined {
  const width = new Map<number, number>();
  for (const i of m.payload.instructions) {
    if (i.kernel !== map.kernel || i.object !== map.object) continue;
    width.set(i.bytes, (width.get(i.bytes) ?? 0) + i.requests);
  }
  return [...width].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function linesTouching(m: Model, map: HeatMap, pcs: number[]): VNode[] {
  const seen = new Set<string>();
  const result: VNode[] = [];
  for (const pc of pcs) {
    const i = m.payload.instructions.find((x) => x.kernel === map.kernel && x.pc === pc);
    const text = `${place(m, i?.file, i?.line) || `pc ${pc}`}${i ? ` (${i.op})` : ""}`;
    if (seen.has(text)) continue;
    seen.add(text);
    result.push(<li key={text}>{text}</li>);
  }
  return result;
}

/** Bytes from the sector in which the object begins to its first byte. */
export const startOf = (object: MemoryObject): number => (object.base ?? 0) % SECTOR_BYTES;

function warpsText(t: HeatTable, run: number, plane: number): string {
  const warps = warpsOf(t, run, plane);
  const n = warmthOf(t, run, plane);
  if (n === 0) return "none";
  return warps === 0 ? `${n}; which is not in the report` : `${n}: ${ranges(warps)}`;
}

function requests(t: HeatTable, run: number): string {
  const kinds = [
    [t.reads[run] ?? 0, "read"],
    [t.writes[run] ?? 0, "write"],
    [t.atomics[run] ?? 0, "atomic"],
  ] as const;
  return kinds
    .filter(([n]) => n > 0)
    .map(([n, what]) => plural(n, what))
    .join(", ");
}

interface Props {
  m: Model;
  object: MemoryObject;
  maps: HeatMap[];
  grid: Grid;
  cell: Cell;
}

function Where({ m, object, map, offset, word, more }: WhereProps) {
  const element = elementBytes(m, map);
  const address = object.base === undefined ? undefined : object.base + offset;
  return (
    <>
      {address !== undefined && map.space !== "shared" ? (
        <FactRow label="address">{`0x${address.toString(16)}`}</FactRow>
      ) : null}
      <FactRow label="offset">{`${exact(offset)} bytes${more}`}</FactRow>
      {element && offset >= 0 ? (
        <FactRow label="element">{`[${exact(Math.floor(offset / element))}] of ${element} bytes`}</FactRow>
      ) : null}
      {map.space === "shared" && word !== undefined ? (
        <FactRow label="bank">{String((offset / WORD_BYTES) % 32)}</FactRow>
      ) : null}
    </>
  );
}

interface WhereProps {
  m: Model;
  object: MemoryObject;
  map: HeatMap;
  offset: number;
  word: number | undefined;
  more: string;
}

/** What else the row stands for. */
function stretch(grid: Grid, row: number): string {
  const sectors = (grid.repeat[row] ?? 1) * grid.layout.sectors;
  const times = grid.times[row] ?? 1;
  const first = sectors > grid.layout.sectors ? `, first of ${plural(sectors, "sector")}` : "";
  const every = bytes((grid.stride[row] ?? 0) * SECTOR_BYTES);
  return times > 1 ? `${first}; ${exact(times)} times, every ${every}` : first;
}

/** What is known about a cell: where it is, who used it, how often and from which lines. */
export function CellTable({ m, object, maps, grid, cell }: Props) {
  const map = maps[cell.layer];
  const table = grid.layers[cell.layer]?.table;
  if (!map || !table || cell.row >= grid.count) return null;
  const { run, plane, sector } = runUnder(
    grid,
    cell.row,
    cell.layer,
    cell.column,
    cell.sector ?? sectorOf(grid, cell.row, cell.column),
  );
  const word = plane < WORDS ? plane : undefined;
  const offset = sector * SECTOR_BYTES + (word ?? 0) * WORD_BYTES - startOf(object);
  const more = cell.sector === undefined ? stretch(grid, cell.row) : "";
  return (
    <>
      <h3>
        {word === undefined ? "Sector" : `Word ${word}`}
        {maps.length > 1 && <span class="muted"> in block ({map.block.join(", ")})</span>}
      </h3>
      <table class="plain cell">
        <tbody>
          <Where m={m} object={object} map={map} offset={offset} word={word} more={more} />
          {run < 0 ? (
            <FactRow label="warps">untouched</FactRow>
          ) : (
            <>
              <FactRow label={word === undefined ? "warps at the sector" : `warps at word ${word}`}>
                {warpsText(table, run, plane)}
              </FactRow>
              <FactRow label="touched by">
                {OWNERS[ownerOf(table, map.space, run, plane)] ?? ""}
              </FactRow>
              <FactRow label="requests">{`${requests(table, run)} of its sector`}</FactRow>
              <FactRow label="lines">
                <ul class="tight mono">
                  {linesTouching(m, map, map.pcsets[table.pcset[run] ?? 0] ?? [])}
                </ul>
              </FactRow>
            </>
          )}
        </tbody>
      </table>
    </>
  );
}
