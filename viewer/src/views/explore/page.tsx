import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { ARCHS } from "../../data/explore/archs";
import {
  type Choice,
  choicesOf,
  type Held,
  heldHere,
  heldOf,
  isServed,
} from "../../data/explore/served";
import { bundleFor, type Dim } from "../../data/explore/tiles";
import { archOfDevice } from "../../data/explore/transactions";
import type { WarpData } from "../../data/explore/types";
import type { Model } from "../../data/model";
import type { Kernel, Served } from "../../data/payload";
import { exact, plural } from "../../widgets/format";
import { type Beside, besideOf, Caption } from "./beside";
import { Block, COLUMNS, cellText } from "./block";
import { Focus, useUpKeys } from "./focus";
import { type Camera, type Fit, Grid, spotText } from "./grid";
import type { Spot } from "./gridpaint";
import { guest } from "./guest";
import { HashedExplorer } from "./hashed";
import { Legend } from "./legend";
import { Failed, type Loaded, useLoaded } from "./loaded";
import { OperationView } from "./operation";
import { Outliers } from "./outliers";
import { blockName, comparedWarp, launchName, type Side, sideOf } from "./side";
import { SourcePane } from "./source";
import { LaunchChoice, OtherLaunches, Player, Tools } from "./tools";
import { Traced } from "./traced";
import { WarpView } from "./warp";
import { here, select, show, type Where } from "./where";

const ROWS = 24; // of a tile, about

function Empty({ m }: { m: Model }) {
  const left = m.payload.explore;
  return (
    <div class="empty">
      <h1>What warps did, step by step</h1>
      {left.length > 0 ? (
        <p>
          {plural(left.length, "launch", "launches")} found no room in this report:{" "}
          <code>warplens explore PROFILE</code> shows them.
        </p>
      ) : (
        <p>
          This profile does not hold them: <code>warplens profile --set sequences</code> keeps them;
          on a GPU, of kernels that data decides, <code>--probes trace,path</code> keeps the
          requests of a few blocks, and which path each warp took.
        </p>
      )}
    </div>
  );
}

function Crumbs({ side, other, where }: { side: Side; other: Side | undefined; where: Where }) {
  const grid = side.launch.grid as Dim;
  const parts: [string, (() => void) | undefined][] = [["Grid", () => show({ level: "grid" })]];
  if (where.level !== "grid" && where.block !== undefined)
    parts.push([blockName(where.block, grid), () => show({ level: "block" })]);
  if ((where.level === "warp" || where.level === "operation") && where.warp !== undefined)
    parts.push([`warp ${where.warp}`, () => show({ level: "warp" })]);
  if (where.level === "operation")
    parts.push([`operation ${exact((where.step ?? 0) + 1)}`, undefined]);
  return (
    <nav class="levels" aria-label="Levels">
      {parts.map(([text, to], i) => (
        <span key={text}>
          {i > 0 && <span class="muted"> › </span>}
          {to && i < parts.length - 1 ? (
            <button type="button" class="plainlink" onClick={to}>
              {text}
            </button>
          ) : (
            <b aria-current="page">{text}</b>
          )}
        </span>
      ))}
      {other && where.level !== "grid" && <Across side={side} other={other} where={where} />}
    </nav>
  );
}

/** Which of two launches it is, and the way to the same place in the other one. */
function Across({ side, other, where }: { side: Side; other: Side; where: Where }) {
  const there = other.data.firstOf.has(where.block ?? 0);
  return (
    <span class="across">
      {" "}
      <span class="muted">of {launchName(side.m, side.row)}</span>{" "}
      <button
        type="button"
        disabled={!there}
        title={there ? "" : "That launch has no block of this number, or it is not in the profile"}
        onClick={() => show({ on: other.on })}
      >
        ⇄ the same in {launchName(other.m, other.row)}
      </button>
    </span>
  );
}

interface LevelProps {
  side: Side;
  where: Where;
  bundle: number;
  arch: string;
  pointed: (text: string, pcs: number[]) => void;
}

const pcsOf = (side: Side, kind: number, from: number, n: number): number[] =>
  kind < 0 ? [] : [...new Set(side.data.pcsOf(kind, from, n))];

