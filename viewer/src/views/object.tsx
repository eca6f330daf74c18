import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import {
  type DisplayRow,
  displayRows,
  type HeatTable,
  heatTable,
  OWNERS,
  popcount,
  ranges,
  runAt,
  SECTOR_BYTES,
  WORD_BYTES,
  WORDS,
  wordHistory,
} from "../data/heat";
import type { Model } from "../data/model";
import type { HeatMap, MemoryObject } from "../data/payload";
import { HeatLegend } from "../pictures/heatstrip";
import { href, replace, route } from "../state/route";
import { count, exact, middle, plural } from "../widgets/format";
import { type Cell, HeatCanvas, HeatHead } from "../widgets/heatmap";
import { FindingLinks } from "./kernel";
import { objectNote, shortObject } from "./names";
import { place } from "./source";

const excessOf = (m: Model, id: number): number =>
  m.payload.findings.filter((f) => f.object === id).reduce((sum, f) => sum + f.excess, 0);

/** Objects with findings first, then those with maps, then the others. */
export function rankedObjects(m: Model): MemoryObject[] {
  const key = (o: MemoryObject) => [excessOf(m, o.id), m.mapsOf.has(o.id) ? 1 : 0];
  return m.payload.objects
    .map((o) => ({ o, key: key(o) }))
    .sort((a, b) => (b.key[0] ?? 0) - (a.key[0] ?? 0) || (b.key[1] ?? 0) - (a.key[1] ?? 0))
    .map(({ o }) => o);
}

