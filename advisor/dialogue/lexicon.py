"""Everything that understanding needs from the knowledge base, compiled once per knowledge base: names, phrases, acts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from advisor.dialogue.modelnames import ModelNames
from advisor.dialogue.pattern_index import PatternIndex
from advisor.dialogue.patterns import Pattern, PatternCompiler
from advisor.dialogue.plain_words import plain_phrases
from advisor.dialogue.text import Token, tokens_of
from advisor.dialogue.trie import NameTrie
from advisor.errors import InputError, KnowledgeError
from advisor.knowledge import KnowledgeBase
from advisor.knowledge.yaml_source import parse_document
from advisor.records import Fact
from advisor.units import parse_number

PRECISION_FACT = "weight_precision"
"""The fact whose words are the precisions; `{precision}` in the patterns of other facts means the same words."""
Place = tuple[str | int, ...]
"""Where in an entry something stands."""
_LANGUAGE = Path(__file__).with_name("language.yaml")


@dataclass(frozen=True, slots=True)
class Name:
    """What a recognised name stands for.

    kind: a slot type (`accelerator`, `rack`, `node`, `precision`, `concept`) or `value`; slug: of the entry, or the value;
    accelerator: slug of the system's accelerator; fact: of a `value`.
    """

    kind: str
    slug: str
    accelerator: str = ""
    fact: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """What a sentence asks for. intent: the coarse kind; patterns: any of them; the rest are conditions on the sentence."""

    name: str
    intent: str
    patterns: tuple[Pattern, ...]
    facts: str = ""
    accelerators: int = 0
    precisions: int = 0
    longest: int = 0
    without: frozenset[str] = frozenset()


class Lexicon:
    """The compiled vocabulary and grammar of one knowledge base. Raises KnowledgeError when a pattern cannot be read."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        language = load_language()
        self.numbers: Mapping[str, float] = language["numbers"]
        self.measured: Mapping[str, float] = language["measured_numbers"]
        self.measures = frozenset(language["measure_words"])
        self.multipliers: Mapping[str, str | float] = language["multipliers"]
        self.factors: Mapping[str, float] = {_spaced(w): f for w, f in language["factors"].items()}
        self.fold = frozenset(language["factor_words"])
        self.articles = frozenset(language["factor_articles"])
        self.pronouns = frozenset(language["factor_pronouns"])
        self.inverse: Mapping[str, str] = language["inverse"]
        self.scalable: dict[str, tuple[str, ...]] = {}
        for fact, words in language["scalable"].items():
            for word in words:
                self.scalable[_spaced(word)] = (*self.scalable.get(_spaced(word), ()), fact)
        self.kinds: Mapping[str, tuple[str, ...]] = {
            w: tuple(n) for w, n in language["kinds_of_fact"].items()
        }
        self.terms: dict[str, list[str]] = language["terms"]
        self._acts: list[dict[str, Any]] = language["acts"]
        self.negation = frozenset(tuple(t.text for t in tokens_of(word)) for word in self.terms["negation"])
        self.openings = frozenset(language["openings"])
        self.closings = frozenset(language["closings"])
        self.suffixes = frozenset(self.terms["accelerator suffix"])
        self.fillers = frozenset(self.terms["fill before"]) | frozenset(self.terms["fill after"])
        self.leads = frozenset(self.terms["fill before"]) | frozenset(language["number_leads"])
        self.negation_skip = frozenset(self.terms["negation skip"])
        facts = {fact.name: list(fact.words) for fact in kb.facts.values() if fact.words}
        self._compiler = PatternCompiler({**facts, **self.terms, "fact": self._fact_words()})
        self.marks = self._compiler.marks
        self.ordinary = frozenset(language["ordinary_words"])
        self.models = ModelNames(
            kb, self.ordinary, frozenset(language["no_names"]), frozenset(language["models_beside_hardware"])
        )

    def unmarked(self, word: str) -> str:
        """A word of a canonical line as it was written."""
        return word[1:] if self.marks.get(word[1:]) == word else word

    def _fact_words(self) -> list[str]:
        """Every word for a fact that can be said, and the plain words for kinds of them: what can be forgotten."""
        said = [fact for fact in self.kb.facts.values() if fact.scope == "requirement"]
        words = {word for fact in said for word in (fact.title.casefold(), *fact.words)}
        return sorted(word for word in words | set(self.kinds) if not any(c.isdigit() for c in word))

    @cached_property
    def names(self) -> NameTrie[Name]:
        """Accelerators, systems, precisions and choices written with digits."""
        trie: NameTrie[Name] = NameTrie()
        for words, name in self._names():
            for word in words:
                if word.casefold() not in self.ordinary:
                    trie.add(with_memory(tokens_of(word)), name)
        return trie

    @cached_property
    def concepts(self) -> NameTrie[Name]:
        """Concepts by title and alias."""
        trie: NameTrie[Name] = NameTrie()
        for concept in self.kb.concepts.values():
            for word in (concept.title, *concept.aliases, concept.slug):
                trie.add(tokens_of(word), Name("concept", concept.slug))
        return trie

    def _names(self) -> Iterable[tuple[Iterable[str], Name]]:
        accelerators = {a.id: a for a in self.kb.accelerators.values()}
        plain = NameTrie[str]()
        makers = {entry.vendor for entry in accelerators.values()}
        for entry in accelerators.values():
            words = [_without_first(word, makers) for word in (entry.slug, *entry.aliases)]
            for word in words:
                plain.add(tokens_of(word), entry.slug)
            yield words, Name("accelerator", entry.slug)
        for mention in self._mentions("accelerator"):
            yield (mention.value, *mention.words), Name("accelerator", mention.value)
        for system in self.kb.systems.values():
            owner = accelerators.get(system.accelerator)
            name = Name(system.kind_of_unit, system.slug, owner.slug if owner else "")
            words = [
                w for w in (system.slug, *system.aliases) if not _is_phrase(w, system.kind_of_unit, plain)
            ]
            yield words, name
        for fact in self.kb.facts.values():
            for choice in (*(fact.mentions if fact.type == "choice" else ()), *fact.choices):
                words = [word for word in (choice.value, *choice.words) if any(c.isdigit() for c in word)]
                if fact.name == PRECISION_FACT:
                    yield (choice.value, *choice.words), Name("precision", choice.value)
                else:
                    known = {t for t in words if self._is_precision(t)}
                    yield [w for w in words if w not in known], Name("value", choice.value, fact=fact.name)

    def _is_precision(self, word: str) -> bool:
        fact = self.kb.facts.get(PRECISION_FACT)
        choices = (*fact.choices, *fact.mentions) if isinstance(fact, Fact) else ()
        return any(word in (choice.value, *choice.words) for choice in choices)

    def _mentions(self, fact_name: str) -> Sequence[Any]:
        fact = self.kb.facts.get(fact_name)
        return fact.mentions if isinstance(fact, Fact) else ()

    def node_size(self, names: Sequence[Name]) -> int | None:
        """Accelerators in one node (or tray of a rack) of the accelerator named, if all systems with it agree."""
        slugs = {f"accelerators/{name.slug}" for name in names if name.kind == "accelerator"}
        systems = [system for system in self.kb.systems.values() if system.accelerator in slugs]
        sizes = {s.accelerators if s.kind_of_unit == "node" else s.accelerators_per_host for s in systems}
        return sizes.pop() if len(sizes) == 1 else None

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The phrases of all facts that can be said."""
        said = (fact for fact in self.kb.facts.values() if fact.scope == "requirement")
        return tuple(self._phrase(fact, text, value) for fact in said for _, text, value in _phrases(fact))

    def unreadable(self, facts: Iterable[Fact]) -> Iterator[tuple[str, Place, str]]:
        """Words and patterns that cannot be read: id of the fact, place in it, and why. Any of them stops the dialogue.

        facts: all of the knowledge base; where they are too much together, the last ones are.
        """
        with contextlib.suppress(KnowledgeError):  # a word that they cannot read is found below
            _ = self.acts  # compiled first: their patterns count too
        for fact in facts:
            if fact.scope != "requirement":
                continue
            for place, text, value in _phrases(fact):
                try:
                    self._phrase(fact, text, value)
                except KnowledgeError as error:
                    yield fact.id, place, _bare(str(error))
            for place, word in (
                (("title",), fact.title),
                *((("words", i), w) for i, w in enumerate(fact.words)),
            ):
                try:
                    if place[0] == "words" or not any(c.isdigit() for c in word):
                        self._compiler.entry(word.casefold() if place[0] == "title" else word, fact.name)
                except KnowledgeError as error:
                    yield fact.id, place, _bare(str(error))

    @cached_property
    def phrases(self) -> PatternIndex:
        """The patterns of the facts by their words."""
        return PatternIndex(self.patterns)

    @cached_property
    def asked(self) -> tuple[PatternIndex, Sequence[int]]:
        """The patterns of the acts by their words, and the place of the act of each."""
        owners = [place for place, act in enumerate(self.acts) for _ in act.patterns]
        return PatternIndex([pattern for act in self.acts for pattern in act.patterns]), owners

    def _phrase(self, fact: Fact, source: str, value: str | None) -> Pattern:
        """A compiled phrase. value: what a word means; None for a pattern, which may say so itself."""
        where = f"{fact.name}: pattern {source!r}"
        if value is not None:
            return self._compiler.compile(source, fact.name, value)
        phrase, _, value = source.partition(" => ")
        pattern = self._compiler.compile(phrase, fact.name, value.strip())
        if pattern.slots or pattern.dismissed:
            return pattern
        if fact.type in ("number", "integer"):
            try:
                return replace(pattern, value=f"{parse_number(pattern.value, what=where):.12g}")
            except InputError as error:
                raise KnowledgeError(str(error)) from error
        allowed = {
            "choice": [choice.value for choice in fact.choices],
            "flag": ["", "yes", "no", "true", "false"],
        }
        if pattern.value not in allowed.get(fact.type, [pattern.value]):
            known = ", ".join(filter(None, allowed[fact.type]))
            raise KnowledgeError(
                f"{where}: {pattern.value!r} is no value of the fact; write `=> ` and one of {known}"
            )
        return pattern

    def act(self, name: str) -> Act:
        """The first act of a name; KeyError when there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Act]:
        return {act.name: act for act in reversed(self.acts)}

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """What sentences ask for, in the order in which they are tried."""
        return tuple(
            Act(
                name=data["name"],
                intent=data["intent"],
                patterns=tuple(
                    self._compiler.compile(p, f"act {data['name']}") for p in data.get("patterns", ())
                ),
                facts=data.get("facts", ""),
                accelerators=data.get("accelerators", 0),
                precisions=data.get("precisions", 0),
                longest=data.get("longest", 0),
                without=frozenset(data.get("without", ())),
            )
            for data in self._acts
        )


