"""KB512-KB514: what people type for a fact, as words and as a flag, can be read and is its own; its range holds values."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.lint.check import Problem, corpus_check, entry_check
from advisor.lint.corpus import Corpus
from advisor.records import RESERVED_FLAGS, Fact


@corpus_check("KB512", "unreadable-phrase", "error")
def unreadable_phrase(corpus: Corpus) -> Iterator[Problem]:
    """A word or pattern of a fact that the chat cannot read.

    ## What it does
    Compiles every pattern, the words of the fact and of its choices as the chat does: brackets that are not closed, word lists,
    slot types and facts that do not exist, values that the fact cannot have, and patterns that could read one line in so many
    ways that searching would not end.

    ## Why is this bad?
    The chat, and `ask` in words, stop with an error before the first question, for everybody who uses the folder.

    ## Example
    ```yaml
    # facts/tpot-ms.yaml
    patterns: ["{duration} (per|each token"]
    ```

    ## Use instead
    ```yaml
    # facts/tpot-ms.yaml
    patterns: ["{duration} (per|each) token"]
    ```

    ## How to fix
    The patterns are those of docs/dialogue.md, not regular expressions: words, `{slot}`, `<word list>`, `(a|b)`, `[optional]`,
    `...`. `rackfit understand TEXT --kb DIR` shows what a sentence is read as.
    """
    if not any(corpus.mine(corpus.kb.facts)):
        return
    from advisor.dialogue.lexicon import Lexicon

    for entry_id, where, why in Lexicon(corpus.kb).unreadable(corpus.base_first(corpus.kb.facts)):
        yield Problem(entry=entry_id, where=where, message=f"the chat cannot read this: {why}")


@corpus_check("KB513", "flag-taken", "error")
def flag_taken(corpus: Corpus) -> Iterator[Problem]:
    """The flag of a fact is that of another fact or of a command.

    ## What it does
    Compares `flag` with those of all other facts and with the options that `ask`, `map` and `chat` have of their own.

    ## Why is this bad?
    A flag can set one thing only; the commands refuse to start.

    ## Example
    ```yaml
    # facts/tpot-ms.yaml
    flag: --price
    ```

    ## Use instead
    ```yaml
    # facts/tpot-ms.yaml
    flag: --tpot-ms
    ```

    ## How to fix
    Choose another flag, for example the name of the fact with hyphens.
    """
    owners: dict[str, str] = {}
    for fact in corpus.base_first(corpus.kb.facts):
        if not fact.flag:
            continue
        owner = "the command itself" if fact.flag in RESERVED_FLAGS else owners.setdefault(fact.flag, fact.id)
        if owner != fact.id:
            yield Problem(entry=fact.id, where=("flag",), message=f"the flag {fact.flag} is that of {owner}",
                          fix="choose another")  # fmt: skip


@entry_check("KB514", "empty-range", "error", "facts")
def empty_range(fact: Fact) -> Iterator[Problem]:
    """No value lies between the minimum and the maximum of a fact, or the fact has no numbers.

    ## What it does
    Compares `minimum` with `maximum`, and both and `unit` with the type of the fact.

    ## Why is this bad?
    Every answer to its question is refused, or a limit is written down that nothing looks at.

    ## Example
    ```yaml
    # facts/tpot-ms.yaml
    minimum: 100
    maximum: 10
    ```

    ## Use instead
    ```yaml
    # facts/tpot-ms.yaml
    minimum: 10
    maximum: 100
    ```

    ## How to fix
    Exchange the two, or delete what does not belong to the type.
    """
    if fact.type not in ("number", "integer"):
        given = [name for name in ("minimum", "maximum", "unit") if getattr(fact, name) not in (None, "")]
        for name in given:
            yield Problem(where=(name,), at_key=True, message=f"a fact of type {fact.type} has no {name}",
                          fix="delete it, or make the type number or integer")  # fmt: skip
    elif fact.minimum is not None and fact.maximum is not None and fact.minimum > fact.maximum:
        yield Problem(where=("minimum",), message=f"the minimum, {fact.minimum:g}, is above the maximum, {fact.maximum:g}",
                      fix="exchange the two")  # fmt: skip
