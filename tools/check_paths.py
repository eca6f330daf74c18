#!/usr/bin/env python3
"""Checks that every path that a page names exists: docs/, README.md, CONTRIBUTING.md, all READMEs.

A path is one of three:
  - the target of a link, from the page's folder;
  - anything, in a text or in code, that begins with a folder of the project: src/emu/run.c,
    tests/ptx/cases/<target>.txt, examples/*/CMakeLists.txt;
  - a name in `backticks` that ends like a source file. `emu/run.c` may lie anywhere; so may
    `run.c`, but where the section's heading names folders, it must lie in one of them, or in a
    folder that the same paragraph names.
"""

import argparse
import fnmatch
import functools
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "viewer", "devices", "examples", "tests", "bench", "docs", "tools",
           "cmake", ".ci")
SUFFIXES = ("c", "h", "S", "def", "py", "sh", "ts", "md", "sql", "cmake", "map")
IGNORED = {".git", ".deps", "build", "node_modules", "dist", "__pycache__"}
# Files of others that our pages speak of.
FOREIGN = {"cuda.h", "cudaTypedefs.h", "cuda_runtime.h", "cuda_runtime_api.h"}
# What an installation or a build puts there.
MADE = {"viewer/node_modules", "viewer/dist"}

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
WORD = r"[\w.*<>{},-]"
ROOTED = re.compile(rf"(?<![\w/.-])((?:{'|'.join(map(re.escape, FOLDERS))})/(?:{WORD}+/)*{WORD}*)")
NAMED = re.compile(rf"`((?:{WORD}+/)*{WORD}+\.(?:{'|'.join(SUFFIXES)}))(?::[0-9]+)?`")
HEADING = re.compile(r"(#+) ")


@functools.cache
def files(root):
    """All paths of the project, folders included, from its root."""
    found = []
    for path in sorted(root.iterdir()):
        if path.name not in IGNORED:
            found.append(path.name)
            if path.is_dir() and not path.is_symlink():
                found += [f"{path.name}/{below}" for below in files(path)]
    return found


@functools.cache
def alternatives(path):
    """Patterns for what is written: `<x>` stands for anything, `{a,b}` for each."""
    path = re.sub(r"<[^<>]*>", "*", path).rstrip("/")
    parts = re.split(r"\{([^{}]*)\}", path)
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def all_there(root, path, folders=("",)):
    """Whether each alternative of a path lies in one of the folders, at any depth below it."""
    def there(pattern):
        if "" in folders and fnmatch.filter(files(root), pattern):
            return True
        return any(fnmatch.filter(files(root), f"{folder}/{between}{pattern}".lstrip("/"))
                   for folder in folders for between in ("", "*/"))
    return all(there(pattern) for pattern in alternatives(path))


def exists(root, path):
    return all(fnmatch.filter(files(root), pattern) for pattern in alternatives(path))


def trimmed(path):
    """A path in a text without the punctuation that follows it."""
    path = path.rstrip(".,")
    while path.endswith(("}", ">")) and path.count(path[-1]) > path.count({"}": "{", ">": "<"}[path[-1]]):
        path = path[:-1].rstrip(".,")
    return path


def rooted(text):
    return [trimmed(match[1]) for match in ROOTED.finditer(text)]


def without_links(text):
    """The text alone: where links lead is checked apart from what they say."""
    return re.sub(r"\]\([^)\s]*\)", "]", text)


def folders_of(root, text):
    """Folders that a text names, and those of files that it names."""
    found = set()
    for path in rooted(without_links(text)):
        for name in alternatives(path):
            found.add(name if (root / name).is_dir() else name.rsplit("/", 1)[0])
    return tuple(sorted(found))


def paragraphs(text):
    """(line number, paragraph, headings above it) of a page; a heading is a paragraph, too."""
    headings, number = [], 1
    for block in re.split(r"(\n\s*\n)", text):
        lines = block.strip("\n")
        if HEADING.match(lines):
            level = len(HEADING.match(lines)[1])
            headings = [h for h in headings if h[0] < level] + [(level, lines.split("\n")[0])]
        if block.strip():
            yield number + len(block) - len(block.lstrip("\n")), lines, [h[1] for h in headings]
        number += block.count("\n")


def page_problems(root, page):
    text = (root / page).read_text(encoding="utf-8").replace("&lt;", "<").replace("&gt;", ">")
    folder = pathlib.PurePosixPath(page).parent
    for number, block, headings in paragraphs(text):
        for match in LINK.finditer(block):
            target = match[1]
            if "://" not in target and not (root / folder / target).exists():
                yield f"{page}:{number}: the link {target} leads nowhere"
        words = without_links(block)
        for path in rooted(words):
            if path not in MADE and not exists(root, path):
                yield f"{page}:{number}: there is no {path}"
        near = folders_of(root, "\n".join([*headings, words]))
        in_headings = folders_of(root, "\n".join(headings))
        for match in NAMED.finditer(words):
            name = match[1]
            if name.split("/")[0] in FOLDERS or name in FOREIGN or name.startswith("<"):
                continue
            narrow = in_headings and "/" not in name
            if not all_there(root, name, near if narrow else ("",)):
                where = " in " + ", ".join(near) if narrow else ""
                yield f"{page}:{number}: there is no {name}{where}"


def pages(root):
    return [path for path in files(root) if path.endswith(".md") and
            (path.startswith("docs/") or path in ("README.md", "CONTRIBUTING.md")
             or path.endswith("/README.md"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    root = parser.parse_args().root
    found = [problem for page in pages(root) for problem in page_problems(root, page)]
    for problem in found:
        print(problem)
    print(f"check_paths: {len(pages(root))} pages, {len(found)} dead paths")
    return 1 if found or not pages(root) else 0


if __name__ == "__main__":
    sys.exit(main())
