#!/usr/bin/env python3
"""Measures what ptxas makes of each PTX instruction, and writes src/ir/expansions.def.

    bench/expansion/measure.py [--cuda .deps/cuda] [--show FORM] [--check]

For each form of forms.txt two kernels hold eight and sixteen independent copies of the instruction:
operands come from memory and results go there, so that nothing is known or unused.
An eighth of what one has more than the other is what a copy becomes. Left out are the
loads and stores of operands and results, comparisons that make predicates, and consumers. --show
prints the machine code of one form, --check says whether the file is what would be written.
"""
import argparse
import collections
import csv
import itertools
import os
import re
import subprocess
import sys
import tempfile

import sass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
OUTPUT = os.path.join(ROOT, "src", "ir", "expansions.def")
COPIES = 8
ARCHES = ("sm_90", "sm_80")
TYPES = re.compile(r"(?:[usfb](?:8|16|32|64)|b?f16|b?f16x2|[us]16x2|tf32|e[45]m[23]x2|pred)$")

# words: the suffixes that the row has.
Form = collections.namedtuple("Form", "opcode words operands consumer consumer_operands")


# ---- what is measured ----

def spread(text):
    """Each choice of one word of every group in braces."""
    parts = re.split(r"\{([^}]*)\}", text)
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(words) for words in itertools.product(*choices)]


