"""The command as a process: pipes that close, disks that fill, homes that are missing, odd encodings."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from advisor.atomic import PREFIX, replace_file
from advisor.dialogue.conversation import Conversation
from advisor.dialogue.sessions import SessionStore, read_turns
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.knowledge.cache import load_cached, save_cached

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and pipes as POSIX has them")

COMMAND = (sys.executable, "-m", "advisor.cli.main")
QUICK = ("ask", "--model", "llama-2-70b", "--no-flips")
PRINTING = {
    "ask": QUICK, "json": (*QUICK, "--format", "json"), "html": (*QUICK, "--format", "html"), "show": ("show", "concepts/kv-cache"),
    "search": ("search", "kv"), "graph": ("graph", "concepts/kv-cache", "--format", "dot"), "schema": ("schema", "gotcha"),
    "explain": ("explain", "--list"), "compare": ("compare", "--model", "deepseek-r1"), "understand": ("understand", "r1 at 15 ms"),
    "estimate": ("estimate", "--model", "llama-2-70b", "--accelerator", "h100", "--tp", "8"),
    "map": ("map", "--model", "llama-2-70b", "--steps", "3"), "lint": ("lint", "--no-config", "--format", "json", "kb"),
}  # fmt: skip
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
}  # fmt: skip
NEXT_TO_NOTHING = {"PATH": os.environ.get("PATH", "")}


def run(
    *arguments: str, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end; the environment is the test's own unless `env` replaces it."""
    options.setdefault("stdin", subprocess.DEVNULL)
    if "capture_output" not in options and "stdout" not in options:
        options["capture_output"] = True
    return subprocess.run([*COMMAND, *arguments], env=env, timeout=60, check=False, **options)


def assert_one_line(err: bytes) -> None:
    assert b"Traceback" not in err, err
    assert b"Exception ignored" not in err, err
    assert err.count(b"\n") <= 1, err


# pipes and full disks


@pytest.mark.parametrize("name", PRINTING)
def test_a_reader_that_went_away_ends_the_command_quietly(name: str, request: pytest.FixtureRequest) -> None:
    """`rackfit … | head -1`: nothing on standard error and the status of a closed pipe, as of any other program."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = run(*PRINTING[name], stdout=writer, stderr=subprocess.PIPE, cwd=request.config.rootpath)
    finally:
        os.close(writer)
    assert b"Traceback" not in ended.stderr
    assert b"Exception ignored" not in ended.stderr
    assert ended.returncode == 141, ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["ask", "schema", "search"])
def test_a_full_disk_below_standard_output_is_an_error_of_one_line(name: str) -> None:
    """Redirected to a full disk, a command says so and does not claim success."""
    with Path("/dev/full").open("wb") as full:
        ended = run(*PRINTING[name], stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 2
    assert_one_line(ended.stderr)
    assert b"No space left" in ended.stderr


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_closed_standard_streams_are_no_reason_to_crash(closed: int) -> None:
    """`<&-`, `>&-` and `2>&-`: the command does its work, and no file of its own takes the place of the stream."""
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}{"<" if closed == 0 else ">"}&-', "sh", *COMMAND, *QUICK],
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert bool(ended.stdout) is (closed != 1)


@contextlib.contextmanager
def little_room(octets: int) -> Iterator[None]:
    """Let files of this process grow to a number of bytes only: a disk that fills up, without a disk to fill.

    It ends before the test does, since the limit holds for the file that a test run may be reporting to as well.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_old_file_and_no_scraps(tmp_path: Path, rackfit: Callable[..., Any]) -> None:
    """`--output` onto a disk without room: one line, the old report whole, no temporary file."""
    target = tmp_path / "answer.html"
    target.write_text("old")
    with little_room(2000):
        ran = rackfit(*QUICK, "--format", "html", "--output", target)
    assert ran.status == 2
    assert "--output: cannot write" in ran.err
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["answer.html"]


