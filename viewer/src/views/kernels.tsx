import { type Family, families } from "../data/families";
import type { Model } from "../data/model";
import { kernelExcess, kernelTraffic } from "../data/model";
import type { Kernel } from "../data/payload";
import { href } from "../state/route";
import { count, dim, exact, middle, plural, seconds } from "../widgets/format";
import { type ColumnOf, SortTable } from "../widgets/table";
import { KernelName } from "./names";

/** What a kernel moves: as much as it must, and the rest. */
function Shares({ k, extra, most }: { k: Kernel; extra: number; most: number }) {
  const part = (n: number) => `${(n / most) * 100}%`;
  const needed = Math.max(0, kernelTraffic(k) - extra);
  return (
    <div
      class="shares"
      role="img"
      aria-label={`${count(needed)} needed, ${count(extra)} avoidable`}
    >
      <span class="needed" style={{ width: part(needed) }} />
      <span class="extra" style={{ width: part(extra) }} />
    </div>
  );
}

/** On the device, else of the emulation. */
function secondsOf(m: Model, k: Family): number | undefined {
  if (k.device_seconds !== undefined) return k.device_seconds;
  const ids = new Set(k.members.map((of) => of.id));
  const known = m.payload.launches
    .filter((l) => ids.has(l.kernel))
    .map((l) => l.host_seconds)
    .filter((t): t is number => t !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : undefined;
}

/** Not all launches of a kernel are timed. */
function Time({ m, k }: { m: Model; k: Family }) {
  const s = secondsOf(m, k);
  if (s === undefined) return null;
  if (k.timed === undefined || k.timed === k.noted) return <>{seconds(s)}</>;
  const how = `${exact(k.timed)} of ${exact(k.noted ?? 0)} launches were timed; the others count as those like them`;
  return <span title={how}>~{seconds(s)}</span>;
}

/** Of a kernel that ran unobserved nothing is known: that is not zero. */
const known = (k: Kernel, n: number) => (k.launches > 0 ? count(n) : "–");

/** A sum over the accesses of a kernel, of which some may be missing in it. */
export function Sum({ k, n }: { k: Kernel; n: number }) {
  if (!k.lacks) return <>{known(k, n)}</>;
  return <span title="lacks accesses that are not known: see Coverage">&gt; {count(n)}</span>;
}

function Launches({ k }: { k: Kernel }) {
  if (k.launches > 0 || k.noted === undefined) return <>{exact(k.launches)}</>;
  return <span title="what they accessed was not observed">{exact(k.noted)}, not observed</span>;
}

/** A kernel's name; of instances of a template its, and by what one of them differs. */
function Name({ m, k }: { m: Model; k: Family }) {
  if (k.members.length > 1)
    return (
      <span class="mono" title={plural(k.members.length, "instance")}>
        {middle(k.family ?? "", 56)} <span class="muted">({k.members.length})</span>
      </span>
    );
  return <KernelName m={m} id={k.id} most={64} />;
}

const alone = (k: Kernel): Family => ({ ...k, members: [k] });

/** By which arguments an instance of a template differs from the others. */
function Instance({ k }: { k: Kernel }) {
  return (
    <a class="mono" href={href("kernel", k.id)} title={k.name}>
      {middle(k.instance ?? k.short_name, 64)}
    </a>
  );
}

/** The kernels as a table, the one that wastes most first; those of one template in a row that opens. */
export function Kernels({ m }: { m: Model }) {
  const excess = (k: Family) => k.members.reduce((sum, of) => sum + kernelExcess(m, of), 0);
  const rows = families(m.payload.kernels);
  const most = Math.max(1, ...rows.map(kernelTraffic));
  const conflicts = (k: Kernel) => Math.max(0, k.wavefronts - k.wavefronts_min);
  const emulated = m.payload.program.collector === "emulate";
  const columns: ColumnOf<Family>[] = [
    {
      key: "kernel",
      label: "kernel",
      text: true,
      value: (k) => k.name,
      cell: (k) => <Name m={m} k={k} />,
    },
    {
      key: "cost",
      label: "needed and avoidable",
      help: "Sectors and wavefronts: those that are needed, and those that the findings could save",
      value: excess,
      cell: (k) => (k.launches > 0 ? <Shares k={k} extra={excess(k)} most={most} /> : null),
    },
    {
      key: "launches",
      label: "launches",
      value: (k) => Math.max(k.launches, k.noted ?? 0),
      cell: (k) => <Launches k={k} />,
    },
    {
      key: "time",
      label: emulated ? "emulated in" : "time",
      help: emulated ? "Time of the emulation on this host, not of a GPU" : "Time on the device",
      value: (k) => secondsOf(m, k) ?? -1,
      cell: (k) => <Time m={m} k={k} />,
    },
    {
      key: "shape",
      label: "blocks × threads",
      text: true,
      value: (k) => dim(k.grid),
      cell: (k) => (k.members.length > 1 ? "" : `${dim(k.grid)} of ${dim(k.block)}`),
    },
    {
      key: "instructions",
      label: "thread instructions",
      value: (k) => k.thread_instructions ?? -1,
      cell: (k) => known(k, k.thread_instructions ?? 0),
    },
    {
      key: "requests",
      label: "requests",
      value: (k) => k.requests,
      cell: (k) => <Sum k={k} n={k.requests} />,
    },
    {
      key: "sectors",
      label: "sectors",
      value: (k) => k.sectors,
      cell: (k) => <Sum k={k} n={k.sectors} />,
    },
    { key: "excess", label: "avoidable", value: excess, cell: (k) => known(k, excess(k)) },
    {
      key: "conflicts",
      label: "bank conflicts",
      help: "Wavefronts that bank conflicts add",
      value: conflicts,
      cell: (k) => known(k, conflicts(k)),
    },
  ];
  const instances: ColumnOf<Family>[] = columns.map((c) =>
    c.key === "kernel" ? { ...c, label: "instance", cell: (k) => <Instance k={k} /> } : c,
  );
  return (
    <SortTable
      rows={rows}
      columns={columns}
      keyOf={(k) => String(k.id)}
      sort="cost"
      descending
      opens={(k) => k.members.length > 1}
      detail={(k) => (
        <SortTable
          rows={k.members.map(alone)}
          columns={instances}
          keyOf={(of) => String(of.id)}
          sort="cost"
          descending
        />
      )}
    />
  );
}
