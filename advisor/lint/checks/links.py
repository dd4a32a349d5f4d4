"""KB200-KB219: ids equal paths, and links lead somewhere, once, to the right kind."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.knowledge.graph import Link
from advisor.knowledge.locate import kb_folder
from advisor.knowledge.yaml_source import Document
from advisor.lint.check import Problem, corpus_check, declare, entry_check, fixer
from advisor.lint.corpus import Corpus
from advisor.lint.edits import replaced
from advisor.records import Entry
from advisor.units import shown

_MAX_HINTS = 50
"""Distinct missing ids that get a nearest-id hint; searching for more would cost more than it helps."""

_TARGET_KINDS: dict[str, tuple[str, ...]] = {
    "concepts": ("concepts",),
    "broader": ("concepts",),
    "prerequisites": ("concepts",),
    "sources": ("sources",),
    "source": ("sources",),
    "model": ("models",),
    "accelerator": ("accelerators",),
    "system": ("systems",),
    "evidence": ("evidence",),
    "claims": ("evidence", "accelerators", "systems", "models"),
}
"""Field that links -> kinds it may lead to; fields that are not here may lead anywhere."""

declare(
    "KB200",
    "id-not-path",
    "error",
    """
The id is not the path of the file.

## What it does
Compares `id` with the path below the knowledge base, without `.yaml`.

## Why is this bad?
Links name ids and people look for files. If the two differ, one of them finds nothing.

## Example
```yaml raw
id: gotchas/another-name
title: A file called example.yaml
```

## Use instead
```yaml
title: A file whose id is its path
```

## How to fix
Write the path as the id, or rename the file. `rackfit lint --fix` writes the id.
""",
)

declare(
    "KB201",
    "name-not-a-slug",
    "error",
    """
The name of the file or of a folder cannot be part of an id.

## What it does
Reports names that are not lower-case kebab-case (letters, digits, `-` and `.`, beginning with a letter or a digit).

## Why is this bad?
Names that differ in case or in Unicode form only are one file on some systems and two on others.

## Example
```text
kb/gotchas/My_Gotcha.yaml
```

## Use instead
```text
kb/gotchas/my-gotcha.yaml
```

## How to fix
Rename it as the message says, and write the same into `id`.
""",
)


@corpus_check("KB210", "dangling-link", "error")
def dangling_link(corpus: Corpus) -> Iterator[Problem]:
    """A link names an entry that does not exist.

    ## What it does
    Looks up every id in every linking field, those of claims included. Entries that exist but are broken count as there.

    ## Why is this bad?
    The reader who follows the link finds nothing, and figures that rest on it cannot be recomputed.

    ## Example
    ```yaml
    concepts: [concepts/exampel]
    ```

    ## Use instead
    ```yaml
    concepts: [concepts/example]
    ```

    ## How to fix
    Correct the id; the nearest one is named. If it is in the shipped knowledge base, lint your folder over it:
    `rackfit lint --kb DIR`.
    """
    hints: dict[str, str] = {}
    for entry in corpus.mine(corpus.kb.entries):
        for link in corpus.links[entry.id]:
            if corpus.exists(link.target):
                continue
            if link.target not in hints:
                hints[link.target] = _hint(corpus, link.target) if len(hints) < _MAX_HINTS else ""
            yield Problem(entry=entry.id, where=link.where, message=f"{link.relation}: no entry {shown(link.target, 120)}",
                          fix=hints[link.target])  # fmt: skip


def _hint(corpus: Corpus, target: str) -> str:
    from rapidfuzz import fuzz, process

    kind, _, slug = target.partition("/")
    candidates = [
        entry_id.partition("/")[2] for entry_id in corpus.kb.entries if entry_id.startswith(f"{kind}/")
    ]
    best = process.extractOne(slug, candidates, scorer=fuzz.ratio, score_cutoff=70)
    if best is not None:
        return f"did you mean {kind}/{best[0]}?"
    if not corpus.base and (kb_folder() / f"{target}.yaml").is_file():
        return "it is in the shipped knowledge base: lint this folder over it with --kb"
    return "create it with `rackfit new`, or delete the link"


@corpus_check("KB211", "self-link", "error")
def self_link(corpus: Corpus) -> Iterator[Problem]:
    """An entry links to itself.

    ## What it does
    Reports every link whose target is the entry it stands in.

    ## Why is this bad?
    It says nothing, and another entry was probably meant.

    ## Example
    ```yaml
    # concepts/example.yaml
    related: [concepts/example]
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    related: [concepts/another]
    ```

    ## How to fix
    Name the entry that was meant, or delete the link.
    """
    for entry in corpus.mine(corpus.kb.entries):
        for link in corpus.links[entry.id]:
            if link.target == entry.id:
                yield Problem(entry=entry.id, where=link.where, message=f"{link.relation}: the entry links to itself",
                              fix="name the entry that was meant, or delete it")  # fmt: skip


@entry_check("KB212", "linked-twice", "warning", "concepts", "gotchas")
def linked_twice(entry: Entry) -> Iterator[Problem]:
    """Two fields of an entry link to the same concept or gotcha.

    ## What it does
    Compares `broader`, `prerequisites`, `related` and `concepts` of one entry.

    ## Why is this bad?
    The relations mean different things. What is broader is related anyway, so the second link only adds noise to the graph.

    ## Example
    ```yaml
    # concepts/example.yaml
    broader: [concepts/another]
    related: [concepts/another]
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    broader: [concepts/another]
    ```

    ## How to fix
    Keep the stronger one: broader before prerequisites before related.
    """
    seen: dict[str, str] = {}
    for field in ("broader", "prerequisites", "concepts", "related"):
        for index, target in enumerate(getattr(entry, field, ())):
            if target in seen and seen[target] != field:
                yield Problem(where=(field, index), message=f"{shown(target, 120)} is already in {seen[target]}",
                              fix="keep the stronger relation")  # fmt: skip
            seen.setdefault(target, field)


@corpus_check("KB213", "wrong-kind-link", "error")
def wrong_kind_link(corpus: Corpus) -> Iterator[Problem]:
    """A link leads to an entry of a kind that its field does not take.

    ## What it does
    Compares the kind in the id with what the field is for: `concepts` takes concepts, `source` takes sources, and so on.

    ## Why is this bad?
    Whoever reads the field relies on the kind; a gotcha in `sources` is neither cited nor found.

    ## Example
    ```yaml
    sources: [concepts/example]
    ```

    ## Use instead
    ```yaml
    sources: [sources/example]
    ```

    ## How to fix
    Move the id to the field it belongs to (`related` and `because` take any kind), or name the right entry.
    """
    for entry in corpus.mine(corpus.kb.entries):
        for link in corpus.links[entry.id]:
            kinds = _kinds_for(entry, link)
            if kinds and link.target.partition("/")[0] not in kinds:
                yield Problem(entry=entry.id, where=link.where, message=f"{link.relation}: {shown(link.target, 120)} is of the wrong kind",
                              fix=f"this field takes {' or '.join(kinds)}")  # fmt: skip


def _kinds_for(entry: Entry, link: Link) -> tuple[str, ...]:
    if entry.kind == "facts" and link.relation in ("model", "accelerator", "system", "evidence"):
        return ()
    return _TARGET_KINDS.get(link.relation, ())


@fixer("KB200")
def write_path_as_id(document: Document, entry_id: str) -> str:
    """The text with the path as its id."""
    place = document.places.get(("id",))
    if place is None or place.style not in ("plain", "quoted"):
        return document.text
    return replaced(document.text, [(place.value.start, place.value.end, entry_id)])
