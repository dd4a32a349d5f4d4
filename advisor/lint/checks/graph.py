"""KB300-KB319: the concept graph has no cycles, no islands and no dead ends; no gotcha is written twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from advisor.knowledge.graph import condition_facts
from advisor.lint.check import Problem, corpus_check
from advisor.lint.corpus import Corpus
from advisor.lint.shingles import similar_pairs
from advisor.records import Concept

_HOPS = 2
_SHOWN = 8
"""Names of a circle that a message holds."""
_ANCHORS = ("gotchas/", "rules/", "models/", "evidence/")


@corpus_check("KB300", "broader-cycle", "error")
def broader_cycle(corpus: Corpus) -> Iterator[Problem]:
    """A concept is broader than itself, through others.

    ## What it does
    Follows `broader` upwards and reports each link that closes a circle.

    ## Why is this bad?
    A hierarchy with a circle has no top. Whoever walks it up, to find everything about a topic, walks forever.

    ## Example
    ```yaml
    # concepts/example.yaml
    broader: [concepts/another]
    ---
    # concepts/another.yaml
    broader: [concepts/example]
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    broader: [concepts/another]
    ---
    # concepts/another.yaml
    broader: []
    ```

    ## How to fix
    Decide which of the two is the wider term. If neither is, they are `related`.
    """
    yield from _cycles(corpus, "broader")


@corpus_check("KB301", "prerequisite-cycle", "error")
def prerequisite_cycle(corpus: Corpus) -> Iterator[Problem]:
    """A concept must be understood before itself, through others.

    ## What it does
    Follows `prerequisites` and reports each link that closes a circle.

    ## Why is this bad?
    There is no order in which a reader could learn the concepts of the circle.

    ## Example
    ```yaml
    # concepts/example.yaml
    prerequisites: [concepts/another]
    ---
    # concepts/another.yaml
    prerequisites: [concepts/example]
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    prerequisites: [concepts/another]
    ---
    # concepts/another.yaml
    related: [concepts/example]
    ```

    ## How to fix
    Keep the direction in which one explains the other; make the other link `related`.
    """
    yield from _cycles(corpus, "prerequisites")


def _cycles(corpus: Corpus, field: str) -> Iterator[Problem]:
    """Each link of a relation that leads back to where a walk already is, without recursion."""
    links = {concept.id: getattr(concept, field) for concept in corpus.kb.concepts.values()}
    state: dict[str, int] = {}
    for root in links:
        stack: list[tuple[str, int]] = [(root, 0)] if root not in state else []
        while stack:
            node, index = stack.pop()
            state[node] = 1
            targets: Sequence[str] = links.get(node, ())
            if index >= len(targets):
                state[node] = 2
                continue
            stack.append((node, index + 1))
            target = targets[index]
            if state.get(target) == 1 and target != node:
                walk = [name for name, _ in stack]
                names = [i.partition("/")[2] for i in (*walk[walk.index(target) :], target)]
                shown = (
                    names if len(names) <= _SHOWN else [*names[: _SHOWN // 2], "…", *names[-_SHOWN // 2 :]]
                )
                circle = " → ".join(shown)
                yield Problem(entry=node, where=(field, index), message=f"{field} runs in a circle: {circle}",
                              fix="remove one of these links, or make it `related`")  # fmt: skip
            elif target in links and target not in state:
                stack.append((target, 0))


@corpus_check("KB302", "orphan-concept", "warning")
def orphan_concept(corpus: Corpus) -> Iterator[Problem]:
    """A concept that links to nothing and that nothing links to.

    ## What it does
    Reports concepts without any link to or from another entry, sources aside.

    ## Why is this bad?
    Nobody who does not know the term already will ever come to it.

    ## Example
    ```yaml
    # concepts/island.yaml
    title: A term that stands alone
    ```

    ## Use instead
    ```yaml
    # concepts/island.yaml
    related: [concepts/example]
    ```

    ## How to fix
    Link it: its broader term, a related one, or the gotchas and rules that turn on it.
    """
    touched: set[str] = set()
    for entry in corpus.kb.entries.values():
        for link in corpus.links[entry.id]:
            if link.target.startswith("concepts/") and link.target != entry.id:
                touched.add(link.target)
            if (
                isinstance(entry, Concept)
                and not link.target.startswith("sources/")
                and link.target != entry.id
            ):
                touched.add(entry.id)
    for concept in corpus.mine(corpus.kb.concepts):
        if concept.id not in touched:
            yield Problem(entry=concept.id, where=("id",), message="nothing links to this concept, and it links to nothing",
                          fix="add broader, related or prerequisites, or name it in a gotcha or rule")  # fmt: skip


@corpus_check("KB303", "remote-concept", "warning")
def remote_concept(corpus: Corpus) -> Iterator[Problem]:
    """A concept from which no gotcha, rule, model or evidence is within two links.

    ## What it does
    Walks two links in either direction from each concept that is not an orphan.

    ## Why is this bad?
    A term that touches no experience, rule or figure is a dictionary entry: it changes no decision.

    ## Example
    ```yaml
    # concepts/far.yaml
    related: [concepts/farther]
    ---
    # concepts/farther.yaml
    related: [concepts/far]
    ```

    ## Use instead
    ```yaml
    # concepts/far.yaml
    related: [concepts/farther]
    ---
    # concepts/farther.yaml
    related: [concepts/far]
    ---
    # gotchas/example.yaml
    concepts: [concepts/far]
    ```

    ## How to fix
    Name it in the gotcha or rule it helps to understand, or link it to a concept that is.
    """
    if not any(entry_id.startswith(_ANCHORS) for entry_id in corpus.kb.entries):
        return
    neighbours = _neighbours(corpus)
    for concept in corpus.mine(corpus.kb.concepts):
        near = neighbours.get(concept.id, set())
        if near and not any(
            other.startswith(_ANCHORS) or any(far.startswith(_ANCHORS) for far in neighbours.get(other, ()))
            for other in near
        ):
            yield Problem(entry=concept.id, where=("id",),
                          message=f"no gotcha, rule, model or evidence within {_HOPS} links of this concept",
                          fix="name it where it explains something")  # fmt: skip


def _neighbours(corpus: Corpus) -> Mapping[str, set[str]]:
    """Links in either direction, those through a condition's facts included; sharing a source is no link."""
    table: dict[str, set[str]] = {}
    facts = {fact.name: fact.id for fact in corpus.kb.facts.values()}
    for entry in corpus.kb.entries.values():
        targets = {link.target for link in corpus.links[entry.id]} | {
            facts[n] for n in condition_facts(entry) if n in facts
        }
        for target in targets:
            if target != entry.id and target in corpus.kb.entries and not target.startswith("sources/"):
                table.setdefault(entry.id, set()).add(target)
                table.setdefault(target, set()).add(entry.id)
    return table


