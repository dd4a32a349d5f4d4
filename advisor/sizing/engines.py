"""Engine profiles as plain numbers: the terms of one engine version, with what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from advisor.errors import InputError, UnknownIdError
from advisor.knowledge import KnowledgeBase, fold
from advisor.records import Engine, FractionOf

TERMS: dict[str, str] = {
    "driver_gib": "kept by the driver on NVIDIA accelerators: visible memory minus what programs see",
    "runtime_gib": "held outside weights, activations and KV on each accelerator (CUDA or HIP context, libraries)",
    "load_overhead_gib": "what loading leaves behind on several accelerators; counted with the weights, as the engine prints them",
    "communication_gib": "added when a replica spans several accelerators by tensor parallelism (NCCL, custom all-reduce)",
    "activation_gib": "activation peak that depends on neither vocabulary nor batch",
    "logits_bytes_per_value": "bytes per sequence and vocabulary entry at the sampler's peak",
    "expert_workspace": "share of the naive mixture-of-experts workspace that is live at the peak (0 to 1)",
    "max_num_seqs": "sequences in a batch, default on accelerators of at least large_accelerator_gib",
    "max_num_seqs_small": "the same default on smaller accelerators",
    "max_num_batched_tokens": "tokens of one scheduler step, default on accelerators of at least large_accelerator_gib",
    "max_num_batched_tokens_small": "the same default on smaller accelerators",
    "max_num_batched_tokens_huge": "the same default from huge_accelerator_gib on",
    "huge_accelerator_gib": "memory from which the largest step applies",
    "whole_prefill_tokens": "prompts up to this length are prefilled in one step, so the step is as long as the context",
    "large_accelerator_gib": "memory from which the larger defaults apply",
    "auto_reserve_gib": "without a given fraction: reserve that the engine derives its fraction from, constant part",
    "auto_reserve_gib_per_1024_step_tokens": "the same, part that grows with the prefill step",
    "auto_reserve_gib_per_8_ranks": "the same, part that grows with the accelerators of a replica",
    "auto_reserve_floor_gib": "the same, least value on accelerators of at least 60 GiB",
    "cuda_graph_gib": "memory of captured CUDA graphs",
    "graphs_in_budget": "1 when graphs are taken from the budget before KV, 0 when they come on top",
    "block_tokens": "tokens per KV block",
    "vocabulary_multiple": "embedding rows are padded to a multiple of this",
    "mxfp4_hidden_multiple": "MXFP4 experts: hidden width is padded to a multiple of this",
    "mxfp4_intermediate_multiple": "MXFP4 experts: width per rank is padded to a multiple of this",
    "absorbed_mla": "1 when a second 16-bit copy of the MLA up-projection is kept for decoding",
    "rocm_row_padding_bytes": "added to each 8-bit weight row on AMD accelerators",
    "group_hybrid_layers": "1 when layers of different attention kinds share one pool in equal groups (padding)",
    "sliding_pool_ratio": "sliding-window tokens reserved per full-attention token when pools are separate",
    "tokens_from_concurrency": "1 when hybrids report concurrency times context as their tokens",
    "steps_in_flight": "scheduler steps whose tokens a windowed layer may hold at once",
    "sparse_mla_fp8_bytes": "bytes per token and layer of an 8-bit latent cache under sparse attention, 0 for the plain size",
}
"""Term -> meaning. Every term of every engine entry is one of these."""

_SIZES = frozenset(
    ("block_tokens", "vocabulary_multiple", "mxfp4_hidden_multiple", "mxfp4_intermediate_multiple")
)
"""Terms that others are rounded up to."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One engine version as numbers."""

    engine: str
    title: str
    memory_fraction: float
    fraction_of: FractionOf
    flag: str
    measured_on: str
    small_batch: tuple[str, ...]
    terms: Mapping[str, float]

    def __getitem__(self, term: str) -> float:
        return self.terms.get(term, 0.0)


def profile_of(
    kb: KnowledgeBase, engine: str = "", version: str = "", overrides: Mapping[str, float] | None = None
) -> Profile:
    """The profile of an engine by name and version (empty: the one it was measured on), with overridden terms.

    overrides: keys of `TERMS`. A version that holds no number (`nightly`) counts as empty. Raises UnknownIdError for an
    unknown engine, and InputError for an overridden size of blocks or multiples below 1.
    """
    for name in _SIZES & (overrides or {}).keys():
        if overrides is not None and overrides[name] < 1:
            raise InputError(f"{name}: {overrides[name]:g} is not a size; give 1 or more")
    key = ("engine profile", engine, version)
    profile: Profile | None = kb.memo.get(key)
    if profile is None:
        entry = _entry(kb, engine or "vllm")
        terms = {name: cell.number for name, cell in entry.terms.items()}
        if asked := _version(version):
            for other in entry.versions:
                if (not other.since or asked >= _version(other.since)) and (
                    not other.before or asked < _version(other.before)
                ):
                    terms.update((name, cell.number) for name, cell in other.terms.items())
        profile = Profile(
            engine=entry.slug, title=entry.title, memory_fraction=entry.memory_fraction.number,
            fraction_of=entry.fraction_of, flag=entry.flag, measured_on=entry.measured_on,
            small_batch=entry.small_batch, terms=terms,
        )  # fmt: skip
        kb.memo[key] = profile
    return replace(profile, terms={**profile.terms, **overrides}) if overrides else profile


def _entry(kb: KnowledgeBase, name: str) -> Engine:
    """The engine of a name, or the one that a longer name holds (`vllm (Gaudi fork)`)."""
    try:
        found = kb.find("engines", name)
    except UnknownIdError:
        inside = [ids for key, ids in kb.names["engines"].items() if len(key) > 3 and key in fold(name)]
        if not inside:
            raise
        found = kb.entries[inside[0][0]]
    assert isinstance(found, Engine)
    return found


def _version(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, `0.8.3rc2` as (0, 8, 3); empty when there are none."""
    if re.search(r"\bV0\b", text):  # the engine before 0.8, which some later releases could still run
        return (0, 7, 3)
    found = re.match(r"\s*[vV]?(\d{1,6}(?:\.\d{1,6}){0,2})", text)
    if not found:
        return ()
    numbers = [int(part) for part in found.group(1).split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))
