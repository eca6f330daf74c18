/** A launch of whose warps paths are known by hashes and counts only, in the shape in which views ask about launches. */
import { joined, joined64 } from "../columns";
import { unpack } from "../decode";
import type { Explore, Launch } from "../payload";
import type { Curve } from "./difference";
import type { Pair } from "./engine";
import { KnownWarps } from "./known";
import type { Launched } from "./launch";
import type { Held } from "./served";
import type { Kind, Opened } from "./table";

const LANES = 32;
const ROWS = 32; // of a tile: what the longest warp of the launch takes
const NONE = new Uint32Array(0);

/** A path that warps took. */
export interface Path {
  instructions: number; // that the longest lane ran
  lanes: number | undefined; // that all lanes ran; not always known
  warps: number;
}

/** The part of the longer one's instructions that the other lacks, as src/analysis/explore/hashed.c has it. */
export const differenceOf = (a: number, b: number): number =>
  a === b ? 0 : 1 - Math.min(a, b) / Math.max(a, b);

/** Warps in the grid's order, from runs of such that took one path. */
function warpsOf(path: Uint32Array, length: Uint32Array, ofBlock: number): Opened["warps"] {
  let [count, at, next] = [0, 0, 0];
  for (const [i, p] of path.entries()) if (p > 0) count += length[i] as number;
  const warps = {
    count,
    block: new Float64Array(count),
    number: new Uint8Array(count),
    kind: new Uint32Array(count),
    group: NONE,
    begins: new Float64Array(0),
    beginAt: NONE,
  };
  for (const [i, p] of path.entries())
    for (let n = length[i] as number; n > 0; n--, next++) {
      if (p === 0) continue;
      warps.block[at] = Math.floor(next / ofBlock);
      warps.number[at] = next % ofBlock;
      warps.kind[at++] = p - 1;
    }
  return warps;
}

function kindsOf(warps: Opened["warps"], npaths: number): Kind[] {
  const kinds: Kind[] = Array.from({ length: npaths }, () => ({ group: 0, warps: 0, first: 0 }));
  for (let i = 0; i < warps.count; i++) {
    const kind = kinds[warps.kind[i] as number] as Kind;
    if (kind.warps++ === 0) kind.first = i;
  }
  return kinds;
}

/** All operations differ by the same: one of them comes again and again. */
function evenCurve(ops: number, difference: number): Curve {
  const nothing = Float64Array.of(0, 0);
  const others = { threads: nothing, shared: nothing, global: nothing };
  return {
    ops,
    pool: { from: Uint32Array.of(0, 2), total: Float64Array.of(0, difference), ...others },
    start: Float64Array.of(0),
    piece: Uint32Array.of(0),
    before: { total: nothing, ...others },
    tail: 0,
  };
}

export class HashedData extends KnownWarps implements Launched {
  readonly paths: Path[];
  readonly unit: number; // instructions of the longest lane that a row of a tile stands for
  private readonly curves = new Map<string, Curve>();

  private constructor(
    readonly row: Explore,
    opened: Opened,
    instructions: Uint32Array,
    lanes: Float64Array,
  ) {
    super(opened);
    this.paths = opened.kinds.map((kind, i) => ({
      instructions: instructions[i] as number,
      lanes: lanes[i] || undefined,
      warps: kind.warps,
    }));
    this.unit = Math.max(1, Math.ceil(instructions.reduce((m, n) => Math.max(m, n), 1) / ROWS));
  }

  static async load({ row, parts }: Held, launch: Launch): Promise<HashedData> {
    const { hashed } = row;
    if (hashed?.part === undefined || !hashed.columns)
      throw new Error("The report does not hold the paths of this launch.");
    const bytes = new Uint8Array(await unpack(parts[hashed.part] ?? ""));
    const c = hashed.columns;
    const long = (column: typeof c.run_path) => joined(bytes, column, new Uint32Array(column[1]));
    const threads = launch.block.reduce((n, d) => n * d, 1);
    const warps = warpsOf(long(c.run_path), long(c.run_warps), Math.ceil(threads / LANES));
    const instructions = long(c.instructions);
    const lanes = joined64(bytes, c.lane_instructions);
    const table = { sequences: [], groups: [], blockPc: NONE, blockInsns: NONE };
    const opened = { table, warps, kinds: kindsOf(warps, instructions.length) };
    return new HashedData(row, opened, instructions, lanes);
  }

  pathOf(block: number, warp: number): Path | undefined {
    return this.paths[this.kindOf(block, warp)];
  }

  /** As long as the longest lane ran, and of one colour: how much more or less that is than of the other path. */
  private curveOf({ kind, than }: Pair): Curve {
    const [a, b] = [this.paths[kind]?.instructions ?? 0, this.paths[than]?.instructions ?? 0];
    const ops = Math.max(1, Math.ceil(a / this.unit));
    const key = `${ops} ${differenceOf(a, b)}`;
    const known = this.curves.get(key);
    if (known) return known;
    const curve = evenCurve(ops, differenceOf(a, b));
    this.curves.set(key, curve);
    return curve;
  }

  curvesOf(pairs: Pair[]): Promise<Curve[]> {
    return Promise.resolve(pairs.map((pair) => this.curveOf(pair)));
  }

  /** Nothing is known of what they executed, nor of accesses. */
  warp = () => Promise.resolve(undefined);
  loadPaths = () => Promise.resolve();
  pcsOf = () => [];
  hasBarrier = () => false;
  costsOf = () => Promise.resolve([]);
}

const loaded = new WeakMap<Explore, Promise<HashedData>>();

/** Unpacked when it is first asked for. */
export function loadHashed(held: Held, launch: Launch): Promise<HashedData> {
  const known = loaded.get(held.row) ?? HashedData.load(held, launch);
  loaded.set(held.row, known);
  return known;
}
