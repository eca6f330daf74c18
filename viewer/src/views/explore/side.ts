import { loadCode } from "../../data/code";
import type { Curve } from "../../data/explore/difference";
import { type Launched, loadLaunch } from "../../data/explore/launch";
import { type Choice, heldOf } from "../../data/explore/served";
import { type Dim, indexOf, type Looks, looksOf, placeOf } from "../../data/explore/tiles";
import type { Model } from "../../data/model";
import type { Code, Explore, Launch } from "../../data/payload";
import { middle } from "../../widgets/format";
import { guest } from "./guest";

/** A launch as it is shown: compared with one of its blocks, or with one of the launch beside it. */
export interface Side {
  m: Model;
  on: 1 | undefined; // 1: it stands beside the other one; as Where.on
  row: Explore;
  launch: Launch;
  data: Launched;
  rep: number; // the block that others are compared with
  lent: Side | undefined; // whose block that is, where it is not its own
  akin: boolean; // it stands beside a launch of the same code
  chosen: boolean; // by hand
  looks: Looks;
  curves: (Curve | undefined)[]; // of looks.wanted; undefined: not compared, since all together are too much work
  leftOut: number; // warps of these
  most: number; // operations of a warp
}

export interface Asked {
  m: Model;
  choice: Choice;
  arch: string;
  rep: number | undefined; // chosen by hand
  beside?: Side | undefined; // what it stands beside
  own?: boolean; // compare with its own representative all the same
}

/** Whether two launches ran the same instructions, so that their warps can be compared one by one. */
async function isSameCode(a: Side, m: Model, kernel: number): Promise<boolean> {
  if (a.m === m) return a.row.kernel === kernel;
  const [x, y] = await Promise.all(
    [
      { m: a.m, id: a.row.kernel },
      { m, id: kernel },
    ].map(async (of) => {
      const k = of.m.kernelById.get(of.id);
      return k ? loadCode(of.m, k) : [];
    }),
  );
  const [these, those] = [x ?? [], y ?? []];
  const same = (c: Code, i: number) => c.pc === those[i]?.pc && c.text === those[i]?.text;
  return these.length > 0 && these.length === those.length && these.every(same);
}

async function compared(data: Launched, a: Asked, rep: number, other: Side | undefined) {
  if (!other) {
    const looks = looksOf(data, data.kindsOf(rep));
    return { looks, curves: await data.curvesOf(looks.wanted, a.arch) };
  }
  const kinds = other.data.kindsOf(other.rep);
  const distinct = [...new Set(kinds)].filter((kind) => kind >= 0);
  const costs = await other.data.costsOf(distinct, a.arch);
  const looks = looksOf(
    data,
    kinds.map((kind) => distinct.indexOf(kind)),
  );
  const name = `${other.m.guest ?? ""} ${other.row.launch} ${other.rep}`;
  return { looks, curves: await data.curvesOf(looks.wanted, a.arch, { name, costs }) };
}

export async function sideOf(a: Asked): Promise<Side> {
  const launch = a.m.launchById.get(a.choice.launch);
  if (!launch) throw new Error(`The report does not list launch ${a.choice.launch}.`);
  const held = await heldOf(a.m, a.choice);
  const { row } = held;
  const data = await loadLaunch(a.m, held);
  const typical = indexOf(row.compared.representative.block, launch.grid);
  const own = a.rep !== undefined && data.firstOf.has(a.rep) ? a.rep : typical;
  const akin = a.beside !== undefined && (await isSameCode(a.beside, a.m, row.kernel));
  const lent = akin && a.rep === undefined && !a.own ? a.beside : undefined;
  const rep = lent?.rep ?? own;
  const { looks, curves } = await compared(data, a, rep, lent);
  const left = new Set(looks.wanted.filter((_, i) => !curves[i]).map((pair) => pair.kind));
  await data.loadPaths(looks.wanted.map((pair) => pair.kind).filter((kind) => !left.has(kind)));
  return {
    m: a.m,
    on: a.beside && 1,
    row,
    launch,
    data,
    rep,
    lent,
    akin,
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

/** "transpose, launch 3" */
export function shortName(m: Model, choice: Choice): string {
  const kernel = m.kernelById.get(choice.kernel);
  return `${middle(kernel?.short_name ?? "kernel", 40)}, launch ${choice.launch}`;
}

/** Likewise, where there are two profiles with that of which it is. */
export function launchName(m: Model, choice: Choice): string {
  const of = m.guest ?? (guest.value ? (m.payload.profile ?? "this report") : undefined);
  return shortName(m, choice) + (of === undefined ? "" : ` of ${of}`);
}

/** "block (3, 2)": as many numbers as the grid has dimensions. */
export function blockName(block: number, grid: Dim): string {
  const place = placeOf(block, grid);
  const n = grid[2] > 1 ? 3 : grid[1] > 1 ? 2 : 1;
  return n === 1 ? `block ${place[0]}` : `block (${place.slice(0, n).join(", ")})`;
}

/** The block that a launch is compared with, and of which launch it is, where that is not the same. */
export function representativeName(side: Side): string {
  const of = side.lent ?? side;
  const block = blockName(side.rep, of.launch.grid as Dim);
  return side.lent ? `${block} of launch ${of.row.launch} at the left` : block;
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
