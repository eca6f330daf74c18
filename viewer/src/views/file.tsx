import type { Model } from "../data/model";
import { lineExcess, lineUnit } from "../data/model";
import type { SourceFile } from "../data/payload";
import { href } from "../state/route";
import { CardList } from "../widgets/cards";
import { baseName, plural, ratio } from "../widgets/format";
import { KernelName } from "./names";
import { type Mark, SourceText } from "./source";

/** What each line of the file moved, all kernels together. */
function marksOf(m: Model, file: number): { marks: Mark[]; kernels: Set<number> } {
  const notes = new Map<number, { text: string[]; excess: number }>();
  const kernels = new Set<number>();
  for (const [kernel, rows] of m.linesOf) {
    for (const row of rows) {
      if (row.file !== file || row.line === undefined) continue;
      kernels.add(kernel);
      const note = notes.get(row.line) ?? { text: [], excess: 0 };
      const each = row.requests > 0 ? row.now / row.requests : 0;
      note.text.push(`${row.op} ${ratio(each)} ${lineUnit(row)}`);
      note.excess += lineExcess(row);
      notes.set(row.line, note);
    }
  }
  const most = Math.max(0, ...[...notes.values()].map((n) => n.excess));
  const marks = [...notes].map(([line, note]) => ({
    line,
    first: most > 0 && note.excess === most,
    calm: note.excess === 0,
    note: [...new Set(note.text)].join(", "),
  }));
  return { marks, kernels };
}

function FileDetail({ m, file }: { m: Model; file: SourceFile }) {
  const { marks, kernels } = marksOf(m, file.id);
  return (
    <article class="detail">
      <header class="headline">
        <p class="crumbs muted">Source file</p>
        <h1 class="mono name">{baseName(file.path)}</h1>
        <p class="who muted">
          {plural(marks.length, "line that moves memory", "lines that move memory")}
          {kernels.size > 0 && ", in "}
          {[...kernels].map((id, i) => (
            <span key={id}>
              {i > 0 && ", "}
              <KernelName m={m} id={id} />
            </span>
          ))}
        </p>
      </header>
      <p class="muted">Beside a line: sectors or wavefronts per request.</p>
      <SourceText m={m} file={file.id} marks={marks} />
    </article>
  );
}

/** A source file as a whole, with what its lines moved. */
export function FileView({ m, id }: { m: Model; id: number | undefined }) {
  const file = m.fileById.get(id ?? -1) ?? m.payload.files[0];
  if (!file) return <div class="empty">No source file is named in the profile.</div>;
  return (
    <div class="split">
      <CardList
        label="Files"
        items={m.payload.files}
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
