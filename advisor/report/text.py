"""An answer as plain text for a terminal or a pipe."""

from __future__ import annotations

from advisor.knowledge import KnowledgeBase
from advisor.records import Recommendation
from advisor.report.markdown import render_markdown
from advisor.report.terminal import markdown_to_text


def render_text(
    kb: KnowledgeBase, answer: Recommendation, *, explain: str = "", width: int | None = None
) -> str:
    """The whole answer, wrapped at `width` columns (the terminal's by default)."""
    return markdown_to_text(render_markdown(kb, answer, explain=explain), width)
