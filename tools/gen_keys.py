#!/usr/bin/env python3
"""What is made from the table of keys, src/report/keys.def.

  gen_keys.py update   writes docs/warplens-1.schema.json, the tables of docs/json-schema.md,
                       viewer/src/data/payload.schema.json and viewer/src/data/payload.ts
  gen_keys.py check    fails where one of them is out of date, where the reporters write no key of a
                       row, or where they name a key without the table

The words of vocabularies come from the tables that have them: patterns.def, gains.def and so on.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORT = ROOT / "src/report"
WIDTH = 100
MADE_BY = "Made by tools/gen_keys.py from src/report/keys.def: change that, and run it."

# What stands in the parts of an HTML report as JSON.
PAGE_ROOTS = ("page_code", "page_sites", "page")

Type = collections.namedtuple("Type", "name interface text rows")
Key = collections.namedtuple("Key", "name shape need text")
Same = collections.namedtuple("Same", "other need")

# Vocabularies: the table, and what a row of it begins with before the word.
VOCABULARIES = {
    "pattern": ("src/analysis/patterns.def", r"X\(\w+, "),
    "gain": ("src/analysis/gains.def", r"X\(\w+, "),
    "remedy": ("src/analysis/remedy/remedies.def", r"X\(\w+, "),
    "resource": ("src/analysis/model/resources.def", r"(?:X|PIPE)\(\w+, "),
    "limit": ("src/analysis/model/limits.def", r"X\(\w+, "),
    "scope": ("src/analysis/scopes.def", r"X\(\w+, "),
    "certainty": ("src/analysis/certainties.def", r"X\(\w+, "),
    "unit": ("src/analysis/units.def", r"X\(\w+, "),
    "direction": ("src/analysis/copies.def", r"X\(\w+, "),
    "space": ("src/access/spaces.def", r"X\(\w+, "),
    "access": ("src/access/ops.def", r"X\(\w+, "),
    "why": ("src/profile/vocabulary.def", r"X\(WHY, \w+, "),
    "way": ("src/profile/vocabulary.def", r"X\(WAY, \w+, "),
    "effect": ("src/analysis/tables/effects.def", r"X\(\w+, "),
    "origin": ("src/profile/vocabulary.def", r"X\(ORIGIN, \w+, "),
    "freed": ("src/profile/vocabulary.def", r"X\(FREED, \w+, "),
}


# ---- reading the tables ----


def strings(text):
    """The text of C string literals that stand one after the other."""
    return "".join(json.loads(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', text))


def statements(text):
    """The rows of a table: macro and arguments."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"^([A-Z]+)\((.*?)\)$(?=\n[A-Z]|\n*\Z)", re.sub(r"\n\n+", "\n", text), re.S | re.M)


def read_table():
    """Types by name, and the vocabularies that keys.def has itself."""
    types, words = {}, {}
    for macro, text in statements((REPORT / "keys.def").read_text()):
        if macro == "WORDS":
            name, rest = text.split(",", 1)
            words[name] = json.loads(f"[{rest}]")
        elif macro == "TYPE":
            name, interface, rest = text.split(",", 2)
            types[name] = Type(name, interface.strip(), strings(rest), [])
        elif macro == "SAME":
            name, other, need = re.split(r",\s*", text)
            types[name].rows.append(Same(other, need))
        else:
            name, key, rest = re.split(r",\s*", text, maxsplit=2)
            shape, need, rest = re.fullmatch(
                r"(.*?),\s*(ALWAYS|MAYBE|ONE_OF),\s*(.*)", rest, re.S
            ).groups()
            types[name].rows.append(Key(key, shape, need, strings(rest)))
    return types, words


def read_words(words):
    """All vocabularies by name."""
    every = dict(words)
    for name, (path, before) in VOCABULARIES.items():
        every[name] = re.findall(rf'^{before}"([^"]+)"', (ROOT / path).read_text(), re.M)
        if not every[name]:
            sys.exit(f"gen_keys: {path} has no words for {name}")
    return every


def keys_of(types, name):
    """The keys of a type with those that it has of others."""
    for row in types[name].rows:
        if isinstance(row, Key):
            yield row
            continue
        for key in keys_of(types, row.other):
            yield key if row.need == "ALWAYS" else key._replace(need="MAYBE")


