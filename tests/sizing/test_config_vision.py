"""The vision tower of a multimodal config, by hand; defaults of what is asked and where an accelerator stands."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.records import Checkpoint
from advisor.sizing.audited_rates import audited_rate_model
from advisor.sizing.deployment import home_of, usual_kv_precision
from advisor.sizing.estimate import EstimateRequest
from advisor.sizing.hf.vision import vision_parameters

TOWER: dict[str, Any] = {
    "hidden_size": 100,
    "num_hidden_layers": 3,
    "intermediate_size": 400,
    "patch_size": 10,
    "spatial_merge_size": 2,
}
LAYERS = 3 * (4 * 100 * 100 + 2 * 100 * 400)
PATCH = 3 * 10 * 10 * 100  # three colours
MERGER = 400 * 400 + 400 * 1000  # four neighbouring patches, into the language model's width


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, LAYERS + PATCH + MERGER),
        ({"hidden_act": "silu"}, 3 * (4 * 100 * 100 + 3 * 100 * 400) + PATCH + MERGER), ({"hidden_act": "swiglu"}, 3 * (4 * 100 * 100 + 3 * 100 * 400) + PATCH + MERGER),
        ({"hidden_act": "gelu"}, LAYERS + PATCH + MERGER), ({"intermediate_size": None, "mlp_ratio": 3}, 3 * (4 * 100 * 100 + 2 * 100 * 300) + PATCH + MERGER),
        ({"intermediate_size": None}, LAYERS + PATCH + MERGER), ({"patch_size": None}, LAYERS + 3 * 14 * 14 * 100 + MERGER),
        ({"temporal_patch_size": 2}, LAYERS + 2 * PATCH + MERGER), ({"spatial_merge_size": 1}, LAYERS + PATCH + 100 * 100 + 100 * 1000),
        ({"spatial_merge_size": None}, LAYERS + PATCH + MERGER), ({"out_hidden_size": 500}, LAYERS + PATCH + 400 * 400 + 400 * 500),
        ({"projection_dim": 500}, LAYERS + PATCH + 400 * 400 + 400 * 500), ({"deepstack_visual_indexes": [1, 2]}, LAYERS + PATCH + 3 * MERGER),
        ({"hidden_size": 0}, 0), ({"num_hidden_layers": None}, 0), ({"hidden_size": True}, 0), ({"hidden_size": 10_000_000}, 0), ({"hidden_size": -1}, 0),
    ],
)  # fmt: skip
def test_a_tower_by_hand(changed: dict[str, Any], expected: int) -> None:
    """Attention and MLP of each layer, the patch embedding, the projector; a gate is a third matrix; no shape, no count."""
    assert vision_parameters(TOWER | changed, 1000) == expected


@pytest.mark.parametrize(
    ("of", "names"),
    [
        ("hidden_size", "embed_dim width vt_hidden_size"),
        ("num_hidden_layers", "depth layers vt_num_hidden_layers"),
        ("intermediate_size", "vt_intermediate_size"),
    ],
)
def test_other_names_of_a_towers_shape(of: str, names: str) -> None:
    """Qwen-VL, CLIP and Kimi-VL each have their own."""
    for name in names.split():
        renamed = {key: value for key, value in TOWER.items() if key != of} | {name: TOWER[of]}
        assert vision_parameters(renamed, 1000) == LAYERS + PATCH + MERGER


def test_an_accelerator_stands_in_the_first_system_that_has_it(kb: KnowledgeBase) -> None:
    """By id; the same every time; none for one that no system has."""
    for accelerator in kb.accelerators.values():
        own = sorted(system.id for system in kb.systems.values() if system.accelerator == accelerator.id)
        found = home_of(kb, accelerator)
        assert (found.id if found else None) == (own[0] if own else None)
        assert home_of(kb, accelerator) is found


def test_the_cache_beside_quantised_weights_is_in_8_bit() -> None:
    """As measured servers ran, unless the checkpoint asks for something."""
    assert [
        usual_kv_precision(Checkpoint(precision=p)) for p in ("bf16", "fp16", "fp32", "fp8", "fp4", "int4")
    ] == ["bf16"] * 3 + ["fp8"] * 3
    assert usual_kv_precision(Checkpoint(precision="fp8", kv_precision="bf16")) == "bf16"


def test_one_of_each_is_meant_where_no_number_is_given() -> None:
    """Stages, ranks and workers of an estimate."""
    asked = EstimateRequest()
    assert {
        asked.pp,
        asked.ep,
        asked.dp,
        asked.prefill_pp,
        asked.prefill_ep,
        asked.prefill_dp,
        asked.prefill_workers,
        asked.decode_workers,
    } == {1}


def test_several_racks_are_rated_as_one_domain_is(kb: KnowledgeBase) -> None:
    """A rate per accelerator of a rack holds for more of them; a node's is another one, and an unknown model has none."""

    def rate(unit: str | None, model: str = "models/llama-2-70b") -> float | None:
        found = audited_rate_model(
            kb, model=model, precision="fp4", scenario="offline", accelerator="accelerators/gb300", unit=unit
        )
        return found.value if found else None

    assert rate("rack") == rate("multi-rack") is not None
    assert rate("node") == rate(None)
    assert rate("node") != rate("rack")
    assert rate("rack", "models/unheard") is None
