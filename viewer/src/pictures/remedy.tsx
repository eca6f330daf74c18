import type { Pattern } from "../data/payload";
import { Code } from "../views/source";
import { type Side, SKETCHES } from "./sketches";

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

const TALL = 4;
const FLOW = 330;

/** Who fetches from where. Thick arrows are the trips that cost; thin ones are cheap. */
function Flow({ p }: { p: Extract<Side["picture"], { to: string }> }) {
  const top = ((TALL - p.from.length) * (ROW + 4)) / 2;
  const middle = (TALL * (ROW + 4)) / 2;
  const y = (i: number) => top + i * (ROW + 4) + ROW / 2;
  const via = p.via !== undefined;
  const end = via ? 86 : 216;
  return (
    <svg viewBox={`0 0 ${FLOW} ${TALL * (ROW + 4)}`} style={{ width: `${FLOW}px` }}>
      <title>{via ? `${p.from.length} to ${p.via} to ${p.to}` : p.to}</title>
      {p.from.map((name, i) => (
        <g key={name}>
          <Box x={0} y={y(i) - ROW / 2} width={62} text={name} />
          {(via || p.arrows > 0) && (
            <path
              class={via ? "thin" : "trip"}
              d={`M62 ${y(i)}C${(62 + end) / 2} ${y(i)} ${(62 + end) / 2} ${middle} ${end} ${middle}`}
            />
          )}
        </g>
      ))}
      {via && <Box x={88} y={middle - ROW / 2} width={116} text={p.via ?? ""} />}
      {via && <path class="trip" d={`M204 ${middle}H222`} />}
      {p.arrows > 0 ? (
        <Box x={224} y={middle - ROW / 2} width={104} text={p.to} />
      ) : (
        <Box x={92} y={middle - ROW / 2} width={104} text={p.to} />
      )}
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

/** The remedy of a pattern before and after, in general: names are not those of the program. */
export function RemedySketch({ pattern }: { pattern: Pattern }) {
  const sketch = SKETCHES[pattern];
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
