/** Which instructions of a warp move bytes that nobody uses, or have bank conflicts. */
import type { Insights } from "./insight";

/** What an instruction did in one memory, over all of the warp's operations of it. */
export interface Costly {
  first: number; // operation
  text: string;
  line: number | undefined;
  shared: boolean;
  operations: number;
  took: number; // transactions; of shared memory wavefronts
  fewest: number; // wavefronts without bank conflicts; 0 for other memory
  moved: number; // bytes; 0 for shared memory
  used: number;
}

const WAVEFRONT_BYTES = 128;

/** Bytes that need not have moved: a wavefront of shared memory could have moved 128. */
export const wasted = (c: Costly): number =>
  c.shared ? (c.took - c.fewest) * WAVEFRONT_BYTES : c.moved - c.used;

/** Those that waste something, the worst first. */
export function costliest(insights: Insights, most: number): Costly[] {
  const found = new Map<string, Costly>();
  for (let i = 0; i < insights.count; i++) {
    if (insights.operations[i]?.accesses.length === 0) continue;
    const insight = insights.at(i);
    for (const { asked, served } of insight?.accesses ?? []) {
      const shared = asked.space === "shared";
      const key = `${insight?.operation.pc} ${asked.space}`;
      const { text = "", line } = insight ?? {};
      const none = { operations: 0, took: 0, fewest: 0, moved: 0, used: 0 };
      const c = found.get(key) ?? { first: i, text, line, shared, ...none };
      found.set(key, c);
      c.operations++;
      c.took += shared ? served.passes.length : served.transactions.length;
      c.fewest += served.fewestPasses;
      c.moved += served.moved;
      c.used += served.used;
    }
  }
  return [...found.values()]
    .filter((c) => wasted(c) > 0)
    .sort((a, b) => wasted(b) - wasted(a))
    .slice(0, most);
}
