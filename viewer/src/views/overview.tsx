import {
  isIdleVariable,
  kernelOf,
  lineOf,
  type Model,
  placesOf,
  sourceLine,
  wholeOf,
} from "../data/model";
import type { MemoryObject, Saving } from "../data/payload";
import { savedAtFullSize } from "../data/saving";
import { href } from "../state/route";
import { FactRow } from "../widgets/fact";
import { bytes, exact, middle, percent, plural, seconds } from "../widgets/format";
import { type ColumnOf, SortTable } from "../widgets/table";
import { Failures } from "./failures";
import { Verdict } from "./finding/verdict";
import { Kernels } from "./kernels";
import { ObjectName } from "./names";
import { Ranges } from "./ranges";
import { Code, place } from "./source";
import { UseTable } from "./uses/table";

/** "device 1", and whose where there are several processes. */
function memoryOf(m: Model, { process, device }: { process: number; device: number }): string {
  return `device ${device}${m.payload.program.processes > 1 ? ` of process ${process}` : ""}`;
}

/** The peak of each device, where there are several. */
function PeakRows({ m }: { m: Model }) {
  return (
    <>
      {m.payload.memory.devices.map((d) => (
        <FactRow key={memoryOf(m, d)} label={`peak memory, ${memoryOf(m, d)}`}>
          {[bytes(d.peak_bytes), d.name].filter(Boolean).join(", ")}
        </FactRow>
      ))}
    </>
  );
}

/** Where kernels ran, in words. */
const BACKENDS: Record<string, string> = {
  emulate: "emulate: kernels ran on the CPU",
  inline: "inline: kernels ran on the GPU",
};

function Run({ m }: { m: Model }) {
  const { program, device, version, memory } = m.payload;
  const command = [program.executable, ...program.arguments].join(" ");
  return (
    <table class="plain facts">
      <tbody>
        <FactRow label="program">{command}</FactRow>
        {program.host ? <FactRow label="host">{program.host}</FactRow> : null}
        {program.started ? <FactRow label="started">{program.started}</FactRow> : null}
        {program.processes > 1 ? <FactRow label="processes">{program.processes}</FactRow> : null}
        {device ? (
          <FactRow label="device">
            {[
              device.name,
              `compute capability ${device.compute_capability}`,
              device.sms === undefined ? "" : plural(device.sms, "SM"),
              device.bytes === undefined ? "" : bytes(device.bytes),
            ]
              .filter(Boolean)
              .join(", ")}
          </FactRow>
        ) : null}
        <FactRow label="backend">
          {`${BACKENDS[program.collector] ?? program.collector}, warplens ${version}`}
        </FactRow>
        {memory.devices.length <= 1 ? (
          memory.peak_bytes !== undefined && (
            <FactRow label="peak device memory">
              <a href={href("memory")}>{bytes(memory.peak_bytes)}</a>
            </FactRow>
          )
        ) : (
          <PeakRows m={m} />
        )}
      </tbody>
    </table>
  );
}

function Objects({ m }: { m: Model }) {
  const columns: ColumnOf<MemoryObject>[] = [
    {
      key: "object",
      label: "object",
      text: true,
      value: (o) => o.name,
      cell: (o) => <ObjectName m={m} id={o.id} />,
    },
    { key: "kind", label: "kind", text: true, value: (o) => o.kind },
    {
      key: "bytes",
      label: "bytes",
      value: (o) => o.bytes ?? -1,
      cell: (o) => (o.bytes === undefined ? "" : exact(o.bytes)),
    },
    {
      key: "where",
      label: "where",
      text: true,
      value: (o) => place(m, o.file, o.line),
      cell: (o) => <span class="place">{place(m, o.file, o.line)}</span>,
    },
  ];
  return (
    <>
      <SortTable
        rows={m.payload.objects.filter((o) => !isIdleVariable(m, o))}
        columns={columns}
        keyOf={(o) => String(o.id)}
        sort="bytes"
        descending
      />
      <IdleVariables m={m} />
    </>
  );
}

/** Those of libraries, mostly: a line, and their names on asking. */
function IdleVariables({ m }: { m: Model }) {
  const idle = m.payload.objects.filter((o) => isIdleVariable(m, o));
  const { gaps, launches_seen = 0, launches_observed = 0 } = m.payload.coverage;
  const whole = !gaps?.length && launches_observed >= launches_seen;
  if (idle.length === 0) return null;
  return (
    <details class="muted idle">
      <summary>
        {plural(idle.length, "module variable")} that no kernel touched
        {whole ? "" : ", as far as is known"}
      </summary>
      {idle.map((o, i) => (
        <span key={o.id}>
          {i > 0 && ", "}
          <ObjectName m={m} id={o.id} />
        </span>
      ))}
    </details>
  );
}

