import { baseName, bytes, plural } from "../widgets/format";
import { type CourseData, KINDS, LAUNCH, NONE } from "./course";
import { kernelOf, type Model, objectOf } from "./model";

/** "app.cu:12"; "" where that is not known. */
export function opPlace(m: Model, d: CourseData, op: number): string {
  const site = d.sites[d.ops.site[op] as number];
  const path = site?.file === undefined ? undefined : m.fileById.get(site.file)?.path;
  if (path !== undefined && site?.line) return `${baseName(path)}:${site.line}`;
  const frame = d.stacks[site?.stack ?? -1]?.find((f) => f.file && f.line);
  return frame?.file ? `${baseName(frame.file)}:${frame.line}` : "";
}

export const opApi = (d: CourseData, op: number): string =>
  d.sites[d.ops.site[op] as number]?.api ?? "";

/** "launch of step", "copy" */
export function opName(m: Model, d: CourseData, op: number): string {
  const kind = d.ops.kind[op] as number;
  const kernel = kind === LAUNCH ? kernelOf(m, d.ops.kernel[op]) : undefined;
  const words = kernel ? `launch of ${kernel.short_name}` : (KINDS[kind] ?? "operation");
  const times = d.ops.repeat[op] as number;
  return times > 1 ? `${words}, ${plural(times, "time")}` : words;
}

/** "launch of step at app.cu:12" */
export function opWords(m: Model, d: CourseData, op: number): string {
  if (op === NONE) return "the end of the program";
  const place = opPlace(m, d, op);
  return place ? `${opName(m, d, op)} at ${place}` : opName(m, d, op);
}

export const lifeName = (m: Model, d: CourseData, object: number): string =>
  objectOf(m, d.lives.id[object])?.name ?? "an object";

/** What is found of an object, with its numbers: a sentence. */
export function hitWords(m: Model, d: CourseData, hit: number): string {
  const { hits, row } = d;
  const from = hits.from[hit] as number;
  const to = hits.to[hit] as number;
  const calls = plural(hits.calls[hit] as number, "call");
  switch (row.changes[hits.change[hit] as number]?.effect) {
    case "later":
      return `Allocated ${calls} before its first use, the ${opWords(m, d, to)}.`;
    case "sooner":
      return from === NONE
        ? "Nothing frees it."
        : to === NONE
          ? `Not freed after its last use, the ${opWords(m, d, from)}.`
          : `Kept for ${calls} after its last use, the ${opWords(m, d, from)}.`;
    case "left-out":
      return "Nothing accesses it.";
    case "away":
      return `Not used for ${calls}, between the ${opWords(m, d, from)} and the ${opWords(m, d, to)}.`;
    case "smaller":
      return `${bytes(hits.bytes[hit] as number)} of its ${bytes(d.lives.bytes[hits.object[hit] as number] as number)} would be enough.`;
    case "reuse":
      return (
        `Its first use, the ${opWords(m, d, to)}, comes ${calls} after the last use of ` +
        `${lifeName(m, d, hits.other[hit] as number)}: it can live in that memory.`
      );
    default:
      return row.changes[hits.change[hit] as number]?.pattern === "dead-write"
        ? `What the ${opWords(m, d, from)} writes is replaced unread by the ${opWords(m, d, to)}.`
        : "";
  }
}
