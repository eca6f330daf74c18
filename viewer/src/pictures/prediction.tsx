import { boundName, boundWords } from "../data/bound";
import type { Kernel, Prediction } from "../data/payload";
import { Figure } from "../widgets/figure";
import { percent, seconds } from "../widgets/format";

const LEAST = 0.005; // of the prediction, to be drawn

/** Of a launch, on average; undefined where none was measured. */
const measuredOf = (k: Kernel): number | undefined =>
  k.device_seconds === undefined || !k.noted ? undefined : k.device_seconds / k.noted;

/** How much of the measured time its bound explains. */
export function efficiencyWords(p: Prediction): string {
  if (p.efficiency === undefined) return "";
  return p.efficiency <= 1
    ? `efficiency: of what its bound, ${boundName(p)}, allows`
    : `of what the model has its bound, ${boundName(p)}, allow: it is faster than that`;
}

/** What bounds a kernel, before all else on its page. */
export function BoundFigures({ k }: { k: Kernel }) {
  const p = k.model;
  const measured = measuredOf(k);
  if (!p && measured === undefined) return null;
  const bound = p?.resources.find((r) => r.name === p.bound);
  return (
    <div class="figures">
      {measured !== undefined && (
        <Figure value={seconds(measured)} label="a launch, measured on the GPU" />
      )}
      {p && (
        <Figure
          value={seconds(p.seconds)}
          label="a launch, predicted"
          title={`Of launches that were measured, eight of ten lay from ${seconds(p.low)} to ${seconds(p.high)} where the prediction was this.`}
        />
      )}
      {p?.efficiency !== undefined && (
        <Figure value={percent(p.efficiency)} label={efficiencyWords(p)} />
      )}
      {p && bound && p.efficiency === undefined && (
        <Figure value={percent(bound.seconds / p.seconds)} label={`of that: ${boundName(p)}`} />
      )}
    </div>
  );
}

/** A sentence for what bounds it. */
export function boundSentence(p: Prediction): string {
  if (p.bound !== "launch") return `Bound by ${boundWords(p)}.`;
  const next = p.resources.find((r) => r.name !== "launch");
  return `It takes hardly longer than its launch${next ? `; after that, ${next.words.split(":")[0]} takes longest` : ""}. Larger data would tell more about it.`;
}

function Bars({ p }: { p: Prediction }) {
  const longest = p.resources[0]?.seconds ?? 1;
  const shown = p.resources.filter((r) => r.seconds >= LEAST * p.seconds);
  return (
    <table class="plain resources">
      <tbody>
        {shown.map((r) => (
          <tr key={r.name}>
            <td class="text">{r.words}</td>
            <td class="length">
              <span
                class={r.name === p.bound ? "bound" : ""}
                style={{ width: `${(100 * r.seconds) / longest}%` }}
              />
            </td>
            <td class="num">{seconds(r.seconds)}</td>
            <td class="num muted">{percent(r.seconds / p.seconds)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What a launch of the kernel waits for, by the model. */
export function PredictionPicture({ k }: { k: Kernel }) {
  const p = k.model;
  if (!p) return null;
  const measured = measuredOf(k);
  return (
    <>
      <h2>Where its time goes</h2>
      <p>
        {measured !== undefined && `Measured: ${seconds(measured)}. `}Predicted:{" "}
        <b>{seconds(p.seconds)}</b> a launch, bound by {boundWords(p)}. Of launches that were
        measured, eight of ten lay from {seconds(p.low)} to {seconds(p.high)} where the prediction
        was this.
      </p>
      <Bars p={p} />
      <p class="muted">
        Seconds that each would take by itself. They overlap: the prediction is the longest of them,
        and what comes on top of it whatever else runs: latency and the launch.
      </p>
    </>
  );
}
