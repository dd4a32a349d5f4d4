"""Mistakes of a first entry: each is found at the characters that are wrong, with its cause and what would be right."""

from __future__ import annotations

import pytest
from lint_workbench import Workbench

GOTCHA = """\
id: gotchas/mine
title: An entry of a newcomer
concepts: [concepts/example]
symptom: Half of the answers never come.
root_cause: Somebody forgot to start the second half.
workaround: Start the second half, and count the answers again.
"""
CELL = "{value: 80, trust: unverified}"
ACCELERATOR = f"""\
id: accelerators/mine
title: Acme Z1
vendor: acme
family: z1
hbm_visible_bytes: {{value: 85520809984, trust: unverified}}
hbm_marketed_gb: {CELL}
hbm_bandwidth_tb_per_s: {{value: 3.35, trust: unverified}}
dense_tflops: {{bf16: {{value: 989, trust: unverified}}}}
tdp_w: {{value: 700, trust: unverified}}
"""
RULE = """\
id: rules/mine
title: A rule of a newcomer
scope: comparison
when: {fact: tpot_ms, below: 20}
then: [{favour: rack}]
reason: It follows.
because: [concepts/example]
"""
FACT = """\
id: facts/mine
title: Floor load
name: floor_load
type: number
used_by: [reasoning]
"""
MODEL = """\
id: models/mine
title: A model of ours
family: Ours
parameters_total: {value: 8030261248, trust: derived}
context_limit: {value: 131072, trust: unverified}
architecture:
  type: llama
  hidden: 4096
  vocabulary: 128256
  attention: [{layers: 32, heads: 32, kv_heads: 8, head_dim: 128}]
  feed_forward: [{layers: 32, intermediate: 14336}]
checkpoints: [{precision: bf16}]
"""
ENTRIES = {"gotchas": GOTCHA, "accelerators": ACCELERATOR, "rules": RULE, "facts": FACT, "models": MODEL}