function Peaks({ m }: { m: Model }) {
  const { peaks, devices } = m.payload.memory;
  if (peaks.length === 0) return null;
  return (
    <>
      <h2>Memory</h2>
      <p>
        <a href={href("memory")}>Memory call after call, and what would lower the peak</a>
      </p>
      <ul class="links">
        {peaks.map((peak) => (
          <li key={`${memoryOf(m, peak)} ${peak.bytes}`}>
            <b class="num">{bytes(peak.bytes)}</b>{" "}
            {devices.length > 1 && `on ${memoryOf(m, peak)} `}reached at{" "}
            <span class="mono">{peak.call ?? "the start"}</span> with{" "}
            {plural(peak.objects.length, "object")}:{" "}
            {peak.objects.slice(0, 8).map((id, i) => (
              <span key={id}>
                {i > 0 && ", "}
                <ObjectName m={m} id={id} />
              </span>
            ))}
            {peak.objects.length > 8 && ", …"}
          </li>
        ))}
      </ul>
    </>
  );
}

/** What kernels do to the elements of objects, where that was counted. */
function Elements({ m }: { m: Model }) {
  if (m.payload.uses.length === 0) return null;
  return (
    <>
      <h2>Elements</h2>
      <p class="muted">
        How often each kernel accesses each 4 bytes of an object. Click a row for where in it; of a
        shared array, for what a block does from barrier to barrier.
      </p>
      <UseTable m={m} rows={m.payload.uses} />
    </>
  );
}

/** The device in a line, and what stood in for it. */
function device(m: Model): string {
  const { device: d, program } = m.payload;
  const parts = d
    ? [d.name, `compute capability ${d.compute_capability}`, d.sms ? plural(d.sms, "SM") : ""]
    : ["no device"];
  return [...parts, program.collector === "emulate" ? "emulated" : ""].filter(Boolean).join(" · ");
}

const FIRST = 3;

function Saved({ worth }: { worth: Saving }) {
  const full = savedAtFullSize(worth);
  return (
    <>
      <span class="big num">{seconds(worth.seconds)}</span>{" "}
      <span class="muted">
        predicted to be saved: {percent(worth.of_program)} of the time
        {full !== undefined && `, ${percent(full)} of the kernel's where the grid fills the device`}
      </span>
    </>
  );
}

/** The costliest findings that are worth fixing, with the line to change. */
function FixFirst({ m }: { m: Model }) {
  const all = m.payload.groups.map((group, i) => ({ group, number: i + 1 }));
  const worth = all.filter(({ group }) => group.gain_reason === undefined);
  const shown = (worth.length > 0 ? worth : all).slice(0, FIRST);
  if (all.length === 0) {
    const { failures, left_out: left } = m.payload;
    const costs = left?.much
      ? `more moves than is needed, in no pattern that there is advice for. ${left.text}`
      : "no memory access pattern costs much.";
    return (
      <p class="summary">
        {failures.length > 0 ? "In what was observed until then" : "Here"} {costs}
      </p>
    );
  }
  return (
    <>
      <Verdict m={m} />
      <h2>{worth.length > 0 ? "Fix first" : "Of little gain: not worth working on"}</h2>
      <ol class="fixfirst">
        {shown.map(({ group, number }) => {
          const f = placesOf(m, number)[0];
          const line = f && lineOf(f);
          return (
            f && (
              <li key={number}>
                <a href={href("finding", number)}>
                  {group.worth && group.worth.seconds > 0 && f.gain === "full" ? (
                    <Saved worth={group.worth} />
                  ) : (
                    <>
                      <span class="big num">{percent(group.share_of_program)}</span>{" "}
                      <span class="muted">of {wholeOf(f.unit)}</span>
                    </>
                  )}
                  <p class="title">{f.title}</p>
                  <Code text={(sourceLine(m, line?.file, line?.line) ?? "").trim()} />
                  <span class="muted small">
                    <span class="mono">{place(m, line?.file, line?.line)}</span>
                    {f.kernel !== undefined &&
                      ` · ${middle(kernelOf(m, f.kernel)?.short_name ?? "", 48)}`}
                    {group.count > 1 && ` and ${plural(group.count - 1, "more place")}`}
                  </span>
                </a>
              </li>
            )
          );
        })}
      </ol>
    </>
  );
}

/** The run as a whole. */
export function OverviewView({ m }: { m: Model }) {
  return (
    <article class="detail wide">
      <header class="headline">
        <h1>Overview</h1>
        <p class="who muted">{device(m)}</p>
      </header>
      <Failures m={m} />
      <FixFirst m={m} />
      <Ranges m={m} />
      <h2>Kernels</h2>
      <p class="muted">
        Most avoidable sectors and wavefronts first. Bars: <span class="swatch used" /> needed,{" "}
        <span class="swatch extra" /> avoidable, to one scale.
      </p>
      <Kernels m={m} />
      <h2>Objects</h2>
      <Objects m={m} />
      <Elements m={m} />
      <Peaks m={m} />
      <h2>Run</h2>
      <Run m={m} />
    </article>
  );
}
