import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Grid, LAYOUTS, type Layout, makeGrid, rowAt, sectorOf } from "../../data/grid";
import { type HeatTable, lastSector, SECTOR_BYTES, WORD_BYTES } from "../../data/heat";
import type { Model } from "../../data/model";
import { ownerPlanes } from "../../data/owner";
import type { HeatMap, MemoryObject } from "../../data/payload";
import { HeatLegend, OwnerLegend } from "../../pictures/legend";
import { route } from "../../state/route";
import { exact } from "../../widgets/format";
import { HeatCanvas } from "../../widgets/heatmap/canvas";
import { rowsShown, TEXT_HEIGHT, zooms } from "../../widgets/heatmap/geometry";
import { ObjectBar } from "../../widgets/heatmap/objectbar";
import type { Cell } from "../../widgets/heatmap/painter";
import type { Mode } from "../../widgets/heatmap/palette";
import { makeView, rowsHeight, type View } from "../../widgets/heatmap/view";
import { CellTable, elementBytes, startOf } from "./cell";
import { setQuery } from "./maps";
import { GridTable } from "./table";

interface Props {
  m: Model;
  object: MemoryObject;
  maps: HeatMap[];
  tables: HeatTable[];
}

/** The ways to see a map that make sense for its memory. */
function layoutsFor(shared: boolean): { layout: Layout; label: string; help: string }[] {
  const words = { layout: LAYOUTS.words, label: "words", help: "A row a sector, a cell a word" };
  return shared
    ? [
        { layout: LAYOUTS.banks, label: "banks", help: "A row every 128 bytes, a column a bank" },
        words,
      ]
    : [
        words,
        { layout: LAYOUTS.sectors, label: "sectors", help: "A row every KiB, a cell a sector" },
      ];
}

function Switch<T extends string>(p: {
  label: string;
  value: T;
  options: { value: T; label: string; help: string }[];
  set: (value: T) => void;
}) {
  return (
    <fieldset class="switch">
      <legend>{p.label}</legend>
      {p.options.map((o) => (
        <button
          key={o.value}
          type="button"
          title={o.help}
          aria-pressed={o.value === p.value}
          class={o.value === p.value ? "on" : ""}
          onClick={() => p.set(o.value)}
        >
          {o.label}
        </button>
      ))}
    </fieldset>
  );
}

/** The byte that a reader asks for: an offset, an element as [12], or an address as 0x7f...; undefined where it is none. */
export function wantedByte(
  text: string,
  object: MemoryObject,
  element: number,
): number | undefined {
  const index = /^\[?\s*(\d[\d,_]*)\s*\]$/.exec(text.trim());
  const digits = (s: string) => Number(s.replace(/[,_]/g, ""));
  if (index) return digits(index[1] ?? "") * element;
  const n = digits(text.trim().replace(/^\+/, ""));
  if (!text.trim() || !Number.isFinite(n) || n < 0) return undefined;
  const base = object.base ?? 0;
  return /^0x/i.test(text.trim()) && base > 0 && n >= base ? n - base : n;
}

function GoTo({ go }: { go: (text: string) => boolean }) {
  const wrong = useSignal(false);
  return (
    <form
      class="goto"
      onSubmit={(e) => {
        e.preventDefault();
        const input = e.currentTarget.querySelector("input");
        wrong.value = !go(input?.value ?? "");
      }}
    >
      <input
        type="text"
        placeholder="offset, [element] or 0xaddress"
        aria-label="Go to an offset in bytes, an element as [12] or an address as 0x7f00"
        aria-invalid={wrong.value}
        size={26}
      />
      <button type="submit">Go</button>
    </form>
  );
}

function Zoom({ view, last }: { view: View; last: number }) {
  const step = (by: number) => {
    view.zoom.value = Math.min(last, Math.max(0, view.zoom.value + by));
  };
  return (
    <span class="zoom">
      <button type="button" onClick={() => step(1)} disabled={view.zoom.value >= last}>
        <span aria-hidden="true">−</span>
        <span class="unseen">See more rows</span>
      </button>
      <button type="button" onClick={() => step(-1)} disabled={view.zoom.value <= 0}>
        <span aria-hidden="true">+</span>
        <span class="unseen">See fewer rows</span>
      </button>
      <button
        type="button"
        onClick={() => {
          view.zoom.value = last;
          view.top.value = 0;
        }}
        disabled={view.zoom.value >= last}
      >
        all
      </button>
    </span>
  );
}

/** What the rows that one row stands for have in common, and how to see them apart. */
function CollapsedNote({ grid, cell }: { grid: Grid; cell: Cell }) {
  const repeat = grid.repeat[cell.row] ?? 1;
  if (repeat < 2 || grid.gap[cell.row]) return null;
  return (
    <p class="hint">
      {exact(repeat)} rows in a row look the same; their warps may differ. Details are of the first
      one. Untick “collapse” to see each.
    </p>
  );
}

interface State {
  grid: Grid;
  view: View;
  pinned: Signal<Cell | undefined>;
}

/** Brings a byte of the object into sight and selects its cell. */
function show({ grid, view, pinned }: State, object: MemoryObject, byte: number): void {
  const at = byte + startOf(object);
  const sector = Math.floor(at / SECTOR_BYTES);
  const row = rowAt(grid, sector);
  const seen = rowsShown({ height: TEXT_HEIGHT, step: 1 }, rowsHeight(grid.count));
  const word = Math.floor((at % SECTOR_BYTES) / WORD_BYTES);
  const inside = sector - (grid.first[row] ?? 0);
  const column = {
    words: word,
    sectors: inside % 32,
    banks: (inside % 4) * 8 + word,
  }[grid.layout.kind];
  view.zoom.value = 0;
  view.top.value = Math.max(0, Math.min(grid.count - seen, row - Math.floor(seen / 2)));
  pinned.value = { row, layer: 0, column: Math.max(0, column) };
}

