/** Level 3: what one warp did, operation by operation. */
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import {
  type Loop,
  loopsAround,
  loopsOf,
  type Row,
  roundAt,
  roundEnd,
  rowsOf,
} from "../../data/explore/folds";
import { activityOf, type Insight, Insights, type Sign } from "../../data/explore/insight";
import { archOf } from "../../data/explore/transactions";
import type { WarpData } from "../../data/explore/types";
import { rowWords, shortWords } from "../../data/explore/words";
import type { Model } from "../../data/model";
import type { Kernel, Launch } from "../../data/payload";
import { exact, plural } from "../../widgets/format";
import { useCode } from "../code/usecode";
import { CostlyOperations } from "./costly";
import { LongList } from "./list";
import { PICTURE_WIDTH, RequestPicture, Threads } from "./rowpicture";

export interface LevelProps {
  m: Model;
  launch: Launch;
  warp: WarpData;
  step: number; // an operation of the warp
  arch: string;
  onStep: (step: number) => void;
}

/** The operations of the warp as that architecture serves them; undefined until the kernel's code is unpacked. */
export function useInsights({ m, launch, warp, arch }: LevelProps): Insights | undefined {
  const kernel = m.kernelById.get(launch.kernel) as Kernel;
  const code = useCode(m, kernel);
  return useMemo(
    () => code && new Insights(m, launch.kernel, warp, archOf(arch), code),
    [m, launch, warp, arch, code],
  );
}

export const SIGNS: Record<Sign, [glyph: string, word: string]> = {
  barrier: ["‖", "barrier"],
  atomic: ["⊕", "atomic"],
  async: ["⇉", "async copy"],
  bulk: ["⇶", "bulk copy"],
  tensor: ["▦", "tensor"],
};

export function SignMark({ sign }: { sign: Sign }) {
  const [glyph, word] = SIGNS[sign];
  return (
    <span class={`sign ${sign}`}>
      <span aria-hidden="true">{glyph}</span> {word}
    </span>
  );
}

function Doing({ insight, banks }: { insight: Insight; banks: number }) {
  const { accesses, sign, text } = insight;
  if (accesses.length === 0)
    return (
      <span class={`plain${sign ? " signed" : ""}`}>
        {sign && <span class="sign">{SIGNS[sign][1]}</span>}
        <span class="mono">{text || `instruction ${insight.operation.pc}`}</span>
      </span>
    );
  // Two of them share the room of one.
  const width = accesses.length > 1 ? 146 : PICTURE_WIDTH;
  return (
    <>
      {accesses.map((access, i) => (
        <span class="request" key={i}>
          <RequestPicture access={access} banks={banks} width={width} />
          <span class="short num">{shortWords(access)}</span>
        </span>
      ))}
      {sign && <span class="sign">{SIGNS[sign][1]}</span>}
      <span class="mono text">{text}</span>
    </>
  );
}

interface OperationRowProps {
  insights: Insights;
  index: number;
  depth: number;
  selected: boolean;
  onStep: (step: number) => void;
}

const rowId = (index: number) => `operation-${index}`;

function OperationRow({ insights, index, depth, selected, onStep }: OperationRowProps) {
  const insight = insights.at(index) as Insight;
  const { mask } = insight.operation;
  const words = rowWords(index, insight);
  return (
    // The list takes the keys: rows are its options.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    <div
      id={rowId(index)}
      class={`oprow${selected ? " on" : ""}`}
      role="option"
      aria-selected={selected}
      aria-label={words}
      title={words}
      onClick={() => onStep(index)}
    >
      <span class="index num">{exact(index + 1)}</span>
      <span class="lineno num">{insight.line ?? ""}</span>
      <Threads mask={mask} activity={activityOf(insights.operations, index)} />
      <span class="glyph" aria-hidden="true">
        {insight.sign && SIGNS[insight.sign][0]}
      </span>
      <span class="doing" style={{ "--depth": depth }}>
        <Doing insight={insight} banks={insights.arch.banks} />
      </span>
    </div>
  );
}

