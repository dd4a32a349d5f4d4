"""Explanations in few lines, as a conversation shows them first: one line for each reason, systems by reason and count.

The whole of it, proof trees included, is `explanation_text.render`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.comparison import why_preferred
from advisor.reasoning.contrast import contrast
from advisor.reasoning.explanation_text import fact_line, parting_line
from advisor.reasoning.explanations import (
    CandidateChange,
    Contrast,
    Difference,
    Excluded,
    HowSure,
    WhatWouldChange,
)
from advisor.reasoning.proof import ABOVE, ProofBuilder
from advisor.reasoning.summary import cost_words
from advisor.reasoning.trace import show_fact
from advisor.records import Candidate, Recommendation
from advisor.units import format_count

_ASIDE = re.compile(r" \([^()]{0,80}\)")
_NAMED = 3
_PARTINGS = 5
_CHANGES = 4
_STEPS = 4
_HARDWARE = ("system", "accelerator", "vendor")


def excluded(kb: KnowledgeBase, candidates: Iterable[Candidate]) -> tuple[Excluded, ...]:
    """The systems that are out by the first reason that each is out for, the reason of most systems first."""
    by_reason: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if not candidate.feasible:
            reason = candidate.exclusions[0].constraint if candidate.exclusions else ""
            by_reason.setdefault(reason, []).append(candidate)
    groups = []
    for constraint, out in by_reason.items():
        rule = kb.rules.get(constraint)
        text = out[0].exclusions[0].text.rstrip(".") if out[0].exclusions else "No rate is known"
        groups.append(
            Excluded(
                reason=rule.title if rule is not None and len(out) > 1 else text,
                rule=constraint if rule is not None else "",
                titles=tuple(_short(candidate.title) for candidate in out),
            )
        )
    return tuple(sorted(groups, key=lambda group: -len(group.titles)))


def why(kb: KnowledgeBase, answer: Recommendation) -> str:
    """The verdict: the rules that decided with the facts they hold for, the arithmetic of the fleet, who is out."""
    builder = ProofBuilder(kb, answer)
    lines = [f"Verdict: {answer.verdict}", f"  {answer.headline}"]
    for rule_id in answer.decided_by:
        proof = builder.rule(rule_id)
        lines += [f"  because {proof.claim.partition(': ')[0]} [{rule_id}]", f"    {proof.detail}"]
        fresh = (part for part in proof.parts if part.kind == "fact" and part.detail != ABOVE)
        lines += [f"    {fact_line(part)}" for part in fresh]
    for system in _deciding(answer):
        candidate = _of(answer, system)
        if candidate is not None and candidate.arithmetic:
            lines += [f"  {candidate.title}:", *(f"    {step}" for step in candidate.arithmetic)]
    if answer.best_node and answer.best_rack and answer.comparison.chain:
        lines += ["  Rack against node:", *(f"    {step}" for step in answer.comparison.chain[:_STEPS])]
    for unit in ("node", "rack"):
        own = [candidate for candidate in answer.candidates if candidate.unit == unit]
        lines += [f"  {line}" for line in _out(kb, own, unit)]
    return "\n".join(lines)


def why_not(kb: KnowledgeBase, answer: Recommendation, target: str) -> str:
    """Why not `node`, `rack` or one system (its id); of what is recommended, that it is."""
    if "/" in target:
        return "\n".join(_system(kb, answer, target))
    if target == answer.verdict:
        return "\n".join([f"The verdict is {target} already:", *why(kb, answer).splitlines()[1:]])
    return "\n".join(_unit(kb, answer, target))


def _unit(kb: KnowledgeBase, answer: Recommendation, unit: str) -> Iterator[str]:
    own = [candidate for candidate in answer.candidates if candidate.unit == unit]
    if not own:
        yield f"Why not {unit}: no {unit} was considered"
        yield f"  {_restriction(kb, answer)}"
    elif not any(candidate.feasible for candidate in own):
        yield f"Why not {unit}: {'all ' if len(own) > 1 else ''}{len(own)} considered {_are(len(own))} out"
        yield from (f"  {line}" for line in _out(kb, own, ""))
    else:
        yield f"Why not {unit}: the verdict is {answer.verdict}"
        for system in (answer.best_node, answer.best_rack):
            candidate = _of(answer, system)
            if candidate is not None:
                yield f"  {candidate.title}: {_outcome(candidate)}"
        cost = cost_words(answer.comparison)
        if cost:
            yield f"  {cost}"
        yield from (f"  {line}" for line in _parted(kb, contrast(kb, answer, unit)))


def _system(kb: KnowledgeBase, answer: Recommendation, system: str) -> Iterator[str]:
    title = kb.entries[system].title if system in kb.entries else system
    candidate = _of(answer, system)
    if candidate is None:
        yield f"{title} was not considered"
        yield f"  {_restriction(kb, answer)}"
        return
    if not candidate.feasible:
        yield f"Why not {title}: it is out"
        for exclusion in candidate.exclusions:
            known = f" [{exclusion.constraint}]" if exclusion.constraint in kb.rules else ""
            passes = f" (would pass: {exclusion.nearest})" if exclusion.nearest else ""
            yield f"  {exclusion.text.rstrip('.')}{passes}{known}"
        if not candidate.exclusions:
            yield "  No rate is known for it."
        return
    best = answer.best_node if candidate.unit == "node" else answer.best_rack
    if system == best and candidate.unit == answer.verdict:
        yield f"{title} is what the answer recommends"
        yield from (f"  {step}" for step in candidate.arithmetic or (_outcome(candidate),))
    elif system == best:
        yield f"Why not {title}: it is the best {candidate.unit}; the verdict is {answer.verdict}"
        yield from list(_unit(kb, answer, candidate.unit))[1:]
    else:
        preferred = _of(answer, best)
        other = f" (the verdict is {answer.verdict})" if candidate.unit != answer.verdict else ""
        yield f"Why not {title}: it meets the requirement, and another {candidate.unit} is preferred{other}"
        for one in (candidate, preferred):
            if one is not None:
                yield f"  {one.title}: {_outcome(one)}"
        if preferred is not None and {system, preferred.system} <= kb.systems.keys():
            yield f"  because {why_preferred(kb, answer.requirement, preferred, candidate)}"


def sure(explained: HowSure) -> str:
    """The confidence and the reasons that lowered it."""
    lines = [f"Confidence: {explained.level}"]
    lines += [f"  not {item.level}: {item.proof.detail} [{item.proof.key}]" for item in explained.lowered]
    return "\n".join(lines if explained.lowered else [*lines, "  No rule lowers it."])


def difference(kb: KnowledgeBase, changed: Difference) -> str:
    """What a change does: verdict, fleets, the facts that differ, the systems that come in or go out, what decides."""
    before, after = changed.before, changed.after
    stays = before.verdict == after.verdict
    lines = [
        f"The verdict stays {before.verdict}."
        if stays
        else f"The verdict changes from {before.verdict} to {after.verdict}."
    ]
    lines += [f"  before: {before.headline}", f"  after: {after.headline}"]
    if before.confidence.level != after.confidence.level:
        lines.append(f"  Confidence: {before.confidence.level} → {after.confidence.level}")
    lines += [f"  {fact.title}: {fact.before} → {fact.after}" for fact in changed.facts]
    lines += [f"  {line}" for line in _moved(kb, changed)]
    for rule_id in after.decided_by if after.decided_by != before.decided_by else ():
        title = kb.rules[rule_id].title if rule_id in kb.rules else rule_id
        lines.append(f"  decided by: {title} [{rule_id}]")
    return "\n".join(lines)


def changes(kb: KnowledgeBase, answer: Recommendation, what: WhatWouldChange) -> str:
    """The nearest changes that turn the verdict, and where its rivals' proofs part from it."""
    head = "Nearest changes that turn the verdict:"
    lines = [head if what.flips else "No change of a single input that was tried turns the verdict."]
    lines += [
        f"  {flip.text or f'{flip.fact} {flip.from_} → {flip.to}: {flip.verdict}'}" for flip in what.flips
    ]
    for rival in what.contrasts:
        own = [candidate for candidate in answer.candidates if candidate.unit == rival.rival]
        lines.append(f"Where {rival.chosen} and {rival.rival} part:")
        feasible = any(candidate.feasible for candidate in own)
        lines += [f"  {line}" for line in (_parted(kb, rival) if feasible else _out(kb, own, rival.rival))]
        if not own:
            lines.append(f"  No {rival.rival} was considered. {_restriction(kb, answer)}")
    return "\n".join(lines)