function BlockLevel({ side, where, bundle, arch, pointed }: LevelProps) {
  const block = where.block ?? 0;
  const kinds = useMemo(() => side.data.kindsOf(block), [side, block]);
  const than = comparedWarp(side, where);
  const loaded = useLoaded(async () => {
    const pairs = [...kinds].map((kind) => ({ kind, than: kinds[than] as number }));
    const known = pairs.filter((p) => p.kind >= 0);
    const curves = await side.data.curvesOf(known, arch);
    let at = 0;
    return pairs.map((p) => (p.kind >= 0 ? curves[at++] : undefined));
  }, [side, block, than, arch]);
  const curves = loaded.value;
  if (loaded.error) return <Failed {...loaded} />;
  if (!curves) return <p class="muted">Comparing the warps …</p>;
  const props = { side, where, bundle, kinds, curves, than };
  const point = (warp: number | undefined, at: number | undefined) => {
    if (warp === undefined || at === undefined) return pointed("", []);
    const text = cellText({ ...props, point }, warp, at);
    return pointed(text, pcsOf(side, kinds[warp] ?? -1, at * bundle, bundle));
  };
  return (
    <div class="level">
      <Block {...props} point={point} />
      <Focus />
    </div>
  );
}

function WarpLevel({ side, where, arch }: LevelProps) {
  const loaded = useLoaded(
    () => side.data.warp(where.block ?? 0, where.warp ?? 0),
    [side, where.block, where.warp],
  );
  const warp: WarpData | undefined = loaded.value;
  const last = (warp?.operations().length ?? 1) - 1;
  const step = Math.min(where.step ?? 0, last);
  const open = () => show({ level: "operation", step });
  useEnterKey(where.level === "warp", open);
  if (loaded.error) return <Failed {...loaded} />;
  if (
    loaded.value === undefined &&
    side.data.indexOf(where.block ?? 0, where.warp ?? 0) === undefined
  )
    return <p class="muted">The profile does not hold what this warp did.</p>;
  if (!warp || warp.block !== where.block || warp.warp !== where.warp)
    return <p class="muted">Unpacking the warp's steps …</p>;
  const props = { m: side.m, launch: side.launch, warp, step, arch };
  const to = (next: number) => select({ level: where.level, step: next });
  if (where.level === "operation")
    return (
      <div class="level">
        <OperationView {...props} onStep={to} />
        <Focus key="operation" />
      </div>
    );
  return (
    <div class="level">
      <Focus key="warp" />
      <button type="button" class="openstep" onClick={open}>
        Open operation {exact(step + 1)} <kbd>Enter</kbd>
      </button>
      <WarpView {...props} onStep={(next) => (next === step ? open() : to(next))} />
    </div>
  );
}

/** Enter opens what is selected, wherever the focus is, unless it is on something that Enter presses. */
function useEnterKey(on: boolean, open: () => void): void {
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const pressed =
        e.target instanceof HTMLElement && e.target.matches("a, button, input, select");
      if (!on || e.key !== "Enter" || pressed || e.defaultPrevented) return;
      e.preventDefault();
      open();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
}

const fits = signal<Record<string, Fit>>({});
const camera = signal<Camera>({ scale: undefined, x: 0, y: 0 });

interface GridLevelProps extends Omit<LevelProps, "side" | "arch" | "pointed"> {
  side: Side; // the launch itself
  beside: Loaded<Side | undefined> | undefined; // what stands beside it, once it is there
  at: Beside | undefined;
  most: number;
  point: (side: Side, spot: Spot | undefined) => void;
}

function GridLevel({ side, beside, at, where, bundle, most, point }: GridLevelProps) {
  const of = (s: Side) => (s.on === where.on ? where : { ...where, block: undefined });
  const other = beside?.value;
  return (
    <div class={at ? "level grids two" : "level grids"}>
      <Focus />
      {[side, ...(other ? [other] : [])].map((s) => (
        <figure key={s === side ? "it" : "beside"}>
          {at && <Caption side={s} left={s.on && side} where={where} />}
          <Grid
            side={s}
            where={of(s)}
            most={most}
            bundle={bundle}
            camera={camera}
            slot={s === side ? "it" : "beside"}
            fits={fits}
            point={point}
          />
        </figure>
      ))}
      {other && !other.akin && (
        <p class="muted strangers">
          The two launches ran different code, so each is compared with a block of its own. How long
          their warps are, and what they move, can be compared as they stand.
        </p>
      )}
      {at && !other && (
        <figure>
          <figcaption>
            <b>{launchName(at.m, at.choice)}</b>
          </figcaption>
          {beside?.error ? <Failed {...beside} /> : <Unpacking choice={at.choice} />}
        </figure>
      )}
    </div>
  );
}

const SOON = 2; // seconds, after which it is said how long it takes