def forms():
    with open(os.path.join(HERE, "forms.txt"), encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    found = {}
    for line in lines:
        measured, _, consumer = line.partition(" > ")
        operands, _, opcodes = measured.partition(":" if measured.startswith(":") else " : ")
        taken, _, by = consumer.partition(" : ")
        for text in itertools.chain(*map(spread, opcodes.split())):
            opcode, words = re.sub("[()]", "", text), tuple(word for word in text.split(".")[1:] if word[0] != "(")
            form = Form(opcode, words, tuple(operands.split()), consumer_of(opcode, by.strip()), tuple(taken.split()))
            found[form.opcode, form.operands] = form
    return list(found.values())


def consumer_of(opcode, by):
    """The consumer's opcode; one in braces takes the type of what it consumes."""
    if "{" not in by:
        return by
    stem, kind = by.split("{")[0], by.split("{")[1].rstrip("}")
    types = types_of(opcode)
    same = bool(types) and width(types[0]) == width(kind)
    return stem + (kind if same else types[0])


def types_of(opcode):
    return [word for word in opcode.split(".")[1:] if TYPES.match(word)]


# ---- PTX ----

def width(kind):
    if kind in ("e4m3x2", "e5m2x2"):
        return 16
    bits = int(re.search(r"\d+", kind.replace("x2", ""))[0])
    return bits * 2 if kind.endswith("x2") else max(bits, 16)


def loaded_as(kind):
    """The type to load and to keep a value of that type with."""
    if kind in ("u8", "s8", "b8", "f32", "f64") or re.match(r"[us](16|32|64)$", kind):
        return kind
    return f"b{width(kind)}"


def kept_as(kind):
    return {"u8": "u16", "s8": "s16", "b8": "b16"}.get(kind, loaded_as(kind))


class Kernel:
    """One kernel with some copies of a form, and what of it does not belong to them."""

    def __init__(self, name, form, copies):
        self.name, self.form = name, form
        self.lines, self.registers, self.params, self.offset = [], [], ["\t.param .u64 p"], 0
        self.left_out = collections.Counter()
        for copy in range(copies):
            self.copy(copy)
        self.text = "\n".join([
            f".visible .entry {name}(", ",\n".join(self.params), ") {", "\t.reg .b64 %base, %at;",
            "\t.reg .b32 %own, %tile;", *self.registers, "\t.shared .align 16 .b8 tile[32768];",
            "\tld.param.u64 %base, [p];", "\tcvta.to.global.u64 %base, %base;", "\tmov.u32 %own, %tid.x;",
            "\tmul.wide.u32 %at, %own, 16;", "\tadd.u64 %base, %base, %at;", "\tmov.u32 %tile, tile;",
            "\tmad.lo.u32 %tile, %own, 16, %tile;", "\tst.global.u32 [%base], %own;", *self.lines, "\tret;", "}"])

    def register(self, kind):
        name = f"%x{len(self.registers)}"
        self.registers.append(f"\t.reg .{kind} {name};")
        return name

    def place(self):
        self.offset += 8192
        return f"[%base+{self.offset}]"

    def loaded(self, kind):
        name = self.register(kept_as(kind))
        self.lines.append(f"\tld.volatile.global.{loaded_as(kind)} {name}, {self.place()};")
        self.left_out["memory"] += 1
        return name

    def predicate(self):
        value, name = self.loaded("u32"), self.register("pred")
        self.lines.append(f"\tsetp.ne.u32 {name}, {value}, 0;")
        self.left_out["compare"] += 1
        return name

    def written(self, kind):
        name = self.register("pred" if kind == "pred" else kept_as(kind))
        self.results.append((name, kind))
        return name

    def vector(self, count, make, kind):
        items = [make(kind) for _ in range(count)]
        return "{" + ", ".join(items) + "}"

    def operand(self, word, opcode, copy):
        special = {"[global]": self.place, "[base]": lambda: "[%base]", "[shared]": lambda: f"[%tile+{copy * 1024}]", "p": self.predicate,
                   "q": lambda: self.written("pred"), "[param]": lambda: self.parameter(types_of(opcode)[0]), "[const]": lambda: f"[table+{copy * 64}]"}
        if word in special:
            return special[word]()
        if word[0] in "=%$":
            return word.lstrip("=")
        letter, count, named = re.match(r"([dswv])(W|\d*)(?::(\w+))?$", word).groups()
        items = int(count) if count and (letter in "wv" or count in "248") else 0
        types = types_of(opcode)
        kind = named or types[1 if count == "1" and not items else 0]
        if count == "W":
            kind = kind[0] + str(int(kind[1:]) * 2)
        make = self.written if letter in "dw" else self.loaded
        return "{" + ", ".join(make(kind) for _ in range(items)) + "}" if items else make(kind)

    def parameter(self, kind):
        name = f"p{len(self.params)}"
        self.params.append(f"\t.param .{kind} {name}")
        return f"[{name}]"

    def copy(self, copy):
        self.results = []
        operands = [self.operand(word, self.form.opcode, copy) for word in self.form.operands]
        self.lines.append(f"\t{self.form.opcode} {', '.join(operands)};")
        if self.form.consumer:
            self.consume(copy)
        for name, kind in self.results:
            self.store(name, kind)

    def consume(self, copy):
        taken, self.results = [name for name, _ in self.results], []
        words = [{"$": taken[0], "$$": taken[-1]}.get(word) or self.operand(word, self.form.consumer, copy)
                 for word in self.form.consumer_operands]
        self.lines.append(f"\t{self.form.consumer} {', '.join(words)};")

    def store(self, name, kind):
        guard, value = "", name
        if kind == "pred":
            guard, value, kind = f"@{name} ", "%own", "u32"
        kind = {"s8": "s8", "u8": "u8"}.get(kind, loaded_as(kind))
        self.lines.append(f"\t{guard}st.global.{kind} {self.place()}, {value};")
        self.left_out["memory"] += 1


# ---- measuring ----

def assemble(ptxas, texts, arch, folder):
    """The cubin of these kernels, or None where one of them is refused."""
    source, cubin = os.path.join(folder, "a.ptx"), os.path.join(folder, "a.cubin")
    with open(source, "w", encoding="utf-8") as f:
        f.write(f".version 8.8\n.target {arch}\n.address_size 64\n.const .align 16 .b8 table[4096];\n" + "\n".join(texts) + "\n")
    done = subprocess.run([ptxas, f"-arch={arch}", "-o", cubin, source], capture_output=True, text=True, check=False)
    assemble.said = done.stdout + done.stderr
    return None if done.returncode else cubin


def copies_of(form):
    """Few and many. Where all copies give the same value, the first is all there is."""
    return (0, 1) if form.operands == ("d",) or any(word.startswith("%") for word in form.operands) else (COPIES, 2 * COPIES)


def counted(tools, wanted, arch, folder):
    """{form: {class: instructions}} of a copy of each, without forms that it does not have."""
    kernels = [(form, sign, Kernel(f"k{i}_{sign + 1}", form, copies)) for i, form in enumerate(wanted)
               for sign, copies in zip((-1, 1), copies_of(form), strict=True)]
    cubin = assemble(tools["ptxas"], [kernel.text for _, _, kernel in kernels], arch, folder)
    if not cubin and len(wanted) == 1:
        return {}
    if not cubin:
        half = len(wanted) // 2
        return {**counted(tools, wanted[:half], arch, folder), **counted(tools, wanted[half:], arch, folder)}
    functions, result = sass.functions_of(cubin, tools["nvdisasm"]), {form: collections.Counter() for form in wanted}
    for form, sign, kernel in kernels:
        total = sass.count(functions, kernel.name)
        total.subtract(kernel.left_out)
        for cls, n in total.items():
            result[form][cls] += sign * n / (copies_of(form)[1] - copies_of(form)[0])
    return result


def measure(tools, wanted, arch):
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(wanted), 40):
            result.update(counted(tools, wanted[at:at + 40], arch, folder))
    return without_consumers(result)


