"""What is fuzzed: one function per place where text of strangers enters. Each takes bytes and must end quietly.

The only error a target may raise on purpose is `RackfitError`, which it swallows itself. Everything else is a fault.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from hostile_text import FORBIDDEN

from advisor.errors import RackfitError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.knowledge.locate import kb_folder
from advisor.records import KINDS, Condition, FactValue

Target = Callable[[bytes], None]


@lru_cache(maxsize=1)
def kb() -> KnowledgeBase:
    """The shipped knowledge base."""
    return load_knowledge()


@lru_cache(maxsize=1)
def _scratch() -> Path:
    """A folder for targets that read files; it is removed when the process ends."""
    holder = tempfile.TemporaryDirectory(prefix="rackfit-fuzz-")
    _HOLDERS.append(holder)
    return Path(holder.name)


_HOLDERS: list[Any] = []


def _file(name: str, raw: bytes) -> Path:
    path = _scratch() / name
    path.write_bytes(raw)
    return path


def _check_message(error: RackfitError) -> None:
    assert "\n" not in str(error)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def yaml(raw: bytes) -> None:
    """An entry file: every finding has a position inside the text, and what loads has no hidden character."""
    from advisor.knowledge.entry import check_file
    from advisor.knowledge.files import read_entry_file

    file = read_entry_file(str(_file("entry.yaml", raw)), f"{sorted(KINDS)[len(raw) % len(KINDS)]}/entry")
    checked = check_file(file)
    for finding in checked.findings:
        assert finding.line >= 1
        assert finding.column >= 1
        assert "\n" not in finding.message
    if checked.document is not None:
        assert checked.document.places is not None
        if checked.entry is not None:
            for text in _strings(msgspec.to_builtins(checked.entry)):
                assert not FORBIDDEN.search(text.replace("\r", ""))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in [*value, *value.values()] for text in _strings(item)]
    return [text for item in value for text in _strings(item)] if isinstance(value, (list, tuple)) else []


def lint(raw: bytes) -> None:
    """A whole lint of one strange entry, its fixes and all reports."""
    from advisor.lint.fix import fixable_codes, mend
    from advisor.lint.options import Options
    from advisor.lint.reporters import REPORTERS
    from advisor.lint.runner import lint_target
    from advisor.lint.targets import Target as LintTarget

    root = _scratch() / "kb"
    for kind in ("gotchas", "concepts"):
        (root / kind).mkdir(parents=True, exist_ok=True)
    (root / "gotchas" / "entry.yaml").write_bytes(raw)
    (root / "concepts" / "mlperf.yaml").write_bytes((kb_folder() / "concepts" / "mlperf.yaml").read_bytes())
    findings = lint_target(LintTarget(root=root), Options(), cache=False)
    for form, report in REPORTERS.items():
        text = report(findings)
        if form in ("json", "sarif"):
            json.loads(text)
    with contextlib.suppress(UnicodeDecodeError):
        text = raw.decode("utf-8")
        mended = mend(text, "gotchas/entry", fixable_codes(unsafe=True))
        assert mend(mended, "gotchas/entry", fixable_codes(unsafe=True)) == mended, (
            "a second fix changes more"
        )


def condition(raw: bytes) -> None:
    """A condition, as YAML gives it, on the facts of a real requirement."""
    from advisor.knowledge.build import condition_data
    from advisor.knowledge.schema import check_data
    from advisor.knowledge.yaml_source import parse_document
    from advisor.reasoning.conditions import holds

    data = parse_document(_text(raw), "condition").data
    rule = {
        "id": "rules/x",
        "title": "A rule",
        "scope": "comparison",
        "when": data,
        "then": [{"warn": "x"}],
        "reason": "a reason",
    }
    if data is None or any(where[:1] == ("when",) for where, _ in check_data("rule", rule)):
        return
    try:
        read = msgspec.convert(condition_data(data), Condition)
    except msgspec.ValidationError:
        return
    facts = {
        "model": FactValue(value="models/llama-2-70b", origin="said"),
        "tpot_ms": FactValue(value=40.0, origin="assumed"),
        "context_tokens": FactValue(value=8192, origin="said"),
        "rack_price_premium": FactValue(value=None, origin="assumed", low=0.86, high=1.22),
        "spare": FactValue(value=True, origin="said"),
        "concurrency": FactValue(value=None, origin="derived"),
    }
    assert holds(read, facts) in (True, False)
    assert holds(read, {}) in (True, False)


def claim(raw: bytes) -> None:
    """An expression of a claim over values of every size."""
    from advisor.evidence.expression import evaluate, names_in

    text = _text(raw)
    with contextlib.suppress(RackfitError):
        names_in(text)
    with contextlib.suppress(RackfitError):
        result = evaluate(
            text, {"a": Fraction(3), "b": Fraction(0), "v": Fraction(10**30), "n": Fraction(1, 72)}
        )
        assert isinstance(result, Fraction)


def utterance(raw: bytes) -> None:
    """A sentence: spans lie inside it, values are finite, and the same words are read the same way twice."""
    from advisor.cli.understand import as_json
    from advisor.dialogue.understand import understand

    text = _text(raw)
    read = understand(kb(), text)
    for reading in read.facts.values():
        assert 0 <= reading.span[0] <= reading.span[1] <= len(text)
    json.loads(json.dumps(as_json(read), allow_nan=False))
    assert understand(kb(), text) == read


def hf_config(raw: bytes) -> None:
    """A config.json: a model with positive sizes, its entry as YAML that loads, or one line of error."""
    from advisor.knowledge.entry import check_file
    from advisor.knowledge.files import EntryFile
    from advisor.sizing.hf.config import load_config_file, read_config
    from advisor.sizing.model_entry import model_text

    try:
        reading = read_config(load_config_file(_file("config.json", raw)), name="Owner/Some-Model")
    except RackfitError as error:
        _check_message(error)
        return
    assert reading.model.parameters_total.number > 0
    text = model_text(reading.model)
    checked = check_file(EntryFile(id=reading.model.id, path="entry.yaml", text=text))
    assert checked.entry is not None, checked.findings


def mlperf(raw: bytes) -> None:
    """A results file: every row is used or named as a problem; what is written loads as the same entry."""
    from advisor.evidence.mlperf import import_results
    from advisor.evidence.mlperf.write import to_yaml
    from advisor.knowledge.entry import check_file
    from advisor.knowledge.files import EntryFile

    try:
        done = import_results(_file("summary_results.json", raw), latency_file=None)
    except RackfitError as error:
        _check_message(error)
        return
    for entry in done.entries:
        assert re.fullmatch(r"evidence(/[a-z0-9][a-z0-9.-]*){3}", entry.id), entry.id
        checked = check_file(EntryFile(id=entry.id, path="entry.yaml", text=to_yaml(entry)))
        assert checked.entry == entry, checked.findings


def latency_csv(raw: bytes) -> None:
    """A table of latencies beside a results file."""
    from advisor.evidence.mlperf.latency import LatencyTable, read_latency_csv, read_log

    with contextlib.suppress(RackfitError):
        read_latency_csv(_file("x.csv", raw), LatencyTable())
    read_log(_file("mlperf_log_summary.txt", raw))


def measured(raw: bytes) -> None:
    """A table of measured runs for the calibration."""
    from advisor.sizing.refit.measured import read_table

    with contextlib.suppress(RackfitError):
        read_table(kb(), _file("measured.csv", raw))


def batch_line(raw: bytes) -> None:
    """One line of `estimate --batch`: an answer in finite JSON numbers, or an error on one line."""
    from advisor.cli.estimate import _answer_line

    answer = _answer_line(kb(), 1, raw.decode("utf-8", "replace"), {})
    text = json.dumps(answer, allow_nan=False)
    assert "\n" not in text


def settings(raw: bytes) -> None:
    """Files that sit beside a knowledge base or in the user's folders: options, baseline, session, settings."""
    from advisor.dialogue.sessions import read_turns
    from advisor.lint.baseline import load_baseline
    from advisor.lint.options import load_options
    from tui.settings import History, load_settings

    for read in (
        lambda: load_options(_file(".rackfit.toml", raw)),
        lambda: load_options(_file("pyproject.toml", raw)),
        lambda: load_baseline(_file("baseline.json", raw)),
        lambda: read_turns(_file("session.jsonl", raw)),
        lambda: load_settings(_file("settings.json", raw)),
        lambda: History(_file("history.jsonl", raw)).load(),
    ):
        with contextlib.suppress(RackfitError):
            read()


