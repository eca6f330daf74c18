import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { lifeName } from "../../data/coursewords";
import type { MemoryChange } from "../../data/payload";
import { madeOf, planned, toggled } from "../../data/whatif";
import { href } from "../../state/route";
import { bytes, exact, percent, plural } from "../../widgets/format";
import type { MemoryState } from "./state";

const MOST = 60; // until the reader asks for all

interface Listed {
  index: number;
  change: MemoryChange;
  step: number; // the first of the plan's; 0: none
  adds: number;
}

/** The changes that concern the device's memory: the plan's steps in their order, then what saves most by itself. */
export function listedChanges(s: MemoryState): Listed[] {
  const { hits, lives, row } = s.d;
  const rows = row.changes.map((change, index) => {
    const own = Array.from({ length: change.count }, (_, i) => change.first + i);
    const steps = own.map((h) => hits.step[h] as number).filter(Boolean);
    const adds = Math.max(0, ...own.map((h) => hits.adds[h] as number));
    return { index, change, step: steps.length > 0 ? Math.min(...steps) : 0, adds };
  });
  const here = ({ change }: Listed) =>
    change.effect !== "nothing" && lives.device[hits.object[change.first] as number] === s.device;
  const place = (l: Listed) => (l.step > 0 ? l.step : Number.POSITIVE_INFINITY);
  return rows
    .filter(here)
    .sort((a, b) => place(a) - place(b) || b.change.saves - a.change.saves || a.index - b.index);
}

interface TickProps {
  s: MemoryState;
  index: number;
  label: string;
}

/** A box that makes a change, or undoes it. */
export function Tick({ s, index, label }: TickProps) {
  const box = useRef<HTMLInputElement>(null);
  const made = madeOf(s.d, index, s.made.value);
  useEffect(() => {
    if (box.current) box.current.indeterminate = made === "some";
  });
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label={label}
      checked={made === "all"}
      onChange={() => {
        s.made.value = toggled(s.d, index, s.made.peek());
      }}
    />
  );
}

/** What it saves, in words. */
export function savingOf({ change, step, adds }: Omit<Listed, "index">): string {
  const alone = change.saves > 0 ? `${bytes(change.saves)} by itself` : "";
  const together = step > 0 ? `${bytes(adds)} of the plan` : "";
  return [together, alone].filter(Boolean).join(", ") || "nothing by itself";
}

function ChangeRow({ s, listed }: { s: MemoryState; listed: Listed }) {
  const { change, index, step } = listed;
  const object = s.d.hits.object[change.first] as number;
  const name = lifeName(s.m, s.d, object);
  return (
    <li>
      <Tick s={s} index={index} label={`${change.title}: ${name}`} />
      <div>
        <span class="title">
          {change.title}
          {change.possible && <span class="muted"> (possibly)</span>}
        </span>
        <button type="button" class="plainlink mono" onClick={() => s.select({ object })}>
          {name}
        </button>
        {change.count > 1 && <span class="muted">, {plural(change.count, "time")}</span>}
        <span class="muted small">
          {step > 0 && <b>Step {exact(step)} of the plan. </b>}
          Saves {savingOf(listed)}.{" "}
          {change.number !== undefined && (
            <a href={href("finding", change.number)}>Finding {exact(change.number)}</a>
          )}
        </span>
      </div>
    </li>
  );
}

const less = (before: number, after: number): string =>
  before > 0 && after < before ? `, ${percent(1 - after / before)} less` : "";

/** What the peak is, and what it would be. */
function Peaks({ s }: { s: MemoryState }) {
  const { now, withPlan } = s;
  const whatIf = s.whatIf.value;
  return (
    <dl class="peaks">
      <dt>Peak now</dt>
      <dd class="num">{bytes(now.peak)}</dd>
      {s.hasPlan && <dt>With the plan</dt>}
      {s.hasPlan && (
        <dd class="num goodtext">
          {bytes(withPlan.peak)}
          {less(now.peak, withPlan.peak)}
        </dd>
      )}
      <dt>With what is ticked</dt>
      <dd class="num" aria-live="polite">
        {whatIf ? `${bytes(whatIf.peak)}${less(now.peak, whatIf.peak)}` : "nothing is"}
      </dd>
    </dl>
  );
}

/** The peak with what is ticked; the plan at one click. */
export function PeaksPane({ s }: { s: MemoryState }) {
  return (
    <section aria-label="The peak">
      <Peaks s={s} />
      <p class="ticks">
        {s.hasPlan && (
          <button
            type="button"
            onClick={() => {
              s.made.value = planned(s.d);
            }}
          >
            Tick the plan
          </button>
        )}
        <button
          type="button"
          disabled={s.whatIf.value === undefined}
          onClick={() => {
            s.made.value = new Uint8Array(s.d.hits.count);
          }}
        >
          Untick all
        </button>
      </p>
    </section>
  );
}

/** Changes to tick: the curve and the peak follow. */
export function ChangesPane({ s }: { s: MemoryState }) {
  const all = useSignal(false);
  const listed = listedChanges(s);
  const worth = listed.filter(({ change, step }) => step > 0 || change.saves > 0);
  const shown = all.value ? listed : worth.slice(0, MOST);
  const rest = listed.length - shown.length;
  return (
    <section class="changes" aria-labelledby="changes-title">
      <h2 id="changes-title">What would lower the peak</h2>
      {worth.length === 0 && <p class="muted">Nothing was found that would by itself.</p>}
      <ul>
        {shown.map((l) => (
          <ChangeRow key={l.index} s={s} listed={l} />
        ))}
      </ul>
      {rest > 0 && (
        <button
          type="button"
          class="showall"
          onClick={() => {
            all.value = true;
          }}
        >
          {worth.length > MOST
            ? `Show all ${plural(listed.length, "change")}`
            : `Show ${exact(rest)} more, which ${rest === 1 ? "saves" : "save"} nothing by ${rest === 1 ? "itself" : "themselves"}`}
        </button>
      )}
    </section>
  );
}