def _out(kb: KnowledgeBase, candidates: Sequence[Candidate], unit: str) -> Iterator[str]:
    """One line for each reason, under a line with the count when `unit` names what the candidates are."""
    groups = excluded(kb, candidates)
    out = sum(len(group.titles) for group in groups)
    if unit and out:
        yield f"{out} of {len(candidates)} {unit}s considered {_are(out)} out:"
    for group in groups:
        rule = f" [{group.rule}]" if group.rule else ""
        yield f"{'  ' if unit else ''}{len(group.titles)}: {group.reason} ({_few(group.titles)}){rule}"


def _parted(kb: KnowledgeBase, parted: Contrast) -> Iterator[str]:
    """Why a feasible rival lost: the weights where both were spoken for, and what its nearest rules lack."""
    if parted.weights and parted.rival in parted.weights:
        sums = ", ".join(f"{side} {format_count(weight)}" for side, weight in sorted(parted.weights.items()))
        yield f"Both were spoken for; the weights add up to {sums}."
    for proof in parted.spoke_for_rival:
        yield f"for {parted.rival}: {proof.claim.partition(': ')[0]} [{proof.key}]"
    # that the winner meets the requirement explains nothing where both do
    told = [parting for parting in parted.partings if not parting.fact.endswith("_feasible")]
    yield from (parting_line(kb, parting, parted.rival) for parting in told[:_PARTINGS])
    if not parted.partings and parted.rival not in parted.weights:
        yield f"No rule concludes {parted.rival}."


