"""Claims: every figure of a gotcha's prose recomputed from evidence at the precision it was written with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from difflib import get_close_matches
from fractions import Fraction
from typing import Literal

from advisor.evidence.expression import ExpressionError, evaluate, names_in
from advisor.evidence.figures import unqualified
from advisor.evidence.prose_figures import Written, needing_account, occurrences, written_numbers
from advisor.knowledge import KnowledgeBase
from advisor.records import Claim, Correction, Evidence, Gotcha, Latency, Result
from advisor.units import shown

__all__ = ["ClaimProblem", "check_claims", "evaluate", "resolve_input"]

_PROSE = ("symptom", "root_cause", "workaround", "notes")
_MUST_BE_COVERED = ("symptom", "root_cause", "notes")
_SOURCE_DIGITS = 6
_LARGEST = 10**18
"""Beyond this nothing is a rate, a count or a ratio, and floats soon end."""
_LATENCIES = {spec.name for spec in fields(Latency)}

Kind = Literal["mismatch", "absent", "no-number", "input", "expression", "uncovered"]


@dataclass(frozen=True, kw_only=True)
class ClaimProblem:
    """One thing wrong with a gotcha's figures.

    kind: mismatch (recomputes to something else), absent (text does not occur in the prose), no-number (nothing to
    compare), input (evidence that does not exist), expression (not arithmetic), uncovered (no claim accounts for it).
    where: path inside the entry; text: the figure; stated and computed: both values of a mismatch.
    """

    kind: Kind
    where: tuple[str | int, ...]
    text: str
    message: str
    fix: str = ""
    stated: str = ""
    computed: str = ""


class _InputMissingError(Exception):
    """An input that names nothing; the text says what and what there is. fix: what to write."""

    def __init__(
        self, message: str, fix: str = "name a value as <evidence id>#<benchmark>/<scenario>"
    ) -> None:
        super().__init__(message)
        self.fix = fix


def check_claims(kb: KnowledgeBase, gotcha: Gotcha) -> tuple[ClaimProblem, ...]:
    """Everything wrong with the claims, the corrections and the coverage of the figures of one gotcha."""
    problems: list[ClaimProblem] = []
    prose = {name: " ".join(getattr(gotcha, name).split()) for name in _PROSE}
    for index, claim in enumerate(gotcha.claims):
        problems += _check(kb, claim, claim.text, ("claims", index), prose)
    for index, correction in enumerate(gotcha.corrections):
        problems += _check(kb, correction, correction.corrected, ("corrections", index), prose)
    problems += _uncovered(gotcha, prose)
    return tuple(problems)


def resolve_input(kb: KnowledgeBase, reference: str) -> Fraction:
    """The exact value that a claim's input names. Raises ExpressionError that says what is missing."""
    try:
        return _resolve(kb, reference)
    except _InputMissingError as error:
        raise ExpressionError(str(error)) from None


def _check(
    kb: KnowledgeBase,
    claim: Claim | Correction,
    figure: str,
    where: tuple[str | int, ...],
    prose: dict[str, str],
) -> Iterator[ClaimProblem]:
    text = " ".join(claim.text.split())
    if not any(True for own in prose.values() for _ in occurrences(text, own)):
        yield ClaimProblem(
            kind="absent", where=(*where, "text"), text=text, message=f"{shown(text)} does not occur in the prose",
            fix="copy the figure from the prose, character by character",
        )  # fmt: skip
    if not claim.expression:
        return
    numbers = written_numbers(figure)
    expressions = [("expression", claim.expression)] + ([("upper", claim.upper)] if claim.upper else [])
    if len(numbers) < len(expressions):
        missing = "a range of two numbers" if claim.upper else "a number"
        yield ClaimProblem(kind="no-number", where=where, text=figure, message=f"{shown(figure)} does not hold {missing}",
                           fix="write the figure with its digits, or leave the expression out")  # fmt: skip
        return
    values: dict[str, Fraction] = {}
    for name, reference in claim.inputs.items():
        try:
            values[name] = _resolve(kb, reference)
        except _InputMissingError as error:
            yield ClaimProblem(
                kind="input", where=(*where, "inputs", name), text=text, message=str(error), fix=error.fix
            )
    if len(values) < len(claim.inputs):
        return
    unused = set(values)
    for (field, expression), number in zip(expressions, numbers, strict=False):
        try:
            computed = evaluate(expression, values)
            unused -= names_in(expression)
            if abs(computed) > _LARGEST:
                raise ExpressionError(f"comes to more than {_LARGEST:.0e}, which no figure here does")
        except ExpressionError as error:
            yield ClaimProblem(kind="expression", where=(*where, field), text=text, message=str(error))
            return
        if not number.agrees(computed, coarsest=_source_step(expression, values)):
            yield _mismatch(figure, number, computed, expression, (*where, field))
    if unused:
        yield ClaimProblem(kind="input", where=(*where, "inputs"), text=text,
                           message=f"input {', '.join(sorted(unused))} is not used", fix="use it or take it out")  # fmt: skip


