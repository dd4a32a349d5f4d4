"""Names of models that nothing is known about: another version, variant or size of a family, or a new name with a size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

from advisor.dialogue.nameparts import (
    BRACKETS,
    QUALIFIERS,
    VARIANTS,
    Named,
    Part,
    billions,
    is_size,
    skip_qualifiers,
)
from advisor.dialogue.trie import SEPARATORS

_VERSION = re.compile(r"[0-9]{1,2}(\.[0-9]{1,2})?")
_CODE = re.compile(r"[kmrv][0-9]{1,2}(\.[0-9])?")
_ATTACHED_CODE = re.compile(r"(?![aqwx])[a-z][0-9]{1,2}(\.[0-9])?")
_ACTIVE = re.compile(r"a[0-9.]+b")
_AFTER_NAME = frozenset({"", "?", "!", ",", ".", ";", ")", "on", "with", "in", "at", "for", "to", "vs", "or", "and", "using", "via"})  # fmt: skip
_JOINS = frozenset({"-", "_"})
_SHORTEST = 3
_NEAR = 0.06
"""Sizes that differ by less are the same one rounded or counted another way: GLM-4.5 has 355 or 358 billion."""
_SWALLOWED = 0.25
_MOST_PARTS = 12
_MOST_BETWEEN = 2
_LONG_WORD = 5


def goes_on(
    parts: Sequence[Part], end: int, seen: Set[str], known: Sequence[Named], *, ordinary: bool = False
) -> tuple[tuple[str, ...], int] | None:
    """What makes a name another model than all `known` ones, which fit the parts `seen`, and the place after it.

    A version or a variant that none has, or a size that none is near. `ordinary`: the name is an everyday word.
    """
    if any(is_size(part) for part in seen):
        return None
    versioned = any(_is_version(part) for part in seen)
    extra: list[str] = []
    while (place := _following(parts, end)) < len(parts) and len(extra) < _MOST_PARTS:
        text = parts[place].text
        joined = all(part.glued for part in parts[end : place + 1])
        if is_size(text):
            if extra or contradicts(text, seen, known):
                extra.append(text)
                end = place + 1
                active = _following(parts, end)
                if active < len(parts) and _ACTIVE.fullmatch(parts[active].text):
                    extra.append(parts[active].text)
                    end = active + 1
            break
        attached = joined and _ATTACHED_CODE.fullmatch(text) is not None
        versions = _is_version(text) and (joined or _says_version(parts, place, ordinary))
        if not versioned and (attached or versions):
            versioned = True
        elif not _continues(text, extra, joined) and not (
            _may_name(text, extra) and _size_ahead(parts, place + 1)
        ):
            break
        extra.append(text)
        end = place + 1
    return (tuple(extra), skip_qualifiers(parts, end)) if extra else None


def near_size(size: str, pool: Iterable[Named]) -> set[str]:
    """The models of nearly this size, as somebody else counts it."""
    wanted = billions(size)
    return {
        model.slug
        for model in pool
        if any(abs(billions(own) - wanted) <= _NEAR * wanted for own in model.parts if is_size(own))
    }


def contradicts(size: str, seen: Set[str], pool: Iterable[Named]) -> bool:
    """Whether a size after the parts `seen` says that none of the models is meant."""
    wanted = billions(size)
    for model in pool:
        sizes = [billions(own) for own in model.parts if is_size(own)]
        if not sizes and not seen >= set(model.own):
            continue
        named_by_size = any(is_size(part) for part in model.own)
        limit = _NEAR if named_by_size else _SWALLOWED
        if not sizes or f"a{size}" in model.parts or any(abs(s - wanted) <= limit * wanted for s in sizes):
            return False
    return True


def new_name(
    parts: Sequence[Part], place: int, families: Set[str], ordinary: Set[str]
) -> tuple[str, int] | None:
    """A name with a size in one piece that starts at `place`, such as `Smaug-72B`: its slug and the place after it."""
    first = parts[place]
    if place + 1 >= len(parts) or not parts[place + 1].glued:
        return None
    if (
        not (first.text[:1].isalpha() and len(first.text) >= _SHORTEST and first.text.isascii())
        or first.glued
    ):
        return None
    if first.text in ordinary or first.text in VARIANTS | QUALIFIERS:
        return None
    words: list[str] = []
    for index in range(place, min(len(parts), place + _MOST_PARTS)):
        part = parts[index]
        if (index > place and not part.glued) or part.text in families or part.text == "\0":
            return None
        if part.text in _JOINS:
            continue
        if not part.text[0].isalnum():
            return None
        words.append(part.text)
        if is_size(part.text) and index > place:
            end = index + 1
            if end + 1 < len(parts) and parts[end].text == "-" and _ACTIVE.fullmatch(parts[end + 1].text):
                words.append(parts[end + 1].text)
                end += 2
            return "-".join(words), skip_qualifiers(parts, end)
    return None


def _continues(text: str, extra: Sequence[str], joined: bool) -> bool:
    """Whether a word attached to a name is part of it: a variant, or any word once it is another name anyway."""
    return joined and (text in VARIANTS or (bool(extra) and text.isalpha() and text not in QUALIFIERS))


def _may_name(text: str, extra: Sequence[str]) -> bool:
    """Whether a word before a size can be part of a name; any long word can once the name is another one anyway."""
    return text in VARIANTS or (bool(extra) and text.isalpha() and len(text) >= _LONG_WORD)


def _is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None or _CODE.fullmatch(text) is not None


def _says_version(parts: Sequence[Part], place: int, ordinary: bool) -> bool:
    """Whether a number or code that stands by itself behind a name is a version of it: what follows counts nothing."""
    if _size_ahead(parts, place + 1):
        return True
    if ordinary:
        return False
    following = parts[place + 1].text if place + 1 < len(parts) else ""
    return not parts[place].plain_number or "." in parts[place].text or following in _AFTER_NAME


def _size_ahead(parts: Sequence[Part], place: int) -> bool:
    """Whether a size follows, with nothing but a version or a variant before it."""
    for _ in range(_MOST_BETWEEN + 1):
        place = _following(parts, place)
        if place >= len(parts):
            return False
        if is_size(parts[place].text):
            return True
        if parts[place].text not in VARIANTS and not _is_version(parts[place].text):
            return False
        place += 1
    return False


def _following(parts: Sequence[Part], place: int) -> int:
    while place < len(parts) and (parts[place].text in SEPARATORS or parts[place].text in BRACKETS):
        place += 1
    return place
