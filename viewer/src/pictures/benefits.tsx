import {
  BENEFITS,
  type Benefit,
  type BenefitChart,
  benefitChart,
  type Cost,
  type Step,
} from "../data/benefits";
import type { Benefits, Kernel } from "../data/payload";
import { percent, seconds } from "../widgets/format";

const LEFT = 64;
const TOP = 12;
const SIDE = 300;
const BOTTOM = TOP + SIDE;
const ROOM = 1.12; // of the axes beyond the largest cost

// Of Okabe and Ito's colours, as the instruction mix.
const COLORS: Record<Benefit, string> = {
  serialisation: "#d55e00",
  parallelism: "#0072b2",
  floating_point: "#009e73",
  memory_parallelism: "#cc79a7",
};

const WORDS: Record<Benefit, [name: string, wants: string]> = {
  serialisation: [
    "Serialisation",
    "fewer barriers, bank conflicts, special functions, atomics on one word",
  ],
  parallelism: ["Parallelism", "more warps, or more instructions of a warp that can run at once"],
  floating_point: ["Other instructions", "fewer instructions beside floating-point arithmetic"],
  memory_parallelism: ["Memory parallelism", "more loads under way at once, fewer bytes"],
};

type Place = (c: Cost) => Cost;

function Axes({ most }: { most: number }) {
  return (
    <g class="axes">
      <path d={`M${LEFT} ${TOP}V${BOTTOM}H${LEFT + SIDE}`} />
      <path class="diagonal" d={`M${LEFT} ${BOTTOM}L${LEFT + SIDE} ${TOP}`} />
      <text class="axis" x={LEFT - 6} y={TOP + 8} text-anchor="end">
        {seconds(most)}
      </text>
      <text x={LEFT + SIDE - 20} y={BOTTOM + 14}>
        {seconds(most)}
      </text>
      <text x={LEFT + SIDE / 2} y={BOTTOM + 28}>
        memory
      </text>
      <text transform={`translate(${LEFT - 40} ${TOP + SIDE / 2}) rotate(-90)`}>computation</text>
      <g transform={`translate(${LEFT + 0.7 * SIDE} ${BOTTOM - 0.7 * SIDE}) rotate(-45)`}>
        <text y={-6}>bound by computation</text>
        <text y={14}>bound by memory</text>
      </g>
    </g>
  );
}

/** Its name stands beside or above it. */
function Point(props: { at: Cost; name: string; beside?: boolean; hint: string }) {
  const { x, y } = props.at;
  return (
    <g class="point">
      <title>{props.hint}</title>
      <circle cx={x} cy={y} r={4} />
      <text class={props.beside ? "name beside" : "name"} x={x + (props.beside ? 8 : 0)} y={y - 8}>
        {props.name}
      </text>
    </g>
  );
}

function Arrow({ step, place }: { step: Step; place: Place }) {
  const from = place(step.from);
  const to = place(step.to);
  return (
    <line
      class="gain"
      style={{ stroke: COLORS[step.benefit] }}
      x1={from.x}
      y1={from.y}
      x2={to.x}
      y2={to.y}
    >
      <title>{`${WORDS[step.benefit][0]}: ${seconds(step.seconds)}`}</title>
    </line>
  );
}

function Chart({ chart }: { chart: BenefitChart }) {
  const most = chart.most * ROOM;
  const place: Place = (c) => ({ x: LEFT + (c.x / most) * SIDE, y: BOTTOM - (c.y / most) * SIDE });
  const alone = place(chart.alone);
  const shifted = place(chart.shifted);
  return (
    <svg viewBox={`0 0 ${LEFT + SIDE + 8} ${BOTTOM + 34}`} role="img" aria-label="Benefits">
      <Axes most={most} />
      <line class="overlap" x1={alone.x} y1={alone.y} x2={shifted.x} y2={shifted.y} />
      {chart.steps.map((step) => (
        <Arrow key={step.benefit} step={step} place={place} />
      ))}
      <Point
        at={alone}
        name="A"
        beside
        hint={`Memory ${seconds(chart.alone.x)}, computation ${seconds(chart.alone.y)}`}
      />
      <Point
        at={shifted}
        name="A′"
        hint={`Of memory, ${seconds(chart.shifted.x)} do not overlap with computation`}
      />
      <Point
        at={place(chart.ideal)}
        name="ideal"
        beside
        hint={`Memory ${seconds(chart.ideal.x)}, computation ${seconds(chart.ideal.y)}`}
      />
    </svg>
  );
}

function Gains({ b, total }: { b: Benefits; total: number }) {
  return (
    <table class="plain">
      <tbody>
        {BENEFITS.map((benefit) => (
          <tr key={benefit}>
            <td>
              <span class="swatch" style={{ background: COLORS[benefit] }} />
            </td>
            <td class="text">
              {WORDS[benefit][0]} <span class="muted">{WORDS[benefit][1]}</span>
            </td>
            <td class="num">{b[benefit] > 0 ? seconds(b[benefit]) : "0"}</td>
            <td class="num muted">{percent(b[benefit] / total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What a launch would gain if one thing were ideal: computation against memory. */
export function BenefitPicture({ k }: { k: Kernel }) {
  const b = k.model?.benefits;
  const chart = b && benefitChart(b);
  if (!b || !chart || !(chart.most > 0)) return null;
  const total = chart.shifted.x + chart.shifted.y;
  return (
    <>
      <h2>What could be gained</h2>
      <figure class="plot benefits">
        <Chart chart={chart} />
        <figcaption>
          <Gains b={b} total={total} />
          <p class="muted">
            At most, if that alone were ideal; shares are of {seconds(total)}, what the equations of
            Sim et al. (PPoPP 2012) give for a launch: <b>A</b> is its memory and computation,{" "}
            <b>A′</b> the same less what overlaps. They know fewer resources than the prediction
            above: what to look at first, rather than seconds to count on.
          </p>
        </figcaption>
      </figure>
    </>
  );
}
