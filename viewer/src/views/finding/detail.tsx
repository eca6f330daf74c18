import {
  cost,
  costliest,
  exampleOf,
  isAboutObject,
  isTraffic,
  kernelOf,
  type Model,
  objectOf,
  placesOf,
  wholeOf,
} from "../../data/model";
import type {
  Finding,
  FindingLine,
  Group,
  Instruction,
  Saving,
  Shapes,
  Unit,
} from "../../data/payload";
import { changeWords, otherWords } from "../../data/remedy";
import { savedAs, savedAtFullSize, savedPart, savedSeconds, savesNothing } from "../../data/saving";
import { BankPicture } from "../../pictures/banks";
import { HeatStrip } from "../../pictures/heatstrip";
import { combined, ideal, lanesOf, sectorsOf } from "../../pictures/layout";
import { RemedySketch } from "../../pictures/remedy";
import { SectorPicture, scaleFor } from "../../pictures/sectors";
import { findingHref, href } from "../../state/route";
import { Figure } from "../../widgets/figure";
import { bytes, count, exact, percent, plural, ratio, shapeOf } from "../../widgets/format";
import { KernelName, ObjectName } from "../names";
import { Code, Excerpt, type Mark, Place } from "../source";
import { Evidence } from "./evidence";
import { isCounted } from "./sure";
import { Verdict } from "./verdict";

const BYTES_PER_WORD = 4;

const TRAFFIC = "avoidable sectors and wavefronts, of all sectors and wavefronts";
const WHOLE: Record<Unit, string> = {
  sectors: TRAFFIC,
  wavefronts: TRAFFIC,
  bytes: "of what was in use at the peak",
  "copied bytes": "of what copies and sets write",
  barriers: "of the barriers that warps come to",
  "bytes of shared memory": "of the shared memory that all blocks reserve",
  "warp instructions":
    "what the multiprocessors without a block could have executed, of what all could",
};

/** Units that are sizes, and what there is too much of. */
const SIZES = { bytes: "memory", "copied bytes": "copying" } as const;

const isSize = (unit: Unit): unit is keyof typeof SIZES => unit in SIZES;

const amount = (n: number, unit: Unit): string => (isSize(unit) ? bytes(n) : count(n));

/** The lines that cost more than they must; all of them where the cost is not within single requests. */
function guilty(finding: Finding): FindingLine[] {
  const own = finding.lines.filter((l) => !l.inside);
  const lines = own.filter((l) => {
    const { now, min } = cost(l, finding.unit);
    return now > min;
  });
  return lines.length > 0 ? lines : own;
}

/** How much of the device time the kernel takes, where that was measured. */
const ofTime = (f: Finding): string =>
  f.kernel_share_of_time === undefined
    ? ""
    : `, which takes ${percent(f.kernel_share_of_time)} of the GPU time`;

const ofKernel = (gain: Saving): string =>
  gain.of_kernel === undefined || savesNothing(gain)
    ? ""
    : `: ${percent(savedPart(gain.of_kernel))} of the kernel's time`;

function Figures({ group, finding }: { group: Group; finding: Finding }) {
  const { unit } = finding;
  const full = savedAtFullSize(group.worth);
  const one = unit === "wavefronts" ? "wavefront" : "sector";
  const moves = finding.evidence.find((e) => e.name === "transfers_per_sector")?.value;
  const lines = guilty(finding);
  const sums = lines.map((l) => cost(l, unit));
  const now = sums.reduce((s, c) => s + c.now, 0);
  const min = sums.reduce((s, c) => s + c.min, 0);
  const requests = lines.reduce((s, l) => s + l.requests, 0);
  return (
    <div class="figures">
      {group.worth && (
        <Figure
          value={savedSeconds(group.worth)}
          label={`predicted to be saved${ofKernel(group.worth)}`}
          title={`Eight of ten measured gains lie from ${savedAs(group.worth.low)} to ${savedAs(group.worth.high)}.`}
        />
      )}
      {full !== undefined && finding.gain === "full" && (
        <Figure
          value={percent(full)}
          label="of the kernel's time where the grid fills the device"
          title="The kernel takes hardly longer than its launch: it is judged as it would be on larger data."
        />
      )}
      <Figure
        value={percent(group.share_of_program)}
        label={`of ${wholeOf(unit)}`}
        title={WHOLE[unit]}
      />
      {group.count === 1 && isTraffic(unit) && finding.share_of_kernel !== undefined && (
        <Figure
          value={percent(finding.share_of_kernel)}
          label={`of the kernel's ${unit}${ofTime(finding)}`}
        />
      )}
      <Figure
        value={amount(group.excess, unit)}
        label={
          unit === "warp instructions"
            ? `more ${unit} would have had room`
            : `avoidable ${isSize(unit) ? SIZES[unit] : unit}`
        }
        title={exact(group.excess)}
      />
      {requests > 0 && now > min && isTraffic(unit) && !OVER_TIME.has(finding.pattern) && (
        <Figure
          value={`${ratio(now / requests)} → ${ratio(min / requests)}`}
          label={`${one}s per request, now and needed`}
        />
      )}
      {moves !== undefined && now <= min && (
        <Figure
          value={`${ratio(moves)} ×`}
          label={`each ${one} moves so often, in the block of the heat map`}
        />
      )}
    </div>
  );
}