def number(raw: bytes) -> None:
    """Numbers and token counts as flags give them."""
    import math

    from advisor.units import parse_number, parse_tokens

    text = _text(raw)
    with contextlib.suppress(RackfitError):
        assert math.isfinite(parse_number(text, what="--x"))
    with contextlib.suppress(RackfitError):
        assert 1 <= parse_tokens(text) <= 1e9


def markdown(raw: bytes) -> None:
    """Data in every view: nothing hidden comes through, nothing of it becomes markup."""
    from advisor.report.html import render_html
    from advisor.report.terminal import markdown_to_text
    from advisor.visible import inert, one_line, visible

    text = _text(raw)
    assert not FORBIDDEN.search(visible(text).replace("\n", ""))
    line = inert(text)
    assert "\n" not in line
    page = render_html(f"{line}\n\n- {line}\n\n| {line} | x |\n|---|---|\n| {line} | y |\n", text)
    body = page.partition("<body>")[2]
    assert not re.search(r"<(?!/?(?:p|ul|li|table|thead|tbody|tr|th|td|body|html)>)", body), body
    assert not FORBIDDEN.search(page.replace("\n", ""))
    shown = markdown_to_text(f"- {line}\n", 10_000_000)
    assert shown == f"- {one_line(text)}\n".replace("-  \n", "- \n") or not one_line(text), (
        shown,
        one_line(text),
    )


def conversation(raw: bytes) -> None:
    """A whole chat, a line a turn: always an answer, and the transcript renders in every form."""
    from advisor.dialogue.conversation import Conversation
    from advisor.report.transcript import render_conversation

    talk = Conversation(kb())
    messages = [*talk.open()]
    for line in _text(raw).split("\n")[:6]:
        said = talk.say(line)
        assert said or not line.strip()
        messages += said
    for form in ("markdown", "html", "json"):
        text = render_conversation(kb(), messages, talk.recommendation, form)  # type: ignore[arg-type]
        if form == "json":
            json.loads(text)
