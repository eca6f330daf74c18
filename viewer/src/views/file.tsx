import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { codeOf, type Form } from "../data/code";
import {
  accessLines,
  findingsOf,
  hotLines,
  kernelsOf,
  type LineHeat,
  unitOf,
} from "../data/hotlines";
import type { Model } from "../data/model";
import { lineUnit } from "../data/model";
import type { Kernel, SourceFile } from "../data/payload";
import { href, replace, route } from "../state/route";
import { narrow } from "../state/theme";
import { CardList } from "../widgets/cards";
import { baseName, count, plural, ratio } from "../widgets/format";
import { Columns } from "./code/columns";
import { FORM_NAMES, FORMS } from "./code/words";
import { FindingNumbers } from "./kernel";
import { KernelName } from "./names";
import { type Mark, SourceText } from "./source";

/** Beside a line: what each of its accesses moves. */
function markOf(heat: LineHeat, hottest: LineHeat | undefined): Mark {
  const notes = heat.rows.map((r) => {
    const each = r.requests > 0 ? r.now / r.requests : 0;
    return `${r.op} ${ratio(each)} ${lineUnit(r)}`;
  });
  return {
    line: heat.line,
    first: heat === hottest && heat.excess > 0,
    calm: heat.excess === 0,
    note: [...new Set(notes)].join(", "),
  };
}

/** The line that the address names (?line=35), else the hottest. */
function lineShown(lines: LineHeat[]): number | undefined {
  const asked = Number.parseInt(route.value.query.line ?? "", 10);
  return Number.isFinite(asked) ? asked : lines[0]?.line;
}

/** Another line of the file; which kernel's code stands beside it stays. */
function goToLine(file: number, line: number): void {
  const { kernel } = route.value.query;
  replace(href("file", file, kernel === undefined ? { line } : { line, kernel }));
}

/** The kernel whose code is shown: the one that the address names (?kernel=2), else one that has the line. */
function kernelShown(m: Model, lines: LineHeat[], line: number | undefined): Kernel | undefined {
  const asked = Number.parseInt(route.value.query.kernel ?? "", 10);
  const here = kernelsOf(lines.filter((l) => l.line === line))[0] ?? kernelsOf(lines)[0];
  return m.kernelById.get(asked) ?? m.kernelById.get(here ?? -1);
}

type Column = "source" | Form;

/** The columns that are not wanted: at first the source stands alone where there is no room for others. */
const hidden = signal<ReadonlySet<Column>>(new Set(innerWidth >= 1200 ? [] : FORMS));

function toggle(column: Column): void {
  const next = new Set(hidden.value);
  if (!next.delete(column)) next.add(column);
  hidden.value = next;
}

/** The instruction that the address names (?sass=12). */
const instruction = computed(() => {
  const { query } = route.value;
  const form = FORMS.find((f) => Number.isFinite(Number.parseInt(query[f] ?? "", 10)));
  return form && { form, pc: Number(query[form]) };
});

/** Why a form of the kernel cannot be shown; undefined: it can. */
function lackOf(kernel: Kernel | undefined, form: Form): string | undefined {
  const code = kernel && codeOf(kernel, form);
  if (code && code.part !== undefined) return undefined;
  if (code?.measured) return "the report has no room for it";
  return code?.listing?.missing ?? (kernel ? "the profile has none" : "no kernel is of this file");
}

/** Which columns stand side by side. */
function ColumnChoice({ kernel }: { kernel: Kernel | undefined }) {
  const box = (column: Column, name: string, lack?: string) => (
    <label key={column} class={lack ? "muted" : ""} title={lack ? `No ${name}: ${lack}.` : ""}>
      <input
        type="checkbox"
        checked={!lack && !hidden.value.has(column)}
        disabled={!!lack}
        onChange={() => toggle(column)}
      />{" "}
      {name}
      {lack && ` (${lack})`}
    </label>
  );
  return (
    <fieldset class="columnchoice">
      <legend class="unseen">Columns</legend>
      {box("source", "Source")}
      {FORMS.map((form) => box(form, FORM_NAMES[form], lackOf(kernel, form)))}
    </fieldset>
  );
}

/** The hot line `by` places further down the ranking than the one that is shown. */
export function stepHotLine(m: Model, id: number | undefined, by: number): void {
  const file = m.fileById.get(id ?? -1) ?? rankedFiles(m)[0];
  const lines = file ? hotLines(m, file.id) : [];
  const at = lines.findIndex((l) => l.line === lineShown(lines));
  const next = lines[Math.min(lines.length - 1, Math.max(0, at + by))];
  if (file && next) goToLine(file.id, next.line);
}

/** What a line moves, and which findings name it. */
function LineCost({ m, heat }: { m: Model; heat: LineHeat | undefined }) {
  if (!heat) return <> does not access memory</>;
  const findings = findingsOf(m, heat);
  const avoidable =
    heat.excess > 0 ? `${count(heat.excess)} avoidable` : "no more than its requests need";
  return (
    <>
      : {count(heat.moved)} {unitOf(heat)}, {avoidable}
      {findings.length > 0 && " · finding "}
      <FindingNumbers numbers={findings} />
    </>
  );
}

