"""From what was said to a whole requirement: names resolved, values checked, defaults and derived facts filled in."""

from __future__ import annotations

import math
from collections.abc import Mapping

from advisor.errors import InputError
from advisor.evidence.held import audited_output_tokens
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.engine import RuleRun, run_rules
from advisor.records import Fact, Facts, FactValue, Model, Scalar, Scenario
from advisor.sizing.benchmark_load import prompt_tokens
from advisor.units import shown

PRICE = "price_usd_per_gpu_hour"
PRICE_PREFIX = "price:"
"""A said price of one system travels as the fact `price:<system id>`, in USD per accelerator-hour; it may be what PRICE may be."""


_LARGEST = 1e300
"""Beyond it, products overflow."""


def check_value(kb: KnowledgeBase, name: str, value: Scalar, *, what: str = "") -> Scalar:
    """The value of a fact as the engine uses it: ids for entries, whole numbers for integers, known choices.

    `what` names the place for the message (a flag). Raises InputError that says what would be right.
    """
    label = what or name
    fact = kb.facts.get(name)
    if fact is None:
        near = ", ".join(kb.facts[n].name for n in kb.facts if n[:4] == name[:4]) or ", ".join(
            sorted(kb.facts)[:8]
        )
        raise InputError(f"{label}: no fact {shown(name)}; such as {near}")
    if fact.type == "entry":
        return kb.find(fact.entry_kind, str(value)).id
    if fact.type in ("number", "integer"):
        return _number(fact, value, label)
    if fact.type == "flag":
        if isinstance(value, bool):
            return value
        word = str(value).strip().casefold()
        if word in ("true", "yes", "on", "1"):
            return True
        if word in ("false", "no", "off", "0"):
            return False
        raise InputError(f"{label}: {shown(str(value))} is not yes or no")
    if fact.type == "choice":
        return _choice(fact, str(value), label)
    return str(value)


def span_of(fact: Fact) -> str:
    """The numbers that a fact can be, in words: `1 to 1e+09 requests`."""
    low, high = fact.minimum, fact.maximum
    span = f"{low or 0:g} to {high:g}" if high is not None else "any" if low is None else f"from {low:g}"
    return f"{span} {fact.unit}".rstrip()


def _number(fact: Fact, value: Scalar, label: str) -> Scalar:
    if isinstance(value, bool) or not isinstance(value, int | float):
        from advisor.units import parse_number, parse_tokens

        value = (
            parse_tokens(str(value), what=label)
            if fact.unit == "tokens"
            else parse_number(str(value), what=label)
        )
    low, high, span = fact.minimum, fact.maximum, span_of(fact)
    if not -_LARGEST <= value <= _LARGEST:  # NaN and infinity too
        raise InputError(f"{label}: not a number that can be computed with; give {span}")
    if (low is not None and value < low) or (high is not None and value > high):
        raise InputError(f"{label}: {value:g} is out of range; give {span}")
    if fact.type == "integer":
        if value != math.floor(value):
            raise InputError(f"{label}: {value:g} is not a whole number; give {span}")
        return int(value)
    return float(value)


def _choice(fact: Fact, value: str, label: str) -> str:
    word = value.strip().casefold()
    for choice in fact.choices:
        if word == choice.value.casefold() or word in (w.casefold() for w in choice.words):
            return choice.value
    raise InputError(
        f"{label}: {shown(value)} is not known; one of {', '.join(c.value for c in fact.choices)}"
    )


def said(kb: KnowledgeBase, values: Mapping[str, Scalar], *, where: Mapping[str, str] | None = None) -> Facts:
    """Facts as the user said them, checked. `where` names the place of each for messages.

    Raises InputError for a value that cannot be used.
    """
    places = where or {}
    return {
        name: FactValue(
            value=check_value(kb, name, value, what=places.get(name, "")),
            origin="said",
            because=places.get(name, ""),
        )
        for name, value in values.items()
    }


def complete(kb: KnowledgeBase, facts: Facts) -> RuleRun:
    """The run of the requirement rules over what was said: `.facts` is the whole requirement, defaults included.

    Said facts win over all. Raises InputError when no model is given.
    """
    whole: Facts = dict(facts)
    model = _model(kb, whole)
    whole |= model_facts(model)
    run = run_rules(kb, whole, scope="requirement")
    _settle_lengths(kb, run.facts, model)
    return run


def _model(kb: KnowledgeBase, facts: Facts) -> Model:
    stated = facts.get("model")
    if stated is None or stated.value is None:
        raise InputError(
            "which model? give --model with a name such as llama-3.1-405b, or --config with a config.json"
        )
    entry = kb.entries.get(str(stated.value))
    if not isinstance(entry, Model):
        entry = kb.find("models", str(stated.value))
        facts["model"] = FactValue(value=entry.id, origin=stated.origin, because=stated.because)
    assert isinstance(entry, Model)
    return entry


