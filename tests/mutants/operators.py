"""The operators that make mutants: each finds places in a syntax tree and replaces a few characters of the text there.

Two kept libraries were tried first. mutmut leaves out decorated functions, so every kernel, and replaces the others by
trampolines which Numba cannot compile; it also expects the package to be a folder of the repository. cosmic-ray
changes files in place and so copes with Numba, but has none of the operators that drop statements, swap arguments or
swap `min` and `max`, one command of tests for all mutants, one time limit, and no draw. With these added as plug-ins
nothing would be left of it but its loop.

Texts are spliced, not written anew from the tree: formatting and comments stay, and so do line numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tests.mutants.mutant import Mutant

Splice = tuple[int, int, str]
"""Start and end of what is replaced, and the replacement."""

NEXT_TO = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
SWAPPED = {"min": "max", "minimum": "maximum", "argmin": "argmax", "amin": "amax", "nanmin": "nanmax"}
OPPOSITE = SWAPPED | {large: small for small, large in SWAPPED.items()}

COMMUTES = {"min", "max", "minimum", "maximum", "logical_and", "logical_or", "gcd", "lcm", "hypot", "isclose"}
CHECKED = {"isinstance", "issubclass", "cast", "TypeVar", "NewType", "NamedTuple", "namedtuple", "getattr", "hasattr"}
"""Calls that always fail with swapped arguments, whatever the tests are."""
TOLD = {"log", "debug", "info", "warning", "warn", "print", "echo", "tell", "told"}
"""Calls that only print or log."""
TEXTS = {"__str__", "__repr__", "__format__"}
BUILTIN = {"int", "float", "str", "bool", "bytes", "list", "tuple", "dict", "set"}
OPTIONS = {"strict", "frozen", "slots", "kw_only", "cache", "inline", "nogil", "daemon"}
"""Keyword arguments that have only one correct value in any program."""


class Source:
    """A file's text and tree, with offsets of nodes in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self.rebinding = _rebinding(self.tree)
        self.types = _types_of_parameters(self.tree)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node starts and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def between(self, left: ast.expr, right: ast.expr, word: str) -> Iterator[tuple[int, int]]:
        """The span of an operator between its operands; nothing if a comment between them contains it, too."""
        begin, end = self.span(left)[1], self.span(right)[0]
        pattern = r"\s+".join(map(re.escape, word.split()))
        found = list(re.finditer(pattern, self.text[begin:end]))
        if len(found) == 1:
            yield begin + found[0].start(), begin + found[0].end()

    def _offset(self, line: int, column: int) -> int:
        """The offset in characters of a line and a column, which the tree counts in bytes."""
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)


def mutants_of(file: str, text: str) -> list[Mutant]:
    """All mutants of a file that the operators make, in the order of its text."""
    source = Source(text)
    found = []
    for node in _mutable(source.tree):
        for name, operator in OPERATORS.items():
            for start, end, new in operator(source, node):
                old = text[start:end]
                changes = " ".join(f"{old} -> {new or 'nothing'}".split())
                label = f"{file}:{source.line(start)} {name}: {changes}"
                found.append(Mutant(label, name, file, start, old, new))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.changes, mutant.new))


