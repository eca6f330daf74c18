"""Machine code as nvdisasm prints it: which instructions a kernel has, and of which class each is.

The classes are those of ir_cost (src/ir/ops.h): by the pipe that an instruction goes to, and move
for what only brings a value to another place.
"""
import collections
import re
import subprocess

CLASSES = ("int", "fp32", "fp64", "half", "sfu", "convert", "move", "compare", "control", "memory",
           "atomic", "sync", "tensor", "warp")

# The first that fits the mnemonic counts; a leading U, for the uniform pipe, is left out before.
RULES = [
    ("move", r"IMAD\.MOV|MOV|CS2R|CS2UR|S2R|S2UR|R2UR|P2R|R2P|R2B|B2R|P2UR|R2UP|LEPC"),
    ("sfu", r"MUFU|POPC|FLO|BREV"),
    ("convert", r"I2F|F2I|F2F|I2I|FRND|I2FP|F2FP|F2IP|HADD2\.F32"),
    ("compare", r"ISETP|FSETP|DSETP|HSETP2|FSET|HSET2|SEL|FSEL|FMNMX|FMNMX3|IMNMX|VIMNMX|HMNMX2|VHMNMX|PLOP3|PSETP|FCHK|ISET|VSETP"),
    ("tensor", r"HMMA|IMMA|DMMA|BMMA|HGMMA|IGMMA|QGMMA|BGMMA|OMMA|QMMA"),
    ("half", r"HADD2|HMUL2|HFMA2"),
    ("fp64", r"DADD|DMUL|DFMA"),
    ("fp32", r"FADD|FMUL|FFMA|FSWZADD"),
    ("int", r"IADD|IADD3|IMAD|IMUL|LEA|LOP3|LOP|SHF|SHL|SHR|IABS|PRMT|SGXT|BMSK|XMAD|IDP|VABSDIFF|VABSDIFF4|ISCADD|BFE|BFI|VIADD|VIADDMNMX"),
    ("atomic", r"ATOM|ATOMG|ATOMS|RED|REDG|REDAS|SUATOM|SURED"),
    ("warp", r"SHFL|VOTEU?|MATCH|REDUX|CREDUX|MOVM|ELECT"),
    ("sync", r"BAR|MEMBAR|ERRBAR|DEPBAR|LDGDEPBAR|FENCE|SYNCS|WARPSYNC|CCTL|CGAERRBAR|ARRIVES|UCGABAR|ACQBULK|CGABAR|ENDCOLLECTIVE|WARPGROUP"),
    ("control", r"BRA|BRX|JMP|JMX|EXIT|RET|CALL|BSSY|BSYNC|BREAK|BMOV|YIELD|NANOSLEEP|BPT|KILL|PMTRIG|WARPARRIVE|PREEXIT|USETMAXREG"),
    ("memory", r"LDC|LDCU|LD|LDG|LDS|LDL|LDSM|STSM|ST|STG|STS|STL|TEX|TLD|TLD4|TMML|TXD|TXQ|SULD|SUST|SUQ|LDGSTS|UBLKCP|UBLKPF|UTMALDG"
               r"|UTMASTG|QSPC|LDTRAM|CCTLL|GETLMEMBASE|BLKCP"),
]
PATTERNS = [(name, re.compile(rf"U?(?:{rule})(?:[._].*)?$")) for name, rule in RULES]
NEVER_RUN = {"NOP"}
SLOW_PATH = 16  # instructions and labels: arguments, the call, the result

Instruction = collections.namedtuple("Instruction", "guard op operands")


def class_of(insn):
    """Its class, or None for what fills the code up."""
    op, operands = insn.op, insn.operands
    if op in NEVER_RUN or (op == "BRA" and operands.strip("`() ") == "self"):
        return None
    if re.match(r"U?LDC", op) and not re.search(r"\[U?R\d+", operands):
        return "move"  # a parameter, at a place that the code names
    if re.match(r"HFMA2", op) and "-RZ, RZ" in operands:
        return "move"  # a constant
    if re.match(r"IMAD\.(U32|WIDE)", op) and "RZ, RZ, U" in operands:
        return "move"  # out of a uniform register
    if re.match(r"IMAD\.MOV", op) and "-R" in operands:
        return "int"  # another sign
    if op.startswith("PLOP3") and "PT, PT, PT, PT" in operands:
        return "move"  # a constant
    for name, pattern in PATTERNS:
        if pattern.match(op):
            return name
    raise ValueError(f"no class for {op} {operands}")


def functions_of(cubin, nvdisasm):
    """{name: [Instruction or the name of a label, ...]} of a cubin, of its subroutines, too."""
    text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    functions, body = {}, []
    for line in text.splitlines():
        if label := re.match(r"([\w.$]+):$", line):
            if not label[1].startswith("."):
                body = functions.setdefault(label[1], [])
            body.append(label[1])
        elif insn := re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@(!?U?P\w+) )?\s*(\S+)(?: (.*?))? ;", line):
            body.append(Instruction(insn[1], insn[2], insn[3] or ""))
    return functions


def target_of(insn):
    label = re.search(r"`\(([^)]+)\)", insn.operands)
    return label[1] if label else None


def slow_paths(body):
    """The places in a body that run for rare operands only: those that a branch leads around, and
    that call a subroutine and do little else. ptxas divides in this way: inline, unless numbers
    are very small or large."""
    at = {label: i for i, label in enumerate(body) if isinstance(label, str)}
    slow = set()
    for i, insn in enumerate(body):
        if isinstance(insn, str) or insn.op != "BRA" or not insn.guard:
            continue
        around = range(i + 1, at.get(target_of(insn), 0))
        if len(around) <= SLOW_PATH and any(not isinstance(body[k], str) and body[k].op.startswith("CALL") for k in around):
            slow.update(around)
    return slow


def count(functions, name, seen=None):
    """Instructions of a function by class, without slow paths. A subroutine of ptxas that it always
    calls counts each time: it is part of an instruction. A function of the program counts once."""
    total, body = collections.Counter(), functions[name]
    seen = seen or {name}
    slow = slow_paths(body)
    for i, insn in enumerate(body):
        if isinstance(insn, str) or i in slow or not class_of(insn):
            continue
        total[class_of(insn)] += 1
        callee = target_of(insn) if insn.op.startswith("CALL") else None
        if callee in functions and callee not in seen:
            seen.update([callee] if "__internal_" not in callee else [])
            total += count(functions, callee, seen)
    return total
