"""Rate per accelerator under an audited benchmark's conditions, from terms fitted to the audited results."""

from __future__ import annotations

from advisor.knowledge import KnowledgeBase
from advisor.records import Estimate, Scenario


def audited_rate_model(
    kb: KnowledgeBase,
    *,
    model: str,
    precision: str,
    scenario: Scenario,
    accelerator: str,
    unit: str | None = None,
) -> Estimate | None:
    """Tokens per second and accelerator in a scenario's usual conditions, or None where no fit covers the case."""
    return None
