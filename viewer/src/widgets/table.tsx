import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { exact } from "./format";

export interface ColumnOf<Row> {
  key: string;
  label: string;
  help?: string;
  text?: boolean; // left aligned
  value: (row: Row) => number | string;
  cell?: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  rows: Row[];
  columns: ColumnOf<Row>[];
  keyOf: (row: Row) => string;
  sort: string; // the column at first
  descending?: boolean;
  className?: string;
  detail?: (row: Row) => ComponentChildren; // shown below a row that was clicked
  opens?: (row: Row) => boolean; // which rows have details; absent: each
}

type Sort = { key: string; down: boolean };

function sorted<Row>(rows: Row[], columns: ColumnOf<Row>[], sort: Sort): Row[] {
  const column = columns.find((c) => c.key === sort.key);
  if (!column) return rows;
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = column.value(a);
    const y = column.value(b);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}

function Heading<Row>({ c, sort, set }: { c: ColumnOf<Row>; sort: Sort; set: (s: Sort) => void }) {
  const on = sort.key === c.key;
  const order = on ? (sort.down ? "descending" : "ascending") : "none";
  const click = () => set({ key: c.key, down: on ? !sort.down : !c.text });
  return (
    <th scope="col" class={c.text ? "text" : "num"} aria-sort={order} title={c.help}>
      <button type="button" onClick={click}>
        {c.label}
        <span class="arrow">{on ? (sort.down ? "▼" : "▲") : ""}</span>
      </button>
    </th>
  );
}

const MOST_ROWS = 200; // until the reader asks for all

/** A row; one that has details opens by a click anywhere, or by its button. */
function BodyRow<Row>({ p, row, open, toggle }: RowProps<Row>) {
  const detail = p.opens && !p.opens(row) ? undefined : p.detail;
  return (
    <>
      <tr
        class={`${detail ? "opens" : ""}${open ? " open" : ""}`}
        {...(detail ? { onClick: toggle } : {})}
      >
        {p.columns.map((c, i) => (
          <td key={c.key} class={c.text ? "text" : "num"}>
            {detail && i === 0 && (
              <button type="button" class="opener" aria-expanded={open} aria-label="Details">
                {open ? "▾" : "▸"}
              </button>
            )}
            {c.cell ? c.cell(row) : c.value(row)}
          </td>
        ))}
      </tr>
      {open && detail && (
        <tr class="detailrow">
          <td colSpan={p.columns.length}>{detail(row)}</td>
        </tr>
      )}
    </>
  );
}

interface RowProps<Row> {
  p: Props<Row>;
  row: Row;
  open: boolean;
  toggle: () => void;
}

/** A table that sorts by any column; rows may open. */
export function SortTable<Row>(p: Props<Row>) {
  const sort = useSignal<Sort>({ key: p.sort, down: p.descending ?? false });
  const open = useSignal<string | undefined>(undefined);
  const all = useSignal(p.rows.length <= MOST_ROWS);
  const rows = sorted(p.rows, p.columns, sort.value);
  const set = (s: Sort) => {
    sort.value = s;
  };
  return (
    <div class="tablebox">
      <table class={`sortable ${p.className ?? ""}`}>
        <thead>
          <tr>
            {p.columns.map((c) => (
              <Heading key={c.key} c={c} sort={sort.value} set={set} />
            ))}
          </tr>
        </thead>
        <tbody>
          {(all.value ? rows : rows.slice(0, MOST_ROWS)).map((row) => {
            const key = p.keyOf(row);
            const isOpen = open.value === key;
            const toggle = () => {
              open.value = isOpen ? undefined : key;
            };
            return <BodyRow key={key} p={p} row={row} open={isOpen} toggle={toggle} />;
          })}
        </tbody>
      </table>
      {!all.value && (
        <button
          type="button"
          class="showall"
          onClick={() => {
            all.value = true;
          }}
        >
          Show all {exact(rows.length)} rows
        </button>
      )}
    </div>
  );
}

/** A share as a bar behind its number. */
export function Bar({ share, label }: { share: number; label: string }) {
  return (
    <span class="bar">
      <span class="fill" style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }} />
      <span class="label">{label}</span>
    </span>
  );
}
