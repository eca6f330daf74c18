import { boundName } from "../data/bound";
import type { Kernel, Prediction, Resource } from "../data/payload";
import {
  onLog,
  type RooflineChart,
  type RooflinePoint,
  rooflineChart,
  roofOf,
  ticks,
} from "../data/roofline";
import { bytes, intensity, percent, rate, seconds } from "../widgets/format";

const LEFT = 58;
const TOP = 18;
const WIDTH = 440;
const HEIGHT = 270;
const BOTTOM = TOP + HEIGHT;
const CLOSE = 0.9; // reachable parts from here on are told as all

// Of Okabe and Ito's colours, and a shape for those who see none.
const MARKS: Partial<Record<Resource, { color: string; shape: string }>> = {
  shared: { color: "#cc79a7", shape: "M0 -6L6 0L0 6L-6 0Z" },
  l1: { color: "#d55e00", shape: "M0 -6L6 5H-6Z" },
  l2: { color: "#0072b2", shape: "M-5 -5H5V5H-5Z" },
  dram: { color: "#009e73", shape: "M0 -5.5A5.5 5.5 0 1 1 0 5.5A5.5 5.5 0 1 1 0 -5.5Z" },
};
const markOf = (name: Resource) => MARKS[name] ?? { color: "#888888", shape: "M-5 -5H5V5H-5Z" };

interface Scale {
  x: (intensity: number) => number;
  y: (operations: number) => number;
}

const scaleOf = (c: RooflineChart): Scale => ({
  x: (v) => LEFT + onLog(v, c.x) * WIDTH,
  y: (v) => BOTTOM - onLog(v, c.y) * HEIGHT,
});

/** "0.01", "10": a power of ten, as short as can be. */
const power = (v: number): string => (v >= 1 ? rate(v).trim() : String(Number(v.toPrecision(1))));

function Axes({ c, s }: { c: RooflineChart; s: Scale }) {
  return (
    <g class="axes">
      {ticks(c.x).map((v) => (
        <g key={v}>
          <path class="grid" d={`M${s.x(v)} ${TOP}V${BOTTOM}`} />
          <text x={s.x(v)} y={BOTTOM + 14}>
            {power(v)}
          </text>
        </g>
      ))}
      {ticks(c.y).map((v) => (
        <g key={v}>
          <path class="grid" d={`M${LEFT} ${s.y(v)}H${LEFT + WIDTH}`} />
          <text class="axis" x={LEFT - 6} y={s.y(v) + 4}>
            {power(v)}
          </text>
        </g>
      ))}
      <path d={`M${LEFT} ${TOP}V${BOTTOM}H${LEFT + WIDTH}`} />
      <text x={LEFT + WIDTH / 2} y={BOTTOM + 30}>
        operations a byte
      </text>
      <text transform={`translate(12 ${TOP + HEIGHT / 2}) rotate(-90)`}>operations a second</text>
    </g>
  );
}

function Roof({ c, s, point }: { c: RooflineChart; s: Scale; point: RooflinePoint }) {
  const [from, to] = roofOf(c, point.level);
  return (
    <line
      class={`roof ${point.level.name}`}
      style={{ stroke: markOf(point.level.name).color }}
      x1={s.x(from.x)}
      y1={s.y(from.y)}
      x2={s.x(to.x)}
      y2={s.y(to.y)}
    >
      <title>{`${point.level.words}: at most ${rate(point.level.ceiling)}B/s, measured of the device`}</title>
    </line>
  );
}

/** From where a memory roof meets it on, to the right. */
function Ceilings({ c, s }: { c: RooflineChart; s: Scale }) {
  const widest = Math.max(...c.points.map((q) => q.level.ceiling));
  return (
    <>
      {c.compute.map((a) => (
        <g class="ceiling" key={a.name}>
          <path
            d={`M${s.x(Math.max(c.x[0], a.ceiling / widest))} ${s.y(a.ceiling)}H${LEFT + WIDTH}`}
          >
            <title>{`${a.words} arithmetic: at most ${rate(a.ceiling)} operations a second, measured of the device`}</title>
          </path>
          <text x={LEFT + WIDTH - 2} y={s.y(a.ceiling) - 5}>
            {a.words}
          </text>
        </g>
      ))}
    </>
  );
}

const highest = (c: RooflineChart): number => Math.max(...c.compute.map((a) => a.ceiling));

const APART = 10; // marks that are closer hide each other, unless what is below is larger

const sizeOf = (c: RooflineChart, s: Scale, point: RooflinePoint): number =>
  1 +
  0.6 *
    c.points
      .slice(c.points.indexOf(point) + 1)
      .filter((q) => Math.abs(s.x(q.intensity) - s.x(point.intensity)) < APART).length;

