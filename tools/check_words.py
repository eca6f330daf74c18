#!/usr/bin/env python3
"""Checks that what users read keeps to docs/terms.md: a word that a CUDA programmer stumbles over,
or that has another meaning there, stands in no message, report, man page or pattern page.

Read are the README, docs/man and docs/patterns as they are, and string literals of sources: those
with a space in them, since a single word may be a name of JSON or of an option. What stands in
`backquotes` on a page is such a name, too.
"""

import argparse
import pathlib
import re
import sys

# What is not said, as a regular expression, and what is said in its place.
INSTEAD = {
    r"at best": "needed",
    r"(?<!left )behind": "after",
    r"collectors?": "backend, or what it is",
    r"held against": "compared with",
    r"mend(?:s|ed|ing)?": "fix",
    r"noted": "recorded",
    r"odd": "unusual, unlike the others",
    r"pass(?:es)? through shared memory": "wavefronts",
    r"proven": "follows from the launch",
    r"replayed": "computed after the run",
    r"(?<!never )seen": "observed, found",
    r"(?:address |kernel's )slices?|slices? of (?:a|the|its) kernel": "what computes the accesses",
    r"told": "reported, said",
    r"typical": "which stands for the others",
    r"worked out": "computed",
}

PAGES = ("README.md", "docs/man/*.1", "docs/patterns/*.md")
SOURCES = ("src/cli/*.c", "src/cli/*.def", "src/program/*.c", "src/program/*.def", "src/report/*.c",
           "src/analysis/**/*.c", "src/analysis/**/*.def", "src/replay/session.c",
           "src/shim/**/*.c", "src/record/*.c", "viewer/src/**/*.ts", "viewer/src/**/*.tsx")
# Reasons of thresholds, which no user reads.
NOT_READ = ("src/analysis/thresholds.def",)

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
IN_TEMPLATE = re.compile(r"\$\{[^{}]*\}")  # code within a template string
COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.S)
UNSAID = re.compile(r"\b(" + "|".join(f"(?:{word})" for word in INSTEAD) + r")\b", re.I)


def blank(match):
    """What stands in place of a match, so that lines keep their numbers."""
    return "\n" * match[0].count("\n")


def texts_of_page(text):
    """[(line, text)] of what a page says in words."""
    prose = re.sub(r"```.*?```", blank, text, flags=re.S)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    return list(enumerate(prose.splitlines(), start=1))


def texts_of_source(text):
    """[(line, text)] of the string literals that are sentences or parts of one."""
    code = IN_TEMPLATE.sub(blank, COMMENT.sub(blank, text))
    return [(code.count("\n", 0, match.start()) + 1, match[1] or match[2])
            for match in STRING.finditer(code) if " " in (match[1] or match[2] or "")]


def instead_of(word):
    return next(said for unsaid, said in INSTEAD.items() if re.fullmatch(unsaid, word, re.I))


def problems(root):
    for patterns, texts_of in ((PAGES, texts_of_page), (SOURCES, texts_of_source)):
        for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if name in NOT_READ:
                continue
            for line, text in texts_of(path.read_text(encoding="utf-8")):
                for match in UNSAID.finditer(text):
                    yield f'{name}:{line}: "{match[0]}": say {instead_of(match[0])}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    found = list(problems(parser.parse_args().root))
    print("\n".join([*found, f"check_words: {len(found)} words that users stumble over"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
