"""Faults that an audit of the shipped knowledge base found, each held by a value from outside: result files, rules, data sheets."""

from __future__ import annotations

import re

import pytest

from advisor.evidence.claims import resolve_input
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said
from advisor.records import Evidence, Result

LIMITS = [
    # benchmark, scenario, p99 TTFT ms, p99 TPOT ms: mlcommons/inference, tools/submission/submission_checker/constants.py
    ("llama2-70b", "server", 2000, 200),
    ("llama2-70b", "interactive", 450, 40),
    ("llama3.1-405b", "server", 6000, 175),
    ("llama3.1-405b", "interactive", 4500, 80),
    ("llama3.1-8b", "server", 2000, 100),
    ("llama3.1-8b", "interactive", 500, 30),
    ("deepseek-r1", "server", 2000, 80),
    ("deepseek-r1", "interactive", 1500, 15),
    ("gpt-oss-120b", "server", 3000, 80),
    ("gpt-oss-120b", "interactive", 2000, 15),
    ("mixtral-8x7b", "server", 2000, 200),
]

SPREADS = [
    # round, benchmark, scenario, submitters, lowest and highest total of eight B300 (summary files of the rounds)
    ("v6.0", "deepseek-r1", "server", 6, 35435.7, 60413.4),
    ("v6.1", "deepseek-r1", "server", 10, 33415.2, 70771.7),
    ("v6.1", "deepseek-r1", "offline", 10, 36639.6, 72445.1),
]

CONTEXTS = [
    ("llama-3-70b", 8192),  # config.json of kittn/Meta-Llama-3-70B-quant
    ("llama-3.1-70b", 131072),  # config.json of meta-llama/Meta-Llama-3.1-70B
    (
        "deepseek-r1-distill-llama-70b",
        131072,
    ),  # config.json of casperhansen/deepseek-r1-distill-llama-70b-awq
    ("qwen3-coder-30b-a3b", 262144),  # model card: 262,144 natively
    ("qwen3-8b", 40960),  # config.json of Qwen/Qwen3-8B
]

QUESTIONS = [
    {"model": "llama-3.1-8b", "workload": "offline", "throughput_tokens_per_s": 50000.0, "acquire": "rent"},
    {"model": "llama-2-70b", "weight_precision": "fp4", "workload": "offline", "acquire": "buy"},
    {"model": "deepseek-r1", "workload": "server", "tpot_ms": 80, "concurrency": 500, "acquire": "buy"},
    {"model": "llama-3.3-70b", "weight_precision": "fp8", "cooling": "air", "rack_kw": 30.0},
    {"model": "deepseek-v3", "vendor": "amd", "workload": "server", "concurrency": 300},
    {"model": "gpt-oss-120b", "workload": "server", "throughput_tokens_per_s": 2e7, "acquire": "buy"},
    {"model": "gpt-oss-20b", "workload": "interactive", "concurrency": 32, "acquire": "rent"},
]


def results(kb: KnowledgeBase) -> list[tuple[Evidence, Result]]:
    return [(entry, result) for entry in kb.evidence.values() for result in entry.results]


@pytest.mark.parametrize(("benchmark", "scenario", "ttft", "tpot"), LIMITS)
def test_runs_were_held_to_the_limits_of_their_scenario(
    kb: KnowledgeBase, benchmark: str, scenario: str, ttft: float, tpot: float
) -> None:
    """Every log prints the limits of the checker, and no closed run was later than they allow at p99."""
    seen = 0
    for entry, result in results(kb):
        latency = result.latency
        if (result.benchmark, result.scenario) != (benchmark, scenario) or latency is None:
            continue
        if latency.tpot_limit_ms is None or entry.division != "closed":
            continue
        seen += 1
        assert (latency.ttft_limit_ms, latency.tpot_limit_ms) == (ttft, tpot), entry.id
        assert latency.tpot_p99_ms is not None
        assert latency.tpot_p99_ms <= tpot, entry.id
        assert latency.ttft_p99_ms is not None
        assert latency.ttft_p99_ms <= ttft, entry.id
    assert seen


@pytest.mark.parametrize(("round_", "benchmark", "scenario", "teams", "low", "high"), SPREADS)
def test_teams_are_counted_by_name_and_not_by_system(
    kb: KnowledgeBase, round_: str, benchmark: str, scenario: str, teams: int, low: float, high: float
) -> None:
    """Dell ran two of the seven B300 nodes of v6.0, so six teams did; one outlier doubles the spread of v6.1."""
    rows = [
        (entry.submitter, result.value)
        for entry, result in results(kb)
        if (entry.round, result.benchmark, result.scenario) == (round_, benchmark, scenario)
        and entry.accelerator == "accelerators/b300"
        and (entry.scale.unit, entry.scale.accelerators, entry.division) == ("node", 8, "closed")
    ]
    assert len({submitter for submitter, _ in rows}) == teams
    assert min(value for _, value in rows) == pytest.approx(low, rel=1e-4)
    assert max(value for _, value in rows) == pytest.approx(high, rel=1e-4)


