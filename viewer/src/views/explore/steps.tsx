import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { activeLanes } from "../../data/explore/cost";
import type { Operation, WarpData } from "../../data/explore/types";
import { popcount, ranges } from "../../data/heat";
import type { Model } from "../../data/model";
import type { Code as Instruction, Kernel } from "../../data/payload";
import { exact } from "../../widgets/format";
import { ObjectName } from "../names";
import { Code, place } from "../source";

interface Props {
  m: Model;
  kernel: Kernel;
  code: Instruction[] | undefined;
  warp: WarpData;
  step: number;
  onStep: (step: number) => void;
  onOpen: () => void;
}

const ROW = 24;
const VIEW = 560;

/** What kind of operation it is, in a sign and in words. */
export function signOf(o: Operation, text: string): { sign: string; words: string } {
  if (o.barrier || /^\S*\s*(bar|barrier)\b/.test(text)) return { sign: "⊥", words: "barrier" };
  if (/cp\.async|cp\.reduce\.async/.test(text)) return { sign: "⇢", words: "asynchronous copy" };
  if (/\b(wgmma|mma|wmma|tcgen05)\b/.test(text)) return { sign: "⊞", words: "tensor operation" };
  if (o.accesses.length > 0) return { sign: "▪", words: "memory access" };
  return { sign: "", words: "computation" };
}

/** A warp's operations in a table, of which only what is in sight is in the document. */
export function Steps(p: Props) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const operations = p.warp.operations();
  const first = Math.max(0, Math.floor(top.value / ROW) - 4);
  const rows = operations.slice(first, first + Math.ceil(VIEW / ROW) + 8);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const y = p.step * ROW;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + ROW > element.scrollTop + VIEW) element.scrollTop = y + ROW - VIEW;
  }, [p.step]);
  const to = (step: number) => p.onStep(Math.max(0, Math.min(operations.length - 1, step)));
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") to(p.step + 1);
    else if (e.key === "ArrowUp") to(p.step - 1);
    else if (e.key === "PageDown") to(p.step + 20);
    else if (e.key === "PageUp") to(p.step - 20);
    else if (e.key === "Home") to(0);
    else if (e.key === "End") to(operations.length - 1);
    else if (e.key === "Enter") p.onOpen();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div
      ref={box}
      class="stepsbox"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move from operation to operation
      tabIndex={0}
      role="application"
      aria-label={`${exact(operations.length)} operations; arrows move, Enter opens the operation`}
      style={{ height: `${VIEW}px` }}
      onScroll={(e) => {
        top.value = e.currentTarget.scrollTop;
      }}
      onKeyDown={key}
    >
      <div style={{ height: `${operations.length * ROW}px`, position: "relative" }}>
        {rows.map((o, i) => (
          <StepRow key={first + i} {...p} o={o} at={first + i} />
        ))}
      </div>
    </div>
  );
}

function StepRow(p: Props & { o: Operation; at: number }) {
  const c = p.code?.find((x) => x.pc === p.o.pc);
  const { sign, words } = signOf(p.o, c?.text ?? "");
  const objects = [...new Set(p.o.accesses.map((s) => p.warp.slots[s.slot]?.object))];
  return (
    <button
      type="button"
      tabIndex={-1}
      class={`steprow${p.at === p.step ? " on" : ""}`}
      style={{ top: `${p.at * ROW}px` }}
      onClick={() => p.onStep(p.at)}
      onDblClick={p.onOpen}
    >
      <span class="number">{exact(p.at)}</span>
      <span class="sign" title={words}>
        {sign}
      </span>
      <Code text={c?.text ?? `pc ${p.o.pc}`} />
      <span class="muted">
        {objects.map((id) => (
          <ObjectName key={id} m={p.m} id={id} />
        ))}
      </span>
      <span class="muted num" title="Threads that are active">
        {popcount(p.o.mask)}
      </span>
      <span class="muted place">{place(p.m, c?.file, c?.line)}</span>
    </button>
  );
}

/** One operation: what each thread accesses. */
export function Lanes({ m, warp, step }: { m: Model; warp: WarpData; step: number }) {
  const o = warp.operations()[step];
  if (!o) return <p class="hint">The warp has no such operation.</p>;
  return (
    <div class="lanes">
      <p>
        Active threads: {ranges(o.mask)} ({popcount(o.mask)} of 32).
      </p>
      {o.accesses.map((s) => {
        const slot = warp.slots[s.slot];
        const begin = warp.begins[s.slot] ?? 0;
        return (
          <table key={s.slot} class="plain">
            <caption>
              <ObjectName m={m} id={slot?.object} /> <span class="muted">{slot?.space}</span>
            </caption>
            <thead>
              <tr>
                <th class="num">thread</th>
                <th class="num">byte of the object</th>
              </tr>
            </thead>
            <tbody>
              {activeLanes(s.mask).map((lane) => (
                <tr key={lane}>
                  <td class="num">{lane}</td>
                  <td class="num">{exact(begin + (s.offsets[lane] ?? 0))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      })}
    </div>
  );
}
