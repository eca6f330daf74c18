"""Compares a replay with what was counted. README.md describes the replay's format."""
import collections
import json
import re

COUNTERS = ("executions", "threads", "threads_on", "sectors", "sectors_ideal", "sectors_local", "tags", "wavefronts",
            "wavefronts_ideal")
OF_SECTORS = ("sectors", "sectors_ideal", "wavefronts", "wavefronts_ideal")  # counted together
OUTCOMES = ("equal", "differ", "open")
MEASURED = ("sectors", "wavefronts", "executions")  # of which shares are told
CLASSES = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in (
    ("optimizer", r"multi_tensor|fusedadam"),
    ("cat", r"catarray"),
    ("attention", r"flash|fmha|sdpa|attention"),
    ("softmax", r"softmax|nll_loss"),
    ("norm", r"layer_norm|layernorm|rms_?norm|batch_?norm|group_?norm|rowwisemoments|gammabeta|bn_fw|bn_bw|computeinternalgradients"),
    ("fft", r"fft|bluestein|chirp|twiddle"),
    ("sort", r"sort|topk|merge|onesweep|(?<!index_)select|unique|partition|kthvalue|median"),
    ("scan", r"scan|cumsum|cumprod|lookback|look_back"),
    ("product", r"gemm|gemv|nvjet|cutlass|dot_kernel|splitk|matmul|spmv|csrmv|spmm|csrmm|trsm|multiply|product"),
    ("convolution", r"conv|winograd|wgrad|dgrad|fprop|im2col|nchw|nhwc|pool|upsample|grid_sampl"),
    ("random", r"dropout|distribution|random|philox|multinomial|bernoulli"),
    ("index", r"index|gather|scatter|embedding|take|histogram|bincount|lower_bound|searchsorted|bucketize"),
    ("reduce", r"reduce|reduction|norm_of|_sum|total"),
    ("elementwise", r"elementwise|copy|fill|transform|for_each|triu_tril|cupy_"),
)]


def class_of(kernel):
    return next((name for name, pattern in CLASSES if pattern.search(kernel)), "other")


# ---- the replay ----

