import type { Frequency } from "../data/payload";
import { bytes, count, exact, percent, plural } from "../widgets/format";

const HEIGHT = 16;
const LEFT = 110;
const WIDTH = 260;

const timesWords = (least: number, most: number): string =>
  most > least ? `${count(least)} to ${count(most)} times` : plural(least, "time");

/** Elements by how often they are accessed: a bar each power of two, as long as its part of all accesses. */
export function FrequencyPicture({ frequency }: { frequency: Frequency }) {
  const { histogram } = frequency;
  const all = histogram.reduce((sum, b) => sum + b.accesses, 0);
  const most = Math.max(...histogram.map((b) => b.accesses));
  const end = frequency.hot_offset + frequency.hot_bytes;
  return (
    <figure class="picture frequency">
      <figcaption>
        <b>Accesses of an element</b>{" "}
        <span class="num">
          {plural(frequency.elements, "element")}, {percent(frequency.hot_share)} of the accesses go
          to bytes {exact(frequency.hot_offset)} to {exact(end - 1)} ({bytes(frequency.hot_bytes)})
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${LEFT + WIDTH + 130} ${histogram.length * HEIGHT + 4}`}
        role="img"
        aria-label="Elements by how often they are accessed"
      >
        {histogram.map((bin, i) => {
          const y = i * HEIGHT;
          return (
            <g key={bin.least}>
              <text class="axis" x={LEFT - 6} y={y + HEIGHT - 4} text-anchor="end">
                {timesWords(bin.least, bin.most)}
              </text>
              <rect
                class="used"
                x={LEFT}
                y={y + 2}
                width={Math.max(1, (bin.accesses / most) * WIDTH)}
                height={HEIGHT - 4}
              />
              <text class="axis" x={LEFT + (bin.accesses / most) * WIDTH + 5} y={y + HEIGHT - 4}>
                {plural(bin.elements, "element")}, {percent(bin.accesses / all)}
              </text>
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
