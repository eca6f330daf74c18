import { codeOf } from "../data/code";
import { showsKernel } from "../data/filter";
import type { LineRow, Model } from "../data/model";
import { findingsAt, kernelExcess, lineExcess, lineUnit, sourceLine } from "../data/model";
import type { Finding, Instruction, Kernel } from "../data/payload";
import { savingWords } from "../data/saving";
import { BenefitPicture } from "../pictures/benefits";
import { MixPicture } from "../pictures/mix";
import { OccupancyPicture } from "../pictures/occupancy";
import { BoundFigures, boundSentence, PredictionPicture } from "../pictures/prediction";
import { RooflinePicture } from "../pictures/roofline";
import { filter } from "../state/filter";
import { findingHref, href } from "../state/route";
import { CardList } from "../widgets/cards";
import { bytes, count, exact, middle, percent, plural, ratio, shapeOf } from "../widgets/format";
import { Bar, type ColumnOf, SortTable } from "../widgets/table";
import { FORM_NAMES, FORMS } from "./code/words";
import { FilterBar } from "./filter";
import { ObjectName } from "./names";
import { Code, Excerpt, type Mark, place } from "./source";
import { UseTable } from "./uses/table";

/** The kernels that the filter lets through, costliest first. */
export const listedKernels = (m: Model): Kernel[] =>
  m.payload.kernels.filter((k) => showsKernel(m, k, filter.value));

function KernelList({ m, on }: { m: Model; on: number }) {
  const most = Math.max(1, ...m.payload.kernels.map((k) => kernelExcess(m, k)));
  const listed = listedKernels(m);
  return (
    <CardList
      label="Kernels"
      head="Avoidable sectors and wavefronts"
      filter={<FilterBar m={m} shown={listed.length} all={m.payload.kernels.length} />}
      items={listed}
      idOf={(k) => k.id}
      on={on}
      href={(id) => href("kernel", id)}
      card={(k) => (
        <>
          <span class="title mono" title={k.name}>
            {middle(k.short_name, 40)}
          </span>
          <Bar share={kernelExcess(m, k) / most} label={count(kernelExcess(m, k))} />
          <span class="where">{plural(k.launches, "launch", "launches")}</span>
        </>
      )}
    />
  );
}

const each = (n: number, d: number): number => (d > 0 ? n / d : 0);

const UNITS = ["sectors", "wavefronts"] as const;
const UNIT_HELP = {
  sectors: "Distinct 32-byte sectors that the requests moved, summed",
  wavefronts: "Steps in which shared memory served the requests: one each without bank conflicts",
};

export function FindingNumbers({ numbers }: { numbers: number[] }) {
  return (
    <>
      {numbers.map((n, i) => (
        <span key={n}>
          {i > 0 && ", "}
          <a href={href("finding", n)} onClick={(e) => e.stopPropagation()}>
            {n}
          </a>
        </span>
      ))}
    </>
  );
}

/** A number that leaves room for the source beside it; all of it on pointing at it. */
const Short = ({ n }: { n: number }) => <span title={exact(n)}>{count(n)}</span>;

