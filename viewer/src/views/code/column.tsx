import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Form, Related } from "../../data/code";
import type { Code as Instruction } from "../../data/payload";
import { narrow, printing } from "../../state/theme";
import { useSize } from "../../widgets/size";
import { Code } from "../source";
import { FORM_NAMES } from "./words";

const ROW = 20; // pixels: as .insn's height in source.css
const SPARE = 20; // rows above and below those in sight
const MOST_ALONE = 200; // of one line, where nothing else is shown
const MOST_BESIDE = 6; // likewise below the source in a narrow window, of which the page alone scrolls

/** What is known of an instruction besides its text. */
export interface Notes {
  ran: string; // how often warps executed it
  moved: string; // by a request
  calm: boolean; // no more than its bytes need
  title: string;
}

interface Props {
  form: Form;
  code: Instruction[];
  related: Related;
  notesOf: (row: Instruction) => Notes;
  pick: (row: Instruction, step: boolean) => void; // step: by key
  withSource: boolean; // the source stands beside it
  children: ComponentChildren; // the heading
}

interface RowProps {
  p: Props;
  row: Instruction;
  top?: number; // absent: it stands after the one before
}

const idOf = (form: Form, row: Instruction): string => `${form}-${row.pc}`;

const address = (pc: number): string => (pc * 16).toString(16).padStart(4, "0");

function Row({ p, row, top }: RowProps) {
  const { form, related } = p;
  const sign = related.on.has(row.pc) ? " on" : related.near.has(row.pc) ? " near" : "";
  const itself = related.how === "itself" && sign === " on";
  const notes = p.notesOf(row);
  return (
    <button
      type="button"
      id={idOf(form, row)}
      role="option"
      tabIndex={-1}
      aria-selected={itself}
      class={`insn${sign}${itself ? " itself" : ""}`}
      title={notes.title}
      onClick={() => p.pick(row, false)}
      {...(top === undefined ? {} : { style: { top: `${top}px` } })}
    >
      <span class="number">{row.line ?? ""}</span>
      {form === "sass" && <span class="at">{address(row.pc)}</span>}
      <Code text={row.text} />
      {(notes.ran || notes.moved) && (
        <span class="note num">
          {notes.moved && <b class={notes.calm ? "calm" : ""}>{notes.moved}</b>}
          <span class="ran">{notes.ran}</span>
        </span>
      )}
    </button>
  );
}

/** The rows in sight of very many, and some around them. */
function Window({ p, box }: { p: Props; box: { current: HTMLDivElement | null } }) {
  const top = useSignal(0);
  const { height } = useSize(box);
  useEffect(() => {
    const pane = box.current;
    const follow = () => {
      top.value = pane?.scrollTop ?? 0;
    };
    follow();
    pane?.addEventListener("scroll", follow, { passive: true });
    return () => pane?.removeEventListener("scroll", follow);
  }, [box, top]);
  const widest = useMemo(() => Math.max(0, ...p.code.map((c) => c.text.length)), [p.code]);
  const first = Math.max(0, Math.floor(top.value / ROW) - SPARE);
  const last = Math.ceil((top.value + height.value) / ROW) + SPARE;
  return (
    <div class="rows" style={{ height: `${p.code.length * ROW}px`, minWidth: `${widest + 24}ch` }}>
      {p.code.slice(first, last).map((row, i) => (
        <Row key={row.pc} p={p} row={row} top={(first + i) * ROW} />
      ))}
    </div>
  );
}

/** Where there is no room for all of it, as on paper: what belongs to the selected line. */
function OfLine({ p }: { p: Props }) {
  const { on, near } = p.related;
  const rows = [...p.code.filter((c) => on.has(c.pc)), ...p.code.filter((c) => near.has(c.pc))];
  const brief = p.withSource && !printing.value;
  const most = brief ? MOST_BESIDE : MOST_ALONE;
  return (
    <>
      {rows.slice(0, most).map((row) => (
        <Row key={row.pc} p={p} row={row} />
      ))}
      {rows.length > most && (
        <p class="hint">
          and {rows.length - most} more{brief && ": they are shown without the source"}
        </p>
      )}
    </>
  );
}

const PAGE = 20;
const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + PAGE,
  PageUp: (at) => at - PAGE,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** Where keys start from: the first marked instruction, else the first of all. */
function markedIndex({ code, related }: Props): number {
  const on = code.findIndex((c) => related.on.has(c.pc));
  return on >= 0 ? on : code.findIndex((c) => related.near.has(c.pc));
}

function onKey(p: Props, e: KeyboardEvent): void {
  const step = STEPS[e.key];
  if (!step || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  const at = markedIndex(p);
  const next = at < 0 ? 0 : step(at, p.code.length);
  const row = p.code[Math.min(p.code.length - 1, Math.max(0, next))];
  if (row) p.pick(row, true);
}

/** Brings the first marked instruction into sight, unless one of them is. */
function showMarked(pane: HTMLDivElement, p: Props): void {
  const [from, to] = [pane.scrollTop, pane.scrollTop + pane.clientHeight - ROW];
  const inSight = (c: Instruction, i: number) =>
    p.related.on.has(c.pc) && i * ROW >= from && i * ROW <= to;
  const at = markedIndex(p);
  if (at >= 0 && !p.code.some(inSight)) pane.scrollTop = at * ROW - 3 * ROW;
}

/** One form of a kernel's code, beside its source. Keys go up and down in it. */
export function Column(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const alone = narrow.value || printing.value;
  useEffect(() => {
    if (box.current && !alone) showMarked(box.current, p);
  }, [p.code, p.related, alone]);
  const active = p.related.how === "itself" ? [...p.related.on][0] : undefined;
  return (
    <aside class={`excerpt codepane of-${p.form}`} aria-label={FORM_NAMES[p.form]}>
      {p.children}
      <div
        class="code"
        ref={box}
        role="listbox"
        tabIndex={0}
        aria-label={`${FORM_NAMES[p.form]} instructions`}
        {...(active === undefined ? {} : { "aria-activedescendant": `${p.form}-${active}` })}
        onKeyDown={(e) => onKey(p, e)}
      >
        {alone ? <OfLine p={p} /> : <Window p={p} box={box} />}
      </div>
    </aside>
  );
}
