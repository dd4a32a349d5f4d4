"""Full-text search over every entry: title, alias, id and body, forgiving typing errors; deterministic ranking."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

from advisor.knowledge.base import KnowledgeBase
from advisor.records import Entry, Evidence

_WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)*")
_TITLE, _ALIAS, _ID, _BODY = 8.0, 6.0, 4.0, 1.0
_KIND_WEIGHT = {"evidence": 0.5, "sources": 0.6, "facts": 0.8, "rules": 0.9, "calibration": 0.4}
_PROSE = ("summary", "body", "symptom", "root_cause", "workaround", "notes", "note", "reason", "question", "help", "formula",
          "family", "developer", "hf_id", "vendor", "submitter", "platform", "publisher", "name")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One result: score is relative within one search; excerpt is text around the first word found."""

    id: str
    title: str
    kind: str
    score: float
    excerpt: str


def words_of(text: str) -> list[str]:
    """Lower-case words and numbers of a text; `70B` and `v6.1` stay whole."""
    return _WORD.findall(text.casefold())


class _Index:
    """word -> {entry id: weight}, with weights by field and damped by repetition."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.postings: dict[str, dict[str, float]] = {}
        self.lengths: dict[str, int] = {}
        self.names: dict[str, list[set[str]]] = {}
        for entry in kb.entries.values():
            weights: dict[str, float] = {}
            self.names[entry.id] = [set(words_of(name)) for name in (entry.title, *entry.aliases)]
            self._add(weights, entry.title, _TITLE)
            for alias in entry.aliases:
                self._add(weights, alias, _ALIAS)
            self._add(weights, entry.id, _ID)
            body = Counter(words_of(body_text(entry)))
            self.lengths[entry.id] = sum(body.values())
            for word, count in body.items():
                weights[word] = weights.get(word, 0.0) + _BODY * (1 + math.log(count))
            for word, weight in weights.items():
                self.postings.setdefault(word, {})[entry.id] = weight
        self.words = list(self.postings)

    @staticmethod
    def _add(weights: dict[str, float], text: str, weight: float) -> None:
        for word in set(words_of(text)):
            weights[word] = max(weights.get(word, 0.0), weight)

    def whole_name(self, entry_id: str, matched: set[str]) -> float:
        """The largest share of a title or alias that the matched words make up: 1 when they are all of it."""
        return max((len(name & matched) / len(name) for name in self.names[entry_id] if name), default=0.0)

    def forms(self, word: str) -> dict[str, float]:
        """Indexed words that a typed word may mean, with a factor: itself, longer ones, near misspellings."""
        found = {word: 1.0} if word in self.postings else {}
        if len(word) >= 3:
            found |= {known: 0.6 for known in self.words if known.startswith(word) and known != word}
        if not found and len(word) >= 4:
            from rapidfuzz import fuzz, process

            hits = process.extract(word[:40], self.words, scorer=fuzz.ratio, limit=6, score_cutoff=74)
            found = {known: 0.5 * score / 100 for known, score, _ in hits}
        return found


def body_text(entry: Entry) -> str:
    """The prose of an entry, for the index and for excerpts."""
    parts = [
        str(getattr(entry, spec.name))
        for spec in fields(entry)
        if spec.name in _PROSE and getattr(entry, spec.name)
    ]
    if isinstance(entry, Evidence):
        parts += sorted({result.benchmark for result in entry.results})
    return " ".join(parts)


def search(kb: KnowledgeBase, text: str, *, limit: int = 20, kind: str = "") -> tuple[Hit, ...]:
    """Entries that match the words of `text`, best first.

    Entries with more of the words come first, and those whose title or alias is made up of them.
    `kind` restricts to one kind folder.
    """
    index: _Index = kb.memo.setdefault("search", None) or _Index(kb)
    kb.memo["search"] = index
    wanted = list(dict.fromkeys(words_of(text[:2000])))[:16]
    scores: dict[str, float] = {}
    matched: Counter[str] = Counter()
    words: dict[str, set[str]] = {}
    total = max(len(kb.entries), 1)
    for word in wanted:
        best: dict[str, float] = {}
        for form, factor in index.forms(word).items():
            postings = index.postings[form]
            rarity = math.log(1 + total / len(postings))
            for entry_id, weight in postings.items():
                damped = weight / (1 + 0.15 * math.log1p(index.lengths[entry_id] / 50))
                best[entry_id] = max(best.get(entry_id, 0.0), factor * rarity * damped)
                words.setdefault(entry_id, set()).add(form)
        for entry_id, score in best.items():
            scores[entry_id] = scores.get(entry_id, 0.0) + score
            matched[entry_id] += 1
    ranked: list[tuple[float, str]] = []
    for entry_id, score in scores.items():
        own_kind = entry_id.partition("/")[0]
        if kind in ("", own_kind):
            coverage = (matched[entry_id] / len(wanted)) ** 2
            named = 1 + index.whole_name(entry_id, words[entry_id])
            ranked.append((-score * coverage * named * _KIND_WEIGHT.get(own_kind, 1.0), entry_id))
    ranked.sort()
    return tuple(
        Hit(
            id=i,
            title=kb.entries[i].title,
            kind=kb.entries[i].kind,
            score=-s,
            excerpt=_excerpt(kb.entries[i], wanted),
        )
        for s, i in ranked[:limit]
    )


def _excerpt(entry: Entry, wanted: list[str], width: int = 110) -> str:
    text = " ".join(body_text(entry).split())
    folded = text.casefold()
    places = [place for place in (folded.find(word) for word in wanted) if place >= 0]
    start = max(0, min(places, default=0) - width // 3)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    cut = text[start : start + width]
    return ("…" if start else "") + cut + ("…" if start + width < len(text) else "")


def kind_folder(kinds: dict[str, Any], name: str) -> str | None:
    """The kind folder that a user means by `gotcha` or `gotchas`; None when there is none."""
    for folder in kinds:
        if name in (folder, folder.rstrip("s"), kinds[folder]):
            return folder
    return None