/** The lines of each file, the costliest file first. */
function Sources({ m, finding }: { m: Model; finding: Finding }) {
  const byFile = new Map<number, Mark[]>();
  const worst = guilty(finding);
  finding.lines.forEach((l, rank) => {
    if (l.file === undefined || l.line === undefined) return;
    const { now } = cost(l, finding.unit);
    const each = l.requests > 0 ? `, ${ratio(now / l.requests)} per request` : "";
    const mark = {
      line: l.line,
      first: rank === 0,
      calm: !worst.includes(l),
      note: l.requests > 0 ? `${count(now)} ${finding.unit}${each}` : "",
    };
    const marks = byFile.get(l.file);
    if (marks) marks.push(mark);
    else byFile.set(l.file, [mark]);
  });
  // Of a helper of the toolkit there is nothing to read.
  for (const { file, inside } of finding.lines)
    if (inside && file !== undefined && !m.fileById.get(file)?.chunks.length) byFile.delete(file);
  if (byFile.size === 0) {
    return (
      <p class="hint">
        No line information: compile with <code>-lineinfo</code> to see source lines here.
      </p>
    );
  }
  return (
    <>
      {[...byFile].map(([file, marks]) => (
        <Excerpt key={file} m={m} file={file} marks={marks} />
      ))}
    </>
  );
}

const SHAPES: Record<keyof Shapes, string> = {
  uniform: "All lanes take the same address",
  contiguous: "Neighbouring lanes take neighbouring elements",
  misaligned: "Neighbouring lanes take neighbouring elements, off the sector boundary",
  strided: "Neighbouring lanes are a constant distance apart",
  irregular: "Addresses differ irregularly",
};

function Caption({ i, finding }: { i: Instruction; finding: Finding }) {
  const lanes = lanesOf(i, BYTES_PER_WORD);
  const { now, min } = cost(i, finding.unit);
  const one = finding.unit === "wavefronts" ? "wavefronts" : "sectors";
  return (
    <p class="caption">
      {SHAPES[lanes.shape]}
      {lanes.shape === "strided" ? ` (${exact(i.stride)} bytes)` : ""} in {percent(lanes.share)} of{" "}
      {count(i.requests)} requests, {plural(i.bytes, "byte")} per lane. Measured:{" "}
      <b class="num">{ratio(now / Math.max(1, i.requests))}</b> {one} per request, needed{" "}
      <b class="num">{ratio(min / Math.max(1, i.requests))}</b>.
      {lanes.updates &&
        lanes.shape === "uniform" &&
        lanes.address.length > 1 &&
        ` The ${lanes.address.length} updates of one address are carried out one after the other.`}
      {lanes.schematic &&
        (i.space === "shared"
          ? " The picture is an example: the number of wavefronts is as measured, which lanes collide is not."
          : " The picture is an example: the number of sectors is as measured, which ones is not.")}
      {lanes.example &&
        !lanes.schematic &&
        lanes.shape !== "misaligned" &&
        " The picture is an example: it shows as many lanes as are active on average."}
      {lanes.shape === "misaligned" && " The picture shows a shift by one word as an example."}
    </p>
  );
}

function RequestPicture({ i, finding }: { i: Instruction; finding: Finding }) {
  const now = lanesOf(i, BYTES_PER_WORD);
  const added = finding.pattern === "same-address";
  const best = added ? combined(now) : ideal(now);
  const scale = scaleFor(Math.max(sectorsOf(now).length, sectorsOf(best).length));
  const title = now.example ? "Now, an example" : "Now";
  const mended = added
    ? "If one lane updated it for all"
    : now.shape === "uniform"
      ? "If the lanes took neighbouring elements"
      : "Ideal";
  return (
    <div class="pictures">
      {i.space === "shared" ? (
        <div class="pair">
          <BankPicture title={title} lanes={now} />
          <BankPicture title={added ? mended : "Without conflicts"} lanes={best} />
        </div>
      ) : (
        <>
          <SectorPicture title={title} lanes={now} scale={scale} />
          <SectorPicture title={mended} lanes={best} scale={scale} />
        </>
      )}
      <Caption i={i} finding={finding} />
    </div>
  );
}