def _phrases(fact: Fact) -> Iterator[tuple[Place, str, str | None]]:
    """What people may write for a fact: the place in it, the phrase, and its value where the place tells it."""
    for index, source in enumerate(fact.patterns):
        yield ("patterns", index), source, None
    for source in () if fact.patterns else plain_phrases(fact):
        yield ("words",), source, None
    for place, choice in enumerate(fact.choices if fact.name != PRECISION_FACT else ()):
        for index, word in enumerate(choice.words):
            if not any(c.isdigit() for c in word):
                yield ("choices", place, "words", index), word, choice.value


def _bare(message: str) -> str:
    """What is wrong, without the pattern that the place shows."""
    return re.sub(r"\A[a-z0-9_]+: (?:pattern (?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"): )?", "", message)


def _spaced(word: str) -> str:
    """A word or phrase as it stands in a canonical line."""
    return " ".join(token.text for token in tokens_of(word))


def _without_first(name: str, words: Set[str]) -> str:
    """A name without its maker: the maker is a fact of its own."""
    first, _, rest = name.partition(" ")
    return rest if rest and first.casefold() in words else name


def _is_phrase(word: str, unit: str, accelerators: NameTrie[str]) -> bool:
    """Whether a system's alias is what the grammar reads anyway: `8xH100`, `H100 node`, a bare accelerator."""
    tokens = tokens_of(word)
    if tokens and tokens[0].number is not None:
        return True
    hit = accelerators.longest(tokens, 0)
    return hit is not None and (unit == "node" or hit.end == len(tokens))


