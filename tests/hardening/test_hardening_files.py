"""Files that lie where nobody looked: pipes, devices, giants, loops of links, deep folders, damaged settings."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz_specs import ROW

from advisor.atomic import replace_file
from advisor.dialogue import sessions
from advisor.dialogue.conversation import Conversation
from advisor.dialogue.sessions import SessionStore, read_turns
from advisor.errors import InputError
from advisor.evidence.mlperf import import_results
from advisor.evidence.mlperf.write import write_entries
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.knowledge.files import stray_files
from advisor.lint.options import load_options
from advisor.lint.watch import state
from advisor.reading import holds, read_found
from tui.settings import History, Settings, load_settings, save_settings

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and links as POSIX has them")

SECONDS = 8


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """A test that waits for a pipe fails instead of waiting for ever."""

    def over(_number: int, _frame: object) -> None:
        raise TimeoutError("still waiting")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def giant(path: Path) -> None:
    with path.open("wb") as handle:
        handle.truncate(10 << 30)  # ten gigabytes of nothing


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.mkdir()


Obstacle = Callable[[Path], None]
OBSTACLES = [pipe, endless, giant, loop, folder]


def put(obstacle: Obstacle, path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    obstacle(path)


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_file_is_read_only_when_it_is_one(obstacle: Obstacle, tmp_path: Path) -> None:
    """Whatever else lies there is an error at once, in a few bytes of memory."""
    put(obstacle, tmp_path / "found")
    with pytest.raises((OSError, ValueError)):
        read_found(tmp_path / "found", 1000)
    assert not holds(tmp_path / "found", b"text")


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_the_cache_is_passed_over(
    obstacle: Obstacle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in the place of the cache keeps the knowledge base from loading."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    entries = load_knowledge().entries
    (stored,) = (tmp_path / "rackfit").glob("kb-*")
    put(obstacle, stored)
    assert load_knowledge().entries == entries
    assert load_knowledge().entries == entries


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_sessions_are_listed_beside_what_is_none(
    obstacle: Obstacle, kb: KnowledgeBase, tmp_path: Path
) -> None:
    """A pipe, a device or a giant with the name of a session, or of its title, takes no session away."""
    store = SessionStore(tmp_path)
    with store.create() as session:
        talk = Conversation(kb, session)
        talk.open()
        talk.say("llama 2 70b")
    put(obstacle, tmp_path / "20261201-000000-abcdef.jsonl")
    put(obstacle, session.path.with_suffix(".name"))
    (info,) = store.saved()
    assert (info.id, info.name) == (session.id, session.id)
    with store.open() as again:
        assert len(again.turns) == 1


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_settings_and_history_count_as_empty(obstacle: Obstacle, tmp_path: Path) -> None:
    """The screen starts with its defaults, and saving neither waits nor raises."""
    path = tmp_path / "settings.json"
    put(obstacle, path)
    assert load_settings(path) == Settings()
    save_settings(Settings(theme="rackfit-light"), path)
    past = tmp_path / "history.jsonl"
    put(obstacle, past)
    history = History(past)
    history.load()
    assert history.lines == []
    if obstacle is not endless:
        history.add("typed")
    assert obstacle is endless or history.lines == ["typed"]


def test_a_pipe_is_replaced_and_a_device_is_not(tmp_path: Path) -> None:
    """A new entry takes the place of a pipe that somebody planted; /dev/null stays a device."""
    pipe(tmp_path / "entry.yaml")
    replace_file(tmp_path / "entry.yaml", b"new")
    assert (tmp_path / "entry.yaml").read_bytes() == b"new"
    replace_file(Path("/dev/null"), b"new")
    assert not Path("/dev/null").is_file()


# beside a knowledge base


def overlay(root: Path, config: str = "") -> Path:
    (root / "gotchas").mkdir(parents=True)
    (root / "gotchas" / "x.yaml").write_text("id: gotchas/x\n")
    if config:
        (root / ".rackfit.toml").write_text(config)
    return root


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_baseline_is_a_file(obstacle: Obstacle, tmp_path: Path, rackfit: Callable[..., Any]) -> None:
    """The configuration of a stranger's folder may name anything as its baseline: one line, and no waiting."""
    root = overlay(tmp_path / "kb", '[lint]\nbaseline = "known"\n')
    put(obstacle, root / "known")
    ran = rackfit("lint", root, "--no-cache")
    assert ran.status == 2
    assert "not a baseline" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("count", ["Infinity", "-Infinity", "NaN", "1e999", "-3", '"x"', "null", "[]"])
