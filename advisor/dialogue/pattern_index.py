"""Which patterns a line may hold at all, by its words: a handful of hundreds."""

from __future__ import annotations

from collections.abc import Sequence, Set

from advisor.dialogue.patterns import Pattern


class PatternIndex:
    """Patterns by a word that each needs, so that a line is tried against those alone that it may hold."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = patterns
        self._by_word: dict[str, list[int]] = {}
        self._always: list[int] = []
        for place, pattern in enumerate(patterns):
            if not pattern.needs:
                self._always.append(place)
                continue
            for word in min(pattern.needs, key=len):
                self._by_word.setdefault(word, []).append(place)

    def possible(self, words: Set[str]) -> list[Pattern]:
        """The patterns that need none but `words`, in order."""
        return [self.patterns[place] for place in self.places(words)]

    def places(self, words: Set[str]) -> list[int]:
        """Places of the patterns that need none but `words`, in order."""
        places = set(self._always)
        for word in words:
            places.update(self._by_word.get(word, ()))
        return [
            i for i in sorted(places) if all(not need.isdisjoint(words) for need in self.patterns[i].needs)
        ]
