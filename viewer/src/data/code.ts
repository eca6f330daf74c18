import { unpackJson } from "./decode";
import type { Model } from "./model";
import type { Code, Kernel, Listing } from "./payload";

export type Form = Listing["form"];

/** A kernel's code in one of its forms. */
export interface KernelCode {
  form: Form;
  part: number | undefined; // of the report; undefined: it is not there
  measured: boolean; // the counts are of these instructions
  listing: Listing | undefined; // of what was not measured
}

const known = new WeakMap<Model, Map<number, Promise<Code[]>>>();

function loadPart(m: Model, number: number | undefined): Promise<Code[]> {
  const part = number === undefined ? undefined : m.report.parts[number];
  if (number === undefined || !part) return Promise.resolve([]);
  const parts = known.get(m) ?? new Map<number, Promise<Code[]>>();
  const code = parts.get(number) ?? unpackJson<Code[]>(part);
  known.set(m, parts.set(number, code));
  return code;
}

/** A kernel's instructions, unpacked when they are first asked for; none where the report does not hold them. */
export const loadCode = (m: Model, kernel: Kernel): Promise<Code[]> => loadPart(m, kernel.code);

/** The same of one of its forms. */
export const loadForm = (m: Model, code: KernelCode | undefined): Promise<Code[]> =>
  loadPart(m, code?.part);

/** A kernel's code in a form; undefined where nothing is known of it. */
export function codeOf(kernel: Kernel, form: Form): KernelCode | undefined {
  if ((kernel.code_form ?? "ptx") === form && (kernel.code_form || kernel.code !== undefined))
    return { form, part: kernel.code, measured: true, listing: undefined };
  const listing = kernel.listings?.find((l) => l.form === form);
  return listing && { form, part: listing.code, measured: false, listing };
}

/** What is selected: a source line, or an instruction and the line that it is of. */
export interface Selected {
  file: number | undefined;
  line: number | undefined;
  form?: Form | undefined;
  row?: Code | undefined; // of that form
}

/** How instructions of a form are known to belong to what is selected: by the source line, by the line of the PTX, as the
 * selected one itself; none does by the line of the PTX, though others have such lines. */
export type How = "line" | "ptx" | "itself" | "none";

export interface Related {
  how: How;
  on: Set<number>; // pcs of what belongs to it
  near: Set<number>; // of what else is of its source line
}

const pcsOf = (code: Code[], is: (c: Code) => boolean): Set<number> =>
  new Set(code.filter(is).map((c) => c.pc));

function without(all: Set<number>, some: Set<number>): Set<number> {
  return new Set([...all].filter((pc) => !some.has(pc)));
}

/** The instructions of a form that belong to what is selected. */
export function relate(form: Form, code: Code[], selected: Selected): Related {
  const { file, line, row } = selected;
  const ofLine =
    line === undefined ? new Set<number>() : pcsOf(code, (c) => c.file === file && c.line === line);
  if (!row) return { how: "line", on: ofLine, near: new Set() };
  if (selected.form === form) {
    const on = new Set([row.pc]);
    return { how: "itself", on, near: without(ofLine, on) };
  }
  const linked = row.ptx_line !== undefined && code.some((c) => c.ptx_line !== undefined);
  if (!linked) return { how: "line", on: ofLine, near: new Set() };
  const on = pcsOf(code, (c) => c.ptx_line === row.ptx_line);
  return { how: on.size > 0 ? "ptx" : "none", on, near: without(ofLine, on) };
}
