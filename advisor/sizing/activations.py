"""Peak memory of activations beside weights and KV cache, as an engine's start-up profiling run meets it."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.records import Accelerator, Architecture, Layout
from advisor.sizing.engines import Profile
from advisor.units import GIB

_BYTES = 2.0
"""Activations are 16 bit whatever the weights are."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Largest batch that an engine prepares for: sequences at once, and tokens in one scheduler step."""

    sequences: int
    step_tokens: int


def batch_limits(
    profile: Profile,
    accelerator: Accelerator,
    *,
    sequences: int | None,
    step_tokens: int | None,
    context_tokens: float,
) -> Batch:
    """The engine's defaults for an accelerator, unless given. context_tokens counts where prompts are not cut in chunks."""
    gib = accelerator.hbm_visible_bytes.number / GIB
    small = gib < profile["large_accelerator_gib"] or accelerator.id in profile.small_batch
    tokens = profile["max_num_batched_tokens_small" if small else "max_num_batched_tokens"]
    if profile["huge_accelerator_gib"] and gib >= profile["huge_accelerator_gib"]:
        tokens = profile["max_num_batched_tokens_huge"]
    if tokens < context_tokens <= profile["whole_prefill_tokens"]:
        tokens = context_tokens
    return Batch(
        sequences=sequences or int(profile["max_num_seqs_small" if small else "max_num_seqs"]),
        step_tokens=step_tokens or int(tokens),
    )


def activation_bytes(architecture: Architecture, layout: Layout, profile: Profile, batch: Batch) -> float:
    """Peak bytes per accelerator: the sampler or the widest layer, plus the live share of the expert workspace.

    The sampler works on all sequences at once, a layer on all tokens of a step; the larger of the two counts. Each rank holds the logits of the whole vocabulary for sampling, so tensor parallelism does not lower that term.
    """
    tokens, hidden = batch.step_tokens, architecture.hidden
    ranks = layout.tp
    sampler = (
        batch.sequences * architecture.vocabulary * profile["logits_bytes_per_value"]
        + tokens * hidden * _BYTES
    )
    layer = experts = 0.0
    for group in architecture.feed_forward:
        if group.kind == "dense":
            layer = max(layer, tokens * (group.matrices * group.intermediate / ranks + 4 * hidden) * _BYTES)
        elif group.kind == "moe":
            width = group.intermediate / (1 if layout.ep > 1 else ranks)
            share = group.experts_per_token / max(1, layout.ep)
            experts = max(experts, tokens * share * (group.matrices * width + hidden) * _BYTES)
    return max(sampler, layer) + experts * profile["expert_workspace"] + profile["activation_gib"] * GIB
