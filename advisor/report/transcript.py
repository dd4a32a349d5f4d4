"""A conversation for the files: what was said, the decision and what it rests on, as Markdown, HTML or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from advisor import __version__
from advisor.dialogue.messages import Message
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Recommendation
from advisor.report.html import render_html
from advisor.report.json import to_plain
from advisor.report.markdown import render_markdown
from advisor.visible import inert

Form = Literal["markdown", "html", "json"]
FORMS: dict[str, Form] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}
"""Ending of a file name -> form of the export."""
_SPEAKERS = {"user": "You", "rackfit": "rackfit", "notice": "Note"}


def form_of(path: str) -> Form:
    """The form that a file name asks for. Raises InputError for an ending without one."""
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    if ending not in FORMS:
        raise InputError(
            f"{path[:80]!r} does not end in one of {', '.join(FORMS)}; name the file notes.md, for example"
        )
    return FORMS[ending]


def render_conversation(
    kb: KnowledgeBase,
    messages: Sequence[Message],
    answer: Recommendation | None,
    form: Form,
    *,
    title: str = "rackfit conversation",
) -> str:
    """The decision record first (the answer, whole), then the transcript. `answer` is None before there is one."""
    if form == "json":
        plain: dict[str, Any] = {
            "title": title,
            "version": __version__,
            "knowledge_fingerprint": kb.fingerprint,
            "recommendation": to_plain(answer) if answer else None,
            "transcript": msgspec.to_builtins(list(messages)),
        }
        return msgspec.json.format(msgspec.json.encode(plain)).decode() + "\n"
    markdown = "\n\n".join(block for block in _blocks(kb, messages, answer, title) if block) + "\n"
    return markdown if form == "markdown" else render_html(markdown, title)


def _blocks(
    kb: KnowledgeBase, messages: Sequence[Message], answer: Recommendation | None, title: str
) -> Iterable[str]:
    yield f"# {inert(title)}"
    yield f"rackfit {__version__}, knowledge base `{kb.fingerprint[:16]}`."
    yield "## Decision"
    yield _lowered(render_markdown(kb, answer)).rstrip() if answer else "No answer was reached."
    yield "## Conversation"
    for message in messages:
        yield from _message(message)


def _lowered(markdown: str) -> str:
    """Headings two levels down, so that they stand below the one of the decision."""
    return "\n".join(f"##{line}" if line.startswith("#") else line for line in markdown.splitlines())


def _message(message: Message) -> Iterable[str]:
    speaker = _SPEAKERS[message.role]
    if message.role == "user":
        yield f"**{speaker}:** " + inert(" ".join(message.markdown.split()))
        return
    yield f"**{speaker}:**"
    yield message.markdown
    if message.chips:
        yield "\n".join(f"- {inert(chip.label)}: {inert(chip.text)}" for chip in message.chips)
    if message.choices:
        yield "Offered: " + ", ".join(inert(choice) for choice in message.choices)
