import type { ComponentChildren } from "preact";
import {
  accessesOf,
  ENDS,
  LAUNCH,
  NONE,
  POSSIBLY,
  READ,
  SEEN_BY_HOST,
  WRITE,
} from "../../data/course";
import { hitWords, lifeName, opApi, opName, opPlace } from "../../data/coursewords";
import { objectOf } from "../../data/model";
import { href } from "../../state/route";
import { FactRow } from "../../widgets/fact";
import { baseName, bytes, exact, percent, plural, seconds } from "../../widgets/format";
import { KernelName, ObjectName } from "../names";
import { Place } from "../source";
import { savingOf, Tick } from "./changes";
import { laneName } from "./curve";
import type { MemoryState } from "./state";

const MOST = 12; // objects, kernels

/** An operation's name, that selects it. */
function OpLink({ s, op }: { s: MemoryState; op: number }) {
  if (op === NONE) return <span class="muted">none</span>;
  const place = opPlace(s.m, s.d, op);
  return (
    <button type="button" class="plainlink" onClick={() => s.select({ op })}>
      {opName(s.m, s.d, op)}
      {place && ` at ${place}`}
    </button>
  );
}

function ObjectLink({ s, object }: { s: MemoryState; object: number }) {
  return (
    <button type="button" class="plainlink mono" onClick={() => s.select({ object })}>
      {lifeName(s.m, s.d, object)}
    </button>
  );
}

