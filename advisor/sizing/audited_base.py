"""Rate of a benchmark's load by the serving model alone: what the audited fit puts its factors on."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Layout, Model
from advisor.sizing.benchmark_load import Load
from advisor.sizing.deployment import deployment_of, home_of
from advisor.sizing.layouts import layout_problem
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.operating_point import largest_batch

_ENGINE = "tensorrt-llm"
"""Whose fitted terms stand for a tuned submission: most audited results on NVIDIA accelerators come from it."""
_KV_PRECISION = "fp8"
"""Submissions keep the cache in 8 bit beside quantised weights."""
_BATCH_PER_ACCELERATOR = 2048
"""Largest batch that submissions configure for one accelerator."""
_TENSOR_WIDTHS = (1, 2, 4, 8)
_EXPERT_WIDTHS = (2, 4, 8, 16, 32, 64)


def base_rate(
    kb: KnowledgeBase,
    model: Model,
    precision: str,
    accelerator: Accelerator,
    load: Load,
    scenario: str,
    *,
    domain: int,
    prompt_share: float,
    mean_of_tail: float,
) -> float | None:
    """Output tokens/s per accelerator at the best layout within `domain` accelerators; None when nothing fits.

    The mean TPOT is held to `mean_of_tail` of the limit, which is on the 99th percentile. Prompts are `prompt_share` of the
    longest one.
    """
    key = ("base rate", model.id, precision, accelerator.id, scenario, domain, prompt_share, mean_of_tail)
    if key not in kb.memo:
        checkpoint = pick_checkpoint(model, precision)
        prompt = load.max_input_tokens * prompt_share
        limit = load.tpot_ms.get(scenario)
        best: float | None = None
        for layout in _layouts(model, domain):
            rate = _rate(
                kb, model, checkpoint, accelerator, layout, load, prompt, limit and limit * mean_of_tail
            )
            if rate is not None and (best is None or rate > best):
                best = rate
        kb.memo[key] = best
    found: float | None = kb.memo[key]
    return found


def _rate(
    kb: KnowledgeBase, model: Model, checkpoint: Checkpoint, accelerator: Accelerator, layout: Layout, load: Load,
    prompt: float, limit: float | None,
) -> float | None:  # fmt: skip
    deployment = deployment_of(
        kb,
        model,
        checkpoint,
        home_of(kb, accelerator),
        accelerator,
        layout,
        kv_precision=_KV_PRECISION,
        engine=_ENGINE,
    )
    if deployment.short_bytes > 0:
        return None
    curve = deployment.curve(prompt, load.output_tokens, prompt + load.answer_context_tokens)
    batch = largest_batch(
        curve, ttft_ms=None, tpot_ms=limit, max_batch=_BATCH_PER_ACCELERATOR * layout.accelerators
    )
    return None if batch is None else batch / curve.tpot_ms(batch) * 1000 / layout.accelerators


def _layouts(model: Model, domain: int) -> Iterator[Layout]:
    experts = max((group.experts for group in model.architecture.feed_forward), default=0)
    for width in _TENSOR_WIDTHS:
        if width <= domain and not layout_problem(model, Layout(tp=width)):
            yield Layout(tp=width)
    for width in _EXPERT_WIDTHS:
        if width <= min(domain, experts):
            yield Layout(tp=1, dp=width, ep=width)
