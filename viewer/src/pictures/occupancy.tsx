import { boundName } from "../data/bound";
import type { Kernel, Occupancy, OccupancyStep } from "../data/payload";
import { exact, percent, plural } from "../widgets/format";

/** What would be changed: "40 instead of 48 registers a thread". */
function changeOf(s: OccupancyStep): string {
  const both = `${exact(s.wanted)} instead of ${exact(s.now)}`;
  switch (s.of) {
    case "registers":
      return `${both} registers a thread`;
    case "shared":
      return `${both} bytes of shared memory a block`;
    case "grid":
      return `${both} blocks in the grid`;
    default:
      return `${both} threads a block`;
  }
}

/** What the next step would take, and what it gives. */
export function stepWords(o: Occupancy): string {
  const s = o.step;
  if (!s) return o.limits.length > 1 ? "No change of one of them alone would let more in." : "";
  const blocks =
    s.blocks === o.blocks ? "" : `${plural(s.blocks, "block")} instead of ${exact(o.blocks)}, `;
  return `With ${changeOf(s)}, ${blocks}${exact(s.warps)} of ${plural(o.most, "warp")} would be resident.`;
}

/** "30 of 64 warps are resident on a multiprocessor, limited by registers." */
export function occupancyWords(o: Occupancy): string {
  const limits = o.limits.map((l) => l.words).join(" and ");
  const by = limits ? `, limited by ${limits}` : ": as many as there can be";
  const idle =
    o.used < o.sms
      ? ` Only ${exact(o.used)} of ${plural(o.sms, "multiprocessor")} have a block at all.`
      : "";
  return `${exact(o.warps)} of ${exact(o.most)} warps (${percent(o.warps / o.most)}) are resident on a multiprocessor, in ${plural(o.blocks, "block")}${by}.${idle}`;
}

function Bar({ o }: { o: Occupancy }) {
  const part = (warps: number) => `${(100 * warps) / o.most}%`;
  return (
    <div class="warps" role="img" aria-label={`${o.warps} of ${o.most} warps`}>
      <span class="now" style={{ width: part(o.warps) }} title={plural(o.warps, "resident warp")} />
      {o.step && (
        <span
          class="next"
          style={{ width: part(o.step.warps - o.warps) }}
          title={`${plural(o.step.warps - o.warps, "more warp")} after the step below`}
        />
      )}
    </div>
  );
}

/** How full the multiprocessors are, and what keeps more warps out. */
export function OccupancyPicture({ k }: { k: Kernel }) {
  const o = k.occupancy;
  if (!o) return null;
  return (
    <>
      <h2>Occupancy</h2>
      <p class="occupancy">{occupancyWords(o)}</p>
      <Bar o={o} />
      <p>{stepWords(o)}</p>
      <p class="muted">
        More warps hide latency: they help a kernel that waits, not one whose memory or arithmetic
        is busy all the time.
        {k.model &&
          (k.model.bound === "latency"
            ? " This one waits: latency bounds it."
            : ` This one is bound by ${boundName(k.model)}.`)}
        {o.estimated &&
          " How many registers a thread has is an estimate from PTX; the compiler may do with fewer, or need more."}
      </p>
    </>
  );
}