def _settle_lengths(kb: KnowledgeBase, facts: Facts, model: Model) -> None:
    """Assumed lengths as close to the case as is known, and a context that holds them.

    Lengths: what a rule assumed, else of the model's audited runs where there are any. An assumed context is at most the model's own limit; without
    a stated context, stated lengths say how long a sequence gets. Raises InputError when stated values contradict.
    """
    audited = (
        ("input_tokens", prompt_tokens(kb, model.id), "about the mean prompt of this model's audited runs; only the longest is published"),
        ("output_tokens", audited_output_tokens(kb, model.id), "the mean output of this model's audited runs"),
    )  # fmt: skip
    for name, value, why in audited:
        if (
            value is not None
            and name in facts
            and facts[name].origin == "assumed"
            and facts[name].because not in kb.rules
        ):
            facts[name] = FactValue(value=value, origin="assumed", because=model.id, text=why)
    given, out = number(facts, "input_tokens") or 0.0, number(facts, "output_tokens") or 0.0
    context = facts.get("context_tokens")
    stated = [
        name for name in ("input_tokens", "output_tokens") if name in facts and facts[name].origin == "said"
    ]
    if context is not None and context.origin == "said" and stated:
        least = sum(number(facts, name) or 0.0 for name in stated)
        if least > (number(facts, "context_tokens") or 0.0):
            raise InputError(
                f"context: {context.value:,} tokens do not hold the {least:,.0f} of input and output; give at least {least:,.0f}"
            )
    elif stated:
        facts["context_tokens"] = FactValue(
            value=int(given + out), origin="derived", because="input_tokens + output_tokens"
        )
    elif (
        context is not None
        and context.origin != "said"
        and (number(facts, "context_tokens") or 0) > model.context_limit.number
    ):
        facts["context_tokens"] = FactValue(
            value=int(model.context_limit.number),
            origin="assumed",
            because=model.id,
            text="the model's own limit",
        )
    if given + out > 0:
        facts["prefill_share"] = FactValue(
            value=given / (given + out),
            origin="computed",
            because="input_tokens / (input_tokens + output_tokens)",
        )


def model_facts(model: Model) -> Facts:
    """What rules may ask about a model: size in billions, MoE, attention kind, context limit in tokens."""
    total = model.parameters_total.number
    active = model.parameters_active.number if model.parameters_active else total
    kinds = {group.kind for group in model.architecture.attention}
    if "mla" in kinds:
        attention = "mla"
    elif kinds & {"sliding", "chunked", "linear", "mamba"}:
        attention = "hybrid"
    else:
        group = model.architecture.attention[0]
        attention = "gqa" if group.kv_heads < group.heads else "mha"
    limit = model.context_limit_scaled or model.context_limit
    released = model.checkpoints[0].precision if model.checkpoints else ""
    values: dict[str, Scalar] = {
        "model_parameters_b": round(total / 1e9, 3),
        "model_active_b": round(active / 1e9, 3),
        "model_is_moe": any(group.kind == "moe" for group in model.architecture.feed_forward),
        "attention_kind": attention,
        "context_limit_tokens": int(limit.number),
        "context_native_tokens": int(model.context_limit.number),
    }
    if released not in ("", "bf16", "fp16", "fp32"):
        values["model_native_precision"] = (
            released  # released quantised; a 16-bit release is usually quantised by others
        )
    return {
        name: FactValue(value=value, origin="computed", because=model.id) for name, value in values.items()
    }


def number(facts: Mapping[str, FactValue], name: str) -> float | None:
    """The value of a numeric fact, or None."""
    fact = facts.get(name)
    if fact is None or fact.value is None or isinstance(fact.value, str):
        return None
    return float(fact.value)


def text(facts: Mapping[str, FactValue], name: str) -> str:
    """The value of a text, choice or entry fact, or an empty string."""
    fact = facts.get(name)
    return str(fact.value) if fact is not None and fact.value is not None else ""


def rated_scenarios(facts: Mapping[str, FactValue]) -> tuple[Scenario, ...]:
    """Scenarios whose audited results a rate may rest on: the asked one, or under a stated limit per token those with limits."""
    limited: tuple[Scenario, ...] = ("server", "interactive")
    limit = facts.get("tpot_ms")
    if text(facts, "workload") != "offline" and limit is not None and limit.origin == "said":
        return limited
    return tuple(s for s in (*limited, "offline") if s == text(facts, "workload"))
