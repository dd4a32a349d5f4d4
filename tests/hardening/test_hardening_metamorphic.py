"""What must hold between two answers, whatever the numbers are: more never becomes less."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said
from advisor.records import Candidate, Layout, Model, Recommendation, System
from advisor.sizing.layouts import layouts_for
from advisor.sizing.memory import fit

KB = load_knowledge()
Case = dict[str, Any]
examples = settings(max_examples=40, deadline=None, derandomize=True)

MODELS = st.sampled_from(sorted(KB.models))
LIMITS = {"tpot_ms": (2, 5, 10, 15, 25, 40, 80, 150, 500), "ttft_ms": (100, 500, 2000, 10_000)}
DEMANDS = {
    "concurrency": (1, 7, 64, 500, 3000, 50_000),
    "throughput_tokens_per_s": (10, 1000, 50_000, 1_000_000),
    "requests_per_second": (0.1, 3, 50, 1000),
}
OTHERS: Mapping[str, tuple[Any, ...]] = {
    "context_tokens": (512, 2048, 8192, 32_768, 131_072), "input_tokens": (128, 1000, 8000), "output_tokens": (16, 300, 2000),
    "weight_precision": ("bf16", "fp8", "fp4", "int4"), "kv_precision": ("bf16", "fp8"), "workload": ("offline", "server", "interactive"),
    "acquire": ("buy", "rent"), "cooling": ("air", "liquid"), "include_preview": (True, False), "spare": (0, 1, 3),
    "growth_percent": (0, 20, 200),
}  # fmt: skip


@st.composite
def cases(draw: st.DrawFn, need: str = "") -> Case:
    """A requirement: a model, and any of the other facts; `need` names one that must be said."""
    case: Case = {"model": draw(MODELS)}
    demand = draw(st.sampled_from([*DEMANDS, ""]))
    for name, values in {**LIMITS, **OTHERS}.items():
        if name == need or draw(st.integers(0, 3)) == 0:
            case[name] = draw(st.sampled_from(values))
    if demand or need == "demand":
        name = demand or "concurrency"
        case[name] = draw(st.sampled_from(DEMANDS[name]))
    if "context_tokens" in case:  # a context that does not hold the stated lengths is refused
        assume(case["context_tokens"] >= case.get("input_tokens", 0) + case.get("output_tokens", 0))
    return case


def answer(case: Case, kb: KnowledgeBase = KB) -> Recommendation:
    return recommend(kb, said(kb, case), flips=False)


def paired(before: Recommendation, after: Recommendation) -> Iterator[tuple[Candidate, Candidate]]:
    known = {candidate.system: candidate for candidate in before.candidates}
    yield from (
        (known[candidate.system], candidate) for candidate in after.candidates if candidate.system in known
    )


def assert_no_easier(before: Recommendation, after: Recommendation) -> None:
    """No system becomes feasible or needs fewer machines by asking for more."""
    for old, new in paired(before, after):
        assert not (new.fits and not old.fits), f"{new.system} fits only the harder case"
        if new.feasible:
            assert old.feasible, f"{new.system} meets only the harder case"
            if old.fleet is not None and new.fleet is not None:
                assert new.fleet.systems >= old.fleet.systems, (
                    f"{new.system} needs fewer machines for the harder case"
                )
    assert before.verdict != "none" or after.verdict == "none"


@examples
@given(case=cases("demand"))
def test_doubling_the_demand_never_shrinks_a_fleet(case: Case) -> None:
    """Twice the users, tokens or requests need at least as many machines of every system."""
    name = next(name for name in DEMANDS if name in case)
    assert_no_easier(answer(case), answer({**case, name: case[name] * 2}))


@examples
@given(case=cases("tpot_ms"))
def test_a_tighter_limit_per_token_is_never_easier(case: Case) -> None:
    """Halving the TPOT limit turns nothing infeasible into something feasible and shrinks no fleet."""
    assert_no_easier(answer(case), answer({**case, "tpot_ms": case["tpot_ms"] / 2}))


@examples
@given(
    model=st.sampled_from(["deepseek-r1", "llama-2-70b", "llama-3.1-405b", "gpt-oss-120b", "llama-3.1-8b", "kimi-k2"]),
    limits=st.tuples(st.floats(3, 400), st.floats(3, 400)).map(sorted),
    case=st.fixed_dictionaries(
        {"weight_precision": st.sampled_from(["fp4", "fp8"])},
        optional={
            "ttft_ms": st.sampled_from([300, 1000, 5000]),
            "input_tokens": st.sampled_from([200, 8000]),
            "output_tokens": st.sampled_from([50, 3000]),
        },
    ),
)  # fmt: skip
def test_more_time_per_token_never_lowers_a_rate(model: str, limits: list[float], case: Case) -> None:
    """A run held to a tighter limit also meets the looser one, whether rates are audited, carried, fitted or modelled."""
    tight, loose = (answer({"model": model, **case, "tpot_ms": round(limit, 1)}) for limit in limits)
    for old, new in paired(loose, tight):
        if new.throughput_per_accelerator is not None:
            assert old.throughput_per_accelerator is not None, new.system
            assert new.throughput_per_accelerator.value <= old.throughput_per_accelerator.value * 1.001, (
                new.system
            )


@examples
@given(case=cases("ttft_ms"))
def test_a_tighter_limit_to_the_first_token_is_never_easier(case: Case) -> None:
    """Halving the TTFT limit turns nothing infeasible into something feasible and shrinks no fleet."""
    assert_no_easier(answer(case), answer({**case, "ttft_ms": case["ttft_ms"] / 2}))


@examples
@given(case=cases("context_tokens"))
def test_a_longer_context_is_never_easier_and_holds_no_more_sequences(case: Case) -> None:
    """Twice the context fits no better, and the same layout holds no more sequences."""
    before, after = answer(case), answer({**case, "context_tokens": case["context_tokens"] * 2})
    assert_no_easier(before, after)
    for old, new in paired(before, after):
        if old.memory is not None and new.memory is not None and old.layout == new.layout:
            assert new.memory.max_sequences <= old.memory.max_sequences


@examples
@given(
    case=cases(),
    harder=st.sampled_from(
        [{"rack_kw": 10}, {"rack_kw": 40}, {"rack_kw": 120}, {"cooling": "air"}, {"acquire": "rent"}]
    ),
)
def test_a_site_limit_is_never_easier(case: Case, harder: Case) -> None:
    """A limit on kW per rack, air cooling only or renting only excludes; it never lets in."""
    assume(not set(harder) & set(case))
    assert_no_easier(answer(case), answer({**case, **harder}))


@examples
@given(case=cases("demand"), more=st.sampled_from([{"spare": 4}, {"growth_percent": 300}]))
def test_spares_and_growth_never_shrink_a_fleet(case: Case, more: Case) -> None:
    """Room for failures and growth costs machines or nothing."""
    assert_no_easier(answer(case), answer({**case, **more}))


@examples
@given(case=cases())
def test_every_candidate_adds_up(case: Case) -> None:
    """Replicas fill whole units, units carry the load, intervals hold their middle, and the verdict names systems that can serve."""
    found = answer(case)
    growth = 1 + case.get("growth_percent", 0) / 100
    for candidate in found.candidates:
        fleet, layout, memory, rate = (
            candidate.fleet, candidate.layout, candidate.memory, candidate.throughput_per_accelerator,
        )  # fmt: skip
        latency = candidate.latency
        for estimate in (rate, latency and latency.ttft_ms, latency and latency.tpot_ms):
            assert estimate is None or 0 <= estimate.low <= estimate.value * (1 + 1e-9)
            assert estimate is None or estimate.value <= estimate.high * (1 + 1e-9) < math.inf
        if candidate.feasible:
            assert fleet
            assert rate
            assert candidate.fits
            assert not candidate.exclusions
        if fleet is None or layout is None or memory is None:
            continue
        size = KB.systems[candidate.system].accelerators
        assert fleet.replicas * layout.accelerators == fleet.accelerators_needed
        assert (
            fleet.systems * size
            == fleet.accelerators_installed
            == fleet.accelerators_needed + fleet.accelerators_idle
        )
        assert fleet.accelerators_idle >= 0
        assert fleet.spare_systems == case.get("spare", 0)
        assert fleet.replicas * memory.max_sequences >= case.get("concurrency", 0) * growth * (1 - 1e-6)
        if rate is not None and rate.unit == "tokens/s":
            asked = case.get("throughput_tokens_per_s", 0) * growth
            assert rate.value * fleet.accelerators_needed >= asked * (1 - 1e-6)
    sides = {"node": found.best_node, "rack": found.best_rack}
    if found.verdict == "either":
        assert all(sides.values())
    elif found.verdict == "none":
        assert not any(sides.values())
    else:
        assert sides[found.verdict]


@examples
@given(case=cases(), context=st.sampled_from((1, 5000, 60_000, 1_000_000)))
def test_what_was_said_is_what_is_answered(case: Case, context: int) -> None:
    """No stated value is replaced by an assumption, not even a context beyond the model's limit."""
    asked = {**case, "context_tokens": context}
    assume(context >= case.get("input_tokens", 0) + case.get("output_tokens", 0))
    requirement = answer(asked).requirement
    for name, value in said(KB, asked).items():
        assert requirement[name] == value


