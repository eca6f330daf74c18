/** What requests do, in words. */
import { bytes, exact, percent, plural } from "../../widgets/format";
import type { Arch } from "./archs";
import { ARCHS } from "./archs";
import type { Access, Insight, Sign } from "./insight";
import { type Asked, lanesOf, type Served, serve } from "./transactions";

const VERBS: Record<string, string> = {
  load: "load",
  store: "store",
  atomic: "atomic operation",
  reduction: "atomic operation (without a result)",
};

export const verbOf = (asked: Asked): string => VERBS[asked.op] ?? asked.op;

/** Threads as ranges: "0–7, 12" */
export function threadList(mask: number): string {
  const runs: [number, number][] = [];
  for (const lane of lanesOf(mask)) {
    const last = runs[runs.length - 1];
    if (last && last[1] === lane - 1) last[1] = lane;
    else runs.push([lane, lane]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(", ");
}

export const threadWords = (mask: number): string =>
  `${lanesOf(mask).length === 1 ? "thread" : "threads"} ${threadList(mask)}`;

/** "16 transactions of 32 bytes", "3 transactions of 32 to 128 bytes" */
export function sizesWords(served: Served): string {
  const sizes = served.transactions.map((t) => t.size);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  const of = low === high ? `of ${low} bytes` : `of ${low} to ${high} bytes`;
  return `${plural(sizes.length, "transaction")} ${of}`;
}

/** What of these is used. */
function usedWords(served: Served): string {
  const used = served.transactions.map((t) => t.used);
  const [low, high] = [Math.min(...used), Math.max(...used)];
  if (served.used === served.moved) return "All that moves is used.";
  const each = low === high ? plural(low, "byte") : `${exact(low)} to ${exact(high)} bytes`;
  const which = used.length === 1 ? "of it" : "of each";
  const are = low === high && low === 1 ? "is" : "are";
  const share = percent(served.used / served.moved);
  return `${each} ${which} ${are} used: ${bytes(served.used)} of ${bytes(served.moved)} that move (${share}).`;
}

function turnsWords(served: Served): string {
  const turns = served.transactions.reduce((sum, t) => sum + t.turns, 0);
  const more = turns - served.transactions.length;
  return more > 0
    ? ` Threads change one place one after the other: L2 takes ${plural(turns, "turn")} in all.`
    : "";
}

/** How much shared memory works for it. */
function passesWords(access: Access): string {
  const { passes, fewestPasses } = access.served;
  const lost = passes.filter((p) => p.lanes === 0).length;
  const number = plural(passes.length, "wavefront");
  const head = `Shared memory serves this ${verbOf(access.asked)} in ${number}`;
  if (passes.length <= fewestPasses) return `${head}: there is no bank conflict.`;
  const atomic = access.asked.op === "atomic" || access.asked.op === "reduction";
  const why =
    passes.length - lost > fewestPasses
      ? atomic
        ? "threads that change words of one bank do so one after the other"
        : "threads want different words of one bank (a bank conflict)"
      : "accesses of 16 bytes cost as much more";
  return `${head} instead of ${exact(fewestPasses)}: ${why}.`;
}

/** What the request does, in one or two sentences. */
export function accessWords(access: Access): string {
  const { asked, served } = access;
  if (asked.space === "shared") return passesWords(access);
  const where = asked.space === "local" ? " in local memory" : "";
  const head = `This ${verbOf(asked)}${where} takes ${sizesWords(served)}.`;
  return `${head} ${usedWords(served)}${turnsWords(served)}`;
}

/** Of a row of the operations: "16 × 32 B", "8 wavefronts" */
export function shortWords(access: Access): string {
  const { served, asked } = access;
  if (asked.space === "shared") return plural(served.passes.length, "wavefront");
  const sizes = new Set(served.transactions.map((t) => t.size));
  const n = served.transactions.length;
  return sizes.size === 1 ? `${exact(n)} × ${[...sizes][0]} B` : plural(n, "transaction");
}

export const countOf = (asked: Asked, served: Served): number =>
  asked.space === "shared" ? served.passes.length : served.transactions.length;

// Rows that tell how a program was compiled or set up are left to the table.
const PLAIN = ARCHS.filter((a) => !a.id.includes("-"));

/** Neighbouring rows that serve the request alike, the newest first. */
interface Span {
  count: number;
  first: number; // index in PLAIN
  last: number;
}

function spansOf(asked: Asked): Span[] {
  const spans: Span[] = [];
  PLAIN.forEach((arch, i) => {
    const count = countOf(asked, serve(arch, asked));
    const before = spans.at(-1);
    if (before?.count === count) before.last = i;
    else spans.push({ count, first: i, last: i });
  });
  return spans;
}

const majorOf = (arch: Arch | undefined) => Math.floor((arch?.capability ?? 0) / 10);

/** "1.x and earlier", "3.x", "2.x and later"; "1.2" where a span has but some of those of one number. */
function spanWords({ first, last }: Span): string {
  const [newest, oldest] = [PLAIN[first], PLAIN[last]];
  const whole = (i: number, beyond: number) => majorOf(PLAIN[i]) !== majorOf(PLAIN[beyond]);
  const upper = whole(first, first - 1) ? `${majorOf(newest)}.x` : (newest?.id ?? "");
  const lower = whole(last, last + 1) ? `${majorOf(oldest)}.x` : (oldest?.id ?? "");
  if (upper === lower || first === last) return upper.endsWith("x") ? lower : upper;
  if (first === 0) return `${lower} and later`;
  if (last + 1 < PLAIN.length) return `${lower} to ${upper}`;
  return majorOf(newest) === majorOf(oldest) ? lower : `${upper} and earlier`;
}

const SINCE: Partial<Record<Sign, string>> = {
  async: "GPUs before compute capability 8.0 do it by a load and a store.",
  bulk: "There are bulk copies from compute capability 9.0 on.",
};

/** What other generations make of it, where that is another number: "It would take 32 on compute capability 1.x." */
export function elsewhereWords(arch: Arch, asked: Asked, sign?: Sign): string {
  const since = sign && SINCE[sign];
  if (since) return since;
  const own = countOf(asked, serve(arch, asked));
  const places = new Map<number, string[]>();
  for (const span of spansOf(asked))
    if (span.count !== own)
      places.set(span.count, [...(places.get(span.count) ?? []), spanWords(span)]);
  if (places.size === 0) return "Other generations of GPUs take as many.";
  const parts = [...places].map(
    ([n, where], i) =>
      `${exact(n)} on ${i === 0 ? "compute capability " : ""}${where.join(" and on ")}`,
  );
  return `It would take ${parts.join("; ")}.`;
}

/** Who is active, and who takes part in the request. */
export function threadsWords({ operation, accesses }: Insight): string {
  const active = lanesOf(operation.mask).length;
  const asking = accesses.reduce((mask, a) => (mask | a.asked.mask) >>> 0, 0);
  const taking = lanesOf(asking).length;
  const some = `${active} of 32 threads ${active === 1 ? "is" : "are"} active`;
  const head = active === 32 ? "All 32 threads are active" : some;
  if (accesses.length === 0 || taking === active) return `${head}.`;
  return `${head}, ${taking} of them access memory: the condition of the instruction is false for the others.`;
}

const SIGN_WORDS = {
  barrier: "A barrier: the warp waits here for others of its block.",
  atomic: "",
  async: "An asynchronous copy from global to shared memory: the warp does not wait for it here.",
  bulk: "A bulk copy (TMA): one thread asks for all of it, and the warp does not wait for it here.",
  tensor:
    "Work of a tensor core: it accesses registers, or what its descriptors name in shared memory.",
};

/** What the operation is, in sentences. */
export function insightWords(insight: Insight): string[] {
  const { accesses, sign } = insight;
  const words = [threadsWords(insight)];
  if (sign) words.push(SIGN_WORDS[sign]);
  if (accesses.length === 0 && !sign) words.push("It accesses no memory.");
  return words.filter(Boolean);
}

/** A row of the list, for those who cannot see it. */
export function rowWords(index: number, insight: Insight): string {
  const line = insight.line === undefined ? "" : `, line ${insight.line}`;
  const cost = insight.accesses.map((a) => `${a.asked.space} ${a.asked.op}: ${shortWords(a)}`);
  const sign = insight.sign && insight.accesses.length === 0 ? [insight.sign] : [];
  return [`Operation ${index + 1}${line}`, insight.text, ...cost, ...sign]
    .filter(Boolean)
    .join(", ");
}
