import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ranges } from "../../data/heat";
import { type Model, sourceLine } from "../../data/model";
import type { Instruction, Phases } from "../../data/payload";
import {
  BANKS,
  BLOCK_END,
  loadPhases,
  ORIGINS,
  type PhaseData,
  runsAt,
  sumOf,
} from "../../data/phases";
import { dim, exact, plural } from "../../widgets/format";
import { Code, place } from "../source";
import { BankGrid, PhaseLegend } from "./banks";
import { WordLife } from "./word";

/** The blocks whose phases the report holds. */
export const phasesFor = (m: Model, kernel: number, object: number): Phases[] =>
  m.payload.phases.filter((p) => p.kernel === kernel && p.object === object);

const instruction = (m: Model, row: Phases, pc: number): Instruction | undefined =>
  m.payload.instructions.find(
    (i) => i.kernel === row.kernel && i.pc === pc && i.object === row.object,
  ) ?? m.payload.instructions.find((i) => i.kernel === row.kernel && i.pc === pc);

/** Of instructions that are told of together: what they do, and at which line. */
function keyOf(m: Model, row: Phases, pc: number): string {
  const i = instruction(m, row, pc);
  return i?.line === undefined ? `pc ${pc}` : `${i.op} ${i.file}:${i.line}`;
}

function Warps({ of, all }: { of: number; all: number }) {
  if (of === 0) return null;
  const every = all >= 32 ? of === -1 || of >>> 0 === 0xffffffff : of === 2 ** all - 1;
  const text = ranges(of);
  return <> by {every ? (all === 1 ? "the warp" : `all ${all} warps`) : `warp ${text}`}</>;
}

/** What happens in a phase, in words, and at which lines. */
function PhaseWords({ m, d, phase }: { m: Model; d: PhaseData; phase: number }) {
  const sum = useMemo(() => sumOf(d, phase, (pc) => keyOf(m, d.row, pc)), [d, phase]);
  const { warps } = d.row;
  const idle = sum.stored + sum.read === 0;
  return (
    <>
      <p class="phasewords">
        {idle && "Nothing is done to the array."}
        {sum.stored > 0 && (
          <>
            <span class="now stored" /> {plural(sum.stored, "word")} stored
            <Warps of={sum.writers} all={warps} />
            {sum.read > 0 ? "; " : ""}
          </>
        )}
        {sum.read > 0 && (
          <>
            <span class="now read" /> {plural(sum.read, "word")} read,{" "}
            {exact(sum.loads + sum.atomics)} times in all,
            <Warps of={sum.readers} all={warps} />
          </>
        )}
      </p>
      {!idle && (
        <div class="tablebox">
          <table class="plain phaselines">
            <tbody>
              {sum.lines.map(({ pc, words }) => {
                const i = instruction(m, d.row, pc);
                return (
                  <tr key={pc}>
                    <td class="text">{i?.op ?? "access"}</td>
                    <td class="num">{plural(words, "word")}</td>
                    <td class="text place">{place(m, i?.file, i?.line) || `pc ${pc}`}</td>
                    <td class="text">
                      <Code text={(sourceLine(m, i?.file, i?.line) ?? i?.text ?? "").trim()} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Steps({ d, phase, go }: { d: PhaseData; phase: number; go: (phase: number) => void }) {
  const last = d.row.phases - 1;
  return (
    <p class="phasesteps">
      <button
        type="button"
        disabled={phase === 0}
        onClick={() => go(phase - 1)}
        aria-label="The phase before"
      >
        ◀
      </button>
      <input
        type="range"
        min={0}
        max={last}
        value={phase}
        aria-label="Phase"
        aria-valuetext={`phase ${phase + 1} of ${last + 1}`}
        onInput={(e) => go(Number(e.currentTarget.value))}
      />
      <button
        type="button"
        disabled={phase === last}
        onClick={() => go(phase + 1)}
        aria-label="The next phase"
      >
        ▶
      </button>
      <b class="num">
        Phase {exact(phase + 1)} of {exact(last + 1)}
      </b>{" "}
      <span class="muted">
        {d.end[phase] === BLOCK_END ? "to the block's end" : `up to a barrier`}
        {d.row.left_out > 0 &&
          `; ${plural(d.row.left_out, "later phase")} found no room in the report`}
      </span>
    </p>
  );
}

/** The block's phases once they are unpacked. */
function Block({ m, row }: { m: Model; row: Phases }) {
  const data = useSignal<PhaseData | undefined>(undefined);
  const failed = useSignal("");
  const phase = useSignal(0);
  const word = useSignal<number | undefined>(undefined);
  useEffect(() => {
    let here = true;
    loadPhases(m, row).then(
      (d) => {
        if (here) data.value = d;
      },
      (e: Error) => {
        if (here) failed.value = e.message;
      },
    );
    return () => {
      here = false;
    };
  }, [row]);
  const d = data.value;
  const at = useMemo(() => d && runsAt(d, phase.value), [d, phase.value]);
  if (failed.value) return <p class="warntext">{failed.value}</p>;
  if (!d || !at) return <p class="muted">…</p>;
  const go = (to: number) => {
    phase.value = Math.min(d.row.phases - 1, Math.max(0, to));
  };
  const pick = (to: number) => {
    word.value = Math.min(d.row.words - 1, Math.max(0, to));
  };
  return (
    <>
      <Steps d={d} phase={phase.value} go={go} />
      <PhaseWords m={m} d={d} phase={phase.value} />
      <BankGrid d={d} at={at} phase={phase.value} word={word.value} pick={pick} go={go} />
      <PhaseLegend origins={new Set([...at].map((run) => (run < 0 ? -1 : (d.origin[run] ?? 0))))} />
      {word.value === undefined ? (
        <p class="muted">
          Click a word for its life. Keys on the picture: arrows select a word, page up and page
          down change the phase.
        </p>
      ) : (
        <WordLife d={d} word={word.value} phase={phase.value} go={go} />
      )}
    </>
  );
}

/** A shared array as banks and rows, at each of a block's phases: who stores and reads which word, and how the value in
 * it fares. */
export function PhaseView({ m, of }: { m: Model; of: Phases[] }) {
  const at = useSignal(0);
  const row = of[Math.min(at.value, of.length - 1)];
  if (!row) return null;
  return (
    <section class="phases">
      <h3>A block's time, from barrier to barrier</h3>
      <p class="picker">
        {of.length > 1 ? (
          <label>
            Block{" "}
            <select
              value={at.value}
              onChange={(e) => {
                at.value = Number(e.currentTarget.value);
              }}
            >
              {of.map((p, i) => (
                <option key={p.block.join()} value={i}>
                  {dim(p.block)}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <span>Block {dim(row.block)}</span>
        )}
        <span class="muted">
          {" "}
          of launch {row.launch}: {plural(row.words, "word")} in {Math.min(row.words, BANKS)} banks,{" "}
          {plural(row.warps, "warp")}
        </span>
      </p>
      <Block key={row.part} m={m} row={row} />
    </section>
  );
}

export const originWords = (origin: number): string => ORIGINS[origin]?.words ?? "";
