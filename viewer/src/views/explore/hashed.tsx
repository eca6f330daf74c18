import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Curve } from "../../data/explore/difference";
import { differenceOf, type HashedData, loadHashed, type Path } from "../../data/explore/hashed";
import { loadLaunch } from "../../data/explore/launch";
import type { Choice, Held } from "../../data/explore/served";
import { type Dim, differenceCode, indexOf, looksOf } from "../../data/explore/tiles";
import type { Model } from "../../data/model";
import type { ComparedWarps, Explore } from "../../data/payload";
import { shown } from "../../state/theme";
import { exact, percent, plural } from "../../widgets/format";
import { cssOf } from "./colors";
import { Focus, useUpKeys } from "./focus";
import { type Camera, type Fit, Grid } from "./grid";
import type { Spot } from "./gridpaint";
import { Scale } from "./legend";
import { Failed, useLoaded } from "./loaded";
import { Outliers } from "./outliers";
import { blockName, type Side } from "./side";
import { LaunchChoice, OtherLaunches } from "./tools";
import { here, show } from "./where";

/** A launch whose warps are known by hashes and counts, as views show it. */
interface Hashed {
  side: Side;
  data: HashedData;
  compared: ComparedWarps; // by their paths
  than: Path; // of the representative
  rep: { block: number; warp: number };
  traced: ReadonlySet<number>; // blocks whose requests are known
}

const MOST_WARPS = 32; // of a block

async function hashedOf(m: Model, held: Held): Promise<Hashed> {
  const { row } = held;
  const launch = m.launchById.get(row.launch);
  if (!launch) throw new Error(`The report does not list launch ${row.launch}.`);
  const data = await loadHashed(held, launch);
  const traced = row.pages ? (await loadLaunch(m, held)).blocks : [];
  const { compared } = row.hashed as NonNullable<Explore["hashed"]>;
  const { representative } = compared;
  const rep = { block: indexOf(representative.block, launch.grid), warp: representative.warp };
  const kind = data.kindOf(rep.block, rep.warp);
  const looks = looksOf(data, new Int32Array(MOST_WARPS).fill(kind));
  const curves: Curve[] = await data.curvesOf(looks.wanted);
  const side: Side = {
    m,
    on: undefined,
    row,
    launch,
    data,
    rep: rep.block,
    lent: undefined,
    akin: false,
    chosen: false,
    looks,
    curves,
    leftOut: 0,
    most: curves.reduce((most, c) => Math.max(most, c.ops), 1),
  };
  return { side, data, compared, than: data.paths[kind] as Path, rep, traced: new Set(traced) };
}

/** What is known, and what is not. */
function Known({ h }: { h: Hashed }) {
  const { compared } = h;
  return (
    <p class="known">
      Of each warp a <b>hash of its path</b> is known (which basic blocks its threads ran, in which
      order) and <b>how many instructions</b> they ran: warps of one hash took the same path. Where
      paths part is not known, nor what was accessed
      {h.traced.size > 0 ? (
        <>
          {" "}
          – except of {plural(h.traced.size, "block")} (<span class="tracedmark" />
          ), whose requests were traced: open one to see them.
        </>
      ) : h.side.row.left_out === undefined ? (
        ": --probes trace,path traces the requests of a few blocks besides."
      ) : (
        ": what a few blocks accessed found no room here, warplens explore --serve shows it."
      )}
      {compared.dropped !== undefined &&
        ` Of ${plural(compared.dropped, "other warp")} nothing is known.`}
    </p>
  );
}

/** "2.5 times as many as warp 1 of block 0" */
function timesOf(h: Hashed, path: Path): string {
  const than = `warp ${h.rep.warp} of ${blockName(h.rep.block, h.side.launch.grid as Dim)}`;
  const times = path.instructions / Math.max(1, h.than.instructions);
  if (path === h.than) return `the path of ${than}`;
  if (path.instructions === h.than.instructions)
    return `another path than ${than}, of as many instructions`;
  return `${times < 10 ? times.toPrecision(2) : exact(Math.round(times))} times as many as ${than}`;
}

function textOf(h: Hashed, block: number, warp: number): string {
  const who = `${blockName(block, h.side.launch.grid as Dim)}, warp ${warp}`;
  const path = h.data.pathOf(block, warp);
  if (!path) return `${who}: its path is not known`;
  const others = path.warps - 1;
  return `${who}: ${plural(path.instructions, "instruction")} in its longest thread, ${timesOf(h, path)}; ${
    others > 0 ? `${plural(others, "other warp")} took its path` : "no other warp took its path"
  }`;
}

/** Of a block the warps that took the path of one. */
const alikeOf = (h: Hashed) => (spot: Spot) => {
  const kind = h.data.kindOf(spot.block, spot.warp);
  return (block: number) =>
    kind < 0 ? [] : [...h.data.kindsOf(block)].flatMap((k, warp) => (k === kind ? [warp] : []));
};

