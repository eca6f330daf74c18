import { exampleOf, kernelOf, type Model } from "../../data/model";
import type { Finding, Sample } from "../../data/payload";
import { whyBlock } from "../../data/sample";
import { href } from "../../state/route";
import { Fact } from "../../widgets/fact";
import { exact, plural, ratio } from "../../widgets/format";

const isEstimated = (m: Model, finding: Finding) =>
  m.payload.launches.some((l) => l.kernel === finding.kernel && l.estimated);

/** Whether the finding's numbers are counts of everything: all blocks, nothing lost or estimated. */
export function isCounted(m: Model, finding: Finding): boolean {
  const launch = exampleOf(m, finding);
  const whole = launch !== undefined && launch.blocks_observed === launch.blocks_run;
  return (
    (whole || !finding.access) &&
    !isEstimated(m, finding) &&
    (m.payload.coverage.records_dropped ?? 0) === 0
  );
}

/** How sure the numbers are: what was counted, and over how much. */
export function Sureness({ m, finding }: { m: Model; finding: Finding }) {
  const launch = exampleOf(m, finding);
  const kernel = kernelOf(m, finding.kernel);
  const all = launch && launch.blocks_observed === launch.blocks_run;
  const dropped = m.payload.coverage.records_dropped ?? 0;
  return (
    <ul class="facts">
      {launch && (
        <Fact good={all === true}>
          {all
            ? `counted on ${launch.blocks_run === 1 ? "the only block" : `all ${exact(launch.blocks_run)} blocks`} of a launch`
            : `counted on ${exact(launch.blocks_observed)} of ${exact(launch.blocks_run)} blocks of a launch`}
        </Fact>
      )}
      {!launch && !isEstimated(m, finding) && <Fact good>counted in all observed launches</Fact>}
      {isEstimated(m, finding) && (
        <Fact good={false}>
          estimated in some launches, from some of the blocks or from a similar launch
        </Fact>
      )}
      {kernel && finding.access && (
        <Fact good={finding.access.launches === kernel.launches}>
          shows in {exact(finding.access.launches)} of{" "}
          {plural(kernel.launches, "observed launch", "observed launches")}
        </Fact>
      )}
      {dropped > 0 && <Fact good={false}>{plural(dropped, "access", "accesses")} not counted</Fact>}
    </ul>
  );
}

/** The blocks with heat maps, which tell what warps share, and why these. */
export function WhyBlocks({ m, finding }: { m: Model; finding: Finding }) {
  const samples = exampleOf(m, finding)?.samples ?? [];
  if (samples.length === 0) return null;
  return (
    <>
      <h3>Why these blocks</h3>
      <p class="muted small">Which warps share sectors is known of the blocks with heat maps:</p>
      <SampleList m={m} samples={samples} object={finding.object} />
    </>
  );
}

interface ListProps {
  m: Model;
  samples: Sample[];
  object?: number | undefined;
}

/** Sampled blocks with why, linked to their maps of an object where the report has them. */
function SampleList({ m, samples, object }: ListProps) {
  const maps = object === undefined ? [] : (m.mapsOf.get(object) ?? []);
  return (
    <ul class="tight small">
      {samples.map((s) => {
        const name = `(${s.block.join(", ")})`;
        const map = maps.findIndex((h) => h.block.join() === s.block.join());
        const each = s.sectors_per_request;
        return (
          <li key={name}>
            {map >= 0 && object !== undefined ? (
              <a href={href("object", object, { map: map + 1 })}>{name}</a>
            ) : (
              name
            )}{" "}
            {whyBlock(s)}
            {each !== undefined && <span class="muted">, {ratio(each)} sectors per request</span>}
            {!s.mapped && (
              <span class="warntext">
                {" "}
                – no heat map, as it made too many accesses; --block {s.block.join(",")} gives it
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
