/** How much two warps differ, operation by operation (paper's formula, with active lanes compared as sets), as
 * src/analysis/explore/difference.c has it. Where both repeat, one round stands for all. */
import { popcount } from "../heat";
import { alignPaths, commonRound, type Run } from "./align";
import { Cursor, lastUpTo, type Path, type Request, type Visit } from "./path";

export const PLANES = ["total", "threads", "shared", "global"] as const;
export type Plane = (typeof PLANES)[number];

/** What operations differ by, in pieces that curves share: of piece i the sums before each operation, and that of all,
 * from `from[i]` on. */
export interface Pool extends Record<Plane, Float64Array> {
  from: Uint32Array; // one more at the end
}

/** What each operation differs by, summed up; each operation at most 1. */
export interface Curve {
  ops: number;
  pool: Pool;
  start: Float64Array; // by segment, in which one piece comes again and again: operations before it
  piece: Uint32Array; // by segment
  before: Record<Plane, Float64Array>; // by segment: the sum of what comes before it
  tail: number; // what is added to the total of the last operation, since the other warp goes on
}

const LANES = 32;
const GLOBAL = 1024; // bytes that count as much as another instruction
const CONFLICTS = 8; // likewise passes through shared memory

interface Parts {
  threads: number;
  shared: number;
  global: number;
}

/** |size of A's i-th transaction - size of B's|, summed up; both by address. */
function sizesApart(a: number[], b: number[]): number {
  let sum = 0;
  for (let i = 0; i < Math.max(a.length, b.length); i++) sum += Math.abs((a[i] ?? 0) - (b[i] ?? 0));
  return sum;
}

const NOTHING: number[] = [];

/** Of one operation of both, with the lanes of each. */
export function apart(
  mask: number,
  a: Request | undefined,
  other: number,
  b: Request | undefined,
): Parts {
  return {
    threads: popcount((mask ^ other) >>> 0) / LANES,
    shared: Math.abs((a?.conflicts ?? 0) - (b?.conflicts ?? 0)) / CONFLICTS,
    global: sizesApart(a?.sizes ?? NOTHING, b?.sizes ?? NOTHING) / GLOBAL,
  };
}

const clamp = (value: number): number => Math.min(1, value);

/** Makes pieces, each once. */
export class PoolMaker {
  private readonly from = [0];
  readonly sums: Record<Plane, number[]> = {
    total: [],
    threads: [],
    shared: [],
    global: [],
  };
  private readonly pairs: (Map<number, number> | undefined)[] = []; // by A's visit; then by B's
  private readonly known = new Map<string, number>(); // of several
  readonly ops: number[] = []; // by piece

  private put(plane: Plane, value: number): void {
    const sums = this.sums[plane];
    sums.push((sums[sums.length - 1] as number) + clamp(value));
  }

  /** The operations of A's visit, with those of B's, if it has a partner. `behind`: B did something alone before it. */
  piece(a: Visit, b: Visit | undefined, behind: boolean): number {
    let known = this.pairs[a.id];
    if (!known) {
      known = new Map();
      this.pairs[a.id] = known;
    }
    const key = (b ? b.id + 1 : 0) * 2 + (behind ? 1 : 0);
    const before = known.get(key);
    if (before !== undefined) return before;
    const piece = this.ops.push(a.insns) - 1;
    known.set(key, piece);
    for (const plane of PLANES) this.sums[plane].push(0);
    let [i, k] = [0, 0];
    const plain = popcount((a.mask ^ (b?.mask ?? 0)) >>> 0) / LANES;
    for (let op = 0; op < a.insns; op++) {
      const pc = a.pc + op;
      const asks = a.requests[i]?.pc === pc || (b?.requests[k]?.pc ?? pc + 1) <= pc;
      if (!asks && b && op < b.insns && !(behind && op === 0)) {
        this.put("total", plain); // most operations access no memory
        this.put("threads", plain);
        this.put("shared", 0);
        this.put("global", 0);
        continue;
      }
      const ra = a.requests[i]?.pc === pc ? a.requests[i++] : undefined;
      while ((b?.requests[k]?.pc ?? pc) < pc) k++;
      const rb = b?.requests[k]?.pc === pc ? b.requests[k++] : undefined;
      // Of an instruction that accesses memory the lanes that do so; the other executes it with none.
      const both = !!ra || !!rb;
      const there = !!b && op < b.insns;
      const other = there ? (both ? (rb?.mask ?? 0) : b.mask) : 0;
      const p = apart(both ? (ra?.mask ?? 0) : a.mask, ra, other, rb);
      const alone = !there || (behind && op === 0);
      this.put("total", (alone ? 1 : 0) + p.threads + p.global + p.shared);
      this.put("threads", p.threads);
      this.put("shared", p.shared);
      this.put("global", p.global);
    }
    this.from.push(this.sums.total.length);
    return piece;
  }

