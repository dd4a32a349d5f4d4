"""Why, why not, how sure, what would change it, what was assumed, on what evidence: short first, the whole on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from advisor.dialogue import figures, phrases
from advisor.dialogue.messages import Message
from advisor.dialogue.readings import Understood
from advisor.dialogue.text import tokens_of
from advisor.knowledge import KnowledgeBase
from advisor.reasoning import explain, explanation_brief
from advisor.reasoning.weight import models_of_speed, weighty
from advisor.records import Recommendation
from advisor.visible import inert

_RUNS, _FIGURES, _CITED = 6, 3, 8
_MOST_SYSTEMS = 3
_UNITS = {
    "rack": {"rack", "racks", "nvl", "nvl72"},
    "node": {"node", "nodes", "hgx", "boxes", "servers"},
}


@dataclass(frozen=True)
class Told:
    """An explanation in few lines, and how to write the whole of it when that says more."""

    message: Message
    whole: Callable[[], Message] | None = None


def cited(kb: KnowledgeBase, answer: Recommendation) -> tuple[str, ...]:
    """Ids of the evidence that an answer rests on, the heaviest first."""
    return tuple(citation.id for citation in weighty(kb, answer)[:_CITED])


def explanation(kb: KnowledgeBase, answer: Recommendation, understood: Understood, text: str) -> Told:
    """What the user wants explained."""
    act = understood.act
    if act == "sure":
        explained = explain.how_sure(kb, answer)
        return _shortened(kb, answer, explanation_brief.sure(explained), explain.render(kb, explained))
    if act == "assumptions":
        return _whole(kb, answer, explain.render(kb, explain.assumptions(kb, answer)))
    if act == "claim":
        return Told(_markdown(kb, answer, figures.claim(kb, answer, text)))
    if act == "figure":
        return Told(_markdown(kb, answer, figures.origin(kb, answer, text) or phrases.NO_SUCH_FIGURE))
    if act == "evidence":
        return _evidence(kb, answer)
    if act == "flips":
        what = explain.what_would_change(kb, answer)
        short = explanation_brief.changes(kb, answer, what)
        return _shortened(kb, answer, short, explain.render(kb, what))
    targets = _targets(kb, answer, understood, text)
    if targets == ["verdict"]:
        short = explanation_brief.why(kb, answer)
    else:
        short = "\n".join(explanation_brief.why_not(kb, answer, target) for target in targets[:_MOST_SYSTEMS])
    rest = "\n".join(explain.explain_text(kb, answer, target) for target in targets[:_MOST_SYSTEMS])
    other = {"node": "why not the rack", "rack": "why not the node"}.get(answer.verdict, "")
    follow = (other,) if other and targets in (["verdict"], [answer.verdict]) else ()
    return _shortened(kb, answer, short, rest, follow)


def what_if(kb: KnowledgeBase, difference: explain.Difference) -> Told:
    """The difference between the base case and a changed one."""
    after = difference.after
    short = phrases.what_if(phrases.outline(explanation_brief.difference(kb, difference)))
    message = Message(
        role="rackfit",
        kind="answer",
        markdown=short,
        citations=cited(kb, after),
        choices=(phrases.KEEP, phrases.MORE),
    )
    return Told(message, lambda: _told(kb, after, explain.render(kb, difference), (phrases.KEEP,)))


def _told(kb: KnowledgeBase, answer: Recommendation, text: str, choices: tuple[str, ...] = ()) -> Message:
    return Message(
        role="rackfit",
        kind="explanation",
        markdown=phrases.outline(text),
        citations=cited(kb, answer),
        choices=choices,
    )


def _markdown(kb: KnowledgeBase, answer: Recommendation, markdown: str) -> Message:
    return Message(role="rackfit", kind="explanation", markdown=markdown, citations=cited(kb, answer))


def _whole(kb: KnowledgeBase, answer: Recommendation, text: str) -> Told:
    return Told(_told(kb, answer, text))


def _shortened(
    kb: KnowledgeBase, answer: Recommendation, short: str, rest: str, follow: tuple[str, ...] = ()
) -> Told:
    if rest.count("\n") <= short.count("\n"):
        return Told(_told(kb, answer, short, follow))
    return Told(_told(kb, answer, short, (*follow, phrases.MORE)), lambda: _told(kb, answer, rest))


def _targets(kb: KnowledgeBase, answer: Recommendation, understood: Understood, text: str) -> list[str]:
    """What a why is about: systems named, `node` or `rack`, or the verdict."""
    systems = understood.facts.get("system")
    accelerators = understood.facts.get("accelerator")
    if systems:
        return [f"systems/{value}" for value in systems.values]
    if accelerators:
        wanted = {f"accelerators/{value}" for value in accelerators.values}
        owned = [system.id for system in kb.systems.values() if system.accelerator in wanted]
        if owned:
            return owned
    words = {token.text for token in tokens_of(text)}
    for unit, names in _UNITS.items():
        if words & names:
            return ["verdict" if understood.act == "why" and unit == answer.verdict else unit]
    rival = {"node": "rack", "rack": "node"}.get(answer.verdict, "verdict")
    return [rival] if understood.act == "why_not" else ["verdict"]


def _evidence(kb: KnowledgeBase, answer: Recommendation) -> Told:
    """The runs that the answer rests on with the figures used, the heaviest first; the whole list holds all that is cited."""
    used = weighty(kb, answer)
    lines = [
        line for citation in used[:_RUNS] for line in _run(kb, citation.id, citation.grade, citation.figures)
    ]
    speed = ", ".join(f"`{i}`" for i in models_of_speed(kb, answer))
    if len(used) > _RUNS:
        lines.append(f"- and {len(used) - _RUNS} more")
    if speed:
        lines.append(f"- The model of speed, fitted to audited results: {speed}")
    rest = [citation for citation in answer.evidence if citation.id not in {c.id for c in used}]
    head = phrases.evidence_head(len(used), bool(speed))
    choices = (phrases.MORE,) if rest or len(used) > _RUNS else ()
    short = Message(
        role="rackfit", kind="explanation", markdown="\n".join([head, *lines]), citations=cited(kb, answer),
        choices=choices,
    )  # fmt: skip

    def whole() -> Message:
        own = [line for c in used for line in _run(kb, c.id, c.grade, c.figures)]
        others = [line for c in rest for line in _run(kb, c.id, c.grade, c.figures)]
        parts = [head, *own, *((phrases.OTHER_EVIDENCE, *others) if others else ())]
        ids = tuple(c.id for c in (*used, *rest))[:_CITED]
        return Message(role="rackfit", kind="explanation", markdown="\n".join(parts), citations=ids)

    return Told(short, whole if choices else None)


def _run(kb: KnowledgeBase, entry_id: str, grade: str, figures: tuple[str, ...]) -> list[str]:
    entry = kb.entries.get(entry_id)
    lines = [f"- {inert(entry.title if entry else entry_id)} ({grade}) `{entry_id}`"]
    return lines + [f"  - {inert(figure)}" for figure in figures[:_FIGURES]]
