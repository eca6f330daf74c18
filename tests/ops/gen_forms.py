#!/usr/bin/env python3
"""Writes forms.tsv: the instruction forms whose results are recorded on a GPU and replayed by the
emulator.

A row is: family, PTX text, destination slots, source slots, tolerance. The text may hold several
instructions parted by newlines written as "; ". {d0} and {s0} stand for registers, {t0} for scratch
ones (declared by their suffix in the text: {t0:b32}). A destination slot is a register type; a
source slot is "type:pool" where the pool says how inputs are drawn (see ops_inputs.c). Tolerance:
"exact", or "ulp N", "rel X", "abs X" for instructions that PTX defines approximately.
"""
import itertools
import sys

rows = []


def form(family, text, dst, src, tol="exact"):
    rows.append((family, text, " ".join(dst), " ".join(src), tol))


def reg(t):
    """Register type that holds an operand of instruction type t."""
    bits = {"pred": "pred", "u8": "b16", "s8": "b16", "b8": "b16", "f16": "b16", "bf16": "b16", "f16x2": "b32",
            "bf16x2": "b32", "u16x2": "b32", "s16x2": "b32", "tf32": "b32", "f32": "f32", "f64": "f64"}
    return bits.get(t, "b" + t[1:])


def src(t, pool=None):
    return f"{reg(t)}:{pool or t}"


INT = ["u16", "s16", "u32", "s32", "u64", "s64"]
RND = ["rn", "rz", "rm", "rp"]


def unary(family, op, t, dst=None, pool=None, tol="exact"):
    form(family, f"{op} {{d0}}, {{s0}}", [reg(dst or t)], [src(t, pool)], tol)


def binary(family, op, t, dst=None, second=None, pool=None, tol="exact"):
    form(family, f"{op} {{d0}}, {{s0}}, {{s1}}", [reg(dst or t)], [src(t, pool), src(second or t, pool)], tol)


def ternary(family, op, a, b=None, c=None, dst=None, pool=None, tol="exact"):
    form(family, f"{op} {{d0}}, {{s0}}, {{s1}}, {{s2}}", [reg(dst or a)],
         [src(a, pool), src(b or a, pool), src(c or a, pool)], tol)


def integers():
    for t in INT:
        for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            binary("int", f"{op}.{t}", t)
        for op in ("mad.lo", "mad.hi", "sad"):
            ternary("int", f"{op}.{t}", t)
    for t in ("s16", "s32", "s64"):
        unary("int", f"abs.{t}", t)
        unary("int", f"neg.{t}", t)
    for op in ("add.sat", "sub.sat"):
        binary("int", f"{op}.s32", "s32")
    ternary("int", "mad.hi.sat.s32", "s32")
    for n, w in (("16", "32"), ("32", "64")):
        for k in "us":
            binary("int", f"mul.wide.{k}{n}", k + n, dst=k + w)
            ternary("int", f"mad.wide.{k}{n}", k + n, c=k + w, dst=k + w)
    for k in "us":
        for part in ("hi", "lo"):
            binary("int", f"mul24.{part}.{k}32", k + "32")
            ternary("int", f"mad24.{part}.{k}32", k + "32")
    ternary("int", "mad24.hi.sat.s32", "s32")
    for t in ("u16x2", "s16x2"):
        for op in ("add", "min", "max"):
            binary("int", f"{op}.{t}", t)
    for t in ("s16x2", "s32"):
        for op in ("min", "max"):
            binary("int", f"{op}.relu.{t}", t)
    for a in "us":
        for b in "us":
            d = "s32" if "s" in a + b else "u32"
            ternary("int", f"dp4a.{a}32.{b}32", "b32", "b32", d, dst=d)
            for part in ("lo", "hi"):
                ternary("int", f"dp2a.{part}.{a}32.{b}32", "b32", "b32", d, dst=d)
    form("carry", "add.cc.u32 {d0}, {s0}, {s1}; addc.cc.u32 {d1}, {s2}, {s3}; addc.u32 {d2}, {s0}, {s3}",
         ["b32"] * 3, ["b32:u32"] * 4)
    form("carry", "sub.cc.u32 {d0}, {s0}, {s1}; subc.cc.u32 {d1}, {s2}, {s3}; subc.u32 {d2}, {s0}, {s3}",
         ["b32"] * 3, ["b32:u32"] * 4)
    form("carry", "add.cc.s32 {d0}, {s0}, {s1}; addc.s32 {d1}, {s2}, {s3}", ["b32"] * 2, ["b32:s32"] * 4)
    form("carry", "add.cc.u64 {d0}, {s0}, {s1}; addc.cc.u64 {d1}, {s2}, {s3}; addc.u64 {d2}, {s0}, 0",
         ["b64"] * 3, ["b64:u64"] * 4)
    form("carry", "sub.cc.s64 {d0}, {s0}, {s1}; subc.s64 {d1}, {s2}, {s3}", ["b64"] * 2, ["b64:s64"] * 4)
    for t in ("u32", "s32", "u64"):
        r = reg(t)
        form("carry", f"mad.lo.cc.{t} {{d0}}, {{s0}}, {{s1}}, {{s2}}; madc.hi.cc.{t} {{d1}}, {{s0}}, {{s1}}, {{s3}}; "
             f"madc.lo.{t} {{d2}}, {{s2}}, {{s3}}, {{s0}}; addc.{t} {{d3}}, {{s1}}, {{s2}}",
             [r] * 4, [src(t)] * 4)
        form("carry", f"mad.hi.cc.{t} {{d0}}, {{s0}}, {{s1}}, {{s2}}; madc.hi.{t} {{d1}}, {{s0}}, {{s1}}, {{s3}}",
             [r] * 2, [src(t)] * 4)


