import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { codeAround, loadCode } from "../data/code";
import { lineUnit, type Model } from "../data/model";
import type { Code as Instruction, Kernel } from "../data/payload";
import { go, href } from "../state/route";
import { middle, plural, ratio } from "../widgets/format";
import { Code, place } from "./source";

interface Props {
  m: Model;
  kernels: Kernel[]; // to choose from
  kernel: Kernel;
  choose: (kernel: number) => void;
  file: number;
  line: number | undefined; // whose instructions are marked
}

/** By pc, what a memory instruction moves for each request. */
function notesOf(m: Model, kernel: Kernel): Map<number, string> {
  const notes = new Map<number, string>();
  for (const row of m.linesOf.get(kernel.id) ?? []) {
    for (const i of row.instructions) {
      const moved = i.space === "shared" ? i.wavefronts : i.sectors;
      if (i.requests > 0) notes.set(i.pc, `${ratio(moved / i.requests)} ${lineUnit(row)}`);
    }
  }
  return notes;
}

/** The instructions of a kernel, unpacked; undefined until they are there. */
export function useCode(m: Model, kernel: Kernel): Instruction[] | undefined {
  const code = useSignal<{ of: Kernel; code: Instruction[] } | undefined>(undefined);
  useEffect(() => {
    let current = true;
    const show = (loaded: Instruction[]) => {
      if (current) code.value = { of: kernel, code: loaded };
    };
    loadCode(m, kernel).then(show, () => show([]));
    return () => {
      current = false;
    };
  }, [m, kernel]);
  return code.value?.of === kernel ? code.value.code : undefined;
}

/** The kernel whose PTX stands beside the source; one may choose among those of the file. */
function Choice({ kernels, kernel, choose }: Props) {
  if (kernels.length < 2) return <b class="mono">{middle(kernel.short_name, 40)}</b>;
  return (
    <select
      aria-label="The kernel whose PTX is shown"
      value={kernel.id}
      onChange={(e) => choose(Number(e.currentTarget.value))}
    >
      {kernels.map((k) => (
        <option key={k.id} value={k.id}>
          {middle(k.short_name, 60)}
        </option>
      ))}
    </select>
  );
}

/** A kernel's PTX: that of the selected line is marked; a click on an instruction selects its line. */
export function Ptx(p: Props) {
  const { m, kernel, file, line } = p;
  const pane = useRef<HTMLDivElement>(null);
  const code = useCode(m, kernel);
  const isOn = (c: Instruction) => c.file === file && c.line === line;
  const on = code?.filter(isOn).length ?? 0;
  useEffect(() => {
    const first = pane.current?.querySelector<HTMLElement>(".insn.on");
    if (pane.current && first) pane.current.scrollTop = first.offsetTop - 60;
  }, [code, file, line]);
  const notes = notesOf(m, kernel);
  const select = (c: Instruction) => {
    if (c.file !== undefined && c.line !== undefined) {
      go(href("file", c.file, { line: c.line, kernel: kernel.id }));
    }
  };
  return (
    <aside class="excerpt ptxpane" aria-label="Instructions">
      <div class="path">
        Instructions of <Choice {...p} />
        {code && line !== undefined && `: ${plural(on, "instruction")} of line ${line}`}
      </div>
      <div class="code" ref={pane}>
        {code?.length === 0 && (
          <p class="hint">The report does not hold this kernel's instructions.</p>
        )}
        {codeAround(code ?? [], isOn).map((c) => (
          <button
            key={c.pc}
            type="button"
            class={`insn${isOn(c) ? " on" : ""}`}
            title={place(m, c.file, c.line)}
            onClick={() => select(c)}
          >
            <span class="number">{c.line ?? ""}</span>
            <Code text={c.text} />
            {notes.has(c.pc) && <span class="note num">{notes.get(c.pc)}</span>}
          </button>
        ))}
      </div>
    </aside>
  );
}
