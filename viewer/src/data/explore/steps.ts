/** Decodes pages of steps and of warps, as src/base/steps.h has them: numbers of seven bits a byte, each relative to the
 * item before. */
import type { Step } from "./types";

export const LANES = 32;
const KINDS = ["barrier", "entry"] as const; // numbers in place of a slot
const FIRST_SLOT = KINDS.length;

const DAMAGED = "The report's steps of warps cannot be read.";

class Reader {
  private at = 0;
  constructor(private readonly page: Uint8Array) {}

  get done(): boolean {
    return this.at >= this.page.length;
  }

  /** A number of up to 53 bits. */
  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.page[this.at++];
      if (byte === undefined) throw new Error(DAMAGED);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/** What is the same for all lanes comes from the first one; `r` stands behind its offset. */
function lanesOf(r: Reader, mask: number, first: number): number[] {
  const offsets = new Array<number>(LANES).fill(Number.NaN);
  const shape = r.number();
  const stride = shape % 2 === 1 ? (shape - 1) / 2 : -shape / 2;
  const lowest = 31 - Math.clz32(mask & -mask);
  let last = first;
  offsets[lowest] = first;
  for (let lane = lowest + 1; lane < LANES; lane++) {
    if (!((mask >>> lane) & 1)) continue;
    last = shape === 0 ? last + r.signed() : first + stride * (lane - lowest);
    offsets[lane] = last;
  }
  return offsets;
}

/** The steps of a page. */
export function stepsOf(page: Uint8Array): Step[] {
  const r = new Reader(page);
  const steps: Step[] = [];
  let [pc, mask, offset] = [0, 0, 0];
  while (!r.done) {
    pc += r.signed();
    mask = (mask ^ r.number()) >>> 0;
    const what = r.number();
    if (mask === 0 || pc < 0) throw new Error(DAMAGED);
    if (what < FIRST_SLOT) {
      steps.push({ kind: KINDS[what] ?? "barrier", pc, mask, slot: -1, offsets: [] });
      continue;
    }
    offset += r.signed();
    const offsets = lanesOf(r, mask, offset);
    steps.push({ kind: "access", pc, mask, slot: what - FIRST_SLOT, offsets });
  }
  return steps;
}

/** The warps of a page: `each` is called with block, number and the begins in each slot, which it must copy. */
export function warpsOf(
  page: Uint8Array,
  slots: number,
  each: (block: number, number: number, begins: number[]) => void,
): void {
  const r = new Reader(page);
  const begins = new Array<number>(slots).fill(0);
  let block = 0;
  while (!r.done) {
    block += r.number();
    const number = r.number();
    for (let slot = 0; slot < slots; slot++) begins[slot] = (begins[slot] ?? 0) + r.signed();
    each(block, number, begins);
  }
}
