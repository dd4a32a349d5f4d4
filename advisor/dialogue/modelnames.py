"""Which model a phrase means: family, version, size and variant in any order, with typing errors and left-out parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from advisor.dialogue.nameparts import (
    BRACKETS,
    LOOSE_QUALIFIERS,
    QUALIFIERS,
    Named,
    Part,
    billions,
    is_size,
    joined_forms,
    matches_at,
    name_parts,
    named_models,
    parts_of,
    publishers,
    skip_qualifiers,
)
from advisor.dialogue.text import Token
from advisor.dialogue.trie import SEPARATORS
from advisor.dialogue.unfamiliar import contradicts, goes_on, near_size, new_name
from advisor.knowledge import KnowledgeBase

_COUNTED = frozenset({"x", "*", "gpu", "gpus", "card", "cards", "node", "nodes", "users", "user", "server", "servers", "nvidia", "amd", "times", "replicas", "instances", "concurrent", "张", "块", "台", "卡", "~", "tok", "tokens", "rps", "qps", "ms", "s"})  # fmt: skip
"""After a bare number, these say that it counts something and is no version of the model before it."""
_SHORTEST_TYPO = 4
_LEAST_BARE_SIZE = 7.0
"""A smaller number without a `b` is a version: Qwen4 is no Qwen of 4 billion."""
_LEAST_NAMED_BY_SIZE = 60.0
"""Billions of parameters; below, every size has models of many families and `an 8B model` means none of them."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A model mentioned: the slugs it may be, the likeliest first; parts: of its name as said.

    settled is False for a family name alone, which says nothing about which of its models is meant.
    """

    slugs: tuple[str, ...]
    start: int
    end: int
    parts: frozenset[str]
    settled: bool = True

    @property
    def certain(self) -> bool:
        """Whether only one model can be meant."""
        return len(self.slugs) == 1


class ModelNames:
    """The names of all models, ready to be found in sentences."""

    def __init__(
        self,
        kb: KnowledgeBase,
        ordinary: Set[str] = frozenset(),
        no_names: Set[str] = frozenset(),
        beside_hardware: Set[str] = frozenset(),
    ) -> None:
        self._ordinary = ordinary
        self._no_names = ordinary | no_names
        self._beside_hardware = beside_hardware
        self.models: dict[str, Named] = {}
        self._aliases: dict[str, dict[tuple[str, ...], list[str]]] = {}
        self._spoken: dict[str, frozenset[str]] = {}
        self._having: dict[str, set[str]] = {}
        for slug, names, sizes, released, sized in named_models(kb):
            self._add(slug, names, sizes, released, sized)
        self._publishers = publishers(kb)
        first = {model.own[0] for model in self.models.values() if model.own}
        self.families = {word for word in first if word.isalpha() and len(word) >= 3}
        self._typable = sorted(word for word in self.families if len(word) >= _SHORTEST_TYPO)
        self._known = set(self._having)

    def _add(self, slug: str, names: Iterable[str], sizes: Iterable[str], released: str, sized: bool) -> None:
        kept = QUALIFIERS & set(slug.split("-"))
        own = name_parts(slug, kept)
        if any("chat" in name.casefold() for name in names):
            self._spoken[slug] = LOOSE_QUALIFIERS | {"chat"}
        every: set[str] = set(sizes)
        for name in (slug, *names):
            parts = name_parts(name, kept)
            if not parts:
                continue
            every.update(parts)
            for form in {parts, *joined_forms(parts)}:
                ids = self._aliases.setdefault(form[0], {}).setdefault(form, [])
                if slug not in ids:
                    ids.append(slug)
        known = self.models.get(slug)
        if known is None:
            self.models[slug] = Named(slug, frozenset(every), own, released, sized)
        else:
            self.models[slug] = Named(slug, known.parts | every, own, known.released, known.sized)
        for part in every:
            self._having.setdefault(part, set()).add(slug)

    def find(self, tokens: Sequence[Token], blocked: Sequence[bool]) -> list[Mention]:
        """All mentions in a token stream, left to right; tokens marked blocked belong to other names."""
        parts = parts_of(tokens, blocked)
        mentions: list[Mention] = []
        place = 0
        floor = 0
        while place < len(parts):
            if jumped := self._publisher(parts, place):
                place = jumped
                continue
            found = self._at(parts, place, floor, mentions) or self._new(parts, place)
            if found is None:
                place += 1
                continue
            mention, place = found
            floor = place
            mentions.append(mention)
        return [mention for mention in _whole(mentions, parts) if not self._repeats(mention, mentions)]

    def _new(self, parts: list[Part], place: int) -> tuple[Mention, int] | None:
        """A name with a size that no entry has: it is named, so that nothing else is taken for it."""
        found = new_name(parts, place, self.families, self._no_names)
        if found is None:
            return None
        slug, end = found
        return Mention((slug,), parts[place].start, parts[end - 1].end, frozenset(slug.split("-"))), end

    def _publisher(self, parts: list[Part], place: int) -> int:
        """The place after `deepseek-ai/` and the like, which name who published a model; 0 when none stands here."""
        for form in self._publishers.get(parts[place].text, ()):
            end = matches_at(parts, place, form)
            if end is not None and end + 1 < len(parts) and parts[end].text == "/":
                return end + 1
        return 0

    def _repeats(self, mention: Mention, mentions: list[Mention]) -> bool:
        """Whether a size alone says the size of another model mentioned (`R1 … 671B`), or a family alone its family."""
        if not mention.certain and any(mention.parts < other.parts and other.settled for other in mentions):
            # less of a name, beside one of its models in full
            return True
        if len(mention.parts) != 1 or not all(is_size(part) for part in mention.parts):
            return False
        for other in mentions:
            known = self.models.get(other.slugs[0])
            whole = other.parts if known is None else known.parts
            if (
                other is not mention
                and other.settled
                and other.parts != mention.parts
                and mention.parts <= whole
            ):
                return True
        return False

    def _at(
        self, parts: list[Part], place: int, floor: int, before: list[Mention]
    ) -> tuple[Mention, int] | None:
        part = parts[place]
        word = part.text
        if before and is_size(word):
            inherited = self._inherited(before[-1], word)
            if inherited:
                said = frozenset({word, *(p for p in before[-1].parts if not is_size(p))})
                return Mention(inherited, part.start, part.end, said), place + 1
        alias = self._longest_alias(parts, place)
        if alias is not None and len(alias[0]) == 1 and is_size(word):
            return self._by_size(parts, place, alias[1])
        if alias is not None:
            matched, exact, end = alias
        elif word in self.families:
            matched, exact, end = (word,), (), place + 1
        else:
            corrected = self._corrected(word)
            if corrected is None:
                return None
            matched, exact, end = (corrected,), (), place + 1
        corrected_only = alias is None and word not in self.families
        pool = set.intersection(*(self._having.get(p, set()) for p in matched)) or set(exact)
        seen = set(matched)
        start = place
        end = self._extend_right(parts, end, pool, seen)
        start = self._extend_left(parts, start, floor, pool, seen)
        end = self._take_size(parts, end, pool, seen)
        everyday = word in self._ordinary
        other = goes_on(parts, end, seen, [self.models[slug] for slug in pool], ordinary=everyday)
        if other is not None and not (corrected_only and len(seen) < 2):
            slug = self._slug(
                [part.text for part in parts[start:end] if part.text in seen] or list(matched), other[0]
            )
            stop = other[1]
            return Mention(
                (slug,), parts[start].start, parts[stop - 1].end, frozenset((*seen, *other[0]))
            ), stop
        if corrected_only and len(seen) < 2:
            return None
        if len(seen) == 1 and everyday and not (word in self._beside_hardware and _hardware_in(parts)):
            return None
        ranked, settled = self._ranked(pool, seen, exact if seen == set(matched) else ())
        end = skip_qualifiers(parts, end, self._spoken.get(ranked[0], LOOSE_QUALIFIERS))
        return Mention(ranked, parts[start].start, parts[end - 1].end, frozenset(seen), settled), end

    def _by_size(self, parts: list[Part], place: int, usual: Sequence[str]) -> tuple[Mention, int] | None:
        """A size alone, such as `405B`: its usual meaning and the same size of that family; small sizes name nobody's model."""
        size = parts[place].text
        if billions(size) < _LEAST_NAMED_BY_SIZE:
            return None
        following = parts[place + 1].text if place + 1 < len(parts) else ""
        if following in self.families and self._having[size] & self._having.get(following, set()):
            # `70b llama 3.3`: the name takes the size in
            return None
        families = {self.models[slug].own[0] for slug in usual}
        pool = {slug for slug in self._having[size] if self.models[slug].own[0] in families}
        end = skip_qualifiers(parts, place + 1)
        before = parts[place - 1] if place else None
        versions = pool & self._having.get(before.text, set()) if before and "." in before.text else set()
        if before and versions:
            # `3.3 70b`: the version says which
            ranked = tuple(sorted(versions, key=self._newest_first))
            return Mention(ranked, before.start, parts[end - 1].end, frozenset({before.text, size})), end
        first = sorted(usual, key=self._newest_first)
        ranked = (*first, *sorted(pool - set(first), key=self._newest_first))
        return Mention(ranked, parts[place].start, parts[end - 1].end, frozenset({size})), end

    def _inherited(self, last: Mention, size: str) -> tuple[str, ...]:
        """Another size of the family and version mentioned before: `Llama 3.1 70B … and 405B`."""
        family = {part for part in last.parts if not is_size(part)}
        if not family:
            return ()
        pool = set.intersection(*(self._having.get(p, set()) for p in (*family, size)))
        pool = {slug for slug in pool if not last.certain or slug not in last.slugs}
        return self._ranked(pool, {*family, size}, ())[0] if pool else ()

    def _longest_alias(
        self, parts: list[Part], place: int
    ) -> tuple[tuple[str, ...], tuple[str, ...], int] | None:
        best: tuple[tuple[str, ...], tuple[str, ...], int] | None = None
        for form, ids in self._aliases.get(parts[place].text, {}).items():
            end = matches_at(parts, place, form)
            if end is not None and (best is None or len(form) > len(best[0])):
                best = (form, tuple(ids), end)
        return best

    def _corrected(self, word: str) -> str | None:
        """The family name a misspelt word is closest to, if it is close."""
        if len(word) < _SHORTEST_TYPO or not word.isalpha() or not word.isascii() or word in self._known:
            return None
        limit = 1 if len(word) < 7 else 2
        hit = process.extractOne(word, self._typable, scorer=OSA.distance, score_cutoff=limit)
        return hit[0] if hit and hit[0][0] == word[0] else None

    def _extend_right(self, parts: list[Part], end: int, pool: set[str], seen: set[str]) -> int:
        while True:
            place = end
            while place < len(parts) and (parts[place].text in SEPARATORS or parts[place].text in BRACKETS):
                place += 1
            jump = place
            while jump < len(parts) and parts[jump].text in QUALIFIERS and jump - place < 2:
                jump += 1
            taken = self._take(parts, place, pool, seen) or (
                self._take(parts, jump, pool, seen) if jump > place else 0
            )
            if not taken:
                return end
            end = taken

    def _take_size(self, parts: list[Part], end: int, pool: set[str], seen: set[str]) -> int:
        """Take a size behind the name that its models have nearly, or that says nothing against them."""
        place = end
        while place < len(parts) and (parts[place].text in SEPARATORS or parts[place].text in BRACKETS):
            place += 1
        if place >= len(parts) or not is_size(parts[place].text) or any(is_size(part) for part in seen):
            return end
        models = [self.models[slug] for slug in pool]
        near = near_size(parts[place].text, models)
        if not near and contradicts(parts[place].text, seen, models):
            return end
        if near:
            pool &= near | self._named_without_size(pool - near, seen, parts[place].text)
        seen.add(parts[place].text)
        return place + 1

    def _slug(self, words: Sequence[str], extra: Sequence[str]) -> str:
        """A new name the way those of its family are written: `qwen4-72b`, `olmo-3-32b`."""
        name = words[0]
        for word in (*words[1:], *extra):
            tight = name in self.families and word[0].isdigit() and not is_size(word)
            tight = tight and any(
                slug.startswith(name) and slug[len(name)].isdigit()
                for slug in self.models
                if len(slug) > len(name)
            )
            name += word if tight else f"-{word}"
        return name

    def _take(self, parts: list[Part], place: int, pool: set[str], seen: set[str]) -> int:
        """Take the part at `place` into the name if some model left has it; the place after it, or 0."""
        if place >= len(parts) or parts[place].text in seen:
            return place + 1 if place < len(parts) and is_size(parts[place].text) else 0
        part = parts[place]
        forms = [part.text]
        if part.plain_number and _counts_something(parts, place):
            return 0
        if (part.plain_number and float(part.text) >= _LEAST_BARE_SIZE) or (
            "x" in part.text and not is_size(part.text)
        ):
            forms.append(part.text + "b")
        for form in forms:
            left = pool & self._having.get(form, set())
            if left:
                pool &= left | self._named_without_size(pool - left, seen, form)
                seen.add(form)
                return place + 1
        return 0

    def _named_without_size(self, pool: set[str], seen: set[str], part: str) -> set[str]:
        """Models that are named in full already and whose size is not known, so that no size speaks against them."""
        if not is_size(part):
            return set()
        named = (self.models[slug] for slug in pool if seen.issuperset(self.models[slug].own))
        return {model.slug for model in named if not any(is_size(own) for own in model.parts)}

    def _extend_left(self, parts: list[Part], start: int, floor: int, pool: set[str], seen: set[str]) -> int:
        while start > floor:
            place = start - 1
            while place > floor and parts[place].text in SEPARATORS:
                place -= 1
            word = parts[place].text
            left = pool & self._having.get(word, set())
            if word in seen or not left or not (is_size(word) or (word.isalpha() and len(word) >= 3)):
                return start
            pool &= left
            seen.add(word)
            start = place
        return start

    def _ranked(self, pool: set[str], seen: set[str], exact: Sequence[str]) -> tuple[tuple[str, ...], bool]:
        """The models that fit best, newest first, and whether more than a bare family name was said."""

        def missing(slug: str) -> int:
            return sum(part not in seen for part in self.models[slug].own)

        first = set(exact) or pool
        fewest = min(missing(slug) for slug in first)
        best = sorted((slug for slug in first if missing(slug) == fewest), key=self._newest_first)
        # a nickname that leaves a part out has its usual meaning first, then what it may mean as well
        alone = seen <= self.families
        words = {part for part in seen if not is_size(part)}
        others = {slug for slug in pool - set(best) if words <= set(self.models[slug].own)}
        others = others if alone else {slug for slug in others if exact and missing(slug) <= fewest}
        return (*best, *sorted(others, key=self._newest_first)), bool(exact) or not (alone and others)

    def _newest_first(self, slug: str) -> tuple[bool, int, str]:
        model = self.models[slug]
        digits = "".join(c for c in model.released if c.isdigit())[:8].ljust(8, "0")
        return not model.sized, -int(digits), slug