def bits():
    for w in ("16", "32", "64"):
        b = "b" + w
        for op in ("and", "or", "xor"):
            binary("bits", f"{op}.{b}", b)
        unary("bits", f"not.{b}", b)
        unary("bits", f"cnot.{b}", b)
        binary("bits", f"shl.{b}", b, second="b32", pool="shift" + w)
        binary("bits", f"shr.{b}", b, second="b32", pool="shift" + w)
        for k in "us":
            binary("bits", f"shr.{k}{w}", k + w, second="b32", pool="shift" + w)
    for op in ("and", "or", "xor"):
        form("bits", f"setp.ne.b32 {{t0:pred}}, {{s0}}, 0; setp.ne.b32 {{t1:pred}}, {{s1}}, 0; "
             f"{op}.pred {{t2:pred}}, {{t0:pred}}, {{t1:pred}}; selp.b32 {{d0}}, 1, 0, {{t2:pred}}", ["b32"],
             ["b32:bool"] * 2)
    form("bits", "setp.ne.b32 {t0:pred}, {s0}, 0; not.pred {t1:pred}, {t0:pred}; selp.b32 {d0}, 1, 0, {t1:pred}",
         ["b32"], ["b32:bool"])
    for w in ("32", "64"):
        for op in ("popc", "clz"):
            unary("bits", f"{op}.b{w}", "b" + w, dst="b32")
        unary("bits", f"brev.b{w}", "b" + w)
        for k in "us":
            t = k + w
            unary("bits", f"bfind.{t}", t, dst="b32")
            unary("bits", f"bfind.shiftamt.{t}", t, dst="b32")
            form("bits", f"bfe.{t} {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b" + w], [src(t), "b32:field", "b32:field"])
        form("bits", f"bfi.b{w} {{d0}}, {{s0}}, {{s1}}, {{s2}}, {{s3}}", ["b" + w],
             [src("b" + w), src("b" + w), "b32:field", "b32:field"])
    for mode in ("clamp", "wrap"):
        for k in "us":
            form("bits", f"szext.{mode}.{k}32 {{d0}}, {{s0}}, {{s1}}", ["b32"], [src(k + "32"), "b32:field"])
        form("bits", f"bmsk.{mode}.b32 {{d0}}, {{s0}}, {{s1}}", ["b32"], ["b32:field"] * 2)
        for way in "lr":
            form("bits", f"shf.{way}.{mode}.b32 {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"],
                 ["b32:u32", "b32:u32", "b32:shiftcount"])
    form("bits", "fns.b32 {d0}, {s0}, {s1}, {s2}", ["b32"], ["b32:u32", "b32:lane", "b32:small"])
    for lut in (0x00, 0x80, 0x96, 0xCA, 0xE8, 0x1E, 0xFE, 0x3C, 0xFF, 0xF8):
        form("bits", f"lop3.b32 {{d0}}, {{s0}}, {{s1}}, {{s2}}, {lut}", ["b32"], ["b32:u32"] * 3)
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        ternary("bits", f"prmt.b32{mode}", "b32")
    for w in ("16", "32", "64"):
        form("bits", f"setp.ne.b32 {{t0:pred}}, {{s2}}, 0; selp.b{w} {{d0}}, {{s0}}, {{s1}}, {{t0:pred}}", ["b" + w],
             [src("b" + w), src("b" + w), "b32:bool"])
    for t in ("b16", "u32", "s64", "f32", "f64"):
        form("bits", f"slct.{t}.s32 {{d0}}, {{s0}}, {{s1}}, {{s2}}", [reg(t)], [src(t), src(t), "b32:s32"])
    for ftz in ("", ".ftz"):
        form("bits", f"slct{ftz}.u32.f32 {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"], ["b32:u32", "b32:u32", "f32:f32"])
    form("bits", "mov.b64 {{{t0:b32}, {t1:b32}}}, {s0}; mov.b64 {d0}, {{{t1:b32}, {t0:b32}}}", ["b64"], ["b64:u64"])
    form("bits", "mov.b32 {{{t0:b16}, {t1:b16}}}, {s0}; mov.b32 {d0}, {{{t1:b16}, {t0:b16}}}", ["b32"], ["b32:u32"])


