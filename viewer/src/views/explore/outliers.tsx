import { type Dim, indexOf } from "../../data/explore/tiles";
import type { Model } from "../../data/model";
import type { Outlier } from "../../data/payload";
import { exact, percent, plural } from "../../widgets/format";
import { Place } from "../source";
import type { Side } from "./side";
import { show } from "./where";

const MOST = 8;

/** "23 operations", "20 to 23 operations" */
function operationsOf(o: Outlier): string {
  if (o.operations === undefined || o.operations_most === undefined) return "";
  return o.operations === o.operations_most
    ? plural(o.operations, "operation")
    : `${exact(o.operations)} to ${plural(o.operations_most, "operation")}`;
}

function Row({ m, side, o }: { m: Model; side: Side; o: Outlier }) {
  const block = indexOf(o.block, side.launch.grid as Dim);
  const file = m.payload.files.find((f) => f.path === o.file);
  const open = () => show({ level: "block", block, warp: o.warp, step: undefined });
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

/** Which warps stand out, most different first, and why. */
export function Outliers({ m, side }: { m: Model; side: Side }) {
  const { compared } = side.row;
  const { outliers, representative } = compared;
  const alike = `Warp ${representative.warp} of the most common block stands for ${exact(compared.alike)} of ${plural(compared.count, "warp")}.`;
  return (
    <section class="outliers">
      <h2>Warps that stand out</h2>
      <p class="muted">
        {alike} {outliers.length === 0 && "No other does anything else."}
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
              <Row key={`${o.block} ${o.warp}`} m={m} side={side} o={o} />
            ))}
          </tbody>
        </table>
      )}
      {outliers.length > MOST && <p class="muted">And {exact(outliers.length - MOST)} more.</p>}
    </section>
  );
}
