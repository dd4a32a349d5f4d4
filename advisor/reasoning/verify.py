"""The rule base checked as a whole: every name, value and unit, and every region of the input space it cuts out."""

from __future__ import annotations

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.problem import RuleProblem
from advisor.reasoning.verify_overlap import check_gotcha_regions, check_regions
from advisor.reasoning.verify_reach import check_reach
from advisor.reasoning.verify_types import check_types

_FATAL = ("unknown-fact", "wrong-type", "wrong-unit", "out-of-range", "bad-effect")
"""Problems that make questions about a rule's region pointless until they are mended."""


def verify_rules(kb: KnowledgeBase) -> tuple[RuleProblem, ...]:
    """Every problem of the rules, of the conditions of gotchas and of the facts, in order of entry and place."""
    problems = list(check_types(kb))
    unsound = {problem.entry_id for problem in problems if problem.kind in _FATAL}
    problems += check_regions(kb, [rule for rule in kb.rules.values() if rule.id not in unsound])
    problems += check_gotcha_regions(kb, unsound)
    problems += check_reach(kb)
    return tuple(sorted(problems, key=lambda p: (p.entry_id, [str(step) for step in p.where], p.kind)))
