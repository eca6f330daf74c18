/** What stands beside a launch: another one of the profile, or one of another profile. */
import { useMemo } from "preact/hooks";
import { commonText } from "../../data/explore/alike";
import { type Choice, counterpart, steppedOf } from "../../data/explore/served";
import type { Dim } from "../../data/explore/tiles";
import type { Model } from "../../data/model";
import { guest, guestError, invite } from "./guest";
import { blockName, launchName, representativeName, type Side, shortName } from "./side";
import { select, type Where } from "./where";

export interface Beside {
  m: Model;
  choice: Choice;
}

const OTHER = "other-";
const NOTHING = "none";

const optionOf = (b: Beside): string =>
  b.m.guest === undefined ? String(b.choice.launch) : `${OTHER}${b.choice.launch}`;

/** What the address says; where it says nothing, of a second profile that came with the page what corresponds. */
export function besideOf(m: Model, choice: Choice, wanted: string | undefined): Beside | undefined {
  const at = guest.value;
  if (wanted === undefined) {
    const like = at?.came ? counterpart(m, choice, at.m) : undefined;
    return at && like && { m: at.m, choice: like };
  }
  const of = wanted.startsWith(OTHER) ? at?.m : m;
  const found = of && steppedOf(of).find((c) => optionOf({ m: of, choice: c }) === wanted);
  return of && found && { m: of, choice: found };
}

/** Something else there, compared as it goes by itself. */
const put = (beside: string) =>
  select({ level: "grid", beside, on: undefined, rep2: undefined, own: undefined });

function Options({ m, but }: { m: Model; but?: Choice }) {
  // There can be thousands, and what is pointed at draws the page anew.
  return useMemo(
    () =>
      steppedOf(m)
        .filter((choice) => choice !== but)
        .map((choice) => (
          <option key={choice.launch} value={optionOf({ m, choice })}>
            {shortName(m, choice)}
          </option>
        )),
    [m, but],
  );
}

/** A launch of another report, by its file; all of that report's launches can be chosen then. */
function GuestChoice({ m, choice }: { m: Model; choice: Choice }) {
  const at = guest.value;
  const take = async (file: File) => {
    if (!(await invite(file)) || !guest.value) return;
    const like = counterpart(m, choice, guest.value.m);
    if (like) put(optionOf({ m: guest.value.m, choice: like }));
  };
  return (
    <>
      <label class="file" title="An HTML file that warplens wrote, of another profile">
        or of another report:{" "}
        <input
          type="file"
          accept=".html"
          onChange={(e) => {
            const file = e.currentTarget.files?.[0];
            if (file) void take(file);
          }}
        />
      </label>
      {at && !at.came && (
        <button
          type="button"
          onClick={() => {
            guest.value = undefined;
            put(NOTHING);
          }}
        >
          Put it away
        </button>
      )}
      {guestError.value && <span class="warntext">{guestError.value}</span>}
    </>
  );
}

/** What stands beside the launch, on the same scale. */
export function BesideChoice({ m, choice, at }: { m: Model; choice: Choice; at?: Beside }) {
  const other = guest.value?.m;
  const none = steppedOf(m).length < 2 && !other;
  return (
    <div class="exploretools">
      <label>
        Beside it{" "}
        <select
          value={at ? optionOf(at) : NOTHING}
          disabled={none}
          onChange={(e) => put(e.currentTarget.value)}
        >
          <option value={NOTHING}>nothing</option>
          {other && (
            <optgroup label={other.guest ?? ""}>
              <Options m={other} />
            </optgroup>
          )}
          <optgroup label={m.payload.profile ?? "this profile"}>
            <Options m={m} but={choice} />
          </optgroup>
        </select>
      </label>
      <GuestChoice m={m} choice={choice} />
    </div>
  );
}

/** Which block the others are compared with, and who chose it. */
export function RepChoice({ side, where }: { side: Side; where: Where }) {
  const grid = side.launch.grid as Dim;
  const at = where.on === side.on ? where.block : undefined;
  const key = side.on ? "rep2" : "rep";
  const how = side.lent ? "" : side.chosen ? " (your choice)" : " (the most common)";
  return (
    <span class="rep">
      Compared with <b class="repname">{representativeName(side)}</b>
      <span class="muted">{how}</span>{" "}
      {at !== undefined && (side.lent || at !== side.rep) && (
        <button type="button" title="r" onClick={() => select({ [key]: at })}>
          Compare with {blockName(at, grid)}
        </button>
      )}
      {side.chosen && (
        <button type="button" onClick={() => select({ [key]: undefined, own: undefined })}>
          Choose by itself
        </button>
      )}
      {side.lent && (
        <button type="button" onClick={() => select({ own: 1 })}>
          Compare with its own
        </button>
      )}
      {side.akin && where.own !== undefined && !side.chosen && (
        <button type="button" onClick={() => select({ own: undefined })}>
          Compare with the one at the left
        </button>
      )}
    </span>
  );
}

interface CaptionProps {
  side: Side;
  left: Side | undefined; // what it stands beside
  where: Where;
}

/** Above a grid that has another one beside it. */
export function Caption({ side, left, where }: CaptionProps) {
  return (
    <figcaption>
      <b>{launchName(side.m, side.row)}</b>
      <span title={left && "In brackets: times what a warp at the left does"}>
        {commonText(side.row.compared, left?.row.compared)}
      </span>
      <RepChoice side={side} where={where} />
    </figcaption>
  );
}