def test_the_counts_of_a_baseline_are_counts(count: str, tmp_path: Path, rackfit: Callable[..., Any]) -> None:
    """What is no number of findings makes the file no baseline; a negative one accepts nothing."""
    root = overlay(tmp_path / "kb")
    row = '{"path": "a", "code": "KB101", "message": "m", "count": %s}'
    (tmp_path / "known").write_text('{"format": 1, "findings": [' + row % count + "]}")
    ran = rackfit("lint", root, "--no-cache", "--baseline", tmp_path / "known")
    assert ran.status == (1 if count == "-3" else 2)
    assert "internal" not in ran.err
    assert "no longer occur" not in ran.err


def test_a_loop_of_links_is_a_finding_and_no_end(tmp_path: Path, rackfit: Callable[..., Any]) -> None:
    """As an entry, as the only entry to lint, in a new baseline, and in the place of an overlay."""
    root = overlay(tmp_path / "kb")
    loop(root / "gotchas" / "again.yaml")
    assert "KB010" in rackfit("lint", root, "--no-cache").out
    assert "KB010" in rackfit("lint", root / "gotchas" / "again.yaml", "--no-cache").out
    known = tmp_path / "known.json"
    assert rackfit("lint", root, "--no-cache", "--write-baseline", known).status == 0
    assert rackfit("lint", root, "--no-cache", "--baseline", known).status == 0
    loop(tmp_path / "nowhere")
    for place in (tmp_path / "nowhere", tmp_path / "nowhere" / "inside", tmp_path / "absent"):
        ran = rackfit("lint", root, "--kb", place)
        assert (ran.status, ran.err.count("\n")) == (2, 1), ran.err
        assert "is not a folder" in ran.err


@pytest.mark.parametrize("key", ["a." * 40_000 + "b", "'a' . " * 40_000 + "b", '"a".' * 40_000 + "b"])
@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "[lint]\nx = {{{} = 1}}"])
def test_keys_of_thousands_of_parts_are_refused_at_once(key: str, line: str, tmp_path: Path) -> None:
    """The standard reader needs gigabytes for a file of a hundred kilobytes; the place is named instead."""
    path = tmp_path / ".rackfit.toml"
    path.write_text(line.format(key) + "\n")
    with pytest.raises(InputError, match=r"line \d: a key of more than 50 parts"):
        load_options(path)


def test_large_settings_are_refused_and_usual_ones_read(tmp_path: Path) -> None:
    """A configuration has a megabyte at most; dots in texts, versions and addresses are no keys."""
    path = tmp_path / ".rackfit.toml"
    path.write_text("# " + "x" * 1_000_001)
    with pytest.raises(InputError, match="larger than"):
        load_options(path)
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[project]\nversion = "1.2.3"\ntext = "' + "a sentence. " * 500 + '"\nurl = "https://a.b.c/d.e"\n'
        f'dots = "{"." * 500}"\n[tool.rackfit.lint]\nreview-days = 7\n'
    )
    assert load_options(path).review_days == 7


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder with more folders inside each other than the interpreter has stack for, and a file at the end."""
    top = tmp_path / "deep"
    top.mkdir()
    before = Path.cwd()
    os.chdir(top)
    for _ in range(1200):
        os.mkdir("d")  # noqa: PTH102  # the whole path is too long to say
        os.chdir("d")
    for name in ("entry.yaml", "mlperf_log_summary.txt"):
        Path(name).write_text("x")
    os.chdir(before)
    yield top
    subprocess.run(["rm", "-rf", str(top)], check=True)


def test_deep_folders_are_walked_as_far_as_entries_may_lie(deep: Path) -> None:
    """Neither the folders beside the kinds, nor those of a checkout, nor those under watch exhaust the stack."""
    (deep / "gotchas").mkdir()
    assert list(stray_files(deep)) == []
    assert state([deep]) == frozenset()
    (deep / "summary_results.json").write_text(json.dumps([{**ROW, "Location": "d"}]))
    assert len(import_results(deep).entries) == 1


@pytest.mark.parametrize("obstacle", [pipe, endless, giant, loop])
def test_an_import_neither_waits_for_nor_reads_what_is_no_file(obstacle: Obstacle, tmp_path: Path) -> None:
    """Logs, system descriptions, latency tables beside the summary, and the entries of an earlier import."""
    root = tmp_path / "checkout"
    row = {**ROW, "Location": "closed/logs"}
    put(obstacle, root / "closed" / "logs" / "mlperf_log_summary.txt")
    put(obstacle, root / "closed" / row["Submitter"] / "systems" / f"{row['Platform']}.json")
    summary = root / "summary_results.json"
    summary.write_text(json.dumps([row]))
    done = import_results(root)
    assert len(done.entries) == 1
    if obstacle is not giant:  # a table of ten gigabytes is named, not passed over
        put(obstacle, root / "x.latency.csv")
    assert import_results(summary).entries == done.entries
    target = tmp_path / "kb" / f"{done.entries[0].id}.yaml"
    put(obstacle, target)
    assert write_entries(list(done.entries), tmp_path / "kb") == (1, 0)
    assert target.is_file()
    assert not target.is_symlink()
    assert write_entries(list(done.entries), tmp_path / "kb") == (0, 1)


# sessions


def test_a_session_that_grew_over_the_limit_keeps_its_end(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long conversation is not lost: its last turns hold the whole state."""
    store = SessionStore(tmp_path)
    with store.create() as session:
        talk = Conversation(kb, session)
        talk.open()
        for line in ("llama 2 70b", "fp8", "300 users", "8k context"):
            talk.say(line)
    lines = session.path.read_bytes().splitlines(keepends=True)
    monkeypatch.setattr(sessions, "MAX_BYTES", len(b"".join(lines[-2:])) + 20)
    assert [turn.typed for turn in read_turns(session.path)] == ["300 users", "8k context"]
    with store.open() as again:
        resumed = Conversation(kb, again)
        resumed.open()
        assert resumed.facts == talk.facts


