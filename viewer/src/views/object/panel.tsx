import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Grid, LAYOUTS, type Layout, rowAt, sectorOf } from "../../data/grid";
import { type HeatTable, lastSector, SECTOR_BYTES, WORD_BYTES, WORDS } from "../../data/heat";
import { makeGrid } from "../../data/makegrid";
import type { Model } from "../../data/model";
import { ownerPlanes } from "../../data/owner";
import type { HeatMap, MemoryObject } from "../../data/payload";
import type { Summary } from "../../data/summary";
import { HeatLegend, OwnerLegend } from "../../pictures/legend";
import { route } from "../../state/route";
import { exact } from "../../widgets/format";
import { HeatCanvas } from "../../widgets/heatmap/canvas";
import { ObjectBar } from "../../widgets/heatmap/objectbar";
import type { Cell } from "../../widgets/heatmap/painter";
import type { Mode } from "../../widgets/heatmap/palette";
import { Sight } from "../../widgets/heatmap/sight";
import { CellTable, elementBytes, startOf } from "./cell";
import { setQuery } from "./maps";
import { GridTable } from "./table";
import { GoTo, Switch, wantedByte, Zoom } from "./tools";

interface Props {
  m: Model;
  object: MemoryObject;
  maps: HeatMap[];
  tables: HeatTable[];
}

/** What a reader may choose about the map. */
interface Choice {
  layout: Layout;
  mode: Mode;
  summary: Summary;
  collapse: boolean;
}

interface Option {
  layout: Layout;
  value: Layout["kind"];
  label: string;
  help: string;
}

const WORDS_OPTION: Option = {
  layout: LAYOUTS.words,
  value: "words",
  label: "words",
  help: "One row per sector, one cell per word",
};

/** The ways to see a map that make sense for its memory. */
const layoutsFor = (map: HeatMap): Option[] =>
  map.space === "shared"
    ? [
        {
          layout: LAYOUTS.banks,
          value: "banks",
          label: "banks",
          help: "One row per 128 bytes, one column per bank",
        },
        WORDS_OPTION,
      ]
    : [
        WORDS_OPTION,
        {
          layout: LAYOUTS.sectors,
          value: "sectors",
          label: "sectors",
          help: "One row per KiB, one cell per sector",
        },
      ];

/** The choice that the address tells (?rows=sectors&mode=owner&pixel=mean&collapse=no). */
function choiceOf(map: HeatMap): Choice {
  const { query } = route.value;
  const options = layoutsFor(map);
  const chosen = options.find((o) => o.value === query.rows) ?? options[0] ?? WORDS_OPTION;
  const mode = query.mode === "owner" ? "owner" : "warmth";
  return {
    layout: chosen.layout,
    mode,
    summary: query.pixel === "mean" && mode === "warmth" ? "mean" : "max", // owners have no mean
    collapse: query.collapse !== "no",
  };
}

/** Everything that is made anew when the choice changes. */
interface Shown {
  grid: Grid;
  sight: Sight;
  hover: Signal<Cell | undefined>;
  pinned: Signal<Cell | undefined>;
}

function makeShown(tables: HeatTable[], space: HeatMap["space"], c: Choice): Shown {
  const layers = tables.map((table) => ({
    table,
    planes: c.mode === "owner" ? ownerPlanes(table, space) : table.warmth,
  }));
  const grid = makeGrid(layers, c.layout, c.collapse);
  return { grid, sight: new Sight(grid), hover: signal(undefined), pinned: signal(undefined) };
}

/** The cell of a byte of the object. */
function cellOf(grid: Grid, object: MemoryObject, byte: number) {
  const at = byte + startOf(object);
  const sector = Math.floor(at / SECTOR_BYTES);
  const word = Math.floor((at % SECTOR_BYTES) / WORD_BYTES);
  const inside = sector % grid.layout.sectors;
  const column = { words: word, sectors: inside, banks: inside * WORDS + word };
  return { row: rowAt(grid, sector), layer: 0, column: column[grid.layout.kind], sector };
}

/** Brings a byte of the object into sight and selects its cell. */
function show({ grid, sight, pinned }: Shown, object: MemoryObject, byte: number): void {
  const cell = cellOf(grid, object, byte);
  sight.zoomTo(0);
  sight.center(cell.sector);
  pinned.value = cell;
}

/** The first byte of a cell, from the object's start. */
function byteOf(grid: Grid, object: MemoryObject, cell: Cell): number {
  const kind = grid.layout.kind;
  const word = kind === "sectors" || cell.column === WORDS ? 0 : cell.column % WORDS;
  const sector = cell.sector ?? sectorOf(grid, cell.row, cell.column);
  const byte = sector * SECTOR_BYTES + word * WORD_BYTES;
  return Math.max(0, byte - startOf(object));
}

