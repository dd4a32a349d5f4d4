"""Replies that compare and look up: what the engine and the knowledge base know, put into messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from advisor.dialogue import phrases
from advisor.dialogue.explaining import cited
from advisor.dialogue.messages import Message
from advisor.dialogue.readings import Understood
from advisor.knowledge import KnowledgeBase
from advisor.knowledge.search import search
from advisor.reasoning.requirement import PRICE_PREFIX
from advisor.reasoning.trace import show_fact
from advisor.records import (
    Accelerator,
    Candidate,
    Concept,
    Entry,
    Facts,
    FactValue,
    Gotcha,
    Model,
    Recommendation,
    System,
)
from advisor.units import GIB, format_count, format_tokens
from advisor.visible import inert, one_line

Recommender = Callable[..., Recommendation]
_SHOWN_GOTCHAS = 12


def fact_title(kb: KnowledgeBase, name: str) -> str:
    """What a fact is called; the price of a system by the system."""
    if name.startswith(PRICE_PREFIX):
        system = kb.entries.get(name.removeprefix(PRICE_PREFIX))
        return phrases.price_title(system.title if system else name)
    fact = kb.facts.get(name)
    return fact.title if fact else name


def fact_text(kb: KnowledgeBase, name: str, fact: FactValue) -> str:
    """A fact's value in words; several systems as their names."""
    if name == "system" and isinstance(fact.value, str):
        titles = [kb.entries[i].title if i in kb.entries else i for i in fact.value.split(",")]
        return ", ".join(titles)
    return show_fact(kb, name, fact)


def nearest(kb: KnowledgeBase, text: str) -> str:
    """What is nearest to a sentence that was not understood."""
    hits = search(kb, text, limit=3)
    return phrases.not_understood([f"{inert(hit.title)} (`{hit.id}`)" for hit in hits])


def comparison(
    kb: KnowledgeBase,
    answer: Recommendation,
    said: Mapping[str, FactValue],
    understood: Understood,
    recommend: Recommender,
) -> Message:
    """The named systems beside the best node and rack of the answer, one row each."""
    slugs = understood.facts["accelerator"].values if "accelerator" in understood.facts else ()
    wanted = {f"accelerators/{value}" for value in slugs}
    named = [
        f"systems/{value}"
        for value in (understood.facts["system"].values if "system" in understood.facts else ())
    ]
    named += [
        system.id for system in kb.systems.values() if system.accelerator in wanted and system.id not in named
    ]
    if not named:
        names = ", ".join(str(value).upper() for value in slugs)
        return Message(
            role="rackfit", kind="answer", markdown=phrases.no_system(names, bool(wanted & set(kb.entries)))
        )
    best = [system for system in (answer.best_node, answer.best_rack) if system]
    shown = list(dict.fromkeys((*best, *named)))
    base: Facts = {name: fact for name, fact in said.items() if name not in ("accelerator", "system")}
    among = recommend(
        kb,
        {**base, "system": FactValue(value=",".join(shown), origin="said", because="compare")},
        flips=False,
    )
    rows = [row for system in shown for row in _rows(among.candidates, system)]
    table = ["| system | fleet | per accelerator | TPOT |", "|---|---|---|---|", *rows]
    return Message(
        role="rackfit",
        kind="answer",
        markdown="\n".join([phrases.compared(among), "", *table]),
        citations=cited(kb, among),
    )


def _rows(candidates: Iterable[Candidate], system: str) -> Iterable[str]:
    for candidate in candidates:
        if candidate.system != system:
            continue
        fleet, rate = candidate.fleet, candidate.throughput_per_accelerator
        latency = candidate.latency.tpot_ms if candidate.latency else None
        size = (
            f"{fleet.systems} × {candidate.unit}, {fleet.accelerators_installed} installed, {fleet.accelerators_idle} idle"
            if fleet
            else "–"
        )
        if not candidate.feasible:
            size = "out: " + "; ".join(item.text.rstrip(".") for item in candidate.exclusions[:2])
        speed = f"{format_count(rate.value)} {rate.unit}, {rate.basis}" if rate else "–"
        pace = f"{format_count(latency.value)} ms" if latency else "–"
        yield f"| {inert(candidate.title)} | {inert(size)} | {speed} | {pace} |"


