/** What the worker of a launch is asked, and what it answers; one worker a launch. */
import {
  type Curve,
  type Drawn,
  floatsOf,
  PLANES,
  type Plane,
  type Pool,
  PoolMaker,
  Segments,
} from "./difference";
import { Engine, type Pair, type Source } from "./engine";
import type { Path } from "./path";
import type { Opened } from "./table";

export type Ask =
  | { open: Source }
  | { costs: number[]; arch: string } // kinds
  | { paths: number[] } // kinds
  | { curves: Pair[]; arch: string; room: number; than?: Path[] }; // than: by Pair.than; room: work that is done at most

export type Reply = { opened: Opened } | { costs: Path[] } | { paths: Paths } | { curves: Packed };

/** What the warps of each kind executed: visits of basic blocks, of which those of a part come `times` times. */
export interface Paths {
  kind: Uint32Array; // by kind: its first part; one more at the end
  first: Uint32Array; // by part: its first visit in `list`; one more at the end
  times: Uint32Array;
  ops: Float64Array; // by part: operations of the kind before it
  list: Uint32Array; // of visits
  pc: Uint32Array; // by visit: its first instruction
  insns: Uint32Array;
  barrier: Uint32Array; // by visit: the operation that is a barrier, from 1; 0: none
}

const LEFT_OUT = 0xffffffff; // in place of a number of segments

/** Curves in a few arrays, which a worker can hand over as they are. */
export interface Packed {
  segments: Uint32Array; // by curve
  ops: Float64Array; // by curve
  tail: Float64Array;
  start: Float64Array; // by segment
  piece: Uint32Array;
  before: Record<Plane, Float64Array>;
  pool: Pool;
  work: number;
}

function packed(curves: (Drawn | undefined)[], segments: Segments, pool: PoolMaker): Packed {
  return {
    segments: Uint32Array.from(curves, (c) => c?.segments ?? LEFT_OUT),
    ops: Float64Array.from(curves, (c) => c?.ops ?? 0),
    tail: Float64Array.from(curves, (c) => c?.tail ?? 0),
    start: new Float64Array(segments.start),
    piece: new Uint32Array(segments.piece),
    before: floatsOf(segments.before),
    pool: pool.pool(),
    work: curves.reduce((n, c) => n + (c?.work ?? 0), 0),
  };
}

/** Undefined where the room did not suffice. */
export function unpacked(p: Packed): (Curve | undefined)[] {
  let at = 0;
  return Array.from(p.segments, (n, i) => {
    if (n === LEFT_OUT) return undefined;
    const of = <T extends Float64Array | Uint32Array>(all: T) => all.subarray(at, at + n) as T;
    const curve: Curve = {
      ops: p.ops[i] as number,
      pool: p.pool,
      start: of(p.start),
      piece: of(p.piece),
      before: {
        total: of(p.before.total),
        threads: of(p.before.threads),
        shared: of(p.before.shared),
        global: of(p.before.global),
      },
      tail: p.tail[i] as number,
    };
    at += n;
    return curve;
  });
}

async function pathsOf(of: Engine, kinds: number[]): Promise<Paths> {
  const wanted = new Set(kinds);
  const [kind, first, times, ops, list] = [
    [0],
    [0],
    [] as number[],
    [] as number[],
    [] as number[],
  ];
  for (let k = 0; k < of.opened.kinds.length; k++) {
    const path = wanted.has(k) ? await of.pathOf(k) : undefined;
    const base = list.length;
    for (const number of path?.list ?? []) list.push(path?.visits[number]?.id as number);
    for (let part = 0; part < (path?.times.length ?? 0); part++) {
      times.push(path?.times[part] as number);
      ops.push(path?.ops[part] as number);
      first.push(base + (path?.first[part + 1] as number));
    }
    kind.push(times.length);
  }
  const { all } = of.visits;
  return {
    kind: new Uint32Array(kind),
    first: new Uint32Array(first),
    times: new Uint32Array(times),
    ops: new Float64Array(ops),
    list: new Uint32Array(list),
    pc: Uint32Array.from(all, (v) => v.pc),
    insns: Uint32Array.from(all, (v) => v.insns),
    barrier: Uint32Array.from(all, (v) => v.barrier),
  };
}

/** Calls `each` for visits of the kind that have one of the operations from..to, with their first operation. */
export function eachVisit(
  p: Paths,
  kind: number,
  from: number,
  to: number,
  each: (visit: number, operation: number) => void,
): void {
  const [begin, end] = [p.kind[kind] as number, p.kind[kind + 1] as number];
  let part = begin;
  while (part + 1 < end && (p.ops[part + 1] as number) <= from) part++;
  for (; part < end && (p.ops[part] as number) < to; part++) {
    const list = p.list.subarray(p.first[part], p.first[part + 1]);
    const round = list.reduce((n, v) => n + (p.insns[v] as number), 0);
    const start = p.ops[part] as number;
    let turn = Math.max(0, Math.floor((from - start) / round));
    for (; turn < (p.times[part] as number); turn++) {
      let at = start + turn * round;
      if (at >= to) return;
      for (const v of list) {
        const next = at + (p.insns[v] as number);
        if (next > from && at < to) each(v, at);
        at = next;
      }
    }
  }
}

/** What a reply may hand over rather than copy. */
export function handedOver(r: Reply): Transferable[] {
  const buffers = (...arrays: { buffer: ArrayBufferLike }[]) =>
    arrays.map((a) => a.buffer as ArrayBuffer);
  if ("curves" in r) {
    const { segments, ops, tail, start, piece, before, pool } = r.curves;
    const planes = PLANES.flatMap((plane) => [before[plane], pool[plane]]);
    return buffers(segments, ops, tail, start, piece, pool.from, ...planes);
  }
  return "paths" in r ? buffers(...Object.values(r.paths)) : [];
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
    const costs: Path[] = [];
    for (const kind of ask.costs) costs.push(await of.pathOf(kind, ask.arch));
    return { costs };
  }
  if ("paths" in ask) return { paths: await pathsOf(of, ask.paths) };
  const [pool, segments] = [new PoolMaker(), new Segments()];
  const curves: (Drawn | undefined)[] = [];
  let room = ask.room;
  for (const pair of ask.curves) {
    const than = ask.than?.[pair.than];
    const drawn = room > 0 ? await of.curve(pair, ask.arch, pool, segments, than) : undefined;
    curves.push(drawn);
    room -= drawn?.work ?? 0;
  }
  return { curves: packed(curves, segments, pool) };
}
