"""Ideal times of one decoding step and of one prompt, term by term, from shapes and data sheets alone.

A term is what an accelerator would need at its data-sheet rate (ms), or a count of things that cost time each (layers,
hops). The calibration holds one fitted coefficient per term; docs/performance.md has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.records import Accelerator, Architecture, Layout, Model, System
from advisor.sizing.shares import Share, layers_of

ACTIVATION_BYTES = 2.0
"""Activations travel between accelerators in 16 bit."""
DISPATCH_BYTES = 3.0
"""Bytes per value of an expert dispatch and its combine: 8 bit out, 16 bit back."""

STEP_TERMS: dict[str, str] = {
    "dense_weights": "× time to read attention, dense and shared weights and the output layer from HBM",
    "expert_weights": "× time to read the routed experts that the batch touches from HBM",
    "cache": "× time to read the KV cache and recurrent states from HBM",
    "compute": "× time of the matrix products at the dense rate of the weights' precision",
    "cache_compute": "× time of attention over the cache at the 16-bit dense rate",
    "all_reduce": "× time of the tensor-parallel all-reduces at the scale-up bandwidth",
    "all_to_all": "× time of the expert dispatch and combine at the scale-up bandwidth",
    "scale_out": "× time of what crosses the scale-up domain at the network's bandwidth",
    "layer_us": "µs per layer",
    "moe_layer_us": "µs per mixture-of-experts layer, on top",
    "latent_layer_us": "µs per layer of latent attention, on top",
    "linear_layer_us": "µs per layer of linear attention, on top",
    "sparse_layer_us": "µs per layer with an indexer, on top",
    "tensor_hop_us": "µs per layer and doubling of the tensor-parallel group",
    "expert_hop_us": "µs per mixture-of-experts layer and doubling of the expert-parallel group of a data-parallel attention",
    "network_hop_us": "µs per layer when the group crosses the scale-up domain",
    "sequence_layer_ns": "ns per layer and sequence of a rank",
    "prompt_compute": "× prefill products of attention, dense and shared weights between two steps",
    "prompt_experts": "× prefill products of routed experts between two steps",
    "prompt_attention": "× prefill attention between two steps",
    "prompt_all_reduce": "× prefill all-reduces between two steps",
    "prompt_all_to_all": "× prefill expert dispatch between two steps",
}
"""Term of time per output token -> meaning and unit of its coefficient."""

FIRST_TERMS: dict[str, str] = {
    "base_ms": "ms per request",
    "steps": "decoding steps that a new request waits for",
    "sequence_ms": "ms per concurrent sequence",
    "layer_us": "µs per layer",
    "latent_layer_us": "µs per layer of latent attention, on top",
    "queue_latent_layer_us": "µs per layer of latent attention and concurrent sequence",
    "own_compute": "× prefill products of the request's own prompt, experts left out",
    "own_experts": "× prefill products of routed experts of the own prompt",
    "own_attention": "× prefill attention of the own prompt",
    "own_all_reduce": "× all-reduces of the own prompt",
    "own_all_to_all": "× expert dispatch of the own prompt",
    "queue_compute": "× the same of one prompt, per concurrent sequence",
    "queue_experts": "× the same of one prompt, per concurrent sequence",
    "queue_attention": "× the same of one prompt, per concurrent sequence",
    "queue_all_reduce": "× the same of one prompt, per concurrent sequence",
    "queue_all_to_all": "× the same of one prompt, per concurrent sequence",
    "admission": "× time that requests beyond the KV capacity wait for a place",
}
"""Term of time to first token -> meaning and unit of its coefficient."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A term in milliseconds as a function of the sequences in flight B: fixed + per_sequence·B + touched·(1 − idle^B)."""

    fixed: float = 0.0
    per_sequence: float = 0.0
    touched: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Rates of one accelerator, per millisecond: bytes of HBM, operations, bytes of links in one direction.

    domain: accelerators that share the scale-up fabric. network: bytes over the deployment's network.
    """

    hbm: float
    operations: float
    wide_operations: float
    link: float
    network: float
    domain: int


_PCIE_GB_PER_S = 128.0
"""PCIe 5.0 x16, both directions, where a data sheet names no scale-up link (PCI-SIG)."""
_NETWORK_GB_PER_S = 50.0
"""One 400 Gbit/s NIC per accelerator where the system names none."""


def machine_of(
    accelerator: Accelerator,
    system: System | None,
    weight_precision: str,
    scale_out_gb_per_s: float | None = None,
) -> Machine:
    """Rates for weights of a precision; a precision without a tensor path computes at the next wider one."""
    rates = {name: cell.number for name, cell in accelerator.dense_tflops.items()}
    wide = rates.get("bf16") or rates.get("fp16") or max(rates.values(), default=100.0)
    operations = rates.get(
        {"int4": "bf16", "fp6": "fp8", "fp32": "bf16"}.get(weight_precision, weight_precision), wide
    )
    link = accelerator.scale_up_gb_per_s.number if accelerator.scale_up_gb_per_s else _PCIE_GB_PER_S
    network = scale_out_gb_per_s
    if network is None and system is not None and system.scale_out_gb_per_s is not None:
        network = system.scale_out_gb_per_s.number
    return Machine(
        hbm=accelerator.hbm_bandwidth_tb_per_s.number * 1e9, operations=operations * 1e9, wide_operations=wide * 1e9,
        link=link / 2 * 1e6, network=(network or _NETWORK_GB_PER_S) * 1e6,
        domain=min(system.scale_up_domain, system.accelerators) if system is not None else 8,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Everything of a deployment's step that the workload does not change."""

    architecture: Architecture
    layout: Layout
    share: Share
    machine: Machine
    idle_share: float
    moe_layers: int

    @property
    def latent_layers(self) -> int:
        """Layers of latent attention."""
        return layers_of(self.architecture, "mla")

    @property
    def log_idle(self) -> float:
        """Logarithm of the share of experts that one more sequence leaves untouched, per sequence of the replica."""
        return math.log(self.idle_share) / self.layout.pp if self.idle_share > 0 else -math.inf

    def lines(
        self, input_tokens: float, output_tokens: float, context_tokens: float, *, prefill: bool
    ) -> list[Line]:
        """One line per term of `STEP_TERMS`, in order. prefill: prompts are processed between decoding steps."""
        share, machine, layout = self.share, self.machine, self.layout
        ranks = layout.dp * layout.pp
        group = layout.tp * layout.dp
        layers = self.architecture.layers
        per_rank, per_group = 1.0 / ranks, 1.0 / (layout.pp * group)
        moved = 2 * layers * self.architecture.hidden * ACTIVATION_BYTES
        reduce, outside = self._all_reduce(moved)
        dispatch, dispatch_outside = self._all_to_all()
        prompts = input_tokens / output_tokens if prefill else 0.0
        attention = share.prompt_attention(input_tokens) / output_tokens if prefill else 0.0
        dense_prompt = 2 * (share.dense_values - share.head_values) / machine.operations
        us = 1e-3
        crosses = layers * us if group > machine.domain else 0.0
        return [
            Line(fixed=share.dense_bytes / machine.hbm),
            Line(touched=share.expert_bytes / machine.hbm),
            Line(
                per_sequence=(share.cache_bytes(context_tokens) + share.state_bytes) / machine.hbm * per_rank
            ),
            Line(
                per_sequence=2
                * (share.dense_values * per_rank + share.expert_values / layout.pp)
                / machine.operations
            ),
            Line(per_sequence=share.cache_operations(context_tokens) / machine.wide_operations * per_rank),
            Line(per_sequence=reduce * per_rank),
            Line(per_sequence=dispatch * per_group),
            Line(per_sequence=outside * per_rank + dispatch_outside * per_group),
            Line(fixed=layers * us),
            Line(fixed=self.moe_layers * us),
            Line(fixed=self.latent_layers * us),
            Line(fixed=layers_of(self.architecture, "linear", "mamba") * us),
            Line(fixed=sum(g.layers for g in self.architecture.attention if g.index_heads) * us),
            Line(fixed=layers * us * math.log2(layout.tp)),
            Line(fixed=self.moe_layers * us * math.log2(layout.ep) if layout.dp > 1 else 0.0),
            Line(fixed=crosses),
            Line(per_sequence=layers * 1e-6 * per_rank),
            Line(per_sequence=prompts * dense_prompt * per_rank),
            Line(per_sequence=prompts * 2 * share.expert_values / machine.operations / layout.pp),
            Line(per_sequence=attention / machine.wide_operations * per_rank),
            Line(per_sequence=prompts * (reduce + outside) * per_rank),
            Line(per_sequence=prompts * (dispatch + dispatch_outside) * per_group),
        ]

    def prompt(self, input_tokens: float) -> tuple[float, float, float, float, float]:
        """One prompt of its own on the replica (ms): products without experts, experts, attention, all-reduce, dispatch.

        Data-parallel ranks are taken as busy with prompts of their own.
        """
        share, machine, layout = self.share, self.machine, self.layout
        reduce, outside = self._all_reduce(
            2 * self.architecture.layers * self.architecture.hidden * ACTIVATION_BYTES
        )
        dispatch, dispatch_outside = self._all_to_all()
        return (
            2 * input_tokens * (share.dense_values - share.head_values) / machine.operations / layout.dp,
            2 * input_tokens * share.expert_values / machine.operations,
            share.prompt_attention(input_tokens) / machine.wide_operations / layout.dp,
            input_tokens * (reduce + outside) / layout.dp,
            input_tokens * (dispatch + dispatch_outside) / (layout.tp * layout.dp),
        )

    def prompt_bound(self, input_tokens: float) -> float:
        """Least time of one prompt (ms) at the data sheet's rates: its rank alone does all of its attention.

        Only the experts of a data-parallel group are shared; ranks beside it cannot take over a part of the sequence.
        """
        products, experts, attention, *_ = self.prompt(input_tokens)
        return (products + attention) * self.layout.dp + experts

    def _all_reduce(self, moved: float) -> tuple[float, float]:
        """(inside, outside) ms per token of a rank: ring or two-shot inside the domain, shards of it over the network."""
        tp, domain = self.layout.tp, self.machine.domain
        if tp == 1:
            return 0.0, 0.0
        inside = min(tp, domain)
        outside = 0.0
        if tp > domain:
            domains = tp / domain
            outside = moved / domain * 2 * (domains - 1) / domains / self.machine.network
        return moved * 2 * (inside - 1) / inside / self.machine.link, outside

    def _all_to_all(self) -> tuple[float, float]:
        """(inside, outside) ms per token of the group's mean rank: each token goes to its experts' ranks and back."""
        layout, domain = self.layout, self.machine.domain
        if layout.dp == 1 or layout.ep == 1:
            return 0.0, 0.0
        sent = sum(
            g.layers * g.experts_per_token * (g.latent_size or self.architecture.hidden) * DISPATCH_BYTES
            for g in self.architecture.feed_forward
            if g.kind == "moe"
        )
        width = layout.tp * layout.dp
        inside = min(width, domain)
        return sent * (inside - 1) / width / self.machine.link, sent * (
            width - inside
        ) / width / self.machine.network


def steps_of(model: Model, layout: Layout, share: Share, machine: Machine) -> Steps:
    """The step of a deployment. Experts are taken as equally likely, so a batch of B tokens leaves (1 − k/E)^B untouched."""
    moe = [g for g in model.architecture.feed_forward if g.kind == "moe"]
    idle = 1 - max((g.experts_per_token / g.experts for g in moe if g.experts), default=1.0)
    return Steps(
        architecture=model.architecture, layout=layout, share=share, machine=machine, idle_share=max(idle, 0.0),
        moe_layers=sum(g.layers for g in moe),
    )  # fmt: skip