function columnsFor(m: Model, rows: LineRow[]): ColumnOf<LineRow>[] {
  const most = Math.max(1, ...rows.map(lineExcess));
  const text = (r: LineRow) => sourceLine(m, r.file, r.line)?.trim() ?? "";
  const where = (r: LineRow) => place(m, r.file, r.line) || `pc ${r.pc}`;
  return [
    {
      key: "line",
      label: "line",
      text: true,
      value: (r) => where(r),
      cell: (r) => (
        <>
          <span class="at" title={where(r)}>
            <span class="place">{where(r)}</span> <span class="muted">{`${r.op} ${r.space}`}</span>
          </span>
          <span class="source">
            <Code text={text(r) || (r.instructions[0]?.text ?? "")} />
          </span>
        </>
      ),
    },
    {
      key: "findings",
      label: "finding",
      help: "The findings that name the line",
      text: true,
      value: (r) => findingsAt(m, r)[0] ?? Number.POSITIVE_INFINITY,
      cell: (r) => <FindingNumbers numbers={findingsAt(m, r)} />,
    },
    {
      key: "requests",
      label: "requests",
      help: "Executions of memory instructions by warps with at least one active lane",
      value: (r) => r.requests,
      cell: (r) => <Short n={r.requests} />,
    },
    ...UNITS.filter((unit) => rows.some((r) => lineUnit(r) === unit)).map(
      (unit): ColumnOf<LineRow> => ({
        key: unit,
        label: unit,
        help: UNIT_HELP[unit],
        value: (r) => (lineUnit(r) === unit ? r.now : -1),
        cell: (r) => (lineUnit(r) === unit ? <Short n={r.now} /> : ""),
      }),
    ),
    {
      key: "each",
      label: "per request",
      help: "Sectors or wavefronts per request",
      value: (r) => each(r.now, r.requests),
      cell: (r) => <b>{ratio(each(r.now, r.requests))}</b>,
    },
    {
      key: "fewest",
      label: "needed",
      help: "The fewest sectors or wavefronts per request for the same bytes",
      value: (r) => each(r.min, r.requests),
      cell: (r) => ratio(each(r.min, r.requests)),
    },
    {
      key: "excess",
      label: "avoidable",
      help: "Sectors or wavefronts beyond those needed; in shared memory that is bank conflicts",
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
          <th class="num" title="the number of the PTX instruction in the kernel">
            pc
          </th>
          <th class="text">instruction</th>
          <th class="text">object</th>
          <th class="num" title="bytes per lane">
            bytes
          </th>
          <th class="num" title="active lanes per request">
            lanes
          </th>
          <th class="num">requests</th>
          <th class="num" title="of shared memory wavefronts, else sectors">
            sectors
          </th>
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
            <td class="num">{each(i.active_lanes, i.requests).toFixed(1)}</td>
            <td class="num">{exact(i.requests)}</td>
            <td class="num">{exact(i.space === "shared" ? i.wavefronts : i.sectors)}</td>
            <td class="text">{shapeText(i)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Facts({ k }: { k: Kernel }) {
  const more = k.lacks ? "> " : "";
  const parts = [
    plural(k.launches, "launch", "launches"),
    shapeOf(k.grid, k.block),
    `${more}${count(k.requests)} requests`,
    k.sectors > 0 ? `${more}${count(k.sectors)} sectors (${count(k.sectors_min)} needed)` : "",
    k.wavefronts > 0 ? `${count(k.wavefronts)} wavefronts (${count(k.wavefronts_min)} needed)` : "",
    k.sectors > 0 ? `${more}${bytes(k.sectors * 32)} moved` : "",
    k.lacks ? "without accesses that are not known: see Coverage" : "",
  ];
  return <p class="who muted">{parts.filter(Boolean).join(" · ")}</p>;
}

/** What to change, and what that is worth. */
function Advice({ m, finding }: { m: Model; finding: Finding }) {
  const group = m.payload.groups[finding.number - 1];
  const saving = savingWords(finding, group);
  return (
    <p class="advice">
      {saving && <span class={finding.gain === "full" ? "goodtext" : "warntext"}>{saving} </span>}
      {group?.advice}
    </p>
  );
}

interface LinksProps {
  m: Model;
  of: (f: Finding) => boolean;
  advised?: boolean;
}

/** The numbered findings, with what those `of` them cost; and what to do about them. */
export function FindingLinks({ m, of, advised }: LinksProps) {
  const found = m.payload.findings.filter(of);
  const firsts = found.filter((f, i) => f.number !== found[i - 1]?.number);
  if (firsts.length === 0) return <p class="muted">No findings here.</p>;
  const sum = (number: number, value: (f: Finding) => number) =>
    found.filter((f) => f.number === number).reduce((all, f) => all + value(f), 0);
  return (
    <ul class="links">
      {firsts.map((finding) => (
        <li key={finding.number}>
          <a href={findingHref(m.payload, finding)}>
            {finding.number}. {finding.title}
          </a>{" "}
          <span class="muted num">
            {count(sum(finding.number, (f) => f.excess))} {finding.unit},{" "}
            {percent(sum(finding.number, (f) => f.share_of_program))}
          </span>
          {advised && <Advice m={m} finding={finding} />}
        </li>
      ))}
    </ul>
  );
}

/** The line that the costliest finding names, else the one with most excess; undefined where none costs anything. */
function worstLine(m: Model, rows: LineRow[]): LineRow | undefined {
  const rank = (r: LineRow) => findingsAt(m, r)[0] ?? Number.POSITIVE_INFINITY;
  const order = [...rows].sort((a, b) => rank(a) - rank(b) || lineExcess(b) - lineExcess(a));
  const worst = order[0];
  return worst && (rank(worst) < Number.POSITIVE_INFINITY || lineExcess(worst) > 0)
    ? worst
    : undefined;
}

/** What stands beside the line's source on its file's page. */
function sideBySide(m: Model, row: LineRow): string {
  const kernel = m.kernelById.get(row.instructions[0]?.kernel ?? 0);
  const names = FORMS.filter((f) => kernel && codeOf(kernel, f)?.part !== undefined).map(
    (f) => FORM_NAMES[f],
  );
  if (names.length === 0) return "The whole source";
  return `Source${names.length > 1 ? `, ${names[0]}` : ""} and ${names.at(-1)} side by side`;
}

/** The kernel's source, the lines that move memory marked. */
function Source({ m, rows }: { m: Model; rows: LineRow[] }) {
  const byFile = new Map<number, Map<number, LineRow[]>>();
  for (const r of rows) {
    if (r.file === undefined || r.line === undefined) continue;
    const lines = byFile.get(r.file) ?? new Map<number, LineRow[]>();
    byFile.set(r.file, lines.set(r.line, [...(lines.get(r.line) ?? []), r]));
  }
  if (byFile.size === 0) return null;
  const worst = worstLine(m, rows);
  const mark = (line: number, group: LineRow[]): Mark => ({
    line,
    first: group.some((r) => r === worst),
    calm: group.every((r) => lineExcess(r) === 0 && findingsAt(m, r).length === 0),
    note: group.map((r) => `${r.op} ${ratio(each(r.now, r.requests))} ${lineUnit(r)}`).join(", "),
  });
  return (
    <>
      <h2>Source</h2>
      <p class="muted">
        Beside a line: sectors or wavefronts per request.
        {worst?.file !== undefined && (
          <>
            {" "}
            <a
              href={href("file", worst.file, {
                line: worst.line ?? 1,
                kernel: worst.instructions[0]?.kernel ?? 0,
              })}
            >
              {sideBySide(m, worst)}
            </a>
          </>
        )}
      </p>
      {[...byFile].map(([file, lines]) => (
        <Excerpt
          key={file}
          m={m}
          file={file}
          marks={[...lines].map(([line, group]) => mark(line, group))}
          context={6}
        />
      ))}
    </>
  );
}

/** Where the number of its instructions comes from, which its prediction starts from. */
export function countedWords(k: Kernel): string {
  const why = k.machine_code_missing ? `: ${k.machine_code_missing}` : "";
  return k.machine_code
    ? `Instructions counted from machine code for sm_${k.machine_code}${why}.`
    : `Instructions estimated from PTX${why}.`;
}

/** A kernel, line by line. */
export function KernelView({ m, id }: { m: Model; id: number | undefined }) {
  const kernel = m.kernelById.get(id ?? -1) ?? listedKernels(m)[0] ?? m.payload.kernels[0];
  if (!kernel) return <div class="empty">No kernel was observed.</div>;
  const rows = m.linesOf.get(kernel.id) ?? [];
  const uses = m.payload.uses.filter((u) => u.kernel === kernel.id);
  return (
    <div class="split">
      <KernelList m={m} on={kernel.id} />
      <article class="detail" key={kernel.id}>
        <header class="headline">
          <p class="crumbs muted">Kernel{kernel.module ? ` · module ${kernel.module}` : ""}</p>
          <h1 class="mono name">{kernel.name}</h1>
          <Facts k={kernel} />
        </header>
        {kernel.model && <p class="bound">{boundSentence(kernel.model)}</p>}
        {kernel.model?.unsure?.map((sentence) => (
          <p class="muted unsure">{sentence}</p>
        ))}
        {kernel.model_missing && (
          <p class="muted unbound">What bounds it is not known. {kernel.model_missing}</p>
        )}
        <BoundFigures k={kernel} />
        <h2>What to do</h2>
        <FindingLinks m={m} of={(f) => f.kernel === kernel.id} advised />
        <PredictionPicture k={kernel} />
        {kernel.model && <p class="muted">{countedWords(kernel)}</p>}
        <RooflinePicture k={kernel} />
        <BenefitPicture k={kernel} />
        <OccupancyPicture k={kernel} />
        {kernel.mix.length > 0 && <h2>Instructions</h2>}
        <MixPicture k={kernel} />
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
        {uses.length > 0 && <h2>Elements</h2>}
        {uses.length > 0 && <UseTable m={m} rows={uses} />}
        <Source m={m} rows={rows} />
      </article>
    </div>
  );
}
