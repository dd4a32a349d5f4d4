"""The wheel: the same bytes from the same sources, built without a network, and whole when installed elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build", reason="the wheel is built with `python -m build`")
ROOT = Path(__file__).parent.parent
SOURCES = ("advisor", "tui", "kb", "schemas", "pyproject.toml", "README.md", "LICENSE")

NO_NETWORK = """
import runpy, sys

def forbid(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request"):
        raise SystemExit(f"network: {event} {arguments}")

sys.addaudithook(forbid)
sys.argv = ["build", *sys.argv[1:]]
runpy.run_module("build", run_name="__main__")
"""


def build(folder: Path, *, umask: int, zone: str) -> Path:
    """The wheel of a copy of the sources in `folder`, in its own temporary place, permissions and time zone."""
    before = os.umask(umask)
    try:
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(
                    ROOT / name,
                    folder / name,
                    ignore=shutil.ignore_patterns("__pycache__"),
                    copy_function=shutil.copyfile,
                )
            else:
                shutil.copyfile(ROOT / name, folder / name)
        subprocess.run(
            [sys.executable, "-c", NO_NETWORK, "--no-isolation", "--wheel", "--outdir", "dist", "."],
            cwd=folder, check=True, capture_output=True, timeout=120,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000", "TZ": zone, "PIP_NO_INDEX": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    finally:
        os.umask(before)
    return next((folder / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two builds of the same sources under different circumstances."""
    one, two = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("a-longer-name")
    return build(one, umask=0o022, zone="UTC"), build(two, umask=0o077, zone="Pacific/Auckland")


def test_the_same_sources_give_the_same_bytes(wheels: tuple[Path, Path]) -> None:
    """Folder, permissions, time zone and the day of the build leave no trace."""
    one, two = wheels
    assert one.name == two.name
    assert one.read_bytes() == two.read_bytes()


def test_the_wheel_holds_the_knowledge_and_nothing_else(wheels: tuple[Path, Path]) -> None:
    """Code, data and licence; no tests, caches, sources of machines or keys."""
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"advisor", "tui", next(top for top in tops if top.endswith(".dist-info"))}
    shipped = {
        path.relative_to(ROOT).as_posix()
        for kind in ("kb", "schemas")
        for path in (ROOT / kind).rglob("*")
        if path.is_file()
    }
    assert {
        name.removeprefix("advisor/_data/") for name in names if name.startswith("advisor/_data/")
    } == shipped
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".tmp", ".orig"))]


def test_an_installed_wheel_answers_from_anywhere(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    """In a fresh environment, from the root folder, commands find the knowledge base inside the wheel."""
    place = tmp_path / "fresh"
    subprocess.run([sys.executable, "-m", "venv", place], check=True, timeout=120)
    folder = next(place.glob("lib/python*/site-packages"))
    subprocess.run(
        [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheels[0]],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    # the dependencies of this environment, without its editable rackfit: paths in a .pth file are not searched for more
    (folder / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command],
            cwd="/",
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    where = run(place / "bin" / "python", "-c", "import advisor.knowledge.locate as l; print(l.kb_folder())")
    assert Path(where.stdout.strip()).is_relative_to(place), where
    answer = run(
        place / "bin" / "rackfit",
        "ask",
        "--model",
        "llama-2-70b",
        "--workload",
        "offline",
        "--format",
        "json",
    )
    assert json.loads(answer.stdout)["verdict"] == "node", answer.stderr
    assert run(place / "bin" / "rackfit", "lint", "--no-config").returncode == 0
    assert run(place / "bin" / "rackfit", "chat", "--plain", "llama 2 70b").returncode == 0
    assert run(place / "bin" / "rackfit", "--version").stdout.startswith("rackfit ")


def test_dependencies_have_lower_bounds_and_no_pins() -> None:
    """Every run-time dependency names the oldest version that is tested; none forbids newer ones."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        assert ">=" in requirement, requirement
        assert "==" not in requirement, requirement
        assert "<" not in requirement.replace("<=", ""), requirement
