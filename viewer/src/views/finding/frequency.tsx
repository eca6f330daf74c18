import type { Frequency, FrequencyBin } from "../../data/payload";
import { bytes, count, exact, percent, plural } from "../../widgets/format";
import { Bar } from "../../widgets/table";

const timesWords = ({ least, most }: FrequencyBin): string =>
  most > least ? `${count(least)} to ${count(most)} times` : plural(least, "time");

/** Elements by how often they are accessed, each power of two with its part of all accesses. */
export function FrequencyTable({ frequency }: { frequency: Frequency }) {
  const { histogram, hot_offset, hot_bytes } = frequency;
  const all = histogram.reduce((sum, b) => sum + b.accesses, 0);
  return (
    <section>
      <h3>How often elements are accessed</h3>
      <p class="muted">
        {percent(frequency.hot_share)} of the accesses go to bytes {exact(hot_offset)} to{" "}
        {exact(hot_offset + hot_bytes - 1)} ({bytes(hot_bytes)}).
      </p>
      <div class="tablebox">
        <table class="plain">
          <thead>
            <tr>
              <th class="text">an element of 4 bytes is accessed</th>
              <th class="num">elements</th>
              <th class="text">of all accesses</th>
            </tr>
          </thead>
          <tbody>
            {histogram.map((bin) => (
              <tr key={bin.least}>
                <td class="text">{timesWords(bin)}</td>
                <td class="num">{exact(bin.elements)}</td>
                <td class="text">
                  <Bar share={bin.accesses / all} label={percent(bin.accesses / all)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
