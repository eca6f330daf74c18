import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type CourseData, loadCourse } from "../../data/course";
import { lifeName, opWords } from "../../data/coursewords";
import type { Model } from "../../data/model";
import type { Course, FailedAllocation } from "../../data/payload";
import { href, route } from "../../state/route";
import { bytes, exact, plural } from "../../widgets/format";
import { ChangesPane, PeaksPane } from "./changes";
import { CurvePane } from "./curve";
import { DetailPane } from "./detail";
import { LivesPane } from "./lives";
import { MemoryState } from "./state";
import { FilterTools, Legend, SightTools } from "./tools";

/** Courses with a call or an object, each with one of its devices. */
export function memories(m: Model): { course: Course; device: number }[] {
  return m.payload.memory.courses.flatMap((course) =>
    course.devices
      .map((d, device) => ({ course, device, peak: d.peak }))
      .filter(({ peak }) => peak > 0)
      .map(({ device }) => ({ course, device })),
  );
}

/** "device 1 of process 2" */
function nameOf(m: Model, course: Course, device: number): string {
  const { device: ordinal, pool_name } = course.devices[device] ?? { device: 0 };
  const of = m.payload.memory.courses.length > 1 ? ` of process ${course.process}` : "";
  return `${pool_name === undefined ? "" : `the pool ${pool_name} on `}device ${ordinal}${of}`;
}

