import type { Model } from "../../data/model";
import { cost, sourceLine } from "../../data/model";
import type { Finding, FindingLine } from "../../data/payload";
import { exact, quantity, ratio } from "../../widgets/format";
import { Code, Place } from "../source";
import { FrequencyTable } from "./frequency";
import { RefusalTable } from "./refusal";
import { Sureness, WhyBlocks } from "./sure";

function LineTable({ m, finding }: { m: Model; finding: Finding }) {
  const one = finding.unit === "wavefronts" ? "wavefronts" : "sectors";
  const row = (l: FindingLine) => {
    const { now, min } = cost(l, finding.unit);
    return (
      <tr key={`${l.file}:${l.line}:${l.pc}`}>
        <td class="text">
          {l.inside && "in "}
          <Place m={m} file={l.file} line={l.line} link />
        </td>
        <td class="text code">
          <Code text={(sourceLine(m, l.file, l.line) ?? "").trim()} />
        </td>
        <td class="num">{exact(l.requests)}</td>
        <td class="num">{exact(now)}</td>
        <td class="num">{exact(min)}</td>
        <td class="num">{min > 0 ? `${ratio(now / min)}×` : ""}</td>
      </tr>
    );
  };
  return (
    <div class="tablebox">
      <table class="plain">
        <thead>
          <tr>
            <th class="text">line</th>
            <th class="text">source</th>
            <th class="num">requests</th>
            <th class="num">{one}</th>
            <th class="num">needed</th>
            <th class="num">times the needed</th>
          </tr>
        </thead>
        <tbody>{finding.lines.map(row)}</tbody>
      </table>
    </div>
  );
}

/** The unit, unless the label says it already: "words used per sector" needs no "words" after the number. */
const unitBeside = (e: Finding["evidence"][number]): string =>
  e.label.includes(e.unit) ? "" : e.unit;

export function Evidence({ m, finding }: { m: Model; finding: Finding }) {
  return (
    <section>
      <h2>Evidence</h2>
      <div class={finding.evidence.length > 0 ? "columns" : ""}>
        {finding.evidence.length > 0 && (
          <table class="plain evidence">
            <tbody>
              {finding.evidence.map((e) => (
                <tr key={e.name}>
                  <th scope="row" class="text">
                    {e.label}
                  </th>
                  <td class="num">{quantity(e.value, unitBeside(e))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <div>
          <h3>How sure</h3>
          <Sureness m={m} finding={finding} />
          <WhyBlocks m={m} finding={finding} />
        </div>
      </div>
      {finding.refusal && <RefusalTable refusal={finding.refusal} />}
      {finding.frequency && <FrequencyTable frequency={finding.frequency} />}
      {finding.lines.some((l) => l.requests > 0) && <LineTable m={m} finding={finding} />}
    </section>
  );
}