def without_consumers(measured):
    """The same, less what the consumers are by themselves. A consumer may take in more than what
    it consumes: nothing is less than 0."""
    alone = {form.opcode: total for form, total in reversed(measured.items()) if not form.consumer}
    for form, total in measured.items():
        if form.consumer:
            total.subtract(alone[form.consumer])
    return {form: {cls: n for cls, n in total.items() if n > 0} for form, total in measured.items()}


# ---- what is written ----

Row = collections.namedtuple("Row", "op words last machine")
LAST = {"=": "INT", "%": "SREG", "[const]": "SYM"}


def own_class(opcode):
    """As ir_insn_cost() says: of the opcode's row in ops.def, arithmetic by its first type."""
    op = opcode.split(".")[0]
    with open(os.path.join(ROOT, "src", "ir", "ops.def"), encoding="utf-8") as f:
        row = re.search(rf'^X\({op}, "(?:[^;]*?), (\w+)\)$', f.read(), re.MULTILINE)
    cost, kind = row[1].lower(), (types_of(opcode) or [""])[0]
    if cost not in ("int", "fp32", "sfu") or not re.match("b?f", kind):
        return cost
    if kind == "f64":
        return "fp64"
    return cost if cost == "sfu" else "half" if "16" in kind else "fp32"


def fits(row, words, last):
    """As expansion.c finds it: the row's words stand in the opcode in this order, maybe with others
    between them."""
    rest = iter(words)
    return row.last in ("ANY", last) and all(any(word in wanted.split("|") for word in rest) for wanted in row.words)


def found(rows, op, words, last):
    return next((row.machine for row in rows if row.op == op and fits(row, words, last)), None)


def order(row):
    return row.op, -len(row.words), row.last == "ANY", row.words


def key_of(form, kinds):
    """What a row says of a form. That the last operand is an immediate, a special register or a
    vector counts where the opcode is measured without one, too."""
    word = form.operands[-1] if form.operands else ""
    last = LAST.get(word) or LAST.get(word[:1]) or ("VEC" if re.match("s[24]", word) else "ANY")
    return form.opcode.split(".")[0], form.words, last if last == "SYM" or kinds[form.opcode] > 1 else "ANY"


def rows_of(measured):
    """The rows of the table: those that say more than the shorter ones."""
    kinds = collections.Counter(form.opcode for form in measured)
    rows = []
    for form, machine in sorted(measured.items(), key=lambda item: order(Row(*key_of(item[0], kinds), 0)), reverse=True):
        op, words, last = key_of(form, kinds)
        before = found(rows, op, words, last)
        if (before if before is not None else {own_class(form.opcode): 1}) != machine:
            if any((row.op, row.words, row.last) == (op, words, last) for row in rows):
                sys.exit(f"{form.opcode}: two measurements for one row")
            rows = sorted([*rows, Row(op, words, last, machine)], key=order)
    while (fewer := merged(rows)) != rows:
        rows = fewer
    return rows


