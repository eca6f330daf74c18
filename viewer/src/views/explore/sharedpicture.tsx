/** One request to shared memory: threads at the left, joined to the banks that serve them; a column a pass. */
import type { Signal } from "@preact/signals";
import type { Arch } from "../../data/explore/archs";
import type { Access } from "../../data/explore/insight";
import { lanesOf, type Pass } from "../../data/explore/transactions";
import { threadList, threadWords } from "../../data/explore/words";
import { exact } from "../../widgets/format";
import { type Focus, LaneColumn, Link, laneY, lineClass, type Place } from "./lanecolumn";
import { HUES } from "./rowpicture";

const LEFT = 214;
const RIGHT = 16;
const TOP = 36;
const HEIGHT = 448;
const MOST = 64;
const GAP = 12; // between groups of threads that are served apart

interface Column {
  pass: Pass;
  number: number;
  x: number;
  width: number;
}

const startsGroup = (passes: Pass[], i: number) =>
  i > 0 && passes[i - 1]?.group !== passes[i]?.group;

function columnsOf(passes: Pass[], width: number): Column[] {
  const groups = passes.filter((_, i) => startsGroup(passes, i)).length;
  const pitch = Math.min(40, (width - LEFT - RIGHT - groups * GAP) / passes.length);
  let x = LEFT;
  return passes.map((pass, number) => {
    x += startsGroup(passes, number) ? GAP : 0;
    const column = { pass, number, x, width: Math.max(3, pitch - (pitch > 14 ? 4 : 1)) };
    x += pitch;
    return column;
  });
}

/** What a bank gives in a pass. */
function unitWords(arch: Arch, unit: number): string {
  if (arch.serving === "pairs") return `bytes ${exact(unit * 8)} to ${exact(unit * 8 + 7)}`;
  if (arch.serving === "apart") {
    const word = Math.floor(unit / 32) * 64 + (unit % 32);
    return `the words at bytes ${exact(word * 4)} and ${exact((word + 32) * 4)}`;
  }
  return `bytes ${exact(unit * 4)} to ${exact(unit * 4 + 3)}`;
}

function bankWords(arch: Arch, column: Column, bank: number): string {
  const lanes = column.pass.banks[bank] ?? 0;
  const unit = column.pass.units[bank] ?? 0;
  const many = lanesOf(lanes).length > 1 ? ", a broadcast" : "";
  return `Wavefront ${column.number + 1}, bank ${bank}: ${unitWords(arch, unit)} of shared memory, for ${threadWords(lanes)}${many}.`;
}

export function sharedLaneWords(access: Access, lane: number): string {
  const { asked, served } = access;
  const first = asked.addresses[lane] ?? 0;
  const passes = served.passes.flatMap((p, i) => ((p.lanes >>> lane) & 1 ? [i + 1] : []));
  return `Thread ${lane} takes bytes ${exact(first)} to ${exact(first + asked.bytes - 1)} of shared memory, in wavefront ${passes.join(", ")}.`;
}

interface BoxProps {
  column: Column;
  bank: number;
  pitch: number;
  arch: Arch;
  focus: Signal<Focus>;
}

function BankBox({ column, bank, pitch, arch, focus }: BoxProps) {
  const lanes = column.pass.banks[bank] ?? 0;
  const y = TOP + bank * pitch + 1;
  const { x, width } = column;
  if (lanes === 0) return <rect class="idle" x={x} y={y} width={width} height={pitch - 2} />;
  const words = bankWords(arch, column, bank);
  const served = lanesOf(lanes);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what it shows stands in the text, too
    <g
      onMouseEnter={() => {
        focus.value = { column: column.number, words };
      }}
      onMouseLeave={() => {
        focus.value = {};
      }}
    >
      <title>{words}</title>
      <rect class={`hue${column.number % HUES}`} x={x} y={y} width={width} height={pitch - 2} />
      {width >= 12 && (
        <text class="in" x={x + width / 2} y={y + pitch / 2 + 2.5}>
          {served.length > 1 ? "★" : served[0]}
        </text>
      )}
    </g>
  );
}

interface PictureProps {
  access: Access;
  active: number;
  arch: Arch;
  width: number;
  focus: Signal<Focus>;
}

