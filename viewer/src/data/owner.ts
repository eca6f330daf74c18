import { type HeatTable, PLANES, WORDS, warmthOf } from "./heat";
import type { Space } from "./payload";

/** Who used a word, or a sector as a whole. Threads are told apart for shared memory only. */
export const NOBODY = 0;
export const ONE_THREAD = 1;
export const ONE_WARP = 2;
export const SEVERAL_WARPS = 3;
export const OWNERS = ["nobody", "one thread", "one warp", "several warps"] as const;

/** Of a plane of a run: a word, or 8 for the sector. */
export function ownerOf(t: HeatTable, space: Space, run: number, plane: number): number {
  const warps = warmthOf(t, run, plane);
  if (warps > 1) return SEVERAL_WARPS;
  if (warps === 0) return NOBODY;
  const threads = space === "shared" && plane < WORDS;
  return threads ? ((t.owner[run] ?? 0) >>> (2 * plane)) & 3 : ONE_WARP;
}

/** 9 planes, as temperatures are kept. */
export function ownerPlanes(t: HeatTable, space: Space): Uint8Array {
  const planes = new Uint8Array(PLANES * t.runs);
  for (let p = 0; p < PLANES; p++) {
    for (let run = 0; run < t.runs; run++) planes[p * t.runs + run] = ownerOf(t, space, run, p);
  }
  return planes;
}
