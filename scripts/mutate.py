"""Mutation testing by sample: `python scripts/mutate.py advisor/sizing advisor/evidence --sample 150 --seed 1`.

Each mutant is one small change of one module (`mutants.py`), compiled in memory in a forked process, where the tests that run the
changed statement are run, quickest first; a mutant that none of them notices faces the quickest others of its package, and survives
if those are silent too. Mutants are drawn at random, the same ones for the same `--seed`; the score has a 95 % interval (Wilson).
Our own instead of mutmut 3.8, since that cannot reach tables, properties and cached functions, where much of the sizing is, and
needs minutes of instrumented runs before its first mutant (docs/mutation.md).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import json
import math
import os
import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # this tree, whatever is installed

import hypothesis
import numpy  # noqa: F401 -- loaded once, before the processes part; nothing of advisor may be loaded here
import pytest
from mutants import Mutant, mutants, mutated

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "advisor/sizing": "tests/sizing",
    "advisor/evidence": "tests/evidence",
    "advisor/reasoning": "tests/reasoning",
}
"""Package -> its own tests."""
MORE = (
    "tests/kb", "tests/cli", "tests/hardening/test_hardening_metamorphic.py",
    "tests/dialogue/test_dialogue_conversation.py", "tests/dialogue/test_dialogue_explaining.py",
)  # fmt: skip
"""Tests that use the packages together, as users do."""
BUDGET_SECONDS = 10
"""Tests that run a statement are run up to this much (of a run with coverage), and half as much of the others."""


class _Changed(MetaPathFinder):
    """Loads one module from a changed tree, every other as usual."""

    def __init__(self, mutant: Mutant) -> None:
        self.path = ROOT / mutant.path
        name = ".".join(mutant.path.with_suffix("").parts)
        self.name = name.removesuffix(".__init__")
        self.code = compile(mutated(self.path.read_text(), mutant.number), self.path, "exec")

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """The changed module, or nothing."""
        if fullname != self.name:
            return None
        loader = _Loader(fullname, str(self.path))
        loader.changed = self.code
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


class _Loader(SourceFileLoader):
    changed: CodeType

    def get_code(self, _fullname: str) -> CodeType:
        """Neither the file nor its compiled form."""
        return self.changed


class _Only:
    """Runs the given tests alone, in the given order, each within a multiple of its usual time."""

    def __init__(self, seconds: dict[str, float], order: Sequence[str]) -> None:
        self.seconds = seconds
        self.rank = {name: index for index, name in enumerate(order)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep and sort."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.rank), key=lambda item: self.rank[item.nodeid]
        )

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """A test that no longer ends is a test that notices: the signal ends the process."""
        signal.alarm(10 + math.ceil(10 * self.seconds[item.nodeid]))


class _Clock:
    """Seconds of each test that passes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up set-up, call and tear-down."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