/** What a launch does at one level: as measured or else predicted, below what the level allows. */
function Mark({ c, s, point }: { c: RooflineChart; s: Scale; point: RooflinePoint }) {
  const { color, shape } = markOf(point.level.name);
  const done = c.measured ?? c.predicted;
  const x = s.x(point.intensity);
  const apart = point.reachable < CLOSE * point.allowed;
  const size = ` scale(${sizeOf(c, s, point)})`;
  return (
    <g class="level" style={{ color }}>
      <line
        class="drop"
        x1={x}
        x2={x}
        y1={s.y(Math.min(point.allowed, highest(c)))}
        y2={s.y(done)}
      />
      {apart && (
        <path class="reachable" d={`M${x - 8} ${s.y(point.reachable)}h16`}>
          <title>{`${point.level.words}: of accesses like these, ${rate(point.reachable)} operations a second`}</title>
        </path>
      )}
      {c.measured !== undefined && (
        <path class="predicted" d={shape} transform={`translate(${x} ${s.y(c.predicted)})${size}`}>
          <title>{`Predicted: ${rate(c.predicted)} operations a second`}</title>
        </path>
      )}
      <path class="done" d={shape} transform={`translate(${x} ${s.y(done)})${size}`}>
        <title>
          {`${point.level.words}: ${intensity(point.intensity)} operations a byte, ${rate(done)} operations a second ${c.measured === undefined ? "predicted" : "measured"}`}
        </title>
      </path>
    </g>
  );
}

function Chart({ c }: { c: RooflineChart }) {
  const s = scaleOf(c);
  return (
    <svg viewBox={`0 0 ${LEFT + WIDTH + 10} ${BOTTOM + 36}`} role="img" aria-label="Roofline">
      <Axes c={c} s={s} />
      {[...c.points].reverse().map((point) => (
        <Roof key={point.level.name} c={c} s={s} point={point} />
      ))}
      <Ceilings c={c} s={s} />
      {c.points.map((point) => (
        <Mark key={point.level.name} c={c} s={s} point={point} />
      ))}
    </svg>
  );
}

function Levels({ c }: { c: RooflineChart }) {
  const done = c.measured ?? c.predicted;
  return (
    <table class="plain">
      <thead>
        <tr>
          <th />
          <th class="text">level</th>
          <th class="num">moves</th>
          <th class="num" title="operations a byte">
            op/B
          </th>
          <th
            class="num"
            title="operations a second, at the bandwidth that was measured of the device"
          >
            allows
          </th>
          <th class="num" title="what the launch does, as a part of what the level allows">
            reached
          </th>
        </tr>
      </thead>
      <tbody>
        {c.points.map((q) => (
          <tr key={q.level.name} class={q === c.tightest ? "on" : ""}>
            <td>
              <svg class="key" viewBox="-7 -7 14 14" aria-hidden="true">
                <path d={markOf(q.level.name).shape} fill={markOf(q.level.name).color} />
              </svg>
            </td>
            <td class="text">{q.level.words}</td>
            <td class="num">{bytes(q.level.bytes)}</td>
            <td class="num">{intensity(q.intensity)}</td>
            <td class="num">{rate(q.allowed)}</td>
            <td class="num">{percent(done / q.allowed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const AT: Partial<Record<Resource, string>> = {
  shared: "In shared memory",
  l1: "In L1 requests",
  l2: "At L2",
  dram: "In device memory",
};

/** What limits the launch, in plain words. */
export function rooflineWords(c: RooflineChart): string {
  const { tightest: q } = c;
  const done = c.measured ?? c.predicted;
  const how = c.measured === undefined ? "As predicted" : "As measured";
  const compute = c.computeAllowed < q.allowed;
  const most = compute ? c.computeAllowed : q.allowed;
  const does = `${AT[q.level.name]} this kernel does ${intensity(q.intensity)} ${c.words} operations a byte`;
  const allows = compute
    ? `that is no limit: its arithmetic is, of which the device does at most ${rate(most)} operations a second`
    : `${q.level.words} ${q.level.name === "l1" ? "allow" : "allows"} at most ${rate(most)} operations a second at that`;
  const own =
    !compute && q.reachable < CLOSE * q.allowed
      ? ` (${rate(q.reachable)} of accesses and a grid like its own)`
      : "";
  return `${does}; ${allows}${own}. ${how}, it does ${rate(done)}: ${percent(done / most)}.`;
}

/** Where what bounds the launch is in no roof. */
export function missingWords(p: Prediction): string {
  const { arithmetic, levels } = p.roofline;
  if ([...arithmetic, ...levels].some((row) => row.name === p.bound)) return "";
  return ` What bounds it, ${boundName(p)}, is none of these limits.`;
}

function Reading({ k, c }: { k: Kernel; c: RooflineChart }) {
  const dram = c.points.some((q) => q.level.name === "dram");
  return (
    <p class="muted">
      All marks are one launch{k.model && ` of ${seconds(k.model.measured ?? k.model.seconds)}`},
      whose bytes differ from level to level. A mark at the line of its colour would use all that
      this level can move: the dots are what is left.
      {c.points.some((q) => q.reachable < CLOSE * q.allowed) &&
        " A short bar is what the level moves of accesses like these."}
      {c.measured !== undefined && " Filled: measured; hollow: predicted."}
      {!dram && " The model counts no traffic to device memory: what is touched stays in L2."}
      {c.integer && " It has no floating point: operations are those of integers."} A multiply-add
      counts as one operation. Atomics in global memory are not among the bytes.
    </p>
  );
}

/** Operations against bytes at each level of memory, with what the device was measured to do. */
export function RooflinePicture({ k }: { k: Kernel }) {
  const p = k.model;
  const c = p && rooflineChart(p);
  if (!c) return null;
  return (
    <>
      <h2>How close it is to the device's limits</h2>
      <p>
        {rooflineWords(c)}
        {missingWords(p)}
      </p>
      <figure class="plot roofline">
        <Chart c={c} />
        <figcaption>
          <Levels c={c} />
          <Reading k={k} c={c} />
        </figcaption>
      </figure>
    </>
  );
}
