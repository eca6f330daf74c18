import { workText } from "../../data/explore/alike";
import { type Dim, indexOf } from "../../data/explore/tiles";
import type { ComparedWarps, Outlier } from "../../data/payload";
import { exact, percent, plural } from "../../widgets/format";
import { Place } from "../source";
import { launchName, type Side } from "./side";
import { show } from "./where";

const MOST = 8;

/** "23 operations", "20 to 23 operations"; of hashes the instructions of the longest lane */
function operationsOf(o: Outlier): string {
  if (o.instructions !== undefined) return plural(o.instructions, "instruction");
  if (o.operations === undefined || o.operations_most === undefined) return "";
  return o.operations === o.operations_most
    ? plural(o.operations, "operation")
    : `${exact(o.operations)} to ${plural(o.operations_most, "operation")}`;
}

function Row({ side, o }: { side: Side; o: Outlier }) {
  const { m } = side;
  const block = indexOf(o.block, side.launch.grid as Dim);
  const file = m.payload.files.find((f) => f.path === o.file);
  const open = () =>
    show({ level: "block", block, warp: o.warp, step: undefined, on: side.on, than: undefined });
  return (
    <tr>
      <td class="num">{percent(o.difference)}</td>
      <td class="text">
        <button type="button" class="plainlink" onClick={open}>
          {o.which}
        </button>{" "}
        {o.why}
        {file && (
          <>
            {" "}
            (<Place m={m} file={file.id} line={o.line} link />)
          </>
        )}
      </td>
      <td class="num nowrap">{operationsOf(o)}</td>
    </tr>
  );
}

/** Which warp stands for how many. */
function aboutAll(c: ComparedWarps): string {
  const { known_by, representative, alike, count, sequences } = c;
  if (known_by === "steps")
    return `Warp ${representative.warp} of the most common block stands for ${exact(alike)} of ${plural(count, "warp")}: ${workText(c)}.`;
  return `${plural(count, "warp")} took ${plural(sequences, "path")}; that of the warp in the middle, by its instructions, ${exact(alike)} of them took.`;
}

function nobody({ known_by }: ComparedWarps): string {
  return known_by === "steps"
    ? "No other does anything else."
    : "None ran half as many instructions again, or less than two thirds.";
}

interface Props {
  side: Side;
  beside?: boolean; // there are those of another launch, too
  compared?: ComparedWarps; // where it is not the row's
}

/** Which warps stand out, most different first, and why. */
export function Outliers({ side, beside = false, compared = side.row.compared }: Props) {
  const { outliers, representative } = compared;
  const block = indexOf(representative.block, side.launch.grid as Dim);
  const open = () =>
    show({ level: "warp", block, warp: representative.warp, step: 0, on: side.on });
  return (
    <section class="outliers">
      <h2>
        Warps that stand out
        {beside && <span class="muted"> in {launchName(side.m, side.row)}</span>}
      </h2>
      <p class="muted">
        {aboutAll(compared)} {outliers.length === 0 && nobody(compared)}
        {compared.known_by === "steps" && (
          <>
            {" "}
            <button type="button" class="plainlink" onClick={open}>
              Open it
            </button>{" "}
            to see which of its operations cost much.
          </>
        )}
        {compared.cut && " There were too many kinds of warps to compare all step by step."}
      </p>
      {outliers.length > 0 && (
        <table class="plain">
          <thead>
            <tr>
              <th class="num" title="Mean difference over their operations">
                differ by
              </th>
              <th class="text">which, and why</th>
              <th class="num">they execute</th>
            </tr>
          </thead>
          <tbody>
            {outliers.slice(0, MOST).map((o) => (
              <Row key={`${o.block} ${o.warp}`} side={side} o={o} />
            ))}
          </tbody>
        </table>
      )}
      {outliers.length > MOST && <p class="muted">And {exact(outliers.length - MOST)} more.</p>}
    </section>
  );
}
