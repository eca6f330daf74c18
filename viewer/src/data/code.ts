import { unpack } from "./decode";
import type { Model } from "./model";
import type { Code, Kernel } from "./payload";

const known = new WeakMap<Kernel, Promise<Code[]>>();

async function readCode(part: string): Promise<Code[]> {
  return JSON.parse(new TextDecoder().decode(await unpack(part))) as Code[];
}

/** A kernel's instructions, unpacked when they are first asked for; none where the report does not hold them. */
export function loadCode(m: Model, kernel: Kernel): Promise<Code[]> {
  const part = kernel.code === undefined ? undefined : m.report.parts[kernel.code];
  const code = known.get(kernel) ?? (part ? readCode(part) : Promise.resolve([]));
  known.set(kernel, code);
  return code;
}

const MOST = 2000; // instructions that are shown at once
const AROUND = 100;

/** The instructions to show: all, or of very many those around the ones of a line. */
export function codeAround(code: Code[], isOfLine: (c: Code) => boolean): Code[] {
  if (code.length <= MOST) return code;
  const wanted = new Set<number>();
  code.forEach((c, i) => {
    if (!isOfLine(c)) return;
    for (let k = i - AROUND; k <= i + AROUND; k++) wanted.add(k);
  });
  return code.filter((_, i) => wanted.has(i)).slice(0, MOST);
}