/** Heat maps with all that belongs to them: switches, the strip of the whole object, the cell's details, a table. */
export function MapPanel({ m, object, maps, tables }: Props) {
  const first = maps[0] as HeatMap;
  const options = layoutsFor(first.space === "shared");
  const { query } = route.value;
  const layout = options.find((o) => o.layout.kind === query.rows)?.layout ?? options[0]?.layout;
  const mode: Mode = query.mode === "owner" ? "owner" : "warmth";
  const collapse = useSignal(true);
  const hover = useSignal<Cell | undefined>(undefined);
  const pinned = useSignal<Cell | undefined>(undefined);
  const view = useMemo(makeView, [tables]);
  const grid = useMemo(() => {
    const layers = tables.map((table) => ({
      table,
      planes: mode === "owner" ? ownerPlanes(table, first.space) : table.warmth,
    }));
    return makeGrid(layers, layout ?? LAYOUTS.words, collapse.value);
  }, [tables, mode, layout, collapse.value]);
  const names = useMemo(() => maps.map((h) => `block (${h.block.join(", ")})`), [maps]);
  const height = rowsHeight(grid.count);
  const all = useMemo(() => zooms(grid.count, height), [grid, height]);
  const state = { grid, view, pinned };
  const element = elementBytes(m, first) ?? WORD_BYTES;

  useEffect(() => {
    hover.value = undefined;
    pinned.value = undefined;
    view.top.value = 0;
    const byte = wantedByte(query.at ?? "", object, element);
    if (byte !== undefined) show(state, object, byte);
  }, [grid]);
  const keep = (cell: Cell | undefined) => {
    if (!cell) return;
    const { layout: l } = grid;
    const sector = sectorOf(grid, cell.row, cell.column);
    const word = l.kind === "sectors" ? 0 : l.kind === "words" ? cell.column % 9 : cell.column % 8;
    const byte = sector * SECTOR_BYTES + (word % 8) * WORD_BYTES - startOf(object);
    setQuery({ at: String(Math.max(0, byte)) });
  };
  useEffect(() => pinned.subscribe((cell) => cell !== undefined && keep(cell)), [grid]);

  const sectors = Math.max(
    1,
    Math.ceil(((object.bytes ?? 0) + startOf(object)) / SECTOR_BYTES),
    ...tables.map(lastSector),
  );
  const seen = useComputed(() => {
    const zoom = all[Math.min(view.zoom.value, all.length - 1)];
    const top = Math.floor(view.top.value);
    const last = Math.min(grid.count - 1, Math.floor(top + (zoom ? rowsShown(zoom, height) : 1)));
    const end = (grid.first[last] ?? 0) + (grid.repeat[last] ?? 1) * grid.layout.sectors;
    return { from: grid.first[top] ?? 0, to: end };
  });
  const cell = hover.value ?? pinned.value;
  return (
    <>
      <div class="heattools">
        {mode === "owner" ? (
          <OwnerLegend shared={first.space === "shared"} />
        ) : (
          <HeatLegend warps={first.warps} />
        )}
      </div>
      <div class="heattools">
        <Switch
          label="Rows"
          value={(layout ?? LAYOUTS.words).kind}
          options={options.map((o) => ({ value: o.layout.kind, label: o.label, help: o.help }))}
          set={(rows) => setQuery({ rows, at: undefined })}
        />
        <Switch
          label="Colour"
          value={mode}
          options={[
            { value: "warmth", label: "warps", help: "How many warps used it" },
            { value: "owner", label: "owner", help: "One thread, one warp or several" },
          ]}
          set={(to) => setQuery({ mode: to })}
        />
        <label>
          <input
            type="checkbox"
            checked={collapse.value}
            onChange={(e) => {
              collapse.value = e.currentTarget.checked;
            }}
          />{" "}
          collapse equal rows
        </label>
        <Zoom view={view} last={all.length - 1} />
        <GoTo
          go={(text) => {
            const byte = wantedByte(text, object, element);
            if (byte !== undefined) show(state, object, byte);
            return byte !== undefined;
          }}
        />
      </div>
      <ObjectBar
        grid={grid}
        mode={mode}
        warps={first.warps}
        sectors={sectors}
        seen={seen}
        label={`The whole object, ${exact(sectors)} sectors; drag to go elsewhere`}
        go={(sector) => {
          const zoom = all[Math.min(view.zoom.value, all.length - 1)];
          const rows = zoom ? rowsShown(zoom, height) : 1;
          const top = rowAt(grid, sector) - rows / 2;
          view.top.value = Math.max(0, Math.min(grid.count - rows, top));
        }}
      />
      <div class="heatpanel">
        <HeatCanvas
          grid={grid}
          mode={mode}
          warps={first.warps}
          names={names}
          view={view}
          hover={hover}
          pinned={pinned}
          describedBy="cellinfo"
        />
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
                Point at a cell for its address, warps and lines. Click to keep it; then the arrow
                keys move. Ctrl and the wheel zoom; drag the strips to go elsewhere.
              </p>
            </>
          )}
        </aside>
      </div>
      <GridTable grid={grid} names={names} view={view} object={object} />
    </>
  );
}
