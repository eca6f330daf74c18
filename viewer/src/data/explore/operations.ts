/** From steps to operations: instructions that the warp executed, one after another. */
import type { Operation, Step } from "./types";

/** How many instructions the basic blocks of a kernel have, by their first pc. */
export type BasicBlocks = Map<number, number>;

const LOOK_BACK = 8; // blocks whose requests may still come: lanes that have parted run by turns

interface Entered {
  pc: number;
  end: number; // after the last instruction
  mask: number;
  at: number; // of its first operation
}

class Expansion {
  readonly operations: Operation[] = [];
  private readonly entered: Entered[] = [];
  constructor(private readonly blocks: BasicBlocks) {}

  enter(step: Step): void {
    const n = this.blocks.get(step.pc) ?? 1;
    const met = this.barrierBefore(step);
    const at = this.operations.length - (met ? 1 : 0);
    for (let i = met ? 1 : 0; i < n; i++) this.push(step.pc + i, step.mask);
    this.entered.push({ pc: step.pc, end: step.pc + n, mask: step.mask, at });
  }

  access(step: Step): void {
    const o = this.enclosing(step) ?? this.lastOf(step) ?? this.push(step.pc, step.mask);
    o.accesses.push(step);
    o.mask = (o.mask | step.mask) >>> 0;
  }

  barrier(step: Step): void {
    const o = this.enclosing(step) ?? this.push(step.pc, step.mask);
    o.barrier = true;
  }

  /** Lanes enter a block that begins with a barrier when they go on from it: it has been told of by then. */
  private barrierBefore({ pc, mask }: Step): boolean {
    const last = this.operations[this.operations.length - 1];
    return last?.pc === pc && last.mask === mask && last.barrier && last.accesses.length === 0;
  }

  private push(pc: number, mask: number): Operation {
    const o = { pc, mask, accesses: [], barrier: false };
    this.operations.push(o);
    return o;
  }

  /** The operation of a block that was entered lately, which the step is of. */
  private enclosing(step: Step): Operation | undefined {
    const from = Math.max(0, this.entered.length - LOOK_BACK);
    for (let i = this.entered.length - 1; i >= from; i--) {
      const b = this.entered[i] as Entered;
      const inside = step.pc >= b.pc && step.pc < b.end;
      const shared = step.kind === "barrier" ? b.mask : step.mask & ~b.mask ? 0 : step.mask;
      if (inside && shared) return this.operations[b.at + step.pc - b.pc];
    }
    return undefined;
  }

  /** A request that falls into several objects is as many steps, one after another, of other lanes. */
  private lastOf(step: Step): Operation | undefined {
    const last = this.operations[this.operations.length - 1];
    return last?.pc === step.pc && last.accesses.length > 0 && !(last.mask & step.mask)
      ? last
      : undefined;
  }
}

export function operationsOf(steps: Step[], blocks: BasicBlocks): Operation[] {
  const expansion = new Expansion(blocks);
  for (const step of steps) {
    if (step.kind === "entry") expansion.enter(step);
    else if (step.kind === "access") expansion.access(step);
    else expansion.barrier(step);
  }
  return expansion.operations;
}
