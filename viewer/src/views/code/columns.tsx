import { useMemo } from "preact/hooks";
import { codeOf, type Form, type KernelCode, relate, type Selected } from "../../data/code";
import { lineUnit, type Model } from "../../data/model";
import type { Code as Instruction, Kernel } from "../../data/payload";
import { go, href, replace } from "../../state/route";
import { count, exact, middle, ratio } from "../../widgets/format";
import { place } from "../source";
import { Column, type Notes } from "./column";
import { useForm } from "./usecode";
import { FORM_NAMES, formWords, relationWords } from "./words";

interface Props {
  m: Model;
  kernels: Kernel[]; // to choose from
  kernel: Kernel;
  choose: (kernel: number) => void;
  file: number;
  line: number | undefined; // whose instructions are marked
  at: { form: Form; pc: number } | undefined; // the selected instruction
  forms: Form[]; // that are shown
  withSource: boolean; // so is the source
}

/** By pc, what a memory instruction moves for each request, and all that it did. */
function movesOf(m: Model, kernel: Kernel): Map<number, Notes> {
  const notes = new Map<number, Notes>();
  for (const row of m.linesOf.get(kernel.id) ?? []) {
    for (const i of row.instructions) {
      const moved = i.space === "shared" ? i.wavefronts : i.sectors;
      if (i.requests === 0) continue;
      notes.set(i.pc, {
        ran: "",
        calm: moved <= (i.space === "shared" ? i.wavefronts_min : i.sectors_min),
        moved: `${ratio(moved / i.requests)} ${lineUnit(row)}`,
        title: `${exact(i.requests)} requests, ${exact(moved)} ${lineUnit(row)}`,
      });
    }
  }
  return notes;
}

function notesOf(m: Model, moves: Map<number, Notes> | undefined, row: Instruction): Notes {
  const moved = moves?.get(row.pc);
  const ran = row.executions;
  const parts = [
    place(m, row.file, row.line),
    ran === undefined ? "" : ran === 0 ? "never executed" : `executed ${exact(ran)} times by warps`,
    moved?.title ?? "",
  ];
  return {
    ran: ran === undefined ? "" : ran === 0 ? "never" : `×${count(ran)}`,
    moved: moved?.moved ?? "",
    calm: moved?.calm ?? true,
    title: parts.filter(Boolean).join("; "),
  };
}

/** The kernel whose code stands beside the source; one may choose among those of the file. */
function Choice({ kernels, kernel, choose }: Props) {
  if (kernels.length < 2) return <b class="mono">{middle(kernel.short_name, 40)}</b>;
  return (
    <select
      aria-label="The kernel whose code is shown"
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

interface PaneProps {
  p: Props;
  of: KernelCode;
  code: Instruction[] | undefined;
  selected: Selected;
  moves: Map<number, Notes>;
  apart: string | undefined;
  chooses: boolean; // the kernel is chosen in this one
}

function Pane({ p, of, code, selected, moves, apart, chooses }: PaneProps) {
  const { m, kernel } = p;
  const related = useMemo(
    () => relate(of.form, code ?? [], selected),
    [of, code, selected.file, selected.line, selected.form, selected.row],
  );
  const pick = (row: Instruction, step: boolean) => {
    const line = row.line ?? 0; // 0: none is known
    const to = href("file", row.file ?? p.file, { line, kernel: kernel.id, [of.form]: row.pc });
    if (step) replace(to);
    else go(to);
  };
  const words = relationWords(of.form, related, selected, {
    apart,
    lines: code?.some((c) => c.line !== undefined) ?? true,
  });
  return (
    <Column
      form={of.form}
      code={code ?? []}
      related={related}
      notesOf={(row) => notesOf(m, of.measured ? moves : undefined, row)}
      pick={pick}
      withSource={p.withSource}
    >
      <div class="path">
        <b>{FORM_NAMES[of.form]}</b>
        {chooses && " of "}
        {chooses && <Choice {...p} />} <span class="what">{formWords(of, kernel)}</span>
        <div class="belongs" aria-live="polite">
          {code?.length === 0 ? "" : words}
        </div>
      </div>
      {code?.length === 0 && (
        <p class="hint">The report does not hold this kernel's instructions.</p>
      )}
    </Column>
  );
}

/** A kernel's code in its forms: what belongs to the selected line or instruction is marked, and a click on an instruction
 * selects it, and its line. */
export function Columns(p: Props) {
  const { m, kernel } = p;
  const [ptx, sass] = useMemo(
    () => [codeOf(kernel, "ptx"), codeOf(kernel, "sass")] as const,
    [kernel],
  );
  const code = { ptx: useForm(m, ptx), sass: useForm(m, sass) };
  const moves = useMemo(() => movesOf(m, kernel), [m, kernel]);
  const row = p.at && code[p.at.form]?.find((c) => c.pc === p.at?.pc);
  const selected: Selected = row
    ? { file: row.file, line: row.line, form: p.at?.form, row }
    : { file: p.file, line: p.line };
  const panes = [ptx, sass].filter((c): c is KernelCode => !!c && p.forms.includes(c.form));
  return (
    <div class={`panes n${panes.length}`}>
      {panes.map((of, i) => (
        <Pane
          key={of.form}
          p={p}
          of={of}
          code={code[of.form]}
          selected={selected}
          moves={moves}
          apart={sass?.listing?.apart}
          chooses={i === 0}
        />
      ))}
    </div>
  );
}
