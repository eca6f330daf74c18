import { kernelOf, type Model, objectOf } from "../data/model";
import type { MemoryObject } from "../data/payload";
import { href } from "../state/route";
import { bytes, middle } from "../widgets/format";

const LONGEST = 56;

interface KernelProps {
  m: Model;
  id: number | undefined;
  most?: number;
}

export function KernelName({ m, id, most = LONGEST }: KernelProps) {
  const kernel = kernelOf(m, id);
  if (!kernel) return <span class="muted">unknown kernel</span>;
  return (
    <a class="mono" href={href("kernel", kernel.id)} title={kernel.name}>
      {middle(kernel.short_name, most)}
    </a>
  );
}

/** A name without the place that it may carry, for short lists: "d_A" of "d_A (matmul.cu:41)". */
export const shortObject = (o: MemoryObject): string => o.name.replace(/ \([^()]*:\d+\)$/, "");

export function ObjectName({ m, id }: { m: Model; id: number | undefined }) {
  const object = objectOf(m, id);
  if (!object) return <span class="muted">unknown memory</span>;
  return (
    <a class="mono" href={href("object", object.id)} title={object.name}>
      {middle(object.name, LONGEST)}
    </a>
  );
}

export function objectNote(m: Model, o: MemoryObject): string {
  const kernel = o.kernel === undefined ? undefined : m.kernelById.get(o.kernel);
  const size = o.bytes === undefined ? "" : `${bytes(o.bytes)} `;
  const kind = o.kind === o.space ? o.kind : `${o.kind} (${o.space})`;
  return `${size}${kind}${kernel ? ` of ${middle(kernel.short_name, 28)}` : ""}`;
}
