"""Which ways of spreading one replica a system offers, smallest first, and the smallest that holds a load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Architecture, Checkpoint, Layout, Memory, Model, System
from advisor.sizing.memory import fit
from advisor.sizing.weights import checkpoint_bytes

_TENSOR_WIDTHS = (1, 2, 4, 8, 16, 32, 64)
_EXPERT_WIDTHS = (2, 4, 8, 16, 24, 32, 36, 48, 64, 72, 96, 128, 144)
_NARROW = 256
"""Below this width per rank, slices of an expert waste the matrix units and break 128-wide scale blocks."""


def layouts_for(model: Model, system: System, width_limit: int | None = None) -> tuple[Layout, ...]:
    """Layouts of one replica on a system, fewest accelerators first.

    Tensor parallelism over 1, 2, 4 … accelerators; where the heads do not divide, the largest width that does times
    pipeline stages; for mixture-of-experts models also data-parallel attention with expert parallelism. Nothing is wider
    than the scale-up domain unless `width_limit` is larger: then pipeline stages span the domains.
    """
    domain = min(system.scale_up_domain, system.accelerators)
    return _ranked(model.architecture, system.accelerators, domain, width_limit)


@lru_cache(maxsize=2048)
def _ranked(
    architecture: Architecture, accelerators: int, domain: int, width_limit: int | None
) -> tuple[Layout, ...]:
    """Layouts within a domain, or across domains up to the limit, fewest accelerators first."""
    limit = min(width_limit, domain) if width_limit else domain
    found = [*_tensor(architecture, limit), *_expert(architecture, limit)]
    if width_limit and width_limit > domain:
        inside = max((layout.tp for layout in found if layout.pp == 1 and layout.dp == 1), default=1)
        found += [
            replace(_tensor_layout(architecture, inside), pp=domains * domain // inside)
            for domains in range(2, width_limit // domain + 1)
        ]
    ranked = sorted(dict.fromkeys(found), key=lambda layout: (layout.accelerators, layout.pp, layout.dp))
    return tuple(replace(layout, replicas=max(1, accelerators // layout.accelerators)) for layout in ranked)


def layout_problem(model: Model, layout: Layout) -> str:
    """Why engines would refuse this layout, or an empty text."""
    return _problem(model.architecture, layout)


def _problem(architecture: Architecture, layout: Layout) -> str:
    for group in architecture.attention:
        if group.heads and group.heads % layout.tp:
            return f"{group.heads} attention heads do not divide by tensor parallelism {layout.tp}"
        if (
            group.kv_heads
            and group.kv_heads % layout.tp
            and layout.tp % group.kv_heads
            and group.kind != "mla"
        ):
            return f"{group.kv_heads} KV heads and tensor parallelism {layout.tp} do not divide"
    experts = max((group.experts for group in architecture.feed_forward), default=0)
    if layout.ep > 1 and not experts:
        return "expert parallelism on a model without experts"
    if layout.ep > layout.tp * layout.dp:
        return f"expert parallelism {layout.ep} over {layout.tp * layout.dp} accelerators of a stage"
    return ""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A layout and what it leaves."""

    layout: Layout
    memory: Memory

    @property
    def fits(self) -> bool:
        """Whether the load fits."""
        return self.memory.headroom_bytes >= 0


def smallest_fit(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    system: System,
    accelerator: Accelerator,
    *,
    width_limit: int | None = None,
    **load: Any,
) -> Placement:
    """The first layout of a system that holds the load (keywords of `memory.fit`), or the widest one when none does."""
    layouts = layouts_for(model, system, width_limit)
    least = checkpoint_bytes(model, checkpoint) / accelerator.hbm_visible_bytes.number
    tried = [layout for layout in layouts if layout.accelerators >= least] or [layouts[-1]]
    placement: Placement | None = None
    for layout in tried:
        placement = Placement(layout=layout, memory=fit(kb, model, checkpoint, accelerator, layout, **load))
        if placement.fits:
            break
    assert placement is not None
    return placement


def _tensor(architecture: Architecture, limit: int) -> Iterator[Layout]:
    for width in _TENSOR_WIDTHS:
        if width <= limit:
            tp = width
            while tp > 1 and _problem(architecture, Layout(tp=tp)):
                tp //= 2
            if width // tp <= architecture.layers:
                yield replace(_tensor_layout(architecture, tp), pp=width // tp)


def _tensor_layout(architecture: Architecture, tp: int) -> Layout:
    """Tensor parallelism, with experts spread whole when slices of them would be too narrow for the kernels."""
    narrow = any(
        group.kind == "moe" and tp > 1 and group.intermediate < tp * _NARROW and group.experts % tp == 0
        for group in architecture.feed_forward
    )
    return Layout(tp=tp, ep=tp if narrow else 1)


def _expert(architecture: Architecture, limit: int) -> Iterator[Layout]:
    experts = max((group.experts for group in architecture.feed_forward), default=0)
    for width in _EXPERT_WIDTHS:
        if width <= limit and width <= experts:
            yield Layout(tp=1, dp=width, ep=width)