def with_memory(tokens: Sequence[Token]) -> list[Token]:
    """`80 GB`, `80GB` and `80G` as one token `80gb`; a G that belongs to a name (`A10G`) stays."""
    merged: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        named = (
            token.glued
            and place > 0
            and tokens[place - 1].text.isalpha()
            and tokens[place - 1].text not in ("x",)
        )
        if token.number is not None and token.suffix == "g" and not named:
            merged.append(Token(f"{token.number:g}gb", token.start, token.end, token.glued))
        elif (
            token.number is not None
            and not token.suffix
            and following is not None
            and following.text in _MEMORY_UNITS
            and not (
                place + 2 < len(tokens) and tokens[place + 2].glued and tokens[place + 2].number is not None
            )
        ):
            unit = _MEMORY_UNITS[following.text]
            merged.append(Token(f"{token.number:g}{unit}", token.start, following.end, token.glued))
            place += 1
        else:
            merged.append(token)
        place += 1
    return merged


_MEMORY_UNITS = {
    "gb": "gb",
    "gib": "gb",
    "gigs": "gb",
    "gig": "gb",
    "tb": "tb",
    "tib": "tb",
    "mb": "mb",
    "mib": "mb",
}


def load_language() -> dict[str, Any]:
    """The shipped grammar of everyday words. Raises KnowledgeError when the file is damaged."""
    document = parse_document(_LANGUAGE.read_text(encoding="utf-8"), str(_LANGUAGE))
    errors = [finding for finding in document.findings if finding.severity == "error"]
    if document.data is None or errors:
        raise KnowledgeError(errors[0].message if errors else "is empty", path=str(_LANGUAGE))
    return document.data


def lexicon_of(kb: KnowledgeBase) -> Lexicon:
    """The lexicon of a knowledge base, compiled at the first use."""
    found = kb.memo.get("dialogue.lexicon")
    if not isinstance(found, Lexicon):
        found = kb.memo["dialogue.lexicon"] = Lexicon(kb)
    return found
