"""From a sentence to facts and an intent. No language model: names, phrases and word lists from the knowledge base."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from advisor.dialogue.acts import act_of
from advisor.dialogue.answers import read_answer
from advisor.dialogue.lexicon import PRECISION_FACT, Act, Lexicon, Name, lexicon_of
from advisor.dialogue.line import Line, read_line
from advisor.dialogue.matching import Filled, Found, facts_of, find_phrases, is_excluded
from advisor.dialogue.readings import Ambiguous, Ignored, Reading, Span, Understood, Why
from advisor.dialogue.scaling import scaled_of
from advisor.dialogue.text import MAX_CHARACTERS
from advisor.dialogue.values import Quantity
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Fact, Scalar

_RATE = "throughput_tokens_per_s"
_SPEED = "tpot_ms"
_SUMMED = frozenset({"total", "aggregate", "all", "overall"})
_SLOWEST, _SLOW, _FAST, _FASTEST_STREAM = 2.0, 5.0, 250.0, 400.0
"""Tokens/s: nobody asks for less than the first per user, hardly for less than the second; streams seldom exceed the third,
and none the last."""
_HARDWARE = ("A", "R", "B")
_SIGNED = frozenset("$€£=:(")
"""What may stand right before a minus that belongs to its number."""


def understand(kb: KnowledgeBase, text: str, *, expecting: str | None = None) -> Understood:
    """The facts and the intent of a sentence. `expecting` names the fact that was just asked for.

    Never raises for any text; time is linear in its first 4,000 characters, the rest is reported as cut.
    """
    lexicon = lexicon_of(kb)
    line = read_line(lexicon, text)
    reader = _Reader(lexicon, line)
    fact = kb.facts.get(expecting) if expecting else None
    answer = read_answer(lexicon, line, fact) if fact else None
    reader.read_names()
    reader.read_phrases(find_phrases(lexicon, line))
    if fact is not None and answer is not None and not _of_another_unit(kb, reader.facts, fact):
        reader = _Reader(lexicon, line)
        reader.take_answer(fact.name, answer)
    act, concepts = act_of(lexicon, line, reader.facts)
    scaled = scaled_of(lexicon, line) if _may_scale(act, line, reader.facts) else None
    if scaled is not None and not set(scaled.facts) & set(reader.facts):
        act = lexicon.act("what_if")
    else:
        scaled = None
    if act.intent == "why":
        reader.drop_observations()
    if act.intent in ("define", "why"):
        reader.drop_terms(alone=act.intent == "why")
    reader.read_rest()
    if len(text) > MAX_CHARACTERS:
        span = (MAX_CHARACTERS, len(text))
        reader.ignored.append(Ignored(text=text[span[0] : span[0] + 40] + "…", span=span, why="cut"))
    return Understood(
        intent=act.intent,
        act=act.name,
        facts=reader.facts,
        ambiguous=tuple(reader.ambiguous),
        ignored=tuple(reader.ignored),
        concepts=concepts,
        scaled=scaled,
    )


def _of_another_unit(kb: KnowledgeBase, facts: Mapping[str, Reading], asked: Fact) -> bool:
    """Whether a sentence names a figure that cannot be the number asked for: `15 ms per token` is no context length."""
    if asked.type not in ("number", "integer"):
        return False
    for name, reading in facts.items():
        other = kb.facts.get(name)
        if other is None or other.type not in ("number", "integer") or other.unit == asked.unit:
            continue
        if asked.unit == "ms" and other.unit == "tok/s":  # a reader's rate says the time per token
            continue
        if sum(c.isalpha() for c in reading.text) > 1:  # a unit or a word, not a bare `8k`
            return True
    return False


def _may_scale(act: Act, line: Line, facts: Mapping[str, Reading]) -> bool:
    """Whether a sentence can ask for a change by a factor: a what-if, or nothing else in particular."""
    asked = act.intent == "what_if" or act.name in ("say", "unknown", "thanks")
    return "model" not in facts and (asked or (act.name == "size" and "if" in line.words))


class _Reader:
    """Collects the facts of one line."""

    def __init__(self, lexicon: Lexicon, line: Line) -> None:
        self.lexicon = lexicon
        self.line = line
        self.facts: dict[str, Reading] = {}
        self.ambiguous: list[Ambiguous] = []
        self.ignored: list[Ignored] = []
        self._used: set[int] = set()
        self._shared: tuple[str, ...] = ()
        self._vague: list[tuple[str, tuple[str, ...], range]] = []
        self._absurd: list[tuple[str, range]] = []

    def _span(self, items: range) -> Span:
        return self.line.place(items.start, items.stop)

    def _text(self, span: Span) -> str:
        return self.line.source[span[0] : span[1]]

    def _ignore(self, items: range, why: Why, fact: str = "", value: str = "") -> None:
        span = self._span(items)
        self.ignored.append(Ignored(text=self._text(span), span=span, why=why, fact=fact, value=value))
        self._used.update(items)

    def read_names(self) -> None:
        """Models, accelerators and systems; several of a kind make a list."""
        for index, item in enumerate(self.line.items):
            here = range(index, index + 1)
            if item.mention is None and item.canon not in (*_HARDWARE, "V"):
                continue
            excluded = is_excluded(self.lexicon, self.line, index)
            if item.mention is not None:
                slugs = item.mention.slugs
                if excluded:
                    self._ignore(here, "excluded", "model", slugs[0])
                    continue
                if not item.mention.certain:
                    span = self._span(here)
                    self.ambiguous.append(
                        Ambiguous(fact="model", choices=slugs[:8], span=span, text=self._text(span))
                    )
                if item.mention.settled:
                    self._add("model", slugs[0], here, choices=() if item.mention.certain else slugs[:8])
                self._used.add(index)
                continue
            for fact, names in _by_fact(item.names).items():
                if excluded:
                    self._ignore(here, "excluded", fact, names[0])
                else:
                    self._add(fact, names[0], here)
                self._used.add(index)

    def _add(
        self,
        fact: str,
        value: Scalar,
        items: range,
        quantity: Quantity | None = None,
        choices: tuple[str, ...] = (),
    ) -> None:
        """Add a value to a fact that may have several."""
        span = self._span(items)
        known = self.facts.get(fact)
        if known is None:
            self.facts[fact] = Reading(
                values=(value,), span=span, text=self._text(span), choices=choices,
                low=quantity.low if quantity else None, high=quantity.high if quantity else None,
            )  # fmt: skip
        elif value not in known.values:
            self.facts[fact] = Reading(
                values=(*known.values, value), span=known.span, text=known.text, choices=known.choices
            )

    def read_phrases(self, phrases: Sequence[Found]) -> None:
        """Values of choices, flags and quantities; for a quantity the most specific phrase wins, then one in a piece, then the last."""
        quantities: dict[str, list[tuple[Found, Quantity]]] = {}
        for found in phrases:
            owner = found.pattern.owner
            if found.pattern.dismissed:
                self._ignore(found.items, "observed" if owner == _RATE else "aside", owner)
                continue
            self._used.update(found.items)
            if not found.filled:
                self._read_choice(found)
            for fill in found.filled:
                if fill.slot.type == "precision":
                    self._read_precision(found, fill)
            minus = self._minus(found)
            for fact, unsigned in self._quantities(found).items():
                quantity = unsigned if minus is None else Quantity(-unsigned.value)
                if found.excluded:
                    self._ignore(found.items, "excluded", fact, f"{quantity.value:g}")
                elif self._plausible(fact, quantity):
                    quantities.setdefault(fact, []).append((found, quantity))
                elif fact in self.lexicon.kb.facts:
                    start = found.items.start if minus is None else min(minus, found.items.start)
                    self._absurd.append((fact, range(start, found.items.stop)))
        self._read_vague()
        self._share_rate(quantities)
        for fact, all_of in quantities.items():
            if fact == "accelerator_count":
                self._read_counts(all_of)
                continue
            best = max((found.pattern.weight, not found.pattern.gapped) for found, _ in all_of)
            found, quantity = [
                pair for pair in all_of if (pair[0].pattern.weight, not pair[0].pattern.gapped) == best
            ][-1]
            for value in quantity.all or (quantity.value,):
                self._add(fact, self._number(fact, value), found.items, quantity)

    def _quantities(self, found: Found) -> dict[str, Quantity]:
        """Fact -> quantity of a phrase; machines count the accelerators in them, if one kind of machine has those."""
        quantities = facts_of(found)
        for fill in found.filled:
            if fill.slot.type == "nodes" and fill.quantity is not None:
                accelerators = [f.items.start for f in found.filled if f.slot.type == "accelerator"]
                size = (
                    self.lexicon.node_size(self.line.items[accelerators[0]].names) if accelerators else None
                )
                for fact in fill.slot.facts:
                    if size is None:
                        quantities.pop(fact)
                    else:
                        quantities[fact] = Quantity(fill.quantity.value * size)
        return quantities

    def _share_rate(self, quantities: dict[str, list[tuple[Found, Quantity]]]) -> None:
        """`100 users at 30 tok/s` is the rate of each user: in sum it would be slower than anybody asks for."""
        rates, users = quantities.get(_RATE, []), quantities.get("concurrency", [])
        if len(rates) != 1 or not users or _SPEED in quantities:
            return
        found, rate = rates[0]
        share = rate.value / max(quantity.value for _, quantity in users)
        near = self.line.items[found.items.start : found.items.stop + 2]
        summed = any(item.canon in _SUMMED for item in near)
        slow = share < _SLOWEST or (share < _SLOW and rate.value <= _FAST)
        if slow and not summed and rate.value <= _FASTEST_STREAM:
            del quantities[_RATE]
            quantities[_SPEED] = [(found, Quantity(1000 / rate.value))]
            self._shared = (_SPEED,)

    def _read_choice(self, found: Found) -> None:
        fact, value = found.pattern.owner, found.pattern.value
        kind = self.lexicon.kb.facts[fact].type
        if kind == "flag":
            self._add(fact, (value not in ("no", "false")) != found.excluded, found.items)
        elif found.excluded:
            self._ignore(found.items, "excluded", fact, value)
        elif fact == "vendor" and self._names_maker(found.items.stop, value):
            self._ignore(found.items, "aside", fact)
        elif kind in ("number", "integer"):
            self._add(fact, self._number(fact, float(value)), found.items)
        else:
            self._add(fact, value, found.items)

    def _names_maker(self, place: int, vendor: str) -> bool:
        """Whether a vendor is said with its accelerator at `place` while one of another vendor is named: that is no wish."""
        following = self.line.items[place : place + 1]
        if not following or following[0].canon not in _HARDWARE:
            return False
        reading = self.facts.get("accelerator")
        entries = [
            self.lexicon.kb.entries.get(f"accelerators/{slug}")
            for slug in (reading.values if reading else ())
        ]
        others = {entry.vendor for entry in entries if isinstance(entry, Accelerator)} - {vendor}
        return bool(others) and not any(item.canon in others for item in self.line.items)

    def _read_precision(self, found: Found, fill: Filled) -> None:
        names = self.line.items[fill.items.start].names
        values = tuple(dict.fromkeys(name.slug for name in names))
        for fact in fill.slot.facts:
            if found.excluded:
                self._ignore(found.items, "excluded", fact, values[0])
                continue
            if len(values) == 1:
                self._add(fact, values[0], fill.items)
            else:
                self._vague.append((fact, values, fill.items))

    def _read_vague(self) -> None:
        """`8-bit` means INT8 or FP8, unless the sentence also says which."""
        for fact, values, items in self._vague:
            known = self.facts.get(fact)
            if known is not None and set(known.values) & set(values):
                continue
            span = self._span(items)
            self.ambiguous.append(Ambiguous(fact=fact, choices=values, span=span, text=self._text(span)))
            self._add(fact, values[0], items, choices=values)

    def _read_counts(self, all_of: Sequence[tuple[Found, Quantity]]) -> None:
        """One number of accelerators. Several that go with different accelerators describe options, not one need."""
        best = max(found.pattern.weight for found, _ in all_of)
        by_accelerator: dict[str, float] = {}
        for found, quantity in all_of:
            slots = [fill for fill in found.filled if fill.slot.type == "accelerator"]
            name = self.line.items[slots[0].items.start].names[0].slug if slots else ""
            by_accelerator.setdefault(name, quantity.value)
        named = {name: value for name, value in by_accelerator.items() if name}
        if len(named) > 1 and (len(set(named.values())) > 1 or set(named.values()) == {1.0}):
            return
        found, quantity = next(pair for pair in all_of if pair[0].pattern.weight == best)
        for value in quantity.all or (quantity.value,):
            self._add("accelerator_count", self._number("accelerator_count", value), found.items, quantity)

    def _plausible(self, fact_name: str, quantity: Quantity) -> bool:
        fact = self.lexicon.kb.facts.get(fact_name)
        if fact is None:
            return False
        low = -math.inf if fact.minimum is None else fact.minimum
        high = math.inf if fact.maximum is None else fact.maximum
        return all(low <= value <= high for value in (quantity.value, *quantity.all))

    def _minus(self, found: Found) -> int | None:
        """The item that makes a number of the phrase negative: a minus, which at the begin of a line would make a list."""
        tokens, source = self.line.tokens, self.line.source
        for fill in found.filled:
            first = self.line.items[fill.items.start].first
            if fill.quantity is None or not first or tokens[first - 1].text != "-" or not tokens[first].glued:
                continue
            sign = tokens[first - 1]
            before = next((item for item in self.line.items if item.first <= first - 2 < item.last), None)
            begins = not source[: sign.start].rpartition("\n")[2].strip()
            if not begins and before is not None and (not sign.glued or before.canon in _SIGNED):
                return fill.items.start - 1 if before.canon[0] != "#" else None
        return None

    def _number(self, fact_name: str, value: float) -> Scalar:
        fact = self.lexicon.kb.facts[fact_name]
        if fact.type == "integer":
            return max(round(value), math.ceil(fact.minimum or 0))
        return float(f"{value:.6g}")

    def drop_observations(self) -> None:
        """In a question why, a rate is what somebody measured and no target."""
        for name in (_RATE, *self._shared):
            observed = self.facts.pop(name, None)
            if observed is not None:
                self.ignored.append(
                    Ignored(text=observed.text, span=observed.span, why="observed", fact=_RATE)
                )

    def drop_terms(self, *, alone: bool) -> None:
        """In a question about meanings, `offline` and `speculative` are terms and no wishes; in a why, if nothing else is said."""
        hard = {name for name in self.facts if self.lexicon.kb.facts[name].type not in ("choice", "flag")}
        kept = hard | ({PRECISION_FACT, "kv_precision"} if alone else set())
        if not alone or not hard:
            self.facts = {name: fact for name, fact in self.facts.items() if name in kept}

    def take_answer(self, fact_name: str, answer: Reading) -> None:
        """The whole line answers the question that was asked."""
        self.facts[fact_name] = answer
        self._used.update(range(len(self.line.items)))

    def read_rest(self) -> None:
        """Numbers beyond what their fact can be, and those that nothing explained, with the word after them."""
        for fact, items in self._absurd:
            if fact not in self.facts:
                self._ignore(items, "range", fact)
        for index, item in enumerate(self.line.items):
            huge = item.canon[0].isdigit() and item.names == () and item.mention is None
            if (huge or item.canon[0] == "#") and index not in self._used:
                following = self.line.items[index + 1 : index + 2]
                unit = bool(following) and following[0].canon.isalpha()
                self._ignore(range(index, index + 1 + unit), "unknown")


def _by_fact(names: Sequence[Name]) -> dict[str, list[str]]:
    """Fact -> values of a recognised name: a system also names its accelerator."""
    found: dict[str, list[str]] = {}
    accelerators = [name.slug for name in names if name.kind == "accelerator"]
    systems = [name for name in names if name.kind in ("rack", "node")]
    for slug in accelerators:
        found.setdefault("accelerator", []).append(slug)
    if systems and not accelerators:
        owners = list(dict.fromkeys(name.accelerator for name in systems if name.accelerator))
        if len(owners) == 1:
            found["accelerator"] = owners
        if len(systems) == 1:
            found["system"] = [systems[0].slug]
    for name in names:
        if name.kind == "value":
            found.setdefault(name.fact, []).append(name.slug)
    return found
