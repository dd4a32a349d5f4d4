"""From what was read in a sentence to facts the engine can use, what to ask back, and what to say about the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from advisor.dialogue import phrases
from advisor.dialogue.readings import Reading, Understood
from advisor.errors import InputError, UnknownIdError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import PRICE, PRICE_PREFIX, check_value, span_of
from advisor.records import Fact, Facts, FactValue, Scalar

_HARDWARE = ("accelerator", "system")
_UNRESTRICTED = ("vendor", "cooling")
"""Choices that only take candidates out: naming all of them takes out none."""
_MOST_CHOICES = 6


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One fact whose value is not clear: ask with these choices.

    reason: what to say before the choices. hypothetical: the answer is for a what-if.
    """

    fact: str
    choices: tuple[str, ...]
    reason: str
    hypothetical: bool = False


@dataclass
class Stated:
    """Facts that are clear, questions to ask back, and notes about what was taken how."""

    facts: Facts = field(default_factory=dict)
    asks: list[Ask] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def say(self, name: str, value: Scalar, text: str = "") -> None:
        """Add a fact as said."""
        self.facts[name] = FactValue(value=value, origin="said", because="chat", text=text)


def stated(kb: KnowledgeBase, understood: Understood, said: Facts | None = None) -> Stated:
    """The requirement in an understood sentence, after what was `said` before.

    Never raises: what cannot be used becomes a note.
    """
    result = Stated()
    unclear = {item.fact: item for item in understood.ambiguous}
    for name, reading in understood.facts.items():
        if name in (*_HARDWARE, PRICE):
            continue
        item = unclear.pop(name, None)
        if item is not None and len(reading.values) == 1:
            result.asks.append(_ask(name, item.choices, item.text))
        elif name == "model":
            _model(kb, result, reading)
        else:
            _value(kb, result, name, reading)
    for name, item in unclear.items():
        if name not in understood.facts:
            result.asks.append(_ask(name, item.choices, item.text))
    for left in understood.ignored:
        if left.why == "range":
            result.notes.append(phrases.not_used(left.text, out_of_range(kb.facts[left.fact])))
    _hardware(kb, result, understood.facts.get("accelerator"), understood.facts.get("system"))
    if PRICE in understood.facts:
        _price(kb, result, understood.facts[PRICE], {**(said or {}), **result.facts})
    return result


def out_of_range(fact: Fact) -> str:
    """Why a number was not taken for a fact, and what would be."""
    return f"out of range for {fact.title.casefold()}; give {span_of(fact)}"


def _ask(name: str, choices: Iterable[str], text: str) -> Ask:
    options = tuple(dict.fromkeys(choices))[:_MOST_CHOICES]
    return Ask(fact=name, choices=options, reason=phrases.may_mean(text, len(options)))


def _model(kb: KnowledgeBase, result: Stated, reading: Reading) -> None:
    slugs = [str(value) for value in reading.values]
    if len(slugs) > 1:
        result.asks.append(Ask(fact="model", choices=tuple(slugs[:_MOST_CHOICES]), reason=phrases.ONE_MODEL))
        return
    slug = slugs[0]
    if f"models/{slug}" in kb.models:
        result.say("model", f"models/{slug}", reading.text)
        return
    try:
        entry = kb.find("models", slug)
    except UnknownIdError:
        near = tuple(i.partition("/")[2] for i in kb.nearest(slug, kind="models", limit=4))
        named = any(mention.value == slug for mention in kb.facts["model"].mentions)
        result.asks.append(Ask(fact="model", choices=near, reason=phrases.not_sized_model(slug, named)))
        return
    result.say("model", entry.id, reading.text)
    result.notes.append(phrases.sized_as(slug, entry.title))


def _value(kb: KnowledgeBase, result: Stated, name: str, reading: Reading) -> None:
    fact = kb.facts.get(name)
    if fact is None:
        return
    values = reading.values
    if len(values) > 1 and fact.type in ("number", "integer"):
        largest = max(float(value) for value in values)
        values = tuple(value for value in values if float(value) == largest)[:1]
        result.notes.append(
            phrases.took_largest(fact.title, [f"{value:g}" for value in map(float, reading.values)])
        )
    elif len(values) > 1 and name in _UNRESTRICTED:
        result.notes.append(phrases.unrestricted(fact.title, [str(value) for value in values]))
        return
    elif len(values) > 1:
        result.asks.append(
            Ask(fact=name, choices=tuple(str(value) for value in values), reason=phrases.ONE_VALUE)
        )
        return
    if reading.low is not None and reading.high is not None:
        result.notes.append(phrases.took_end(fact.title, reading.low, reading.high, values[0]))
    try:
        result.say(name, check_value(kb, name, values[0]), reading.text)
    except InputError as error:
        result.notes.append(phrases.not_used(reading.text, str(error)))


def _hardware(
    kb: KnowledgeBase, result: Stated, accelerators: Reading | None, systems: Reading | None
) -> None:
    """One accelerator restricts by accelerator, one system by system, several to all systems that have them."""
    wanted = [f"accelerators/{slug}" for slug in (accelerators.values if accelerators else ())]
    unknown = [name for name in wanted if not any(s.accelerator == name for s in kb.systems.values())]
    for name in unknown:
        entry = kb.entries.get(name)
        result.notes.append(
            phrases.no_system(entry.title if entry else name.partition("/")[2].upper(), entry is not None)
        )
    wanted = [name for name in wanted if name not in unknown]
    named = [f"systems/{slug}" for slug in (systems.values if systems else ())]
    if named and len(wanted) <= 1:
        result.say("system", ",".join(named), systems.text if systems else "")
    elif len(wanted) == 1 and accelerators:
        result.say("accelerator", wanted[0], accelerators.text)
    elif wanted:
        owned = [system.id for system in kb.systems.values() if system.accelerator in wanted]
        result.say("system", ",".join(owned), accelerators.text if accelerators else "")


def _price(kb: KnowledgeBase, result: Stated, reading: Reading, facts: Facts) -> None:
    """A price belongs to the systems of the hardware named with it or before."""
    systems = str(facts["system"].value).split(",") if "system" in facts else []
    if "accelerator" in facts:
        systems += [s.id for s in kb.systems.values() if s.accelerator == facts["accelerator"].value]
    if not systems or len(reading.values) > 1:
        result.notes.append(phrases.price_of_what(reading.text))
    for system in systems if len(reading.values) == 1 else ():
        result.say(PRICE_PREFIX + system, reading.values[0], reading.text)
