/** The way of a warp through its kernel, folded, with what each operation costs: as src/analysis/explore/path.c makes it. */

import { Repeats } from "./repeats";

/** What an instruction asked of memory. */
export interface Request {
  pc: number;
  mask: number;
  sizes: number[]; // of transactions of device memory, by address; bytes
  conflicts: number; // passes of shared memory that bank conflicts add
}

/** A basic block that lanes ran through once. Those that are alike are one object. */
export interface Visit {
  id: number; // among those of one engine
  pc: number;
  insns: number;
  mask: number;
  requests: Request[]; // ascending by pc
  barrier: number; // the operation that is one, from 1; 0: none
}

/** Visits in their order; those of a part come `times` times, one after the other. */
export interface Path {
  visits: Visit[]; // those that differ
  list: Uint32Array; // of `visits`, folded
  first: Uint32Array; // by part: where it begins in `list`; one more at the end
  times: Uint32Array; // by part
  start: Uint32Array; // by part: visits before it; one more at the end
  ops: Float64Array; // by part: operations before it; one more at the end
}

export const lengthOf = (p: Path): number => p.start[p.start.length - 1] as number;
export const operationCount = (p: Path): number => p.ops[p.ops.length - 1] as number;

const MOST_FOLDED = 1024; // visits of a part

export function foldedPath(visits: Visit[], list: number[]): Path {
  const repeats = new Repeats(list, visits.length);
  const folded: number[] = [];
  const [first, times, start, ops] = [[0], [] as number[], [0], [0]];
  for (let at = 0; at < list.length; ) {
    const found = repeats.at(at, MOST_FOLDED);
    let insns = 0;
    for (let i = at; i < at + found.length; i++) {
      folded.push(list[i] as number);
      insns += (visits[list[i] as number] as Visit).insns;
    }
    at += found.length * found.times;
    insns *= found.times;
    if (found.times === 1 && times.at(-1) === 1) {
      first[first.length - 1] = folded.length;
      start[start.length - 1] = at;
      ops[ops.length - 1] = (ops.at(-1) as number) + insns;
      continue;
    }
    times.push(found.times);
    first.push(folded.length);
    start.push(at);
    ops.push((ops.at(-1) as number) + insns);
  }
  return {
    visits,
    list: Uint32Array.from(folded),
    first: Uint32Array.from(first),
    times: Uint32Array.from(times),
    start: Uint32Array.from(start),
    ops: Float64Array.from(ops),
  };
}

/** The last place whose number is not above `value`; -1: there is none. */
export function lastUpTo(numbers: ArrayLike<number>, value: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A place among the visits of a path. */
export class Cursor {
  part: number;
  at: number; // visits of the part before it
  round = 1; // visits after which the part begins anew
  left = 0; // visits from there to the end of the part; 0 at the path's end
  private first = 0; // of the part in the list

  constructor(
    readonly path: Path,
    index: number,
  ) {
    this.part = index >= lengthOf(path) ? path.times.length : lastUpTo(path.start, index);
    this.at = index - (path.start[this.part] as number);
    this.look();
  }

  private look(): void {
    const { first, start, times } = this.path;
    const { part } = this;
    if (part >= times.length) {
      this.left = 0;
      return;
    }
    this.first = first[part] as number;
    this.round = (first[part + 1] as number) - this.first;
    this.left = (start[part + 1] as number) - (start[part] as number) - this.at;
  }

  /** The visit that comes so many visits later, or came earlier, within the part. */
  visit(after: number): Visit {
    const { list, visits } = this.path;
    let at = this.at + after;
    if (at >= this.round) at %= this.round;
    return visits[list[this.first + at] as number] as Visit;
  }

  /** So many visits on, at most as many as are left of the part. */
  goOn(count: number): void {
    if (count === 0) return;
    if (count < this.left) {
      this.at += count;
      this.left -= count;
      return;
    }
    this.part++;
    this.at = 0;
    this.look();
  }
}

/** Makes visits of what a warp did; equal ones are one object, whichever warps they are of. */
export class VisitTable {
  private readonly known = new Map<string, Visit>();
  readonly all: Visit[] = [];

  visit(v: Omit<Visit, "id">): Visit {
    let key = `${v.pc} ${v.insns} ${v.mask} ${v.barrier}`;
    for (const r of v.requests) key += `|${r.pc} ${r.mask} ${r.conflicts} ${r.sizes.join()}`;
    const before = this.known.get(key);
    if (before) return before;
    const visit = { ...v, id: this.all.length };
    this.all.push(visit);
    this.known.set(key, visit);
    return visit;
  }
}
