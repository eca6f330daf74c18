import { useSignal } from "@preact/signals";
import { kernelOf, type Model, objectOf } from "../../data/model";
import type { KernelUse } from "../../data/payload";
import { bytes, count, exact, percent, ratio } from "../../widgets/format";
import { StripPicture } from "../../widgets/strip";
import { type ColumnOf, SortTable } from "../../widgets/table";
import { KernelName, ObjectName } from "../names";
import { PhaseView, phasesFor } from "./phases";
import { RangeTable } from "./ranges";

const least = (u: KernelUse): string => (u.partial ? "≥ " : u.estimated ? "~" : "");
const space = (m: Model, u: KernelUse): string => objectOf(m, u.object)?.space ?? "";

/** A number that may not be known; those come last. */
const number = (n: number | undefined, show: (n: number) => string): string =>
  n === undefined ? "" : show(n);

const mean = (n: number): string =>
  Number.isInteger(n) ? exact(n) : n < 100 ? ratio(n) : exact(Math.round(n));

const COUNTS: { key: keyof KernelUse; label: string; help: string; show: (n: number) => string }[] =
  [
    { key: "loads", label: "loads", help: "by lanes, of elements", show: count },
    { key: "stores", label: "stores", help: "by lanes, of elements", show: count },
    { key: "atomics", label: "atomics", help: "by lanes, reductions included", show: count },
    {
      key: "mean",
      label: "mean",
      help: "accesses of an element of 4 bytes, over all of them",
      show: mean,
    },
    { key: "most", label: "most", help: "accesses of the most accessed element", show: count },
    {
      key: "accesses_per_range",
      label: "per range",
      help: "accesses between the store that fills a word of shared memory and the next one that does",
      show: mean,
    },
    {
      key: "accesses_per_block_element",
      label: "per block",
      help: "accesses by a block of an element that it touches: shared and device memory compare by this",
      show: mean,
    },
  ];

function columnsOf(m: Model, rows: KernelUse[]): ColumnOf<KernelUse>[] {
  const text: ColumnOf<KernelUse>[] = [
    {
      key: "object",
      label: "object",
      text: true,
      value: (u) => objectOf(m, u.object)?.name ?? "",
      cell: (u) => <ObjectName m={m} id={u.object} />,
    },
    {
      key: "kernel",
      label: "kernel",
      text: true,
      value: (u) => kernelOf(m, u.kernel)?.short_name ?? "",
      cell: (u) => <KernelName m={m} id={u.kernel} most={28} />,
    },
    { key: "memory", label: "memory", text: true, value: (u) => space(m, u) },
    {
      key: "bytes",
      label: "bytes",
      value: (u) => 4 * u.elements,
      cell: (u) => bytes(objectOf(m, u.object)?.bytes ?? 4 * u.elements),
    },
    {
      key: "touched",
      label: "touched",
      help: "the part of its elements that the kernel accesses",
      value: (u) => (u.touched === undefined ? -1 : u.touched / Math.max(1, u.elements)),
      cell: (u) => number(u.touched, (n) => least(u) + percent(n / Math.max(1, u.elements))),
    },
  ];
  const counts = COUNTS.filter(({ key }) => rows.some((u) => u[key])).map(
    ({ key, label, help, show }): ColumnOf<KernelUse> => ({
      key,
      label,
      help,
      value: (u) => (u[key] as number | undefined) ?? -1,
      cell: (u) => number(u[key] as number | undefined, show),
    }),
  );
  const several = new Set(rows.map((u) => u.kernel)).size > 1;
  return [...text.filter(({ key }) => several || key !== "kernel"), ...counts];
}

/** Where in an object accesses go, and when: of a shared array phase after phase. */
export function UseDetail({ m, use }: { m: Model; use: KernelUse }) {
  const phases = phasesFor(m, use.kernel, use.object);
  return (
    <div class="usedetail">
      {phases.length > 0 && <PhaseView m={m} of={phases} />}
      {use.live_ranges && <RangeTable rows={use.live_ranges} />}
      {use.strip && <StripPicture strip={use.strip} elements={use.elements} />}
      {!use.strip && phases.length === 0 && (
        <p class="muted">Where the accesses go is not known.</p>
      )}
    </div>
  );
}

const matches = (m: Model, u: KernelUse, text: string): boolean =>
  [objectOf(m, u.object)?.name, kernelOf(m, u.kernel)?.name, space(m, u)].some((name) =>
    name?.toLowerCase().includes(text.toLowerCase()),
  );

/** What kernels do to the elements of objects; a row opens. */
export function UseTable({ m, rows }: { m: Model; rows: KernelUse[] }) {
  const filter = useSignal("");
  const shown = rows.filter((u) => matches(m, u, filter.value));
  return (
    <>
      {rows.length > 4 && (
        <p class="usefilter">
          <input
            type="search"
            aria-label="Filter the table of elements"
            placeholder="object, kernel or memory"
            value={filter.value}
            onInput={(e) => {
              filter.value = e.currentTarget.value;
            }}
          />{" "}
          <span class="muted">
            {shown.length < rows.length && `${exact(shown.length)} of ${exact(rows.length)}`}
          </span>
        </p>
      )}
      <SortTable
        rows={shown}
        columns={columnsOf(m, rows)}
        keyOf={(u) => `${u.kernel} ${u.object}`}
        sort="mean"
        descending
        className="uses"
        detail={(u) => <UseDetail m={m} use={u} />}
      />
    </>
  );
}