def compare(family, t, ops, ftz=("",)):
    for c in ops:
        for z in ftz:
            form(family, f"setp.{c}{z}.{t} {{t0:pred}}, {{s0}}, {{s1}}; selp.b32 {{d0}}, 1, 0, {{t0:pred}}", ["b32"],
                 [src(t), src(t)])


ORDERED = ["eq", "ne", "lt", "le", "gt", "ge"]
UNORDERED = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def compares():
    for w in ("16", "32", "64"):
        compare("compare", "s" + w, ORDERED)
        compare("compare", "u" + w, ORDERED + ["lo", "ls", "hi", "hs"])
        compare("compare", "b" + w, ["eq", "ne"])
    compare("compare", "f32", ORDERED + UNORDERED, ("", ".ftz"))
    compare("compare", "f64", ORDERED + UNORDERED)
    compare("compare", "f16", ORDERED + UNORDERED, ("", ".ftz"))
    compare("compare", "bf16", ORDERED + UNORDERED)
    for c, b in itertools.product(("lt", "ne"), ("and", "or", "xor")):
        for bang in ("", "!"):
            form("compare", f"setp.ne.b32 {{t2:pred}}, {{s2}}, 0; setp.{c}.{b}.s32 {{t0:pred}}|{{t1:pred}}, {{s0}}, "
                 f"{{s1}}, {bang}{{t2:pred}}; selp.b32 {{d0}}, 1, 0, {{t0:pred}}; selp.b32 {{d1}}, 1, 0, {{t1:pred}}",
                 ["b32", "b32"], ["b32:s32", "b32:s32", "b32:bool"])
    form("compare", "setp.ltu.f32 {t0:pred}|{t1:pred}, {s0}, {s1}; selp.b32 {d0}, 1, 0, {t0:pred}; "
         "selp.b32 {d1}, 1, 0, {t1:pred}", ["b32", "b32"], ["f32:f32", "f32:f32"])
    for d, t in itertools.product(("u32", "s32", "f32"), ("s32", "u64", "f32", "f64", "b16")):
        for c in ("eq", "ne") if t == "b16" else ("lt", "ge", "eq"):
            binary("compare", f"set.{c}.{d}.{t}", t, dst=d)
    for b in ("and", "or", "xor"):
        form("compare", f"setp.ne.b32 {{t0:pred}}, {{s2}}, 0; set.gt.{b}.u32.f32 {{d0}}, {{s0}}, {{s1}}, {{t0:pred}}",
             ["b32"], ["f32:f32", "f32:f32", "b32:bool"])
    for c in ("eq", "lt", "geu", "nan"):
        for z in ("", ".ftz"):
            form("compare", f"set.{c}{z}.f16.f16 {{d0}}, {{s0}}, {{s1}}", ["b16"], [src("f16"), src("f16")])
            form("compare", f"set.{c}{z}.f16x2.f16x2 {{d0}}, {{s0}}, {{s1}}", ["b32"], [src("f16x2"), src("f16x2")])
            form("compare", f"setp.{c}{z}.f16x2 {{t0:pred}}|{{t1:pred}}, {{s0}}, {{s1}}; selp.b32 {{d0}}, 1, 0, "
                 "{t0:pred}; selp.b32 {d1}, 1, 0, {t1:pred}", ["b32", "b32"], [src("f16x2"), src("f16x2")])
        form("compare", f"set.{c}.bf16x2.bf16x2 {{d0}}, {{s0}}, {{s1}}", ["b32"], [src("bf16x2"), src("bf16x2")])


