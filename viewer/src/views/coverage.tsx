import type { Model } from "../data/model";
import type { Coverage, Gap } from "../data/payload";
import { href } from "../state/route";
import { Fact } from "../widgets/fact";
import { baseName, exact, middle, plural } from "../widgets/format";

const known = (...values: (number | undefined)[]) => values.every((v) => v !== undefined);

/** "12 of 12 launches", and whether that is all of them. */
function Part({ n, of, what }: { n: number | undefined; of: number | undefined; what: string }) {
  if (!known(n, of)) return null;
  return (
    <Fact good={n === of}>
      {exact(n ?? 0)} of {exact(of ?? 0)} {what}
    </Fact>
  );
}

function LeftOut({ c }: { c: Coverage }) {
  const records = c.records_dropped ?? 0;
  const sectors = c.sectors_dropped ?? 0;
  return (
    <>
      {records > 0 && <Fact good={false}>{plural(records, "access", "accesses")} not counted</Fact>}
      {sectors > 0 && (
        <Fact good={false}>{plural(sectors, "sector")} missing in heat maps, which were full</Fact>
      )}
      {known(c.records_dropped) && records + sectors === 0 && <Fact good>no accesses lost</Fact>}
      {c.maps_left_out > 0 && (
        <Fact good={false}>
          {plural(c.maps_left_out, "heat map")} of the profile left out of this report:{" "}
          <code>warplens report --maps all</code> writes one with all of them
        </Fact>
      )}
      {c.launches_left_out > 0 && (
        <Fact good={false}>
          {plural(c.launches_left_out, "launch", "launches")} not listed here
        </Fact>
      )}
      {(c.objects_without_site ?? 0) > 0 && (
        <Fact good={false}>
          {plural(c.objects_without_site ?? 0, "object")} without a source line: compile with nvcc
          -g to see where they are allocated
        </Fact>
      )}
    </>
  );
}

const MOST_NAMES = 5;

/** Kernels and files whose source cannot be shown, why, and how it could be. */
function WithoutSource({ m }: { m: Model }) {
  const blind = m.payload.kernels.filter((k) => k.line === undefined).length;
  const unread = m.payload.files.filter((f) => f.missing);
  const missing = Math.max(unread.length, m.payload.coverage.sources_missing ?? 0);
  const names = unread.slice(0, MOST_NAMES).map((f) => `${baseName(f.path)} (${f.missing})`);
  return (
    <>
      {blind > 0 && (
        <Fact good={false}>
          {plural(blind, "kernel")} without line information: compile with nvcc -lineinfo to see
          source lines
        </Fact>
      )}
      {missing > 0 && (
        <Fact good={false}>
          {plural(missing, "source file")} could not be read
          {names.length > 0 && `: ${names.join(", ")}${missing > names.length ? ", …" : ""}`}
        </Fact>
      )}
    </>
  );
}

/** What was not seen of a kernel for one reason. */
function gapText(gaps: Gap[]): string {
  const lines = [...new Set(gaps.flatMap((g) => g.line ?? []))].sort((a, b) => a - b);
  const named = lines.slice(0, MOST_NAMES).join(", ") + (lines.length > MOST_NAMES ? ", …" : "");
  return `${plural(gaps.length, "memory instruction")}${lines.length > 0 ? `, line ${named}` : ""}`;
}

/** A kernel's name as it fits a line; its whole name is at hand on pointing at it. */
const shortKernel = (m: Model, name: string): string =>
  middle(m.payload.kernels.find((k) => k.name === name)?.short_name ?? name, 80);

