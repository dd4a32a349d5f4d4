"""What every test shares: the shipped knowledge base, loaded once, and running the command in this process."""

from __future__ import annotations

import os

# small matrices are fitted faster in one thread, above all beside other work; read when numpy is first imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from advisor.cli.main import main
from advisor.knowledge import KnowledgeBase, load_knowledge

# a gate must say the same of the same sources; runs by hand draw new examples each time
settings.register_profile("repeatable", derandomize=True, deadline=None)
if "RACKFIT_CI" in os.environ:
    settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _private_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Caches and sessions of the tests stay out of the user's own."""
    base = tmp_path_factory.mktemp("home")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = str(base / name.lower())


@pytest.fixture(scope="session")
def kb(_private_folders: None) -> KnowledgeBase:
    """The shipped knowledge base."""
    return load_knowledge()


@dataclass(frozen=True)
class Ran:
    """Outcome of one command."""

    status: int
    out: str
    err: str


@pytest.fixture
def rackfit(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the `rackfit` command in this process: `rackfit("ask", "--model", "r1")`."""

    def run(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return Ran(status=status, out=captured.out, err=captured.err)

    return run
