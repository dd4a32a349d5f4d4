"""The line-mode chat and the exports, as a user in a pipe has them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.dialogue.conversation import Conversation
from advisor.dialogue.sessions import read_turns
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.report.transcript import form_of, render_conversation


@pytest.fixture
def chat(rackfit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Run `rackfit chat --plain` with these lines typed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*lines: str, flags: tuple[str, ...] = ()) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in lines)))
        return rackfit("chat", "--plain", *flags)

    return run


def test_a_whole_conversation_in_a_pipe(chat: Callable[..., Any]) -> None:
    """Questions with numbered choices, the answer, and the end of input ends it with status 0."""
    ran = chat("gpt-oss 120b", "fp4", "32k", "1")
    assert ran.status == 0
    assert "Understood: Model: gpt-oss-120b" in ran.out
    assert "1) offline   2) server   3) interactive" in ran.out
    assert "Verdict: " in ran.out
    assert "Kind of workload: Offline" in ran.out


def test_a_line_without_end_is_one_turn(chat: Callable[..., Any], tmp_path: Path) -> None:
    """Of three megabytes in one line the start is read and kept, the rest is neither answered nor saved."""
    ran = chat("gpt-oss 120b " + "x" * 3_000_000, "fp4")
    assert ran.out.count("Understood") == 2
    (session,) = (tmp_path / "state" / "rackfit" / "sessions").glob("*.jsonl")
    assert len(read_turns(session)) == 2
    assert session.stat().st_size < 100_000


def test_quit_ends_it(chat: Callable[..., Any]) -> None:
    """What stands after `quit` is not read."""
    assert "gpt-oss" not in chat("quit", "gpt-oss 120b").out.split("Bye")[1]


def test_nothing_typed_reaches_the_terminal_raw(chat: Callable[..., Any]) -> None:
    """Escape sequences and bidirectional marks are shown as escapes, never obeyed."""
    ran = chat("\x1b[2Jshow \u202eevil\x07 9999 gizmos")
    assert "\x1b" not in ran.out + ran.err
    assert "\u202e" not in ran.out + ran.err


def test_sessions_can_be_listed_renamed_resumed_and_deleted(chat: Callable[..., Any]) -> None:
    """All from the prompt; a name that does not exist is one clear line."""
    chat("gpt-oss 120b", "rename spring budget")
    assert "spring budget" in chat("sessions").out
    ran = chat("fp4", flags=("--resume", "spring budget"))
    assert "Precision of the weights" in ran.out
    assert "deleted 'spring budget'" in chat("delete spring budget").err
    ran = chat(flags=("--resume", "spring budget"))
    assert ran.status == 2
    assert ran.err.count("\n") == 1


def test_a_home_that_cannot_be_written_is_a_notice(
    chat: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The conversation goes on unsaved."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ran = chat("gpt-oss 120b")
    assert ran.status == 0
    assert "not saved" in ran.err
    assert "gpt-oss-120b" in ran.out


@pytest.mark.parametrize("name", ["notes.md", "notes.html", "notes.json"])
def test_the_conversation_can_be_written_to_a_file(
    chat: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    """`export` writes the decision and the transcript in the form that the name asks for."""
    ran = chat("gpt-oss 120b fp4 8k <script>alert(1)</script>", "just answer", f"export {tmp_path / name}")
    content = (tmp_path / name).read_text(encoding="utf-8")
    assert f"written to {tmp_path / name}" in ran.err
    assert "gpt-oss" in content
    if name.endswith("html"):
        assert "<script>" not in content
    if name.endswith("json"):
        plain = json.loads(content)
        assert plain["recommendation"]["verdict"] in ("node", "rack", "either")
        assert plain["transcript"][2]["role"] == "user"


def test_an_export_of_an_unknown_form_says_what_would_be_right(chat: Callable[..., Any]) -> None:
    """The message names an ending that works."""
    assert "notes.md" in chat("export notes.docx").err
    with pytest.raises(InputError):
        form_of("notes")


def test_an_export_before_an_answer_says_so(kb: KnowledgeBase) -> None:
    """The transcript is there, the decision is not."""
    conversation = Conversation(kb)
    conversation.open()
    conversation.say("# hello *you*")
    markdown = render_conversation(kb, conversation.transcript, None, "markdown")
    assert "No answer was reached." in markdown
    assert "\\# hello \\*you\\*" in markdown


def test_understand_prints_one_object_a_line(rackfit: Callable[..., Any], tmp_path: Path) -> None:
    """JSON lines keep their id, plain lines get their number, a bad line yields an error and the rest goes on."""
    file = tmp_path / "lines"
    file.write_text(
        '{"id": "a", "text": "R1 on 8 H200"}\nhello there\n\n{"id": "b", "text": 3}\n{"x": 1\n',
        encoding="utf-8",
    )
    rows = [json.loads(line) for line in rackfit("understand", "--batch", file).out.splitlines()]
    assert [row["id"] for row in rows] == ["a", 2, "b", 5]
    assert rows[0]["facts"]["accelerator_count"] == {"value": 8, "span": [6, 12]}
    assert "text" in rows[2]["error"]


def test_understand_shows_what_it_read(rackfit: Callable[..., Any]) -> None:
    """One line a fact with the words it comes from."""
    ran = rackfit("understand", "llama", "70b", "not", "fp8,", "200", "users")
    assert "concurrency: 200  <- '200 users'" in ran.out
    assert "ambiguous model" in ran.out
    assert "left out (excluded): 'fp8'" in ran.out
    assert rackfit("understand").status == 2


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ("GB300 NVL72 for R1 fp4 8k", 0, "GB300 NVL72 rack"),
        ("V100 for R1 fp4 8k", 0, "V100 is known by name only"),
        ("llama 70b", 2, "llama-3.1-70b"),
        ("R1 in 8-bit", 2, "fp8, int8"),
    ],
)
def test_ask_takes_the_words_that_the_chat_takes(
    rackfit: Callable[..., Any], words: str, status: int, told: str
) -> None:
    """One sentence is enough for an answer; what may mean several things is refused with the choices."""
    ran = rackfit("ask", "--no-flips", words)
    assert ran.status == status
    assert told in ran.out + ran.err


@pytest.mark.parametrize(
    "text", ["\U000e0001 8xH100", "\u202e\u200b\x1b[31m R1", "\ud83d\ude00 9999 \ufeff", '\\ " 7 \\u0000']
)
def test_batch_lines_are_json_whatever_was_typed(
    rackfit: Callable[..., Any], tmp_path: Path, text: str
) -> None:
    """Unassigned, bidirectional and control characters come back escaped, so that each line parses."""
    file = tmp_path / "lines"
    file.write_bytes(json.dumps({"id": 1, "text": text}).encode() + b"\n")
    (line,) = rackfit("understand", "--batch", file).out.splitlines()
    assert json.loads(line)["id"] == 1
    assert line.isascii()
