"""KB220-KB239: names and aliases that people type must lead to one entry; sources must be used."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.knowledge.base import fold
from advisor.knowledge.yaml_source import Document
from advisor.lint.check import Problem, corpus_check, entry_check, fixer
from advisor.lint.corpus import Corpus
from advisor.lint.edits import without_items
from advisor.records import Entry
from advisor.units import shown


@corpus_check("KB220", "alias-collision", "warning")
def alias_collision(corpus: Corpus) -> Iterator[Problem]:
    """Two entries of one kind claim the same alias.

    ## What it does
    Compares ids, titles and aliases of each kind as they are matched: without case, spaces and punctuation. Of two entries
    that share a name the later one is reported.

    ## Why is this bad?
    Whoever types the name gets an error, or the wrong entry.

    ## Example
    ```yaml
    # concepts/example.yaml
    aliases: [another term]
    ---
    # concepts/another.yaml
    aliases: [Another-Term]
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    aliases: [one term]
    ---
    # concepts/another.yaml
    aliases: [another term]
    ```

    ## How to fix
    Give the alias to the entry that people mean by it, and make the other one more specific.
    """
    owners: dict[tuple[str, str], str] = {}
    for entry in corpus.base_first(corpus.kb.entries):
        own: list[tuple[str, tuple[str | int, ...]]] = [(entry.title, ("title",)), (entry.slug, ("id",))]
        own += [(alias, ("aliases", index)) for index, alias in enumerate(entry.aliases)]
        for name, where in own:
            owner = owners.setdefault((entry.kind, fold(name)), entry.id)
            if owner != entry.id and fold(name):
                yield Problem(entry=entry.id, where=where, message=f"{shown(name)} is also a name of {owner}",
                              fix="leave it to the entry that people mean, and make the other more specific")  # fmt: skip


@entry_check("KB221", "dead-alias", "info")
def dead_alias(entry: Entry) -> Iterator[Problem]:
    """An alias that adds nothing: it is the title, the slug or another alias in the same words.

    ## What it does
    Compares each alias with the title and the aliases before it, case aside, and with the slug as it is written. `GB200`
    beside `gb200` is kept: it tells readers how the name is written.

    ## Why is this bad?
    It looks as if it mattered, and whoever edits the list has to keep it.

    ## Example
    ```yaml
    # concepts/example.yaml
    aliases: [other word, Other word]
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    aliases: [other word]
    ```

    ## How to fix
    Delete it. `rackfit lint --fix` does.
    """
    for index, name in _dead_aliases(entry):
        yield Problem(
            where=("aliases", index),
            message=f"alias {shown(name)} is already a name of this entry",
            fix="delete it",
        )


def _dead_aliases(entry: Entry) -> Iterator[tuple[int, str]]:
    known = {entry.title.casefold()}
    for index, alias in enumerate(entry.aliases):
        name = alias.casefold()
        if name in known or alias == entry.slug:
            yield index, alias
        known.add(name)


@fixer("KB221")
def drop_dead_aliases(document: Document, entry_id: str) -> str:
    """The text without aliases that repeat a name of the entry."""
    data = document.data or {}
    aliases = data.get("aliases")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        return document.text
    stand_in = Entry(id=entry_id, title=str(data.get("title", "")), aliases=tuple(aliases))
    return without_items(document, ("aliases",), [index for index, _ in _dead_aliases(stand_in)])


@corpus_check("KB230", "unused-source", "warning")
def unused_source(corpus: Corpus) -> Iterator[Problem]:
    """Nothing cites this source.

    ## What it does
    Reports source entries that no other entry names in `source`, `sources` or `because`.

    ## Why is this bad?
    Either the citation was forgotten where it is due, or the source is left over from something deleted.

    ## Example
    ```yaml
    # sources/never-cited.yaml
    title: A page that nothing refers to
    ```

    ## Use instead
    ```yaml
    # sources/never-cited.yaml
    title: A page that an entry refers to
    ---
    # concepts/example.yaml
    sources: [sources/never-cited]
    ```

    ## How to fix
    Cite it where a fact comes from it, or delete it.
    """
    cited = {
        link.target
        for entry in corpus.kb.entries.values()
        for link in corpus.links[entry.id]
        if link.target != entry.id
    }
    for source in corpus.mine(corpus.kb.sources):
        if source.id not in cited:
            yield Problem(
                entry=source.id,
                where=("id",),
                message="nothing cites this source",
                fix="cite it or delete it",
            )
