import { archOf, serve } from "./transactions";
import type { Request } from "./types";

/** What a request costs, as far as warps are compared by it. */
export interface Moved {
  sizes: number[]; // of transactions of device memory, by address
  conflicts: number; // passes of shared memory that bank conflicts add
}

const PERIOD = 256; // bytes by which a request may be moved and cost the same
const KEPT = 1 << 16;
const known = new Map<string, Moved>();

function work(request: Request, arch: string): Moved {
  const served = serve(archOf(arch), request);
  const sizes = [...served.transactions].sort((a, b) => a.address - b.address).map((t) => t.size);
  return { sizes, conflicts: Math.max(0, served.passes.length - served.fewestPasses) };
}

/** Requests that are alike come again and again: what they cost is kept. */
export function moved(request: Request, arch: string): Moved {
  const { op, space, bytes, mask, addresses } = request;
  if (space === "const") return { sizes: [], conflicts: 0 };
  const lowest = addresses[31 - Math.clz32(mask & -mask)] ?? 0;
  const base = Math.floor(lowest / PERIOD) * PERIOD;
  let key = `${arch} ${op} ${space} ${bytes} ${mask}`;
  for (const address of addresses) if (!Number.isNaN(address)) key += ` ${address - base}`;
  const before = known.get(key);
  if (before) return before;
  const costs = work(request, arch);
  if (known.size >= KEPT) known.clear();
  known.set(key, costs);
  return costs;
}
