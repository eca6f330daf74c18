import type { LiveRanges } from "../../data/payload";
import { count, exact, percent } from "../../widgets/format";
import { Bar } from "../../widgets/table";

const WORDS: Record<string, string> = {
  loaded: "filled from device memory",
  copied: "filled by an asynchronous copy",
  computed: "computed",
};
const EXACT = 16; // from here on an octave is one row

const times = (n: number): string => (n < EXACT ? exact(n) : `${count(n)} to ${count(2 * n - 1)}`);

/** How many live ranges of a shared array's words have how many accesses. */
export function RangeTable({ rows }: { rows: LiveRanges[] }) {
  const all = rows.reduce((sum, r) => sum + r.ranges, 0);
  if (all === 0) return null;
  return (
    <div class="tablebox">
      <table class="plain liveranges">
        <caption>
          Live ranges of its words in all blocks: from a store that fills a word to the next
        </caption>
        <thead>
          <tr>
            <th class="text">value</th>
            <th class="num">accesses of a range</th>
            <th class="num">ranges</th>
            <th class="text">of all ranges</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={`${r.origin} ${r.accesses}`}>
              <td class="text">{WORDS[r.origin] ?? r.origin}</td>
              <td class="num">{times(r.accesses)}</td>
              <td class="num">{exact(r.ranges)}</td>
              <td class="text">
                <Bar share={r.ranges / all} label={percent(r.ranges / all)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
