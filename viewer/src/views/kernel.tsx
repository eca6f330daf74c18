import type { LineRow, Model } from "../data/model";
import { lineExcess, sourceLine } from "../data/model";
import type { Instruction, Kernel } from "../data/payload";
import { href } from "../state/route";
import { bytes, count, dim, exact, middle, percent, plural, ratio } from "../widgets/format";
import { Bar, type ColumnOf, SortTable } from "../widgets/table";
import { ObjectName } from "./names";
import { Code, Excerpt, type Mark, place } from "./source";

const kernelExcess = (k: Kernel): number =>
  Math.max(0, k.sectors - k.sectors_min) + Math.max(0, k.wavefronts - k.wavefronts_min);

export const rankedKernels = (m: Model): Kernel[] => m.payload.kernels;

function KernelList({ m, on }: { m: Model; on: number | undefined }) {
  const most = Math.max(1, ...m.payload.kernels.map(kernelExcess));
  return (
    <nav class="list" aria-label="Kernels">
      <p class="muted listhead">Sectors and wavefronts beyond the fewest possible</p>
      <ol>
        {rankedKernels(m).map((k) => (
          <li key={k.id}>
            <a
              class={`card plain${k.id === on ? " on" : ""}`}
              href={href("kernel", k.id)}
              aria-current={k.id === on}
            >
              <span class="title mono" title={k.name}>
                {middle(k.short_name, 40)}
              </span>
              <Bar share={kernelExcess(k) / most} label={count(kernelExcess(k))} />
              <span class="where">{plural(k.launches, "launch", "launches")}</span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function columnsFor(m: Model, rows: LineRow[]): ColumnOf<LineRow>[] {
  const most = Math.max(1, ...rows.map(lineExcess));
  const shared = rows.some((r) => r.wavefronts > 0);
  const sectors = rows.some((r) => r.sectors > 0);
  const each = (n: number, d: number) => (d > 0 ? n / d : 0);
  const text = (r: LineRow) => sourceLine(m, r.file, r.line)?.trim() ?? "";
  const blank = (n: number, shown: string) => (n > 0 ? shown : "");
  return [
    {
      key: "line",
      label: "line",
      text: true,
      value: (r) => place(m, r.file, r.line) || `pc ${r.pc}`,
      cell: (r) => <span class="place">{place(m, r.file, r.line) || `pc ${r.pc}`}</span>,
    },
    {
      key: "source",
      label: "source",
      text: true,
      value: text,
      cell: (r) => <Code text={text(r) || (r.instructions[0]?.text ?? "")} />,
    },
    {
      key: "requests",
      label: "requests",
      help: "Executions of memory instructions by warps with at least one active lane",
      value: (r) => r.requests,
      cell: (r) => exact(r.requests),
    },
    ...(sectors
      ? ([
          {
            key: "sectors",
            label: "sectors",
            help: "Distinct 32-byte sectors that the requests moved, summed",
            value: (r) => r.sectors,
            cell: (r) => blank(r.sectors, exact(r.sectors)),
          },
          {
            key: "each",
            label: "per request",
            help: "Sectors a request; in brackets the fewest that could hold the bytes it touches",
            value: (r) => each(r.sectors, r.sectorRequests),
            cell: (r) =>
              blank(
                r.sectors,
                `${ratio(each(r.sectors, r.sectorRequests))} (${ratio(each(r.sectorsMin, r.sectorRequests))})`,
              ),
          },
        ] satisfies ColumnOf<LineRow>[])
      : []),
    ...(shared
      ? ([
          {
            key: "wavefronts",
            label: "wavefronts",
            help: "Passes through shared memory",
            value: (r) => r.wavefronts,
            cell: (r) => blank(r.wavefronts, exact(r.wavefronts)),
          },
          {
            key: "conflicts",
            label: "conflicts",
            help: "Wavefronts that bank conflicts add",
            value: (r) => r.wavefronts - r.wavefrontsMin,
            cell: (r) => blank(r.wavefronts, exact(r.wavefronts - r.wavefrontsMin)),
          },
        ] satisfies ColumnOf<LineRow>[])
      : []),
    {
      key: "lanes",
      label: "lanes",
      help: "Active lanes a request, of 32",
      value: (r) => each(r.lanes, r.requests),
      cell: (r) => blank(r.requests, each(r.lanes, r.requests).toFixed(1)),
    },
    {
      key: "excess",
      label: "excess",
      help: "Sectors and wavefronts beyond the fewest possible",
      value: lineExcess,
      cell: (r) => (
        <Bar
          share={lineExcess(r) / most}
          label={lineExcess(r) > 0 ? count(lineExcess(r)) : "none"}
        />
      ),
    },
  ];
}

function shapeText(i: Instruction): string {
  const parts = (Object.keys(i.shapes) as (keyof typeof i.shapes)[])
    .filter((s) => i.shapes[s] > 0)
    .sort((a, b) => i.shapes[b] - i.shapes[a])
    .map((s) => {
      const by = s === "strided" ? ` by ${exact(i.stride)} B` : "";
      return `${percent(i.shapes[s] / Math.max(1, i.requests))} ${s}${by}`;
    });
  return parts.join(", ");
}

/** The instructions of a line, one row an object. */
function Instructions({ m, row }: { m: Model; row: LineRow }) {
  return (
    <table class="plain inner">
      <thead>
        <tr>
          <th class="num">pc</th>
          <th class="text">instruction</th>
          <th class="text">object</th>
          <th class="num">bytes a lane</th>
          <th class="num">requests</th>
          <th class="num">sectors</th>
          <th class="num">wavefronts</th>
          <th class="text">addresses</th>
        </tr>
      </thead>
      <tbody>
        {row.instructions.map((i) => (
          <tr key={`${i.pc} ${i.object} ${i.space}`}>
            <td class="num">{i.pc}</td>
            <td class="text">
              <Code text={i.text ?? `${i.op} ${i.space}`} />
            </td>
            <td class="text">
              <ObjectName m={m} id={i.object} />
            </td>
            <td class="num">{i.bytes}</td>
            <td class="num">{exact(i.requests)}</td>
            <td class="num">{i.space === "shared" ? "" : exact(i.sectors)}</td>
            <td class="num">{i.space === "shared" ? exact(i.wavefronts) : ""}</td>
            <td class="text">{shapeText(i)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Facts({ k }: { k: Kernel }) {
  const parts = [
    plural(k.launches, "launch", "launches"),
    `${dim(k.grid)} blocks of ${dim(k.block)} threads`,
    `${count(k.requests)} requests`,
    k.sectors > 0 ? `${count(k.sectors)} sectors (fewest ${count(k.sectors_min)})` : "",
    k.wavefronts > 0 ? `${count(k.wavefronts)} wavefronts (fewest ${count(k.wavefronts_min)})` : "",
    k.sectors > 0 ? `${bytes(k.sectors * 32)} moved` : "",
  ];
  return <p class="who muted">{parts.filter(Boolean).join(" · ")}</p>;
}

export function FindingLinks({ m, of }: { m: Model; of: (f: number) => boolean }) {
  const links = m.payload.findings
    .map((finding, index) => ({ finding, index }))
    .filter(({ index }) => of(index));
  if (links.length === 0) return <p class="muted">No findings here.</p>;
  return (
    <ul class="links">
      {links.map(({ finding, index }) => (
        <li key={index}>
          <a href={href("finding", index + 1)}>
            {index + 1}. {finding.title}
          </a>{" "}
          <span class="muted num">
            {count(finding.excess)} {finding.unit}, {percent(finding.share_of_program)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The kernel's source, the lines that move memory marked. */
function Source({ m, rows }: { m: Model; rows: LineRow[] }) {
  const byFile = new Map<number, Mark[]>();
  const most = Math.max(0, ...rows.map(lineExcess));
  for (const r of rows) {
    if (r.file === undefined || r.line === undefined) continue;
    const parts = [
      r.sectors > 0 ? `${ratio(r.sectors / Math.max(1, r.sectorRequests))} sectors a request` : "",
      r.wavefronts > 0 ? `${count(r.wavefronts)} wavefronts` : "",
    ].filter(Boolean);
    const marks = byFile.get(r.file) ?? [];
    byFile.set(r.file, marks);
    marks.push({
      line: r.line,
      first: most > 0 && lineExcess(r) === most,
      calm: lineExcess(r) === 0,
      note: parts.join(", "),
    });
  }
  if (byFile.size === 0) return null;
  return (
    <>
      <h2>Source</h2>
      {[...byFile].map(([file, marks]) => (
        <Excerpt key={file} m={m} file={file} marks={marks} context={6} />
      ))}
    </>
  );
}

/** A kernel, line by line. */
export function KernelView({ m, id }: { m: Model; id: number | undefined }) {
  const kernel = m.kernelById.get(id ?? -1) ?? rankedKernels(m)[0];
  if (!kernel) return <div class="empty">No kernel was observed.</div>;
  const rows = m.linesOf.get(kernel.id) ?? [];
  return (
    <div class="split">
      <KernelList m={m} on={kernel.id} />
      <article class="detail" key={kernel.id}>
        <header class="headline">
          <p class="crumbs muted">Kernel {kernel.module ? `of ${kernel.module}` : ""}</p>
          <h1 class="mono name">{kernel.name}</h1>
          <Facts k={kernel} />
        </header>
        <FindingLinks m={m} of={(f) => m.payload.findings[f]?.kernel === kernel.id} />
        <h2>Lines</h2>
        <p class="muted">Click a line for its instructions, a heading to sort.</p>
        <SortTable
          rows={rows}
          columns={columnsFor(m, rows)}
          keyOf={(r) => r.key}
          sort="excess"
          descending
          className="lines"
          detail={(r) => <Instructions m={m} row={r} />}
        />
        <Source m={m} rows={rows} />
      </article>
    </div>
  );
}
