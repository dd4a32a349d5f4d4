"""Killing writers at random moments: a child process writes on and on, SIGKILL ends it, and the files are looked at."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.knowledge.locate import kb_folder


@dataclass(frozen=True)
class Scenario:
    """prepare: makes the files and whatever the child needs; work: what the child does for ever; check: what must hold after.

    seconds: the longest that a child lives, about one and a half rounds of its work.
    """

    prepare: Callable[[Path], Any]
    work: Callable[[Path, Any], None]
    check: Callable[[Path, Any], None]
    seconds: float = 0.03


def kill_often(scenario: Scenario, folder: Path, *, times: int, seed: int = 0) -> int:
    """Kill the scenario's child `times` times, looking at the files after each. Returns how many it was too late for."""
    rng = random.Random(seed)
    with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):  # noqa: PTH123  # no path of ours
        state = scenario.prepare(folder)
    ended = 0
    for _ in range(times):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                sys.stdout, sys.stderr = open(os.devnull, "w"), open(os.devnull, "w")  # noqa: PTH123, SIM115  # the child ends by a kill
                while True:
                    scenario.work(folder, state)
            os._exit(1)
        time.sleep(rng.uniform(0, scenario.seconds))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        ended += not os.WIFSIGNALED(status)
        scenario.check(folder, state)
    return ended


def _versions() -> tuple[str, str]:
    """Two contents that are told apart at every length."""
    return "a" * 200_000 + "\n", "b" * 150_000 + "\n"


def _export_work(folder: Path, texts: tuple[str, str]) -> None:
    from advisor.cli.common import write_output

    for text in texts:
        write_output(str(folder / "answer.html"), text)


def _export_prepare(folder: Path) -> tuple[str, str]:
    texts = _versions()
    (folder / "answer.html").write_text(texts[0])
    return texts


def _export_check(folder: Path, texts: tuple[str, str]) -> None:
    assert (folder / "answer.html").read_text() in texts


def _session_prepare(folder: Path) -> None:
    from advisor.dialogue.sessions import SessionStore, Turn  # noqa: F401  # imported before the forks


def _session_work(folder: Path, _state: None) -> None:
    from advisor.dialogue.sessions import SessionStore

    store = SessionStore(folder / "sessions")
    session = store.create()
    for number in range(50):
        session.append(_turn(number))
        (folder / "acknowledged").write_text(json.dumps([session.id, number + 1]))
    session.close()


def _turn(number: int) -> Any:
    from advisor.dialogue.sessions import Turn

    return Turn(at="2026-11-30T00:00:00Z", typed=f"turn {number} " + "x" * 3000)


def _session_check(folder: Path, _state: None) -> None:
    """Every turn that was acknowledged is there, and the session can be gone on with."""
    from advisor.dialogue.sessions import SessionStore, read_turns

    store = SessionStore(folder / "sessions")
    note = folder / "acknowledged"
    if note.exists():
        with contextlib.suppress(ValueError):  # the note itself is not written atomically
            name, count = json.loads(note.read_text())
            path = next((folder / "sessions").glob(f"{name}*.jsonl"))
            assert len(read_turns(path)) >= count
            with store.open(name) as session:
                session.append(_turn(99))
            assert len(read_turns(path)) >= count + 1
        note.unlink()
    for path in (folder / "sessions").glob("*.jsonl"):
        path.unlink()


def _cache_prepare(folder: Path) -> list[Any]:
    from advisor.knowledge import load_knowledge

    return list(load_knowledge().entries.values())[:400]


def _cache_work(folder: Path, entries: list[Any]) -> None:
    from advisor.knowledge.cache import save_cached

    with _cache_in(folder):
        for fingerprint in ("one", "two"):
            save_cached(fingerprint, entries)


def _cache_check(folder: Path, entries: list[Any]) -> None:
    from advisor.knowledge.cache import load_cached

    with _cache_in(folder):
        for fingerprint in ("one", "two"):
            found = load_cached(fingerprint)
            path = folder / "rackfit" / f"kb-{fingerprint}.json"
            assert found is not None or not path.exists(), "a torn cache file"
            assert found is None or len(found) == len(entries)
    assert len(list((folder / "rackfit").glob(".rackfit-*"))) <= 9


@contextlib.contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


