import { useSignal } from "@preact/signals";
import type { Model } from "../data/model";
import type { Range } from "../data/payload";
import { count, exact, percent, plural, seconds } from "../widgets/format";
import { Bar } from "../widgets/table";

const MANY = 20; // rows: more are shown as they are asked for

/** How many ranges each is within. */
function depths(ranges: Range[]): number[] {
  const found: number[] = [];
  for (const r of ranges) found.push(r.parent === undefined ? 0 : (found[r.parent] ?? 0) + 1);
  return found;
}

/** Those all of whose outer ranges are open. */
export function shownRanges(ranges: Range[], open: ReadonlySet<number>): number[] {
  const shown: number[] = [];
  const visible: boolean[] = [];
  ranges.forEach((r, i) => {
    visible[i] = r.parent === undefined || (visible[r.parent] === true && open.has(r.parent));
    if (visible[i]) shown.push(i);
  });
  return shown;
}

function Row({ r, depth, timed, children }: RowProps) {
  const name = r.domain === undefined ? r.name : `${r.domain}@${r.name}`;
  return (
    <tr>
      <td class="text mono" style={{ paddingLeft: `${depth * 1.25 + 0.5}rem` }}>
        {children} {name}
      </td>
      <td class="num">{exact(r.times)}</td>
      <td class="num">{exact(r.launches)}</td>
      {timed && <td class="num">{seconds(r.device_seconds ?? 0)}</td>}
      <td class="num">
        {r.share === undefined ? "" : <Bar share={r.share} label={percent(r.share)} />}
      </td>
      <td class="num">{count(r.sectors)}</td>
      <td class="num">{count(Math.max(0, r.sectors - r.sectors_min))}</td>
      <td class="num">{r.findings > 0 ? exact(r.findings) : "–"}</td>
    </tr>
  );
}

interface RowProps {
  r: Range;
  depth: number;
  timed: boolean;
  children: preact.ComponentChildren;
}

/** What the program calls what it does, and what the launches in it cost. */
export function Ranges({ m }: { m: Model }) {
  const ranges = m.payload.ranges ?? [];
  const parents = new Set(ranges.flatMap((r) => (r.parent === undefined ? [] : [r.parent])));
  const open = useSignal<ReadonlySet<number>>(ranges.length <= MANY ? parents : new Set());
  const depth = depths(ranges);
  const timed = ranges.some((r) => r.device_seconds !== undefined);
  if (ranges.length === 0) return null;
  const toggle = (i: number) => {
    const next = new Set(open.value);
    if (!next.delete(i)) next.add(i);
    open.value = next;
  };
  const opener = (i: number) =>
    !parents.has(i) ? (
      <span style={{ display: "inline-block", width: "1.25rem" }} />
    ) : (
      <button
        type="button"
        class="opener"
        aria-expanded={open.value.has(i)}
        aria-label={`What is within ${ranges[i]?.name}`}
        onClick={() => toggle(i)}
      >
        {open.value.has(i) ? "▾" : "▸"}
      </button>
    );
  return (
    <>
      <h2>Ranges</h2>
      <p class="muted">
        What the program itself calls what it does (NVTX), costliest first. Each of{" "}
        {plural(ranges.length, "range")} has all that was launched in it.
      </p>
      <div class="tablebox">
        <table class="ranges">
          <thead>
            <tr>
              <th class="text">range</th>
              <th class="num">times</th>
              <th class="num">launches</th>
              {timed && <th class="num">time</th>}
              <th class="num">share</th>
              <th class="num">sectors</th>
              <th class="num">more than needed</th>
              <th class="num">findings</th>
            </tr>
          </thead>
          <tbody>
            {shownRanges(ranges, open.value).map((i) => {
              const r = ranges[i];
              return (
                r && (
                  <Row key={i} r={r} depth={depth[i] ?? 0} timed={timed}>
                    {opener(i)}
                  </Row>
                )
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
