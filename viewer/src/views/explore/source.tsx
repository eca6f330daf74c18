import type { Model } from "../../data/model";
import type { Code as Instruction, Kernel } from "../../data/payload";
import { plural } from "../../widgets/format";
import { useCode } from "../code/usecode";
import { Code, Excerpt, type Mark, place } from "../source";

const AROUND = 7; // instructions before and after

/** By file, the lines of the instructions; the one of the first instruction is marked most. */
function linesOf(code: Instruction[], pcs: number[]): Map<number, Mark[]> {
  const files = new Map<number, Map<number, Mark>>();
  for (const [i, pc] of pcs.entries()) {
    const c = code.find((x) => x.pc === pc);
    if (c?.file === undefined || c.line === undefined) continue;
    const marks = files.get(c.file) ?? new Map<number, Mark>();
    const known = marks.get(c.line);
    marks.set(c.line, known ?? { line: c.line, first: i === 0, calm: i > 0, note: "" });
    files.set(c.file, marks);
  }
  return new Map([...files].map(([file, marks]) => [file, [...marks.values()]]));
}

const MOST_LINES = 6;

interface Props {
  m: Model;
  kernel: Kernel;
  pcs: number[]; // of what is selected, in order
  what: string;
}

/** The source and the instructions of what is selected, beside each level. */
export function SourcePane({ m, kernel, pcs, what }: Props) {
  const code = useCode(m, kernel);
  const first = pcs[0];
  if (!code) return <aside class="explorecode" aria-label="Source and instructions" />;
  const at = code.findIndex((c) => c.pc === first);
  const on = new Set(pcs);
  const near = at < 0 ? code.slice(0, 0) : code.slice(Math.max(0, at - AROUND), at + AROUND + 1);
  const files = linesOf(code, pcs);
  return (
    <aside class="explorecode" aria-label="Source and instructions">
      <p class="muted small">
        Source and instructions of {what}
        {pcs.length > 1 && `, ${plural(on.size, "instruction")}`}
      </p>
      {[...files].map(([file, marks]) => (
        <Excerpt key={file} m={m} file={file} marks={marks.slice(0, MOST_LINES)} context={3} />
      ))}
      {files.size === 0 && (
        <p class="hint">No line is known of it: compile the program with -lineinfo.</p>
      )}
      <div class="excerpt">
        <div class="path">Instructions</div>
        <div class="code">
          {code.length === 0 && (
            <p class="hint">The report does not hold this kernel's instructions.</p>
          )}
          {near.map((c) => (
            <div
              key={c.pc}
              class={`insn${on.has(c.pc) ? " on" : ""}`}
              title={place(m, c.file, c.line)}
            >
              <span class="number">{c.pc}</span>
              <Code text={c.text} />
            </div>
          ))}
        </div>
      </div>
    </aside>
  );
}