def test_a_full_disk_ends_saving_but_not_the_conversation(kb: KnowledgeBase, tmp_path: Path) -> None:
    """The chat goes on unsaved and says so; the turns before are there, and none is torn."""
    store = SessionStore(tmp_path)
    session = store.create()
    talk = Conversation(kb, session)
    talk.open()
    talk.say("llama 2 70b")
    kept = len(read_turns(session.path))
    assert kept
    with little_room(session.path.stat().st_size + 100):
        said = [*talk.say("8k context, 100 users"), *talk.say("just answer")]
    assert any(message.kind == "notice" and "not saved" in message.markdown for message in said), said
    assert talk.recommendation is not None
    raw = session.path.read_bytes()
    assert raw.endswith(b"\n")
    assert all(json.loads(line) for line in raw.splitlines())
    assert len(read_turns(session.path)) == kept


def test_a_full_disk_costs_the_cache_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The knowledge base loads without its cache being written, and no scrap stays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with little_room(1000):
        entries = load_knowledge().entries
    assert entries
    assert list((tmp_path / "rackfit").iterdir()) == []


# files


def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    """`--output /dev/stdout` and a named pipe get the report; `/dev/null` stays the device that it is."""
    before = Path("/dev/null").stat()
    ended = run(*QUICK, "--output", "/dev/null")
    assert ended.returncode == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert Path("/dev/null").stat().st_ino == before.st_ino
    assert run(*QUICK, "--output", "/dev/stdout").stdout.startswith(run(*QUICK).stdout[:40])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run(*QUICK, "--output", str(pipe)).returncode == 0
        assert os.read(reader, 40)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_links_named_by_the_user_stay_and_links_in_a_knowledge_base_are_replaced(tmp_path: Path) -> None:
    """`--output link` writes what the link points to; an import never writes through a link that somebody planted."""
    from advisor.cli.common import write_output

    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_output(str(link), "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    replace_file(link, b"entry")
    assert not link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize("slug", ["../../evil", "/etc/evil", "A B", ".", "..", "a/../../../evil", "\x1b", ""])
def test_no_name_of_an_entry_leads_out_of_the_knowledge_base(
    slug: str, tmp_path: Path, rackfit: Callable[..., Any]
) -> None:
    """Slugs given to `new` and `import` are names, not paths; an empty one counts as not given."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG))
    kb = tmp_path / "inner" / "kb"
    kb.mkdir(parents=True)
    for arguments in (
        ("new", "gotcha", slug, "--kb", kb),
        ("import", "hf-config", config, "--slug", slug, "--output", kb),
    ):
        ran = rackfit(*arguments)
        assert ran.status == 2 or (slug == "" and arguments[0] == "import"), ran
    outside = [path for path in tmp_path.rglob("*.yaml") if not path.is_relative_to(kb)]
    assert outside == []


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_survive(tmp_path: Path, mode: int) -> None:
    """A report that was private stays private; a new one gets what the umask says; a session is the owner's only."""
    kept, new, private = tmp_path / "kept", tmp_path / "new", tmp_path / "private"
    kept.write_text("x")
    kept.chmod(mode)
    before = os.umask(0o027)
    try:
        replace_file(kept, b"y")
        replace_file(new, b"y")
        replace_file(private, b"y", private=True)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, new, private)] == [mode, 0o640, 0o600]


def test_an_interrupt_while_writing_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a write is passed on, with the old file whole and no temporary one."""

    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    target = tmp_path / "file"
    target.write_text("old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(target, b"new")
    assert target.read_text() == "old"
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_a_working_folder_that_was_deleted_is_named(tmp_path: Path) -> None:
    """Questions are answered from anywhere; what needs the working folder says that it is gone."""
    gone = tmp_path / "gone"
    gone.mkdir()
    for arguments in (
        QUICK,
        ("lint", str(tmp_path)),
        (*QUICK, "--output", "x.html"),
        ("new", "gotcha", "a-slug"),
    ):
        ended = subprocess.run(
            ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *COMMAND, *arguments],
            capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        )  # fmt: skip
        gone.mkdir(exist_ok=True)
        assert ended.returncode == (0 if arguments == QUICK else 2), (arguments, ended)
        assert b"Traceback" not in ended.stderr


# environment


@pytest.mark.parametrize(
    "env",
    [
        {}, {"HOME": ""}, {"HOME": "/dev/null"}, {"HOME": "/proc/1/nowhere"}, {"HOME": "relative"},
        {"HOME": "/proc", "XDG_CACHE_HOME": "/dev/null", "XDG_STATE_HOME": "/dev/null/x", "XDG_CONFIG_HOME": "\x1b[31m"},
        {"COLUMNS": "-5", "LINES": "x", "TERM": "", "TZ": "Nowhere/Zone", "HOME": "/dev/null"}, {"COLUMNS": "9" * 30, "HOME": "/dev/null"},
        {"LC_ALL": "xx_YY.nonsense", "LANG": "\x1b", "HOME": "/dev/null"},
    ],
    ids=str,
)  # fmt: skip
def test_neither_a_home_nor_a_locale_is_needed(
    env: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Without a writable home the chat says once that it is not saved; nothing is created where one is."""
    whole = {**NEXT_TO_NOTHING, **env, "PYTHONPATH": str(request.config.rootpath)}
    ended = run(
        "chat",
        "--plain",
        env=whole,
        cwd=tmp_path,
        stdin=None,
        input=b"llama 2 70b at 8k\njust answer\nquit\n",
    )
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert "Verdict" in ended.stdout.decode()
    assert not list(tmp_path.glob("~*"))


