import { isIdleVariable, type Model } from "../../data/model";
import type { MemoryObject } from "../../data/payload";
import { href } from "../../state/route";
import { CardList } from "../../widgets/cards";
import { bytes, count, middle, percent, plural, quantity } from "../../widgets/format";
import { FindingLinks } from "../kernel";
import { KernelName, objectNote, shortObject } from "../names";
import { place } from "../source";
import { UseDetail } from "../uses/table";
import { HeatMaps } from "./maps";

const ranked = new WeakMap<Model, MemoryObject[]>();

/** Objects with findings first, the costliest before the others; then those with maps. Module variables that no kernel
 * touched are left out. */
export function rankedObjects(m: Model): MemoryObject[] {
  const known = ranked.get(m);
  if (known) return known;
  const excess = new Map<number, number>();
  for (const f of m.payload.findings) {
    if (f.object !== undefined) excess.set(f.object, (excess.get(f.object) ?? 0) + f.excess);
  }
  const key = (o: MemoryObject) => (excess.get(o.id) ?? 0) + (m.mapsOf.has(o.id) ? 0.5 : 0);
  const order = m.payload.objects.filter((o) => !isIdleVariable(m, o));
  order.sort((a, b) => key(b) - key(a));
  ranked.set(m, order);
  return order;
}

function ObjectCard({ m, o }: { m: Model; o: MemoryObject }) {
  const findings = m.payload.findings.filter((f) => f.object === o.id).length;
  return (
    <>
      <span class="title mono" title={o.name}>
        {middle(shortObject(o), 34)}
      </span>
      {findings > 0 && <span class="badge">{plural(findings, "finding")}</span>}
      <span class="where">
        {objectNote(m, o)} {place(m, o.file, o.line)}
      </span>
    </>
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
  return (
    <p class="who muted">
      {parts.filter(Boolean).join(" · ")}
      {o.process !== undefined && (
        <>
          {parts.some(Boolean) && " · "}
          <a href={href("memory", o.id)}>its life among the others</a>
        </>
      )}
    </p>
  );
}

/** How much of it kernels access, and how often. */
function Elements({ o }: { o: MemoryObject }) {
  const use = o.use;
  if (!use) return null;
  const least = use.touched_partial ? "at least " : use.touched_estimated ? "about " : "";
  const share = o.bytes ? ` (${percent(use.touched_bytes / o.bytes)})` : "";
  const mean = use.accesses_mean ?? 0;
  const parts = [
    `${least}${bytes(use.touched_bytes)}${share} accessed by kernels`,
    use.loads ? `${count(use.loads)} loads` : "",
    use.stores ? `${count(use.stores)} stores` : "",
    use.atomics ? `${count(use.atomics)} atomics` : "",
    mean > 0
      ? `${quantity(mean, "")} accesses to each 4 bytes, at most ${count(use.accesses_max ?? 0)}`
      : "",
    use.rarely_used_bytes ? `${bytes(use.rarely_used_bytes)} of it rarely` : "",
  ];
  return <p class="who muted">{parts.filter(Boolean).join(" · ")}</p>;
}

/** What each kernel does to its elements: of a shared array phase after phase. */
function Uses({ m, o }: { m: Model; o: MemoryObject }) {
  const uses = m.payload.uses.filter((u) => u.object === o.id);
  return (
    <>
      {uses.length > 0 && <h2>Elements</h2>}
      {uses.map((use) => (
        <section key={use.kernel}>
          {uses.length > 1 && (
            <h3>
              <KernelName m={m} id={use.kernel} />
            </h3>
          )}
          <UseDetail m={m} use={use} />
        </section>
      ))}
    </>
  );
}

/** A data object: its findings and its heat maps. */
export function ObjectView({ m, id }: { m: Model; id: number | undefined }) {
  const object = m.objectById.get(id ?? -1) ?? rankedObjects(m)[0];
  if (!object) return <div class="empty">No memory object is in the profile.</div>;
  return (
    <div class="split">
      <CardList
        label="Objects"
        head="Those with findings first"
        items={rankedObjects(m)}
        idOf={(o) => o.id}
        on={object.id}
        href={(number) => href("object", number)}
        card={(o) => <ObjectCard m={m} o={o} />}
      />
      <article class="detail">
        <header class="headline">
          <p class="crumbs muted">Object</p>
          <h1 class="mono name">{object.name}</h1>
          <Origin m={m} o={object} />
          <Elements o={object} />
        </header>
        <FindingLinks m={m} of={(f) => f.object === object.id} />
        <Uses key={`uses ${object.id}`} m={m} o={object} />
        <h2>Heat map</h2>
        <HeatMaps key={object.id} m={m} object={object} />
      </article>
    </div>
  );
}
