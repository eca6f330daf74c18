/** What the worker of a launch is asked, and what it answers; one worker a launch. */
import type { Costs } from "./cost";
import type { Curve } from "./difference";
import { Engine, type Pair, type Source } from "./engine";
import type { Opened } from "./table";

export type Ask =
  | { open: Source }
  | { costs: number[]; arch: string } // kinds
  | { paths: number[] } // kinds
  | { curves: Pair[]; arch: string; room: number; than?: Costs[] }; // than: by Pair.than; room: operations that are compared

export type Reply =
  | { opened: Opened }
  | { costs: Costs[] }
  | { paths: Paths }
  | { curves: Float64Array; ops: Uint32Array };

/** What the warps of each kind executed, one after another. */
export interface Paths {
  from: Uint32Array; // by kind: its first operation in `pc`; one more at the end
  pc: Uint32Array;
  barriersFrom: Uint32Array; // likewise in `barriers`
  barriers: Uint32Array; // operations that are some
}

const PLANES = ["total", "threads", "shared", "global"] as const;

const LEFT_OUT = 0xffffffff; // in place of a number of operations

/** Curves in one array, which a worker can hand over as it is. */
function packed(curves: (Curve | undefined)[]): { curves: Float64Array; ops: Uint32Array } {
  const ops = Uint32Array.from(curves, (c) => c?.ops ?? LEFT_OUT);
  const rows = curves.reduce((sum, c) => sum + (c ? c.ops + 1 : 0), 0);
  const all = new Float64Array(PLANES.length * rows);
  let at = 0;
  for (const c of curves)
    for (const plane of c ? PLANES : []) {
      all.set((c as Curve)[plane], at);
      at += (c as Curve).ops + 1;
    }
  return { curves: all, ops };
}

/** Undefined where the room did not suffice. */
export function unpacked({
  curves,
  ops,
}: {
  curves: Float64Array;
  ops: Uint32Array;
}): (Curve | undefined)[] {
  let at = 0;
  return Array.from(ops, (n) => {
    if (n === LEFT_OUT) return undefined;
    const of = (plane: number) => curves.subarray(at + plane * (n + 1), at + (plane + 1) * (n + 1));
    const curve = { ops: n, total: of(0), threads: of(1), shared: of(2), global: of(3) };
    at += PLANES.length * (n + 1);
    return curve;
  });
}

const NOTHING = { pc: new Uint32Array(0), barriers: new Uint32Array(0) };

async function pathsOf(of: Engine, kinds: number[]): Promise<Paths> {
  const costs: Pick<Costs, "pc" | "barriers">[] = of.opened.kinds.map(() => NOTHING);
  for (const kind of kinds) costs[kind] = await of.costsOf(kind);
  const starts = (length: (c: (typeof costs)[number]) => number) => {
    const from = new Uint32Array(costs.length + 1);
    for (const [i, c] of costs.entries()) from[i + 1] = (from[i] as number) + length(c);
    return from;
  };
  const paths: Paths = {
    from: starts((c) => c.pc.length),
    pc: new Uint32Array(costs.reduce((n, c) => n + c.pc.length, 0)),
    barriersFrom: starts((c) => c.barriers.length),
    barriers: new Uint32Array(costs.reduce((n, c) => n + c.barriers.length, 0)),
  };
  for (const [i, c] of costs.entries()) {
    paths.pc.set(c.pc, paths.from[i]);
    paths.barriers.set(c.barriers, paths.barriersFrom[i]);
  }
  return paths;
}

/** What a reply may hand over rather than copy. */
export function handedOver(r: Reply): Transferable[] {
  if ("curves" in r) return [r.curves.buffer as ArrayBuffer, r.ops.buffer as ArrayBuffer];
  if (!("paths" in r)) return [];
  const { from, pc, barriersFrom, barriers } = r.paths;
  return [from, pc, barriersFrom, barriers].map((a) => a.buffer as ArrayBuffer);
}

export interface Numbered<T> {
  id: number;
  explore: T;
}

let engine: Promise<Engine> | undefined;

/** Answers in the worker. */
export async function answer(ask: Ask): Promise<Reply> {
  if ("open" in ask) {
    engine = Engine.open(ask.open);
    return { opened: (await engine).opened };
  }
  return reply(await (engine ?? Promise.reject(new Error("No launch is open."))), ask);
}

/** Answers in the page, where there is no worker. */
export async function reply(of: Engine, ask: Exclude<Ask, { open: Source }>): Promise<Reply> {
  if ("costs" in ask) {
    const costs: Costs[] = [];
    for (const kind of ask.costs) costs.push(await of.costsOf(kind, ask.arch));
    return { costs };
  }
  if ("paths" in ask) return { paths: await pathsOf(of, ask.paths) };
  const curves: (Curve | undefined)[] = [];
  let room = ask.room;
  for (const pair of ask.curves) {
    const fits = room > 0;
    curves.push(fits ? await of.curve(pair, ask.arch, ask.than?.[pair.than]) : undefined);
    room -= curves[curves.length - 1]?.ops ?? 0;
  }
  return packed(curves);
}
