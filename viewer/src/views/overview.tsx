import type { Model } from "../data/model";
import type { Kernel, MemoryObject } from "../data/payload";
import { bytes, count, dim, exact, plural, seconds } from "../widgets/format";
import { type ColumnOf, SortTable } from "../widgets/table";
import { KernelName, ObjectName } from "./names";
import { place } from "./source";

function Row({ label, children }: { label: string; children: string | number }) {
  return (
    <tr>
      <th scope="row" class="text">
        {label}
      </th>
      <td class="text">{children}</td>
    </tr>
  );
}

function Run({ m }: { m: Model }) {
  const { program, device, version, memory } = m.payload;
  const command = [program.executable, ...program.arguments].join(" ");
  return (
    <table class="plain facts">
      <tbody>
        <Row label="program">{command}</Row>
        {program.host ? <Row label="host">{program.host}</Row> : null}
        {program.started ? <Row label="started">{program.started}</Row> : null}
        {program.processes > 1 ? <Row label="processes">{program.processes}</Row> : null}
        {device ? (
          <Row label="device">
            {[
              device.name,
              `compute capability ${device.compute_capability}`,
              device.sms === undefined ? "" : plural(device.sms, "SM"),
              device.bytes === undefined ? "" : bytes(device.bytes),
            ]
              .filter(Boolean)
              .join(", ")}
          </Row>
        ) : null}
        <Row label="collected by">{`${program.collector} (warplens ${version})`}</Row>
        {memory.peak_bytes !== undefined ? (
          <Row label="peak device memory">{bytes(memory.peak_bytes)}</Row>
        ) : null}
      </tbody>
    </table>
  );
}

function hostSeconds(m: Model, kernel: number): number | undefined {
  const times = m.payload.launches
    .filter((l) => l.kernel === kernel)
    .map((l) => l.device_seconds ?? l.host_seconds);
  const known = times.filter((t): t is number => t !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : undefined;
}

function Kernels({ m }: { m: Model }) {
  const excess = (k: Kernel) => Math.max(0, k.sectors - k.sectors_min);
  const conflicts = (k: Kernel) => Math.max(0, k.wavefronts - k.wavefronts_min);
  const emulated = m.payload.program.collector === "emulate";
  const columns: ColumnOf<Kernel>[] = [
    {
      key: "kernel",
      label: "kernel",
      text: true,
      value: (k) => k.name,
      cell: (k) => <KernelName m={m} id={k.id} most={64} />,
    },
    {
      key: "launches",
      label: "launches",
      value: (k) => k.launches,
      cell: (k) => exact(k.launches),
    },
    {
      key: "shape",
      label: "blocks × threads",
      text: true,
      value: (k) => dim(k.grid),
      cell: (k) => `${dim(k.grid)} of ${dim(k.block)}`,
    },
    {
      key: "instructions",
      label: "thread instructions",
      value: (k) => k.thread_instructions ?? -1,
      cell: (k) => (k.thread_instructions === undefined ? "" : count(k.thread_instructions)),
    },
    {
      key: "requests",
      label: "requests",
      value: (k) => k.requests,
      cell: (k) => count(k.requests),
    },
    { key: "sectors", label: "sectors", value: (k) => k.sectors, cell: (k) => count(k.sectors) },
    { key: "excess", label: "excess", value: excess, cell: (k) => count(excess(k)) },
    {
      key: "conflicts",
      label: "conflicts",
      help: "Wavefronts that bank conflicts add",
      value: conflicts,
      cell: (k) => count(conflicts(k)),
    },
    {
      key: "time",
      label: emulated ? "emulated in" : "time",
      help: emulated ? "Time of the emulation on this host, not of a GPU" : "Time on the device",
      value: (k) => hostSeconds(m, k.id) ?? -1,
      cell: (k) => {
        const s = hostSeconds(m, k.id);
        return s === undefined ? "" : seconds(s);
      },
    },
  ];
  return (
    <SortTable
      rows={m.payload.kernels}
      columns={columns}
      keyOf={(k) => String(k.id)}
      sort="excess"
      descending
    />
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
    <SortTable
      rows={m.payload.objects}
      columns={columns}
      keyOf={(o) => String(o.id)}
      sort="bytes"
      descending
    />
  );
}

function Peaks({ m }: { m: Model }) {
  const { peaks } = m.payload.memory;
  if (peaks.length === 0) return null;
  return (
    <>
      <h2>Memory</h2>
      <ul class="links">
        {peaks.map((peak) => (
          <li key={peak.bytes}>
            <b class="num">{bytes(peak.bytes)}</b> reached at{" "}
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

/** The run as a whole. */
export function OverviewView({ m }: { m: Model }) {
  return (
    <article class="detail wide">
      <header class="headline">
        <h1>Overview</h1>
      </header>
      <Run m={m} />
      <h2>Kernels</h2>
      <Kernels m={m} />
      <h2>Objects</h2>
      <Objects m={m} />
      <Peaks m={m} />
    </article>
  );
}