def _source_step(expression: str, values: dict[str, Fraction]) -> Fraction:
    """The last place that the source has, for a figure that is one result as published; nothing for other figures.

    Summary files keep six significant digits, so the decimals that a log adds to 127911 cannot be checked.
    """
    value = values.get(expression.strip())
    if value is None or value.denominator != 1 or value < 10 ** (_SOURCE_DIGITS - 1):
        return Fraction(0)
    return Fraction(1)


def _mismatch(
    figure: str, number: Written, computed: Fraction, expression: str, where: tuple[str | int, ...]
) -> ClaimProblem:
    exact = f"{float(computed):,.6g}" if abs(computed) < 10**6 else f"{float(computed):,.2f}"
    rounded, stated = number.rounded(computed), number.rounded(number.value)
    return ClaimProblem(
        kind="mismatch",
        where=where,
        text=figure,
        message=f"{shown(figure)} recomputes to {exact}, at the precision written {rounded}, not {stated} ({shown(expression)})",
        fix=f"write {rounded}, or keep the figure as its author gave it and put {rounded} into corrections with the reason",
        stated=stated,
        computed=rounded,
    )


def _uncovered(gotcha: Gotcha, prose: dict[str, str]) -> Iterator[ClaimProblem]:
    items: tuple[Claim | Correction, ...] = (*gotcha.claims, *gotcha.corrections)
    accounted = [" ".join(item.text.split()) for item in items]
    for name in _MUST_BE_COVERED:
        own = prose[name]
        spans = [span for text in accounted for span in occurrences(text, own)]
        for start, end in needing_account(own):
            if not any(left <= start + _digits(own, start) < right for left, right in spans):
                figure = own[start:end]
                yield ClaimProblem(
                    kind="uncovered", where=(name,), text=figure, message=f"no claim accounts for {shown(figure)}",
                    fix="add a claim with its expression over evidence, or with the source it is quoted from",
                )  # fmt: skip


def _digits(prose: str, start: int) -> int:
    """Offset of the figure's first digit: a claim may leave the sign out."""
    return 0 if prose[start].isdigit() else 1


def _resolve(kb: KnowledgeBase, reference: str) -> Fraction:
    entry_id, mark, rest = reference.partition("#")
    entry = kb.evidence.get(entry_id)
    if entry is None:
        near = kb.nearest(entry_id, kind="evidence", limit=3)
        raise _InputMissingError(f"no evidence {shown(entry_id, 120)}; nearest: {', '.join(near) or 'none'}")
    run, _, field = rest.partition("@")
    if not mark or (not run and field not in ("accelerators", "nodes", "racks")):
        raise _InputMissingError(
            f"{shown(reference, 160)} names no value; write {entry_id}#<benchmark>/<scenario> or #@accelerators"
        )
    if not run:
        return Fraction(getattr(entry.scale, field))
    result = _result(entry, run)
    if not field:
        return Fraction(str(result.value))
    if field not in _LATENCIES:
        raise _InputMissingError(
            f"{shown(field)} is no latency field; there are {', '.join(sorted(_LATENCIES))}"
        )
    value = getattr(result.latency, field) if result.latency else None
    if value is None:
        raise _InputMissingError(f"{entry_id} has no {field} for {run}")
    return Fraction(str(value))


def _result(entry: Evidence, run: str) -> Result:
    benchmark, _, scenario = run.rpartition("/")
    plain = unqualified(benchmark)
    variant = benchmark.removeprefix(plain).removeprefix("-")
    fitting = [
        result
        for result in entry.results
        if result.benchmark == plain
        and result.scenario == scenario
        and (not variant or variant in result.accuracy_variants)
    ]
    if not fitting:
        have = list(dict.fromkeys(f"{r.benchmark}/{r.scenario}" for r in entry.results))
        message = f"{entry.id} has no result {shown(run)}; it has {', '.join(have)}"
        if near := get_close_matches(run, [*have, "@accelerators"], n=1, cutoff=0.9):
            raise _InputMissingError(message, f"did you mean #{near[0]}?")
        raise _InputMissingError(message)
    return max(fitting, key=lambda result: result.accuracy_variants[-1:])