class Baseline:
    """Which tests run which statement, and how long they take, of the unchanged sources."""

    def __init__(self, packages: Sequence[str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            if os.fork() == 0:
                try:
                    self._run(packages, Path(folder))
                finally:
                    os._exit(0)
            os.wait()
            timed = Path(folder, "seconds.json")
            self.seconds: dict[str, float] = json.loads(timed.read_text()) if timed.exists() else {}
            if not self.seconds:
                raise RuntimeError("no test passed; run pytest to see why")
            self.contexts = _contexts(Path(folder, "coverage"))

    @staticmethod
    def _run(packages: Sequence[str], folder: Path) -> None:
        """Run all tests once, and leave what they ran and how long they took."""
        os.environ["COVERAGE_FILE"] = str(folder / "coverage")
        clock = _Clock()
        covered = [f"--cov={package}" for package in packages]
        _pytest([*covered, "--cov-context=test", "--cov-report=", *TESTS.values(), *MORE], clock)
        passed = {name: taken for name, taken in clock.seconds.items() if name not in clock.failed}
        (folder / "seconds.json").write_text(json.dumps(passed))

    def plan(self, mutant: Mutant) -> list[list[str]]:
        """Tests for a mutant: those that run its statement (or its file), then others of its package; quickest first."""
        lines = self.contexts.get(mutant.path, {})
        covering = {test for line in mutant.lines for test in lines.get(line, ())} & self.seconds.keys()
        if not covering:  # run once, when the file is loaded: a table, a default
            covering = {test for tests in lines.values() for test in tests} & self.seconds.keys()
        package = "/".join(mutant.path.parts[:2])
        others = {test for test in self.seconds if test.startswith(TESTS[package])} - covering
        return [self._quickest(covering, BUDGET_SECONDS), self._quickest(others, BUDGET_SECONDS / 2)]

    def _quickest(self, tests: set[str], seconds: float) -> list[str]:
        """The quickest tests that take at most so long together; one at least."""
        ranked = sorted(tests, key=lambda test: (self.seconds[test], test))
        total = itertools.accumulate(self.seconds[test] for test in ranked)
        return [test for test, until in zip(ranked, total, strict=True) if until <= seconds] or ranked[:1]


def _contexts(file: Path) -> dict[Path, dict[int, set[str]]]:
    """File -> line -> tests that run it."""
    from coverage import CoverageData

    data = CoverageData(str(file))
    data.read()
    return {
        Path(name).relative_to(ROOT): {
            line: {context.rpartition("|")[0] for context in contexts if context}
            for line, contexts in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }


def _pytest(arguments: list[str], plugin: object) -> int:
    """Run tests in this process, silently. Returns pytest's status."""
    hypothesis.settings.register_profile(
        "mutants",
        derandomize=True,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )
    hypothesis.settings.load_profile("mutants")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    with contextlib.chdir(ROOT):
        return int(
            pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", *arguments], plugins=[plugin])
        )


def noticed(mutant: Mutant, baseline: Baseline) -> bool:
    """Whether some test fails, or does not end."""
    changed = _Changed(mutant)
    for tests in baseline.plan(mutant):
        if not tests:
            continue
        child = os.fork()
        if child == 0:
            try:
                sys.meta_path.insert(0, changed)
                files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
                os._exit(_pytest(["-x", *files], _Only(baseline.seconds, tests)))
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise RuntimeError(f"none of {tests} was found again")
        if code != pytest.ExitCode.OK:
            return True
    return False


def wilson(killed: int, drawn: int) -> tuple[float, float]:
    """95 % interval of a share, in per cent (E. B. Wilson, JASA 22, 1927)."""
    z, share = 1.96, killed / drawn
    middle, spread = (
        share + z * z / (2 * drawn),
        z * math.sqrt(share * (1 - share) / drawn + (z / (2 * drawn)) ** 2),
    )
    return tuple(100 * (middle + side * spread) / (1 + z * z / drawn) for side in (-1, 1))  # type: ignore[return-value]


def main() -> int:
    """Draw, run, count; status 1 when a package has fewer than `--least` per cent noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", choices=sorted(TESTS), metavar="package")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0)
    arguments = parser.parse_args()
    baseline = Baseline(arguments.packages)
    print(f"{len(baseline.seconds)} tests in {sum(baseline.seconds.values()):.0f} s", flush=True)
    worst = 100.0
    for package in arguments.packages:
        files = sorted(path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))
        everything = [mutant for path in files for mutant in mutants(path, (ROOT / path).read_text())]
        chosen = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
        killed = 0
        for mutant in sorted(chosen, key=lambda mutant: (mutant.path, mutant.line)):
            if noticed(mutant, baseline):
                killed += 1
            else:
                print(f"survived {mutant.path}:{mutant.line}: {mutant.what}", flush=True)
        low, high = wilson(killed, len(chosen))
        print(
            f"{package}: {killed} of {len(chosen)} noticed (of {len(everything)} in {len(files)} files): "
            f"{100 * killed / len(chosen):.1f} % ({low:.1f} to {high:.1f})",
            flush=True,
        )
        worst = min(worst, 100 * killed / len(chosen))
    return int(worst < arguments.least)


if __name__ == "__main__":
    sys.exit(main())