/** The frames that led to a call, the innermost first. */
function CallPath({ s, op }: { s: MemoryState; op: number }) {
  const site = s.d.sites[s.d.ops.site[op] as number];
  const frames = s.d.stacks[site?.stack ?? -1]?.filter((f) => f.function || f.file) ?? [];
  if (!site) return null;
  return (
    <>
      <h3>Call path</h3>
      <ol class="callpath">
        <li>
          <span class="mono">{site.api}</span>
        </li>
        {frames.map((f, i) => (
          <li key={i}>
            <span class="mono">{f.function ?? "?"}</span>{" "}
            {f.file && f.line && (
              <span class="place" title={f.file}>
                {baseName(f.file)}:{f.line}
              </span>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Who accesses an object, how often: kernels, and copies and sets together. */
function usersOf(
  s: MemoryState,
  object: number,
): { kernel: number; reads: number; writes: number }[] {
  const { touches, ops } = s.d;
  const users = new Map<number, { kernel: number; reads: number; writes: number }>();
  const end = touches.start[object + 1] as number;
  for (let t = touches.start[object] as number; t < end; t++) {
    const op = touches.op[t] as number;
    const kernel = ops.kind[op] === LAUNCH ? (ops.kernel[op] as number) : 0;
    const user = users.get(kernel) ?? { kernel, reads: 0, writes: 0 };
    const times = ops.repeat[op] as number;
    if ((touches.how[t] as number) & READ) user.reads += times;
    if ((touches.how[t] as number) & WRITE) user.writes += times;
    users.set(kernel, user);
  }
  return [...users.values()].sort((a, b) => b.reads + b.writes - a.reads - a.writes);
}

function Users({ s, object }: { s: MemoryState; object: number }) {
  const users = usersOf(s, object);
  if (users.length === 0) return null;
  return (
    <>
      <h3>Who uses it</h3>
      <table class="plain users">
        <thead>
          <tr>
            <th class="text">kernel</th>
            <th class="num">reads</th>
            <th class="num">writes</th>
          </tr>
        </thead>
        <tbody>
          {users.slice(0, MOST).map((u) => (
            <tr key={u.kernel}>
              <td class="text">
                {u.kernel ? <KernelName m={s.m} id={u.kernel} most={34} /> : "copies and sets"}
              </td>
              <td class="num">{exact(u.reads)}</td>
              <td class="num">{exact(u.writes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {users.length > MOST && <p class="muted">and {plural(users.length - MOST, "more kernel")}</p>}
    </>
  );
}

/** A pattern of the object: what was found, what to change, what that saves. */
function Found({ s, hit }: { s: MemoryState; hit: number }) {
  const index = s.d.hits.change[hit] as number;
  const change = s.d.row.changes[index];
  if (!change) return null;
  const group = change.number === undefined ? undefined : s.m.payload.groups[change.number - 1];
  const step = s.d.hits.step[hit] as number;
  const saving = savingOf({ change, step, adds: s.d.hits.adds[hit] as number });
  return (
    <li>
      {change.effect !== "nothing" && <Tick s={s} index={index} label={change.title} />}
      <div>
        <b>{change.title}</b>
        {change.possible && <span class="muted"> (possibly)</span>}
        <p>{hitWords(s.m, s.d, hit)}</p>
        {group && <p>{group.advice}</p>}
        <p class="muted small">
          {change.effect !== "nothing" && `Saves ${saving}. `}
          {change.number !== undefined && (
            <a href={href("finding", change.number)}>Finding {exact(change.number)}</a>
          )}
        </p>
      </div>
    </li>
  );
}

function Title({ children }: { children: ComponentChildren }) {
  return <h2 id="selected-title">{children}</h2>;
}

function ObjectDetail({ s, object }: { s: MemoryState; object: number }) {
  const { lives } = s.d;
  const row = objectOf(s.m, lives.id[object]);
  const flags = lives.flags[object] as number;
  const size = lives.bytes[object] as number;
  const hits = s.hitsOf(object);
  const allocate = lives.allocate[object] as number;
  const free = lives.free[object] as number;
  return (
    <>
      <Title>
        <ObjectName m={s.m} id={lives.id[object]} />
      </Title>
      <p class="muted">
        {bytes(size)}
        {s.peakObjects.has(object)
          ? `, ${percent(size / s.now.peak)} of the peak`
          : ", not in use at the peak"}
      </p>
      <ul class="found">
        {hits.map((hit) => (
          <Found key={hit} s={s} hit={hit} />
        ))}
      </ul>
      <table class="plain facts">
        <tbody>
          <FactRow label="kind">{row?.kind ?? "unknown"}</FactRow>
          <FactRow label="allocated">
            {allocate === NONE ? "by no call of the program's" : <OpLink s={s} op={allocate} />}
          </FactRow>
          <FactRow label="first access">
            <OpLink s={s} op={lives.first[object] as number} />
          </FactRow>
          <FactRow label="last access">
            <OpLink s={s} op={lives.last[object] as number} />
          </FactRow>
          <FactRow label="end">
            {free === NONE ? ENDS[lives.ended[object] as number] : <OpLink s={s} op={free} />}
          </FactRow>
        </tbody>
      </table>
      {(flags & POSSIBLY) !== 0 && (
        <p class="hint">
          Launches of which not all accesses are known may have used it, too: the grey line in its
          bar.
        </p>
      )}
      {(flags & SEEN_BY_HOST) !== 0 && (
        <p class="hint">The host, or a texture, may use it unseen.</p>
      )}
      <Users s={s} object={object} />
      {allocate !== NONE && <CallPath s={s} op={allocate} />}
    </>
  );
}

const HOW = ["may access", "reads", "writes", "reads and writes"];

function Accessed({ s, op }: { s: MemoryState; op: number }) {
  const accesses = accessesOf(s.d, op);
  if (accesses.length === 0) return null;
  return (
    <>
      <h3>Accesses</h3>
      <ul class="tight">
        {accesses.slice(0, MOST).map((a) => (
          <li key={a.object}>
            {HOW[a.how & 3]} <ObjectLink s={s} object={a.object} />
          </li>
        ))}
        {accesses.length > MOST && (
          <li class="muted">and {plural(accesses.length - MOST, "more object")}</li>
        )}
      </ul>
    </>
  );
}

function OpDetail({ s, op }: { s: MemoryState; op: number }) {
  const { ops, sites } = s.d;
  const site = sites[ops.site[op] as number];
  const took = ops.took[op] as number;
  const times = ops.repeat[op] as number;
  const about = ops.about[op] as number;
  const kind = ops.kind[op] as number;
  const whatIf = s.whatIf.value;
  return (
    <>
      <Title>{opName(s.m, s.d, op)}</Title>
      <table class="plain facts">
        <tbody>
          <FactRow label="call">
            <span class="mono">{opApi(s.d, op) || "not known"}</span>{" "}
            <Place m={s.m} file={site?.file} line={site?.line} link />
          </FactRow>
          {kind === LAUNCH && ops.kernel[op] !== 0 && (
            <FactRow label="kernel">
              <KernelName m={s.m} id={ops.kernel[op]} most={40} />
            </FactRow>
          )}
          {kind < 2 && (
            <FactRow label="object">
              <ObjectLink s={s} object={about} />
            </FactRow>
          )}
          <FactRow label="memory in use after it">
            {bytes(s.now.bytes[op] as number)}
            {whatIf && `, ${bytes(whatIf.bytes[op] as number)} with what is ticked`}
          </FactRow>
          <FactRow label="in">
            {laneName(s, ops.queue[op] as number)}
            {ops.waits(op) && ", the host waits for it"}
          </FactRow>
          <FactRow label="place">
            row {exact(op + 1)} of {exact(ops.count)}, can run at level{" "}
            {exact(ops.level[op] as number)}
          </FactRow>
          {ops.timed && (
            <FactRow label="called after">
              {seconds(((ops.start[op] as number) - (ops.start[0] as number)) * 1e-6)}
            </FactRow>
          )}
          {took >= 0 && (
            <FactRow label="time on the device">
              {seconds(took)}
              {times > 1 && `, ${exact(times)} launches together`}
            </FactRow>
          )}
        </tbody>
      </table>
      {ops.unknown(op) && <p class="hint">Not all that it accesses is known.</p>}
      <Accessed s={s} op={op} />
      <CallPath s={s} op={op} />
    </>
  );
}

/** What is selected. */
export function DetailPane({ s }: { s: MemoryState }) {
  const what = s.selection.value;
  if (what === undefined) return null;
  return (
    <section class="selected" aria-labelledby="selected-title">
      <button type="button" class="close" aria-label="Close" onClick={() => s.select(undefined)}>
        ×
      </button>
      {"object" in what ? (
        <ObjectDetail s={s} object={what.object} />
      ) : (
        <OpDetail s={s} op={what.op} />
      )}
    </section>
  );
}