  /** A piece of several, one after the other. */
  joined(pieces: number[]): number {
    if (pieces.length === 1) return pieces[0] as number;
    const key = pieces.join();
    const before = this.known.get(key);
    if (before !== undefined) return before;
    const piece = this.ops.push(pieces.reduce((n, p) => n + (this.ops[p] as number), 0)) - 1;
    this.known.set(key, piece);
    for (const plane of PLANES) {
      const sums = this.sums[plane];
      sums.push(0);
      for (const p of pieces) {
        const [from, base] = [this.from[p] as number, sums[sums.length - 1] as number];
        for (let i = 1; i <= (this.ops[p] as number); i++)
          sums.push(base + (sums[from + i] as number));
      }
    }
    this.from.push(this.sums.total.length);
    return piece;
  }

  /** Where in `sums` that of the whole piece stands. */
  endOf(piece: number): number {
    return (this.from[piece + 1] as number) - 1;
  }

  /** What the piece's last operation differs by. */
  last(piece: number): number {
    const { total } = this.sums;
    const end = this.endOf(piece);
    return (total[end] as number) - (total[end - 1] as number);
  }

  get size(): number {
    return this.sums.total.length;
  }

  pool(): Pool {
    return { from: new Uint32Array(this.from), ...floatsOf(this.sums) };
  }
}

/** Those of many curves, one after the other, as in Curve. */
export class Segments {
  readonly start: number[] = [];
  readonly piece: number[] = [];
  readonly before: Record<Plane, number[]> = { total: [], threads: [], shared: [], global: [] };
}

/** A curve whose pieces are still being made. */
export interface Drawn extends Pick<Curve, "ops" | "tail"> {
  segments: number; // that it has added
  work: number; // visits and operations that were looked at
}

const MOST_JOINED = 4096; // operations of a piece of several visits

class CurveMaker {
  private readonly sum: Record<Plane, number> = { total: 0, threads: 0, shared: 0, global: 0 };
  private ops = 0;
  private behind = false; // B did something alone since A's last operation
  work = 0;

  constructor(
    private readonly pool: PoolMaker,
    private readonly segments: Segments,
    private readonly a: Path,
    private readonly b: Path,
  ) {}

  private last = -1; // piece

  // Called for each visit that is compared: written out, a third of the time that it takes by planes.
  private emit(piece: number, times: number): void {
    const { segments, sum, pool } = this;
    this.work++;
    if (this.last !== piece) {
      const { before } = segments;
      this.last = piece;
      segments.start.push(this.ops);
      segments.piece.push(piece);
      before.total.push(sum.total);
      before.threads.push(sum.threads);
      before.shared.push(sum.shared);
      before.global.push(sum.global);
    }
    const { sums } = pool;
    const end = pool.endOf(piece);
    sum.total += times * (sums.total[end] as number);
    sum.threads += times * (sums.threads[end] as number);
    sum.shared += times * (sums.shared[end] as number);
    sum.global += times * (sums.global[end] as number);
    this.ops += times * (pool.ops[piece] as number);
  }

  /** So many visits of A; `b`: with its partners. */
  private visits(a: Cursor, b: Cursor | undefined, count: number): void {
    while (count > 0) {
      const left = Math.min(count, a.left, b ? b.left : count);
      if (this.behind) {
        this.emit(this.pool.piece(a.visit(0), b?.visit(0), true), 1);
        this.behind = false;
        a.goOn(1);
        b?.goOn(1);
        count--;
        continue;
      }
      const length = Math.min(left, b ? commonRound(a, b) : a.round);
      const times = Math.floor(left / length);
      const pieces: number[] = [];
      let ops = 0;
      for (let i = 0; i < length; i++) {
        pieces.push(this.pool.piece(a.visit(i), b?.visit(i), false));
        ops += this.pool.ops[pieces[i] as number] as number;
      }
      this.work += length;
      if (times === 1) for (const p of pieces) this.emit(p, 1);
      else if (ops <= MOST_JOINED) this.emit(this.pool.joined(pieces), times);
      else for (let t = 0; t < times; t++) for (const p of pieces) this.emit(p, 1);
      a.goOn(length * times);
      b?.goOn(length * times);
      count -= length * times;
    }
  }