def inner(shape):
    """What stands in the parentheses: LIST(ROW(x)) gives ROW(x)."""
    return shape[shape.index("(") + 1 : -1]


def reachable(types, name):
    """The types that rows of this one hold, itself the last."""
    found = []
    for key in keys_of(types, name):
        for other in re.findall(r"ROW\((\w+)\)", key.shape):
            found += [t for t in reachable(types, other) if t not in found]
    return [*found, name]


# ---- JSON schemas ----


def shape_schema(types, words, shape):
    count = {"type": "integer", "minimum": 0}
    fixed = {
        "COUNT": count,
        "INTEGER": {"type": "integer"},
        "NUMBER": {"type": "number", "minimum": 0},
        "REAL": {"type": "number"},
        "TEXT": {"type": "string"},
        "BOOL": {"type": "boolean"},
        "TRUE": {"const": True},
        "DIM": {"type": "array", "items": count, "minItems": 3, "maxItems": 3},
        "COLUMN": {"type": "array", "items": count, "minItems": 2, "maxItems": 2},
        "NUMBERS": {"type": "object", "additionalProperties": {"type": "number"}},
    }
    if shape in fixed:
        return dict(fixed[shape])
    if shape.startswith("ENUM("):
        return {"enum": words[inner(shape)]}
    if shape.startswith("IS("):
        return {"const": strings(shape)}
    if shape.startswith("ROW("):
        return type_schema(types, words, inner(shape))
    return {"type": "array", "items": shape_schema(types, words, inner(shape))}


def type_schema(types, words, name):
    keys = list(keys_of(types, name))
    properties = {}
    for key in keys:
        properties[key.name] = shape_schema(types, words, key.shape)
        if key.text:
            properties[key.name]["description"] = key.text
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    schema["required"] = [key.name for key in keys if key.need == "ALWAYS"]
    choice = [{"required": [key.name]} for key in keys if key.need == "ONE_OF"]
    return {**schema, "oneOf": choice} if choice else schema


def schema_text(types, words, name, title):
    head = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": MADE_BY,
        "title": title,
        "description": types[name].text,
    }
    return json.dumps({**head, **type_schema(types, words, name)}, indent=2, ensure_ascii=False) + "\n"


# ---- TypeScript ----

BASE_TYPES = {
    "COUNT": "number",
    "INTEGER": "number",
    "NUMBER": "number",
    "REAL": "number",
    "TEXT": "string",
    "BOOL": "boolean",
    "TRUE": "true",
    "DIM": "[number, number, number]",
    "COLUMN": "Column",
    "NUMBERS": "Record<string, number>",
}


def vocabulary_type(name):
    return {"access": "Op"}.get(name, name.capitalize())


def shape_type(types, shape):
    if shape in BASE_TYPES:
        return BASE_TYPES[shape]
    if shape.startswith("ENUM("):
        return vocabulary_type(inner(shape))
    if shape.startswith("IS("):
        return json.dumps(strings(shape))
    if shape.startswith("ROW("):
        return types[inner(shape)].interface
    return shape_type(types, inner(shape)) + "[]"


def comment(text, indent=""):
    """A comment above what it is about."""
    lines, line = [], f"{indent}/** "
    for word in text.split(" "):
        if len(line) + len(word) + 3 > WIDTH:
            lines.append(line.rstrip())
            line = f"{indent} * "
        line += word + " "
    return [*lines, line.rstrip() + " */"]


def member(types, key):
    line = f"  {key.name}{'' if key.need == 'ALWAYS' else '?'}: {shape_type(types, key.shape)};"
    if not key.text:
        return [line]
    short = f"{line} // {key.text}"
    return [short] if len(short) <= WIDTH else [*comment(key.text, "  "), line]


def interface(types, name):
    body = [line for key in keys_of(types, name) for line in member(types, key)]
    head = comment(types[name].text) if types[name].text else []
    return [*head, f"export interface {types[name].interface} {{", *body, "}", ""]


