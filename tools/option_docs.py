#!/usr/bin/env python3
"""Writes what the man page and docs/options.md say of options, from src/program/options.def.

    option_docs.py --table PROGRAM [--check]

PROGRAM prints the table (tools/option_table.c, build/release/bin/option_table). What stands
between a file's marks is replaced.
--check changes nothing, and fails where a file is not as it would be written.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import textwrap

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
MAN, PAGE = DOCS / "man" / "warplens-profile.1", DOCS / "options.md"
WIDTH = 100


def default_of(row):
    return row["initial"] if row["initial"] is not None else row["without"]


# ---- the man page ----

def roff(text):
    """A text with `backquotes` as roff, where they are bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)


def roff_lines(text):
    """Each sentence on lines of its own, none of which begins as a command would."""
    sentences = re.split(r"(?<=[^.]\.) +(?=[A-Z])", text)
    lines = [line for s in sentences
             for line in textwrap.wrap(roff(s), WIDTH, break_on_hyphens=False)]
    return ["\\&" + line if line[0] in ".'" else line for line in lines]


def sentences_of(row):
    said = [row["help"] + "."]
    if row["type"] == "number":
        said.append("%s is %s." % (row["argument"] or "It", row["allowed"]))
    default = default_of(row)
    if default is not None:
        said.append("The default is %s." % (code(row["initial"]) or default))
    return " ".join(said + ([row["more"]] if row["more"] else []))


def man_entry(row):
    names = ['.BR']
    if row["letter"]:
        names += ["\\-" + row["letter"], '", "']
    names.append(roff("--" + row["name"]))
    if row["argument"]:
        names += ['" "', "\\fI%s\\fR" % roff(row["argument"])]
    return [".TP", " ".join(names)] + roff_lines(sentences_of(row))


def man_options(rows):
    return [line for row in rows if row["name"] for line in man_entry(row)]


def man_variables(rows):
    lines = []
    for row in rows:
        if row["name"] and row["variable"]:
            lines += [".TP", ".B " + row["variable"], ".B " + roff("--" + row["name"])]
    return lines


# ---- docs/options.md ----

def cell(text):
    return text.replace("|", "\\|") if text else ""


def code(text):
    return "`%s`" % cell(text) if text else ""


def default_cell(row):
    return code(row["initial"]) or cell(row["without"])


def spelled(row):
    letter = "-%s, " % row["letter"] if row["letter"] else ""
    return code(letter + "--" + row["name"] + (" " + row["argument"] if row["argument"] else ""))


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return ["| %s |" % " | ".join(line) for line in lines]


def page_options(rows):
    return table(["option", "variable", "takes", "default", "meaning"],
                 [[spelled(r), code(r["variable"]), cell(r["allowed"]) if r["argument"] else "",
                   default_cell(r), cell(r["help"])] for r in rows if r["name"]])


def page_variables(rows):
    return table(["variable", "takes", "default", "meaning"],
                 [[code(r["variable"]), cell(r["allowed"]), default_cell(r), cell(r["help"])]
                  for r in rows if not r["name"]])


# ---- both ----

def replaced(text, name, lines):
    """The text with the lines between the marks of this name."""
    begin = re.search(r"^.*begin %s .*\n" % name, text, re.M)
    end = re.search(r"^.*end %s\b.*$" % name, text, re.M)
    if not begin or not end:
        sys.exit("option_docs: there are no marks of '%s'" % name)
    return text[:begin.end()] + "".join(line + "\n" for line in lines) + text[end.start():]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", required=True)
    parser.add_argument("--check", action="store_true")
    o = parser.parse_args()
    rows = json.loads(subprocess.run([o.table], capture_output=True, text=True, check=True).stdout)
    stale = []
    for path, parts in ((MAN, (("options", man_options), ("variables", man_variables))),
                        (PAGE, (("options", page_options), ("variables", page_variables)))):
        before = after = path.read_text(encoding="utf-8")
        for name, write in parts:
            after = replaced(after, name, write(rows))
        if after != before:
            stale.append(path)
            if not o.check:
                path.write_text(after, encoding="utf-8")
    for path in stale:
        said = "is not up to date: run tools/option_docs.py" if o.check else "written"
        print("option_docs: %s %s" % (path.relative_to(DOCS.parent), said))
    return 1 if o.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
