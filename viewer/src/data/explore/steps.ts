/** Decodes pages of steps, as src/base/fold.h has them, and of warps, as src/base/steps.h does: numbers of seven bits a byte. */
import { popcount } from "../heat";
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

  get place(): number {
    return this.at;
  }

  goTo(place: number): void {
    this.at = place;
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

/** What the steps of a page have in common: where, with which lanes, and what they are. */
export interface Mark {
  kind: Step["kind"];
  pc: number;
  mask: number;
  slot: number; // of an access; else -1
  moves: Uint32Array; // of an access: places in the page where it says how the lanes lie, by execution
}

/** Where the lanes of an access lie. */
export interface Lies {
  first: number; // the first one's offset
  stride: number | undefined; // bytes from lane to lane; undefined: they lie anyhow
  rest: number; // place in the page where the others' are told then
}

/** A list of `count` items, which `tell` reads where a new one comes; numbered in that order. */
function listOf(r: Reader, count: number, tell: () => void): Uint32Array {
  const list = new Uint32Array(count);
  let told = 0;
  const read = (from: number, to: number): void => {
    for (let at = from; at < to; ) {
      const number = r.number();
      if (number % 2 === 0) {
        if (number === 0) tell();
        const item = number === 0 ? told++ : number / 2 - 1;
        if (item >= told) throw new Error(DAMAGED);
        list[at++] = item;
        continue;
      }
      const length = (number - 1) / 2;
      const times = r.number();
      if (length === 0 || times < 2 || times * length > to - at) throw new Error(DAMAGED);
      read(at, at + length);
      for (let i = 1; i < times; i++) list.copyWithin(at + i * length, at, at + length);
      at += length * times;
    }
  };
  read(0, count);
  return list;
}

function readMark(r: Reader, before: Mark | undefined): Mark {
  const pc = (before?.pc ?? 0) + r.signed();
  const mask = ((before?.mask ?? 0) ^ r.number()) >>> 0;
  const what = r.number();
  if (mask === 0 || pc < 0) throw new Error(DAMAGED);
  const kind = KINDS[what] ?? "access";
  return { kind, pc, mask, slot: what < FIRST_SLOT ? -1 : what - FIRST_SLOT, moves: NONE };
}

const NONE = new Uint32Array(0);

function readMoves(r: Reader, mark: Mark, count: number): Uint32Array {
  const places: number[] = [];
  const list = listOf(r, count, () => {
    places.push(r.place);
    r.number();
    let lanes = r.number() === 0 ? popcount(mark.mask) - 1 : 0;
    while (lanes-- > 0) r.number();
  });
  return list.map((item) => places[item] as number);
}

/** A page with so many steps: what they are, one after the other, before where they access is looked at. */
export class Unfolded {
  readonly marks: Mark[] = [];
  readonly path: Uint32Array; // of `marks`, by step
  private readonly r: Reader;

  constructor(page: Uint8Array, count: number) {
    const r = new Reader(page);
    this.r = r;
    this.path = listOf(r, count, () => this.marks.push(readMark(r, this.marks.at(-1))));
    const executions = new Uint32Array(this.marks.length);
    for (const mark of this.path) executions[mark] = (executions[mark] as number) + 1;
    this.marks.forEach((mark, i) => {
      if (mark.kind === "access") mark.moves = readMoves(r, mark, executions[i] as number);
    });
    if (!r.done) throw new Error(DAMAGED);
  }

  /** Calls `each` for all steps, one after the other; of accesses with where the lanes lie. */
  each(each: (mark: Mark, lies: Lies | undefined) => void): void {
    const next = new Uint32Array(this.marks.length);
    const offset = new Float64Array(this.marks.length);
    for (const m of this.path) {
      const mark = this.marks[m] as Mark;
      if (mark.kind !== "access") {
        each(mark, undefined);
        continue;
      }
      const lies = this.move(mark.moves[next[m] as number] as number, offset[m] as number);
      next[m] = (next[m] as number) + 1;
      offset[m] = lies.first;
      each(mark, lies);
    }
  }

  /** What is told at the place, of lanes of which the first lay at `before`. */
  private move(place: number, before: number): Lies {
    const { r } = this;
    r.goTo(place);
    const first = before + r.signed();
    const shape = r.number();
    const stride = shape % 2 === 1 ? (shape - 1) / 2 : -shape / 2;
    return { first, stride: shape === 0 ? undefined : stride, rest: r.place };
  }

  /** Where each lane lies. */
  lanes(mask: number, { first, stride, rest }: Lies): number[] {
    const { r } = this;
    r.goTo(rest);
    const offsets = new Array<number>(LANES).fill(Number.NaN);
    const lowest = 31 - Math.clz32(mask & -mask);
    let last = first;
    offsets[lowest] = first;
    for (let lane = lowest + 1; lane < LANES; lane++) {
      if (!((mask >>> lane) & 1)) continue;
      last = stride === undefined ? last + r.signed() : first + stride * (lane - lowest);
      offsets[lane] = last;
    }
    return offsets;
  }
}

/** All steps of a page, unfolded. */
export function stepsOf(page: Uint8Array, count: number): Step[] {
  const unfolded = new Unfolded(page, count);
  const steps: Step[] = [];
  unfolded.each(({ kind, pc, mask, slot }, lies) => {
    steps.push({ kind, pc, mask, slot, offsets: lies ? unfolded.lanes(mask, lies) : [] });
  });
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
