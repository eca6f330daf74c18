import type { Finding } from "../data/payload";
import { Code } from "../views/source";
import { type Side, sketchOf, type Trips } from "./sketches";

const CELL = 22;
const ROW = 20;
const WIDTH = 8 * CELL;
// Of Okabe and Ito's colours, and lighter ones of the same hues, for eight warps.
const WARP_COLORS = [
  "#56b4e9",
  "#e69f00",
  "#009e73",
  "#f0e442",
  "#cc79a7",
  "#d55e00",
  "#a6d8f5",
  "#8fd9c0",
];

function Word({ token, x, y }: { token: string; x: number; y: number }) {
  const warp = /^\d$/.test(token) ? Number(token) : undefined;
  const used = token.endsWith("!");
  const kind = token === "-" ? "idlebank" : used ? "used" : "unused";
  const label = token === "-" ? "" : token.replace("!", "");
  return (
    <g>
      <rect
        class={warp === undefined ? kind : ""}
        style={warp === undefined ? {} : { fill: WARP_COLORS[warp] }}
        x={x + 0.5}
        y={y + 0.5}
        width={CELL - 1}
        height={ROW - 2}
      />
      <text
        class={warp !== undefined ? "onwarp" : used ? "in" : "dim"}
        x={x + CELL / 2}
        y={y + ROW - 6}
      >
        {label}
      </text>
    </g>
  );
}

function Grid({ rows }: { rows: string[] }) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${rows.length * ROW}`} style={{ width: `${WIDTH}px` }}>
      <title>Words of sectors</title>
      {rows.map((row, r) =>
        row
          .split(" ")
          .map((token, w) => <Word key={`${r} ${w}`} token={token} x={w * CELL} y={r * ROW} />),
      )}
    </svg>
  );
}

function Box({ x, y, width, text }: { x: number; y: number; width: number; text: string }) {
  return (
    <g class="box">
      <rect x={x} y={y} width={width} height={ROW - 2} rx={3} />
      <text x={x + width / 2} y={y + ROW - 7}>
        {text}
      </text>
    </g>
  );
}

const TALL = 4; // boxes above each other
const STEP = ROW + 4;
const FLOW = 330;
const FROM = 62; // right edge of the boxes at the left
const MIDDLE = (TALL * STEP) / 2;

const yOf = (i: number, n: number): number => ((TALL - n) * STEP) / 2 + i * STEP + ROW / 2;

/** A line from a box at the left to where all of them meet. */
function Line({ y, end, kind }: { y: number; end: number; kind: "thin" | "trip" }) {
  const bend = (FROM + end) / 2;
  return <path class={kind} d={`M${FROM} ${y}C${bend} ${y} ${bend} ${MIDDLE} ${end} ${MIDDLE}`} />;
}

/** What lies to the right of the boxes: where they go, or what they have instead of going. */
function Target({ p }: { p: Trips }) {
  const top = MIDDLE - ROW / 2;
  const n = p.from.length;
  if ("own" in p.how) {
    return (
      <>
        {p.from.map((name, i) => (
          <Box key={name} x={FROM + 6} y={yOf(i, n) - ROW / 2} width={76} text={p.to} />
        ))}
      </>
    );
  }
  if ("exchange" in p.how) {
    return (
      <>
        {p.from.slice(1).map((name, i) => {
          const y = yOf(i, n);
          return (
            <path
              key={name}
              class="thin"
              d={`M${FROM} ${y}C90 ${y} 90 ${y + STEP} ${FROM} ${y + STEP}`}
            />
          );
        })}
        <Box x={96} y={top} width={76} text={p.to} />
      </>
    );
  }
  if ("via" in p.how) {
    return (
      <>
        <Box x={88} y={top} width={124} text={p.how.via} />
        <path class="trip" d={`M212 ${MIDDLE}H222`} />
        <Box x={224} y={top} width={104} text={p.to} />
      </>
    );
  }
  return <Box x={224} y={top} width={104} text={p.to} />;
}

/** Who fetches from where. Thick lines are the trips that cost; thin ones are cheap. */
function Flow({ p }: { p: Trips }) {
  const n = p.from.length;
  const via = "via" in p.how;
  return (
    <svg viewBox={`0 0 ${FLOW} ${TALL * STEP}`} style={{ width: `${FLOW}px` }}>
      <title>{`${p.from.join(", ")}: ${p.to}`}</title>
      {p.from.map((name, i) => (
        <g key={name}>
          <Box x={0} y={yOf(i, n) - ROW / 2} width={FROM} text={name} />
          {(via || "all" in p.how) && (
            <Line y={yOf(i, n)} end={via ? 86 : 222} kind={via ? "thin" : "trip"} />
          )}
        </g>
      ))}
      <Target p={p} />
    </svg>
  );
}

function Half({ title, side }: { title: string; side: Side }) {
  const { picture } = side;
  return (
    <div class="half">
      <h3>{title}</h3>
      {"grid" in picture ? <Grid rows={picture.grid} /> : <Flow p={picture} />}
      <p class="muted">{side.note}</p>
      <pre>
        {side.code.split("\n").map((line, i) => (
          <div key={`${i} ${line}`}>
            <Code text={line || " "} />
          </div>
        ))}
      </pre>
    </div>
  );
}

/** The remedy of a finding before and after, in general: names are not those of the program. */
export function RemedySketch({ finding }: { finding: Finding }) {
  const sketch = sketchOf(finding);
  if (!sketch) return null;
  return (
    <figure class="sketch">
      <div class="halves">
        <Half title="Before" side={sketch.before} />
        <Half title="After" side={sketch.after} />
      </div>
      <figcaption class="muted">
        Sketch, not your code. {sketch.legend[0]?.toUpperCase()}
        {sketch.legend.slice(1)}.
      </figcaption>
    </figure>
  );
}