interface LoopRowProps {
  loop: Loop;
  round: number;
  depth: number;
  line: number | undefined;
  turn: (loop: Loop, round: number) => void;
}

/** Which round of a loop is shown. */
function LoopRow({ loop, round, depth, line, turn }: LoopRowProps) {
  const many = loop.rounds.length;
  const length = roundEnd(loop, round) - (loop.rounds[round] as number);
  return (
    <div class="oprow loop" role="presentation">
      <span style={{ "--depth": depth }}>
        <span aria-hidden="true">↻</span> Loop{line === undefined ? "" : ` at line ${line}`}: round{" "}
        <button
          type="button"
          aria-label="Round before"
          tabIndex={-1}
          disabled={round === 0}
          onClick={() => turn(loop, round - 1)}
        >
          ‹
        </button>
        <b class="num">{exact(round + 1)}</b> of <span class="num">{exact(many)}</span>
        <button
          type="button"
          aria-label="Next round"
          tabIndex={-1}
          disabled={round + 1 >= many}
          onClick={() => turn(loop, round + 1)}
        >
          ›
        </button>
        <span class="muted">{plural(length, "operation")}</span>
      </span>
    </div>
  );
}

function Legend({ banks }: { banks: number }) {
  return (
    <details class="oplegend" open>
      <summary>How to read this</summary>
      <ul>
        <li>
          <b>Threads</b>: one box each of the 32. Filled: the thread executes the operation. Empty:
          it does not. The larger the box, the more of the last 100 operations the thread was active
          in.
        </li>
        <li>
          <b>Global memory</b>: one box a transaction, as wide as it moves bytes (all narrower where
          they would not fit). Only what threads use is coloured. One colour: addresses that follow
          each other.
        </li>
        <li>
          <b>Shared memory</b>: one box for each of the {banks} banks, one stripe a wavefront (a
          pass of shared memory) from top to bottom. A single solid colour: one wavefront serves
          all. Many thin stripes: bank conflicts.
        </li>
        <li>
          <b>Signs</b>:{" "}
          {Object.values(SIGNS)
            .map(([glyph, word]) => `${glyph} ${word}`)
            .join(", ")}
          .
        </li>
        <li>
          <b>An empty box</b>: the operation accesses no memory. Keys: ↑ ↓ one operation, ← → to the
          one before or after that accesses memory.
        </li>
      </ul>
    </details>
  );
}

/** The nearest operation in that direction that accesses memory. */
export function nextAccess(insights: Insights, from: number, by: 1 | -1): number {
  for (let i = from + by; i >= 0 && i < insights.count; i += by)
    if ((insights.operations[i]?.accesses.length ?? 0) > 0) return i;
  return from;
}

/** Where a key leads: to a row, or to an operation. */
function target(insights: Insights, rows: Row[], at: number, step: number, key: string) {
  const operation = (from: number, by: 1 | -1): number | undefined => {
    for (let i = from; i >= 0 && i < rows.length; i += by) {
      const row = rows[i];
      if (row?.kind === "operation") return row.index;
    }
    return undefined;
  };
  const far = 15;
  switch (key) {
    case "ArrowDown":
      return operation(at + 1, 1);
    case "ArrowUp":
      return operation(at - 1, -1);
    case "PageDown":
      return operation(Math.min(rows.length - 1, at + far), -1);
    case "PageUp":
      return operation(Math.max(0, at - far), 1);
    case "Home":
      return operation(0, 1);
    case "End":
      return operation(rows.length - 1, -1);
    case "ArrowRight":
      return nextAccess(insights, step, 1);
    case "ArrowLeft":
      return nextAccess(insights, step, -1);
    default:
      return undefined;
  }
}

function Summary({ insights, warp }: { insights: Insights; warp: WarpData }) {
  const { operations } = insights;
  const accessing = operations.filter((o) => o.accesses.length > 0).length;
  const barriers = operations.filter((o) => o.barrier).length;
  return (
    <p class="opsummary">
      Warp {warp.warp} executes {plural(operations.length, "operation")};{" "}
      {plural(accessing, "of them accesses", "of them access")} memory
      {barriers > 0 && `, ${plural(barriers, "is a barrier", "are barriers")}`}.
    </p>
  );
}

