import { OWNERS } from "../data/owner";
import { OWNER_COLORS } from "../widgets/heatmap/palette";
import { heatColor, heatSteps, inkOn } from "../widgets/scale";

export function HeatLegend({ warps }: { warps: number }) {
  return (
    <div class="legend" role="img" aria-label={`Colours from 1 to ${warps} warps`}>
      <span class="muted">warps that touched it</span>
      {heatSteps(warps).map((t) => {
        const color = heatColor(t, warps);
        return (
          <span key={t} class="step" style={{ background: color, color: inkOn(color) }}>
            {t}
          </span>
        );
      })}
      <span class="step none">·</span>
      <span class="muted">untouched</span>
    </div>
  );
}

/** Whether one thread, one warp or several used it; threads are told apart in shared memory only. */
export function OwnerLegend({ shared }: { shared: boolean }) {
  return (
    <div class="legend">
      <span class="muted">used by</span>
      {OWNERS.map((name, owner) => {
        const color = OWNER_COLORS[owner];
        if (!color || (owner === 1 && !shared)) return null;
        return (
          <span key={name} class="step name" style={{ background: color, color: inkOn(color) }}>
            {name}
          </span>
        );
      })}
      <span class="muted">numbers: which warp, or how many warps (w)</span>
    </div>
  );
}