def merged(rows):
    """Rows that differ in one word become one, with both words."""
    result = []
    for row in rows:
        for i, other in enumerate(result):
            apart = [k for k, (a, b) in enumerate(zip(row.words, other.words, strict=False)) if a != b]
            if (row.op, row.last, row.machine, len(row.words), 1) == \
               (other.op, other.last, other.machine, len(other.words), len(apart)):
                words = list(other.words)
                words[apart[0]] += "|" + row.words[apart[0]]
                result[i] = other._replace(words=tuple(words))
                break
        else:
            result.append(row)
    return result


HEAD = """/* What ptxas makes of PTX instructions: X(op, suffixes, last, machine instructions by class). Written
 * by bench/expansion/measure.py with ptxas {version} for {arch}; bench/expansion/results.md says how
 * well it holds for whole kernels.
 *
 * A row is for instructions of the opcode that have its suffixes in this order, and maybe others; of
 * a word with "|" one. last: the kind of the last operand, ANY or an ir_operand_kind without its
 * prefix. The first row that fits counts. Instructions without a row become one machine instruction
 * of the class that ir_insn_cost() gives.
 *
 * Slow paths, for operands that are denormal and the like, are not counted. */
"""


def written(rows, version):
    lines = [HEAD.format(version=version, arch=ARCHES[0])]
    for row in rows:
        machine = ", ".join(f"{cls.upper()}({n:g})" for cls, n in sorted(row.machine.items(), key=lambda item: sass.CLASSES.index(item[0])))
        lines.append(f'X({row.op}, "{" ".join(row.words)}", {row.last}, {machine or "NOTHING"})\n')
    return "".join(lines)


def in_words(machine):
    return ", ".join(f"{n:g} {cls}" for cls, n in sorted(machine.items())) or "nothing"


def differences(measured):
    """Forms that become something else on the other architecture."""
    first, second = (measured[arch] for arch in ARCHES)
    return [[f"{form.opcode} {' '.join(form.operands)}", in_words(first[form]), in_words(second[form])]
            for form in first if form in second and first[form] != second[form]]


def version_of(ptxas):
    return re.search(r"V([\d.]+)", subprocess.run([ptxas, "--version"], check=True, capture_output=True, text=True).stdout)[1]


def show(tools, opcode):
    with tempfile.TemporaryDirectory() as folder:
        for form in forms():
            if form.opcode == opcode:
                kernel = Kernel("k", form, copies_of(form)[1])
                cubin = assemble(tools["ptxas"], [kernel.text], ARCHES[0], folder)
                print(kernel.text, assemble.said)
                if cubin:
                    subprocess.run([tools["nvdisasm"], "-c", cubin], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", default=os.path.join(ROOT, ".deps", "cuda"))
    parser.add_argument("--show", metavar="OPCODE")
    parser.add_argument("--check", action="store_true")
    o = parser.parse_args()
    tools = {name: os.path.join(o.cuda, "bin", name) for name in ("ptxas", "nvdisasm")}
    if o.show:
        return show(tools, o.show)
    measured = {arch: measure(tools, forms(), arch) for arch in ARCHES}
    missing = [form.opcode for form in forms() if form not in measured[ARCHES[0]]]
    if missing:
        sys.exit(f"ptxas refuses {', '.join(missing)}")
    text = written(rows_of(measured[ARCHES[0]]), version_of(tools["ptxas"]))
    if o.check:
        with open(OUTPUT, encoding="utf-8") as f:
            return int(f.read() != text)
    with open(OUTPUT, "w", encoding="utf-8") as f:
        f.write(text)
    with open(os.path.join(HERE, "architectures.csv"), "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([["form", *ARCHES], *differences(measured)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
