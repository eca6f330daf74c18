import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { HeatTable } from "../../data/heat";
import { loadMap } from "../../data/maps";
import type { Model } from "../../data/model";
import type { HeatMap, MemoryObject } from "../../data/payload";
import { WHY, whyBlock } from "../../data/sample";
import { href, replace, route } from "../../state/route";
import { exact, middle, plural } from "../../widgets/format";
import { MapPanel } from "./panel";

const MOST_BLOCKS = 4;

/** The maps that the address names (?map=1,2), of one launch; else the first. Numbers count from 1. */
function chosen(maps: HeatMap[]): number[] {
  const wanted = (route.value.query.map ?? "1").split(",").map((n) => Number.parseInt(n, 10));
  const there = [...new Set(wanted)].filter((n) => n >= 1 && n <= maps.length);
  const first = maps[(there[0] ?? 1) - 1];
  const alike = there.filter((n) => {
    const map = maps[n - 1];
    return map?.launch === first?.launch && map?.kernel === first?.kernel;
  });
  return alike.length > 0 ? alike.slice(0, MOST_BLOCKS) : [1];
}

/** Changes what the address says beside the object. */
export function setQuery(change: Record<string, string | undefined>): void {
  const query: Record<string, string> = { ...route.value.query };
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) delete query[key];
    else query[key] = value;
  }
  replace(href(route.value.view, route.value.id, query));
}

const launchName = (m: Model, map: HeatMap) =>
  `${middle(m.kernelById.get(map.kernel)?.short_name ?? "kernel", 40)}, launch ${map.launch}`;

/** In a word, with the rest on pointing at it, why the block was sampled. */
function BlockWhy({ m, map }: { m: Model; map: HeatMap }) {
  const samples = m.launchById.get(map.launch)?.samples ?? [];
  const sample = samples.find((s) => s.block.join() === map.block.join());
  if (!sample) return null;
  return (
    <span class="muted small" title={whyBlock(sample)}>
      {WHY[sample.why]}
    </span>
  );
}

/** Which launch, and which of its sampled blocks, side by side. */
function Picker({ m, maps, at }: { m: Model; maps: HeatMap[]; at: number[] }) {
  if (maps.length < 2) return null;
  const first = maps[(at[0] ?? 1) - 1];
  const launches = maps.filter((map, i) => maps.findIndex((o) => sameLaunch(o, map)) === i);
  const blocks = maps
    .map((map, i) => ({ map, number: i + 1 }))
    .filter(({ map }) => first && sameLaunch(map, first));
  const toggle = (number: number) => {
    const next = at.includes(number) ? at.filter((n) => n !== number) : [...at, number];
    const sorted = next.sort((a, b) => a - b).slice(-MOST_BLOCKS);
    setQuery({ map: (sorted.length > 0 ? sorted : [number]).join(","), at: undefined });
  };
  return (
    <div class="picker">
      {launches.length > 1 && (
        <label>
          Launch{" "}
          <select
            value={first ? maps.findIndex((o) => sameLaunch(o, first)) + 1 : 1}
            onChange={(e) => setQuery({ map: e.currentTarget.value, at: undefined })}
          >
            {launches.map((map) => (
              <option key={map.part} value={maps.indexOf(map) + 1}>
                {launchName(m, map)}
              </option>
            ))}
          </select>
        </label>
      )}
      {blocks.length > 1 && (
        <fieldset class="blocks">
          <legend>Blocks</legend>
          {blocks.map(({ map, number }) => (
            <label key={number} class={at.includes(number) ? "on" : ""}>
              <input
                type="checkbox"
                checked={at.includes(number)}
                onChange={() => toggle(number)}
              />{" "}
              ({map.block.join(", ")}) <BlockWhy m={m} map={map} />
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}

const sameLaunch = (a: HeatMap, b: HeatMap): boolean =>
  a.launch === b.launch && a.kernel === b.kernel;

function MapFacts({ m, maps }: { m: Model; maps: HeatMap[] }) {
  const map = maps[0];
  if (!map) return null;
  const kernel = m.kernelById.get(map.kernel);
  const lost = maps.reduce((sum, h) => sum + h.dropped + h.left_out, 0);
  const alike = maps.every((h) => h.sectors === map.sectors);
  const sectors = alike
    ? `${plural(map.sectors, "sector")}${maps.length > 1 ? " each" : ""}`
    : `${maps.map((h) => exact(h.sectors)).join(" and ")} sectors`;
  const blocks = maps.map((h) => `(${h.block.join(", ")})`).join(", ");
  return (
    <p class="muted">
      {maps.length > 1 ? "Blocks" : "Block"} {blocks} of launch {map.launch} of{" "}
      <a class="mono" href={href("kernel", map.kernel)}>
        {middle(kernel?.short_name ?? "", 50)}
      </a>
      : {plural(map.warps, "warp")}, {sectors} touched
      {lost > 0 && <b class="warntext">, {exact(lost)} sectors missing here</b>}
      {maps.some((h) => h.merged) && (
        <b class="warntext">: how many warps, but not which, to keep the report small</b>
      )}
    </p>
  );
}

/** An object's heat maps: pick a launch and up to four of its sampled blocks. */
export function HeatMaps({ m, object }: { m: Model; object: MemoryObject }) {
  const all = m.mapsOf.get(object.id) ?? [];
  const at = chosen(all);
  const key = at.join();
  const maps = useMemo(() => at.flatMap((n) => all[n - 1] ?? []), [object, key]);
  const tables = useSignal<{ maps: HeatMap[]; tables: HeatTable[] } | undefined>(undefined);
  const failure = useSignal("");
  useEffect(() => {
    let current = true;
    failure.value = "";
    Promise.all(maps.map((map) => loadMap(m, map))).then(
      (loaded) => {
        if (current) tables.value = { maps, tables: loaded };
      },
      (error: unknown) => {
        if (current) failure.value = error instanceof Error ? error.message : String(error);
      },
    );
    return () => {
      current = false;
    };
  }, [m, maps]);
  if (all.length === 0) return <p class="muted">No heat map of this object is in the report.</p>;
  return (
    <>
      <Picker m={m} maps={all} at={at} />
      <MapFacts m={m} maps={maps} />
      {failure.value ? (
        <p class="hint" role="alert">
          The heat map cannot be shown: {failure.value}
        </p>
      ) : tables.value?.maps === maps ? (
        <MapPanel key={key} m={m} object={object} maps={maps} tables={tables.value.tables} />
      ) : (
        <p class="hint" role="status">
          Unpacking the heat map …
        </p>
      )}
    </>
  );
}
