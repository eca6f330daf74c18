"""What the oracle needs of a cubin (64-bit ELF): the machine code of its kernels. Only hashes and
opcode numbers of it get into the data."""
import hashlib
import struct

INSTRUCTION = 16  # bytes, on compute capability 7.0 and later


def sections(data):
    """Name -> bytes."""
    if data[:4] != b"\x7fELF" or data[4] != 2:
        raise ValueError("not a cubin")
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    texts = data[headers[names][4]:headers[names][4] + headers[names][5]]
    found = {}
    for name, kind, _, _, begin, length, *_ in headers:
        end = texts.index(b"\0", name)
        found[texts[name:end].decode("utf-8", "replace")] = b"" if kind == 8 else data[begin:begin + length]
    return found


def kernels(data):
    """Name -> machine code."""
    return {name[6:]: code for name, code in sections(data).items() if name.startswith(".text.")}


def hash_of(data):
    """How cubins and code are named: the first 16 digits of their SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def opcode_numbers(code):
    """The 12 bits of each instruction that say its opcode and the kind of its operands."""
    return [struct.unpack_from("<H", code, at)[0] & 0xFFF for at in range(0, len(code) - INSTRUCTION + 1, INSTRUCTION)]
