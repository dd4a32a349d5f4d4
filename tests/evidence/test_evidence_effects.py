"""The rack/node ratio split into silicon and scale, with its chain, and the noise it must beat."""

from __future__ import annotations

import pytest

from advisor.evidence.effects import Effects, effects
from advisor.evidence.noise import noise_band
from advisor.knowledge import KnowledgeBase


def of(
    kb: KnowledgeBase, model: str, scenario: str, node: str = "b300", rack: str = "gb300", **more: str
) -> Effects:
    return effects(
        kb, model=f"models/{model}", scenario=scenario, node_accelerator=f"accelerators/{node}",
        rack_accelerator=f"accelerators/{rack}", **more,
    )  # fmt: skip


def test_llama2_70b_offline_is_silicon_not_scale(kb: KnowledgeBase) -> None:
    """v6.1: CoreWeave's rack leads its node by 1.09; NVIDIA's slice leads by 1.20; the rack loses 0.96 to that slice."""
    found = of(kb, "llama-2-70b", "offline")
    assert found.rack_over_node is not None
    assert found.silicon_effect is not None
    assert found.scale_effect is not None
    assert (
        f"{found.rack_over_node.value:.2f} {found.silicon_effect.value:.2f} {found.scale_effect.value:.2f}"
        == "1.09 1.20 0.96"
    )
    assert "scale effect: submitter: NVIDIA against CoreWeave" in found.confounders
    assert any("within the noise: a tie" in step for step in found.chain)
    assert "need not multiply" in found.chain[-1]


def test_one_submitters_chain_multiplies(kb: KnowledgeBase) -> None:
    """v6.1 gpt-oss-120b Server: NVIDIA ran node, slice and rack; silicon 1.27 times scale 0.97 is the whole 1.24."""
    found = of(kb, "gpt-oss-120b", "server")
    assert found.rack_over_node is not None
    assert found.silicon_effect is not None
    assert found.scale_effect is not None
    assert (
        f"{found.silicon_effect.value:.2f} {found.scale_effect.value:.2f} {found.rack_over_node.value:.2f}"
        == "1.27 0.97 1.24"
    )
    assert found.silicon_effect.value * found.scale_effect.value == pytest.approx(found.rack_over_node.value)
    assert "one chain of three systems" in found.chain[-1]


def test_without_a_slice_the_split_is_unknown(kb: KnowledgeBase) -> None:
    """v6.0 llama3.1-405b has node and rack but no slice: 1.42 on Server, split unknown, disaggregation named."""
    found = of(kb, "llama-3.1-405b", "server")
    assert found.rack_over_node is not None
    assert f"{found.rack_over_node.value:.2f}" == "1.42"
    assert found.silicon_effect is None
    assert found.scale_effect is None
    assert "not known" in found.chain[-1]
    assert "disaggregation: not disaggregated against disaggregated" in found.confounders


def test_across_submitters_the_best_node_stands_against_the_best_rack(kb: KnowledgeBase) -> None:
    """v6.0 deepseek-r1 Interactive exists only across submitters: 5.64, grade C, disaggregated on one side."""
    found = of(kb, "deepseek-r1", "interactive")
    assert found.rack_over_node is not None
    assert f"{found.rack_over_node.value:.2f}" == "5.64"
    assert {pair.grade for pair in found.pairs} == {"C"}
    assert any(text.startswith("disaggregation: ") for text in found.confounders)


def test_where_nothing_compares_nothing_is_said(kb: KnowledgeBase) -> None:
    """No MI355X rack exists: no effects, and the chain says why."""
    found = of(kb, "llama-2-70b", "offline", "mi355x", "mi455x")
    assert (found.rack_over_node, found.silicon_effect, found.scale_effect, found.pairs) == (
        None,
        None,
        None,
        (),
    )
    assert found.chain == ("no mi455x rack and mi355x node ran llama-2-70b offline in one round",)


def test_a_round_can_be_asked_for(kb: KnowledgeBase) -> None:
    """v6.0 llama2-70b Offline, NVIDIA against itself: 1.11."""
    found = of(kb, "llama-2-70b", "offline", round="v6.0")
    assert found.rack_over_node is not None
    assert f"{found.rack_over_node.value:.2f}" == "1.11"


def test_an_estimate_spans_the_pairs_of_its_standing(kb: KnowledgeBase) -> None:
    """v6.1 gpt-oss-120b Offline: four submitters against themselves, 1.11 to 1.21; NVIDIA's 1.17 stands for them."""
    found = of(kb, "gpt-oss-120b", "offline").rack_over_node
    assert found is not None
    assert f"{found.low:.2f} {found.value:.2f} {found.high:.2f}" == "1.11 1.17 1.21"
    assert found.basis == "audited"


@pytest.mark.parametrize(
    ("accelerator", "benchmark", "scenario", "round_", "spread"),
    [
        ("b300", "deepseek-r1", "server", "v6.0", "1.70"), ("b200", "deepseek-r1", "server", "v5.1", "1.34"),
        ("b200", "llama2-70b", "offline", "v5.1", "1.31"), ("h200", "llama3.1-8b", "server", "v5.1", "1.57"),
    ],
)  # fmt: skip
def test_noise_of_the_same_silicon(
    kb: KnowledgeBase, accelerator: str, benchmark: str, scenario: str, round_: str, spread: str
) -> None:
    """Spreads worked out by hand from the published summaries (mlcommons/inference_results_v5.1 at 965182b, v6.0)."""
    band = noise_band(kb, f"accelerators/{accelerator}", benchmark, scenario, round_)
    assert f"{band.spread:.2f}" == spread
    assert band.submissions >= 3


def test_noise_leaves_altered_parts_out(kb: KnowledgeBase) -> None:
    """Dell_MangoBoost's MI355X at 1000 W would widen the v6.0 llama2 Server band to 1.31; it is another part."""
    band = noise_band(kb, "accelerators/mi355x", "llama2-70b", "server", "v6.0")
    assert band.spread is not None
    assert band.spread < 1.1


def test_one_submission_has_no_noise(kb: KnowledgeBase) -> None:
    """A single submission tells nothing about spread."""
    band = noise_band(kb, "accelerators/vr200", "deepseek-r1", "offline", "v6.1")
    assert band.spread is None
