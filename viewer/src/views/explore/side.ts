import type { Curve } from "../../data/explore/difference";
import { type Launched, loadLaunch } from "../../data/explore/launch";
import { type Dim, indexOf, type Looks, looksOf, placeOf } from "../../data/explore/tiles";
import type { Model } from "../../data/model";
import type { Explore, Launch } from "../../data/payload";

/** A launch as it is shown: compared with one of its blocks, or with one of the launch beside it. */
export interface Side {
  m: Model;
  row: Explore;
  launch: Launch;
  data: Launched;
  rep: number; // the block that others are compared with
  repOf: number; // its launch
  chosen: boolean; // by hand
  looks: Looks;
  curves: (Curve | undefined)[]; // of looks.wanted; undefined: not compared, since all together are too much work
  leftOut: number; // warps of these
  most: number; // operations of a warp
}

export interface Asked {
  m: Model;
  row: Explore;
  arch: string;
  rep: number | undefined; // chosen by hand
  than?: Side | undefined; // of the same kernel: compare with its representative
}

async function compared(data: Launched, a: Asked, rep: number) {
  if (!a.than) {
    const looks = looksOf(data, data.kindsOf(rep));
    return { looks, curves: await data.curvesOf(looks.wanted, a.arch) };
  }
  const other = a.than;
  const kinds = other.data.kindsOf(other.rep);
  const distinct = [...new Set(kinds)].filter((kind) => kind >= 0);
  const costs = await other.data.costsOf(distinct, a.arch);
  const looks = looksOf(
    data,
    kinds.map((kind) => distinct.indexOf(kind)),
  );
  const name = `${other.row.launch} ${other.rep}`;
  return { looks, curves: await data.curvesOf(looks.wanted, a.arch, { name, costs }) };
}

export async function sideOf(a: Asked): Promise<Side> {
  const launch = a.m.launchById.get(a.row.launch);
  if (!launch) throw new Error(`The report does not list launch ${a.row.launch}.`);
  const data = await loadLaunch(a.m, a.row);
  const typical = indexOf(a.row.compared.representative.block, launch.grid);
  const own = a.rep !== undefined && data.firstOf.has(a.rep) ? a.rep : typical;
  const rep = a.than?.rep ?? own;
  const { looks, curves } = await compared(data, a, rep);
  const left = new Set(looks.wanted.filter((_, i) => !curves[i]).map((pair) => pair.kind));
  await data.loadPaths(looks.wanted.map((pair) => pair.kind).filter((kind) => !left.has(kind)));
  return {
    m: a.m,
    row: a.row,
    launch,
    data,
    rep,
    repOf: a.than?.row.launch ?? a.row.launch,
    chosen: a.rep !== undefined && own === a.rep,
    looks,
    curves,
    leftOut: [...left].reduce((n, kind) => n + (data.opened.kinds[kind]?.warps ?? 0), 0),
    most: curves.reduce((most, c) => Math.max(most, c?.ops ?? 0), 1),
  };
}

/** The curve of a warp; undefined where nothing is known of it, or there is nothing to compare it with. */
export function curveAt(side: Side, block: number, warp: number): Curve | undefined {
  const look = side.looks.of.get(block);
  const pair = look === undefined ? -1 : (side.looks.pairs[look]?.[warp] ?? -1);
  return side.curves[pair];
}

/** "block (3, 2)": as many numbers as the grid has dimensions. */
export function blockName(block: number, grid: Dim): string {
  const place = placeOf(block, grid);
  const n = grid[2] > 1 ? 3 : grid[1] > 1 ? 2 : 1;
  return n === 1 ? `block ${place[0]}` : `block (${place.slice(0, n).join(", ")})`;
}

/** The most common kind's first warp: what the warps of a block are compared with. */
function typicalWarp(side: Side, block: number): number {
  const kinds = side.data.kindsOf(block);
  const count = (kind: number) => kinds.reduce((n, k) => n + (k === kind ? 1 : 0), 0);
  let best = 0;
  kinds.forEach((kind, w) => {
    const known = kinds[best] as number;
    if (kind >= 0 && (known < 0 || count(kind) > count(known))) best = w;
  });
  return best;
}

/** The warp that those of the block are compared with: chosen by hand, or the typical one. */
export function comparedWarp(
  side: Side,
  where: { block: number | undefined; than: number | undefined },
) {
  const block = where.block ?? 0;
  const chosen = where.than !== undefined && side.data.indexOf(block, where.than) !== undefined;
  return chosen ? (where.than as number) : typicalWarp(side, block);
}
