import { plural } from "../widgets/format";
import { type Lanes, type Wavefront, wavefrontsOf } from "./layout";

const CELL = 13;
const LEFT = 22;
const TOP = 16;
const BANKS = 32;
const MOST_ROWS = 12;

function Row({ wave, y, number }: { wave: Wavefront; y: number; number: number }) {
  return (
    <g>
      <text class="axis" x={LEFT - 5} y={y + CELL - 3} text-anchor="end">
        {number}
      </text>
      {Array.from({ length: BANKS }, (_, bank) => {
        const lanes = wave.get(bank) ?? [];
        const x = LEFT + bank * CELL;
        return (
          <g key={bank}>
            <rect
              class={lanes.length > 0 ? "used" : "idlebank"}
              x={x + 0.5}
              y={y + 0.5}
              width={CELL - 1}
              height={CELL - 1}
            />
            {lanes.length > 0 && (
              <text class="in" x={x + CELL / 2} y={y + CELL - 4}>
                {lanes.length > 1 ? "★" : lanes[0]}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

/** One request to shared memory: banks across, a row for each pass; the number is the lane that is served. */
export function BankPicture({ title, lanes }: { title: string; lanes: Lanes }) {
  const waves = wavefrontsOf(lanes);
  const shown = waves.slice(0, MOST_ROWS);
  const more = waves.length - shown.length;
  const broadcast = shown.some((w) => [...w.values()].some((l) => l.length > 1));
  const height = TOP + shown.length * CELL + (more > 0 ? 18 : 2);
  const caption = plural(waves.length, "wavefront");
  return (
    <figure class="picture banks">
      <figcaption>
        <b>{title}</b> <span class="num">{caption}</span>
        {broadcast && <span class="muted"> ★ one word for several lanes</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${LEFT + BANKS * CELL + 2} ${height}`}
        role="img"
        aria-label={`${title}: ${caption}`}
      >
        {[0, 8, 16, 24, 31].map((bank) => (
          <text key={bank} class="axis" x={LEFT + (bank + 0.5) * CELL} y={TOP - 5}>
            {bank}
          </text>
        ))}
        {shown.map((wave, i) => (
          <Row key={i} wave={wave} y={TOP + i * CELL} number={i + 1} />
        ))}
        {more > 0 && (
          <text class="axis" x={LEFT} y={height - 4} text-anchor="start">
            and {plural(more, "more wavefront")}
          </text>
        )}
      </svg>
    </figure>
  );
}