  draw(runs: Run[]): Drawn {
    const first = this.segments.piece.length;
    for (const r of runs) {
      if (r.na === 0) this.behind = true;
      else
        this.visits(new Cursor(this.a, r.a), r.nb > 0 ? new Cursor(this.b, r.b) : undefined, r.na);
    }
    return {
      ops: this.ops,
      segments: this.segments.piece.length - first,
      tail: this.behind && this.last >= 0 ? 1 - this.pool.last(this.last) : 0,
      work: this.work,
    };
  }
}

/** A's operations as compared to B's. What only B has counts where A goes on without it; at the end where A ended. */
export function drawCurve(pool: PoolMaker, segments: Segments, a: Path, b: Path): Drawn {
  const size = pool.size;
  const drawn = new CurveMaker(pool, segments, a, b).draw(alignPaths(a, b));
  return { ...drawn, work: drawn.work + pool.size - size };
}

export const floatsOf = (planes: Record<Plane, number[]>): Record<Plane, Float64Array> => ({
  total: new Float64Array(planes.total),
  threads: new Float64Array(planes.threads),
  shared: new Float64Array(planes.shared),
  global: new Float64Array(planes.global),
});

export function curveOf(a: Path, b: Path): Curve {
  const [maker, segments] = [new PoolMaker(), new Segments()];
  const { ops, tail } = drawCurve(maker, segments, a, b);
  return {
    ops,
    tail,
    pool: maker.pool(),
    start: new Float64Array(segments.start),
    piece: new Uint32Array(segments.piece),
    before: floatsOf(segments.before),
  };
}

/** Sums of a curve, quickest where one asks for operations of one segment after the other. */
export class Sums {
  private readonly sums: Float64Array;
  private readonly tail: number;
  private from = 0; // operations before the segment at hand, and before the next
  private until = -1;
  private base = 0; // the sum of those
  private first = 0; // of its piece in `sums`
  private length = 1; // operations of the piece

  constructor(
    private readonly c: Curve,
    private readonly plane: Plane,
  ) {
    this.sums = c.pool[plane];
    this.tail = plane === "total" ? c.tail : 0;
  }

  private seek(operations: number): void {
    const { start, piece, pool, before, ops } = this.c;
    const s = lastUpTo(start, operations);
    const last = s + 1 >= start.length;
    this.from = start[s] ?? 0;
    this.until = last ? ops + 1 : (start[s + 1] as number);
    this.base = before[this.plane][s] ?? 0;
    this.first = pool.from[piece[s] ?? 0] as number;
    this.length = (pool.from[(piece[s] ?? 0) + 1] as number) - this.first - 1;
  }

  /** The sum of the first operations. */
  to(operations: number): number {
    if (this.c.ops === 0) return 0;
    if (operations >= this.until || operations < this.from) this.seek(operations);
    const { sums, first, length } = this;
    const inside = operations - this.from;
    let sum = this.base;
    if (inside <= length) sum += sums[first + inside] as number;
    else {
      const rounds = Math.floor(inside / length);
      sum += rounds * (sums[first + length] as number);
      sum += sums[first + inside - rounds * length] as number;
    }
    return operations >= this.c.ops ? sum + this.tail : sum;
  }

  private between(from: number, to: number): number {
    const before = this.to(from);
    return this.to(to) - before;
  }

  /** The mean of operations from..to that there are; NaN where there are none. */
  mean(from: number, to: number): number {
    const end = Math.min(this.c.ops, to);
    return end > from ? this.between(from, end) / (end - from) : Number.NaN;
  }
}

export const meanOf = (c: Curve, plane: Plane, from: number, to: number): number =>
  new Sums(c, plane).mean(from, to);
