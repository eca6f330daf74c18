/** One request to global or local memory: threads at the left, joined to what they touch of each transaction. */
import type { Signal } from "@preact/signals";
import type { Access } from "../../data/explore/insight";
import {
  type Axis,
  axisOf,
  piecesOf,
  placeOf,
  rangeOf,
  rangesOf,
  runsOf,
} from "../../data/explore/pieces";
import type { Transaction } from "../../data/explore/transactions";
import { threadWords } from "../../data/explore/words";
import { exact, plural } from "../../widgets/format";
import { type Focus, LaneColumn, Link, laneY, lineClass, type Place } from "./lanecolumn";
import { HUES } from "./rowpicture";

const LEFT = 190; // of the first transaction: room for the lines
const RIGHT = 96; // for addresses
const TOP = 36;
const MOST = 64; // transactions that are drawn
const LABEL = 12; // pixels that a label needs

interface Column {
  t: Transaction;
  number: number;
  x: number;
  width: number;
  hue: number;
}

function columnsOf(transactions: Transaction[], axis: Axis, width: number): Column[] {
  const pitch = Math.min(52, (width - LEFT - RIGHT) / transactions.length);
  return transactions.map((t, number) => ({
    t,
    number,
    x: LEFT + number * pitch,
    width: Math.max(3, Math.min(40, pitch - (pitch > 20 ? 6 : 2))),
    hue: rangeOf(axis.ranges, t.address) % HUES,
  }));
}

function transactionWords(access: Access, t: Transaction, number: number): string {
  const from = t.address - access.base;
  const where = access.name ? ` of ${access.name}` : "";
  const turns = t.turns > 1 ? `, changed ${exact(t.turns)} times, one after the other` : "";
  return `Transaction ${number + 1}: bytes ${exact(from)} to ${exact(from + t.size - 1)}${where}; ${threadWords(t.lanes)} take ${plural(t.used, "byte")} of it${turns}.`;
}

export function globalLaneWords(access: Access, lane: number): string {
  const own = access.served.transactions.flatMap((t, n) => ((t.lanes >>> lane) & 1 ? [n + 1] : []));
  const from = (access.asked.addresses[lane] ?? 0) - access.base;
  const where = access.name ? ` of ${access.name}` : "";
  const list = own.length > 6 ? `${own.slice(0, 6).join(", ")} …` : own.join(", ");
  return `Thread ${lane} takes bytes ${exact(from)} to ${exact(from + access.asked.bytes - 1)}${where}, in transaction ${list}.`;
}

function TransactionBox(p: { column: Column; axis: Axis; access: Access; focus: Signal<Focus> }) {
  const { column, axis, access, focus } = p;
  const { t, x, width, hue, number } = column;
  const y = TOP + placeOf(axis, t.address);
  const words = transactionWords(access, t, number);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what it shows stands in the text, too
    <g
      class="transaction"
      onMouseEnter={() => {
        focus.value = { column: number, words };
      }}
      onMouseLeave={() => {
        focus.value = {};
      }}
    >
      <title>{words}</title>
      <rect class="whole" x={x} y={y} width={width} height={Math.max(2, t.size * axis.scale)} />
      {runsOf(t.taken).map(([from, to]) => (
        <rect
          key={from}
          class={`hue${hue}`}
          x={x}
          y={y + from * axis.scale}
          width={width}
          height={Math.max(1.5, (to - from) * axis.scale)}
        />
      ))}
      <rect class="edge" x={x} y={y} width={width} height={Math.max(2, t.size * axis.scale)} />
    </g>
  );
}

function Links(p: { columns: Column[]; axis: Axis; access: Access; focus: Focus; place: Place }) {
  const { columns, axis, access, focus, place } = p;
  return (
    <g class="oplinks">
      {columns.flatMap(({ t, number, x, hue }) =>
        piecesOf(access.asked, t).map((piece) => (
          <Link
            key={`${number}-${piece.lane}-${piece.from}`}
            class={`line${hue} ${lineClass(focus, piece.lane, number)}`}
            from={laneY(place, piece.lane)}
            x={x}
            y={TOP + placeOf(axis, piece.from) + ((piece.to - piece.from) * axis.scale) / 2}
          />
        )),
      )}
    </g>
  );
}

/** Where each range begins, as far as there is room, with a line that leads there. */
function Addresses(p: { columns: Column[]; axis: Axis; access: Access; x: number }) {
  const { columns, axis, access, x } = p;
  let last = Number.NEGATIVE_INFINITY;
  return (
    <g class="addresses">
      <text x={x} y={TOP - 10}>
        address ↓
      </text>
      {axis.ranges.map((r, i) => {
        const y = TOP + placeOf(axis, r.begin);
        const first = columns.find((c) => c.t.address === r.begin);
        if (y - last < LABEL || !first) return null;
        last = y;
        return (
          <g key={r.begin}>
            <path class="guide" d={`M${first.x + first.width + 3} ${y + 5.5}H${x - 4}`} />
            <text x={x} y={y + 9} class={`ink${i % HUES}`}>
              byte {exact(r.begin - access.base)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

export function GlobalPicture(p: {
  access: Access;
  active: number;
  width: number;
  focus: Signal<Focus>;
}) {
  const { access, active, width, focus } = p;
  const transactions = access.served.transactions.slice(0, MOST);
  const ranges = rangesOf(transactions);
  const height = ranges.length > 16 ? 600 : 448;
  const axis = axisOf(ranges, height);
  const columns = columnsOf(transactions, axis, width);
  const place = { top: TOP, pitch: height / 32 };
  const every = Math.ceil(14 / Math.max(1, (columns[1]?.x ?? LEFT + 14) - LEFT));
  const more = access.served.transactions.length - transactions.length;
  const end = (columns.at(-1)?.x ?? LEFT) + (columns.at(-1)?.width ?? 0);
  return (
    <svg
      class="oppicture"
      width={width}
      height={TOP + height + 6}
      role="img"
      aria-label="Threads and transactions"
    >
      <Links columns={columns} axis={axis} access={access} focus={focus.value} place={place} />
      <LaneColumn
        mask={access.asked.mask}
        active={active}
        place={place}
        focus={focus}
        words={(lane) => globalLaneWords(access, lane)}
      />
      {columns.map((column) => (
        <TransactionBox
          key={column.number}
          column={column}
          axis={axis}
          access={access}
          focus={focus}
        />
      ))}
      <text class="axis" x={LEFT} y={TOP - 24} text-anchor="start">
        {more > 0
          ? `the first ${MOST} transactions; ${exact(more)} more follow`
          : "a column a transaction"}
      </text>
      {columns
        .filter((c) => c.number % every === 0 && axis.ranges.length > 1)
        .map((c) => (
          <text
            key={c.number}
            class="axis"
            x={c.x + c.width / 2}
            y={TOP + placeOf(axis, c.t.address) - 2}
          >
            {c.number + 1}
          </text>
        ))}
      <Addresses columns={columns} axis={axis} access={access} x={end + 8} />
    </svg>
  );
}
