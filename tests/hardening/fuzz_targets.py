"""What is fuzzed: one function per place where text of strangers enters. Each takes bytes and must end quietly.

The only error a target may raise on purpose is `RackfitError`, which it swallows itself. Everything else is a fault.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    from advisor.lint.runner import Target as LintTarget
    from advisor.lint.runner import lint_target

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
    from advisor.sizing.hf_config import load_config_file, read_config
    from advisor.sizing.model_entry import model_text

    try:
        reading = read_config(load_config_file(_file("config.json", raw)), name="Owner/Some-Model")
    except RackfitError as error:
        assert "\n" not in str(error)
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
        assert "\n" not in str(error)
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
    from advisor.sizing.measured import read_table

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


@dataclass(frozen=True)
class Spec:
    """A target, seeds to start from, words that matter to it, and how many inputs a bounded run tries."""

    run: Target
    seeds: Callable[[], Sequence[bytes]]
    words: Sequence[bytes] = ()
    bounded: int = 300


def _shipped(*patterns: str) -> Callable[[], list[bytes]]:
    def read() -> list[bytes]:
        paths = [path for pattern in patterns for path in sorted(kb_folder().glob(pattern))[:4]]
        return [path.read_bytes() for path in paths]

    return read


def _lines(*lines: str) -> Callable[[], list[bytes]]:
    return lambda: [line.encode() for line in lines]


_YAML_WORDS = [
    b"&a ", b"*a", b"<<: ", b"!!python/object:os.system ", b"? ", b"- ", b": ", b"{", b"}", b"[", b"]", b"|\n", b">-\n", b"'", b'"',
    b"\\x1b", b"\\U0010ffff", b"---\n", b"...\n", b"%YAML 1.1\n", b"\t", b"\r\n", b"\xef\xbb\xbf", b"\xff", b"\x00", b".nan", b"1e999",
    b"null", b"~", b"yes", b"0x10", b"1:30", b"2026-11-30", b"# rackfit: ignore", b"# noqa", b"\xe2\x80\xae",
]  # fmt: skip
_JSON_WORDS = [
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"true", b"NaN", b"Infinity", b"-1", b"0", b"1e999", b"1e308", b"9" * 30,
    b'"\\ud800"', b'"\\u0000"', b'""', b"{}", b"[]", b'"../../x"', b"0.5", b"-0.0", b"9" * 5000, b"[" * 200, b'{"a":' * 200,
]  # fmt: skip
_TALK_WORDS = [
    b"128k", b"llama", b"70b", b"deepseek", b"r1", b"tpot", b"ms", b"users", b"per second", b"$3.20", b"1e999", b"-5", b"not ", b"between ",
    b"and ", b"what if ", b"why", b"?", b"undo", b"/export x", b"/", b"\xd9\xa3", b"\xef\xbc\x91", b"\xe2\x80\xae", b"\x00", b"\xff", b"half ",
    b"at least ", b"under ", b"no ", b"instead of ", b"gb300", b"h100", b"8 gpus", b"80%", b"half a million", b"fp4", b"offline",
]  # fmt: skip
_CONFIG = json.dumps(
    {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
        "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]},
    }
).encode()  # fmt: skip
_MOE = json.dumps(
    {
        "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
        "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3, "num_attention_heads": 128, "num_hidden_layers": 61, "num_key_value_heads": 128,
        "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 129280, "max_position_embeddings": 163840, "num_nextn_predict_layers": 1,
    }
).encode()  # fmt: skip
_ROW = {
    "ID": "6.1-0001", "Submitter": "Example", "Availability": "available", "Division": "closed", "SystemType": "datacenter",
    "SystemName": "Node (8x H200-SXM-141GB, TensorRT)", "Platform": "H200-SXM-141GBx8_TRT", "UsedModel": "llama2-70b-99",
    "Model": "llama2-70b-99", "Scenario": "Offline", "Result": 34000.5, "Units": "Tokens/s", "Accelerator": "NVIDIA H200-SXM-141GB",
    "a#": 8, "Total Accelerators": 8, "Nodes": 1, "Software": "TensorRT 10.0", "weight_data_types": "fp8", "version": "v6.1",
    "host_processors_per_node": 2, "Performance_Units": "Tokens/s", "Performance_Result": 34000.5, "accelerators_per_node": 8,
    "number_of_nodes": 1, "accelerator_model_name": "NVIDIA H200-SXM-141GB", "Accuracy": "ROUGE1: 44.4",
}  # fmt: skip
_CSV = (
    "round,division,submitter,platform,model,scenario,tokens_per_s,samples_per_s,valid,ttft_p99_ns,tpot_p99_ns\n"
    "v6.1,closed,Example,H200x8,llama2-70b-99,Server,34000,115,VALID,1900000000,180000000\n"
)
_LOG = "Result is : VALID\nCompleted tokens per second : 34000.5\n99.00 percentile first token latency (ns)   : 1900000000\n"
_MEASURED = (
    "model_path,system,backend,precision,mode,concurrency,isl,osl,ttft_ms,tpot_ms,tp,pp,ep,dp,num_gpus,date\n"
    "deepseek-ai/DeepSeek-R1,hgx-h200,sglang,fp8,agg,64,1024,1024,250,22,8,1,1,1,8,2026-09-01\n"
)
_BATCH = '{"id": "a", "model": "llama-3.1-70b", "accelerator": "h100", "tp": 8, "context": 8192, "concurrency": 32, "input_tokens": 1000, "output_tokens": 500}'

TARGETS: dict[str, Spec] = {
    "yaml": Spec(yaml, _shipped("concepts/*", "gotchas/*", "models/*", "systems/*", "rules/*", "facts/*"), _YAML_WORDS, 400),
    "lint": Spec(lint, _shipped("gotchas/*"), _YAML_WORDS, 40),
    "condition": Spec(
        condition,
        _lines(
            "all: [{fact: tpot_ms, at_most: 40}, {none: [{fact: model, is: llama-2-70b}]}]", "fact: context_tokens\nin: [8192, '8192', true]",
            "any: [{fact: spare, known: true}, {fact: rack_price_premium, above: {fact: tpot_ms}}]", "fact: tpot_ms\nbelow: 15 ms",
        ),
        [*_YAML_WORDS, b"all: ", b"any: ", b"none: ", b"fact: ", b"is: ", b"above: ", b"stated: ", b"concurrency"],
        400,
    ),
    "claim": Spec(claim, _lines("(a + 2.5) / n - min(v, 3)", "abs(-a) * b", "max(1, 2, (3))"),
                  [b"(", b")", b"*", b"/", b"-", b"1" * 30, b".", b",", b"min(", b"abs(", b"a", b"b", b"\xd9\xa3", b"(" * 100], 600),
    "utterance": Spec(
        utterance,
        _lines(
            "Llama 3.1 405B fp8, 128k context, 200 users, under 30 ms per token", "DeepSeek R1 at 15 ms TPOT on GB300, offline 1M tok/s",
            "we rent, air cooled, 40 kW racks, 20% growth, what if 64k instead?", "llama 2 70b 4k in 1k out 50 requests per second",
        ),
        _TALK_WORDS, 120,
    ),
    "hf_config": Spec(hf_config, lambda: [_CONFIG, _MOE], _JSON_WORDS, 300),
    "mlperf": Spec(mlperf, lambda: [json.dumps([_ROW, {**_ROW, "Scenario": "Server"}]).encode()], _JSON_WORDS, 150),
    "latency_csv": Spec(latency_csv, _lines(_CSV, _LOG), [b",", b'"', b"\n", b"nan", b"1e999", b"\x00", b"\xff", b"VALID"], 150),
    "measured": Spec(measured, _lines(_MEASURED), [b",", b'"', b"\n", b"nan", b"inf", b"0", b"-1", b"1e999", b"\x00", b"\xff", b"disagg"], 100),
    "batch_line": Spec(batch_line, _lines(_BATCH, '{"config": ' + _CONFIG.decode() + ', "hbm_gib": 80, "tp": 2}'), _JSON_WORDS, 200),
    "settings": Spec(
        settings,
        _lines(
            '[lint]\nselect = ["KB4"]\nignore = []\nfail-on = "error"\n', '[tool.rackfit.lint]\nselect = ["KB4"]\n',
            '{"format": 1, "findings": [{"path": "a", "code": "KB001", "message": "m", "count": 2}]}',
            '{"theme": "rackfit-dark", "keys": {"a": "b"}}\n', '"a line"\n"another"\n',
            '{"event":"start","format":1,"version":"0.1.0","at":"2026-11-30T00:00:00Z"}\n{"event":"turn","turn":{"text":"x"}}\n',
        ),
        [*_JSON_WORDS, b"[", b"=", b"[lint]", b"tool = 3", b"lint = 3", b'"""'], 150,
    ),
    "number": Spec(number, _lines("128k", "1,024", "1_000", "0.5", "1e9", "+4096", "2M"), [b"e", b"k", b"m", b"_", b",", b".", b"9" * 30, b"nan", b"inf"], 600),
    "markdown": Spec(markdown, _lines("a | b", "**x** `y`", "1. item", "<b>&amp;</b>", "[a](http://b)"),
                     [b"\\", b"`", b"*", b"_", b"[", b"](", b"<", b">", b"&#27;", b"|", b"~~~", b"---", b"\n", b"\x1b[", b"\xe2\x80\xae", b"1) ", b"    "], 400),
    "conversation": Spec(conversation, _lines("llama 2 70b\n8k context\nwhy\nwhat if 64k\nundo", "help\nr1 at 15 ms\n/facts\ncompare\n"), _TALK_WORDS, 12),
}  # fmt: skip
"""Name -> target."""
