import { chunkLines, type Model, sourceLine } from "../data/model";
import { href } from "../state/route";
import { baseName } from "../widgets/format";
import { highlight } from "../widgets/highlight";

export function Code({ text }: { text: string }) {
  return (
    <code>
      {highlight(text).map((t, i) =>
        t.kind === "plain" ? (
          t.text
        ) : (
          <span key={i} class={`tok-${t.kind}`}>
            {t.text}
          </span>
        ),
      )}
    </code>
  );
}

export function place(m: Model, file: number | undefined, line: number | undefined): string {
  const path = file === undefined ? undefined : m.fileById.get(file)?.path;
  return path === undefined || line === undefined ? "" : `${baseName(path)}:${line}`;
}

interface PlaceProps {
  m: Model;
  file: number | undefined;
  line: number | undefined;
  link?: boolean; // to the line in its file
}

/** Where something is, with the whole path on hovering. */
export function Place(p: PlaceProps) {
  const text = place(p.m, p.file, p.line);
  if (!text) return <span class="muted">no line information</span>;
  if (p.link && p.m.guest === undefined) {
    return (
      <a
        class="place"
        href={href("file", p.file, { line: p.line ?? 1 })}
        title={p.m.fileById.get(p.file ?? -1)?.path}
      >
        {text}
      </a>
    );
  }
  return (
    <span class="place" title={p.m.fileById.get(p.file ?? -1)?.path}>
      {text}
    </span>
  );
}

/** The windows of `context` lines around each marked one, joined where they meet. */
export function windows(marked: number[], context: number): [number, number][] {
  const result: [number, number][] = [];
  for (const line of [...marked].sort((a, b) => a - b)) {
    const last = result[result.length - 1];
    const from = Math.max(1, line - context);
    if (last && from <= last[1] + 2) last[1] = line + context;
    else result.push([from, line + context]);
  }
  return result;
}

export interface Mark {
  line: number;
  first: boolean; // the costliest
  calm: boolean; // costs nothing beyond the fewest possible
  note: string;
}

/** What a source text may show beside its marks. */
interface Picking {
  shown?: number | undefined; // the line that is selected
  pick?: (line: number) => void; // a line was clicked, or gone to by key
}

interface LineProps extends Picking {
  m: Model;
  file: number;
  line: number;
  mark: Mark | undefined;
}

function Line({ m, file, line, mark, shown, pick }: LineProps) {
  const text = sourceLine(m, file, line);
  if (text === undefined) return null;
  const kind = mark ? `marked${mark.first ? " first" : ""}${mark.calm ? " calm" : ""}` : "";
  return (
    <div
      class={`line ${kind}${line === shown ? " shown" : ""}`}
      data-line={line}
      {...(pick ? { onClick: () => pick(line) } : {})}
    >
      <span class="number">{line}</span>
      <Code text={text || " "} />
      {mark && <span class="note num">{mark.note}</span>}
    </div>
  );
}

interface PartsProps extends Picking {
  m: Model;
  file: number;
  marks: Mark[];
}

/** Lines `from` to `to` of a file, those that are there. */
function Lines(p: PartsProps & { from: number; to: number; byLine: Map<number, Mark> }) {
  return (
    <>
      {Array.from({ length: p.to - p.from + 1 }, (_, k) => {
        const line = p.from + k;
        return <Line key={line} {...p} line={line} mark={p.byLine.get(line)} />;
      })}
    </>
  );
}

/** Up and down go to the line before and after, where lines can be selected. */
function stepLine(p: PartsProps, e: KeyboardEvent): void {
  const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
  if (!p.pick || by === 0 || e.ctrlKey || e.metaKey || e.altKey) return;
  const line = (p.shown ?? 0) + by;
  if (sourceLine(p.m, p.file, line) === undefined) return;
  e.preventDefault();
  p.pick(line);
}

/** Parts of a file, lines between them left out. */
function Parts(p: PartsProps & { parts: [number, number][] }) {
  const byLine = new Map(p.marks.map((mark) => [mark.line, mark]));
  const file = p.m.fileById.get(p.file);
  const missing = (file?.chunks.length ?? 0) === 0;
  const worst = p.marks.find((mark) => mark.first)?.line;
  const first: Record<string, number> = worst === undefined ? {} : { line: worst };
  return (
    <div class="excerpt">
      <div class="path">
        {file && p.m.guest === undefined ? (
          <a href={href("file", p.file, first)}>{file.path}</a>
        ) : (
          (file?.path ?? "unknown file")
        )}
      </div>
      {missing ? (
        <p class="hint">
          The source text is not in the profile{file?.missing ? `: ${file.missing}` : ""}. Lines:{" "}
          {p.marks.map((mark) => `${mark.line} (${mark.note})`).join(", ")}
        </p>
      ) : (
        <section
          class={`code${p.pick ? " picks" : ""}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll long lines, and select others
          tabIndex={0}
          aria-label="Source"
          onKeyDown={(e) => stepLine(p, e)}
        >
          {p.parts.map(([from, to], i) => (
            <div key={from} class="window">
              {i > 0 && <div class="skip">⋯</div>}
              <Lines {...p} from={from} to={to} byLine={byLine} />
            </div>
          ))}
        </section>
      )}
    </div>
  );
}

/** Marked source lines with their neighbours. */
export function Excerpt(p: { m: Model; file: number; marks: Mark[]; context?: number }) {
  const marked = p.marks.map((mark) => mark.line);
  return <Parts {...p} parts={windows(marked, p.context ?? 3)} />;
}

/** All that the report holds of a file. */
export function SourceText(p: PartsProps) {
  const chunks = p.m.fileById.get(p.file)?.chunks ?? [];
  const parts = chunks.map((c): [number, number] => [c.first, c.first + chunkLines(c).length - 1]);
  return <Parts {...p} parts={parts} />;
}
