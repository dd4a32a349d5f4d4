"""The changes that `scripts/mutate.py` makes: one operator, number, name, key, condition, returned value or statement at a time.

Left alone is what no behaviour hangs on: annotations, decorators, docstrings, assertions for the type checker, the texts of errors
and prose (a string with a space in it). A string without spaces is taken for a key or a word of the vocabulary.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}

Change = tuple[str, Callable[[], object]]
"""What is changed, and the change."""


@dataclass(frozen=True)
class Mutant:
    """One change: the file, which of the file's changes it is, the lines of its statement and what it is."""

    path: Path
    number: int
    lines: range
    line: int
    what: str


def mutants(path: Path, source: str) -> list[Mutant]:
    """Every change of a file."""
    return [
        Mutant(path, number, lines, line, what)
        for number, (lines, line, (what, _)) in enumerate(_changes(ast.parse(source)))
    ]


def mutated(source: str, number: int) -> ast.Module:
    """The tree of a file after one of its changes."""
    tree = ast.parse(source)
    for index, (_, _, (_, apply)) in enumerate(_changes(tree)):
        if index == number:
            apply()
            return ast.fix_missing_locations(tree)
    raise IndexError(number)


def _changes(tree: ast.Module) -> Iterator[tuple[range, int, Change]]:
    """(lines of the statement, line, change) in the order of the text; a change is made only when it is called."""
    yield from _in_statements(tree.body)


def _in_statements(body: list[ast.stmt]) -> Iterator[tuple[range, int, Change]]:
    for index, statement in enumerate(body):
        if _without_effect(statement):
            continue
        inner = [part for name in ("body", "orelse", "finalbody") for part in getattr(statement, name, [])]
        handlers = [part for handler in getattr(statement, "handlers", []) for part in handler.body]
        cases = [part for case in getattr(statement, "cases", []) for part in case.body]
        nested = [part for part in [*inner, *handlers, *cases] if isinstance(part, ast.stmt)]
        last = nested[0].lineno - 1 if nested else (statement.end_lineno or statement.lineno)
        lines = range(statement.lineno, max(last, statement.lineno) + 1)
        for change in _of_statement(body, index):
            yield lines, statement.lineno, change
        for node in (statement, *_own_nodes(statement)):
            for change in _of_expression(node):
                yield lines, getattr(node, "lineno", statement.lineno), change
        for name in ("body", "orelse", "finalbody"):
            yield from _in_statements(getattr(statement, name, []))
        for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from _in_statements(part.body)


def _without_effect(statement: ast.stmt) -> bool:
    """Docstrings, assertions for the type checker, imports and lists of exports."""
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case _:
            return False


def _of_statement(body: list[ast.stmt], index: int) -> Iterator[Change]:
    """Leave a statement out, or answer nothing."""

    def leave_out() -> None:
        body[index] = ast.copy_location(ast.Pass(), body[index])

    match body[index]:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield f"left out: {ast.unparse(body[index])[:60]}", leave_out
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.AugAssign() | ast.Delete():
            yield f"left out: {ast.unparse(body[index])[:60]}", leave_out
        case ast.Raise():
            yield "left out: raise", leave_out
        case ast.Continue():
            yield "continue -> break", lambda: body.__setitem__(index, ast.Break())
        case ast.Break():
            yield "break -> continue", lambda: body.__setitem__(index, ast.Continue())
        case ast.Return(value=ast.expr() as value) as statement if not _is_empty(value):
            yield "return x -> return None", lambda: setattr(statement, "value", ast.Constant(None))
        case ast.If(test=test) as statement:
            yield "if x -> if not x", lambda: setattr(statement, "test", ast.UnaryOp(ast.Not(), test))
        case _:
            return


def _is_empty(node: ast.expr) -> bool:
    """None, False, "", () or []: what callers rarely tell from None."""
    return (isinstance(node, ast.Constant) and not node.value) or (
        isinstance(node, ast.Tuple | ast.List) and not node.elts
    )


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Expressions of a statement itself: not of the statements inside it, its annotations, decorators or error text."""
    skipped = {"body", "orelse", "finalbody", "handlers", "cases", "decorator_list", "returns", "annotation"}
    if isinstance(statement, ast.Raise):
        return
    queue: list[ast.AST] = []
    for name, value in ast.iter_fields(statement):
        if name not in skipped:
            queue += [
                part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)
            ]
    while queue:
        node = queue.pop(0)
        yield node
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            parts = value if isinstance(value, list) else [value]
            if isinstance(node, ast.JoinedStr):
                parts = [part.value for part in parts if isinstance(part, ast.FormattedValue)]
            queue += [part for part in parts if isinstance(part, ast.AST)]


def _of_expression(node: ast.AST) -> Iterator[Change]:
    """Changes of one node of an expression."""
    match node:
        case ast.Compare(ops=[first, *_]) if type(first) in _COMPARISONS:
            new = _COMPARISONS[type(first)]
            yield (
                f"{type(first).__name__} -> {new.__name__} in {_short(node)}",
                lambda: node.ops.__setitem__(0, new()),
            )
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in _OPERATORS:
            turned = _OPERATORS[type(operator)]
            yield (
                f"{type(operator).__name__} -> {turned.__name__} in {_short(node)}",
                lambda: setattr(node, "op", turned()),
            )
        case ast.BoolOp(op=ast.And()):
            yield f"and -> or in {_short(node)}", lambda: setattr(node, "op", ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield f"or -> and in {_short(node)}", lambda: setattr(node, "op", ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield f"not x -> bool(x) in {_short(node)}", lambda: _to_call(node, "bool")
        case ast.UnaryOp(op=ast.USub()):
            yield f"-x -> x in {_short(node)}", lambda: setattr(node, "op", ast.UAdd())
        case ast.IfExp():
            yield f"branches swapped in {_short(node)}", lambda: _swap(node)
        case ast.comprehension(ifs=[first, *_]):
            yield f"filter left out: {ast.unparse(first)[:60]}", lambda: node.ifs.pop(0)
        case ast.Call(func=ast.Name(id=name) as function) if name in _NAMES and node.args:
            yield f"{name} -> {_NAMES[name]} in {_short(node)}", lambda: setattr(function, "id", _NAMES[name])
        case ast.Call(func=ast.Attribute(attr=("ceil" | "floor") as name) as function):
            yield (
                f"{name} -> {_NAMES[name]} in {_short(node)}",
                lambda: setattr(function, "attr", _NAMES[name]),
            )
        case ast.Constant(value=bool() as truth):
            yield f"{truth} -> {not truth}", lambda: setattr(node, "value", not truth)
        case ast.Constant(value=(int() | float()) as value):
            yield f"{value} -> {value + 1}", lambda: setattr(node, "value", value + 1)
        case ast.Constant(value=str() as text) if text and not any(letter.isspace() for letter in text):
            yield f"{text!r} -> {text + 'X'!r}", lambda: setattr(node, "value", text + "X")
        case _:
            return


def _swap(node: ast.IfExp) -> None:
    node.body, node.orelse = node.orelse, node.body


def _to_call(node: ast.UnaryOp, name: str) -> None:
    node.op = ast.UAdd()
    node.operand = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[node.operand], keywords=[])


def _short(node: ast.AST) -> str:
    return ast.unparse(node).replace("\n", " ")[:60]