def test_the_best_node_of_a_vision_result_is_not_its_own_vendors(kb: KnowledgeBase) -> None:
    """GigaComputing's B300 node answers 12.8 queries/s of Qwen3-VL Interactive where NVIDIA's answers 3.99 (v6.1 summary)."""
    path = "evidence/mlperf-v6.1/{}#qwen3-vl-235b-a22b/interactive"
    best = resolve_input(kb, path.format("gigacomputing/g894-zd3-aax7-b300-sxm-270gbx8-trt"))
    own = resolve_input(kb, path.format("nvidia/b300-sxm-270gbx8-trt"))
    assert float(own) == pytest.approx(3.99, abs=0.01)
    assert float(best / own) == pytest.approx(3.22, abs=0.02)


def test_measured_nodes_drew_13_to_31_per_cent_more_than_their_gpus_may(kb: KnowledgeBase) -> None:
    """Lenovo's two B200 nodes: 9,011.1 to 10,442.3 W against eight limits of 1,000 W (v5.1 Power_Result)."""
    watts = [result.power_w for _, result in results(kb) if result.power_w is not None and result.power_w > 0]
    assert (min(watts), max(watts)) == (9011.1, 10442.3)
    assert [round((w / 8000 - 1) * 100) for w in (min(watts), max(watts))] == [13, 31]
    assert "13 to 31%" in " ".join(kb.concepts["concepts/tdp"].body.split())


def test_formulas_hold_the_unit_they_name(kb: KnowledgeBase) -> None:
    """Operations over operations per second are seconds: a formula in ms has the factor of a thousand."""
    for concept in kb.concepts.values():
        if "[ms]" in concept.formula and "FLOP/s" in concept.formula:
            assert "1,000 ×" in concept.formula, concept.id


def test_what_stands_in_another_vendors_file_is_not_the_vendors_word(kb: KnowledgeBase) -> None:
    """NVIDIA's modelling files speak for NVIDIA's parts only, and a sibling's figure is a copy."""
    for accelerator in kb.accelerators.values():
        cells = [
            accelerator.hbm_visible_bytes,
            accelerator.hbm_marketed_gb,
            accelerator.hbm_bandwidth_tb_per_s,
        ]
        cells += [*accelerator.dense_tflops.values(), *accelerator.facts.values()]
        cells += [cell for cell in (accelerator.scale_up_gb_per_s, accelerator.tdp_w) if cell is not None]
        for cell in cells:
            ours = cell.source.startswith("sources/nvidia")
            assert accelerator.vendor == "nvidia" or not (ours and cell.trust == "vendor"), accelerator.id
            other = re.search(r"systems/(\w+?)(?:_sxm)?\.yaml", cell.locator)
            if cell.trust == "vendor" and other and ours:
                assert other[1].startswith(accelerator.slug.replace("-", "_").partition("_pro_6000")[0]), (
                    accelerator.id
                )


def test_sparse_rates_are_twice_the_dense_ones_only_where_they_are(kb: KnowledgeBase) -> None:
    """Trainium2 does 2,563 sparse TFLOP/s for 667 dense ones at 16 bits, which is no 2:4 sparsity (AWS Neuron, trainium2.rst)."""
    note = kb.accelerators["accelerators/trainium2"].dense_tflops["bf16"].note
    assert "2,563" in note
    assert "2:4" not in note


def test_h200_nvl_is_slower_than_the_module(kb: KnowledgeBase) -> None:
    """Half of 1,671 and 3,341 sparse TFLOP/s (NVIDIA H200 product page, NVL column)."""
    dense = kb.accelerators["accelerators/h200-nvl"].dense_tflops
    assert dense["bf16"].number == pytest.approx(1671 / 2, abs=1)
    assert dense["fp8"].number == pytest.approx(3341 / 2, abs=1)


@pytest.mark.parametrize(("slug", "tokens"), CONTEXTS)
def test_context_limits_are_those_of_the_checkpoint_named(kb: KnowledgeBase, slug: str, tokens: int) -> None:
    """The limit belongs to the entry's own checkpoint (the file is named beside each row)."""
    assert kb.models[f"models/{slug}"].context_limit.value == tokens


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question["model"]))
def test_an_answer_raises_a_handful_of_gotchas(kb: KnowledgeBase, question: dict[str, str | float]) -> None:
    """More than eight warnings are read by nobody."""
    raised = recommend(kb, said(kb, question), flips=False).gotchas
    assert 1 <= len(raised) <= 8, [gotcha.id for gotcha in raised]


def test_a_gotcha_about_a_rate_is_not_raised_where_no_rate_was_used(kb: KnowledgeBase) -> None:
    """Readings of audited results stay out of an answer that rests on the calibrated model."""
    answer = recommend(
        kb, said(kb, {"model": "qwen3-235b-a22b", "workload": "server", "concurrency": 200}), flips=False
    )
    raised = {gotcha.id for gotcha in answer.gotchas}
    assert not raised & {
        "gotchas/bench-server-ratio-without-slack",
        "gotchas/bench-rack-of-single-gpu-replicas",
        "gotchas/bench-slice-is-not-a-node",
    }
