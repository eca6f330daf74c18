import { bytes, percent, plural } from "../widgets/format";
import { type Lanes, type SectorUse, sectorsOf } from "./layout";

const WIDTH = 960;
const LANE_Y = 2;
const LANE_H = 15;
const SECTOR_Y = 64;
const SECTOR_H = 24;
const HEIGHT = 106;
const LANES = 32;
const SECTOR_BYTES = 32;
const MIN_LABEL = 58;

/** Where sectors lie in the picture; "now" and "ideal" share one, so that their widths compare. */
export interface Scale {
  width: number; // of a sector
  gap: number;
}

export function scaleFor(sectors: number): Scale {
  const n = Math.max(4, sectors);
  const gap = n > 40 ? 2 : n > 12 ? 4 : 8;
  return { width: (WIDTH - gap * (n - 1)) / n, gap };
}

const sectorX = (scale: Scale, index: number) => index * (scale.width + scale.gap);
const laneX = (lane: number) => (lane + 0.5) * (WIDTH / LANES);

function Links({ use, scale }: { use: SectorUse[]; scale: Scale }) {
  const paths = use.flatMap((u, index) =>
    u.pieces.map((p) => {
      const x = laneX(p.lane);
      const to = sectorX(scale, index) + ((p.from + p.to) / 2 / SECTOR_BYTES) * scale.width;
      const from = LANE_Y + LANE_H + 1;
      const bend = (SECTOR_Y - from) * 0.5;
      const d = `M${x} ${from}C${x} ${from + bend} ${to} ${SECTOR_Y - bend} ${to} ${SECTOR_Y - 1}`;
      return <path key={`${p.lane}-${u.sector}`} d={d} />;
    }),
  );
  return <g class="links">{paths}</g>;
}

function LaneRow({ active }: { active: number }) {
  const boxes = Array.from({ length: LANES }, (_, lane) => (
    <g key={lane} class={lane < active ? "lane" : "lane idle"}>
      <rect x={laneX(lane) - 12} y={LANE_Y} width={24} height={LANE_H} rx={3} />
      <text x={laneX(lane)} y={LANE_Y + 11}>
        {lane}
      </text>
    </g>
  ));
  return <g>{boxes}</g>;
}

function SectorBox({ use, x, scale }: { use: SectorUse; x: number; scale: Scale }) {
  const byte = scale.width / SECTOR_BYTES;
  return (
    <g>
      <rect class="unused" x={x} y={SECTOR_Y} width={scale.width} height={SECTOR_H} />
      {use.pieces.map((p) => (
        <rect
          key={p.lane}
          class="used"
          x={x + p.from * byte}
          y={SECTOR_Y}
          width={Math.max(1.2, (p.to - p.from) * byte - (byte > 1 ? 0.6 : 0))}
          height={SECTOR_H}
        />
      ))}
      <rect class="edge" x={x} y={SECTOR_Y} width={scale.width} height={SECTOR_H} />
    </g>
  );
}

function Labels({ use, scale }: { use: SectorUse[]; scale: Scale }) {
  const first = use[0]?.sector ?? 0;
  const every = Math.max(1, Math.ceil(MIN_LABEL / (scale.width + scale.gap)));
  return (
    <g class="labels">
      {use.map((u, i) =>
        i % every === 0 ? (
          <text key={u.sector} x={sectorX(scale, i)} y={SECTOR_Y + SECTOR_H + 13}>
            {i === 0 ? "first" : `+${bytes((u.sector - first) * SECTOR_BYTES)}`}
          </text>
        ) : null,
      )}
    </g>
  );
}

/** One request: the lanes of a warp above, the sectors that they make memory move below. */
export function SectorPicture(props: { title: string; lanes: Lanes; scale: Scale }) {
  const use = sectorsOf(props.lanes);
  const moved = use.length * SECTOR_BYTES;
  const used = use.reduce((sum, u) => sum + u.used, 0);
  const caption = `${plural(use.length, "sector")}: ${bytes(moved)} moved, ${bytes(used)} used (${percent(used / moved)})`;
  return (
    <figure class="picture">
      <figcaption>
        <b>{props.title}</b> <span class="num">{caption}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${props.title}: ${caption}`}>
        <Links use={use} scale={props.scale} />
        <LaneRow active={props.lanes.address.length} />
        {use.map((u, i) => (
          <SectorBox key={u.sector} use={u} x={sectorX(props.scale, i)} scale={props.scale} />
        ))}
        <Labels use={use} scale={props.scale} />
      </svg>
    </figure>
  );
}
