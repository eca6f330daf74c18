import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type Costly, costliest } from "../../data/explore/costly";
import type { Insights } from "../../data/explore/insight";
import { bytes, exact, percent, plural } from "../../widgets/format";

const MOST = 6;
const AT_ONCE = 5000; // operations; of more it takes a moment, and waits until one asks

const costWords = (c: Costly): string =>
  c.shared
    ? `${plural(c.took, "wavefront")} instead of ${exact(c.fewest)}`
    : `${plural(c.took, "transaction")}: ${bytes(c.moved)} move, ${percent(c.used / c.moved)} of them used`;

function Rows({ insights, onStep }: { insights: Insights; onStep: (step: number) => void }) {
  const rows = useMemo(() => costliest(insights, MOST), [insights]);
  if (rows.length === 0)
    return <p class="muted">None: all bytes that move are used, and no bank conflicts.</p>;
  return (
    <table class="facts">
      <tbody>
        {rows.map((c) => (
          <tr key={`${c.first} ${c.shared}`}>
            <td class="num">{c.line === undefined ? "" : `line ${c.line}`}</td>
            <td class="text">
              <button type="button" class="link mono" onClick={() => onStep(c.first)}>
                {c.text || `operation ${exact(c.first + 1)}`}
              </button>
            </td>
            <td class="num">{plural(c.operations, "time")}</td>
            <td class="text">{costWords(c)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The instructions of the warp that waste most; each leads to the first operation of it. */
export function CostlyOperations(p: { insights: Insights; onStep: (step: number) => void }) {
  const open = useSignal(p.insights.count <= AT_ONCE);
  return (
    <details
      class="costly"
      open={open.value}
      onToggle={(e) => {
        open.value = e.currentTarget.open;
      }}
    >
      <summary>Operations that move more than is used, or have bank conflicts</summary>
      {open.value && <Rows {...p} />}
    </details>
  );
}
