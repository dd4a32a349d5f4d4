"""Every sentence the dialogue says, in one place: short, plain, numbers first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from advisor.records import Recommendation
from advisor.units import shown as quoted
from advisor.visible import inert

GREETING = (
    "Serve a language model on 8-GPU nodes or on a 72-GPU rack, and how many? "
    "Say it in your own words, for example `DeepSeek-R1 in fp4, 8k context, 15 ms per token`, or answer the questions. `help` lists what else can be asked."
)
NO_ANSWER_YET = "There is no answer yet: name a model first."
NOTHING_TO_UNDO = "Nothing to undo."
NO_EARLIER_QUESTION = "There is no earlier question."
NO_QUESTION = "No question is open."
RESET = "Cleared. `undo` brings it back."
CLOSING = "Bye. `rackfit chat --resume` goes on with a conversation that was saved."
NOTHING_KEPT = "There is no what-if to keep."
ONE_MODEL = "One model at a time; which one first?"
ONE_VALUE = "Several values were named; which one should hold?"
KEEP = "keep it"
"""What to say to make a what-if the base case."""
MORE = "show more"
"""What to say for the whole of an explanation that was shortened."""
NO_SUCH_FIGURE = (
    "No step of this answer shows that figure. `why` has its steps, `show me the evidence` the runs behind."
)
NOTHING_MORE = "Nothing was shortened; `why` and `show me the evidence` can be."
OTHER_EVIDENCE = "\nCited by other systems, pairs and warnings of the answer:"
NO_MORE_QUESTIONS = "No further answer would change the verdict."
EXPORT = (
    "In line mode, `export notes.md`, `.html` or `.json` writes the conversation and the answer; "
    "in the full screen F9 does, and `rackfit ask --format markdown` prints an answer alone."
)
SESSIONS = (
    "Conversations are saved as they go. In line mode `sessions` lists them, `rename NAME` names this one and `delete NAME` removes one; "
    "`rackfit chat --resume NAME` goes on with one."
)
HELP = """\
Say what you want to serve, in any order: model, precision, context length, users or tokens per second, latency, hardware, power, cooling.

- `what if fp8 kv`, `and with 500 users?` shows the difference and keeps the base case; `keep it` makes it the base
- `compare with MI355X`, `why`, `why not the rack`, `why not H200`, `show more`
- `how sure are you`, `what would change your mind`, `what did you assume`, `show me the evidence`,
  `where does 707 come from`, `is the rack 30x faster`
