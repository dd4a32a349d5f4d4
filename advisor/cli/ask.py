"""`rackfit ask [TEXT] [flags]`: one answer without a dialogue. Every fact with a flag in the knowledge base is a flag here."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from advisor.cli.common import add_output_flag, write_output
from advisor.cli.requirement import add_requirement_flags, read_requirement
from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Recommendation

FORMATS = ("text", "json", "markdown", "html")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("text", nargs="*", help="the question in words; flags win over words")
    add_requirement_flags(parser)
    parser.add_argument("--format", choices=FORMATS, default="text")
    add_output_flag(parser)
    parser.add_argument(
        "--explain", nargs="?", const="verdict", metavar="WHAT",
        help="add the proof: of the verdict, or of node, rack or a system id (why, or why not)",
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
    explained = _explanation(kb, answer, arguments.explain) if arguments.explain else ""
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


def _explanation(kb: KnowledgeBase, answer: Recommendation, what: str) -> str:
    from advisor.reasoning.explain import explain_text

    known: Iterable[str] = ("verdict", "node", "rack", *kb.systems)
    if what not in known:
        raise InputError(f"--explain: '{what[:40]}' is not known; one of verdict, node, rack or a system id")
    return explain_text(kb, answer, what)
