"""Which ways of spreading one replica a system offers, smallest first, and the smallest that holds a load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Layout, Memory, Model, System
from advisor.sizing.memory import fit

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
    limit = min(width_limit, domain) if width_limit else domain
    found = [*_tensor(model, limit), *_expert(model, limit)]
    if width_limit and width_limit > domain:
        inside = max((layout.tp for layout in found if layout.pp == 1 and layout.dp == 1), default=1)
        found += [
            replace(_tensor_layout(model, inside), pp=domains * domain // inside)
            for domains in range(2, width_limit // domain + 1)
        ]
    ranked = sorted(dict.fromkeys(found), key=lambda layout: (layout.accelerators, layout.pp, layout.dp))
    return tuple(
        replace(layout, replicas=max(1, system.accelerators // layout.accelerators)) for layout in ranked
    )


def layout_problem(model: Model, layout: Layout) -> str:
    """Why engines would refuse this layout, or an empty text."""
    for group in model.architecture.attention:
        if group.heads and group.heads % layout.tp:
            return f"{group.heads} attention heads do not divide by tensor parallelism {layout.tp}"
        if (
            group.kv_heads
            and group.kv_heads % layout.tp
            and layout.tp % group.kv_heads
            and group.kind != "mla"
        ):
            return f"{group.kv_heads} KV heads and tensor parallelism {layout.tp} do not divide"
    if layout.pp > model.architecture.layers:
        return f"{layout.pp} pipeline stages for {model.architecture.layers} layers"
    experts = max((group.experts for group in model.architecture.feed_forward), default=0)
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
    placement: Placement | None = None
    for layout in layouts_for(model, system, width_limit):
        placement = Placement(layout=layout, memory=fit(kb, model, checkpoint, accelerator, layout, **load))
        if placement.fits:
            break
    assert placement is not None
    return placement


def _tensor(model: Model, limit: int) -> Iterator[Layout]:
    for width in _TENSOR_WIDTHS:
        if width <= limit:
            tp = width
            while tp > 1 and layout_problem(model, Layout(tp=tp)):
                tp //= 2
            if width // tp <= model.architecture.layers:
                yield replace(_tensor_layout(model, tp), pp=width // tp)


def _tensor_layout(model: Model, tp: int) -> Layout:
    """Tensor parallelism, with experts spread whole when slices of them would be too narrow for the kernels."""
    narrow = any(
        group.kind == "moe" and tp > 1 and group.intermediate < tp * _NARROW and group.experts % tp == 0
        for group in model.architecture.feed_forward
    )
    return Layout(tp=tp, ep=tp if narrow else 1)


def _expert(model: Model, limit: int) -> Iterator[Layout]:
    experts = max((group.experts for group in model.architecture.feed_forward), default=0)
    for width in _EXPERT_WIDTHS:
        if width <= limit and width <= experts:
            yield Layout(tp=1, dp=width, ep=width)