def _import_prepare(folder: Path) -> dict[str, set[bytes]]:
    """Two results files that differ in every figure; the bytes that each entry may have."""
    from fuzz_specs import ROW

    allowed: dict[str, set[bytes]] = {}
    for version in (1, 2):
        rows = [
            {**ROW, "Submitter": f"Submitter {n}", "Performance_Result": 1000.0 * version + n}
            for n in range(12)
        ]
        (folder / f"results-{version}.json").write_text(json.dumps(rows))
        _import(folder, version, folder / f"kb-{version}")
        for path in (folder / f"kb-{version}" / "evidence").rglob("*.yaml"):
            allowed.setdefault(path.relative_to(folder / f"kb-{version}").as_posix(), set()).add(
                path.read_bytes()
            )
    assert len(allowed) == 12
    return allowed


def _import(folder: Path, version: int, kb: Path) -> None:
    from advisor.cli.main import main

    status = main(
        ["import", "mlperf", str(folder / f"results-{version}.json"), "--output", str(kb), "--round", "v6.0"]
    )
    assert status == 0, status


def _import_work(folder: Path, _allowed: dict[str, set[bytes]]) -> None:
    for version in (1, 2):
        _import(folder, version, folder / "kb")


def _import_check(folder: Path, allowed: dict[str, set[bytes]]) -> None:
    for path in (folder / "kb" / "evidence").rglob("*.yaml"):
        assert path.read_bytes() in allowed[path.relative_to(folder / "kb").as_posix()], path


def _fix_prepare(folder: Path) -> dict[str, set[bytes]]:
    """Entries that lint can mend, and what they are before and after."""
    names = sorted((kb_folder() / "gotchas").glob("*.yaml"))[:6]
    (folder / "kb" / "gotchas").mkdir(parents=True)
    allowed: dict[str, set[bytes]] = {}
    for path in names:
        spoiled = path.read_text().partition("\n")[2].rstrip("\n")  # no schema line, no newline at the end
        (folder / "kb" / "gotchas" / path.name).write_text(spoiled)
        allowed[path.name] = {spoiled.encode()}
    shutil.copytree(folder / "kb", folder / "spoiled")
    _fix(folder)
    for name, versions in allowed.items():
        versions.add((folder / "kb" / "gotchas" / name).read_bytes())
        assert len(versions) == 2, f"{name} was not mended"
    return allowed


def _fix(folder: Path) -> None:
    from advisor.cli.main import main

    main(["lint", str(folder / "kb"), "--fix", "--no-config", "--no-cache"])


def _fix_work(folder: Path, allowed: dict[str, set[bytes]]) -> None:
    from advisor.atomic import replace_file

    for name in allowed:
        replace_file(folder / "kb" / "gotchas" / name, (folder / "spoiled" / "gotchas" / name).read_bytes())
    _fix(folder)


def _fix_check(folder: Path, allowed: dict[str, set[bytes]]) -> None:
    for name, versions in allowed.items():
        assert (folder / "kb" / "gotchas" / name).read_bytes() in versions, name


def _settings_work(folder: Path, _state: None) -> None:
    from tui.settings import History, Settings, save_settings

    for theme in ("rackfit-dark", "rackfit-light"):
        save_settings(
            Settings(theme=theme, keys={f"k{n}": "x" * 50 for n in range(200)}), folder / "settings.json"
        )
        History(folder / "history.jsonl").add(f"{theme} " + "y" * 5000)


def _settings_check(folder: Path, _state: None) -> None:
    from tui.settings import History, load_settings

    if (folder / "settings.json").exists():
        assert load_settings(folder / "settings.json").theme in ("rackfit-dark", "rackfit-light")
    history = History(folder / "history.jsonl")
    history.load()
    assert all(line.endswith("y") for line in history.lines)


SCENARIOS = {
    "export": Scenario(_export_prepare, _export_work, _export_check),
    "session": Scenario(_session_prepare, _session_work, _session_check),
    "cache": Scenario(_cache_prepare, _cache_work, _cache_check),
    "import": Scenario(_import_prepare, _import_work, _import_check, 0.12),
    "fix": Scenario(_fix_prepare, _fix_work, _fix_check, 0.2),
    "settings": Scenario(lambda _folder: None, _settings_work, _settings_check),
}
"""Name -> what is killed."""
