import type { Model } from "../../data/model";
import { objectOf } from "../../data/model";
import type { Finding } from "../../data/payload";
import { href } from "../../state/route";
import { CardList } from "../../widgets/cards";
import { middle, percent } from "../../widgets/format";
import { Bar } from "../../widgets/table";
import { shortObject } from "../names";
import { place } from "../source";
import { FindingDetail } from "./detail";

function Card({ m, finding, number }: { m: Model; finding: Finding; number: number }) {
  const object = objectOf(m, finding.object);
  const line = finding.lines[0];
  const kernel = m.kernelById.get(finding.kernel);
  return (
    <>
      <span class="rank">{number}</span>
      <span class="title">{finding.title}</span>
      <Bar share={finding.share_of_program} label={percent(finding.share_of_program)} />
      {finding.gain !== "full" && <span class="badge calm">gains little</span>}
      <span class="where mono">
        {middle(kernel?.short_name ?? "unknown kernel", 30)}
        {object ? ` · ${middle(shortObject(object), 20)}` : ""}
      </span>
      <span class="where mono">{place(m, line?.file, line?.line)}</span>
    </>
  );
}

function Nothing({ m }: { m: Model }) {
  const seen = (m.payload.coverage.launches_observed ?? m.payload.launches.length) > 0;
  return (
    <div class="empty">
      <h1>No findings</h1>
      <p>
        {seen
          ? "No memory access pattern of the observed launches costs enough to be worth a change."
          : "No kernel launch was observed, so nothing can be said about the program."}
      </p>
    </div>
  );
}

/** Findings, dearest first, and the one that is selected. */
export function FindingsView({ m, id }: { m: Model; id: number | undefined }) {
  const { findings } = m.payload;
  if (findings.length === 0) return <Nothing m={m} />;
  const number = Math.min(findings.length, Math.max(1, id ?? 1));
  const finding = findings[number - 1];
  return (
    <div class="split">
      <CardList
        ranked
        label="Findings"
        head="Excess, as a share of the program's traffic"
        items={findings}
        idOf={(_, i) => i + 1}
        on={number}
        href={(n) => href("finding", n)}
        card={(f, n) => <Card m={m} finding={f} number={n} />}
      />
      {finding && <FindingDetail key={number} m={m} finding={finding} number={number} />}
    </div>
  );
}