/** Which hot line is shown, what it costs, and the way to the others. */
function HotLines({ m, file, lines, hot, shown, kernel }: HotProps) {
  const at = hot.findIndex((l) => l.line === shown);
  const rank = at === 0 ? "the hottest" : `number ${at + 1}`;
  return (
    <div class="hotlines">
      <button type="button" disabled={at === 0} onClick={() => stepHotLine(m, file.id, -1)}>
        ▲ hotter <kbd>p</kbd>
      </button>
      <button
        type="button"
        disabled={at === hot.length - 1}
        onClick={() => stepHotLine(m, file.id, 1)}
      >
        ▼ next hot line <kbd>n</kbd>
      </button>
      <ColumnChoice kernel={kernel} />
      <span>
        <b>{shown > 0 ? `Line ${shown}` : "No line is known of the instruction"}</b>
        {at >= 0 && `, ${rank} of ${plural(hot.length, "hot line")}`}
        {shown > 0 && <LineCost m={m} heat={lines.find((l) => l.line === shown)} />}
      </span>
    </div>
  );
}

interface HotProps {
  m: Model;
  file: SourceFile;
  lines: LineHeat[]; // that access memory
  hot: LineHeat[]; // those among them that one steps through
  shown: number;
  kernel: Kernel | undefined; // whose code stands beside the source
}

const BARS = 120; // pixels that stay at the top while the page scrolls

function isInSight(line: Element): boolean {
  const { top, bottom } = line.getBoundingClientRect();
  const foot = narrow.value ? 0.55 * innerHeight : innerHeight; // below it stands the code
  return top >= BARS && bottom <= foot;
}

function FileDetail({ m, file }: { m: Model; file: SourceFile }) {
  const lines = accessLines(m, file.id);
  const hot = hotLines(m, file.id);
  const shown = lineShown(hot);
  const kernels = kernelsOf(lines);
  const kernel = kernelShown(m, lines, shown);
  const forms = FORMS.filter((f) => !hidden.value.has(f) && !lackOf(kernel, f));
  const beside = kernel !== undefined && forms.length > 0;
  const withSource = !beside || !hidden.value.has("source");
  useEffect(() => {
    const line = document.querySelector(`.line[data-line="${shown}"]`);
    if (!line) scrollTo(0, 0);
    else if (!isInSight(line)) line.scrollIntoView({ block: "center" });
  }, [file.id, shown, forms.length, narrow.value]);
  return (
    <article class={`detail${beside ? " wide" : ""}`}>
      <header class="headline">
        <p class="crumbs muted">Source file</p>
        <h1 class="mono name">{baseName(file.path)}</h1>
        <p class="who muted">
          {plural(lines.length, "line that accesses memory", "lines that access memory")}
          {kernels.length > 0 && ", in "}
          {kernels.map((id, i) => (
            <span key={id}>
              {i > 0 && ", "}
              <KernelName m={m} id={id} />
            </span>
          ))}
        </p>
      </header>
      {shown !== undefined && (
        <HotLines m={m} file={file} lines={lines} hot={hot} shown={shown} kernel={kernel} />
      )}
      <div class={beside ? `beside f${forms.length}${withSource ? "" : " sourceless"}` : ""}>
        {withSource && (
          <SourceText
            m={m}
            file={file.id}
            marks={lines.map((heat) => markOf(heat, lines[0]))}
            shown={shown}
            pick={(line) => goToLine(file.id, line)}
          />
        )}
        {beside && (
          <Columns
            m={m}
            kernels={kernels.flatMap((id) => m.kernelById.get(id) ?? [])}
            kernel={kernel}
            choose={(id) => replace(href("file", file.id, { line: shown ?? 1, kernel: id }))}
            file={file.id}
            line={shown}
            at={instruction.value}
            forms={forms}
            withSource={withSource}
          />
        )}
      </div>
      <p class="muted">Beside a line: sectors or wavefronts per request.</p>
    </article>
  );
}

/** Files with the hottest line first. */
export const rankedFiles = (m: Model): SourceFile[] =>
  [...m.payload.files].sort((a, b) => {
    const [x, y] = [accessLines(m, a.id)[0], accessLines(m, b.id)[0]];
    return (y?.excess ?? -1) - (x?.excess ?? -1) || (y?.moved ?? -1) - (x?.moved ?? -1);
  });

/** A source file as a whole, with what its lines moved. */
export function FileView({ m, id }: { m: Model; id: number | undefined }) {
  const file = m.fileById.get(id ?? -1) ?? rankedFiles(m)[0];
  if (!file) return <div class="empty">No source file is named in the profile.</div>;
  return (
    <div class="split">
      <CardList
        label="Files"
        head="The hottest line first"
        items={rankedFiles(m)}
        idOf={(f) => f.id}
        on={file.id}
        href={(number) => href("file", number)}
        card={(f) => (
          <>
            <span class="title mono">{baseName(f.path)}</span>
            <span class="where">{f.path}</span>
          </>
        )}
      />
      <FileDetail key={file.id} m={m} file={file} />
    </div>
  );
}
