import type { Kernel, Prediction } from "../data/payload";
import { percent, seconds } from "../widgets/format";

const LEAST = 0.005; // of the prediction, to be drawn

function measured(k: Kernel): string {
  if (k.device_seconds === undefined || !k.noted) return "";
  return `Measured: ${seconds(k.device_seconds / k.noted)}. `;
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
  const bound = p.resources.find((r) => r.name === p.bound)?.words ?? p.bound;
  return (
    <>
      <h2>Where its time goes</h2>
      <p>
        {measured(k)}Predicted: <b>{seconds(p.seconds)}</b> a launch, bound by {bound}. Of launches
        that were measured, eight of ten lay from {seconds(p.low)} to {seconds(p.high)} where the
        prediction was this.
      </p>
      <Bars p={p} />
      <p class="muted">
        Seconds that each would take by itself. They overlap: the prediction is the longest of them,
        and what comes on top of it whatever else runs: latency and the launch.
      </p>
    </>
  );
}
