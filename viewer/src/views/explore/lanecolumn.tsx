/** The threads of a warp at the left of the picture of an operation, and the lines that lead away from them. */
import type { Signal } from "@preact/signals";
import { isActive, LANES } from "../../data/explore/transactions";

/** What the pointer is on; lines of the rest are paler. */
export interface Focus {
  lane?: number;
  column?: number; // a transaction or a pass
  words?: string;
}

/** Where the threads lie. */
export interface Place {
  top: number;
  pitch: number;
}

const X = 30;
const WIDTH = 22;

export const laneY = (place: Place, lane: number): number => place.top + (lane + 0.5) * place.pitch;

export function lineClass(focus: Focus, lane: number, column: number): string {
  if (focus.lane === undefined && focus.column === undefined) return "";
  return focus.lane === lane || focus.column === column ? "lit" : "dim";
}

/** From a thread to a point. */
export function Link(p: { class: string; from: number; x: number; y: number }) {
  const begin = X + WIDTH + 1;
  const bend = Math.min(90, (p.x - begin) * 0.5);
  const d = `M${begin} ${p.from.toFixed(1)}C${begin + bend} ${p.from.toFixed(1)} ${(p.x - bend).toFixed(1)} ${p.y.toFixed(1)} ${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
  return <path class={p.class} d={d} />;
}

export function LaneColumn(p: {
  mask: number; // lanes that take part
  active: number; // lanes that stand at the instruction
  place: Place;
  focus: Signal<Focus>;
  words: (lane: number) => string;
}) {
  const size = Math.min(12, p.place.pitch - 2);
  return (
    <g class="lanecolumn">
      <text class="axis" x={X + WIDTH / 2} y={p.place.top - 10}>
        thread
      </text>
      {Array.from({ length: LANES }, (_, lane) => {
        const y = laneY(p.place, lane);
        const [takes, active] = [isActive(p.mask, lane), isActive(p.active, lane)];
        const words = takes
          ? p.words(lane)
          : active
            ? `For thread ${lane} the condition of the instruction is false.`
            : `Thread ${lane} is not active.`;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: what it shows stands in the text, too
          <g
            key={lane}
            class={takes ? "on" : active ? "stands" : "off"}
            onMouseEnter={() => {
              p.focus.value = { lane, words };
            }}
            onMouseLeave={() => {
              p.focus.value = {};
            }}
          >
            <title>{words}</title>
            <rect
              class="reach"
              x={0}
              y={y - p.place.pitch / 2}
              width={X + WIDTH}
              height={p.place.pitch}
            />
            <rect class="box" x={X} y={y - size / 2} width={WIDTH} height={size} rx={2} />
            <text x={X - 5} y={y + 3.5}>
              {lane}
            </text>
          </g>
        );
      })}
    </g>
  );
}