def comparison(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Makes a comparison include or exclude its border, or negates it."""
    if isinstance(node, ast.Compare):
        for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
            word = _WORDS[type(operator)]
            for start, end in source.between(left, right, word):
                yield start, end, NEXT_TO[word]
                if word in NEGATED:
                    yield start, end, NEGATED[word]


def off_by_one(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Makes an integer one more or one less, which includes the difference between `x + 1` and `x`."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        start, end = source.span(node)
        yield start, end, str(node.value + 1)
        if node.value > 0:
            yield start, end, str(node.value - 1)


def dropped_statement(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Drops a call whose result is unused, or an assignment to something that already has a value."""
    if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or node in source.rebinding:
        assert isinstance(node, ast.stmt)
        yield *source.span(node), "pass"


def min_and_max(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Swaps min and max."""
    if isinstance(node, ast.Call):
        name = _called(node)
        if name in OPPOSITE:
            end = source.span(node.func)[1]
            yield end - len(name), end, OPPOSITE[name]


def and_and_or(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Swaps `and` and `or`."""
    if isinstance(node, ast.BoolOp):
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            yield from ((start, end, other) for start, end in source.between(left, right, word))


def dropped_not(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Drops the negation of a condition or mask."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        start = source.span(node)[0]
        if sign := re.compile(r"not\b\s*|~").match(source.text, start):
            yield start, sign.end(), ""


def flipped_flag(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Swaps True and False."""
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield *source.span(node), str(not node.value)


def swapped_arguments(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Swaps two neighboring arguments of a call that seem to have the same type."""
    if isinstance(node, ast.Call) and _called(node) not in COMMUTES | CHECKED:
        for one, other in pairwise(node.args):
            (start, middle), (begin, end) = source.span(one), source.span(other)
            first, second = source.text[start:middle], source.text[begin:end]
            if first != second and _kind(one, source) == _kind(other, source) != ast.Starred:
                yield start, end, second + source.text[middle:begin] + first


OPERATORS: dict[str, Callable[[Source, ast.AST], Iterator[Splice]]] = {
    "comparison": comparison,
    "off by one": off_by_one,
    "dropped statement": dropped_statement,
    "min and max": min_and_max,
    "and and or": and_and_or,
    "dropped not": dropped_not,
    "flipped flag": flipped_flag,
    "swapped arguments": swapped_arguments,
}

_WORDS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def _mutable(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, except types, texts and options: changing these affects no answer, or breaks every run."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            continue
        if field == "body" and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_text(child):
                yield child
                yield from _mutable(child)


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef(name=name):
            return name in TEXTS
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__")
        case ast.keyword(arg=name):
            return name in OPTIONS
        case ast.Expr(value=ast.Call() as call):
            return _called(call) in TOLD
        case _:
            return False


def _kind(node: ast.expr, source: Source) -> object:
    """A hint at the type of an argument: the type of a parameter, of a constant, or a kind of expression."""
    match node:
        case ast.Name(id=name):
            return type if name in BUILTIN else source.types.get(node, ast.expr)
        case ast.Attribute(value=ast.Name(id="np")):
            return type
        case ast.Constant(value=value):
            return type(value)
        case ast.Attribute() | ast.Subscript() | ast.Call():
            return ast.expr
        case _:
            return type(node)


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _rebinding(tree: ast.Module) -> set[ast.AST]:
    """Assignments in functions that can be dropped: to attributes, to elements, and to names bound before.

    An unbound name, or one without its declaration, fails wherever it is read, which shows nothing about the tests.
    """
    found: set[ast.AST] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        names = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        bound = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=targets):
                    pass
                case ast.AugAssign(target=target):
                    targets = [target]
                case _:
                    continue
            before = names | {name.id for name in bound if name.lineno < node.lineno}
            if all(_has_value(target, before) for target in targets):
                found.add(node)
    return found


def _types_of_parameters(tree: ast.Module) -> dict[ast.AST, str]:
    """The annotation of each name that is a parameter of the function around it."""
    found: dict[ast.AST, str] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            arguments = [node for node in ast.walk(function.args) if isinstance(node, ast.arg) and node.annotation]
            types = {argument.arg: ast.unparse(argument.annotation) for argument in arguments if argument.annotation}
            names = (node for node in ast.walk(function) if isinstance(node, ast.Name))
            found |= {name: types[name.id] for name in names if name.id in types}
    return found


def _has_value(target: ast.expr, names: set[str]) -> bool:
    parts: Sequence[ast.expr] = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(part.id in names if isinstance(part, ast.Name) else True for part in parts)