/** What is shown by the choice; another choice keeps the place and the selected cell. */
function useShown(p: Props, choice: Choice, element: number): Shown {
  const { tables, maps, object } = p;
  const last = useRef<Shown | undefined>(undefined);
  const { layout, mode, collapse } = choice;
  const space = (maps[0] as HeatMap).space;
  const shown = useMemo(() => makeShown(tables, space, choice), [tables, layout, mode, collapse]);
  useEffect(() => {
    const byte = wantedByte(route.peek().query.at ?? "", object, element);
    if (last.current) shown.sight.follow(last.current.sight);
    if (last.current && byte !== undefined) shown.pinned.value = cellOf(shown.grid, object, byte);
    else if (byte !== undefined) show(shown, object, byte);
    last.current = shown;
    return shown.pinned.subscribe((cell) => {
      if (cell) setQuery({ at: String(byteOf(shown.grid, object, cell)) });
    });
  }, [shown]);
  return shown;
}

const SUMMARY_OPTIONS = [
  {
    value: "max" as const,
    label: "maximum",
    help: "Where a pixel stands for several sectors: the hottest of them",
  },
  {
    value: "mean" as const,
    label: "mean",
    help: "Where a pixel stands for several sectors: the mean of those that were touched",
  },
];

function Tools({ map, choice, shown, go }: ToolsProps) {
  return (
    <div class="heattools">
      <Switch
        label="Rows"
        value={choice.layout.kind}
        options={layoutsFor(map)}
        set={(rows) => setQuery({ rows })}
      />
      <Switch
        label="Colour"
        value={choice.mode}
        options={[
          { value: "warmth", label: "warps", help: "How many warps used it" },
          { value: "owner", label: "owner", help: "One thread, one warp or several" },
        ]}
        set={(mode) => setQuery({ mode })}
      />
      {choice.mode === "warmth" && (
        <Switch
          label="Pixel"
          value={choice.summary}
          options={SUMMARY_OPTIONS}
          set={(summary) => setQuery({ pixel: summary === "mean" ? "mean" : undefined })}
        />
      )}
      <label>
        <input
          type="checkbox"
          checked={choice.collapse}
          onChange={(e) => setQuery({ collapse: e.currentTarget.checked ? undefined : "no" })}
        />{" "}
        collapse equal rows
      </label>
      <Zoom sight={shown.sight} />
      <GoTo go={go} />
    </div>
  );
}

interface ToolsProps {
  map: HeatMap;
  choice: Choice;
  shown: Shown;
  go: (text: string) => boolean;
}

/** What the rows that one row stands for have in common, and how to see them apart. */
function CollapsedNote({ grid, cell }: { grid: Grid; cell: Cell }) {
  const rows = (grid.repeat[cell.row] ?? 1) * (grid.times[cell.row] ?? 1);
  if (rows < 2 || grid.gap[cell.row] || cell.sector !== undefined) return null;
  return (
    <p class="hint">
      {exact(rows)} rows look the same; their warps may differ. Details are of the first one. Untick
      “collapse” to see each.
    </p>
  );
}

function CellInfo({ m, object, maps, shown }: Omit<Props, "tables"> & { shown: Shown }) {
  const { grid, hover, pinned } = shown;
  const cell = hover.value ?? pinned.value;
  return (
    <aside id="cellinfo" class="cellinfo" aria-live="polite">
      {cell ? (
        <>
          <CellTable m={m} object={object} maps={maps} grid={grid} cell={cell} />
          <CollapsedNote grid={grid} cell={cell} />
        </>
      ) : (
        <>
          <h3>Cell</h3>
          <p class="muted">
            Point at a cell for its address, warps and lines. Click to keep it; then the arrow keys
            move. Ctrl and the wheel zoom; drag the strips to go elsewhere.
          </p>
        </>
      )}
    </aside>
  );
}

/** Sectors of the object as a whole, or as far as the maps reach where its size is not known. */
const sectorsOf = (object: MemoryObject, tables: HeatTable[]): number =>
  Math.max(
    1,
    Math.ceil(((object.bytes ?? 0) + startOf(object)) / SECTOR_BYTES),
    ...tables.map(lastSector),
  );

/** Heat maps with all that belongs to them: switches, the strip of the whole object, the cell's details, a table. */
export function MapPanel(p: Props) {
  const { m, object, maps, tables } = p;
  const first = maps[0] as HeatMap;
  const choice = choiceOf(first);
  const { mode, summary } = choice;
  const element = elementBytes(m, first) ?? WORD_BYTES;
  const shown = useShown(p, choice, element);
  const names = useMemo(() => maps.map((h) => `block (${h.block.join(", ")})`), [maps]);
  const go = (text: string): boolean => {
    const byte = wantedByte(text, object, element);
    if (byte !== undefined) show(shown, object, byte);
    return byte !== undefined;
  };
  const sectors = sectorsOf(object, tables);
  const { sight, hover, pinned } = shown;
  const look = { mode, summary, warps: first.warps };
  return (
    <>
      <div class="heattools">
        {mode === "owner" ? (
          <OwnerLegend shared={first.space === "shared"} />
        ) : (
          <HeatLegend warps={first.warps} />
        )}
      </div>
      <Tools map={first} choice={choice} shown={shown} go={go} />
      <ObjectBar {...look} sight={sight} sectors={sectors} patterns={first.space !== "shared"} />
      <div class="heatpanel">
        <HeatCanvas
          {...look}
          sight={sight}
          names={names}
          hover={hover}
          pinned={pinned}
          describedBy="cellinfo"
        />
        <CellInfo m={m} object={object} maps={maps} shown={shown} />
      </div>
      <GridTable names={names} sight={sight} object={object} />
    </>
  );
}
