"""What importing costs and does: nothing is read at import time, and a command imports what it uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {
    "ask": (
        "textual",
        "rich",
        "networkx",
        "jsonschema",
        "ruamel",
        "numpy",
        "scipy",
        "PIL",
        "tui",
        "asyncio",
        "urllib.request",
        "http.client",
    ),
    "lint": ("textual", "rich", "numpy", "scipy", "PIL", "tui", "asyncio", "urllib.request", "http.client"),
    "chat": ("textual", "rich", "numpy", "scipy", "PIL", "tui", "asyncio"),
    "help": (
        "textual",
        "rich",
        "networkx",
        "jsonschema",
        "ruamel",
        "numpy",
        "yaml",
        "msgspec",
        "tui",
        "asyncio",
        "rapidfuzz",
    ),
}
"""Command -> modules it must not import."""
COMMANDS = {
    "ask": ["ask", "--model", "deepseek-r1", "--format", "json"],
    "lint": ["lint", str(ROOT / "kb"), "--no-config", "--no-cache"],
    "chat": ["chat", "--plain"],
    "help": ["--help"],
}

MODULES_AFTER = """
import contextlib, io, sys
sys.stdin = io.StringIO("llama 2 70b\\njust answer\\nquit\\n")
from advisor.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(*sorted(sys.modules))
"""

OPENED_BY_IMPORT = """
import importlib, pkgutil, sys
import advisor, tui
names = sorted(m.name for package in (advisor, tui) for m in pkgutil.walk_packages(package.__path__, package.__name__ + "."))
opened = []

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith((".py", ".pyc", ".so")):
        if "/advisor/" in arguments[0] or "/tui/" in arguments[0] or "/kb/" in arguments[0] or "/schemas/" in arguments[0]:
            opened.append(arguments[0])
    if event in ("os.listdir", "os.scandir") and "/kb" in str(arguments[0]):
        opened.append(str(arguments[0]))

sys.addaudithook(watch)
failed = []
for name in names:
    if name.endswith("__main__"):
        continue
    try:
        importlib.import_module(name)
    except ImportError as error:
        failed.append(f"{name}: {error}")
print(*opened, sep="\\n")
print(*failed, sep="\\n", file=sys.stderr)
print(len(names), file=sys.stderr)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_only_what_it_uses(command: str) -> None:
    """`rackfit ask` and `lint` never import Textual; help imports next to nothing."""
    ended = subprocess.run(
        [sys.executable, "-c", MODULES_AFTER, *COMMANDS[command]],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    )
    modules = set(ended.stdout.split())
    assert "advisor.cli.main" in modules
    assert not [name for name in HEAVY[command] if name in modules]


def test_importing_reads_no_file() -> None:
    """All modules of advisor and tui import without opening a file of ours: no knowledge, no schema, no stylesheet."""
    ended = subprocess.run(
        [sys.executable, "-c", OPENED_BY_IMPORT],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    )
    assert ended.stdout.split() == []
    assert int(ended.stderr.split()[-1]) > 100