@pytest.mark.parametrize(
    "env",
    [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
     {"PYTHONIOENCODING": "latin-1:strict"}, {"PYTHONIOENCODING": "cp1252"}],
    ids=str,
)  # fmt: skip
def test_terminals_without_unicode_get_escapes_and_json_stays_json(env: dict[str, str]) -> None:
    """Characters that the encoding lacks are written as escapes, which JSON reads back as the same text."""
    plain = json.loads(run(*PRINTING["json"]).stdout)
    narrow = run(*PRINTING["json"], env={**os.environ, **env})
    assert narrow.returncode == 0, narrow.stderr
    encoding = env.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
    assert json.loads(narrow.stdout.decode(encoding)) == plain
    assert run(*QUICK, env={**os.environ, **env}).returncode == 0


def test_a_clock_that_goes_backwards_loses_nothing(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions begun at decreasing times, one in 1970 and one in 2038, are all there and can all be gone on with."""
    from advisor.dialogue import sessions

    store = SessionStore(tmp_path)
    start = datetime(2038, 1, 19, tzinfo=UTC)
    names = []
    for days in (0, 1, 4000, 24_800):
        monkeypatch.setattr(sessions, "_now", lambda days=days: start - timedelta(days=days))
        with store.create() as session:
            talk = Conversation(kb, session)
            talk.open()
            talk.say("llama 2 70b")
            names.append(session.id)
    assert {info.id for info in store.saved()} == set(names)
    for name in names:
        with store.open(name) as session:
            assert session.turns


def test_the_cache_keeps_working_when_its_files_come_from_the_future(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files dated after now are pruned like others, and what was stored last is found."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    save_cached("old", [])
    for number in range(20):
        future = tmp_path / "rackfit" / f"kb-future-{number}.json"
        future.write_text("{}")
        os.utime(future, (4e9, 4e9))
    save_cached("new", [])
    assert len(list((tmp_path / "rackfit").glob("kb-*"))) <= 8
    save_cached("newest", [])
    assert load_cached("newest") in ([], None)


# two at once


def test_two_processes_on_one_session_do_not_mix(kb: KnowledgeBase, tmp_path: Path) -> None:
    """The second to open a session goes on in a copy; both keep all that was said to them."""
    store = SessionStore(tmp_path)
    with store.create() as first:
        one = Conversation(kb, first)
        one.open()
        one.say("llama 2 70b")
        with store.open(first.id) as second:
            assert second.copied_from == first.id
            assert second.path != first.path
            two = Conversation(kb, second)
            two.open()
            two.say("32k context")
            one.say("100 users")
            assert len(read_turns(second.path)) >= 2
        assert [turn.typed for turn in read_turns(first.path) if turn.typed] == ["llama 2 70b", "100 users"]


def test_many_processes_on_one_cache_all_answer(tmp_path: Path) -> None:
    """Six commands that start at once with an empty cache give the same answer, and the cache is usable after."""
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    started = [
        subprocess.Popen(
            [*COMMAND, *PRINTING["json"]],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        for _ in range(4)
    ]
    answers = [process.communicate(timeout=60) for process in started]
    assert {process.returncode for process in started} == {0}, answers
    assert len({out for out, _ in answers}) == 1
    assert run(*PRINTING["json"], env=env).stdout == answers[0][0]
    assert not list((tmp_path / "rackfit").glob("*.tmp"))
