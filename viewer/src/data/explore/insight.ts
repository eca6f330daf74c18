/** What the page knows of one operation of a warp: its text, its line, and what each of its requests does. */
import type { Model } from "../model";
import type { Code, Instruction } from "../payload";
import { ARCHS, type Arch } from "./archs";
import { type Accesses, accessKey, askedBy, baseOf, type Access as Known, requestOf } from "./cost";
import { type Asked, type Served, serve } from "./transactions";
import type { Operation, Slot, Step, WarpData } from "./types";

/** What an operation is, where it is not a plain instruction. */
export type Sign = "barrier" | "atomic" | "async" | "bulk" | "tensor";

/** One request of an operation. */
export interface Access {
  asked: Asked;
  slot: Slot;
  served: Served;
  name: string; // of the object
  base: number; // what addresses have in front of the object's begin
}

export interface Insight {
  operation: Operation;
  text: string; // PTX; empty where the report does not hold it
  file: number | undefined;
  line: number | undefined;
  sign: Sign | undefined;
  accesses: Access[];
}

const KEPT = 2000; // insights that are kept

const WIDTHS = /\.(v[248])?\.?[bufs](8|16|32|64|128)\b/;

/** Bytes a lane of an instruction, by its text. */
export function bytesOfText(text: string): number {
  if (text.includes("ldmatrix") || text.includes("stmatrix")) return 16;
  const copied = /cp\.async[^,]*,[^,]*,\s*(\d+)/.exec(text);
  if (copied) return Number(copied[1]);
  const vector = Number(/\.v([248])\b/.exec(text)?.[1] ?? 1);
  return (vector * Number(WIDTHS.exec(text)?.[2] ?? 32)) / 8;
}

/** The opcode with its suffixes: without a guard and operands. */
export const opcodeOf = (text: string): string =>
  text.replace(/^@!?\S+\s+/, "").split(/[\s;]/)[0] ?? "";

export function signOf(text: string, barrier: boolean): Sign | undefined {
  const opcode = opcodeOf(text);
  if (barrier || /^(bar|barrier|mbarrier)\b/.test(opcode)) return "barrier";
  if (/^(atom|red)\b/.test(opcode)) return "atomic";
  if (/^cp(\.reduce)?\.async\.bulk\b/.test(opcode)) return "bulk";
  if (/^cp\.async\b/.test(opcode)) return "async";
  return /^(w?mma|wgmma|tcgen05)\b/.test(opcode) ? "tensor" : undefined;
}

/** What is known of an instruction's requests. */
export const accessOf = (i: Instruction): Known => ({
  op: i.op,
  bytes: i.bytes,
  ...askedBy(opcodeOf(i.text ?? "")),
});

/** The operations of one warp of a kernel, as an architecture serves them. */
export class Insights {
  readonly operations: Operation[];
  private readonly code: Map<number, Code>;
  private readonly known: Map<string, Instruction>;
  private readonly accesses: Accesses;
  private kept = new Map<number, Insight>();

  constructor(
    private readonly m: Model,
    private readonly kernel: number,
    private readonly warp: WarpData,
    readonly arch: Arch,
    code: Code[],
  ) {
    this.operations = warp.operations();
    this.code = new Map(code.map((c) => [c.pc, c]));
    const own = m.payload.instructions.filter((i) => i.kernel === this.kernel);
    this.known = new Map(own.map((i) => [accessKey(i.pc, i.space), i]));
    this.accesses = new Map(own.map((i) => [accessKey(i.pc, i.space), accessOf(i)]));
  }

  get count(): number {
    return this.operations.length;
  }

  at(index: number): Insight | undefined {
    const operation = this.operations[index];
    if (!operation) return undefined;
    const kept = this.kept.get(index);
    if (kept) return kept;
    if (this.kept.size >= KEPT) this.kept = new Map();
    const insight = this.look(operation);
    this.kept.set(index, insight);
    return insight;
  }

  /** The same request on every row of the table of architectures. */
  everywhere(access: Access): { arch: Arch; served: Served }[] {
    return ARCHS.map((arch) => ({ arch, served: serve(arch, access.asked) }));
  }

  private look(operation: Operation): Insight {
    const { pc, accesses } = operation;
    const code = this.code.get(pc);
    const space = this.warp.slots[accesses[0]?.slot ?? -1]?.space ?? "";
    const known = this.known.get(accessKey(pc, space));
    const text = code?.text ?? known?.text ?? "";
    return {
      operation,
      text,
      file: code?.file ?? known?.file,
      line: code?.line ?? known?.line,
      sign: signOf(text, operation.barrier),
      accesses: accesses.map((step) => this.accessOf(step, text)),
    };
  }

  private accessOf(step: Step, text: string): Access {
    const slot = this.warp.slots[step.slot] ?? { space: "global", object: 0 };
    const object = this.m.objectById.get(slot.object);
    const base = object ? baseOf(object) : 0;
    const place = { ...this.warp, bases: new Map([[slot.object, base]]) };
    const asked = requestOf(step, place, this.accesses, {
      op: /^st\b/.test(opcodeOf(text)) ? "store" : "load",
      bytes: bytesOfText(text),
      ...askedBy(opcodeOf(text)),
    });
    return { asked, slot, served: serve(this.arch, asked), name: object?.name ?? "", base };
  }
}

export const ACTIVITY_WINDOW = 100;

/** By lane, the share of the last 100 operations, this one included, in which it was active. */
export function activityOf(operations: Operation[], index: number): number[] {
  const from = Math.max(0, index + 1 - ACTIVITY_WINDOW);
  const counts = new Array<number>(32).fill(0);
  for (let i = from; i <= index; i++) {
    const mask = operations[i]?.mask ?? 0;
    for (let lane = 0; lane < 32; lane++)
      counts[lane] = (counts[lane] ?? 0) + ((mask >>> lane) & 1);
  }
  return counts.map((n) => n / Math.max(1, index + 1 - from));
}
