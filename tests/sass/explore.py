#!/usr/bin/env python3
"""Finds out what the bits of an instruction of machine code mean, by what nvdisasm prints of it.

    explore.py NVDISASM SM WORD              each bit turned: what it prints then
    explore.py NVDISASM SM WORD FIRST+COUNT  each value of a field

WORD is the number that the instruction's 16 bytes are, in hexadecimal; tests/sass/words.py reads it
out of a cubin. Bits that change nothing are listed, and those whose change makes no instruction.
"""
import sys

import words

FIRST, LAST = 9, 105  # above the opcode; below what nvdisasm does not print
REUSE = (122, 123, 124)


def turned(tool, word):
    bits = [*range(FIRST, LAST), *REUSE]
    before = tool.texts([word])[0]
    texts = [tool.texts([word ^ 1 << bit])[0] for bit in bits]
    print(before)
    for bit, text in zip(bits, texts, strict=True):
        if text not in (before, None):
            print(f"{bit:4} {text}")
    print("no change:", *(bit for bit, text in zip(bits, texts, strict=True) if text == before))
    print("no instruction:", *(bit for bit, text in zip(bits, texts, strict=True) if text is None))


def swept(tool, word, first, count):
    without = word & ~((1 << count) - 1 << first)
    for value in range(1 << count):
        print(f"{value:4} {tool.texts([without | value << first])[0]}")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    tool = words.Disassembler(sys.argv[1], int(sys.argv[2]))
    word = words.with_usual_control(int(sys.argv[3], 16))
    if len(sys.argv) == 4:
        turned(tool, word)
    else:
        first, count = sys.argv[4].split("+")
        swept(tool, word, int(first), int(count))


if __name__ == "__main__":
    main()
