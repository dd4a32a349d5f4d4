"""Candidates of the shipped knowledge base, sized for a requirement: DeepSeek-R1 in FP4 unless a test says otherwise."""

from __future__ import annotations

from typing import Any

from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import Sized, size_candidate
from advisor.reasoning.requirement import PRICE_PREFIX, complete, said
from advisor.records import Estimate, FactValue

R1 = {"model": "deepseek-r1", "weight_precision": "fp4"}


RACK = "gb300-nvl72"


def sized(kb: KnowledgeBase, system: str = RACK, price: float | None = None, **values: Any) -> Sized:
    facts = complete(kb, said(kb, {**R1, **values})).facts
    if price is not None:
        facts[f"{PRICE_PREFIX}systems/{system}"] = FactValue(value=price, origin="said")
    return size_candidate(kb, facts, kb.systems[f"systems/{system}"])


def rate(of: Sized) -> Estimate:
    assert of.rate is not None
    assert of.rate.estimate is not None
    return of.rate.estimate


def audited(kb: KnowledgeBase, scenario: str) -> Estimate:
    found = closest_rate(
        kb, model="models/deepseek-r1", precision="fp4", scenario=scenario, accelerator="accelerators/gb300", unit="rack", accelerators=72
    )  # fmt: skip
    assert found is not None
    return found