@settings(examples, max_examples=15)
@given(case=cases())
def test_the_order_of_facts_does_not_matter(case: Case) -> None:
    """The same facts said in another order give the same answer."""
    assert answer(case) == answer(dict(reversed(case.items())))


@settings(examples, max_examples=15)
@given(case=cases())
def test_taking_away_what_cannot_serve_changes_no_verdict(case: Case) -> None:
    """A knowledge base without the systems that were excluded says the same."""
    before = answer(case)
    assume(before.verdict != "none")
    out = {candidate.system for candidate in before.candidates if not candidate.feasible}
    smaller = KnowledgeBase(
        [entry for entry in KB.entries.values() if entry.id not in out], fingerprint="smaller"
    )
    after = answer(case, smaller)
    assert (after.verdict, after.best_node, after.best_rack) == (
        before.verdict,
        before.best_node,
        before.best_rack,
    )


@st.composite
def deployments(draw: st.DrawFn) -> tuple[Model, System, Layout]:
    model = KB.models[draw(MODELS)]
    system = KB.systems[draw(st.sampled_from(sorted(KB.systems)))]
    return model, system, draw(st.sampled_from(layouts_for(model, system)[:12]))


@examples
@given(
    deployment=deployments(), context=st.sampled_from([1, 512, 8192, 131_072, 1_000_000]), sequences=st.sampled_from([0, 1, 16, 1000]),
    more=st.sampled_from([1.01, 1.5, 10.0]), engine=st.sampled_from(["vllm", "sglang", "tensorrt-llm"]),
)  # fmt: skip
def test_more_memory_never_hurts(
    deployment: tuple[Model, System, Layout], context: int, sequences: int, more: float, engine: str
) -> None:
    """An accelerator that differs only by more memory leaves at least as much room and holds at least as many sequences."""
    model, system, layout = deployment
    small = KB.accelerators[system.accelerator]
    cell, label = small.hbm_visible_bytes, small.hbm_marketed_gb
    large = replace(
        small,
        hbm_visible_bytes=replace(cell, value=int(cell.number * more)),
        hbm_marketed_gb=replace(label, value=label.number * more),
    )
    asked: dict[str, Any] = {
        "kv_precision": "bf16",
        "context_tokens": context,
        "sequences": sequences,
        "engine": engine,
    }
    before, after = (fit(KB, model, model.checkpoints[0], chip, layout, **asked) for chip in (small, large))
    assert after.headroom_bytes >= before.headroom_bytes
    assert after.max_sequences >= before.max_sequences
    assert after.kv_capacity_tokens >= before.kv_capacity_tokens