/** The warps of a block: how many instructions each ran, and who else took its path. */
function Warps({ h, block }: { h: Hashed; block: number }) {
  void shown.value; // colours follow the theme
  const kinds = h.data.kindsOf(block);
  const most = h.data.paths.reduce((n, p) => Math.max(n, p.instructions), 1);
  const names = new Map<number, string>();
  for (const kind of kinds)
    if (kind >= 0 && !names.has(kind)) names.set(kind, String.fromCharCode(65 + names.size));
  return (
    <table class="plain hashedwarps">
      <thead>
        <tr>
          <th class="num">warp</th>
          <th class="text" title="Warps of the block with one letter took the same path">
            path
          </th>
          <th class="text">instructions of its longest thread</th>
          <th class="num">of all its threads</th>
          <th class="num">differs by</th>
          <th class="num">warps that took the path</th>
        </tr>
      </thead>
      <tbody>
        {[...kinds].map((kind, warp) => {
          const path = h.data.paths[kind];
          if (!path)
            return (
              <tr key={warp}>
                <td class="num">{warp}</td>
                <td class="muted" colSpan={5}>
                  not known
                </td>
              </tr>
            );
          const difference = differenceOf(path.instructions, h.than.instructions);
          return (
            <tr key={warp} class={warp === here().warp ? "selected" : ""}>
              <td class="num">{warp}</td>
              <td>{names.get(kind)}</td>
              <td class="ran">
                <span
                  style={{
                    width: `${(70 * path.instructions) / most}%`,
                    background: cssOf(differenceCode(difference)),
                  }}
                />{" "}
                {exact(path.instructions)}
              </td>
              <td class="num">{path.lanes === undefined ? "" : exact(path.lanes)}</td>
              <td class="num">{percent(difference)}</td>
              <td class="num">{exact(path.warps)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function HashedLegend({ level, unit }: { level: "grid" | "block"; unit: number }) {
  void shown.value;
  return (
    <div class="explorelegend">
      <p>
        {level === "grid"
          ? `Each tile is a thread block. In it a column is a warp: as long as its longest thread ran (a row stands for ${plural(unit, "instruction")}), grey from there on. `
          : "A bar is as long as the warp's longest thread ran. "}
        The colour says how much longer or shorter its path is than that of the warp in the middle
        of all. Of one colour may be different paths of one length.
      </p>
      <p class="scale">
        <span>as long</span>
        <Scale />
        <span>many times as long, or a small part of it</span>
        {level === "grid" && (
          <>
            <span class="key">
              <span class="alikemark" /> took the path of the warp pointed at
            </span>
            <span class="key">
              <span class="tracedmark" /> its requests were traced
            </span>
          </>
        )}
      </p>
    </div>
  );
}

const camera = signal<Camera>({ scale: undefined, x: 0, y: 0 });
const fits = signal<Record<string, Fit>>({});

interface Props {
  m: Model;
  choice: Choice;
  held: Held; // of that
  steps: ComponentChildren; // the explorer of its steps, for blocks of which these are known
}

/** A launch of which paths are known by hashes: its grid, and its blocks; those that were traced lead to their steps. */
export function HashedExplorer({ m, choice, held, steps }: Props) {
  const { row } = held;
  const where = { ...here(), launch: row.launch };
  const loaded = useLoaded(() => hashedOf(m, held), [m, row]);
  const status = useSignal("");
  const h = loaded.value;
  const { block } = where;
  const traced = h !== undefined && block !== undefined && h.traced.has(block);
  const grid = where.level === "grid" || block === undefined;
  useUpKeys(!grid && !traced);
  useEffect(() => {
    camera.value = { scale: undefined, x: 0, y: 0 };
  }, [row.launch]);
  const point = useMemo(
    () => (_: Side, spot: Spot | undefined) => {
      status.value = spot && h ? textOf(h, spot.block, spot.warp) : "";
    },
    [h],
  );
  if (loaded.error) return <Failed {...loaded} />;
  if (!h) return <p class="muted">Unpacking which paths warps took …</p>;
  if (!grid && traced) return <>{steps}</>;
  const said = where.block !== undefined ? textOf(h, where.block, where.warp ?? 0) : undefined;
  return (
    <div class="explorebody alone">
      <div class="exploremain">
        <nav class="levels" aria-label="Levels">
          {grid ? (
            <b aria-current="page">Grid</b>
          ) : (
            <>
              <button type="button" class="plainlink" onClick={() => show({ level: "grid" })}>
                Grid
              </button>
              <span class="muted"> › </span>
              <b aria-current="page">{blockName(block, h.side.launch.grid as Dim)}</b>
            </>
          )}
        </nav>
        <div class="exploretools">
          <LaunchChoice m={m} choice={choice} />
        </div>
        <Known h={h} />
        <OtherLaunches m={m} row={row} />
        {grid ? (
          <div class="level grids">
            <Focus />
            <figure>
              <Grid
                side={h.side}
                where={where}
                most={h.side.most}
                bundle={1}
                camera={camera}
                slot="it"
                fits={fits}
                traced={h.traced}
                alike={alikeOf(h)}
                point={point}
              />
            </figure>
          </div>
        ) : (
          <Warps h={h} block={block} />
        )}
        {grid && (
          <p class="pointed" aria-live="polite">
            {status.value || said || (
              <span class="muted">
                Point at a warp to read what it says; click, or press Enter, to open its block.
              </span>
            )}
          </p>
        )}
        <HashedLegend level={grid ? "grid" : "block"} unit={h.data.unit} />
        {grid && <Outliers side={h.side} compared={h.compared} />}
      </div>
    </div>
  );
}