// These patterns are about warps sharing: a picture of one request shows them only where it is wasteful in itself.
const BETWEEN_WARPS = new Set(["hot", "shared-thread-local", "shared-warp-local"]);

// These are about how often data is accessed: no request by itself shows that.
const OVER_TIME = new Set(["promote", "shared-used-once"]);

function worthAPicture(i: Instruction, finding: Finding): boolean {
  const { now, min } = cost(i, finding.unit);
  return (
    i.requests > 0 &&
    !OVER_TIME.has(finding.pattern) &&
    (now > min || !BETWEEN_WARPS.has(finding.pattern))
  );
}

function warpsOf(m: Model, finding: Finding): number {
  const block = exampleOf(m, finding)?.block ?? [1024, 1, 1];
  return Math.min(32, Math.ceil((block[0] * block[1] * block[2]) / 32));
}

function Pictures({ m, finding }: { m: Model; finding: Finding }) {
  const i = costliest(m, finding);
  const request = i && worthAPicture(i, finding);
  const sectors = finding.access?.sectors ?? [];
  if (!request && sectors.length === 0) return null;
  return (
    <section>
      <h2>{request ? "One request of a warp" : "Who touches what"}</h2>
      {request && i.text && (
        <p class="ptx">
          <Code text={i.text} />
        </p>
      )}
      {request && <RequestPicture i={i} finding={finding} />}
      {sectors.length > 0 && <HeatStrip sectors={sectors} warps={warpsOf(m, finding)} />}
    </section>
  );
}

/** Whether fixing it gains what the numbers say, and whether they are counts. */
function Worth({ m, finding }: { m: Model; finding: Finding }) {
  const little = finding.gain !== "full";
  const counted = isCounted(m, finding);
  return (
    <ul class="worth tight">
      <li class={little ? "warntext" : "goodtext"}>
        {little ? `! ${finding.gain_note ?? "Fixing this gains little"}` : "✓ Worth fixing"}
      </li>
      <li class={counted ? "goodtext" : "warntext"}>
        {counted ? "✓ Counted, not estimated" : "! Counted in part: see “How sure”"}
      </li>
    </ul>
  );
}

/** Whether it is about when objects live, not about what a kernel accesses. */
const isAboutMemory = (f: Finding): boolean => f.kernel === undefined && isSize(f.unit);

interface Props {
  m: Model;
  group: Group;
  finding: Finding;
}