def floats():
    for op, r, z, s in itertools.product(("add", "sub", "mul"), RND, ("", ".ftz"), ("", ".sat")):
        binary("float", f"{op}.{r}{z}{s}.f32", "f32")
    for r, z, s in itertools.product(RND, ("", ".ftz"), ("", ".sat")):
        ternary("float", f"fma.{r}{z}{s}.f32", "f32")
    for op in ("add", "sub", "mul"):
        binary("float", f"{op}.f32", "f32")
        binary("float", f"{op}.f64", "f64")
        for r in RND:
            binary("float", f"{op}.{r}.f64", "f64")
    for r in RND:
        ternary("float", f"fma.{r}.f64", "f64")
        ternary("float", f"mad.{r}.f64", "f64")
        ternary("float", f"mad.{r}.f32", "f32")
        binary("float", f"div.{r}.f64", "f64")
        unary("float", f"rcp.{r}.f64", "f64")
        unary("float", f"sqrt.{r}.f64", "f64")
        for z in ("", ".ftz"):
            binary("float", f"div.{r}{z}.f32", "f32")
            unary("float", f"rcp.{r}{z}.f32", "f32")
            unary("float", f"sqrt.{r}{z}.f32", "f32")
    for op in ("min", "max"):
        for z, nan, x in itertools.product(("", ".ftz"), ("", ".NaN"), ("", ".xorsign.abs")):
            binary("float", f"{op}{z}{nan}{x}.f32", "f32")
        binary("float", f"{op}.f64", "f64")
    for op in ("abs", "neg"):
        for z in ("", ".ftz"):
            unary("float", f"{op}{z}.f32", "f32")
        unary("float", f"{op}.f64", "f64")
    for t in ("f32", "f64"):
        binary("float", f"copysign.{t}", t)
        for p in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            form("float", f"testp.{p}.{t} {{t0:pred}}, {{s0}}; selp.b32 {{d0}}, 1, 0, {{t0:pred}}", ["b32"], [src(t)])


def approximate():
    for z in ("", ".ftz"):
        binary("approx", f"div.approx{z}.f32", "f32", pool="nice32", tol="ulp 3")
        binary("approx", f"div.full{z}.f32", "f32", pool="nice32", tol="ulp 3")
        unary("approx", f"rcp.approx{z}.f32", "f32", tol="ulp 2")
        unary("approx", f"sqrt.approx{z}.f32", "f32", tol="ulp 3")
        unary("approx", f"rsqrt.approx{z}.f32", "f32", tol="ulp 3")
        unary("approx", f"sin.approx{z}.f32", "f32", pool="angle", tol="abs 5.1e-7")
        unary("approx", f"cos.approx{z}.f32", "f32", pool="angle", tol="abs 5.1e-7")
        unary("approx", f"lg2.approx{z}.f32", "f32", tol="abs 4.8e-7")
        unary("approx", f"ex2.approx{z}.f32", "f32", tol="ulp 3")
    unary("approx", "tanh.approx.f32", "f32", tol="rel 6e-4")
    unary("approx", "rcp.approx.ftz.f64", "f64", tol="rel 1.2e-6")
    unary("approx", "rsqrt.approx.ftz.f64", "f64", tol="rel 1.2e-6")
    unary("approx", "rsqrt.approx.f64", "f64", tol="ulp 2")
    unary("approx", "ex2.approx.f16", "f16", tol="rel 2e-3")
    unary("approx", "ex2.approx.f16x2", "f16x2", tol="rel 2e-3")
    unary("approx", "ex2.approx.ftz.bf16", "bf16", tol="rel 8e-3")
    unary("approx", "tanh.approx.f16", "f16", tol="rel 2e-3")
    unary("approx", "tanh.approx.f16x2", "f16x2", tol="rel 2e-3")
    unary("approx", "tanh.approx.bf16", "bf16", tol="rel 8e-3")


def halves():
    for t in ("f16", "f16x2"):
        for op, r, z, s in itertools.product(("add", "sub", "mul"), ("", ".rn"), ("", ".ftz"), ("", ".sat")):
            binary("half", f"{op}{r}{z}{s}.{t}", t)
        for z, s in itertools.product(("", ".ftz"), ("", ".sat", ".relu")):
            ternary("half", f"fma.rn{z}{s}.{t}", t)
        for op, z, nan, x in itertools.product(("min", "max"), ("", ".ftz"), ("", ".NaN"), ("", ".xorsign.abs")):
            binary("half", f"{op}{z}{nan}{x}.{t}", t)
        for op, z in itertools.product(("abs", "neg"), ("", ".ftz")):
            unary("half", f"{op}{z}.{t}", t)
    for t in ("bf16", "bf16x2"):
        for op in ("add", "sub", "mul"):
            binary("half", f"{op}.{t}", t)
        for s in ("", ".relu"):
            ternary("half", f"fma.rn{s}.{t}", t)
        for op, nan, x in itertools.product(("min", "max"), ("", ".NaN"), ("", ".xorsign.abs")):
            binary("half", f"{op}{nan}{x}.{t}", t)
        for op in ("abs", "neg"):
            unary("half", f"{op}.{t}", t)