/** While a launch is not there yet. */
function Unpacking({ choice }: { choice: Choice }) {
  const seconds = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      seconds.value++;
    }, 1000);
    return () => clearInterval(timer);
  }, [choice]);
  const what =
    "warps" in choice
      ? `Unpacking what ${plural(choice.warps, "warp")} did …`
      : `warplens reads from the profile what the warps of launch ${choice.launch} did …`;
  return (
    <p class="muted unpacking">
      <span role="status">{what}</span>
      {seconds.value > SOON && ` ${seconds.value} s so far`}
    </p>
  );
}

interface AwaitedProps {
  m: Model;
  choice: Choice;
  loaded: Loaded<unknown>;
  children: ComponentChildren; // while there is no error
}

/** In place of a launch that is not there yet, or cannot be had; another one can be chosen. */
function Awaited({ m, choice, loaded, children }: AwaitedProps) {
  return (
    <div class="exploremain">
      <div class="exploretools">
        <LaunchChoice m={m} choice={choice} />
      </div>
      {loaded.error ? <Failed {...loaded} /> : children}
    </div>
  );
}

/** What the levels show, loaded: a launch, and the one beside it on the same scale. */
function useSides(m: Model, choice: Choice, where: Where, arch: string, at: Beside | undefined) {
  const { rep, rep2, own } = where;
  const main = useLoaded(() => sideOf({ m, choice, arch, rep }), [m, choice, arch, rep]);
  const left = main.value;
  const beside = useLoaded<Side | undefined>(
    async () =>
      at && left
        ? sideOf({ ...at, arch, rep: rep2, beside: left, own: own !== undefined })
        : undefined,
    [left, at?.m, at?.choice, arch, rep2, own],
  );
  const shown = beside.value;
  // What stood there before does not stay until the other one is there.
  const other = shown && (shown.m !== at?.m || shown.row.launch !== at?.choice.launch);
  return { main, beside: at && !other ? beside : undefined };
}

interface Pointed {
  text: string;
  pcs: number[];
  of?: Side;
}

function Explorer({ m, choice }: { m: Model; choice: Choice }) {
  const where = { ...here(), launch: choice.launch };
  const arch =
    ARCHS.find((a) => a.id === where.arch)?.id ??
    archOfDevice(m.payload.device?.compute_capability ?? "9.0").id;
  const at = besideOf(m, choice, where.beside);
  const { main, beside } = useSides(m, choice, where, arch, at);
  const status = useSignal<Pointed>({ text: "", pcs: [] });
  const other = beside?.value;
  const focus = where.on && at ? beside : main;
  const side = focus?.value;
  useEffect(() => {
    camera.value = { scale: undefined, x: 0, y: 0 };
  }, [choice.launch, where.beside, guest.value]);
  useEffect(() => {
    status.value = { text: "", pcs: [] };
  }, [where.level, side !== undefined]);
  useUpKeys(where.level !== "grid");
  const deep = where.level !== "grid";
  if (main.error || !main.value || (deep && at && !side))
    return (
      <Awaited m={m} choice={choice} loaded={main.value ? (focus ?? {}) : main}>
        <Unpacking choice={main.value && at ? at.choice : choice} />
      </Awaited>
    );
  const shown = side ?? main.value;
  const most = Math.max(main.value.most, other?.most ?? 1);
  const bundle = where.bundle && where.bundle > 0 ? where.bundle : bundleFor(most, ROWS);
  const point = (of: Side, spot: Spot | undefined) => {
    const pcs = spot
      ? pcsOf(of, of.data.kindOf(spot.block, spot.warp), spot.bundle * bundle, bundle)
      : [];
    status.value = { text: spot ? whereText(of, at) + spotText(of, spot, bundle) : "", pcs, of };
  };
  const pointed = (text: string, pcs: number[]) => {
    status.value = { text, pcs, of: shown };
  };
  const level = { side: shown, where, bundle, arch, pointed };
  const both = [main.value, ...(other ? [other] : [])];
  const told = where.level === "grid" ? main.value : shown;
  return (
    <div class="explorebody">
      <div class="exploremain">
        <Crumbs side={shown} other={both.find((s) => s !== shown)} where={where} />
        <Tools
          m={m}
          choice={choice}
          side={told}
          at={at}
          where={where}
          bundle={bundle}
          arch={arch}
        />
        <OtherLaunches m={told.m} row={told.row} />
        {(where.level === "grid" ? both : [shown]).map((s) => (
          <Traced key={s.on ?? 0} side={s} beside={both.length > 1} />
        ))}
        {where.level === "grid" && (
          <GridLevel
            side={main.value}
            beside={beside}
            at={at}
            where={where}
            bundle={bundle}
            most={most}
            point={point}
          />
        )}
        {where.level === "block" && <BlockLevel {...level} />}
        {(where.level === "warp" || where.level === "operation") && <WarpLevel {...level} />}
        {where.level === "grid" && both.map((s) => <LeftOut key={s.on ?? 0} side={s} />)}
        <p class="pointed" aria-live="polite">
          {status.value.text || <Said {...level} at={at} />}
        </p>
        <Player side={shown} where={where} most={most} />
        {(where.level === "grid" || where.level === "block") && (
          <Legend level={where.level} columns={COLUMNS} />
        )}
        {where.level === "grid" &&
          both.map((s) => <Outliers key={s.on ?? 0} side={s} beside={both.length > 1} />)}
      </div>
      <Pane
        side={status.value.pcs.length > 0 ? (status.value.of ?? shown) : shown}
        where={where}
        bundle={bundle}
        pcs={status.value.pcs}
      />
    </div>
  );
}

