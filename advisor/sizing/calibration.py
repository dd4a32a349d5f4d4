"""The fitted coefficients that apply to one deployment, and how wide its interval is."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Architecture, Basis, Calibration, Engine, Model
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS

SERVING = "calibration/serving"
"""Prefix of the ids of entries fitted to measured serving latency."""
_RATE_TERMS = frozenset(
    ("dense_weights", "expert_weights", "cache", "compute", "cache_compute", "all_reduce", "all_to_all", "scale_out",
     "prompt_compute", "prompt_experts", "prompt_attention", "prompt_all_reduce", "prompt_all_to_all")
)  # fmt: skip
"""Terms that count in the physical bound: work at the data-sheet rate, nothing lost between."""


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Coefficients in the order of `STEP_TERMS` and `FIRST_TERMS`, factors applied.

    step_low … first_high: measured / predicted at the ends of the 90 % interval. basis: bound when nothing was fitted.
    like: how close the fit's data are: `seen` (this model and precision on this accelerator and engine), `seen elsewhere`,
    `new model`, `new accelerator`; `layout guessed` where the layout itself is.
    """

    step: tuple[float, ...]
    first: tuple[float, ...]
    step_low: float
    step_high: float
    first_low: float
    first_high: float
    basis: Basis
    like: str
    entry: str


NEARNESS = {
    "seen": "servers of this model and precision were measured on this accelerator",
    "seen elsewhere": "this accelerator was measured, and this model elsewhere",
    "new model": "this accelerator was measured, this model was not",
    "new accelerator": "no server on this accelerator was measured; what others have in common stands in",
    "layout guessed": "the layout is a guess",
    "bound": "nothing was measured; the data sheet's rates alone",
}
"""How close the data of a fit are, in words for people."""


def model_key(architecture: Architecture, precision: str = "") -> str:
    """What identifies a model's shape in a calibration: models of one architecture share what was learned."""
    experts = max((group.experts for group in architecture.feed_forward), default=0)
    shape = f"{architecture.type} {architecture.layers}x{architecture.hidden}" + (
        f"/{experts}" if experts else ""
    )
    return f"{shape} {precision}" if precision else shape


def engine_slug(kb: KnowledgeBase, engine: str) -> str:
    """Slug of an engine by any of its names; empty means the default, vLLM. Raises UnknownIdError for an unknown one."""
    key = ("engine slug", engine)
    if key not in kb.memo:
        found = kb.find("engines", engine or "vllm")
        assert isinstance(found, Engine)
        kb.memo[key] = found.slug
    slug: str = kb.memo[key]
    return slug


def serving_id(accelerator: str = "", engine: str = "") -> str:
    """Id of the serving entry for an accelerator's slug and an engine's slug; empty means any."""
    return f"{SERVING}-{accelerator or 'any'}-{engine or 'any'}"


def coefficients_for(
    kb: KnowledgeBase,
    model: Model,
    precision: str,
    accelerator: Accelerator,
    engine: str,
    *,
    disaggregated: bool = False,
    guessed: bool = False,
) -> Coefficients:
    """The closest fit: this accelerator and engine, else this engine on any accelerator, else any, else the bound."""
    for entry_id in (serving_id(accelerator.slug, engine), serving_id("", engine), serving_id()):
        entry = kb.calibrations.get(entry_id)
        if entry is not None:
            return _fitted(entry, model, precision, disaggregated=disaggregated, guessed=guessed)
    return Coefficients(
        step=tuple(1.0 if name in _RATE_TERMS else 0.0 for name in STEP_TERMS),
        first=tuple(1.0 if name.startswith("own_") or name == "admission" else 0.0 for name in FIRST_TERMS),
        step_low=1.0, step_high=_BOUND_WIDTH, first_low=1.0, first_high=_BOUND_WIDTH, basis="bound", like="bound", entry="",
    )  # fmt: skip


_BOUND_WIDTH = 10.0
"""A bound says nothing about how far above it a server runs; an order of magnitude is printed as the upper end."""


def _fitted(
    entry: Calibration, model: Model, precision: str, *, disaggregated: bool, guessed: bool
) -> Coefficients:
    exact, shape = model_key(model.architecture, precision), model_key(model.architecture)
    seen = exact in entry.data.get("models", ())
    if guessed:
        like = "layout guessed"
    elif not entry.accelerator:
        like = "new accelerator"
    elif seen:
        like = "seen"
    else:
        like = "seen elsewhere" if shape in entry.factors else "new model"
    kind = " disaggregated" if disaggregated else ""

    def factor(factors: dict[str, float]) -> float:
        found = factors.get(exact, factors.get(shape, 1.0))
        return found * factors.get("disaggregated", 1.0) if disaggregated else found

    def quantile(target: str, end: str) -> float:
        residuals = entry.residuals
        return residuals.get(f"{target} {like}{kind} {end}", residuals.get(f"{target} {like} {end}", 1.0))

    step, first = factor(entry.factors), factor(entry.first_factors)
    return Coefficients(
        step=tuple(entry.terms.get(name, 0.0) * step for name in STEP_TERMS),
        first=tuple(entry.first_terms.get(name, 0.0) * first for name in FIRST_TERMS),
        step_low=quantile("tpot", "5%"), step_high=quantile("tpot", "95%"), first_low=quantile("ttft", "5%"),
        first_high=quantile("ttft", "95%"), basis="calibrated", like=like, entry=entry.id,
    )  # fmt: skip
