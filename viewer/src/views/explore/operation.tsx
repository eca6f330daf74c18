/** Level 4: what one operation of a warp did, thread by thread. */
import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Arch } from "../../data/explore/archs";
import type { Access, Insight, Insights, Sign } from "../../data/explore/insight";
import { lanesOf } from "../../data/explore/transactions";
import { accessWords, countOf, elsewhereWords, insightWords } from "../../data/explore/words";
import { bytes, exact, percent } from "../../widgets/format";
import { useSize } from "../../widgets/size";
import { Code } from "../source";
import { GlobalPicture } from "./globalpicture";
import { type Focus, LaneColumn } from "./lanecolumn";
import { SharedPicture } from "./sharedpicture";
import { type LevelProps, nextAccess, SignMark, useInsights } from "./warp";

const LEAST = 560; // pixels; narrower ones scroll

function Elsewhere({ insights, access }: { insights: Insights; access: Access }) {
  const rows = insights.everywhere(access);
  const shared = access.asked.space === "shared";
  const most = Math.max(...rows.map((r) => countOf(access.asked, r.served)));
  return (
    <details class="elsewhere">
      <summary>The same addresses on other GPUs</summary>
      <table class="facts">
        <thead>
          <tr>
            <th class="text">Compute capability</th>
            <th colSpan={2}>{shared ? "wavefronts" : "transactions"}</th>
            {!shared && <th>moved</th>}
            {!shared && <th>used</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ arch, served }) => {
            const n = countOf(access.asked, served);
            return (
              <tr key={arch.id} class={arch.id === insights.arch.id ? "on" : ""} title={arch.note}>
                <th scope="row" class="text">
                  {arch.name}
                </th>
                <td class="num">{exact(n)}</td>
                <td>
                  <span class="bar" style={{ width: `${(90 * n) / most}px` }} />
                </td>
                {!shared && <td class="num">{bytes(served.moved)}</td>}
                {!shared && <td class="num">{percent(served.used / served.moved)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}

const LEGENDS = {
  global:
    "A box is a transaction: its height is what moves, its place from top to bottom the address, and the coloured part what threads take. Where addresses jump there is a gap, and another colour.",
  shared:
    "A row is a bank, a column a wavefront: one pass of shared memory. The number in a box is the thread that the bank serves then; ★: one word for several threads, which costs nothing more.",
};

interface RequestProps {
  access: Access;
  active: number; // lanes
  sign: Sign | undefined;
  arch: Arch;
  insights: Insights;
}

function Request({ access, active, sign, arch, insights }: RequestProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(LEAST, useSize(box).width.value);
  const focus: Signal<Focus> = useSignal<Focus>({});
  const shared = access.asked.space === "shared";
  return (
    <section class="oprequest">
      <p>
        {access.name && <b>{access.name}: </b>}
        {accessWords(access)} {elsewhereWords(arch, access.asked, sign)}
      </p>
      <p class="readout" aria-live="polite">
        {focus.value.words ?? "Point at a thread or a box to see what belongs together."}
      </p>
      <div class="wide" ref={box}>
        {shared ? (
          <SharedPicture access={access} active={active} arch={arch} width={width} focus={focus} />
        ) : (
          <GlobalPicture access={access} active={active} width={width} focus={focus} />
        )}
      </div>
      <p class="caption">{shared ? LEGENDS.shared : LEGENDS.global}</p>
      {sign !== "bulk" && <Elsewhere insights={insights} access={access} />}
    </section>
  );
}

/** An operation without a request: its threads alone. */
function ThreadsAlone({ insight }: { insight: Insight }) {
  const focus = useSignal<Focus>({});
  return (
    <svg class="oppicture" width={80} height={474} role="img" aria-label="Threads">
      <LaneColumn
        mask={insight.operation.mask}
        active={insight.operation.mask}
        place={{ top: 22, pitch: 14 }}
        focus={focus}
        words={(lane) => `Thread ${lane} executes the operation.`}
      />
    </svg>
  );
}

function Head({
  insights,
  insight,
  step,
  onStep,
}: LevelProps & { insights: Insights; insight: Insight }) {
  const before = nextAccess(insights, step, -1);
  const after = nextAccess(insights, step, 1);
  return (
    <div class="ophead4">
      <h2>
        Operation {exact(step + 1)} of {exact(insights.count)}
        {insight.sign && <SignMark sign={insight.sign} />}
      </h2>
      <span class="opmove">
        <button type="button" disabled={step === 0} onClick={() => onStep(step - 1)}>
          ↑ before
        </button>
        <button
          type="button"
          disabled={step + 1 >= insights.count}
          onClick={() => onStep(step + 1)}
        >
          ↓ next
        </button>
        <button type="button" disabled={before === step} onClick={() => onStep(before)}>
          ← memory access
        </button>
        <button type="button" disabled={after === step} onClick={() => onStep(after)}>
          memory access →
        </button>
      </span>
      {insight.text && (
        <code class="optext">
          <Code text={insight.text} />
        </code>
      )}
    </div>
  );
}

/** Steps by the arrow keys, wherever in the view the focus is. */
function stepOf(insights: Insights, step: number, key: string): number | undefined {
  if (key === "ArrowDown") return Math.min(insights.count - 1, step + 1);
  if (key === "ArrowUp") return Math.max(0, step - 1);
  if (key === "ArrowRight") return nextAccess(insights, step, 1);
  return key === "ArrowLeft" ? nextAccess(insights, step, -1) : undefined;
}

export function OperationView(p: LevelProps) {
  const insights = useInsights(p);
  const wanted = useRef(p.step); // where keys have led to, which may not be drawn yet
  wanted.current = p.step;
  if (!insights) return <p class="muted">Reading the kernel's code …</p>;
  const insight = insights.at(p.step);
  if (!insight) return <p class="muted">This warp has no operation {exact(p.step + 1)}.</p>;
  const onKey = (e: KeyboardEvent) => {
    const to = stepOf(insights, wanted.current, e.key);
    if (to === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    e.stopPropagation();
    if (to === wanted.current) return;
    wanted.current = to;
    p.onStep(to);
  };
  const active = lanesOf(insight.operation.mask).length;
  return (
    <section
      class="operationview"
      aria-label={`Operation ${p.step + 1}, ${active} threads active`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys step through the operations
      tabIndex={0}
      onKeyDown={onKey}
    >
      <Head {...p} insights={insights} insight={insight} />
      {insightWords(insight).map((words) => (
        <p key={words}>{words}</p>
      ))}
      {insight.accesses.map((access, i) => (
        <Request
          key={i}
          access={access}
          active={insight.operation.mask}
          sign={insight.sign}
          arch={insights.arch}
          insights={insights}
        />
      ))}
      {insight.accesses.length === 0 && <ThreadsAlone insight={insight} />}
      <p class="caption">
        Computed for <b>{insights.arch.name}</b>. {insights.arch.note}
      </p>
    </section>
  );
}