@examples
@given(deployment=deployments(), context=st.integers(1, 2_000_000), longer=st.integers(1, 2_000_000))
def test_a_longer_context_never_raises_the_number_of_sequences(
    deployment: tuple[Model, System, Layout], context: int, longer: int
) -> None:
    """Sequences of more tokens never fit in larger number; a cache of fewer bits never holds fewer."""
    model, system, layout = deployment
    chip = KB.accelerators[system.accelerator]

    def held(tokens: int, kv: str) -> int:
        return fit(
            KB, model, model.checkpoints[0], chip, layout, kv_precision=kv, context_tokens=tokens, sequences=1
        ).max_sequences

    assert held(context + longer, "bf16") <= held(context, "bf16")
    assert held(context, "fp8") >= held(context, "bf16")


@pytest.mark.parametrize(
    "name",
    ["concurrency", "context_tokens", "throughput_tokens_per_s", "requests_per_second", "tpot_ms", "ttft_ms"],
)
@pytest.mark.parametrize(
    "value",
    [
        "-1",
        "0",
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "1e400",
        "-1e400",
        "1e308",
        "",
        " ",
        "1e",
        "e5",
        "0x10",
        "1__0",
    ],
)
def test_numbers_that_cannot_be_meant_are_refused_in_one_line(name: str, value: str) -> None:
    """Negative, zero, infinite, absurd or malformed numbers never reach the arithmetic."""
    with pytest.raises(InputError, match=name) as caught:
        said(KB, {name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), 10**400], ids=["nan", "inf", "-inf", "10**400"]
)
@pytest.mark.parametrize("name", ["concurrency", "context_tokens", "tpot_ms", "rack_kw"])
def test_numbers_from_code_are_checked_too(name: str, value: float) -> None:
    """A NaN, an infinity or a whole number beyond any double is refused like text."""
    with pytest.raises(InputError, match=name):
        said(KB, {name: value})


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            {"model": "llama-2-70b", "context_tokens": 1_000_000},
            "takes 4k tokens; 1,000,000 tokens need position scaling",
        ),
        ({"model": "qwen3-32b", "context_tokens": 100_000}, "takes 40k tokens as released"),
        ({"model": "qwen3-32b", "context_tokens": 200_000}, "takes 128k tokens; 200,000 tokens"),
    ],
)
def test_contexts_over_the_model_s_limit_are_warned_about(case: Case, words: str) -> None:
    """Qwen3 32B was released for 40,960 tokens and documents YaRN to 131,072; Llama 2 for 4,096 (their config.json and model cards)."""
    assert any(words in warning for warning in answer(case).warnings), answer(case).warnings