def read_replay(path):
    """Launch -> what was claimed of it. Wrong input raises ValueError that says where."""
    launches = {}
    with open(path, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            try:
                line = json.loads(text)
                claims = {int(pc): dict(claim) for pc, claim in line.get("claims", {}).items()}
                gaps = {int(pc): str(reason) for pc, reason in line.get("gaps", {}).items()}
                unknown = {c for claim in claims.values() for c in claim} - set(COUNTERS)
                if unknown:
                    raise ValueError(f"no counter is called {', '.join(sorted(unknown))}")
                launches[line["launch"]] = {"claims": claims, "gaps": gaps, "reason": line.get("reason", "")}
            except (ValueError, KeyError, TypeError, AttributeError) as e:
                raise ValueError(f"{path}, line {number}: {e}") from e
    return launches


# ---- one launch ----

def truth_at(truth, counter, at):
    column = truth["counts"].get(counter)
    return column[at] if column else 0


def contradicts_itself(truth, counter, at):
    """Whether fewer sectors were counted than lines that they lie in: then the instruction's
    sectors and what was counted with them say nothing."""
    return counter in OF_SECTORS and truth_at(truth, "sectors", at) < truth_at(truth, "tags", at)


class Verdict:
    """Of one launch: by counter how many instructions agree, differ, are open or void; counts."""

    def __init__(self):
        self.instructions = collections.Counter()
        self.counts = collections.Counter()
        self.reasons = collections.Counter()  # sectors that were not claimed
        self.differing = []

    def counted(self, counter):
        """Whether there is anything to explain."""
        return any(self.counts[counter, outcome] for outcome in OUTCOMES)

    def explained(self, counter):
        """All that was counted was claimed, none of it differs, and all could be compared."""
        return not any(self.instructions[counter, outcome] for outcome in ("differ", "open", "void"))


def judge_claims(verdict, truth, claims):
    size = len(truth["opcodes"])
    for pc, claim in claims.items():
        at = pc // 16
        for counter, claimed in claim.items():
            known = pc % 16 == 0 and at < size
            counted = truth_at(truth, counter, at) if known else None
            outcome = "equal" if claimed == counted else "differ"
            if known and contradicts_itself(truth, counter, at):
                verdict.instructions[counter, "void and " + outcome] += 1
                outcome = "void"
            verdict.instructions[counter, outcome] += 1
            verdict.counts[counter, outcome] += counted or 0
            if outcome == "differ":
                opcode = truth["opcodes"][at] if known else "no instruction"
                verdict.differing.append((pc, opcode, counter, counted, claimed))


def judge_open(verdict, truth, replayed):
    """What was counted and not claimed, and the reasons for it."""
    for counter in MEASURED:
        for at, counted in enumerate(truth["counts"].get(counter, [])):
            if counted and counter not in replayed["claims"].get(16 * at, {}):
                verdict.instructions[counter, "open"] += 1
                verdict.counts[counter, "open"] += counted
                if counter == "sectors":
                    reason = replayed["gaps"].get(16 * at) or replayed["reason"] or "no reason given"
                    verdict.reasons[reason] += counted


NOT_REPLAYED = {"claims": {}, "gaps": {}, "reason": "the launch is not in the replay"}


def judge(truth, replayed):
    verdict = Verdict()
    judge_claims(verdict, truth, replayed["claims"])
    judge_open(verdict, truth, replayed)
    return verdict


# ---- all launches ----

class Tally:
    """Of a class of launches."""

    def __init__(self):
        self.launches = 0
        self.counting = collections.Counter()  # launches that count anything
        self.explained = collections.Counter()  # of those
        self.instructions = collections.Counter()
        self.counts = collections.Counter()
        self.kernels = collections.defaultdict(lambda: True)  # whether all launches' sectors are explained

    def add(self, launch, verdict):
        self.launches += 1
        for counter in MEASURED:
            self.counting[counter] += verdict.counted(counter)
            self.explained[counter] += verdict.counted(counter) and verdict.explained(counter)
        self.instructions += verdict.instructions
        self.counts += verdict.counts
        if verdict.counted("sectors"):
            self.kernels[launch["kernel"]] &= verdict.explained("sectors")

    def as_json(self):
        out = {"launches": self.launches, "launches_counting": {c: self.counting[c] for c in MEASURED}, "launches_explained": {c: self.explained[c] for c in MEASURED},
               "kernels": len(self.kernels), "kernels_explained": sum(self.kernels.values())}
        for counter in COUNTERS:
            if any(self.instructions[counter, o] for o in OUTCOMES):
                out[counter] = {o: {"instructions": self.instructions[counter, o], "counted": self.counts[counter, o]}
                                for o in OUTCOMES}
                out[counter]["void"] = {o: self.instructions[counter, "void and " + o] for o in ("equal", "differ")}
        return out


def compare(launches, truths, replay):
    """Totals, by class, the reasons ranked by sectors, and what differs."""
    total, classes, reasons, differing = Tally(), collections.defaultdict(Tally), collections.Counter(), []
    for launch in launches:
        verdict = judge(truths[launch["id"]], replay.get(launch["id"], NOT_REPLAYED))
        total.add(launch, verdict)
        classes[class_of(launch["kernel"])].add(launch, verdict)
        reasons += verdict.reasons
        differing += [(launch["id"], launch["kernel"], *d) for d in verdict.differing]
    strange = sorted(set(replay) - {launch["id"] for launch in launches})
    return {"total": total.as_json(), "classes": {name: t.as_json() for name, t in sorted(classes.items())},
            "reasons": [{"reason": r, "sectors": n} for r, n in reasons.most_common()], "differing": differing,
            "unknown_launches": strange}


# ---- as text ----

def share(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def row(name, t):
    sectors, executions = t.get("sectors", {}), t.get("executions", {})

    def number(of, outcome, what):
        return of.get(outcome, {}).get(what, 0)

    whole = sum(number(sectors, o, "counted") for o in OUTCOMES)
    moving = t["launches_counting"]["sectors"]
    return (f"{name:12} {t['launches']:5} {moving:5} {share(t['launches_explained']['sectors'], moving)} {t['kernels']:5} "
            f"{share(t['kernels_explained'], t['kernels'])} {whole:12} {share(number(sectors, 'equal', 'counted'), whole)} "
            f"{number(sectors, 'equal', 'instructions'):6} {number(sectors, 'differ', 'instructions'):5} "
            f"{number(executions, 'equal', 'instructions'):7} {number(executions, 'differ', 'instructions'):5} "
            f"{number(t.get('wavefronts', {}), 'equal', 'instructions'):6} "
            f"{number(t.get('wavefronts', {}), 'differ', 'instructions'):5}")


def as_text(result, detail):
    lines = [f"{'':12} {'':5} {'with sectors, expl.':>13} {'kernels, expl.':>14} {'':12} {'':7} {'sectors':>12} {'executions':>13} "
             f"{'wavefronts':>12}",
             f"{'class':12} {'all':>5} {'':5} {'':7} {'':5} {'':7} {'sectors':>12} {'equal':>7} {'equal':>6} {'diff.':>5} "
             f"{'equal':>7} {'diff.':>5} {'equal':>6} {'diff.':>5}"]
    lines += [row(name, t) for name, t in result["classes"].items()] + [row("all", result["total"])]
    void = result["total"].get("sectors", {}).get("void", {"equal": 0, "differ": 0})
    if any(void.values()):
        lines += ["", f"void, since fewer sectors were counted than lines: {sum(void.values())} claims of sectors, of which "
                      f"{void['differ']} would differ"]
    lines += ["", "sectors that were not claimed, by reason:"]
    lines += [f"{r['sectors']:12}  {r['reason']}" for r in result["reasons"]]
    if detail:
        lines += ["", "what differs:"]
        lines += [f"{launch} {kernel[:60]} pc {pc:#x} {opcode}: {counter} counted {counted}, claimed {claimed}"
                  for launch, kernel, pc, opcode, counter, counted, claimed in result["differing"]]
    return "\n".join(lines)
