"""`rackfit ask [TEXT] [flags]`: one answer without a dialogue. Every fact with a flag in the knowledge base is a flag here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from advisor.cli.common import add_output_flag, write_output
from advisor.cli.requirement import add_requirement_flags, read_requirement
from advisor.cli.streams import data, narrate
from advisor.knowledge import KnowledgeBase
from advisor.records import Facts, Recommendation

FORMATS = ("text", "json", "markdown", "html")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("text", nargs="*", help="the question in words; flags win over words")
    add_requirement_flags(parser)
    parser.add_argument("--format", choices=FORMATS, default="text")
    add_output_flag(parser)
    parser.add_argument(
        "--explain", nargs="?", const="verdict", metavar="WHAT",
        help="add the proof of the verdict; or of node, rack or a system id; or the reply to a question: 'how sure', 'what if kv is fp8'",
    )  # fmt: skip
    parser.add_argument(
        "--no-flips", action="store_true", help="leave out what would change the verdict (faster)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Answer. Status 1 when no candidate fits."""
    from advisor.reasoning.recommend import recommend

    kb, said, notes = read_requirement(arguments, " ".join(arguments.text))
    for note in notes:
        narrate(note)
    answer = recommend(kb, said, flips=not arguments.no_flips)
    explained = _explanation(kb, said, answer, arguments.explain) if arguments.explain else ""
    content = render(arguments.format, kb, answer, explain=explained)
    if arguments.output:
        write_output(arguments.output, content)
        narrate(f"written to {Path(arguments.output)}")
    else:
        data(content, end="")
    return 1 if answer.verdict == "none" else 0


def render(form: str, kb: KnowledgeBase, answer: Recommendation, *, explain: str = "") -> str:
    """The answer in one of FORMATS."""
    if form == "json":
        from advisor.report.json import render_json

        extra: dict[str, Any] = {"explanation": explain} if explain else {}
        return render_json(answer, extra=extra) + "\n"
    from advisor.report.markdown import render_markdown

    markdown = render_markdown(kb, answer, explain=explain)
    if form == "markdown":
        return markdown
    if form == "html":
        from advisor.report.html import render_html

        return render_html(markdown, f"rackfit: {answer.headline}")
    from advisor.report.terminal import markdown_to_text

    return markdown_to_text(markdown)


def _explanation(kb: KnowledgeBase, said: Facts, answer: Recommendation, what: str) -> str:
    """The proof of a side, or what the chat would reply to a question about the answer (`how sure`, `what if kv is fp8`)."""
    from advisor.reasoning.explain import explain_text

    if what in ("verdict", "node", "rack", *kb.systems):
        return explain_text(kb, answer, what)
    from advisor.dialogue.conversation import Conversation
    from advisor.report.terminal import markdown_to_text

    conversation = Conversation(kb)
    conversation.begin(said)
    return "\n".join(
        markdown_to_text(message.markdown) for message in conversation.say(what) if message.role == "rackfit"
    )
