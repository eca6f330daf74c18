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

/** Where something is, with the whole path on hovering. */
export function Place(p: { m: Model; file: number | undefined; line: number | undefined }) {
  const text = place(p.m, p.file, p.line);
  if (!text) return <span class="muted">no line information</span>;
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

function Line({ m, file, line, mark }: { m: Model; file: number; line: number; mark?: Mark }) {
  const text = sourceLine(m, file, line);
  if (text === undefined) return null;
  const kind = mark ? `marked${mark.first ? " first" : ""}${mark.calm ? " calm" : ""}` : "";
  return (
    <div class={`line ${kind}`}>
      <span class="number">{line}</span>
      <Code text={text || " "} />
      {mark && <span class="note num">{mark.note}</span>}
    </div>
  );
}

/** Lines `from` to `to` of a file, those that are there. */
function Lines(p: { m: Model; file: number; from: number; to: number; marks: Map<number, Mark> }) {
  return (
    <>
      {Array.from({ length: p.to - p.from + 1 }, (_, k) => {
        const line = p.from + k;
        const mark = p.marks.get(line);
        return <Line key={line} m={p.m} file={p.file} line={line} {...(mark ? { mark } : {})} />;
      })}
    </>
  );
}

/** Parts of a file, lines between them left out. */
function Parts(p: { m: Model; file: number; marks: Mark[]; parts: [number, number][] }) {
  const byLine = new Map(p.marks.map((mark) => [mark.line, mark]));
  const file = p.m.fileById.get(p.file);
  const missing = (file?.chunks.length ?? 0) === 0;
  return (
    <div class="excerpt">
      <div class="path">
        {file ? <a href={href("file", p.file)}>{file.path}</a> : "unknown file"}
      </div>
      {missing ? (
        <p class="hint">
          The source text is not in the profile{file?.missing ? `: ${file.missing}` : ""}. Lines:{" "}
          {p.marks.map((mark) => `${mark.line} (${mark.note})`).join(", ")}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll long lines
        <section class="code" tabIndex={0} aria-label="Source">
          {p.parts.map(([from, to], i) => (
            <div key={from} class="window">
              {i > 0 && <div class="skip">⋯</div>}
              <Lines m={p.m} file={p.file} from={from} to={to} marks={byLine} />
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
export function SourceText(p: { m: Model; file: number; marks: Mark[] }) {
  const chunks = p.m.fileById.get(p.file)?.chunks ?? [];
  const parts = chunks.map((c): [number, number] => [c.first, c.first + chunkLines(c).length - 1]);
  return <Parts {...p} parts={parts} />;
}
