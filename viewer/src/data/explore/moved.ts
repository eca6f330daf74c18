import type { Arch, Serving } from "./archs";
import { type Asked, archOf, serve } from "./transactions";

/** What a request costs, as far as warps are compared by it. */
export interface Moved {
  sizes: number[]; // of transactions of device memory, by address
  conflicts: number; // passes of shared memory that bank conflicts add
}

const WORD = 4;
const BANKS = 32;
const PLAIN: Serving[] = ["joined", "words", "words-and-one"]; // of one word a lane they do the same
/** Bytes after which a request costs the same: more than all of the table's rows merge or share between banks. */
export const COSTS_AGAIN = 256;
const KEPT = 1 << 16;
const known = new Map<string, Moved>();

function work(request: Asked, arch: string): Moved {
  const served = serve(archOf(arch), request);
  const sizes = [...served.transactions].sort((a, b) => a.address - b.address).map((t) => t.size);
  return { sizes, conflicts: Math.max(0, served.passes.length - served.fewestPasses) };
}

const perBank = new Map<number, number>();
const places = new Set<number>();

/** Passes of a request whose lanes take a word each, beyond the first: the most words of one bank. */
function conflictsOf(r: Asked): number {
  perBank.clear();
  places.clear();
  let most = 1;
  for (const address of r.addresses) {
    const word = Math.floor(address / WORD);
    if (Number.isNaN(word) || places.has(word)) continue;
    places.add(word);
    const n = (perBank.get(word % BANKS) ?? 0) + 1;
    perBank.set(word % BANKS, n);
    if (n > most) most = n;
  }
  return most - 1;
}

/** Transactions of one size, by the pieces of memory that lanes take some of. */
function piecesOf(r: Asked, size: number): number[] {
  places.clear();
  for (const address of r.addresses) {
    if (Number.isNaN(address)) continue;
    const last = Math.floor((address + r.bytes - 1) / size);
    for (let piece = Math.floor(address / size); piece <= last; piece++) places.add(piece);
  }
  return new Array<number>(places.size).fill(size);
}

/** The most usual requests, as `serve` would count them; undefined of others. */
function usual(r: Asked, arch: Arch): Moved | undefined {
  if ((r.op !== "load" && r.op !== "store") || r.matrix || r.meeting) return undefined;
  if (r.space === "global" && arch.merging === "whole-warp")
    return {
      sizes: piecesOf(r, r.op === "load" ? arch.loadBytes : arch.storeBytes),
      conflicts: 0,
    };
  const plain = r.space === "shared" && r.bytes === WORD && PLAIN.includes(arch.serving);
  return plain ? { sizes: [], conflicts: conflictsOf(r) } : undefined;
}

/** Requests that are alike come again and again: what they cost is kept. */
export function moved(request: Asked, arch: string): Moved {
  const { op, space, bytes, mask, addresses } = request;
  if (space === "const") return { sizes: [], conflicts: 0 };
  const simple = usual(request, archOf(arch));
  if (simple) return simple;
  const lowest = addresses[31 - Math.clz32(mask & -mask)] ?? 0;
  const base = Math.floor(lowest / COSTS_AGAIN) * COSTS_AGAIN;
  let key = `${arch} ${op} ${space} ${bytes} ${mask} ${!!request.matrix} ${!!request.meeting}`;
  for (const address of addresses) if (!Number.isNaN(address)) key += ` ${address - base}`;
  const before = known.get(key);
  if (before) return before;
  const costs = work(request, arch);
  if (known.size >= KEPT) known.clear();
  known.set(key, costs);
  return costs;
}