VALUES: dict[str, list[Any]] = {
    "model": ["models/nope", 5, True, None, "systems/a100-node", "", "R1"],
    "context_tokens": [-5, 0, 1.5, "many", 10**18, 1e308, True, None],
    "concurrency": [0, 1e308, -1, "x"], "tpot_ms": [0, -1, 5e-324, "x"], "weight_precision": ["fp1", 8],
    "workload": ["zz", 1], "system": ["systems/nope", "systems/a100-node,", ",", 3], "accelerator": ["nope"],
    "throughput_tokens_per_s": [1e308], "spare": ["maybe", -1], "growth_percent": [1e300, -101], "price:systems/a100-node": [0, -1, 1e300],
    "price:systems/nope": [1.0], "rack_price_premium": [0], "model_parameters_b": [-5], "candidate_fits": [True], "\x1b[31m": ["\x1b"],
}  # fmt: skip
CASES = [(name, value) for name, values in VALUES.items() for value in values]


@pytest.mark.parametrize(
    ("name", "value"), CASES, ids=[f"{n}={v}"[:40].encode("unicode_escape").decode() for n, v in CASES]
)
def test_a_resumed_value_that_is_none_is_left_out_and_said(
    name: str, value: Any, kb: KnowledgeBase, tmp_path: Path
) -> None:
    """Written by hand, or by a version with other facts: the conversation goes on with what is still known."""
    store = SessionStore(tmp_path)
    with store.create() as session:
        talk = Conversation(kb, session)
        talk.open()
        talk.say("llama 2 70b on 8 h100 for 300 users, just answer")
    lines = [json.loads(line) for line in session.path.read_text().splitlines()]
    said = lines[-1]["turn"]["said"]
    said[name] = {"value": value, "origin": "said"}
    session.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with store.open() as again:
        resumed = Conversation(kb, again)
        opened = resumed.open()
        assert name not in resumed.facts
        assert set(resumed.facts) == set(talk.facts) - {name}
        assert any("does not know these values" in message.markdown for message in opened)
        for line in ("why", "undo", "what if 500 users", "back", "forget the users", "just answer"):
            assert resumed.say(line)


def test_resumed_values_that_contradict_each_other_are_said(kb: KnowledgeBase, tmp_path: Path) -> None:
    """The error of the answer is told as in any other turn, and the conversation is open."""
    store = SessionStore(tmp_path)
    with store.create() as session:
        talk = Conversation(kb, session)
        talk.open()
        talk.say("llama 2 70b at 8k context, 100 users")
        talk.say("just answer")
    lines = [json.loads(line) for line in session.path.read_text().splitlines()]
    lines[-1]["turn"]["said"]["input_tokens"] = {"value": 100_000, "origin": "said"}
    session.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with store.open() as again:
        resumed = Conversation(kb, again)
        assert any(message.kind == "error" for message in resumed.open())
        assert any(message.kind == "answer" for message in resumed.say("forget the input tokens"))
