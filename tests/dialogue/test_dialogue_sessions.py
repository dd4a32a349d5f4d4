"""Saved conversations: crash-safe, resumable, named, and honest about newer evidence."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.dialogue.conversation import Conversation
from advisor.dialogue.sessions import SessionStore, read_turns
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


def held(kb: KnowledgeBase, store: SessionStore, *lines: str) -> str:
    """A conversation of these lines, saved and closed; its id."""
    with store.create() as session:
        conversation = Conversation(kb, session)
        conversation.open()
        for line in lines:
            conversation.say(line)
        return session.id


def test_a_resumed_conversation_goes_on_where_it_stopped(kb: KnowledgeBase, store: SessionStore) -> None:
    """Facts, skipped questions and transcript are there; undo still reaches back."""
    held(kb, store, "gpt-oss 120b", "fp4", "skip")
    with store.open() as session:
        conversation = Conversation(kb, session)
        messages = conversation.open()
        assert {name: fact.value for name, fact in conversation.facts.items()} == {
            "model": "models/gpt-oss-120b", "weight_precision": "fp4",
        }  # fmt: skip
        assert "3 turns" in messages[0].markdown
        assert [m.markdown for m in conversation.transcript if m.role == "user"] == [
            "gpt-oss 120b",
            "fp4",
            "skip",
        ]
        conversation.say("undo")
        conversation.say("undo")
        assert "weight_precision" not in conversation.facts


def test_each_turn_is_on_the_disk_before_the_answer_is_shown(kb: KnowledgeBase, store: SessionStore) -> None:
    """A crash after any answer loses nothing."""
    with store.create() as session:
        conversation = Conversation(kb, session)
        conversation.open()
        conversation.say("gpt-oss 120b")
        assert [turn.typed for turn in read_turns(session.path)] == ["gpt-oss 120b"]


@pytest.mark.parametrize(
    "torn", [b'{"event":"turn","turn":{"at":"2', b"\x00\xff\xfe", b'{"event":"nonsense"}\n']
)
def test_a_torn_line_costs_that_line_only(kb: KnowledgeBase, store: SessionStore, torn: bytes) -> None:
    """What a crash or a foreign hand left at the end is passed over, and new turns start a line of their own."""
    name = held(kb, store, "gpt-oss 120b")
    with (store.folder / f"{name}.jsonl").open("ab") as handle:
        handle.write(torn)
    with store.open(name) as session:
        conversation = Conversation(kb, session)
        conversation.open()
        conversation.say("fp4")
        assert [turn.typed for turn in read_turns(session.path)] == ["gpt-oss 120b", "fp4"]


def test_newer_evidence_is_said_with_both_answers(kb: KnowledgeBase, store: SessionStore) -> None:
    """The saved headline and the one of today stand side by side."""
    with store.create() as session:
        conversation = Conversation(kb, session)
        conversation.open()
        conversation.say("DeepSeek-R1 fp4 8k, 15 ms per token")
        last = session.turns[-1]
        session.append(replace(last, fingerprint="older", headline="9 nodes of old"))
    with store.open() as session:
        messages = Conversation(kb, session).open()
    notice = next(message for message in messages if "has changed" in message.markdown)
    assert "9 nodes of old" in notice.markdown
    assert notice.kind == "notice"


def test_a_session_open_elsewhere_goes_on_as_a_copy(kb: KnowledgeBase, store: SessionStore) -> None:
    """Two windows never write into one file."""
    name = held(kb, store, "gpt-oss 120b")
    with store.open(name) as first, store.open(name) as second:
        assert second.id != first.id
        assert second.copied_from == name
        messages = Conversation(kb, second).open()
        assert "open in another window" in messages[0].markdown
        assert [turn.typed for turn in read_turns(second.path)] == ["gpt-oss 120b"]


def test_sessions_are_listed_renamed_and_deleted(kb: KnowledgeBase, store: SessionStore) -> None:
    """A name stands for the id everywhere; a deleted session is gone."""
    name = held(kb, store, "gpt-oss 120b")
    store.rename(name, "  the big   purchase ")
    (info,) = store.saved()
    assert (info.name, info.turns, info.first) == ("the big purchase", 1, "gpt-oss 120b")
    store.open("the big purchase").close()
    assert store.delete("the big purchase") == "the big purchase"
    assert store.saved() == ()
    assert list(store.folder.iterdir()) == []


def test_names_are_checked(kb: KnowledgeBase, store: SessionStore) -> None:
    """A name is short, printable and used once; an unknown one is answered with the latest."""
    first, second = held(kb, store, "R1"), held(kb, store, "V3")
    store.rename(first, "one")
    for bad in ("", "x" * 200, "tab\there\x07", "one"):
        with pytest.raises(InputError):
            store.rename(second, bad)
    with pytest.raises(InputError, match="one"):
        store.open("nowhere")
    with pytest.raises(InputError):
        store.delete("../../etc/passwd")


@pytest.mark.parametrize("lines", [(), ("quit",)], ids=["nothing", "quit"])
def test_a_conversation_in_which_nothing_was_said_leaves_no_file(
    kb: KnowledgeBase, store: SessionStore, lines: tuple[str, ...]
) -> None:
    """Looking in and leaving again, however that ends, adds nothing to the list of conversations."""
    with store.create() as session:
        conversation = Conversation(kb, session)
        conversation.open()
        for line in lines:
            conversation.say(line)
        assert list(store.folder.iterdir()) == []
    assert list(store.folder.iterdir()) == []


def test_files_are_private(kb: KnowledgeBase, store: SessionStore) -> None:
    """Only the user can read what was asked."""
    name = held(kb, store, "R1")
    assert (store.folder / f"{name}.jsonl").stat().st_mode & 0o077 == 0


def test_foreign_files_are_left_alone(store: SessionStore, tmp_path: Path) -> None:
    """A file that is no session is neither listed nor opened."""
    store.folder.mkdir(parents=True)
    (store.folder / "notes.jsonl").write_text("{}")
    (store.folder / "20260101-000000-abcdef.jsonl").write_text("not a session\n")
    assert store.saved() == ()
    with pytest.raises(InputError, match="no saved conversation"):
        store.open()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_home_is_an_error_to_degrade_on(tmp_path: Path) -> None:
    """Creating a session raises OSError, which the front ends turn into a notice."""
    (tmp_path / "home").mkdir(mode=0o500)
    with pytest.raises(OSError, match="ermission"):
        SessionStore(tmp_path / "home" / "sessions").create()


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_session_that_may_not_be_written_is_read(
    kb: KnowledgeBase, store: SessionStore, monkeypatch: pytest.MonkeyPatch, folder_too: bool
) -> None:
    """Resuming goes on in a copy; where no file can be made, with a notice that it is not saved."""
    name = held(kb, store, "gpt-oss 120b", "fp4")
    path = store.folder / f"{name}.jsonl"
    before = path.read_bytes()
    real_path, real_os = Path.open, os.open

    def opened(self: Path, mode: str = "r", *more: Any, **named: Any) -> Any:
        if self == path and "a" in mode:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real_path(self, mode, *more, **named)

    def made(place: Any, flags: int, *more: Any, **named: Any) -> int:
        if folder_too and flags & os.O_CREAT:
            raise PermissionError(errno.EROFS, "Read-only file system")
        return real_os(place, flags, *more, **named)

    monkeypatch.setattr(Path, "open", opened)
    monkeypatch.setattr(os, "open", made)
    with store.open() as session:
        conversation = Conversation(kb, session)
        assert not any("another window" in message.markdown for message in conversation.open())
        assert set(conversation.facts) == {"model", "weight_precision"}
        said = conversation.say("32k")
        assert any("not saved" in message.markdown for message in said) is folder_too
        assert (session.id == name) is folder_too
    assert path.read_bytes() == before
    if not folder_too:
        assert len(read_turns(store.folder / f"{session.id}.jsonl")) == 3


def test_a_full_disk_ends_the_saving_and_not_the_conversation(kb: KnowledgeBase, store: SessionStore) -> None:
    """The turn is answered, with one notice that it is not saved."""
    session = store.create()
    conversation = Conversation(kb, session)
    conversation.open()
    session.close()

    def refuse(_turn: object) -> None:
        raise OSError(28, "No space left on device")

    session.append = refuse  # type: ignore[method-assign]
    messages = conversation.say("gpt-oss 120b")
    assert "No space left on device" in messages[-1].markdown
    assert all("not saved" not in message.markdown for message in conversation.say("fp4"))


def test_half_a_surrogate_pair_can_be_saved(kb: KnowledgeBase, store: SessionStore) -> None:
    """Any text that reaches the conversation can be written and read again."""
    name = held(kb, store, "R1 \ud800 \x00")
    assert "R1" in read_turns(store.folder / f"{name}.jsonl")[0].typed