MISTAKES = [
    # kind, right text, wrong text, code, the characters pointed at, what is said
    ("gotchas", "concepts: [concepts/example]", "concepts:\n- concepts/example\n  - concepts/another", "KB105", "concepts/example",
     "a line below begins with `- ` and is indented deeper"),
    ("gotchas", "symptom: Half", " symptom: Half", "KB001", "s", "align this line with the key above"),
    ("gotchas", "symptom: Half of the answers never come.", "symptom: >-\nHalf of the answers\nnever come.", "KB001", "H",
     "indent this line if it continues the text above"),
    ("gotchas", "symptom: Half", "symptom: Error: half", "KB001", ":", "quote the text that holds `: `"),
    ("gotchas", "symptom: Half of the answers never come.", "symptom: >-\n\tHalf of the answers never come.", "KB014", "\t", "indent with spaces"),
    ("gotchas", "root_cause:", "symptom: Another symptom.\nroot_cause:", "KB008", "symptom", "occurs twice; keep one of them"),
    ("gotchas", "id: gotchas/mine", "id: gotcha/mine", "KB200", "gotcha/mine", "write id: gotchas/mine"),
    ("gotchas", "id: gotchas/mine", "id: gotchas/Mine", "KB200", "gotchas/Mine", "write id: gotchas/mine"),
    ("gotchas", "root_cause:", "rootcause:", "KB101", "rootcause", "did you mean `root_cause`?"),
    ("gotchas", "concepts/example", "concepts/exmaple", "KB210", "concepts/exmaple", "did you mean concepts/example?"),
    ("gotchas", "concepts/example", "concepts/zebra", "KB210", "concepts/zebra", "create it with `rackfit new`"),
    ("gotchas", "never come.\n", "never come.\nsymptoms: x\n", "KB101", "symptoms", "unknown field"),
    ("accelerators", f"hbm_marketed_gb: {CELL}", "hbm_marketed_gb: 80 GB", "KB103", "80 GB", "write {value: 80, trust: unverified}, and its source"),
    ("accelerators", "{value: 989, trust: unverified}", "989", "KB103", "989", "write {value: 989, trust: unverified}"),
    ("accelerators", "{value: 989, trust: unverified}", "{value: 989}", "KB102", "{value: 989}", "add `trust:` (vendor, measured-log, third-party"),
    ("accelerators", "{bf16:", "{fp16:", "KB101", "fp16", "one of: bf16, fp8"),
    ("accelerators", "{value: 700,", "{value: 0.7 kW,", "KB103", "0.7 kW", "without quotes, separators or unit"),
    ("accelerators", "{value: 3.35,", "{value: 3350,", "KB432", "3350", "no likely value in TB/s"),
    ("accelerators", "vendor: acme", "vendor: Acme", "KB105", "Acme", "write acme"),
    ("rules", "favour: rack", "favor: rack", "KB101", "favor", "did you mean `favour`?"),
    ("rules", "favour: rack", "favour: racks", "KB104", "racks", "did you mean rack?"),
    ("rules", "favour: rack", "assume: tpot", "KB500", "tpot", "did you mean tpot_ms?"),
    ("rules", "{favour: rack}", "{forbid: candidate}", "KB504", "candidate", "give the rule `scope: candidate`"),
    ("rules", "below: 20", "below: 20ms", "KB108", "20ms", "the same with the unit behind a space (`15 ms`)"),
    ("rules", "below: 20", "below: '20'", "KB103", "'20'", "write it without quotes"),
    ("rules", "below: 20", "below: 20 GB", "KB502", "20 GB", "tpot_ms is in ms, not in GB"),
    ("rules", "fact: tpot_ms, below: 20", "fact: model_is_moe, is: 'yes'", "KB501", "'yes'", "write true or false"),
    ("facts", "name: floor_load", "name: floor-load", "KB105", "floor-load", "write floor_load"),
    ("facts", "used_by:", "flag: floor-load\nused_by:", "KB105", "floor-load", "write --floor-load"),
    ("facts", "type: number", "type: numeric", "KB104", "numeric", "did you mean number?"),
    ("facts", "used_by:", "suggestions: 500\nused_by:", "KB103", "500", "write [500]"),
    ("facts", "used_by:", "minimum: 9\nmaximum: 3\nused_by:", "KB514", "9", "is above the maximum, 3; exchange the two"),
    ("facts", "type: number", "type: flag\nunit: kg", "KB514", "unit", "a fact of type flag has no unit"),
    ("models", "{value: 131072,", '{value: "131072",', "KB103", '"131072"', "write a plain number, without quotes"),
    ("models", "vocabulary: 128256", "vocabulary: 128,256", "KB103", "128,256", "without quotes, separators or unit"),
    ("models", "{layers: 32, intermediate", "{layers: 31, intermediate", "KB422", "[{layers: 31", "32 layers have attention, 31 have a feed-forward part"),
    ("models", "precision: bf16", "precision: 16bit", "KB104", "16bit", "one of: fp32"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ENTRIES)
def test_the_entries_without_a_mistake_have_no_error(bench: Workbench, kind: str) -> None:
    """So that each mistake below is the only error found."""
    bench.write(f"{kind}/mine", ENTRIES[kind])
    assert [f for f in bench.lint() if f.path.endswith("mine.yaml") and f.severity == "error"] == []


@pytest.mark.parametrize(("kind", "right", "wrong", "code", "pointed", "said"), MISTAKES)
def test_a_mistake_is_found_where_it_is_with_its_cause(
    bench: Workbench, kind: str, right: str, wrong: str, code: str, pointed: str, said: str
) -> None:
    """One error, which names line and column of the wrong characters and says what to write."""
    assert ENTRIES[kind].count(right) == 1
    path = bench.write(f"{kind}/mine", ENTRIES[kind].replace(right, wrong))
    found = [f for f in bench.lint(ignore={"KB030", "KB033"}) if f.path == str(path)]
    (finding,) = [f for f in found if f.severity == "error" or f.code == code]
    line = path.read_text().split("\n")[finding.line - 1]
    assert (finding.code, line[finding.column - 1 :][: len(pointed)]) == (code, pointed)
    assert said in f"{finding.message}; {finding.fix}"


def test_dates_may_be_bare_and_must_be_days(bench: Workbench) -> None:
    """A date is text in YAML 1.2, with or without quotes; one that no calendar has is found."""
    for date in ("2026-11-01", "'2026-11-01'"):
        bench.write("gotchas/mine", GOTCHA + f"reviewed: {date}\n")
        assert bench.codes(ignore={"KB033"}) == set()
    bench.write("gotchas/mine", GOTCHA + "reviewed: 1.11.2026\n")
    assert "KB105" in bench.codes()


def test_each_wrong_input_of_a_claim_is_found_at_that_input(bench: Workbench) -> None:
    """A misspelt scenario and a forgotten `@`: two findings, at the two references, with what was meant."""
    claim = (
        "claims:\n  - text: 125 tok/s\n    expression: rate / gpus\n    inputs:\n"
        "      rate: evidence/example/box#llama2-70b/ofline\n      gpus: evidence/example/box#accelerators\n"
    )
    path = bench.write("gotchas/mine", GOTCHA.replace("Half of", "At 125 tok/s half of") + claim)
    lines = path.read_text().splitlines()
    found = [f for f in bench.lint() if f.code == "KB404"]
    assert [lines[f.line - 1][f.column - 1 :] for f in found] == [
        "evidence/example/box#llama2-70b/ofline", "evidence/example/box#accelerators",
    ]  # fmt: skip
    assert [f.fix for f in found] == ["did you mean #llama2-70b/offline?", "did you mean #@accelerators?"]


def test_short_advice_is_advice(bench: Workbench) -> None:
    """`Set NCCL_P2P_LEVEL to NVL.` says all; a hollow phrase of the same length says nothing."""
    bench.write(
        "gotchas/mine",
        GOTCHA.replace("Start the second half, and count the answers again.", "Set NCCL_P2P_LEVEL to NVL."),
    )
    assert "KB600" not in bench.codes()
    bench.write(
        "gotchas/mine",
        GOTCHA.replace(
            "Start the second half, and count the answers again.", "It depends, so be careful here."
        ),
    )
    assert "KB600" in bench.codes()
