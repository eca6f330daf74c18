"""Words of machine code: out of cubins, and as nvdisasm prints them."""
import re
import struct
import subprocess
import tempfile

BYTES = 16
NOBITS = 8
CONTROL = (1 << 17) - 1 << 105  # stalls and barriers, which nvdisasm does not print
USUAL_CONTROL = 0x7f1 << 105
ROW = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*$")


def of_cubin(path):
    """Of each section of code of a cubin the words, in order."""
    with open(path, "rb") as file:
        data = file.read()
    table = struct.unpack_from("<Q", data, 40)[0]
    count, names = struct.unpack_from("<HH", data, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    for name, kind, _, _, offset, size, *_ in headers:
        begin = headers[names][4] + name
        if data[begin:begin + 6] == b".text." and kind != NOBITS:
            yield [int.from_bytes(data[at:at + BYTES], "little") for at in range(offset, offset + size, BYTES)]


def with_usual_control(word):
    return word & ~CONTROL | USUAL_CONTROL


class Disassembler:
    """nvdisasm over raw words. It stops at the first that it does not know, which is looked for by
    halves."""

    def __init__(self, nvdisasm, sm):
        self.command = [nvdisasm, "-ndf", "-b", f"SM{sm}a" if sm >= 90 else f"SM{sm}"]

    def try_all(self, words):
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(b"".join(word.to_bytes(BYTES, "little") for word in words))
            file.flush()
            run = subprocess.run([*self.command, file.name], capture_output=True, text=True, check=False)
        rows = [ROW.match(line) for line in run.stdout.splitlines()]
        texts = [plain(row[2]) for row in rows if row]
        return texts if run.returncode == 0 and len(texts) == len(words) else None

    def texts(self, words):
        """One for each word, as if all stood one behind the other; None: none."""
        found = self.try_all(words)
        if found is not None or len(words) == 1:
            return found or [None]
        half = len(words) // 2
        return self.texts(words[:half]) + self.texts(words[half:])


def plain(text):
    """nvdisasm puts blanks in places that depend on what stands before."""
    return re.sub(r" +", " ", text).replace(" ,", ",").strip()


def read(print_words, sm, words, indices):
    """What src/sass prints of the words."""
    lines = "".join(f"{word:032x} {index}\n" for word, index in zip(words, indices, strict=True))
    run = subprocess.run([print_words, str(sm)], input=lines, capture_output=True, text=True, check=True)
    return [plain(line) for line in run.stdout.splitlines()]