def _whole(mentions: list[Mention], parts: list[Part]) -> list[Mention]:
    """Without the second of two names in one piece: `Hermes-3-Llama-3.1-405B` is one model."""
    glued = {part.start for part in parts if part.glued}
    ends = {part.end for part in parts if part.text == "-"}
    kept: list[Mention] = []
    for mention in mentions:
        last = kept[-1] if kept else None
        if (
            last is not None
            and last.settled
            and mention.start == last.end + 1
            and mention.start in glued
            and mention.start in ends
        ):
            kept[-1] = Mention(last.slugs, last.start, mention.end, last.parts | mention.parts, last.settled)
        else:
            kept.append(mention)
    return kept


def _hardware_in(parts: Sequence[Part]) -> bool:
    """Whether the sentence names hardware or a precision, so that it is about serving a model."""
    return any(part.text == "\0" for part in parts)


def _counts_something(parts: list[Part], place: int) -> bool:
    """Whether a bare number counts things (`llama 4 gpus`, `qwen 4-5 H100`) and is no part of a name."""
    if place + 1 >= len(parts):
        return False
    following = parts[place + 1]
    if following.text == "-" and place + 2 < len(parts):
        return parts[place + 2].plain_number
    return following.text in _COUNTED or (following.text == "\0" and "." not in parts[place].text)