def conversions():
    ints = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]

    def wide(t):  # destination register: sub-word results are extended, show it in 32 bits
        return "b32" if t in ("u8", "s8", "u16", "s16") else reg(t)
    def clips(d, s):  # can a value of type s leave the range of d?
        return int(d[1:]) < int(s[1:]) or (d[0] == "u" and s[0] == "s") or \
            (d[0] == "s" and s[0] == "u" and d[1:] == s[1:])
    for d, s in itertools.product(ints, ints):
        for sat in ("", ".sat"):
            if sat and not clips(d, s):
                continue
            form("convert", f"cvt{sat}.{d}.{s} {{d0}}, {{s0}}", [wide(d)], [src(s)])
    for f in ("f16", "f32", "f64", "bf16"):
        for i in ints:
            for r in RND:
                if f == "bf16" and i in ("u8", "s8"):
                    continue
                form("convert", f"cvt.{r}.{f}.{i} {{d0}}, {{s0}}", [reg(f)], [src(i)])
            for r in ("rni", "rzi", "rmi", "rpi"):
                if f == "bf16" and i in ("u8", "s8"):
                    continue
                form("convert", f"cvt.{r}.{i}.{f} {{d0}}, {{s0}}", [reg(i) if f == "bf16" else wide(i)], [src(f)])
                if f == "f32":
                    form("convert", f"cvt.{r}.ftz.{i}.{f} {{d0}}, {{s0}}", [wide(i)], [src(f)])
            if f in ("f32", "f64"):
                form("convert", f"cvt.rzi.sat.{i}.{f} {{d0}}, {{s0}}", [wide(i)], [src(f)])
        for i in ("s32", "u64"):
            if f in ("f32", "f64"):
                form("convert", f"cvt.rn.sat.{f}.{i} {{d0}}, {{s0}}", [reg(f)], [src(i)])
    for f in ("f16", "f32", "f64", "bf16"):
        for r in ("rni", "rzi", "rmi", "rpi"):
            unary("convert", f"cvt.{r}.{f}.{f}", f)
            if f == "f32":
                unary("convert", f"cvt.{r}.ftz.{f}.{f}", f)
                unary("convert", f"cvt.{r}.sat.{f}.{f}", f)
    for z in ("", ".ftz"):
        unary("convert", f"cvt.sat{z}.f32.f32", "f32")
        unary("convert", f"cvt{z}.f64.f32", "f32", dst="f64")
        unary("convert", f"cvt{z}.sat.f64.f32", "f32", dst="f64")
        unary("convert", f"cvt{z}.f32.f16", "f16", dst="f32")
        for r in RND:
            unary("convert", f"cvt.{r}{z}.f32.f64", "f64", dst="f32")
            unary("convert", f"cvt.{r}{z}.sat.f32.f64", "f64", dst="f32")
            unary("convert", f"cvt.{r}{z}.f16.f32", "f32", dst="f16")
    unary("convert", "cvt.sat.f64.f64", "f64")
    unary("convert", "cvt.f64.f16", "f16", dst="f64")
    unary("convert", "cvt.f32.bf16", "bf16", dst="f32")
    unary("convert", "cvt.f64.bf16", "bf16", dst="f64")
    for r in RND:
        unary("convert", f"cvt.{r}.f16.f64", "f64", dst="f16")
        unary("convert", f"cvt.{r}.sat.f16.f32", "f32", dst="f16")
        unary("convert", f"cvt.{r}.bf16.f64", "f64", dst="bf16")
    for r in ("rn", "rz"):
        for relu in ("", ".relu"):
            unary("convert", f"cvt.{r}{relu}.bf16.f32", "f32", dst="bf16")
            unary("convert", f"cvt.{r}{relu}.f16.f32", "f32", dst="f16")
            unary("convert", f"cvt.{r}{relu}.tf32.f32", "f32", dst="tf32")
            binary("convert", f"cvt.{r}{relu}.f16x2.f32", "f32", dst="f16x2")
            binary("convert", f"cvt.{r}{relu}.bf16x2.f32", "f32", dst="bf16x2")
    unary("convert", "cvt.rna.tf32.f32", "f32", dst="tf32")
    for e in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            form("convert", f"cvt.rn.satfinite{relu}.{e}.f32 {{d0}}, {{s0}}, {{s1}}", ["b16"], ["f32:nice32"] * 2)
            form("convert", f"cvt.rn.satfinite{relu}.{e}.f16x2 {{d0}}, {{s0}}", ["b16"], ["b32:f16x2"])
            form("convert", f"cvt.rn{relu}.f16x2.{e} {{d0}}, {{s0}}", ["b32"], ["b16:u16"])
    for d in ("u16", "s16"):
        form("convert", f"cvt.pack.sat.{d}.s32 {{d0}}, {{s0}}, {{s1}}", ["b32"], ["b32:s32"] * 2)
    for d in ("u8", "s8"):
        form("convert", f"cvt.pack.sat.{d}.s32.b32 {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"],
             ["b32:s32", "b32:s32", "b32:u32"])