def union(name, words):
    choices = [json.dumps(word) for word in words]
    line = f"export type {vocabulary_type(name)} = {' | '.join(choices)};"
    if len(line) <= WIDTH:
        return [line]
    rows = [f"  | {choice}" for choice in choices]
    return [f"export type {vocabulary_type(name)} =", *rows[:-1], rows[-1] + ";"]


def typescript(types, words):
    names = list(dict.fromkeys(name for root in PAGE_ROOTS for name in reachable(types, root)))
    shapes = " ".join(key.shape for name in names for key in keys_of(types, name))
    lines = [
        *comment(f"What a report carries. {MADE_BY}"),
        "",
        *comment(
            "A column in a map's part: byte offset and number of elements, whose bytes lie in "
            "planes, the lowest first."
        ),
        "export type Column = [offset: number, count: number];",
        "",
    ]
    for name in dict.fromkeys(re.findall(r"ENUM\((\w+)\)", shapes)):
        lines += union(name, words[name])
    lines.append("")
    for name in names:
        lines += interface(types, name)
    return "\n".join(lines)


# ---- the tables of the documentation ----


def shape_words(words, shape):
    plain = {
        "COUNT": "count",
        "INTEGER": "integer",
        "NUMBER": "number",
        "REAL": "number",
        "TEXT": "text",
        "BOOL": "true or false",
        "TRUE": "true",
        "DIM": "x, y, z",
        "NUMBERS": "numbers by name",
    }
    if shape in plain:
        return plain[shape]
    if shape.startswith("IS("):
        return f"`{json.dumps(strings(shape))}`"
    if shape.startswith("ENUM("):
        return ", ".join(f"`{word}`" for word in words[inner(shape)])
    if shape.startswith("LIST(ROW("):
        return "rows, see below"
    return "see below" if shape.startswith("ROW(") else f"list of {shape_words(words, inner(shape))}s"


def doc_table(types, words, name):
    lines = ["| key | is | holds |", "|---|---|---|"]
    for key in keys_of(types, name):
        text = key.text.replace("|", "\\|")
        lines.append(f"| `{key.name}` | {shape_words(words, key.shape)} | {text} |")
    return "\n".join(lines)


def doc_text(types, words, text):
    """The page with its tables made anew."""

    def table(match):
        return f"{match[1]}\n{doc_table(types, words, match[2])}\n<!-- end -->"

    return re.sub(r"(<!-- keys: (\w+) -->)\n.*?<!-- end -->", table, text, flags=re.S)


# ---- keys that the reporters write ----

# SARIF's keys are those of its standard, those of trace events their format's.
OTHER_KEYS = {"sarif.c", "perfetto.c"}


def complaints(types):
    sources = {path.name: path.read_text() for path in sorted(REPORT.glob("*.c"))}
    written = set(re.findall(r"\bK\((\w+),\s*(\w+)\)", " ".join(sources.values())))
    for type_ in types.values():
        for row in type_.rows:
            if isinstance(row, Key) and (type_.name, row.name) not in written:
                yield f"src/report writes no {type_.name}.{row.name}, which keys.def has"
    for name, text in sources.items():
        for call in [] if name in OTHER_KEYS else re.findall(r'rep_(?:put|json)\w*\([^;"]*?, "\w+"', text):
            yield f"src/report/{name} names a key that is no row of keys.def: {call}"


# ---- all ----


def outputs(types, words):
    """The files and what they should hold."""
    page = ROOT / "docs/json-schema.md"
    return {
        ROOT / "docs/warplens-1.schema.json": schema_text(types, words, "output", "warplens/1"),
        page: doc_text(types, words, page.read_text()),
        ROOT / "viewer/src/data/payload.schema.json": schema_text(
            types, words, "page", "warplens-report/1"
        ),
        ROOT / "viewer/src/data/payload.ts": typescript(types, words),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["update", "check"])
    what = parser.parse_args().what
    types, words = read_table()
    files = outputs(types, read_words(words))
    if what == "update":
        for path, text in files.items():
            path.write_text(text)
        return
    wrong = list(complaints(types))
    for path, text in files.items():
        if path.read_text() != text:
            wrong.append(f"{path.relative_to(ROOT)} is out of date: tools/gen_keys.py update")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