function Chooser({ m, at }: { m: Model; at: number }) {
  const all = memories(m);
  if (all.length < 2) return null;
  return (
    <label class="memchoice">
      Memory of{" "}
      <select
        value={at}
        onChange={(e) => {
          location.hash = href("memory", undefined, { of: Number(e.currentTarget.value) + 1 });
        }}
      >
        {all.map(({ course, device }, i) => (
          <option key={i} value={i}>
            {nameOf(m, course, device)}: {bytes(course.devices[device]?.peak ?? 0)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What the pointer is at. */
function Pointed({ s }: { s: MemoryState }) {
  const hover = s.hover.value;
  const object = s.hoverObject.value;
  const parts: string[] = [];
  if (object !== undefined) {
    parts.push(`${lifeName(s.m, s.d, object)}, ${bytes(s.d.lives.bytes[object] as number)}`);
  }
  if (hover && "op" in hover) {
    parts.push(opWords(s.m, s.d, hover.op), `${bytes(s.now.bytes[hover.op] as number)} in use`);
    const whatIf = s.whatIf.value;
    if (whatIf) parts.push(`${bytes(whatIf.bytes[hover.op] as number)} with what is ticked`);
  }
  return (
    <p class="pointed small muted" aria-hidden="true">
      {parts.length > 0
        ? parts.join(" · ")
        : "Click a bar or a call to select it. Drag to move along, zoom with Ctrl and the wheel."}
    </p>
  );
}

const MOST_FAILURES = 3; // that are told one by one

/** What the changes that are ticked would have left free for an allocation that failed. */
function freeWhatIf(s: MemoryState, r: FailedAllocation): string {
  const whatIf = s.whatIf.value;
  if (!whatIf) return "";
  const used = r.at > 0 ? (whatIf.bytes[r.at - 1] as number) : 0;
  const free = r.free + s.usedBefore(r.at) - used;
  const enough = r.bytes === undefined ? "" : free >= r.bytes ? ", enough" : ", still too little";
  return `With what is ticked ${bytes(free)} would have been free${enough}. `;
}

/** Allocations that failed for want of memory: what they asked for, and what there was. */
function FailedAllocations({ s }: { s: MemoryState }) {
  const { failures } = s;
  if (failures.length === 0) return null;
  return (
    <ul class="tight failed">
      {failures.slice(0, MOST_FAILURES).map((r, i) => (
        <li key={i} class="warntext">
          <span class="mono">{r.call ?? "an allocation"}</span> failed: it asked for{" "}
          {r.bytes === undefined ? "memory" : bytes(r.bytes)} when {bytes(r.free)} of{" "}
          {bytes(r.total)} were free. {freeWhatIf(s, r)}
          {r.at > 0 && (
            <button type="button" class="plainlink" onClick={() => s.select({ op: r.at - 1 })}>
              what was in use
            </button>
          )}
        </li>
      ))}
      {failures.length > MOST_FAILURES && (
        <li class="muted">and {plural(failures.length - MOST_FAILURES, "more allocation")}</li>
      )}
    </ul>
  );
}

/** Shows the memory that the object counts in, where another one is shown. */
function showMemoryOf(s: MemoryState, object: number): void {
  const own = s.d.lives.device[object];
  const of = memories(s.m).findIndex((x) => x.course === s.d.row && x.device === own);
  if (own !== s.device && of >= 0)
    location.replace(href("memory", s.d.lives.id[object], { of: of + 1 }));
}

/** The selection that the address asks for. */
function useAddress(s: MemoryState): void {
  const { id, query } = route.value;
  useEffect(() => {
    const at = id === undefined ? -1 : s.d.lives.id.indexOf(id);
    if (at >= 0) {
      s.selection.value = { object: at };
      showMemoryOf(s, at);
    }
    const op = Number(query.call) - 1;
    if (op >= 0 && op < s.d.ops.count) s.select({ op });
  }, [s, id, query.call]);
}

function Panes({ m, d, device }: { m: Model; d: CourseData; device: number }) {
  const s = useMemo(() => new MemoryState(m, d, device), [m, d, device]);
  useAddress(s);
  return (
    <div class="mempanes">
      <div class="mempictures">
        <FailedAllocations s={s} />
        <SightTools s={s} />
        <CurvePane s={s} />
        <Pointed s={s} />
        <FilterTools s={s} />
        <LivesPane s={s} />
        <Legend s={s} />
      </div>
      <div class="memside">
        <PeaksPane s={s} />
        <DetailPane s={s} />
        <ChangesPane s={s} />
      </div>
    </div>
  );
}

function Loaded({ m, course, device }: { m: Model; course: Course; device: number }) {
  const data = useSignal<CourseData | string | undefined>(undefined);
  useEffect(() => {
    data.value = undefined;
    loadCourse(m, course).then(
      (d) => {
        data.value = d;
      },
      (error: unknown) => {
        data.value = error instanceof Error ? error.message : String(error);
      },
    );
  }, [m, course]);
  const d = data.value;
  if (d === undefined) return <p class="muted">Unpacking …</p>;
  if (typeof d === "string") return <p class="hint">The memory cannot be shown: {d}</p>;
  return <Panes m={m} d={d} device={device} />;
}

/** The memory that the address names, or that of the object that it names; else the one with the highest peak. */
function chosen(m: Model): number {
  const { id, query } = route.value;
  const all = memories(m);
  const asked = Number(query.of) - 1;
  if (all[asked]) return asked;
  const object = m.objectById.get(id ?? -1);
  const here = all.findIndex(
    ({ course, device }) =>
      course.process === object?.process && course.devices[device]?.device === object.device,
  );
  if (here >= 0) return here;
  const peaks = all.map(({ course, device }) => course.devices[device]?.peak ?? 0);
  return Math.max(0, peaks.indexOf(Math.max(...peaks)));
}

/** The course of device memory: the curve, the objects' lives, what is selected, and what changes would save. */
export function MemoryView({ m }: { m: Model }) {
  const at = chosen(m);
  const memory = memories(m)[at];
  if (!memory) return <div class="empty">The program allocated no device memory.</div>;
  const { course, device } = memory;
  const { peak, peak_after } = course.devices[device] ?? { peak: 0, peak_after: 0 };
  const whole = memories(m).length === 1 ? m.payload.device?.bytes : undefined;
  return (
    <article class="memory">
      <header class="headline">
        <p class="crumbs muted">Memory</p>
        <h1>
          {bytes(peak)} at the peak
          {peak_after < peak && `, ${bytes(peak_after)} with the plan`}
        </h1>
        <p class="who muted">
          {nameOf(m, course, device)}
          {whole !== undefined && `, which has ${bytes(whole)}`} ·{" "}
          {plural(course.objects, "object")} · {plural(course.operations, "operation")}
          {course.left_out !== undefined &&
            `, ${exact(course.left_out)} more left out, at which nothing begins or ends`}
        </p>
        <Chooser m={m} at={at} />
      </header>
      <Loaded key={course.process} m={m} course={course} device={device} />
    </article>
  );
}
