/** What repeats in a list of numbers, as src/base/repeats.c finds it. */

const TRIES = 4; // lengths that are tried at a place
const BASE = 0x9e3779b1;
const SPREAD = 0x85ebca6b;

/** Finds repeats of lists whose numbers are below `symbols`, in time that grows with their length only. */
export class Repeats {
  private readonly next: Uint32Array; // where the number comes again; the list's length: nowhere
  private readonly hash: Uint32Array; // of what stands before each place
  private readonly power: Uint32Array;

  constructor(
    private readonly list: ArrayLike<number>,
    symbols: number,
  ) {
    const n = list.length;
    const seen = new Uint32Array(symbols).fill(n);
    this.next = new Uint32Array(n);
    for (let i = n; i-- > 0; ) {
      this.next[i] = seen[list[i] as number] as number;
      seen[list[i] as number] = i;
    }
    this.hash = new Uint32Array(n + 1);
    this.power = new Uint32Array(n + 1).fill(1);
    for (let i = 0; i < n; i++) {
      const own = Math.imul((list[i] as number) + 1, SPREAD);
      this.hash[i + 1] = Math.imul(this.hash[i] as number, BASE) + own;
      this.power[i + 1] = Math.imul(this.power[i] as number, BASE);
    }
  }

  private hashOf(from: number, length: number): number {
    const before = Math.imul(this.hash[from] as number, this.power[length] as number);
    return ((this.hash[from + length] as number) - before) >>> 0;
  }

  private comesAgain(from: number, length: number): boolean {
    if (this.hashOf(from, length) !== this.hashOf(from + length, length)) return false;
    for (let i = from; i < from + length; i++)
      if (this.list[i] !== this.list[i + length]) return false;
    return true;
  }

  /** How many numbers from there on come again at once, and how often in all; of more than `most` nothing is told. */
  at(from: number, most: number): { length: number; times: number } {
    const { list, next } = this;
    let again = next[from] as number;
    for (let i = 0; i < TRIES && again < list.length; i++, again = next[again] as number) {
      const length = again - from;
      if (length > most || again + length > list.length) break;
      if (!this.comesAgain(from, length)) continue;
      let end = again + length;
      while (end < list.length && list[end] === list[end - length]) end++;
      return { length, times: Math.floor((end - from) / length) };
    }
    return { length: 1, times: 1 };
  }
}
