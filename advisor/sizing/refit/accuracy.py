"""How far predictions of measured rows are off: median error and coverage of the interval, by slice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.sizing.deployment import Prefill
from advisor.sizing.performance import Prediction, predict
from advisor.sizing.refit.measured import Observation, Refusal


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One row with its prediction."""

    observation: Observation
    prediction: Prediction

    @property
    def mode(self) -> str:
        """How the pools were arranged, and whether the row says so."""
        arranged = "shared" if self.observation.prefill is None else "disaggregated"
        return arranged if self.observation.known else f"{arranged}, layout unknown"


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Median absolute relative error and the share of measurements inside the 90 % interval."""

    name: str
    rows: int
    tpot_error: float
    tpot_coverage: float
    ttft_error: float
    ttft_coverage: float


def judge(kb: KnowledgeBase, observations: Iterable[Observation]) -> tuple[list[Judged], list[Refusal]]:
    """Predict every row; a row that the model refuses comes back with the reason."""
    judged: list[Judged] = []
    refused: list[Refusal] = []
    for o in observations:
        prefill = None
        if o.prefill is not None:
            prefill = Prefill(
                layout=o.prefill.layout, workers=o.prefill.workers, decode_workers=o.decode.workers
            )
        try:
            prediction = predict(
                kb, o.model, o.checkpoint, o.system, o.accelerator, o.decode.layout, batch_per_replica=o.batch,
                input_tokens=o.input_tokens, output_tokens=o.output_tokens, engine=o.engine, prefill=prefill,
                layout_guessed=not o.known,
            )  # fmt: skip
        except InputError as error:
            refused.append(Refusal(row=o.row, reason=str(error)))
            continue
        judged.append(Judged(observation=o, prediction=prediction))
    return judged, refused


def slices(judged: Sequence[Judged]) -> list[Slice]:
    """All rows, then by mode, accelerator, engine and model."""
    if not judged:
        return []
    found = [_slice("all", judged)]
    keys: tuple[tuple[str, Callable[[Judged], str]], ...] = (
        ("mode", lambda row: row.mode),
        ("accelerator", lambda row: row.observation.accelerator.slug),
        ("engine", lambda row: row.observation.engine),
        ("model", lambda row: row.observation.model.slug),
    )
    for name, key in keys:
        for label in sorted({key(row) for row in judged}):
            found.append(_slice(f"{name} {label}", [row for row in judged if key(row) == label]))
    return found


def _slice(name: str, rows: Sequence[Judged]) -> Slice:
    tpot = [(r.observation.tpot_ms, r.prediction.tpot_ms) for r in rows]
    ttft = [(r.observation.ttft_ms, r.prediction.ttft_ms) for r in rows]
    return Slice(
        name=name, rows=len(rows), tpot_error=median(abs(p.value / m - 1) for m, p in tpot),
        tpot_coverage=sum(p.low <= m <= p.high for m, p in tpot) / len(rows),
        ttft_error=median(abs(p.value / m - 1) for m, p in ttft),
        ttft_coverage=sum(p.low <= m <= p.high for m, p in ttft) / len(rows),
    )  # fmt: skip
