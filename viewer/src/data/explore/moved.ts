import { archOf, serve } from "./transactions";
import type { Request } from "./types";

/** What a request costs, as far as warps are compared by it. */
export interface Moved {
  sizes: number[]; // of transactions of device memory, by address
  conflicts: number; // passes of shared memory that bank conflicts add
}

export function moved(request: Request, arch: string): Moved {
  if (request.space === "const") return { sizes: [], conflicts: 0 };
  const served = serve(archOf(arch), request);
  const sizes = [...served.transactions].sort((a, b) => a.address - b.address).map((t) => t.size);
  return { sizes, conflicts: Math.max(0, served.passes.length - served.fewestPasses) };
}
