import { SECTOR_BYTES } from "../data/heat";
import type { ExampleSector } from "../data/payload";
import { exact } from "../widgets/format";
import { heatColor, inkOn } from "../widgets/scale";
import { HeatLegend } from "./legend";

export function HeatCell({ t, warps, wide }: { t: number; warps: number; wide?: boolean }) {
  const color = heatColor(t, warps);
  return (
    <td
      class={`heat${t === 0 ? " none" : ""}${wide ? " wide" : ""}`}
      style={t > 0 ? { background: color, color: inkOn(color) } : {}}
    >
      {t > 0 ? t : "·"}
    </td>
  );
}

/** Example sectors of a finding: how many warps of one block touched each word and the whole sector. */
export function HeatStrip({ sectors, warps }: { sectors: ExampleSector[]; warps: number }) {
  return (
    <figure class="picture">
      <figcaption>
        <b>Example sectors</b>{" "}
        <span class="muted">distinct warps of one block that touched each word</span>
      </figcaption>
      <table class="strip">
        <thead>
          <tr>
            <th scope="col">offset</th>
            {[0, 1, 2, 3, 4, 5, 6, 7].map((w) => (
              <th key={w} scope="col">
                w{w}
              </th>
            ))}
            <th scope="col">sector</th>
          </tr>
        </thead>
        <tbody>
          {sectors.map((s) => (
            <tr key={s.offset}>
              <th scope="row">
                +{exact(s.offset)}
                <span class="muted">…{exact(s.offset + SECTOR_BYTES - 1)}</span>
              </th>
              {s.words.map((t, w) => (
                <HeatCell key={w} t={t} warps={warps} />
              ))}
              <HeatCell t={s.temperature} warps={warps} wide />
            </tr>
          ))}
        </tbody>
      </table>
      <HeatLegend warps={warps} />
    </figure>
  );
}
