"""What is wrong with the rule base: one problem, at one place of one entry."""

from __future__ import annotations

from dataclasses import dataclass

Where = tuple[str | int, ...]
"""Keys and positions that lead to a value inside an entry, as YAML spells them."""

PROBLEM_KINDS: dict[str, str] = {
    "unknown-fact": "a name that no fact has",
    "wrong-type": "a value that the fact can never have",
    "wrong-unit": "a quantity in another unit than the fact's",
    "out-of-range": "a number beyond what the fact can be",
    "bad-effect": "an effect that does nothing where it stands",
    "never-fires": "a condition that nothing can satisfy",
    "subsumed": "a rule that adds nothing to another",
    "contradiction": "two rules that conclude opposites at one point, with nothing to choose between them",
    "unread-fact": "a fact that nothing reads",
    "unasked-question": "a question that is never asked",
    "cycle": "facts that settle each other in a circle",
    "gap": "an input for which no rule concludes a verdict",
}
"""Kind of problem -> what it means."""


@dataclass(frozen=True, kw_only=True)
class RuleProblem:
    """One problem of the rule base.

    kind: a key of PROBLEM_KINDS. where: the place inside the entry. message: what is wrong. fix: what would be right.
    example: a concrete point of the input space, in words, where the problem is about a region.
    """

    kind: str
    entry_id: str
    where: Where
    message: str
    fix: str = ""
    example: str = ""
