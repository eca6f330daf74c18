import type { Request } from "./types";

export interface Moved {
  sizes: number[]; // of transactions of device memory, by address
  conflicts: number;
}

const SECTOR = 32;
const WORD = 4;
const BANKS = 32;

export function moved(r: Request, _arch: string): Moved {
  const lanes = r.addresses.filter((a) => !Number.isNaN(a));
  if (r.space === "const") return { sizes: [], conflicts: 0 };
  if (r.space !== "shared") {
    const sectors = new Set<number>();
    for (const a of lanes)
      for (let s = Math.floor(a / SECTOR); s * SECTOR < a + r.bytes; s++) sectors.add(s);
    return { sizes: [...sectors].map(() => SECTOR), conflicts: 0 };
  }
  const words = new Set<number>();
  for (const a of lanes)
    for (let w = Math.floor(a / WORD); w * WORD < a + r.bytes; w++) words.add(w);
  const perBank = new Array<number>(BANKS).fill(0);
  for (const w of words) perBank[w % BANKS] = (perBank[w % BANKS] ?? 0) + 1;
  const fewest = Math.ceil(words.size / BANKS);
  return { sizes: [], conflicts: Math.max(0, Math.max(...perBank) - fewest) };
}
