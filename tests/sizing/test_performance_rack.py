"""Where a wider scale-up domain helps, against the measured curve of GB200 NVL72 over B200 nodes.

Source of the curve: InferenceX run 26306422380 (2026-05-22), DeepSeek-R1 FP4, 1k in and out, disaggregated, multi-token
prediction: throughput per GPU 1.15x at 25-45 tok/s/user, 1.35x at 75, 4.39x at 125, 1.09x at 225, 0.97x at 250.
"""

from __future__ import annotations

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Layout, Model, System
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.performance import Prefill, Speculation, operating_point

LAYOUTS = (
    Layout(tp=4, ep=4), Layout(tp=8, ep=8), *(Layout(tp=1, dp=width, ep=width) for width in (4, 8, 16, 32, 48, 64))
)  # fmt: skip
ALONE = Prefill(layout=Layout(tp=4, ep=4), workers=1e-9)
"""A prefill pool so small that the rate counts decoding accelerators only, as on both sides of the curve."""


def decoding_rate(
    kb: KnowledgeBase, system: str, tokens_per_s: float, *, scale_out: float | None = None, widest: int = 64,
    accepted: float = 1.2,
) -> float:  # fmt: skip
    """Best tokens/s per accelerator at an interactivity, over the layouts measured servers use."""
    model, home = kb.find("models", "deepseek-r1"), kb.find("systems", system)
    assert isinstance(model, Model)
    assert isinstance(home, System)
    accelerator = kb.entries[home.accelerator]
    assert isinstance(accelerator, Accelerator)
    best = 0.0
    for layout in LAYOUTS:
        if layout.accelerators > widest:
            continue
        found = operating_point(
            kb, model, pick_checkpoint(model, "fp4"), home, accelerator, layout, ttft_ms=None, tpot_ms=1000 / tokens_per_s,
            input_tokens=1024, output_tokens=1024, max_batch=1e6, engine="trtllm", prefill=ALONE,
            speculation=Speculation(drafted=3, accepted=accepted), scale_out_gb_per_s=scale_out,
        )  # fmt: skip
        if found is not None:
            rate = found.batch_per_replica * 1000 / found.prediction.tpot_ms.value / layout.accelerators
            best = max(best, rate)
    return best


def ratio(kb: KnowledgeBase, tokens_per_s: float) -> float:
    return decoding_rate(kb, "gb200-nvl72", tokens_per_s) / decoding_rate(kb, "hgx-b200", tokens_per_s)


@pytest.mark.parametrize(("tokens_per_s", "measured"), [(25, 1.15), (45, 1.15), (60, 1.20), (75, 1.35)])
def test_a_relaxed_user_gains_little_from_the_rack(
    kb: KnowledgeBase, tokens_per_s: float, measured: float
) -> None:
    """Up to 75 tok/s a user the rack's edge is its faster silicon."""
    assert ratio(kb, tokens_per_s) == pytest.approx(measured, rel=0.12)


def test_the_edge_peaks_where_eight_accelerators_run_out(kb: KnowledgeBase) -> None:
    """The largest ratio lies between 110 and 160 tok/s a user and is above 2.5."""
    curve = {speed: ratio(kb, speed) for speed in (45, 75, 100, 125, 150, 175, 200, 225)}
    peak = max(curve, key=curve.__getitem__)
    assert 110 <= peak <= 160
    assert curve[peak] > 2.5


def test_the_edge_is_gone_at_the_fastest_users(kb: KnowledgeBase) -> None:
    """Near 225-250 tok/s both run small tensor-parallel groups: at most a tenth apart, and below one at 250 or beyond."""
    assert ratio(kb, 225) == pytest.approx(1.05, abs=0.1)
    assert min(ratio(kb, 250), ratio(kb, 275)) < 1.0


def test_the_peak_is_the_domain_and_not_the_silicon(kb: KnowledgeBase) -> None:
    """The rack held to groups of eight loses half of its rate; nodes with a network as fast as NVLink would gain as much."""
    assert decoding_rate(kb, "gb200-nvl72", 125, widest=8) < 0.5 * decoding_rate(kb, "gb200-nvl72", 125)
    assert decoding_rate(kb, "hgx-b200", 125, scale_out=900) > 1.5 * decoding_rate(
        kb, "hgx-b200", 125, scale_out=50
    )


def test_the_network_is_a_choice_of_the_deployment(kb: KnowledgeBase) -> None:
    """One 800 Gbit/s NIC instead of 400 (100 against 50 GB/s) helps groups that leave the node and no others."""
    assert decoding_rate(kb, "hgx-b200", 125, scale_out=100) >= decoding_rate(
        kb, "hgx-b200", 125, scale_out=50
    )
    narrow = [decoding_rate(kb, "hgx-b200", 125, scale_out=speed, widest=8) for speed in (50, 100)]
    assert narrow[0] == narrow[1]


def test_a_dense_model_gains_nothing_from_a_wider_domain(kb: KnowledgeBase) -> None:
    """Llama-3.1-70B fits one accelerator: its best throughput layout is the same on a node and in a rack."""
    model = kb.find("models", "llama-3.1-70b")
    assert isinstance(model, Model)
    rates = []
    for name in ("hgx-b200", "gb200-nvl72"):
        home = kb.find("systems", name)
        assert isinstance(home, System)
        accelerator = kb.entries[home.accelerator]
        assert isinstance(accelerator, Accelerator)
        best = {}
        for width in (1, 2, 4, 8):
            found = operating_point(
                kb, model, pick_checkpoint(model, "fp8"), home, accelerator, Layout(tp=width), ttft_ms=None, tpot_ms=None,
                input_tokens=1024, output_tokens=1024, max_batch=1024 * width, engine="trtllm",
            )  # fmt: skip
            assert found is not None
            best[width] = found.prediction.throughput_per_accelerator.value
        rates.append(max(best, key=best.__getitem__))
    assert rates == [1, 1]


@pytest.mark.parametrize(
    ("system", "points"),
    [("gb200-nvl72", {14.2: 8680, 38.7: 12489}), ("gb300-nvl72", {13.9: 9406, 54.4: 14892})],
)
def test_operating_points_of_one_rack_fall_in_shape(
    kb: KnowledgeBase, system: str, points: dict[float, float]
) -> None:
    """gpt-oss-120b, v6.0, NVIDIA x72: tokens/s per GPU at the median TPOT (ms) of the Interactive and the Server run."""
    model, home = kb.find("models", "gpt-oss-120b"), kb.find("systems", system)
    assert isinstance(model, Model)
    assert isinstance(home, System)
    accelerator = kb.entries[home.accelerator]
    assert isinstance(accelerator, Accelerator)
    found = []
    for tpot in points:
        rates = []
        for layout in (
            *(Layout(tp=w) for w in (1, 2, 4)),
            *(Layout(tp=1, dp=w, ep=w) for w in (2, 4, 8, 16)),
        ):
            here = operating_point(
                kb, model, pick_checkpoint(model, "fp4"), home, accelerator, layout, ttft_ms=None, tpot_ms=tpot,
                input_tokens=2048, output_tokens=1311, max_batch=2048 * layout.accelerators, engine="trtllm", prefill=ALONE,
            )  # fmt: skip
            if here is not None:
                rates.append(here.batch_per_replica / here.prediction.tpot_ms.value / layout.accelerators)
        found.append(max(rates))
    tight, loose = points.values()
    assert found[0] / found[1] == pytest.approx(tight / loose, rel=0.2)