function ObjectList({ m, on }: { m: Model; on: number }) {
  return (
    <nav class="list" aria-label="Objects">
      <p class="muted listhead">Those with findings first</p>
      <ol>
        {rankedObjects(m).map((o) => {
          const findings = m.payload.findings.filter((f) => f.object === o.id).length;
          return (
            <li key={o.id}>
              <a
                class={`card plain${o.id === on ? " on" : ""}`}
                href={href("object", o.id)}
                aria-current={o.id === on}
              >
                <span class="title mono" title={o.name}>
                  {middle(shortObject(o), 34)}
                </span>
                {findings > 0 && <span class="badge">{plural(findings, "finding")}</span>}
                <span class="where">
                  {objectNote(m, o)} {place(m, o.file, o.line)}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** The commonest access width of the kernel's instructions on the object. */
function elementBytes(m: Model, map: HeatMap): number | undefined {
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

function Row({ label, children }: { label: string; children: string | VNode | VNode[] }) {
  return (
    <tr>
      <th scope="row" class="text">
        {label}
      </th>
      <td class="text">{children}</td>
    </tr>
  );
}

interface CellInfo {
  m: Model;
  t: HeatTable;
  rows: DisplayRow[];
  cell: Cell;
}

function warpsText(history: number): string {
  const n = popcount(history);
  return n === 0 ? "none" : `${n}: ${ranges(history)}`;
}

function CellTable({ m, t, rows, cell }: CellInfo) {
  const row = rows[cell.row];
  if (!row || row.run < 0) return null;
  const object = m.objectById.get(t.map.object);
  const run = row.run;
  const shift = (object?.base ?? 0) % SECTOR_BYTES;
  const word = cell.column < WORDS;
  const offset = row.first * SECTOR_BYTES + (word ? cell.column * WORD_BYTES : 0) - shift;
  const element = elementBytes(m, t.map);
  const history = word ? wordHistory(t, run, cell.column) : (t.history[run] ?? 0);
  const owner = ((t.owner[run] ?? 0) >>> (2 * cell.column)) & 3;
  const pcs = t.map.pcsets[t.pcset[run] ?? 0] ?? [];
  const address = object?.base === undefined ? undefined : object.base + offset;
  return (
    <table class="plain cell">
      <tbody>
        {address !== undefined && t.map.space !== "shared" ? (
          <Row label="address">{`0x${address.toString(16)}`}</Row>
        ) : null}
        <Row label="offset">{`${exact(offset)} bytes${row.sectors > 1 ? `, first of ${plural(row.sectors, "sector")}` : ""}`}</Row>
        {element && word ? (
          <Row label="element">{`[${exact(Math.floor(offset / element))}] of ${element} bytes`}</Row>
        ) : null}
        <Row label={word ? `warps at word ${cell.column}` : "warps at the sector"}>
          {warpsText(history)}
        </Row>
        {t.map.space === "shared" && word ? (
          <Row label="touched by">{OWNERS[owner] ?? ""}</Row>
        ) : null}
        <Row label="requests">
          {(
            [
              [t.reads[run] ?? 0, "read"],
              [t.writes[run] ?? 0, "write"],
              [t.atomics[run] ?? 0, "atomic"],
            ] as const
          )
            .filter(([n]) => n > 0)
            .map(([n, what]) => plural(n, what))
            .join(", ")}
        </Row>
        <Row label="lines">
          <ul class="tight mono">{linesTouching(m, t.map, pcs)}</ul>
        </Row>
      </tbody>
    </table>
  );
}

/** What the rows that one row stands for have in common, and how to see them apart. */
function MergedNote({ row }: { row: DisplayRow | undefined }) {
  if (!row || row.run < 0 || row.runs < 2) return null;
  return (
    <p class="hint">
      {exact(row.sectors)} sectors in a row have equal temperatures; their warps differ. Details are
      of the first one. Untick “collapse” to see each.
    </p>
  );
}

function MapPicker({ m, maps, at }: { m: Model; maps: HeatMap[]; at: number }) {
  if (maps.length < 2) return null;
  const label = (h: HeatMap) => {
    const kernel = m.kernelById.get(h.kernel);
    return `${middle(kernel?.short_name ?? "kernel", 40)}, launch ${h.launch}, block (${h.block.join(", ")})`;
  };
  return (
    <label class="picker">
      Map{" "}
      <select
        value={at}
        onChange={(e) => replace(href("object", route.value.id, { map: e.currentTarget.value }))}
      >
        {maps.map((h, i) => (
          <option key={label(h)} value={i + 1}>
            {label(h)}
          </option>
        ))}
      </select>
    </label>
  );
}

function MapFacts({ m, map }: { m: Model; map: HeatMap }) {
  const kernel = m.kernelById.get(map.kernel);
  const lost = map.dropped + map.left_out;
  return (
    <p class="muted">
      Block ({map.block.join(", ")}) of launch {map.launch} of{" "}
      <a class="mono" href={href("kernel", map.kernel)}>
        {middle(kernel?.short_name ?? "", 50)}
      </a>
      : {plural(map.warps, "warp")}, {plural(map.sectors, "sector")} touched
      {lost > 0 && <b class="warntext">, {exact(lost)} sectors missing here</b>}
    </p>
  );
}

function MapPanel({ m, map }: { m: Model; map: HeatMap }) {
  const collapse = useSignal(true);
  const hover = useSignal<Cell | undefined>(undefined);
  const pinned = useSignal<Cell | undefined>(undefined);
  const table = useMemo(() => heatTable(m.report, map), [m, map]);
  const rows = useMemo(() => displayRows(table, collapse.value), [table, collapse.value]);
  const cell = hover.value ?? pinned.value;
  return (
    <>
      <MapFacts m={m} map={map} />
      <div class="heattools">
        <HeatLegend warps={map.warps} />
        <label>
          <input
            type="checkbox"
            checked={collapse.value}
            onChange={(e) => {
              const sector = rows[pinned.value?.row ?? -1]?.first;
              collapse.value = e.currentTarget.checked;
              hover.value = undefined;
              pinned.value = undefined;
              if (sector !== undefined && runAt(table, sector) < 0) pinned.value = undefined;
            }}
          />{" "}
          collapse equal rows
        </label>
      </div>
      <div class="heatpanel">
        <div>
          <HeatHead rows={rows.length} />
          <HeatCanvas table={table} rows={rows} hover={hover} pinned={pinned} />
        </div>
        <aside class="cellinfo" aria-live="polite">
          <h3>{cell ? (cell.column < WORDS ? `Word ${cell.column}` : "Sector") : "Cell"}</h3>
          {cell ? (
            <>
              <CellTable m={m} t={table} rows={rows} cell={cell} />
              <MergedNote row={rows[cell.row]} />
            </>
          ) : (
            <p class="muted">
              Point at a cell for its address, warps and lines. Click to keep it; then the arrow
              keys move.
            </p>
          )}
        </aside>
      </div>
    </>
  );
}

function Origin({ m, o }: { m: Model; o: MemoryObject }) {
  const where = place(m, o.file, o.line);
  const uses = m.payload.instructions.filter((i) => i.object === o.id);
  const sectors = uses.reduce((sum, i) => sum + i.sectors, 0);
  const kernels = new Set(uses.map((i) => i.kernel)).size;
  const parts = [
    objectNote(m, o),
    where ? `${o.kernel === undefined ? "allocated" : "defined"} at ${where}` : "",
    o.function ? `in ${o.function}` : "",
    kernels > 0 ? `used by ${plural(kernels, "kernel")}` : "",
    sectors > 0 ? `${count(sectors)} sectors moved` : "",
  ];
  return <p class="who muted">{parts.filter(Boolean).join(" · ")}</p>;
}

/** A data object: its findings and its heat maps. */
export function ObjectView({ m, id }: { m: Model; id: number | undefined }) {
  const object = m.objectById.get(id ?? -1) ?? rankedObjects(m)[0];
  if (!object) return <div class="empty">No object was seen.</div>;
  const maps = m.mapsOf.get(object.id) ?? [];
  const wanted = Number.parseInt(route.value.query.map ?? "1", 10) || 1;
  const at = Math.min(maps.length, Math.max(1, wanted));
  const map = maps[at - 1];
  return (
    <div class="split">
      <ObjectList m={m} on={object.id} />
      <article class="detail">
        <header class="headline">
          <p class="crumbs muted">Object</p>
          <h1 class="mono name">{object.name}</h1>
          <Origin m={m} o={object} />
        </header>
        <FindingLinks m={m} of={(f) => m.payload.findings[f]?.object === object.id} />
        <h2>Heat map</h2>
        <MapPicker m={m} maps={maps} at={at} />
        {map ? (
          <MapPanel key={`${object.id} ${at}`} m={m} map={map} />
        ) : (
          <p class="muted">No heat map of this object is in the report.</p>
        )}
      </article>
    </div>
  );
}