def _moved(kb: KnowledgeBase, changed: Difference) -> Iterator[str]:
    """The systems that go out by reason, and those that come in or change their fleet, the best of either answer first."""
    news = {candidate.system: candidate for candidate in changed.after.candidates}
    olds = {candidate.system: candidate for candidate in changed.before.candidates}
    gone = [
        news[system]
        for system, old in olds.items()
        if old.feasible and system in news and not news[system].feasible
    ]
    for group in excluded(kb, gone):
        rule = f" [{group.rule}]" if group.rule else ""
        yield f"out now, {len(group.titles)}: {group.reason} ({_few(group.titles)}){rule}"
    unseen = [_short(old.title) for system, old in olds.items() if old.feasible and system not in news]
    if unseen:
        yield f"not considered now, {len(unseen)}: {_few(unseen)}"
    best = {
        changed.before.best_node,
        changed.before.best_rack,
        changed.after.best_node,
        changed.after.best_rack,
    }
    left = [
        item for item in changed.candidates if item.system in news and news[item.system].feasible
    ]  # its status differs, and it is in
    left.sort(key=lambda item: item.system not in best)
    for item in left[:_CHANGES]:
        yield _change_line(item, olds.get(item.system))
    if len(left) > _CHANGES:
        yield f"and {len(left) - _CHANGES} more systems come in or change their fleet"


def _change_line(item: CandidateChange, before: Candidate | None) -> str:
    was = item.before if before is None or before.feasible else "out"
    return f"{item.title}: {was} → {item.after}"


def _restriction(kb: KnowledgeBase, answer: Recommendation) -> str:
    """Which inputs keep systems from being considered at all, and how to lift that."""
    said = [
        name for name in _HARDWARE if name in answer.requirement and answer.requirement[name].origin == "said"
    ]
    if not said:
        return "The knowledge base holds none."
    names = ", ".join(
        f"{kb.facts[name].title} {show_fact(kb, name, answer.requirement[name])}" for name in said
    )
    words = " and ".join(f'"forget the {kb.facts[name].title.casefold()}"' for name in said)
    return f"The answer is restricted to {names}, as you said; say {words} to consider all again."


def _outcome(candidate: Candidate) -> str:
    """The fleet and the rate of a feasible candidate."""
    fleet, rate = candidate.fleet, candidate.throughput_per_accelerator
    parts = []
    if fleet is not None:
        units = candidate.unit if fleet.systems == 1 else f"{candidate.unit}s"
        parts.append(
            f"{fleet.systems} {units}, {fleet.accelerators_installed} accelerators, {fleet.accelerators_idle} idle"
        )
    if rate is not None:
        parts.append(f"{format_count(rate.value)} {rate.unit} per accelerator, {rate.basis}")
    return "; ".join(parts) or "no fleet"


def _deciding(answer: Recommendation) -> tuple[str, ...]:
    """The best systems of the verdict; of both kinds when either will do."""
    best = {"node": (answer.best_node,), "rack": (answer.best_rack,)}
    both = (answer.best_node, answer.best_rack)
    return tuple(system for system in best.get(answer.verdict, both) if system)


def _of(answer: Recommendation, system: str | None) -> Candidate | None:
    return next((candidate for candidate in answer.candidates if candidate.system == system), None)


def _short(title: str) -> str:
    """`GB200 NVL72 rack, 72 GPUs` without what comes after its name, so that several can stand in a list."""
    return _ASIDE.sub("", title).partition(",")[0].strip()


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _few(titles: Sequence[str]) -> str:
    more = len(titles) - _NAMED
    return ", ".join(titles[:_NAMED]) + (f" and {more} more" if more > 0 else "")
