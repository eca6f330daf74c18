/** From steps to operations: instructions that the warp executed, one after another. */
import { foldedPath, lastUpTo, type Path, type Request, type Visit, type VisitTable } from "./path";
import type { Operation, Slot, Step } from "./types";

/** How many instructions the basic blocks of a kernel have, by their first pc. */
export type BasicBlocks = Map<number, number>;

/** Where basic blocks begin, and how far they go. */
class Blocks {
  private readonly starts: number[];
  constructor(private readonly of: BasicBlocks) {
    this.starts = [...of.keys()].sort((a, b) => a - b);
  }

  /** Instructions from there to the end of the block. */
  from(pc: number): number {
    const whole = this.of.get(pc);
    if (whole !== undefined) return whole;
    const start = this.starts[lastUpTo(this.starts, pc)] ?? pc;
    return Math.max(1, start + (this.of.get(start) ?? 1) - pc);
  }
}

/** A basic block that lanes of the warp run through. Where no entry says so, what is known is an instruction. */
export interface Running {
  pc: number;
  insns: number;
  mask: number;
  entered: boolean; // an entry began it
  barrier: number; // the operation that is one, from 1; 0: none
}

/** Follows the steps of a warp from visit to visit, as src/analysis/explore/path.c does. */
export class Follower {
  private readonly blocks: Blocks;
  private last: Running | undefined;
  private entries = 0;
  private met = false; // a barrier that no block has shown yet

  constructor(
    blocks: BasicBlocks,
    private readonly ended: (visit: Running) => void,
  ) {
    this.blocks = new Blocks(blocks);
  }

  private begin(next: Running): void {
    const { last } = this;
    // Where two blocks are one in the table, the first ends where the second begins.
    if (last?.entered && next.entered && next.pc > last.pc && next.pc < last.pc + last.insns)
      last.insns = next.pc - last.pc;
    if (last) this.ended(last);
    this.last = next;
  }

  enter(pc: number, mask: number): void {
    this.entries++;
    this.begin({ pc, insns: this.blocks.from(pc), mask, entered: true, barrier: this.met ? 1 : 0 });
    this.met = false;
  }

  /** `same`: it goes on with what was asked last. */
  access(pc: number, mask: number, same: boolean): void {
    const { last } = this;
    if (last && (same || (last.entered && pc >= last.pc && pc < last.pc + last.insns))) {
      if (!last.entered) last.mask = (last.mask | mask) >>> 0;
    } else this.begin({ pc, insns: 1, mask, entered: false, barrier: 0 });
  }

  /** Lanes enter a block that begins with a barrier when they go on from it: it has been told of by then. */
  barrier(pc: number, mask: number): void {
    const { last } = this;
    if (this.entries === 0) this.begin({ pc, insns: 1, mask, entered: false, barrier: 1 });
    else if (last && pc >= last.pc && pc < last.pc + last.insns) last.barrier = pc - last.pc + 1;
    else this.met = true;
  }

  end(): void {
    if (this.last) this.ended(this.last);
    this.last = undefined;
  }
}

/** Tells of a step whether it goes on with what was asked last: a request that falls into several objects is as many
 * steps, one after another, of other lanes; an asynchronous copy two, in two spaces. */
export class Asking {
  private pc = -1;
  private slot = -1;
  private readonly lanes = [0, 0]; // that asked shared memory, and other

  reset(): void {
    this.pc = -1;
  }

  goesOn(pc: number, mask: number, slot: number, shared: boolean): boolean {
    const { lanes } = this;
    const where = shared ? 0 : 1;
    const on = pc === this.pc && slot !== this.slot && !(mask & (lanes[where] as number));
    if (!on) lanes.fill(0);
    lanes[where] = (lanes[where] as number) | mask;
    this.pc = pc;
    this.slot = slot;
    return on;
  }
}

export function operationsOf(steps: Step[], blocks: BasicBlocks, slots: Slot[] = []): Operation[] {
  const operations: Operation[] = [];
  const asked: Step[] = [];
  const begun = (visit: Running) => {
    const at = operations.length;
    for (let i = 0; i < visit.insns; i++)
      operations.push({
        pc: visit.pc + i,
        mask: visit.mask,
        accesses: [],
        barrier: visit.barrier === i + 1,
      });
    for (const step of asked.splice(0)) operations[at + step.pc - visit.pc]?.accesses.push(step);
  };
  const follower = new Follower(blocks, begun);
  const asking = new Asking();
  for (const step of steps) {
    if (step.kind === "access") {
      const { pc, mask, slot } = step;
      follower.access(pc, mask, asking.goesOn(pc, mask, slot, slots[slot]?.space === "shared"));
      asked.push(step);
      continue;
    }
    asking.reset();
    if (step.kind === "entry") follower.enter(step.pc, step.mask);
    else follower.barrier(step.pc, step.mask);
  }
  follower.end();
  return operations;
}

/** Collects what a warp did as a folded path. */
export class PathMaker {
  private readonly visits: Visit[] = [];
  private readonly numbers = new Map<Visit, number>();
  private readonly list: number[] = [];
  private requests: Request[] = [];
  private readonly follower: Follower;
  private readonly asking = new Asking();

  constructor(
    blocks: BasicBlocks,
    private readonly table: VisitTable,
  ) {
    this.follower = new Follower(blocks, (v) => this.take(v));
  }

  private take({ pc, insns, mask, barrier }: Running): void {
    const visit = this.table.visit({ pc, insns, mask, barrier, requests: this.requests });
    this.requests = [];
    let number = this.numbers.get(visit);
    if (number === undefined) {
      number = this.visits.push(visit) - 1;
      this.numbers.set(visit, number);
    }
    this.list.push(number);
  }

  enter(pc: number, mask: number): void {
    this.asking.reset();
    this.follower.enter(pc, mask);
  }

  barrier(pc: number, mask: number): void {
    this.asking.reset();
    this.follower.barrier(pc, mask);
  }

  access(
    pc: number,
    mask: number,
    slot: number,
    shared: boolean,
    costs: Pick<Request, "sizes" | "conflicts">,
  ): void {
    const same = this.asking.goesOn(pc, mask, slot, shared);
    this.follower.access(pc, mask, same);
    const last = this.requests.at(-1);
    if (same && last) {
      const sizes = [...last.sizes, ...costs.sizes];
      const conflicts = last.conflicts + costs.conflicts;
      this.requests[this.requests.length - 1] = {
        pc,
        mask: (last.mask | mask) >>> 0,
        sizes,
        conflicts,
      };
    } else this.requests.push({ pc, mask, ...costs });
  }

  done(): Path {
    this.follower.end();
    return foldedPath(this.visits, this.list);
  }
}
