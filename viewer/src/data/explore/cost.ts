/** What the operations of a warp cost in one architecture: what moves for its requests, and what collides. */

import { COSTS_AGAIN, type Moved, moved } from "./moved";
import { type BasicBlocks, PathMaker } from "./operations";
import type { Path, VisitTable } from "./path";
import type { Mark, Unfolded } from "./steps";
import type { Asked } from "./transactions";
import type { Slot, Step } from "./types";

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

const MASKS = 2 ** 32;

/** What requests cost in one architecture; those of lanes that lie alike are computed once. */
export class Prices {
  private readonly known = new Map<string, Map<number, Moved>>(); // by instruction and stride; then by place and lanes
  private last: Map<number, Moved> | undefined;
  private lastOf = { pc: -1, space: "", stride: 0 };

  constructor(
    private readonly accesses: Accesses,
    readonly arch: string,
  ) {}

  /** Of an access whose lanes lie as `lanes` tells, the first of them `first` bytes from the warp's begin. */
  of(
    mark: Pick<Mark, "pc" | "mask" | "slot">,
    place: Place,
    first: number,
    stride: number | undefined,
    lanes: () => number[],
  ): Moved {
    const { pc, mask, slot } = mark;
    const cost = () => {
      const step: Step = { kind: "access", pc, mask, slot, offsets: lanes() };
      return moved(requestOf(step, place, this.accesses), this.arch);
    };
    if (stride === undefined) return cost();
    const { space, object } = place.slots[slot] ?? { space: "", object: 0 };
    const at = first + (place.begins[slot] ?? 0) + (place.bases.get(object) ?? 0);
    const known = this.alike(pc, space, stride);
    const key = (((at % COSTS_AGAIN) + COSTS_AGAIN) % COSTS_AGAIN) * MASKS + mask;
    const before = known.get(key);
    if (before) return before;
    const costs = cost();
    known.set(key, costs);
    return costs;
  }

  private alike(pc: number, space: string, stride: number): Map<number, Moved> {
    const { last, lastOf } = this;
    if (last && lastOf.pc === pc && lastOf.space === space && lastOf.stride === stride) return last;
    const key = `${pc} ${space} ${stride}`;
    const known = this.known.get(key) ?? new Map<number, Moved>();
    this.known.set(key, known);
    this.last = known;
    this.lastOf = { pc, space, stride };
    return known;
  }
}

/** What the warps of a kind did, folded, with what it costs. */
export function pathOf(
  pages: Unfolded[],
  place: Place,
  prices: Prices,
  blocks: BasicBlocks,
  table: VisitTable,
): Path {
  const maker = new PathMaker(blocks, table);
  for (const page of pages)
    page.each((mark, lies) => {
      const { kind, pc, mask, slot } = mark;
      if (kind === "entry") maker.enter(pc, mask);
      else if (kind === "barrier") maker.barrier(pc, mask);
      else if (lies) {
        const { first, stride } = lies;
        const costs = prices.of(mark, place, first, stride, () => page.lanes(mask, lies));
        maker.access(pc, mask, slot, place.slots[slot]?.space === "shared", costs);
      }
    });
  return maker.done();
}
