"""Changes by a factor: `double the users`, `half the context`, `3x the load`, `twice that`."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.dialogue.lexicon import Lexicon
from advisor.dialogue.line import Line
from advisor.dialogue.readings import Scaled

_AHEAD, _BEHIND = 6, 4
_LONGEST_WORD = 3


def scaled_of(lexicon: Lexicon, line: Line) -> Scaled | None:
    """The change by a factor that a sentence asks for, or None. Linear in the line."""
    words = [item.canon for item in line.items]
    for place in range(len(words)):
        found = _factor_at(lexicon, line, words, place)
        if found is None:
            continue
        factor, end, needs_target = found
        facts = _target(lexicon, words, range(end, min(len(words), end + _AHEAD)))
        facts = facts or _target(lexicon, words, range(place - 1, max(-1, place - 1 - _BEHIND), -1))
        while end < len(words) and words[end] in ("of", "the") and facts == ():
            end += 1
        following = words[end] if end < len(words) else ""
        if facts or (not needs_target and (not following.isalnum() or following in lexicon.pronouns)):
            inverse = bool(facts) and facts[0] in lexicon.inverse
            span = line.place(place, end)
            return Scaled(
                facts=tuple(fact for fact in facts if fact not in lexicon.inverse)
                or tuple(lexicon.inverse[fact] for fact in facts),
                factor=1 / factor if inverse else factor,
                span=span,
                text=line.source[span[0] : span[1]],
            )
    return None


def _factor_at(
    lexicon: Lexicon, line: Line, words: Sequence[str], place: int
) -> tuple[float, int, bool] | None:
    """The factor said at a place, the place after it, and whether only a thing named with it makes it one."""
    for end in (place + 2, place + 1):
        factor = lexicon.factors.get(" ".join(words[place:end])) if end <= len(words) else None
        if factor is not None:
            return factor, end, False
    following = words[place + 1 : place + 2]
    if words[place] == "#" and following and following[0] in lexicon.fold:
        token = line.tokens[line.items[place].first]
        number = token.value if token.number is not None else 0.0  # a typed # is no number
        after = words[place + 2 : place + 3]
        if number > 0 and after and (after[0] in lexicon.articles or after[0] in lexicon.pronouns):
            return number, place + 2, after[0] not in lexicon.pronouns
    return None


def _target(lexicon: Lexicon, words: Sequence[str], places: range) -> tuple[str, ...]:
    """The facts that a word within reach names; only articles and the like may stand between."""
    for place in places:
        for length in range(_LONGEST_WORD, 0, -1):
            start = place if places.step > 0 else place - length + 1
            facts = lexicon.scalable.get(" ".join(words[max(0, start) : start + length]))
            if facts:
                return facts
        if words[place] not in lexicon.articles and words[place] not in lexicon.pronouns:
            return ()
    return ()
