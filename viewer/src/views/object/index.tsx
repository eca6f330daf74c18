import type { Model } from "../../data/model";
import type { MemoryObject } from "../../data/payload";
import { href } from "../../state/route";
import { count, middle, plural } from "../../widgets/format";
import { FindingLinks } from "../kernel";
import { objectNote, shortObject } from "../names";
import { place } from "../source";
import { HeatMaps } from "./maps";

const excessOf = (m: Model, id: number): number =>
  m.payload.findings.filter((f) => f.object === id).reduce((sum, f) => sum + f.excess, 0);

/** Objects with findings first, then those with maps, then the others. */
export function rankedObjects(m: Model): MemoryObject[] {
  const key = (o: MemoryObject) => [excessOf(m, o.id), m.mapsOf.has(o.id) ? 1 : 0];
  return m.payload.objects
    .map((o) => ({ o, key: key(o) }))
    .sort((a, b) => (b.key[0] ?? 0) - (a.key[0] ?? 0) || (b.key[1] ?? 0) - (a.key[1] ?? 0))
    .map(({ o }) => o);
}

function ObjectList({ m, on }: { m: Model; on: number }) {
  return (
    <nav class="list" aria-label="Objects">
      <p class="muted listhead">Those with findings first</p>
      <ol>
        {rankedObjects(m).map((o) => {
          const findings = m.payload.findings.filter((f) => f.object === o.id).length;
          return (
            <li key={o.id}>
              <a
                class={`card plain${o.id === on ? " on" : ""}`}
                href={href("object", o.id)}
                aria-current={o.id === on}
              >
                <span class="title mono" title={o.name}>
                  {middle(shortObject(o), 34)}
                </span>
                {findings > 0 && <span class="badge">{plural(findings, "finding")}</span>}
                <span class="where">
                  {objectNote(m, o)} {place(m, o.file, o.line)}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Origin({ m, o }: { m: Model; o: MemoryObject }) {
  const where = place(m, o.file, o.line);
  const uses = m.payload.instructions.filter((i) => i.object === o.id);
  const sectors = uses.reduce((sum, i) => sum + i.sectors, 0);
  const kernels = new Set(uses.map((i) => i.kernel)).size;
  const parts = [
    objectNote(m, o),
    where ? `${o.kernel === undefined ? "allocated" : "defined"} at ${where}` : "",
    o.function ? `in ${o.function}` : "",
    kernels > 0 ? `used by ${plural(kernels, "kernel")}` : "",
    sectors > 0 ? `${count(sectors)} sectors moved` : "",
  ];
  return <p class="who muted">{parts.filter(Boolean).join(" · ")}</p>;
}

/** A data object: its findings and its heat maps. */
export function ObjectView({ m, id }: { m: Model; id: number | undefined }) {
  const object = m.objectById.get(id ?? -1) ?? rankedObjects(m)[0];
  if (!object) return <div class="empty">No object was seen.</div>;
  return (
    <div class="split">
      <ObjectList m={m} on={object.id} />
      <article class="detail">
        <header class="headline">
          <p class="crumbs muted">Object</p>
          <h1 class="mono name">{object.name}</h1>
          <Origin m={m} o={object} />
        </header>
        <FindingLinks m={m} of={(f) => m.payload.findings[f]?.object === object.id} />
        <h2>Heat map</h2>
        <HeatMaps key={object.id} m={m} object={object} />
      </article>
    </div>
  );
}
