"""One rule considered, as a record; conditions, effects and values written for people."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import bound_number
from advisor.records import Condition, Effect, Fact, FactRef, Facts, FactValue, Rule, Scalar, TraceStep
from advisor.units import format_count, format_ms, format_ratio, format_tokens

_BRACED = re.compile(r"\{([a-z][a-z0-9_]{0,80})\}")


def trace_step(
    kb: KnowledgeBase,
    rule: Rule,
    subject: str,
    facts: Facts,
    fired: bool,
    concluded: Iterable[Effect],
    reads: Iterable[str],
) -> TraceStep:
    """The record of one rule in one run. reads: names of the facts its condition is about."""
    names = [name for name in reads if fired or name in facts]
    return TraceStep(
        rule=rule.id,
        subject=subject,
        fired=fired,
        reads={name: facts[name].value if name in facts else None for name in names},
        concluded=tuple(describe_effect(effect, rule.strength) for effect in concluded),
        reason=fill_text(kb, rule.reason, facts),
    )


def describe_effect(effect: Effect, strength: float = 1.0) -> str:
    """An effect in a few words: `favour node (+1)`, `assume kv_precision = fp8`, `forbid candidate`."""
    if effect.kind == "favour":
        return f"favour {effect.target} (+{format_count(strength)})"
    if effect.kind == "assume":
        value = f"the value of {effect.value.fact}" if isinstance(effect.value, FactRef) else effect.value
        return f"assume {effect.target} = {value}"
    return f"{effect.kind} {effect.target}"


def describe_condition(condition: Condition) -> str:
    """A condition as its author reads it: `tpot_ms at most 15`, groups in brackets."""
    if condition.fact is not None:
        comparison, right = condition.comparison
        if comparison in ("known", "stated"):
            return f"{condition.fact} {'' if right else 'not '}{comparison}"
        shown = right.fact if isinstance(right, FactRef) else ", ".join(map(_literal, _literals(right)))
        return f"{condition.fact} {comparison.replace('_', ' ')} {shown}"
    return _joined(condition, [describe_condition(part) for part in _parts(condition)])


def condition_in_words(kb: KnowledgeBase, condition: Condition, *, about: str = "") -> str:
    """A condition as its reader understands it: facts by title, values with units.

    About one fact, its title is left out: `at most 15 ms`.
    """
    if condition.fact is None:
        only = condition.none[0] if condition.none and len(condition.none) == 1 else None
        if only is not None and isinstance(only.is_, bool):
            return condition_in_words(kb, Condition(fact=only.fact, is_=not only.is_), about=about)
        return _joined(condition, [condition_in_words(kb, part, about=about) for part in _parts(condition)])
    name = condition.fact
    comparison, right = condition.comparison
    title = "" if name == about else (kb.facts[name].title if name in kb.facts else name) + " "
    if comparison in ("known", "stated"):
        return f"{title}{'' if right else 'not '}{comparison}"
    word = {
        "is": "is ",
        "in": "is ",
        "above": "more than ",
        "at_least": "at least ",
        "below": "less than ",
        "at_most": "at most ",
    }
    if isinstance(right, FactRef):
        other = kb.facts[right.fact].title if right.fact in kb.facts else right.fact
        shown = f"'{other}'"
    else:
        number = bound_number(right)
        literals = _literals(right) if number is None else (number,)
        shown = " or ".join(show_value(kb, name, literal) for literal in literals)
    if comparison in ("is", "in"):
        if not title:
            return shown
        if isinstance(right, bool):
            return f"{title.rstrip()}: {shown}"
    return f"{title}{word[comparison]}{shown}"


def _parts(condition: Condition) -> tuple[Condition, ...]:
    return condition.all or condition.any or condition.none or ()


def _joined(condition: Condition, texts: list[str]) -> str:
    if condition.none is not None:
        return f"not {texts[0]}" if len(texts) == 1 else f"neither {' nor '.join(texts)}"
    joined = (" and " if condition.all is not None else " or ").join(texts)
    return joined if len(texts) == 1 else f"({joined})"


def _literals(right: Any) -> tuple[Scalar, ...]:
    return right if isinstance(right, tuple) else (right,)


def _literal(value: Scalar) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def fill_text(kb: KnowledgeBase, text: str, facts: Facts) -> str:
    """A text with each `{fact_name}` replaced by the fact's value as people read it; unknown ones read `not known`."""
    if "{" not in text:
        return text
    pieces = list(_pieces(text))
    pieces[1::2] = [show_fact(kb, name, facts.get(name)) for name in pieces[1::2]]
    return "".join(pieces)


@lru_cache(maxsize=4096)
def _pieces(text: str) -> tuple[str, ...]:
    """Words and names of facts in turn, words first."""
    return tuple(_BRACED.split(text))


def named_facts(text: str) -> tuple[str, ...]:
    """Names in braces in a text, in order."""
    return tuple(match.group(1) for match in _BRACED.finditer(text))


def show_fact(kb: KnowledgeBase, name: str, fact: FactValue | None) -> str:
    """A fact's value as people read it, a range as `0.86× to 1.22×`."""
    if fact is None or (fact.value is None and fact.low is None and fact.high is None):
        return "not known"
    if fact.value is None:
        ends = [show_value(kb, name, end) for end in (fact.low, fact.high) if end is not None]
        return " to ".join(ends)
    return show_value(kb, name, fact.value)


def show_value(kb: KnowledgeBase, name: str, value: Scalar) -> str:
    """A value of the fact `name` with its unit, a choice by its label, an entry by its title."""
    spec = kb.facts.get(name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _show_text(kb, spec, value)
    unit = spec.unit if spec else ""
    if math.isnan(value):
        return "a range"
    if unit == "ms":
        return format_ms(value)
    if unit == "tokens":
        return f"{format_tokens(value)} tokens"
    if unit == "ratio":
        return format_ratio(value)
    if unit == "fraction":
        return f"{value * 100:.0f} %"
    if value == 1 and unit.endswith("s") and len(unit) > 2:
        unit = unit[:-1]
    return f"{format_count(value)} {'%' if unit == 'percent' else unit}".strip()


def _show_text(kb: KnowledgeBase, spec: Fact | None, value: str) -> str:
    if spec is not None:
        for choice in spec.choices:
            if choice.value == value:
                return choice.label or value
        if spec.type == "entry":
            entry = kb.entries.get(value) or kb.entries.get(f"{spec.entry_kind}/{value}")
            return entry.title if entry else value
    return value
