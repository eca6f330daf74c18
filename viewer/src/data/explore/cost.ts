/** What the operations of a warp cost in one architecture: what moves for its requests, and what collides. */

import { type Moved, moved } from "./moved";
import type { Asked } from "./transactions";
import type { Operation, Slot, Step } from "./types";

/** What the page knows of a kernel's memory instructions, by pc and space. */
export type Access = Pick<Asked, "op" | "bytes" | "matrix" | "meeting">;
export type Accesses = Map<string, Access>;
export const accessKey = (pc: number, space: string): string => `${pc} ${space}`;

const PERIOD = 256; // allocations begin at multiples of it

/** Where an object begins, as far as it matters for what a request costs. */
export const baseOf = (o: { base?: number; space: string }): number =>
  o.space === "shared" ? (o.base ?? 0) : (o.base ?? 0) % PERIOD;

/** Where objects begin, as far as it matters for what a request costs. */
export type Bases = Map<number, number>;

/** Where the warps of a kind begin, and in which objects. */
export interface Place {
  slots: Slot[];
  begins: number[];
  bases: Bases;
}

const PLAIN: Access = { op: "load", bytes: 4 }; // what is taken of an instruction that the page does not know

/** What the opcode says of how an instruction asks. */
export const askedBy = (opcode: string): Pick<Access, "matrix" | "meeting"> => ({
  matrix: /^(ld|st)matrix\b/.test(opcode),
  meeting: opcode.startsWith("mbarrier"),
});

/** The request that a step of a warp is. */
export function requestOf(step: Step, place: Place, accesses: Accesses, other = PLAIN): Asked {
  const slot = place.slots[step.slot];
  const space = slot?.space ?? "global";
  const begin = (place.begins[step.slot] ?? 0) + (place.bases.get(slot?.object ?? 0) ?? 0);
  return {
    ...(accesses.get(accessKey(step.pc, space)) ?? other),
    space,
    mask: step.mask,
    addresses: step.offsets.map((offset) => offset + begin),
  };
}

/** Costs of a warp's operations, by operation. Numbers alone, as a worker makes them. */
export interface Costs {
  pc: Uint32Array;
  mask: Uint32Array;
  sizesFrom: Uint32Array; // of transactions in `sizes`; one more at the end
  sizes: Uint16Array; // bytes, by address
  conflicts: Uint16Array; // passes through shared memory beyond the first
  barriers: Uint32Array; // operations that are some
}

export function costsOf(
  operations: Operation[],
  place: Place,
  accesses: Accesses,
  arch: string,
): Costs {
  const n = operations.length;
  const sizes: number[] = [];
  const costs: Costs = {
    pc: Uint32Array.from(operations, (o) => o.pc),
    mask: Uint32Array.from(operations, (o) => o.mask),
    sizesFrom: new Uint32Array(n + 1),
    sizes: new Uint16Array(0),
    conflicts: new Uint16Array(n),
    barriers: Uint32Array.from(operations.flatMap((o, i) => (o.barrier ? [i] : []))),
  };
  operations.forEach((o, i) => {
    for (const step of o.accesses) {
      const request = requestOf(step, place, accesses);
      const m: Moved = moved(request, arch);
      sizes.push(...m.sizes);
      costs.conflicts[i] = (costs.conflicts[i] as number) + m.conflicts;
    }
    costs.sizesFrom[i + 1] = sizes.length;
  });
  costs.sizes = Uint16Array.from(sizes);
  return costs;
}