def video():
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for d, a, b in (("s32", "s32", "s32"), ("u32", "u32", "u32"), ("s32", "u32", "s32"), ("u32", "s32", "u32")):
            for sat in ("", ".sat"):
                form("video", f"{op}.{d}.{a}.{b}{sat} {{d0}}, {{s0}}, {{s1}}", ["b32"], ["b32:u32"] * 2)
        form("video", f"{op}.s32.s32.s32 {{d0}}, {{s0}}.b1, {{s1}}.h1", ["b32"], ["b32:u32"] * 2)
        form("video", f"{op}.s32.u32.s32.add {{d0}}, {{s0}}.b0, {{s1}}.b3, {{s2}}", ["b32"], ["b32:u32"] * 3)
        form("video", f"{op}.u32.u32.u32.max {{d0}}, {{s0}}.h0, {{s1}}.h1, {{s2}}", ["b32"], ["b32:u32"] * 3)
    for op, mode in itertools.product(("vshl", "vshr"), ("clamp", "wrap")):
        for t in ("u32", "s32"):
            form("video", f"{op}.{t}.{t}.u32.{mode} {{d0}}, {{s0}}, {{s1}}", ["b32"], ["b32:u32", "b32:shiftcount"])
    for t, scale in itertools.product(("u32", "s32"), ("", ".shr7", ".shr15")):
        form("video", f"vmad.{t}.{t}.{t}{scale} {{d0}}, {{s0}}.h0, {{s1}}.h1, {{s2}}", ["b32"], ["b32:u32"] * 3)
    for t, c in itertools.product(("u32", "s32"), ORDERED):
        form("video", f"vset.{t}.{t}.{c} {{d0}}, {{s0}}, {{s1}}", ["b32"], ["b32:u32"] * 2)
    for op, n in itertools.product(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg"), ("2", "4")):
        for t in ("u32", "s32"):
            form("video", f"{op}{n}.{t}.{t}.{t} {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"], ["b32:u32"] * 3)
            form("video", f"{op}{n}.{t}.{t}.{t}.sat {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"], ["b32:u32"] * 3)
            form("video", f"{op}{n}.{t}.{t}.{t}.add {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"], ["b32:u32"] * 3)
    for n, t, c in itertools.product(("2", "4"), ("u32", "s32"), ("eq", "lt", "ge")):
        form("video", f"vset{n}.{t}.{t}.{c} {{d0}}, {{s0}}, {{s1}}, {{s2}}", ["b32"], ["b32:u32"] * 3)