/** Which round of each loop is shown: that of the selected operation, and else the one that was last selected. */
function useRounds(loops: Loop[], step: number): Map<number, number> {
  const chosen = useRef({ of: loops, rounds: new Map<number, number>() });
  if (chosen.current.of !== loops) chosen.current = { of: loops, rounds: new Map() };
  const { rounds } = chosen.current;
  for (const loop of loopsAround(loops, step)) rounds.set(loop.start, roundAt(loop, step));
  return rounds;
}

const NONE: Loop[] = [];

/** Where in the rows an operation is. */
const rowAt = (rows: Row[], loops: Loop[], step: number): number =>
  loops.length === 0 ? step : rows.findIndex((r) => r.kind === "operation" && r.index === step);

function Operations({ insights, warp, step, onStep }: LevelProps & { insights: Insights }) {
  const folded = useSignal(true);
  const every = useMemo(() => loopsOf(insights.operations), [insights]);
  const loops = folded.value ? every : NONE;
  const rounds = useRounds(every, step);
  const shown = folded.value ? [...rounds].join() : "";
  const rows = useMemo(() => rowsOf(insights.count, loops, rounds), [insights, loops, shown]);
  const at = rowAt(rows, loops, step);
  const wanted = useRef(step); // where keys have led to, which may not be drawn yet
  wanted.current = step;
  const onKey = (e: KeyboardEvent) => {
    const now = rowAt(rows, loops, wanted.current);
    const from = now < 0 ? step : wanted.current;
    const to = target(insights, rows, now < 0 ? at : now, from, e.key);
    if (to === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    e.stopPropagation();
    if (to === from) return;
    wanted.current = to;
    onStep(to);
  };
  const turn = (loop: Loop, round: number) => {
    const inside = step >= loop.start && step < loop.end;
    const offset = inside ? step - (loop.rounds[roundAt(loop, step)] as number) : 0;
    const begin = loop.rounds[round] as number;
    onStep(Math.min(begin + offset, roundEnd(loop, round) - 1));
  };
  return (
    <>
      <div class="optools">
        <Summary insights={insights} warp={warp} />
        {every.length > 0 && (
          <label>
            <input
              type="checkbox"
              checked={folded.value}
              onChange={(e) => {
                folded.value = e.currentTarget.checked;
              }}
            />{" "}
            One round of each loop
          </label>
        )}
      </div>
      <div class="ophead" aria-hidden="true">
        <span class="index">#</span>
        <span class="lineno">line</span>
        <span class="threads">threads 0 – 31</span>
        <span class="glyph" />
        <span>what the operation does</span>
      </div>
      <LongList
        count={rows.length}
        selected={at}
        label="Operations of the warp"
        active={rowId(step)}
        onKey={onKey}
        row={(i) => {
          const row = rows[i] as Row;
          return row.kind === "loop" ? (
            <LoopRow
              key={`loop-${row.loop.start}`}
              {...row}
              line={insights.at(row.loop.start)?.line}
              turn={turn}
            />
          ) : (
            <OperationRow
              key={row.index}
              insights={insights}
              index={row.index}
              depth={row.depth}
              selected={row.index === step}
              onStep={onStep}
            />
          );
        }}
      />
    </>
  );
}

export function WarpView(p: LevelProps) {
  const insights = useInsights(p);
  if (!insights) return <p class="muted">Reading the kernel's code …</p>;
  if (insights.count === 0)
    return <p class="muted">The report knows of nothing that this warp did.</p>;
  return (
    <section class="warpview" aria-label="The warp's operations">
      <Operations {...p} insights={insights} />
      <CostlyOperations insights={insights} onStep={p.onStep} />
      <Legend banks={insights.arch.banks} />
    </section>
  );
}