function Gaps({ m, gaps }: { m: Model; gaps: Gap[] }) {
  const groups = new Map<string, Gap[]>();
  for (const g of gaps) {
    const key = `${g.kernel} ${g.reason}`;
    const group = groups.get(key);
    if (group) group.push(g);
    else groups.set(key, [g]);
  }
  if (gaps.length === 0) return null;
  return (
    <table class="plain">
      <caption>Accesses that were not observed</caption>
      <thead>
        <tr>
          <th class="text">kernel</th>
          <th class="text">what</th>
          <th class="text">why</th>
        </tr>
      </thead>
      <tbody>
        {[...groups].map(([key, group]) => (
          <tr key={key}>
            <td class="text mono" title={group[0]?.kernel}>
              {shortKernel(m, group[0]?.kernel ?? "")}
            </td>
            <td class="text">{gapText(group)}</td>
            <td class="text">{group[0]?.reason}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Skipped({ c }: { c: Coverage }) {
  if (c.skipped.length === 0) return null;
  return (
    <table class="plain">
      <caption>Launches that were not observed</caption>
      <thead>
        <tr>
          <th class="text">kernel</th>
          <th class="num">launches</th>
          <th class="text">why</th>
        </tr>
      </thead>
      <tbody>
        {c.skipped.map((s) => (
          <tr key={`${s.kernel} ${s.reason}`}>
            <td class="text mono" title={s.kernel}>
              {s.short_name}
            </td>
            <td class="num">{exact(s.launches)}</td>
            <td class="text">{s.reason}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Of how many blocks there are heat maps; all others are only counted. */
function mapsText(c: Coverage): string {
  const blocks = c.blocks_sampled ?? 0;
  const launches = c.launches_observed ?? 0;
  const mapped = c.launches_mapped ?? launches;
  let of = launches > 1 && blocks % launches === 0 ? ` (${blocks / launches} per launch)` : "";
  if (mapped < launches) of = ` in ${exact(mapped)} of ${exact(launches)} launches`;
  const stand = `, which ${blocks === 1 ? "stands" : "stand"} for the others`;
  return `${plural(blocks, "block")} with heat maps${of}${blocks === c.blocks_run ? "" : stand}`;
}

/** The end of every page: what was observed, and what was not. */
export function CoveragePanel({ m }: { m: Model }) {
  const c = m.payload.coverage;
  return (
    <section class="coverage" aria-labelledby="coverage-title">
      <h2 id="coverage-title">Coverage</h2>
      <ul class="facts">
        <Part n={c.launches_observed} of={c.launches_seen} what="launches observed" />
        {(c.launches_failed ?? 0) > 0 && (
          <Fact good={false}>
            {plural(c.launches_failed ?? 0, "launch", "launches")} failed: see the overview
          </Fact>
        )}
        {(c.launches_estimated ?? 0) > 0 && (
          <Fact good={false}>
            {plural(c.launches_estimated ?? 0, "launch", "launches")} estimated, from some of the
            blocks or from a similar launch
          </Fact>
        )}
        <Part n={c.kernels_observed} of={c.kernels_seen} what="kernels observed" />
        <Part n={c.blocks_observed} of={c.blocks_run} what="blocks counted" />
        {(c.blocks_sampled ?? 0) > 0 && <Fact good>{mapsText(c)}</Fact>}
        <LeftOut c={c} />
        {c.thresholds && (
          <Fact good={false}>
            findings are by other thresholds than usual:{" "}
            {c.thresholds.map((t) => `${t.name} ${t.value} (default ${t.initial})`).join(", ")}
          </Fact>
        )}
        <WithoutSource m={m} />
        {c.unsupported_calls.length > 0 && (
          <Fact good={false}>
            CUDA functions that the program called, and that warplens does not support:{" "}
            <span class="mono">{c.unsupported_calls.join(", ")}</span>
          </Fact>
        )}
        {c.messages.map((msg) => (
          <Fact key={msg.text} good={msg.level !== "error" && msg.level !== "warning"}>
            {msg.text}
          </Fact>
        ))}
      </ul>
      <Skipped c={c} />
      <Gaps m={m} gaps={c.gaps ?? []} />
      <p class="small glossarylink">
        <a href={href("glossary")}>Glossary: what the words of this report mean</a>
      </p>
    </section>
  );
}