- `define TPOT`, `show deepseek-r1`, `list gotchas`
- `skip`, `back`, `undo`, `forget the latency`, `reset`, `just answer`, `why do you ask`
- `sessions`, `export`, `quit`"""


_LONGEST = 150
"""Lines of an explanation that a conversation shows at most."""
_BRACKETED = re.compile(r"\\\[([a-z]{1,20}/[A-Za-z0-9./-]{1,120})\\\]")
"""An entry id in (escaped) brackets, as explanations name rules and evidence."""


def shown(text: str) -> str:
    """Words of the user, quoted and inert."""
    return inert(quoted(text))


def may_mean(text: str, count: int) -> str:
    """Before the choices of something ambiguous; plain text."""
    return f"{quoted(text)} may mean {count} things; which one?"


def not_sized_model(slug: str, named: bool) -> str:
    """A model without shapes here: one that is known by name, or one that is not known at all; plain text."""
    known = "is known by name only" if named else "is not known here"
    return f"{slug} {known}, without the shapes that sizing needs (`rackfit ask --config config.json` takes them). Use one of these instead?"


def sized_as(slug: str, title: str) -> str:
    """A model of the same architecture as an entry."""
    return f"{inert(slug)} is sized as {inert(title)}, which has the same shapes."


def took_largest(title: str, values: Sequence[str]) -> str:
    """Several numbers for one fact."""
    return f"{inert(title)}: {', '.join(values)} were named; the largest is used."


def took_end(title: str, low: float, high: float, value: object) -> str:
    """A range for one fact."""
    return f"{inert(title)}: {low:g} to {high:g} was named; {value} is used, the stricter end."


def unrestricted(title: str, values: Sequence[str]) -> str:
    """All values of a restriction were named."""
    return f"{inert(title)}: {' and '.join(map(inert, values))} were named, so it restricts nothing."


def not_used(text: str, reason: str) -> str:
    """A value that was read and cannot be used."""
    return f"{shown(text)} is not used: {inert(reason)}"


def failed(reason: str) -> str:
    """An answer that could not be given with the facts as they are."""
    return f"{inert(reason)}. `undo` takes the last change back."


def price_of_what(text: str) -> str:
    """A price without its hardware."""
    return f"{shown(text)} is a price of what? Say it with the hardware: `$3.20 per GPU-hour on H100`."


def price_title(system: str) -> str:
    """What the said price of one system is called."""
    return f"USD per GPU-hour of {system}"


def no_system(name: str, known: bool) -> str:
    """An accelerator that no system of the knowledge base has."""
    return f"{inert(name)} is {'in the knowledge base, but no system with it is' if known else 'known by name only'}; nothing is sized on it."


def understood(notes: Sequence[str]) -> str:
    """The echo of what was taken from a sentence; chips follow."""
    return "\n".join(["Understood:", *(f"- {note}" for note in notes)]) if notes else "Understood:"


def left_out(excluded: Sequence[str], observed: Sequence[str], unknown: Sequence[str]) -> list[str]:
    """What was read and not used, and what was not read."""
    lines = []
    if excluded:
        lines.append(f"Excluded as you said: {', '.join(map(shown, excluded))}.")
    if observed:
        lines.append(f"Taken as measurements, not as targets: {', '.join(map(shown, observed))}.")
    if unknown:
        lines.append(f"Not used: {', '.join(map(shown, unknown))}.")
    return lines


def question(text: str, help_text: str) -> str:
    """A question with how to answer it."""
    return f"**{inert(text)}**" + (f" {inert(help_text)}" if help_text else "")


def why_asked(why: str, reason: str) -> str:
    """Why the open question is asked."""
    return inert(why) + (f"\n\nNow, because {inert(reason)}." if reason and why not in reason else "")


def answer(recommendation: Recommendation, before: Recommendation | None = None) -> str:
    """The answer of a turn: fleet first, then verdict, reasons, what would change it. What `before` said is not repeated."""
    known = {gotcha.id for gotcha in before.gotchas} if before else set()
    warned = set(before.warnings) if before else set()
    lines = [f"**{inert(recommendation.headline)}**", ""]
    if before:
        lines += [changed_verdict(before, recommendation), ""]
    lines += [
        f"Verdict: **{recommendation.verdict}**, confidence **{recommendation.confidence.level}**.",
        "",
        inert(recommendation.summary),
    ]
    if recommendation.flips:
        lines += [
            "",
            "What would change it:",
            *(f"- {inert(flip.text)}" for flip in recommendation.flips[:3]),
        ]
    gotchas = [gotcha for gotcha in recommendation.gotchas if gotcha.id not in known][:3]
    if gotchas:
        lines += ["", "Mind:", *(f"- {inert(gotcha.title)} (`{gotcha.id}`)" for gotcha in gotchas)]
    warnings = [warning for warning in recommendation.warnings if warning not in warned][:2]
    if warnings:
        lines += ["", *(f"- Warning: {inert(warning)}." for warning in warnings)]
    if recommendation.assumptions and before is None:
        lines += [
            "",
            f"{len(recommendation.assumptions)} inputs are assumed; `what did you assume` lists them.",
        ]
    return "\n".join(lines)


def changed_verdict(before: Recommendation, after: Recommendation) -> str:
    """One line on how an answer differs from the one before."""
    if before.verdict != after.verdict:
        return (
            f"The verdict changes from {before.verdict} to {after.verdict}; before: {inert(before.headline)}."
        )
    if before.headline != after.headline:
        return f"The verdict stays {after.verdict}; before: {inert(before.headline)}."
    return (
        "Still nothing meets it."
        if after.verdict == "none"
        else f"The same fleet as before; the verdict stays {after.verdict}."
    )


def same_answer(recommendation: Recommendation) -> str:
    """The answer did not change."""
    return f"Unchanged: **{inert(recommendation.headline)}**, verdict **{recommendation.verdict}**, confidence {recommendation.confidence.level}."


def outline(text: str) -> str:
    """An indented explanation as paragraphs with nested lists under them; entry ids in brackets can be opened."""
    told: list[str] = []
    deeper: list[int] = []
    for line in text.splitlines():
        words = line.lstrip()
        if not words:
            continue
        indent = len(line) - len(words)
        words = _BRACKETED.sub(r"(`\1`)", inert(words.rstrip()))
        while deeper and deeper[-1] > indent:
            deeper.pop()
        if indent == 0:
            deeper = []
            told += [*([""] if told and told[-1] else []), words, ""]
            continue
        if not deeper or deeper[-1] < indent:
            deeper.append(indent)
        told.append("  " * (len(deeper) - 1) + "- " + words)
    if len(told) > _LONGEST:
        told[_LONGEST:] = [
            "",
            f"… and {len(told) - _LONGEST} more lines; `rackfit ask … --explain` prints all.",
        ]
    return "\n".join(told)


def evidence_head(runs: int, modelled: bool) -> str:
    """Above the runs behind an answer."""
    if runs:
        return "This answer rests on, the heaviest first:"
    return (
        "No audited run of this model on these systems stands behind this answer:"
        if modelled
        else "No run stands behind this answer; it rests on the memory and speed models."
    )


def what_if(text: str) -> str:
    """The difference that a what-if makes; the base case stays."""
    return f"{text}\n\nThe base case is kept. `keep it` makes this the base."


def undone(changes: Sequence[str]) -> str:
    """What an undo took back."""
    return (
        "Undone: "
        + ("; ".join(map(inert, changes)) if changes else "nothing that changes the requirement")
        + "."
    )


def taken_back(title: str, value: str) -> str:
    """The answer that `back` takes back."""
    return f"Taken back: {inert(title)}, {inert(value)}."


def forgotten(titles: Sequence[str]) -> str:
    """Facts taken back."""
    return f"Forgotten: {', '.join(map(inert, titles))}."


def nothing_forgotten(titles: Sequence[str]) -> str:
    """A request to forget something that was not said."""
    held = f"Said so far: {', '.join(map(inert, titles))}." if titles else "Nothing was said so far."
    return f"That is not among what you said. {held}"


def no_term(nearest: Sequence[str]) -> str:
    """A term that no concept has."""
    return "No such term here. Nearest: " + (", ".join(nearest) or "none") + "."


def not_understood(nearest: Sequence[str]) -> str:
    """A sentence that nothing is known about, with the nearest things that can be done."""
    near = f" Nearest in the knowledge base: {', '.join(nearest)}." if nearest else ""
    return f"I did not understand that.{near} Say a model and a load, ask `why`, `what if …`, `define …`, or `help`."


def which_change() -> str:
    """A what-if that names no value."""
    return "Which value changes? Say it with a number or a name: `what if 64k context`, `what if H200`, `what if 500 users`."


def gotchas(titles: Iterable[tuple[str, str]], raised: bool, total: int) -> str:
    """Gotchas as a list."""
    head = "Gotchas that apply to this case:" if raised else f"{total} gotchas are known; the first ones:"
    lines = [f"- {inert(title)} (`{name}`)" for name, title in titles]
    return "\n".join([head, *lines, "", "`show` and an id opens one; `rackfit search` finds more."])


def evidence_changed(before: str, after: str) -> str:
    """What a newer knowledge base does to the answer of a resumed conversation."""
    head = "The knowledge base has changed since this conversation was saved."
    if before == after:
        return f"{head} The answer is the same: {inert(after)}."
    return f"{head} Then: {inert(before)}. Now: {inert(after)}."


def resumed(name: str, turns: int) -> str:
    """The first line of a resumed conversation."""
    return f"Going on with {inert(name)}, {turns} turn{'s' if turns != 1 else ''} so far."


def no_longer_known(titles: Sequence[str]) -> str:
    """What of a resumed conversation the present knowledge base does not take."""
    return (
        f"Left out, because the knowledge base does not know these values: {', '.join(map(inert, titles))}."
    )


def not_saved(reason: str) -> str:
    """Why the conversation cannot be saved."""
    return f"This conversation is not saved: {inert(reason)}."


def open_elsewhere(name: str) -> str:
    """A session that another process has open."""
    return f"{inert(name)} is open in another window; this one goes on as a copy."


def compared(recommendation: Recommendation) -> str:
    """Above a table of systems."""
    return f"Side by side for the case so far; among these the verdict is **{recommendation.verdict}**: {inert(recommendation.headline)}."
