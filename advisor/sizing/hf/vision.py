"""Size of a vision tower from the vision_config of a multimodal model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def vision_parameters(vision: Mapping[str, Any], text_hidden: int) -> int:
    """Values of a vision transformer and its projector; 0 when the block does not give the tower's shape.

    Layers of four width x width attention matrices and an MLP of two (three with a gate), a patch embedding, and a
    projector that merges neighbouring patches into the width of the language model.
    """
    hidden = _whole(vision, "hidden_size", "embed_dim", "width", "vt_hidden_size")
    depth = _whole(vision, "num_hidden_layers", "depth", "layers", "vt_num_hidden_layers")
    intermediate = _whole(vision, "intermediate_size", "vt_intermediate_size") or int(
        hidden * (vision.get("mlp_ratio") or 4)
    )
    if not hidden or not depth:
        return 0
    patch = _whole(vision, "patch_size") or 14
    frames = _whole(vision, "temporal_patch_size") or 1
    merge = _whole(vision, "spatial_merge_size") or 2
    gated = 3 if vision.get("hidden_act") in ("silu", "swiglu") else 2
    out = _whole(vision, "out_hidden_size", "projection_dim") or text_hidden
    layers = depth * (4 * hidden * hidden + gated * hidden * intermediate)
    merged = hidden * merge * merge
    mergers = 1 + len(vision.get("deepstack_visual_indexes") or ())
    return layers + 3 * frames * patch * patch * hidden + mergers * (merged * merged + merged * out)


def _whole(block: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = block.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10_000_000:
            return value
    return 0