function LeftOut({ side }: { side: Side }) {
  if (side.leftOut === 0) return null;
  return (
    <p class="muted">
      {plural(side.leftOut, "warp")} of {exact(side.row.warps)} are not compared here: what they did
      differs too much from round to round, or from warp to warp, to compare all of it for one
      picture. Those whose paths most warps took came first. Open a block to compare its warps.
    </p>
  );
}

/** What is selected, when nothing is pointed at. */
function Said({ side, where, bundle, at }: LevelProps & { at: Beside | undefined }) {
  if (where.block === undefined || where.level !== "grid")
    return (
      <span class="muted">
        {where.level === "grid"
          ? "Point at a cell to read what it says; click, or press Enter, to open its block."
          : where.level === "block"
            ? "Point at a cell to read what it says; click, or press Enter, to open its warp."
            : ""}
      </span>
    );
  const spot = {
    block: where.block,
    warp: where.warp ?? 0,
    bundle: Math.floor((where.step ?? 0) / bundle),
  };
  return <>{whereText(side, at) + spotText(side, spot, bundle)}</>;
}

/** Which of two grids it is. */
const whereText = (side: Side, at: Beside | undefined): string =>
  at ? `At the ${side.on ? "right" : "left"}: ` : "";

interface PaneProps {
  side: Side;
  where: Where;
  bundle: number;
  pcs: number[]; // pointed at
}

/** The source of what is pointed at, else of what is selected, else of the representative's first operations. */
function Pane({ side, where, bundle, pcs }: PaneProps) {
  const { data, m } = side;
  const kernel = m.kernelById.get(side.row.kernel) as Kernel;
  const own = data.kindOf(where.block ?? side.rep, where.warp ?? 0);
  const kind = own < 0 ? (data.opened.warps.kind[0] ?? -1) : own;
  const played = where.level === "grid" || where.level === "block" ? where.until : undefined;
  const step = played ?? where.step ?? 0;
  const one = where.level === "warp" || where.level === "operation";
  const from = one ? step : Math.floor(step / bundle) * bundle;
  const shown = pcs.length > 0 ? pcs : pcsOf(side, kind, from, one ? 1 : bundle);
  const what =
    pcs.length > 0
      ? "what is pointed at"
      : one || bundle === 1
        ? `operation ${exact(from + 1)}`
        : `operations ${exact(from + 1)} to ${exact(from + bundle)}`;
  return <SourcePane m={m} kernel={kernel} pcs={shown} what={what} />;
}

/** By what is known of its warps: paths, from which blocks lead on to their steps, or steps alone. */
function HeldLaunch({ m, choice, held }: { m: Model; choice: Choice; held: Held }) {
  const steps = <Explorer m={m} choice={choice} />;
  if (!held.row.hashed?.columns) return steps;
  return <HashedExplorer m={m} choice={choice} held={held} steps={steps} />;
}

/** What is known of it comes with its row. */
function ServedLaunch({ m, choice }: { m: Model; choice: Served }) {
  const loaded = useLoaded(() => heldOf(m, choice), [m, choice]);
  if (loaded.value) return <HeldLaunch m={m} choice={choice} held={loaded.value} />;
  return (
    <Awaited m={m} choice={choice} loaded={loaded}>
      <Unpacking choice={choice} />
    </Awaited>
  );
}

/** The explorer: what the warps of a launch did, from the grid to a single operation. */
export function ExploreView({ m, id }: { m: Model; id: number | undefined }) {
  const rows = choicesOf(m);
  const choice = rows.find((r) => r.launch === id) ?? rows[0];
  if (!choice) return <Empty m={m} />;
  return (
    <article class="explore">
      {isServed(choice) ? (
        <ServedLaunch key={choice.launch} m={m} choice={choice} />
      ) : (
        <HeldLaunch key={choice.launch} m={m} choice={choice} held={heldHere(m, choice)} />
      )}
    </article>
  );
}
