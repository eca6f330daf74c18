import { showsGroup } from "../../data/filter";
import { kernelOf, lineOf, type Model, objectOf, placesOf } from "../../data/model";
import type { Group } from "../../data/payload";
import { savedPart } from "../../data/saving";
import { filter } from "../../state/filter";
import { href, route } from "../../state/route";
import { CardList } from "../../widgets/cards";
import { middle, percent, plural } from "../../widgets/format";
import { Bar } from "../../widgets/table";
import { Failures } from "../failures";
import { FilterBar } from "../filter";
import { shortObject } from "../names";
import { place } from "../source";
import { FindingDetail } from "./detail";

function Card({ m, group, number }: { m: Model; group: Group; number: number }) {
  const finding = placesOf(m, number)[0];
  if (!finding) return null;
  const object = objectOf(m, finding.object);
  const line = lineOf(finding);
  const kernel = kernelOf(m, finding.kernel);
  const share = savedPart(group.worth?.of_program ?? group.share_of_program);
  return (
    <>
      <span class="rank">{number}</span>
      <span class="title">{finding.title}</span>
      <Bar
        share={share}
        label={group.worth && group.worth.of_program <= 0 ? "saves nothing" : percent(share)}
      />
      <span class="where mono">
        {[
          finding.kernel === undefined ? "" : middle(kernel?.short_name ?? "unknown kernel", 30),
          object ? middle(shortObject(object), 24) : "",
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
      <span class="where mono">
        {place(m, line?.file, line?.line)}
        {group.count > 1 && ` and ${plural(group.count - 1, "more place")}`}
      </span>
    </>
  );
}

const LITTLE_GAIN =
  "These patterns are there, but they cost hardly any time, or go with another change.";

/** Said once for all findings of little gain that have it in common. */
function section(group: Group, before: Group | undefined) {
  const reason = group.gain_reason;
  if (reason === undefined || before?.gain_reason === reason) return undefined;
  return (
    <>
      {!before?.gain_reason && (
        <span class="littlegain">
          <b>Of little gain: not worth working on.</b> {LITTLE_GAIN}
        </span>
      )}{" "}
      {reason}
    </>
  );
}

/** What was seen, but is no finding. */
const leftOut = (m: Model): string | undefined =>
  m.payload.left_out && `Left out: ${m.payload.left_out.text}`;

/** What the observed launches come to where there are no findings. */
function verdict(m: Model): string {
  const seen = (m.payload.coverage.launches_observed ?? m.payload.launches.length) > 0;
  if (!seen) return "No kernel launch was observed, so nothing can be said about the program.";
  return m.payload.left_out?.much
    ? "More moves than is needed, in no pattern that there is advice for."
    : "No memory access pattern of the observed launches costs enough to be worth a change.";
}

function Nothing({ m }: { m: Model }) {
  const title = m.payload.left_out?.much ? "Unexplained sectors" : "No findings";
  return (
    <div class="empty">
      <h1>{m.payload.failures.length > 0 ? "The program did not run to its end" : title}</h1>
      <Failures m={m} />
      <p>{verdict(m)}</p>
      <p class="muted">{leftOut(m)}</p>
    </div>
  );
}

interface Numbered {
  group: Group;
  number: number; // from 1
}

/** The findings that the filter lets through, costliest first. */
export const listedGroups = (m: Model): Numbered[] =>
  m.payload.groups
    .map((group, i) => ({ group, number: i + 1 }))
    .filter(({ number }) => showsGroup(m, number, filter.value));

/** Findings, costliest first, and the one that is selected. */
export function FindingsView({ m, id }: { m: Model; id: number | undefined }) {
  const { groups } = m.payload;
  const listed = listedGroups(m);
  const number = Math.min(groups.length, Math.max(1, id ?? listed[0]?.number ?? 1));
  const group = groups[number - 1];
  if (!group) return <Nothing m={m} />;
  const at = Number.parseInt(route.value.query.place ?? "1", 10) || 1;
  const places = placesOf(m, number);
  const finding = places[at - 1] ?? places[0];
  return (
    <div class="split">
      <CardList
        ranked
        label="Findings"
        head={
          m.payload.groups.some((g) => g.worth)
            ? "Largest gain first; bars: the time predicted to be saved"
            : "Costliest first; bars: the avoidable share"
        }
        filter={<FilterBar m={m} shown={listed.length} all={groups.length} />}
        items={listed}
        idOf={(item) => item.number}
        on={number}
        href={(n) => href("finding", n)}
        foot={leftOut(m)}
        section={(item, before) => section(item.group, before?.group)}
        card={({ group: g }, n) => <Card m={m} group={g} number={n} />}
      />
      {finding && <FindingDetail key={`${number} ${at}`} m={m} group={group} finding={finding} />}
    </div>
  );
}