def warps():
    for mode in ("up", "down", "bfly", "idx"):
        for c in ((0, 0x1800, 0x1000, 0x1C00) if mode == "up" else (31, 0x181F, 0x101F, 0x1C1F, 0x0007)):
            form("warp", f"shfl.sync.{mode}.b32 {{d0}}|{{t0:pred}}, {{s0}}, {{s1}}, {c}, -1; "
                 "selp.b32 {d1}, 1, 0, {t0:pred}", ["b32", "b32"], ["b32:u32", "b32:lane"])
        form("warp", f"shfl.sync.{mode}.b32 {{d0}}, {{s0}}, 3, {0 if mode == 'up' else 31}, 0xffffffff", ["b32"],
             ["b32:u32"])
    for mode in ("all", "any", "uni"):
        for bang in ("", "!"):
            form("warp", f"setp.ne.b32 {{t0:pred}}, {{s0}}, 0; vote.sync.{mode}.pred {{t1:pred}}, {bang}{{t0:pred}}, -1; "
                 "selp.b32 {d0}, 1, 0, {t1:pred}", ["b32"], ["b32:vote"])
    form("warp", "setp.ne.b32 {t0:pred}, {s0}, 0; vote.sync.ballot.b32 {d0}, {t0:pred}, -1", ["b32"], ["b32:vote"])
    form("warp", "setp.ne.b32 {t0:pred}, {s0}, 0; mov.b32 {d0}, 0; @{t0:pred} activemask.b32 {d0}", ["b32"],
         ["b32:all"])
    for w in ("32", "64"):
        form("warp", f"match.any.sync.b{w} {{d0}}, {{s0}}, -1", ["b32"], [f"b{w}:few"])
        form("warp", f"match.all.sync.b{w} {{d0}}|{{t0:pred}}, {{s0}}, -1; selp.b32 {{d1}}, 1, 0, {{t0:pred}}",
             ["b32", "b32"], [f"b{w}:vote"])
    for op in ("add", "min", "max"):
        for t in ("u32", "s32"):
            form("warp", f"redux.sync.{op}.{t} {{d0}}, {{s0}}, -1", ["b32"], ["b32:" + t])
    for op in ("and", "or", "xor"):
        form("warp", f"redux.sync.{op}.b32 {{d0}}, {{s0}}, -1", ["b32"], ["b32:u32"])
    for op in ("and", "or"):
        form("warp", f"setp.ne.b32 {{t0:pred}}, {{s0}}, 0; barrier.red.{op}.pred {{t1:pred}}, 1, {{t0:pred}}; "
             "selp.b32 {d0}, 1, 0, {t1:pred}", ["b32"], ["b32:vote"])
    form("warp", "setp.ne.b32 {t0:pred}, {s0}, 0; barrier.red.popc.u32 {d0}, 2, {t0:pred}", ["b32"], ["b32:vote"])
    # Lane identity: the registers that depend on the lane only.
    for r in ("laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "tid.x", "ntid.x",
              "ctaid.x", "nctaid.x", "tid.y", "ntid.z"):
        form("warp", f"mov.u32 {{d0}}, %{r}", ["b32"], ["b32:all"])


def tensors():
    def mma(shape, d, a, b, c, nd, na, nb, nc, pools, rd, ra, rc, tol):
        i = itertools.count()
        va, vb, vc = ([f"{{s{next(i)}}}" for _ in range(n)] for n in (na, nb, nc))
        vd = [f"{{d{k}}}" for k in range(nd)]
        def brace(v):
            return "{{" + ", ".join(v) + "}}"

        form("mma", f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{c} {brace(vd)}, {brace(va)}, {brace(vb)}, {brace(vc)}",
             [rd] * nd, [f"{ra}:{pools[0]}"] * (na + nb) + [f"{rc}:{pools[1]}"] * nc, tol)
    half = ("unit16x2", "unit32")
    mma("m16n8k16", "f32", "f16", "f16", "f32", 4, 4, 2, 4, half, "f32", "b32", "f32", "abs 2e-5")
    mma("m16n8k8", "f32", "f16", "f16", "f32", 4, 2, 1, 4, half, "f32", "b32", "f32", "abs 2e-5")
    mma("m16n8k16", "f16", "f16", "f16", "f16", 2, 4, 2, 2, ("unit16x2", "unit16x2"), "b32", "b32", "b32", "abs 8e-3")
    mma("m16n8k16", "f32", "bf16", "bf16", "f32", 4, 4, 2, 4, ("unitbf16x2", "unit32"), "f32", "b32", "f32", "abs 2e-5")
    mma("m16n8k8", "f32", "bf16", "bf16", "f32", 4, 2, 1, 4, ("unitbf16x2", "unit32"), "f32", "b32", "f32", "abs 2e-5")
    mma("m16n8k8", "f32", "tf32", "tf32", "f32", 4, 4, 2, 4, ("unittf32", "unit32"), "f32", "b32", "f32", "abs 2e-5")
    mma("m16n8k4", "f32", "tf32", "tf32", "f32", 4, 2, 1, 4, ("unittf32", "unit32"), "f32", "b32", "f32", "abs 2e-5")
    mma("m8n8k4", "f64", "f64", "f64", "f64", 2, 1, 1, 2, ("unit64", "unit64"), "f64", "f64", "f64", "abs 1e-14")
    for t in ("s8", "u8"):
        mma("m16n8k32", "s32", t, t, "s32", 4, 4, 2, 4, ("u32", "small"), "b32", "b32", "b32", "exact")
        mma("m16n8k16", "s32", t, t, "s32", 4, 2, 1, 4, ("u32", "small"), "b32", "b32", "b32", "exact")