/** All places where the finding shows: one change fixes them. The details below are of the chosen one. */
function Places({ m, group, finding }: Props) {
  if (group.count === 1) return null;
  return (
    <section aria-labelledby="places-title">
      <h2 id="places-title">{plural(group.count, "place")}, one fix</h2>
      <div class="tablebox">
        <table class="plain places">
          <thead>
            <tr>
              <th class="text">line</th>
              <th class="text">kernel</th>
              <th class="text">object</th>
              <th class="num">
                avoidable {isSize(finding.unit) ? SIZES[finding.unit] : finding.unit}
              </th>
              <th class="num">of the program</th>
              <th class="num">of the kernel</th>
            </tr>
          </thead>
          <tbody>
            {placesOf(m, finding.number).map((f) => (
              <tr key={`${f.kernel} ${f.object}`} class={f === finding ? "on" : ""}>
                <td class="text">
                  <a
                    href={findingHref(m.payload, f)}
                    aria-current={f === finding}
                    aria-label={`Details of ${kernelOf(m, f.kernel)?.short_name ?? "this place"}`}
                  >
                    <Place m={m} file={f.lines[0]?.file} line={f.lines[0]?.line} />
                  </a>
                </td>
                <td class="text">
                  {f.kernel !== undefined && <KernelName m={m} id={f.kernel} most={40} />}
                </td>
                <td class="text">
                  {isAboutObject(f) && (
                    <>
                      <ObjectName m={m} id={f.object} />
                      <Parameters finding={f} />
                    </>
                  )}
                </td>
                <td class="num">{amount(f.excess, f.unit)}</td>
                <td class="num">{percent(f.share_of_program)}</td>
                <td class="num">
                  {f.share_of_kernel === undefined ? "" : percent(f.share_of_kernel)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** By which of its parameters the kernel has the object. */
function Parameters({ finding }: { finding: Finding }) {
  const names = finding.parameters;
  if (names === undefined) return null;
  return (
    <span class="muted">
      , {names.length === 1 ? "parameter" : "parameters"}{" "}
      <span class="mono">{names.join(", ")}</span>
    </span>
  );
}

function Header({ m, group, finding }: Props) {
  const line = finding.lines[0];
  const launch = exampleOf(m, finding);
  const object = objectOf(m, finding.object);
  const others = (finding.access?.objects ?? 1) - 1;
  return (
    <header class="headline">
      <p class="crumbs muted">
        Finding {finding.number} of {m.payload.groups.length} ·{" "}
        <span class="mono">{finding.pattern}</span>
      </p>
      <h1>{finding.title}</h1>
      <p class="who">
        {finding.kernel !== undefined && <KernelName m={m} id={finding.kernel} />}
        {launch && <span class="muted"> {shapeOf(launch.grid, launch.block)}</span>}
        {isAboutObject(finding) && (
          <>
            {finding.kernel !== undefined && <span class="dot">·</span>}
            <ObjectName m={m} id={finding.object} />
            <Parameters finding={finding} />
          </>
        )}
        {object?.bytes !== undefined && (
          <span class="muted">
            , {bytes(object.bytes)}, {object.kind}
            {others > 0 && `, and ${others} more allocated there`}
          </span>
        )}
        {(finding.kernel !== undefined || line?.file !== undefined) && (
          <>
            {(finding.kernel !== undefined || isAboutObject(finding)) && <span class="dot">·</span>}
            <Place m={m} file={line?.file} line={line?.line} link />
          </>
        )}
      </p>
      <Figures group={group} finding={finding} />
      <Worth m={m} finding={finding} />
    </header>
  );
}

/** The address of the map that shows what the finding says. */
function mapOf(m: Model, f: Finding, object: number): string {
  const maps = m.mapsOf.get(object) ?? [];
  const at = maps.findIndex((h) => h.kernel === f.kernel && h.launch === f.access?.example_launch);
  const query: Record<string, string | number> = at > 0 ? { map: at + 1 } : {};
  if (f.pattern.startsWith("shared-")) query.mode = "owner";
  return href("object", object, query);
}

/** What has to hold for the advice, what it changes as counted, and what else would do. */
function Remedies({ group, finding }: { group: Group; finding: Finding }) {
  const [first, ...others] = finding.remedies ?? [];
  if (!first) return null;
  const changes = group.count === 1 ? changeWords(first) : "";
  return (
    <dl class="told">
      <dt>Provided</dt>
      <dd>{first.conditions.join(" ")}</dd>
      {changes && <dt>Then</dt>}
      {changes && <dd>{changes}</dd>}
      {others.length > 0 && <dt>Or</dt>}
      {others.map((r) => (
        <dd key={r.name}>{otherWords(r)}</dd>
      ))}
    </dl>
  );
}

export function FindingDetail({ m, group, finding }: Props) {
  const little = finding.gain !== "full";
  return (
    <article class="detail">
      <Verdict m={m} />
      <Header m={m} group={group} finding={finding} />
      <Places m={m} group={group} finding={finding} />
      <p class="summary">{finding.summary}</p>
      <Sources m={m} finding={finding} />
      <section class={`remedy${little ? " little" : ""}`} aria-labelledby="remedy-title">
        <h2 id="remedy-title">
          {little ? "What would change it, though it is not worth doing" : "What to change"}
        </h2>
        <p>{group.advice}</p>
        <Remedies group={group} finding={finding} />
        <RemedySketch finding={finding} />
      </section>
      <Pictures m={m} finding={finding} />
      <Evidence m={m} finding={finding} />
      <p class="more">
        {finding.kernel !== undefined && (
          <a href={href("kernel", finding.kernel)}>All lines of the kernel</a>
        )}
        {finding.object !== undefined && m.mapsOf.has(finding.object) && (
          <a href={mapOf(m, finding, finding.object)}>Heat map of the object</a>
        )}
        {isAboutMemory(finding) && (
          <a href={href("memory", finding.object)}>
            {finding.object === undefined
              ? "What was in use, and what would make room"
              : "Its life among the others, and what the change saves"}
          </a>
        )}
      </p>
    </article>
  );
}