@corpus_check("KB304", "one-entry-concept", "info")
def one_entry_concept(corpus: Corpus) -> Iterator[Problem]:
    """A concept that a single entry names, and that names nothing broader itself.

    ## What it does
    Reports concepts with one link to them and no `broader`, `related` or `prerequisites` of their own.

    ## Why is this bad?
    A concept gathers entries. One that gathers a single entry is a tag of that entry and may as well be its text.

    ## Example
    ```yaml
    # concepts/tag.yaml
    title: A term of one gotcha
    ---
    # gotchas/example.yaml
    concepts: [concepts/tag]
    ```

    ## Use instead
    ```yaml
    # concepts/tag.yaml
    title: A term with a place in the graph
    broader: [concepts/example]
    ---
    # gotchas/example.yaml
    concepts: [concepts/tag]
    ```

    ## How to fix
    Give it its broader or related terms, or fold it into the entry that names it.
    """
    counts: Counter[str] = Counter()
    for entry in corpus.kb.entries.values():
        counts.update({link.target for link in corpus.links[entry.id] if link.target != entry.id})
    for concept in corpus.mine(corpus.kb.concepts):
        if counts[concept.id] == 1 and not (concept.broader or concept.related or concept.prerequisites):
            yield Problem(entry=concept.id, where=("id",), message="a single entry names this concept, and it has no links",
                          fix="link it to broader or related terms, or fold it into that entry")  # fmt: skip


@corpus_check("KB305", "redundant-broader", "info")
def redundant_broader(corpus: Corpus) -> Iterator[Problem]:
    """A broader term that another broader term already implies.

    ## What it does
    Reports a `broader` link whose target is also reached through another `broader` link of the concept.

    ## Why is this bad?
    The hierarchy shows the concept twice, once too high.

    ## Example
    ```yaml
    # concepts/example.yaml
    broader: [concepts/another, concepts/third]
    ---
    # concepts/another.yaml
    broader: [concepts/third]
    ---
    # concepts/third.yaml
    title: The widest of the three
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    broader: [concepts/another]
    ---
    # concepts/another.yaml
    broader: [concepts/third]
    ---
    # concepts/third.yaml
    title: The widest of the three
    ```

    ## How to fix
    Delete the wider of the two.
    """
    concepts = corpus.kb.concepts
    for concept in corpus.mine(concepts):
        above = {target: _above(target, concepts) for target in concept.broader}
        for index, target in enumerate(concept.broader):
            through = next(
                (o for o in concept.broader if o != target and target in above[o] and o not in above[target]),
                "",
            )
            if through:
                yield Problem(entry=concept.id, where=("broader", index),
                              message=f"{target} is already broader than {through}", fix="delete it")  # fmt: skip


def _above(concept_id: str, concepts: Mapping[str, Concept]) -> set[str]:
    found: set[str] = set()
    stack = [concept_id]
    while stack:
        concept = concepts.get(stack.pop())
        for target in concept.broader if concept else ():
            if target not in found:
                found.add(target)
                stack.append(target)
    return found


@corpus_check("KB310", "near-duplicate", "warning")
def near_duplicate(corpus: Corpus) -> Iterator[Problem]:
    """Two gotchas say nearly the same.

    ## What it does
    Compares the prose of gotchas by the runs of four words they share, and reports the later of two that share most.

    ## Why is this bad?
    The reader meets the same advice twice, and a correction to one leaves the other wrong.

    ## Example
    ```yaml
    # gotchas/example-again.yaml
    title: The same story under another title
    ```

    ## Use instead
    ```yaml
    # gotchas/example-again.yaml
    title: A different story
    symptom: >-
      Sixteen replicas answer slower than eight, although every card reports the same clock and the same free memory, and
      the queue in front of them stays empty for the whole of the evening.
    root_cause: >-
      Half of them sit behind a switch whose uplink is shared with the backup, which runs from nine until midnight and
      leaves a quarter of the bandwidth for prompts and answers.
    workaround: >-
      Move the backup to another uplink, or give the replicas behind it a smaller share of the load until it has ended.
    ```

    ## How to fix
    Merge them, keeping the better text, and link to the one that stays.
    """
    prose = {
        gotcha.id: f"{gotcha.symptom}\n{gotcha.root_cause}\n{gotcha.workaround}\n{gotcha.notes}"
        for gotcha in corpus.base_first(corpus.kb.gotchas)
    }
    for later, earlier, share in similar_pairs(prose):
        yield Problem(entry=later, where=("id",), message=f"shares {share:.0%} of its text with {earlier}",
                      fix="merge the two, or link to the other and say only what differs")  # fmt: skip
