"""Reads captures (docs/capture-format.md) as far as the oracle needs them: modules, notes of
launches, objects. The layout of the records comes from src/capture/fields.def, so that this
follows it."""
import ctypes
import ctypes.util
import os
import re
import struct

SOURCE = os.environ.get("ORACLE_FORMAT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/capture")
SCALARS = {"U8": "B", "U16": "H", "U32": "I", "U64": "Q", "I32": "i", "I64": "q", "F64": "d"}
WANTED = {"process", "device", "module", "object", "free", "note", "symbol", "tensor", "call", "end", "message"}
PACKED = 1 << 0  # flag of a record


# ---- the table ----

def read_layouts(source=SOURCE):
    """Of each structure the list of (macro, arguments) in order."""
    with open(os.path.join(source, "fields.def"), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    layouts, current = {}, None
    for macro, args in re.findall(r"\b([A-Z][A-Z0-9]*)\(([^()]*)\)", text):
        words = [a.strip() for a in args.split(",")]
        if macro == "BEGIN":
            current = layouts[re.sub("^cap_", "", words[0])] = []
        elif macro not in ("END", "CHECK"):
            current.append((macro, words))
    return layouts


def read_numbers(source=SOURCE):
    with open(os.path.join(source, "events.def"), encoding="utf-8") as f:
        return {int(n): struct_ for n, struct_ in re.findall(r"X\(\w+, (\d+), (\w+)\)", f.read())}


# ---- payloads ----

class Cursor:
    """A payload and how far it was read; what reaches beyond its end raises struct.error."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def numbers(self, code, count):
        values = struct.unpack_from(f"<{count}{code}", self.data, self.at)
        self.at += struct.calcsize(f"<{count}{code}")
        return list(values)

    def number(self, code):
        return self.numbers(code, 1)[0]

    def bytes(self, count):
        if self.at + count > len(self.data):
            raise struct.error("a text reaches beyond the record's end")
        self.at += count
        return bytes(self.data[self.at - count:self.at])


class Decoder:
    def __init__(self, source=SOURCE):
        self.layouts = read_layouts(source)

    def field(self, cursor, macro, args):
        if macro in SCALARS:
            return cursor.number(SCALARS[macro])
        if macro == "STR":
            return cursor.bytes(cursor.number("I")).decode("utf-8", "replace")
        if macro == "TEXT":
            return cursor.bytes(cursor.number("Q"))
        if macro in ("WORDS", "QWORDS"):
            return cursor.numbers("I" if macro == "WORDS" else "Q", int(args[1]))
        if macro in ("U32S", "U64S"):
            return cursor.numbers("I" if macro == "U32S" else "Q", cursor.number("I"))
        if macro == "STRINGS":
            return [cursor.bytes(cursor.number("I")).decode("utf-8", "replace") for _ in range(cursor.number("I"))]
        if macro == "ARRAY":
            return [self.struct(cursor, re.sub("^cap_", "", args[0])) for _ in range(cursor.number("I"))]
        return self.struct(cursor, re.sub("^cap_", "", args[0]))  # PART

    def struct(self, cursor, name):
        out = {}
        for macro, args in self.layouts[name]:
            if macro == "OPTIONAL":
                if cursor.at == len(cursor.data):
                    return out
                continue
            named = args[1] if macro in ("ARRAY", "PART", "STRINGS", "U32S", "U64S") else args[0]
            out[named] = self.field(cursor, macro, args)
        return out


# ---- zstd, of which Python has had a module of its own only since 3.14 ----

def load_zstd():
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    lib.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return lib


def unpack(lib, data):
    size = lib.ZSTD_getFrameContentSize(data, len(data))
    if size > 1 << 30:
        raise ValueError("a record of the capture does not say how long it is unpacked")
    out = ctypes.create_string_buffer(max(size, 1))
    if lib.ZSTD_decompress(out, size, data, len(data)) != size:
        raise ValueError("a record of the capture cannot be unpacked")
    return out.raw[:size]


# ---- the file ----

def records(path, source=SOURCE, wanted=WANTED):
    """Pairs of structure and fields, in order. A torn record, as a crash leaves it, ends them."""
    numbers, decoder, lib = read_numbers(source), Decoder(source), load_zstd()
    with open(path, "rb") as f:
        if f.read(8) != b"WLCAPTUR":
            raise ValueError(f"{path} is no capture")
        f.read(8)
        while True:
            frame = f.read(24)
            if len(frame) < 24:
                return
            number, flags, stored, _ = struct.unpack("<IIQQ", frame)
            data = f.read(stored)
            if len(data) < stored:
                return
            name = numbers.get(number)
            if name in wanted:
                yield name, decoder.struct(Cursor(unpack(lib, data) if flags & PACKED else data), name)
