"""What the proof of a whole answer leaves out cannot matter: sizing, evidence and exclusions included."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.explain import explain_text, why
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said
from advisor.records import Recommendation

VALUES: dict[str, tuple[Any, ...]] = {
    "tpot_ms": (5, 15, 40, 150), "ttft_ms": (100, 500, 2000, 10_000), "concurrency": (1, 64, 3000, 50_000),
    "throughput_tokens_per_s": (10, 50_000, 1_000_000), "requests_per_second": (0.1, 3, 1000),
    "context_tokens": (512, 8192, 131_072), "input_tokens": (128, 8000), "output_tokens": (16, 2000),
    "weight_precision": ("bf16", "fp8", "fp4"), "kv_precision": ("bf16", "fp8"), "workload": ("offline", "server", "interactive"),
    "acquire": ("buy", "rent"), "cooling": ("air", "liquid"), "include_preview": (True, False), "spare": (0, 3),
    "growth_percent": (0, 200), "vendor": ("nvidia", "amd"), "rack_kw": (10, 40, 150), "disaggregated": (True, False),
    "speculative": (True, False), "scale_out_gb_per_s": (12.5, 400), "engine": ("vllm", "sglang"), "accelerator_count": (8, 72, 144),
}  # fmt: skip
MODELS = st.sampled_from(["llama-2-70b", "deepseek-r1", "gpt-oss-120b", "qwen3-32b", "kimi-k2"])


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    stated = draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=7, unique=True))
    return {"model": draw(MODELS), **{name: draw(st.sampled_from(VALUES[name])) for name in stated}}


def holds_its_lengths(case: dict[str, Any]) -> bool:
    """A stated context shorter than the stated lengths is refused, not answered."""
    lengths = case.get("input_tokens", 0) + case.get("output_tokens", 0)
    return bool(lengths <= case.get("context_tokens", lengths))


def answer(kb: KnowledgeBase, case: dict[str, Any]) -> Recommendation:
    return recommend(kb, said(kb, case), flips=False)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(case=cases().filter(holds_its_lengths), data=st.data())
def test_saying_something_that_the_proof_does_not_mention_changes_no_verdict(
    shipped: KnowledgeBase, case: dict[str, Any], data: st.DataObject
) -> None:
    """A load nobody stated, a rule that keeps another system out: whatever the verdict hangs on is in its proof."""
    before = answer(shipped, case)
    silent = sorted(set(VALUES) - set(why(shipped, before).facts()))
    if not silent:
        return
    name = data.draw(st.sampled_from(silent), label="said now")
    value = data.draw(st.sampled_from(VALUES[name]), label="value")
    assume(holds_its_lengths({**case, name: value}))
    assert answer(shipped, {**case, name: value}).verdict == before.verdict


def test_the_proof_names_disaggregation_when_the_rates_rest_on_it(shipped: KnowledgeBase) -> None:
    """Pools of prefill and decode were asked for, and the sizing used them."""
    case = {"model": "kimi-k2", "weight_precision": "fp4", "disaggregated": True}
    assert "Disaggregated serving: yes (you said so)" in explain_text(shipped, answer(shipped, case))


def test_the_proof_names_what_keeps_other_systems_out(shipped: KnowledgeBase) -> None:
    """Preview racks would be candidates if they were asked for."""
    text = explain_text(shipped, answer(shipped, {"model": "deepseek-r1", "weight_precision": "fp4"}))
    assert "out: Preview and announced hardware is out unless asked for [rules/availability-preview]" in text
    assert "Consider preview hardware: no (assumed" in text
