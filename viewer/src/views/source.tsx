import { type Model, sourceLine } from "../data/model";
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

/** Marked source lines with their neighbours. */
export function Excerpt(p: { m: Model; file: number; marks: Mark[]; context?: number }) {
  const byLine = new Map(p.marks.map((mark) => [mark.line, mark]));
  const file = p.m.fileById.get(p.file);
  const parts = windows(
    p.marks.map((mark) => mark.line),
    p.context ?? 3,
  );
  const missing = (file?.chunks.length ?? 0) === 0;
  return (
    <div class="excerpt">
      <div class="path">{file?.path ?? "unknown file"}</div>
      {missing ? (
        <p class="hint">
          The source text is not in the profile{file?.missing ? `: ${file.missing}` : ""}. Lines:{" "}
          {p.marks.map((mark) => `${mark.line} (${mark.note})`).join(", ")}
        </p>
      ) : (
        <div class="code">
          {parts.map(([from, to], i) => (
            <div key={from} class="window">
              {i > 0 && <div class="skip">⋯</div>}
              {Array.from({ length: to - from + 1 }, (_, k) => {
                const line = from + k;
                const mark = byLine.get(line);
                return (
                  <Line key={line} m={p.m} file={p.file} line={line} {...(mark ? { mark } : {})} />
                );
              })}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