const MOST_LINKS = 400; // more, as of bulk copies, show nothing: then those of what one points at

interface LinksProps {
  columns: Column[];
  pitch: number;
  focus: Focus;
  place: Place;
}

function Links({ columns, pitch, focus, place }: LinksProps) {
  const links = columns.flatMap(({ pass, number, x }) =>
    pass.banks.flatMap((lanes, bank) => lanesOf(lanes).map((lane) => ({ number, x, bank, lane }))),
  );
  const shown = links.length <= MOST_LINKS ? links : links.filter((l) => l.number === focus.column);
  return (
    <g class="oplinks">
      {shown.map(({ number, x, bank, lane }) => (
        <Link
          key={`${number}-${bank}-${lane}`}
          class={`line${number % HUES} ${lineClass(focus, lane, number)}`}
          from={laneY(place, lane)}
          x={x}
          y={TOP + (bank + 0.5) * pitch}
        />
      ))}
    </g>
  );
}

/** Names of passes, and of the groups of threads that are served apart from each other. */
function Heads({ columns }: { columns: Column[] }) {
  const every = Math.ceil(16 / Math.max(1, (columns[1]?.x ?? LEFT + 16) - LEFT));
  const groups = new Set(columns.map((c) => c.pass.group)).size > 1;
  const passes = columns.map((c) => c.pass);
  const first = (c: Column) => c.number === 0 || startsGroup(passes, c.number);
  const groupLanes = (c: Column) =>
    passes.filter((p) => p.group === c.pass.group).reduce((lanes, p) => (lanes | p.lanes) >>> 0, 0);
  return (
    <>
      {columns
        .filter((c) => c.number % every === 0)
        .map((c) => (
          <text key={c.number} class="axis" x={c.x + c.width / 2} y={TOP - 5}>
            {c.pass.lanes === 0 ? "lost" : c.number + 1}
          </text>
        ))}
      <text class="axis" x={LEFT - 6} y={TOP - 19} text-anchor="end">
        {groups ? "threads" : "wavefront"}
      </text>
      {groups &&
        columns.filter(first).map((c) => (
          <text key={c.number} class="axis" x={c.x} y={TOP - 19} text-anchor="start">
            {threadList(groupLanes(c))}
          </text>
        ))}
      {!groups && (
        <text class="axis" x={LEFT} y={TOP - 19} text-anchor="start">
          one after the other
        </text>
      )}
    </>
  );
}

export function SharedPicture({ access, active, arch, width, focus }: PictureProps) {
  const columns = columnsOf(access.served.passes.slice(0, MOST), width);
  const { banks } = arch;
  const pitch = HEIGHT / banks;
  const place = { top: TOP, pitch: HEIGHT / 32 };
  const more = access.served.passes.length - columns.length;
  return (
    <svg
      class="oppicture"
      width={width}
      height={TOP + HEIGHT + (more > 0 ? 22 : 6)}
      role="img"
      aria-label="Threads and banks"
    >
      <Links columns={columns} pitch={pitch} focus={focus.value} place={place} />
      <LaneColumn
        mask={access.asked.mask}
        active={active}
        place={place}
        focus={focus}
        words={(lane) => sharedLaneWords(access, lane)}
      />
      <text class="axis" x={LEFT - 6} y={TOP - 5} text-anchor="end">
        bank
      </text>
      {Array.from({ length: banks }, (_, bank) => (
        <text
          key={bank}
          class="axis"
          x={LEFT - 6}
          y={TOP + (bank + 0.5) * pitch + 3.5}
          text-anchor="end"
        >
          {bank}
        </text>
      ))}
      {columns.flatMap((column) =>
        Array.from({ length: banks }, (_, bank) => (
          <BankBox
            key={`${column.number}-${bank}`}
            column={column}
            bank={bank}
            pitch={pitch}
            arch={arch}
            focus={focus}
          />
        )),
      )}
      <Heads columns={columns} />
      {more > 0 && (
        <text class="axis" x={LEFT} y={TOP + HEIGHT + 14} text-anchor="start">
          and {exact(more)} more wavefronts
        </text>
      )}
    </svg>
  );
}
