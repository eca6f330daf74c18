import { findingHref, href } from "../state/address";
import { baseName } from "../widgets/format";
import { kernelOf, type Model } from "./model";

export interface Hit {
  kind: "finding" | "kernel" | "object" | "file";
  name: string;
  detail: string;
  href: string;
}

interface Entry extends Hit {
  text: string; // what is searched, in small letters
}

const entry = (hit: Hit, ...more: (string | undefined)[]): Entry => ({
  ...hit,
  text: [hit.name, hit.detail, ...more].join(" ").toLowerCase(),
});

/** Everything that can be looked for, in the order of the lists. */
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
      entry({ kind: "object", name: o.name, detail: o.kind, href: href("object", o.id) }),
    ),
    ...files.map((f) =>
      entry({ kind: "file", name: baseName(f.path), detail: f.path, href: href("file", f.id) }),
    ),
  ];
}

/** The entries that hold all words; those whose name begins with the first word come first. */
export function search(index: Entry[], query: string, most: number): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const first = words[0];
  if (first === undefined) return [];
  const found = index.filter((e) => words.every((w) => e.text.includes(w)));
  const rank = (e: Entry) => {
    const name = e.name.toLowerCase();
    return name.startsWith(first) ? 0 : name.includes(first) ? 1 : 2;
  };
  return found
    .map((e, i) => ({ e, i, rank: rank(e) }))
    .sort((a, b) => a.rank - b.rank || a.i - b.i)
    .slice(0, most)
    .map(({ e }) => e);
}
