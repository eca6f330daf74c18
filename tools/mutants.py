"""Where a defect can be planted in the sources, and what it looks like there.

In C and headers the places come from clang's syntax tree, so that a changed operator is an operator
and not a letter of a comment; in tables (.def) from their rows. A defect keeps the number of lines,
so that no line number changes with it. What stands inside a macro's arguments or definition is left
alone, numbers that a `#define` names excepted.
"""

import dataclasses
import re

OPERATORS = {
    "relational": {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",),
                   "!=": ("==",)},
    "arithmetic": {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",)},
    "logical": {"&&": ("||",), "||": ("&&",)},
    "bits": {"&": ("|",), "|": ("&",), "^": ("&",)},
    "assignment": {"&=": ("|=",), "|=": ("&=",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",),
                   "<<=": (">>=",), ">>=": ("<<=",), "^=": ("&=",)},
}
BY_OPERATOR = {before: (kind, afters) for kind, rows in OPERATORS.items() for before, afters in rows.items()}

NUMBER = re.compile(rb"(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)([uUlL]*)")
DECIMAL = re.compile(rb"([0-9]+)\.([0-9]+)([fF]?)")
NAMED_NUMBER = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+\w+[ \t]+\(?([0-9][0-9a-zA-Z.]*)\)?[ \t]*(?:/[/*].*)?$", re.M)
ROW = re.compile(rb"^[ \t]*[A-Za-z_]\w*\(", re.M)
# Only a leak would tell that these calls are missing, and no test counts leaks.
RELEASES = re.compile(rb"(\w+_)?free\b")


@dataclasses.dataclass(frozen=True, order=True)
class Site:
    """A defect: in `file` the bytes from start to end become `after`."""
    file: str
    start: int
    end: int
    kind: str
    after: bytes

    def planted(self, text):
        """The whole file with the defect; as many lines as before."""
        gone = text[self.start:self.end].count(b"\n") - self.after.count(b"\n")
        return text[:self.start] + self.after + b"\n" * max(gone, 0) + text[self.end:]

    def line(self, text):
        return text.count(b"\n", 0, self.start) + 1

    def shown(self, text):
        """What stands in the lines of the site, before and after, each as one line."""
        first = text.rfind(b"\n", 0, self.start) + 1
        last = text.find(b"\n", self.end)
        last = len(text) if last < 0 else last
        before = text[first:last]
        after = text[first:self.start] + self.after + text[self.end:last]
        return tuple(" ".join(part.decode(errors="replace").split()) for part in (before, after))


def changed_numbers(text):
    """A number's neighbours: one more and one less, of a decimal fraction in its last digit."""
    whole, fraction = NUMBER.fullmatch(text), DECIMAL.fullmatch(text)
    if whole:
        value = int(whole[1], 0)
        spell = hex if whole[1][:2] in (b"0x", b"0X") else str
        return [spell(n).encode() + whole[2] for n in (value + 1, value - 1) if n >= 0]
    if fraction:
        digits = len(fraction[2])
        value = int(fraction[1] + fraction[2])
        return [b"%d.%0*d%s" % (n // 10**digits, digits, n % 10**digits, fraction[3]) for n in (value + 1, value - 1)
                if n >= 0]
    return []


# --- C, by clang's tree ------------------------------------------------------------------------

class Tree:
    """Collects the sites of one C file or header."""

    def __init__(self, cindex, file, text):
        self.kinds = cindex.CursorKind
        self.file, self.text = file, text
        self.sites = set()
        kinds = self.kinds
        self.visitors = {
            kinds.BINARY_OPERATOR: self.operator, kinds.COMPOUND_ASSIGNMENT_OPERATOR: self.operator,
            kinds.UNARY_OPERATOR: self.unary, kinds.INTEGER_LITERAL: self.number, kinds.FLOATING_LITERAL: self.number,
            kinds.IF_STMT: self.condition, kinds.WHILE_STMT: self.condition, kinds.CONDITIONAL_OPERATOR: self.condition,
            kinds.RETURN_STMT: self.result, kinds.CALL_EXPR: self.arguments,
        }
        self.skipped = {kinds.ENUM_DECL, kinds.STATIC_ASSERT, kinds.STRUCT_DECL, kinds.UNION_DECL}

    def plant(self, kind, start, end, after):
        if self.text[start:end] != after:
            self.sites.add(Site(self.file, start, end, kind, after))

    def walk(self, cursor, parent):
        if cursor.kind in self.skipped:
            return
        children = list(cursor.get_children())
        if cursor.kind in self.visitors:
            self.visitors[cursor.kind](cursor, children, parent)
        self.statements(cursor, children)
        for child in children:
            self.walk(child, cursor)

    def span(self, cursor):
        """First and last offset of what the cursor stands for; None where a macro hides it."""
        extent = cursor.extent
        start, end = extent.start.offset, extent.end.offset
        text = self.text[start:end]
        whole = start < end and text.count(b"(") == text.count(b")")
        return (start, end) if whole else None

    def operator(self, _, children, __):
        if len(children) != 2:
            return
        start, end = children[0].extent.end.offset, children[1].extent.start.offset
        between = self.text[start:end]
        before = between.strip().decode(errors="replace")
        if before not in BY_OPERATOR:
            return
        start += between.index(before.encode())
        kind, afters = BY_OPERATOR[before]
        for after in afters:
            self.plant(kind, start, start + len(before), after.encode())

    def unary(self, cursor, _, __):
        span = self.span(cursor)
        text = self.text[span[0]:span[1]] if span else b""
        for before, after in ((b"++", b"--"), (b"--", b"++")):
            if text.startswith(before):
                self.plant("assignment", span[0], span[0] + 2, after)
            elif text.endswith(before):
                self.plant("assignment", span[1] - 2, span[1], after)
        if text.startswith(b"!"):
            self.plant("negation", span[0], span[0] + 1, b"")

    def number(self, cursor, _, parent):
        span = self.span(cursor)
        of_array = parent.kind in (self.kinds.VAR_DECL, self.kinds.FIELD_DECL, self.kinds.PARM_DECL)
        if span and not (of_array and self.text[:span[0]].rstrip().endswith(b"[")):
            for after in changed_numbers(self.text[span[0]:span[1]]):
                self.plant("number", *span, after)

    def condition(self, cursor, children, _):
        span = self.span(children[0]) if children else None
        if not span:
            return
        before, after = self.text[:span[0]].rstrip(), self.text[span[1]:].lstrip()
        ternary = cursor.kind == self.kinds.CONDITIONAL_OPERATOR
        if children[0].kind == self.kinds.UNARY_OPERATOR and self.text[span[0]:span[1]].startswith(b"!"):
            return  # what unary() takes away
        if after.startswith(b"?") if ternary else before.endswith(b"(") and after.startswith(b")"):
            self.plant("negation", *span, b"!(" + self.text[span[0]:span[1]] + b")")

    def result(self, _, children, __):
        span = self.span(children[0]) if children else None
        if not span or not self.text[span[1]:].lstrip().startswith(b";"):
            return
        text = self.text[span[0]:span[1]]
        kind = children[0].type.get_canonical().kind.name
        if kind == "BOOL":
            self.plant("return", *span, {b"true": b"false", b"false": b"true"}.get(text, b"!(" + text + b")"))
        elif text != b"NULL" and kind in ("INT", "UINT", "LONG", "ULONG", "LONGLONG", "ULONGLONG", "SHORT", "USHORT", "CHAR_S", "UCHAR",
                      "SCHAR", "FLOAT", "DOUBLE", "POINTER", "ENUM"):
            self.plant("return", *span, b"1" if text == b"0" else b"0")

    def arguments(self, cursor, _, __):
        if cursor.spelling == "calloc":
            return  # a product
        arguments = list(cursor.get_arguments())
        for left, right in zip(arguments, arguments[1:], strict=False):
            a, b = self.span(left), self.span(right)
            if not a or not b or self.text[a[1]:b[0]].strip() != b",":
                continue
            if left.type.get_canonical().spelling == right.type.get_canonical().spelling:
                swapped = self.text[b[0]:b[1]] + self.text[a[1]:b[0]] + self.text[a[0]:a[1]]
                self.plant("swapped", a[0], b[1], swapped)

    def statements(self, cursor, children):
        """Calls and assignments that stand as statements of their own can go."""
        kinds = self.kinds
        if cursor.kind == kinds.COMPOUND_STMT:
            bodies = children
        elif cursor.kind == kinds.IF_STMT:
            bodies = children[1:]
        elif cursor.kind in (kinds.FOR_STMT, kinds.WHILE_STMT, kinds.CASE_STMT, kinds.DEFAULT_STMT):
            bodies = children[-1:]
        else:
            return
        for body in bodies:
            if body.kind in (kinds.CALL_EXPR, kinds.BINARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR):
                self.statement(body)

    def statement(self, body):
        span = self.span(body)
        if not span or not self.text[span[1]:].lstrip().startswith(b";"):
            return
        if not RELEASES.match(self.text[span[0]:span[1]]):
            self.plant("removed", *span, b"")


def of_c(cindex, path, file, arguments):
    """Sites of the C file or header at `path`, called `file`, by the compiler's arguments."""
    text = path.read_bytes()
    unit = cindex.Index.create().parse(str(path), args=arguments)
    tree = Tree(cindex, file, text)
    for cursor in unit.cursor.get_children():
        where = cursor.location.file
        if where and where.name == str(path):
            tree.walk(cursor, unit.cursor)
    return tree.sites | of_defines(file, text)


def of_defines(file, text):
    return {Site(file, *match.span(1), "number", after) for match in NAMED_NUMBER.finditer(text)
            for after in changed_numbers(match[1])}


# --- tables ------------------------------------------------------------------------------------

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|[(),]', re.S)


def columns(text, start):
    """Spans of the top-level arguments of a row whose parenthesis opens just before `start`."""
    depth, begin, spans = 0, start, []
    for token in TOKEN.finditer(text, start):
        if token[0] == b"(":
            depth += 1
        elif token[0] in (b")", b",") and depth == 0:
            spans.append((begin, token.start()))
            begin = token.end()
            if token[0] == b")":
                return spans
        elif token[0] == b")":
            depth -= 1
    return []


def trimmed(text, span):
    part = text[span[0]:span[1]]
    return span[0] + len(part) - len(part.lstrip()), span[1] - len(part) + len(part.rstrip())


def sort_of(text):
    """What a column holds, so that only like is swapped with like."""
    if NUMBER.fullmatch(text) or DECIMAL.fullmatch(text):
        return "number"
    if re.fullmatch(rb"\w+", text):
        return "name"
    return "text" if text.startswith(b'"') else None


def of_table(path, file):
    """Sites of a table: every number of a row, and neighbouring columns of one sort swapped."""
    text = path.read_bytes()
    sites = of_defines(file, text)
    for row in ROW.finditer(text):
        spans = [trimmed(text, span) for span in columns(text, row.end())]
        for a, b in spans:
            sites.update(Site(file, a, b, "number", after) for after in changed_numbers(text[a:b]))
        for (a, b), (c, d) in zip(spans, spans[1:], strict=False):
            left, right = text[a:b], text[c:d]
            if left != right and sort_of(left) and sort_of(left) == sort_of(right):
                sites.add(Site(file, a, d, "swapped", right + text[b:c] + left))
    return sites
