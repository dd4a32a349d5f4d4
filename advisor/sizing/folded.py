"""Layouts as they ran, behind the widths that tables of measurements write down.

Two conventions fold more than one width into a column. Where TP times EP was multiplied into the width, the same run
occurs twice with equal latencies, once as 8 and once as 64 = 8 x 8 accelerators: the group has EP accelerators. Where a
data-parallel attention was written beside TP of the same size, with EP as their product, the group has TP accelerators.
"""

from __future__ import annotations

from dataclasses import replace

from advisor.records import Layout, System


def pool_layout(*, tp: int, dp: int, moe_tp: int, moe_ep: int) -> Layout:
    """The layout behind a row that states the experts' widths too."""
    width = tp * dp
    if moe_ep > 1 and moe_tp == moe_ep and moe_tp * moe_ep == width:
        return Layout(tp=1, dp=moe_ep, ep=moe_ep) if dp > 1 else Layout(tp=moe_ep, ep=moe_ep)
    if dp > 1 and tp == dp and moe_ep == width:
        return Layout(tp=1, dp=dp, ep=dp)
    return Layout(tp=tp, dp=dp, ep=min(moe_ep, width))


def unfolded(layout: Layout, system: System | None) -> tuple[Layout, str]:
    """(layout to reckon with, what was read differently) for a layout without the experts' tensor width.

    Only a group wider than the scale-up domain of a node is taken for a folded one: inside the domain both readings run.
    """
    width = layout.tp * layout.dp
    if system is None or system.kind_of_unit != "node" or width <= system.scale_up_domain or layout.ep <= 1:
        return layout, ""
    moe_tp = layout.ep if layout.ep * layout.ep == width else 1
    ran = pool_layout(tp=layout.tp, dp=layout.dp, moe_tp=moe_tp, moe_ep=layout.ep)
    if ran.tp * ran.dp == width:
        return layout, ""
    ran = replace(ran, pp=layout.pp, replicas=layout.replicas)
    return ran, f"{width} accelerators with EP {layout.ep} read as a group of {ran.tp * ran.dp}"
