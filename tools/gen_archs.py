#!/usr/bin/env python3
"""The table of architectures for the viewer, from src/analysis/explore/archs.def.

gen_archs.py update   writes viewer/src/data/explore/archs.ts
gen_archs.py check    fails where that is out of date
"""

import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src/analysis/explore"
OUTPUT = ROOT / "viewer/src/data/explore/archs.ts"
COLUMNS = (
    "id",
    "name",
    "capability",
    "merging",
    "loadBytes",
    "storeBytes",
    "serving",
    "banks",
    "note",
)

HEAD = """\
// Made by tools/gen_archs.py from src/analysis/explore/archs.def: change that, and run it.

/** How lanes' accesses to global and local memory become transactions. */
export type Merging = {mergings};
/** How shared memory serves lanes, pass by pass. */
export type Serving = {servings};

/** How a generation of GPUs serves a request. */
export interface Arch {{
  id: string;
  name: string;
  capability: number; // major * 10 + minor of the first that it is true of
  merging: Merging;
  loadBytes: number; // of a transaction, where the rule leaves that open
  storeBytes: number;
  serving: Serving;
  banks: number;
  note: string;
}}

"""


def table():
    """The text of the table without comments, with that of the file that it includes."""
    text = (FOLDER / "archs.def").read_text()
    include = '#include "analysis/explore/archs_old.def"'
    if include not in text:
        sys.exit(f"gen_archs: {FOLDER / 'archs.def'} has no {include}")
    text = text.replace(include, (FOLDER / "archs_old.def").read_text())
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def words(text, macro):
    """The words of a vocabulary, by id."""
    found = dict(re.findall(rf'^{macro}\((\w+), "([^"]+)"\)$', text, re.M))
    if not found:
        sys.exit(f"gen_archs: archs.def has no {macro}")
    return found


def rows(text, mergings, servings):
    """The rows, as what stands in the columns."""
    string = r'"(?:[^"\\]|\\.)*"'
    row = rf"^X\(\w+, ({string}), ({string}), (\d+), (\w+), (\d+), (\d+), (\w+), (\d+),\s*((?:{string}\s*)+)\)$"
    for id_, name, capability, merging, load, store, serving, banks, notes in re.findall(
        row, text, re.M
    ):
        note = "".join(json.loads(s) for s in re.findall(string, notes))
        yield dict(
            zip(
                COLUMNS,
                (
                    json.loads(id_),
                    json.loads(name),
                    int(capability),
                    mergings[merging],
                    int(load),
                    int(store),
                    servings[serving],
                    int(banks),
                    note,
                ),
                strict=True,
            )
        )


def module():
    """The text of archs.ts."""
    text = table()
    mergings, servings = words(text, "MERGING"), words(text, "SERVING")
    every = list(rows(text, mergings, servings))
    if len(every) != len(re.findall(r"^X\(", text, re.M)):
        sys.exit(
            "gen_archs: a row of archs.def is not in the form that its head tells of"
        )
    union = {"mergings": mergings, "servings": servings}
    head = HEAD.format(
        **{k: " | ".join(json.dumps(w) for w in v.values()) for k, v in union.items()}
    )
    members = (
        "".join(f"    {name}: {json.dumps(value)},\n" for name, value in row.items())
        for row in every
    )
    body = "".join(f"  {{\n{text}  }},\n" for text in members)
    return f"{head}/** The newest first. */\nexport const ARCHS: Arch[] = [\n{body}];\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["update", "check"])
    text = module()
    if parser.parse_args().what == "update":
        OUTPUT.write_text(text)
    elif not OUTPUT.exists() or OUTPUT.read_text() != text:
        sys.exit(
            f"{OUTPUT.relative_to(ROOT)} is out of date: tools/gen_archs.py update"
        )


if __name__ == "__main__":
    main()