def look_up(kb: KnowledgeBase, understood: Understood, text: str, answer: Recommendation | None) -> Message:
    """A term, an entry, or the gotchas."""
    if understood.act == "list_gotchas":
        return _gotchas(kb, answer)
    entries = _entries_named(kb, understood, text)
    if not entries:
        kind = "concepts" if understood.act == "define" else ""
        near = [inert(hit.title) for hit in search(kb, text, limit=4, kind=kind)]
        return Message(role="rackfit", kind="answer", markdown=phrases.no_term(near))
    cards = "\n\n".join(card(entry) for entry in entries[:2])
    return Message(
        role="rackfit", kind="explanation", markdown=cards, citations=tuple(entry.id for entry in entries[:2])
    )


def _gotchas(kb: KnowledgeBase, answer: Recommendation | None) -> Message:
    raised = answer.gotchas if answer else ()
    pairs = [(gotcha.id, gotcha.title) for gotcha in (raised or kb.gotchas.values())][:_SHOWN_GOTCHAS]
    text = phrases.gotchas(pairs, bool(raised), len(kb.gotchas))
    return Message(
        role="rackfit", kind="answer", markdown=text, citations=tuple(name for name, _ in pairs[:8])
    )


def _entries_named(kb: KnowledgeBase, understood: Understood, text: str) -> list[Entry]:
    """Entries that a sentence names: concepts first when it asks for a meaning, models and hardware, an id, a title."""
    found = [kb.entries[f"concepts/{slug}"] for slug in understood.concepts]
    for name, kind in (("model", "models"), ("accelerator", "accelerators"), ("system", "systems")):
        reading = understood.facts.get(name)
        found += [
            kb.entries[f"{kind}/{v}"]
            for v in (reading.values if reading else ())
            if f"{kind}/{v}" in kb.entries
        ]
    found += [
        kb.entries[word.strip("`'\".,?")] for word in text.split() if word.strip("`'\".,?") in kb.entries
    ]
    if found or understood.act == "define":
        return list({entry.id: entry for entry in found}.values())
    words = text.split(maxsplit=1)
    hits = search(kb, words[1] if len(words) > 1 else text, limit=1)
    return [kb.entries[hit.id] for hit in hits]


def card(entry: Entry) -> str:
    """An entry in a few lines of Markdown."""
    lines = [f"**{inert(entry.title)}** (`{entry.id}`)"]
    if isinstance(entry, Concept):
        lines += [inert(entry.summary), inert(entry.body)]
        lines += [f"    {one_line(entry.formula)}"] if entry.formula else []
    elif isinstance(entry, Gotcha):
        lines += [
            f"Symptom: {inert(entry.symptom)}",
            f"Cause: {inert(entry.root_cause)}",
            f"Workaround: {inert(entry.workaround)}",
            inert(entry.notes),
        ]
    elif isinstance(entry, Model):
        active = f", {entry.parameters_active.number / 1e9:,.3g}B active" if entry.parameters_active else ""
        formats = ", ".join(dict.fromkeys(checkpoint.precision for checkpoint in entry.checkpoints))
        lines.append(
            f"{entry.parameters_total.number / 1e9:,.4g}B parameters{active}; context up to "
            f"{format_tokens(entry.context_limit.number)} tokens; weights in {formats}."
        )
        lines.append(inert(entry.note))
    elif isinstance(entry, Accelerator):
        flops = ", ".join(f"{name} {cell.number:,.0f}" for name, cell in entry.dense_tflops.items())
        lines.append(
            f"{entry.hbm_visible_bytes.number / GIB:,.1f} GiB visible memory at {entry.hbm_bandwidth_tb_per_s.number:g} TB/s; "
            f"dense TFLOP/s: {flops or 'not known'}."
        )
    elif isinstance(entry, System):
        power = f"; up to {entry.power_kw.number:g} kW" if entry.power_kw else ""
        lines.append(
            f"{entry.accelerators} accelerators, {entry.scale_up_domain} in one fast domain; cooled by {' or '.join(entry.cooling)}{power}; "
            f"{entry.availability}."
        )
    else:
        lines.append(f"`rackfit show {entry.id}` prints it whole.")
    return "\n\n".join(line.strip() for line in lines if line.strip())
