import { useMemo } from "preact/hooks";
import { ranges } from "../../data/heat";
import {
  grouped,
  level,
  ORIGINS,
  type PhaseData,
  phasesOf,
  rangesOf,
  type WordRange,
} from "../../data/phases";
import { exact, plural } from "../../widgets/format";

const WIDTH = 720;
const HIGH = 16;

function RangeBar({ r, x }: { r: WordRange; x: (phase: number) => number }) {
  const origin = ORIGINS[r.origin]?.name ?? "somehow";
  return (
    <rect
      class={`word ${origin} l${level(r.accesses)}${r.updated ? " updated" : ""}`}
      x={x(r.from) + 1}
      y={3}
      width={Math.max(2, x(r.to + 1) - x(r.from) - 2)}
      height={HIGH}
    />
  );
}

const phaseWords = ({ from, to }: WordRange): string =>
  from === to ? exact(from + 1) : `${exact(from + 1)} – ${exact(to + 1)}`;

const MOST = 200;

/** The life of a word: its ranges along the phases; a row goes to its phase. */
export function WordLife(p: {
  d: PhaseData;
  word: number;
  phase: number;
  go: (phase: number) => void;
}) {
  const { d, word, phase, go } = p;
  const all = useMemo(() => rangesOf(d, word), [d, word]);
  const groups = useMemo(() => grouped(all), [all]);
  const accesses = useMemo(() => phasesOf(d, word), [d, word]);
  const x = (n: number) => (n / d.row.phases) * WIDTH;
  const here = accesses.find((a) => a.phase === phase);
  const click = (e: MouseEvent & { currentTarget: HTMLElement }) => {
    const box = e.currentTarget.getBoundingClientRect();
    go(Math.floor(((e.clientX - box.left) / box.width) * d.row.phases));
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowLeft") go(phase - 1);
    else if (e.key === "ArrowRight") go(phase + 1);
  };
  return (
    <section class="wordlife">
      <h3>
        Word {exact(word)}{" "}
        <span class="muted">
          bank {(d.row.first_bank + word) % 32}, byte {exact(4 * word)}:{" "}
          {plural(all.length, "range")}
        </span>
      </h3>
      <div
        class="ranges"
        role="application"
        onClick={click}
        onKeyDown={key}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application, which keys move about in
        tabIndex={0}
        aria-label="Its ranges along the phases"
      >
        <svg
          viewBox={`0 0 ${WIDTH} ${HIGH + 6}`}
          preserveAspectRatio="none"
          role="img"
          aria-label="ranges along the phases"
        >
          <rect class="lane" x={0} y={3} width={WIDTH} height={HIGH} />
          {all.map((r) => (
            <RangeBar key={r.from} r={r} x={x} />
          ))}
          <rect class="selected" x={x(phase)} y={1} width={x(1)} height={HIGH + 4} />
        </svg>
      </div>
      {here && (
        <p>
          In this phase
          {d.writers[here.run] ? `, stored by warp ${ranges(d.writers[here.run] as number)}` : ""}
          {d.readers[here.run]
            ? `, read ${plural((d.loads[here.run] as number) + (d.atomics[here.run] as number), "time")} by warp ${ranges(d.readers[here.run] as number)}`
            : ""}
          .
        </p>
      )}
      <div class="tablebox">
        <table class="plain wordranges">
          <thead>
            <tr>
              <th class="num">phases</th>
              <th class="num">ranges</th>
              <th class="text">value</th>
              <th class="text">by warp</th>
              <th class="num">accesses of each</th>
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, MOST).map((r) => (
              <tr key={r.from}>
                <td class="num">
                  <button type="button" class="link" onClick={() => go(r.from)}>
                    {phaseWords(r)}
                  </button>
                </td>
                <td class="num">{exact(r.alike)}</td>
                <td class="text">
                  <span class={`word ${ORIGINS[r.origin]?.name ?? ""} l3`} />{" "}
                  {ORIGINS[r.origin]?.words}
                  {r.updated && ", then updated"}
                  {r.others > 0 && `, after ${plural(r.others, "other range")} of this phase`}
                </td>
                <td class="text">{r.warps}</td>
                <td class="num">{exact(r.accesses)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {groups.length > MOST && <p class="muted">and {exact(groups.length - MOST)} more</p>}
    </section>
  );
}
