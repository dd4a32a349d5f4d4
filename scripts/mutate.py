"""Mutation testing by sample: `python scripts/mutate.py advisor/sizing --sample 150`.

Each mutant is one small change of one module (a comparison, an operator, a number, a condition, a returned value), put into
a copy of the sources; the tests of its package run against the copy, and a mutant that no test notices survives. Survivors are printed as
`file:line: what was changed`; a full run would take hours, so mutants are drawn at random, reproducible from `--seed`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("advisor", "tui", "kb", "schemas", "tests", "docs", "pyproject.toml", "README.md")
TESTS = {
    "advisor/sizing": ["tests/sizing", "tests/hardening/test_hardening_metamorphic.py", "tests/reasoning", "tests/cli", "tests/kb"],
    "advisor/evidence": ["tests/evidence", "tests/kb", "tests/reasoning", "tests/cli"],
    "advisor/reasoning": [
        "tests/reasoning", "tests/hardening/test_hardening_metamorphic.py", "tests/cli", "tests/dialogue/test_dialogue_conversation.py",
    ],
}  # fmt: skip
"""Package -> tests that are expected to notice."""
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the number of the node it is made at, its line and what it is."""

    path: Path
    node: int
    line: int
    what: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change that is known for a file."""
    tree = ast.parse((ROOT / path).read_text())
    skipped = _without_effect(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in skipped:
            continue
        what = _change(node, apply=False)
        if what:
            yield Mutant(path, number, getattr(node, "lineno", 0), what)


def _without_effect(tree: ast.Module) -> set[int]:
    """Nodes that tests should not have to notice: annotations, decorators, texts of errors and of messages."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            parts = [
                node.returns,
                *(argument.annotation for argument in node.args.args + node.args.kwonlyargs),
            ]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert)) or (
            isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        ):
            parts = [node]
        skipped |= {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    return skipped


def _change(node: ast.AST, *, apply: bool) -> str:
    """What is changed at a node, and, if `apply`, the change itself."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        new = _COMPARISONS[type(node.ops[0])]
        text = f"{type(node.ops[0]).__name__} -> {new.__name__}"
        if apply:
            node.ops[0] = new()
        return text
    if (
        isinstance(node, ast.BinOp)
        and type(node.op) in _OPERATORS
        and not isinstance(node.left, ast.Constant | ast.List | ast.Tuple)
    ):
        new_operator = _OPERATORS[type(node.op)]
        text = f"{type(node.op).__name__} -> {new_operator.__name__}"
        if apply:
            node.op = new_operator()
        return text
    if isinstance(node, ast.BoolOp):
        text = "and -> or" if isinstance(node.op, ast.And) else "or -> and"
        if apply:
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return text
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if apply:
            node.op = ast.UAdd()
            node.operand = ast.Call(
                func=ast.Name(id="bool", ctx=ast.Load()), args=[node.operand], keywords=[]
            )
        return "not x -> x"
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        value = node.value
        changed = (not value) if isinstance(value, bool) else value + 1
        if apply:
            node.value = changed
        return f"{value} -> {changed}"
    return ""


def main() -> int:
    """Draw, run, count; status 1 when fewer than `--least` per cent were noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=sorted(TESTS))
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0)
    arguments = parser.parse_args()
    files = sorted(path.relative_to(ROOT) for path in (ROOT / arguments.package).rglob("*.py"))
    everything = [mutant for path in files for mutant in mutants(path)]
    chosen = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
    print(f"{len(everything)} mutants in {len(files)} files; {len(chosen)} drawn", flush=True)
    killed = 0
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for source in SOURCES:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, copy / source, ignore=shutil.ignore_patterns("__pycache__"))
            elif (ROOT / source).exists():
                shutil.copy(ROOT / source, copy / source)
        tests = TESTS[arguments.package]
        covering = _covering(copy, arguments.package, tests)
        for mutant in chosen:
            noticed = _noticed(copy, mutant, covering.get((mutant.path, mutant.line), set()), tests)
            killed += noticed
            if not noticed:
                print(f"survived {mutant.path}:{mutant.line}: {mutant.what}", flush=True)
    share = 100 * killed / max(len(chosen), 1)
    print(f"{killed} of {len(chosen)} noticed: {share:.1f} %", flush=True)
    return int(share < arguments.least)


def _covering(copy: Path, package: str, tests: list[str]) -> dict[tuple[Path, int], set[str]]:
    """(file, line) -> tests that run it, without their parameters; an empty name stands for the import of the file."""
    from coverage import CoverageData

    _pytest(copy, [f"--cov={package}", "--cov-context=test", "--cov-report=", *tests])
    data = CoverageData(str(copy / ".coverage"))
    data.read()
    return {
        (Path(file).resolve().relative_to(copy.resolve()), line): {
            re.split(r"[\[|]", context)[0] for context in contexts
        }
        for file in data.measured_files()
        for line, contexts in data.contexts_by_lineno(file).items()
    }


def _noticed(copy: Path, mutant: Mutant, covering: set[str], tests: list[str]) -> bool:
    """Whether some test fails: those that run the line, or all where it runs while its file is imported."""
    named = sorted(covering - {""})
    original = (copy / mutant.path).read_text()
    tree = ast.parse(original)
    _change(list(ast.walk(tree))[mutant.node], apply=True)
    (copy / mutant.path).write_text(ast.unparse(ast.fix_missing_locations(tree)))
    try:
        return bool(_pytest(copy, ["-x", *(named if named and len(named) <= 400 else tests)]))
    except subprocess.TimeoutExpired:
        return True
    finally:
        (copy / mutant.path).write_text(original)


def _pytest(copy: Path, arguments: list[str]) -> int:
    """Run tests in the copy, which comes first on the path, before an editable installation. Returns pytest's status."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "-W", "ignore"]
    env = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(copy / ".cache"),
    }
    return subprocess.run(
        [*command, *arguments], cwd=copy, capture_output=True, timeout=600, check=False, env=env
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
