"""KB200-KB219: ids equal paths, links lead somewhere, once, to the right kind."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.knowledge.graph import links_of
from advisor.lint.check import Problem, corpus_check
from advisor.lint.corpus import Corpus
from advisor.units import shown


@corpus_check("KB210", "dangling-link", "error")
def dangling_link(corpus: Corpus) -> Iterator[Problem]:
    """A link names an entry that does not exist."""
    for entry in corpus.mine(corpus.kb.entries):
        for link in links_of(entry):
            if not corpus.exists(link.target):
                yield Problem(
                    entry=entry.id,
                    where=link.where,
                    message=f"{link.relation}: no entry {shown(link.target, 120)}",
                )
