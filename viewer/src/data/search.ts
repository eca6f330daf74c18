import { findingHref, href } from "../state/address";
import { baseName } from "../widgets/format";
import { glossary } from "./glossary";
import { chunkLines, kernelOf, type Model } from "./model";
import type { SourceFile } from "./payload";

export interface Hit {
  kind: "finding" | "kernel" | "object" | "file" | "line" | "word";
  name: string;
  detail: string;
  href: string;
}

const glossaryHref = (term: string): string =>
  `${href("glossary")}?${new URLSearchParams({ term })}`;

interface Entry extends Hit {
  text: string; // what is searched, in small letters
}

const entry = (hit: Hit, ...more: (string | undefined)[]): Entry => ({
  ...hit,
  text: [hit.name, hit.detail, ...more].join(" ").toLowerCase(),
});

/** Everything that has a name, in the order of the lists. */
export function searchIndex(m: Model): Entry[] {
  const { findings, kernels, objects, files } = m.payload;
  const path = (file: number | undefined) => m.fileById.get(file ?? -1)?.path;
  const place = (file: number | undefined, line: number | undefined) => {
    const name = path(file);
    return name && line ? `${baseName(name)}:${line}` : "";
  };
  return [
    ...findings.map((f) => {
      const kernel = kernelOf(m, f.kernel)?.short_name ?? "";
      const object = m.objectById.get(f.object ?? -1)?.name ?? "";
      const at = place(f.lines[0]?.file, f.lines[0]?.line);
      const detail = [kernel, object, at].filter(Boolean).join(" · ");
      return entry(
        { kind: "finding", name: f.title, detail, href: findingHref(m.payload, f) },
        f.pattern,
      );
    }),
    ...kernels.map((k) =>
      entry(
        {
          kind: "kernel",
          name: k.short_name,
          detail: place(k.file, k.line),
          href: href("kernel", k.id),
        },
        k.name,
        k.module,
      ),
    ),
    ...objects.map((o) =>
      entry(
        { kind: "object", name: o.name, detail: o.kind, href: href("object", o.id) },
        o.function,
      ),
    ),
    ...files.map((f) =>
      entry({ kind: "file", name: baseName(f.path), detail: f.path, href: href("file", f.id) }),
    ),
    ...glossary.map(({ term, means }) => ({
      ...entry({ kind: "word", name: term, detail: means, href: glossaryHref(term) }),
      text: term.toLowerCase(),
    })),
  ];
}

/** A line of a source file. */
const lineHit = (file: SourceFile, line: number, text: string): Hit => ({
  kind: "line",
  name: text.trim(),
  detail: `${baseName(file.path)}:${line}`,
  href: href("file", file.id, { line }),
});

/** The source lines for which `wanted` holds, at most so many. */
function linesThat(
  m: Model,
  most: number,
  wanted: (text: string, line: number, f: SourceFile) => boolean,
) {
  const hits: Hit[] = [];
  for (const file of m.payload.files) {
    for (const chunk of file.chunks) {
      const lines = chunkLines(chunk);
      for (let i = 0; i < lines.length && hits.length < most; i++) {
        const text = lines[i] ?? "";
        if (wanted(text, chunk.first + i, file)) hits.push(lineHit(file, chunk.first + i, text));
      }
    }
  }
  return hits;
}

/** The line of a place as "demo.cu:35", and of others whose file's name ends so. */
function placeHits(m: Model, query: string, most: number): Hit[] {
  const place = /^\s*(\S*):(\d+)\s*$/.exec(query);
  const name = place?.[1]?.toLowerCase() ?? "";
  const number = Number(place?.[2]);
  if (!place) return [];
  return linesThat(
    m,
    most,
    (_, line, file) => line === number && file.path.toLowerCase().endsWith(name),
  );
}

/** The line of a place; what has a name with all words in it, that which begins with the first one before the others; then the source lines that
 * hold all words. A third of the room is theirs, should there be very many names. */
export function search(m: Model, index: Entry[], query: string, most: number): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const first = words[0];
  if (first === undefined) return [];
  const rank = (e: Entry) => {
    const name = e.name.toLowerCase();
    return name.startsWith(first) ? 0 : name.includes(first) ? 1 : 2;
  };
  const named = index
    .filter((e) => words.every((w) => e.text.includes(w)))
    .map((e, i) => ({ e, i, rank: rank(e) }))
    .sort((a, b) => a.rank - b.rank || a.i - b.i)
    .map(({ e }) => e);
  const holds = (text: string) => {
    const lower = text.toLowerCase();
    return words.every((w) => lower.includes(w));
  };
  const lines = linesThat(m, most, holds);
  const room = Math.max(most - lines.length, Math.ceil((2 * most) / 3));
  return [...placeHits(m, query, most), ...named.slice(0, room), ...lines].slice(0, most);
}