def atomics():
    """Each thread has a 16-byte cell {m0}; the form returns the old value and the new content."""
    def atom(op, t, extra=1, pool=None, tol="exact", space="global", mods=""):
        r = reg(t)
        args = ", ".join(f"{{s{k + 1}}}" for k in range(extra))
        width = "b16" if r == "b16" else r
        form("atomic", f"st.{space}.{width} [{{m0}}], {{s0}}; atom{mods}.{space}.{op}.{t} {{d0}}, [{{m0}}], {args}; "
             f"ld.{space}.{width} {{d1}}, [{{m0}}]", [r, r], [src(t, pool)] * (1 + extra), tol)
    for t in ("u32", "s32"):
        for op in ("add", "min", "max"):
            atom(op, t)
    for t in ("u64", "s64"):
        for op in ("min", "max"):
            atom(op, t)
    atom("add", "u64")
    for op in ("inc", "dec"):
        atom(op, "u32", pool="small")
        atom(op, "u32")
    for w in ("32", "64"):
        for op in ("and", "or", "xor", "exch"):
            atom(op, "b" + w)
        atom("cas", "b" + w, extra=2, pool="few")
    atom("cas", "b16", extra=2, pool="few")
    for t in ("f32", "f64"):
        atom("add", t)
    atom("add.noftz", "f16")
    atom("add.noftz", "f16x2")
    atom("add.noftz", "bf16")
    atom("add.noftz", "bf16x2")
    for mods in (".relaxed.gpu", ".acquire.cta", ".release.sys", ".acq_rel.gpu"):
        form("atomic", f"st.global.b32 [{{m0}}], {{s0}}; atom{mods}.global.add.u32 {{d0}}, [{{m0}}], {{s1}}; "
             "ld.global.b32 {d1}, [{m0}]", ["b32", "b32"], ["b32:u32"] * 2)
    for t, op in (("u32", "add"), ("s32", "min"), ("b64", "xor"), ("f32", "add"), ("f64", "add")):
        r = reg(t)
        form("atomic", f"st.global.{r} [{{m0}}], {{s0}}; red.global.{op}.{t} [{{m0}}], {{s1}}; ld.global.{r} {{d0}}, "
             "[{m0}]", [r], [src(t)] * 2)


def memory():
    for t in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "b8", "b16", "b32", "f32"):
        for r in ("b16", "b32", "b64"):
            bits = int(r[1:])
            if (t == "f32" and r != "b32") or int(t[1:]) > bits:
                continue
            form("memory", f"st.global.b64 [{{m0}}], {{s0}}; ld.global.{t} {{d0}}, [{{m0}}]", [r], ["b64:u64"])
            if t != "f32":
                form("memory", f"st.global.b64 [{{m0}}], {{s0}}; ld.global.{t} {{d0}}, [{{m0}}+"
                     f"{max(1, int(t[1:]) // 8) if int(t[1:]) < 64 else 0}]", [r], ["b64:u64"])
    for t in ("u8", "u16", "u32"):
        for r in ("b16", "b32", "b64"):
            if int(t[1:]) <= int(r[1:]):
                form("memory", f"st.global.b64 [{{m0}}], 0; st.global.{t} [{{m0}}], {{s0}}; ld.global.b64 {{d0}}, "
                     "[{m0}]", ["b64"], [f"{r}:u{r[1:]}"])
    form("memory", "st.global.v2.b32 [{m0}], {{{s0}, {s1}}}; ld.global.v2.b32 {{{d1}, {d0}}}, [{m0}]", ["b32", "b32"],
         ["b32:u32"] * 2)
    form("memory", "st.global.v4.b32 [{m0}], {{{s0}, {s1}, {s2}, {s3}}}; ld.global.v2.b64 {{{d1}, {d0}}}, [{m0}]",
         ["b64", "b64"], ["b32:u32"] * 4)
    form("memory", "st.global.v4.b16 [{m0}], {{{s0}, {s1}, {s2}, {s3}}}; ld.global.v4.u8 {{{d0}, {d1}, {d2}, {d3}}}, "
         "[{m0}]", ["b16"] * 4, ["b16:u16"] * 4)


for part in (integers, bits, compares, floats, approximate, halves, conversions, video, warps, tensors, atomics, memory):
    part()
seen = set()
out = sys.stdout
for row in rows:
    if row not in seen:
        seen.add(row)
        out.write("\t".join(row) + "\n")
