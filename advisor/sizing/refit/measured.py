"""A table of measured serving latency, read row by row: what was served, how it was spread, how fast it was.

Columns are those of the table that the aiconfigurator package ships (docs/performance.md lists them). Layouts are read
as they ran, not as a table folds them: see `advisor.sizing.folded`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reading import read_bounded
from advisor.records import Accelerator, Checkpoint, Layout, Model, System
from advisor.sizing.folded import pool_layout
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.names import resolve_model
from advisor.units import shown

REQUIRED = ("model_path", "system", "backend", "isl", "osl", "ttft_ms", "tpot_ms")
"""Columns without which a row says nothing."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The accelerators that do one job: `workers` replicas of a layout. known: both are stated, not guessed."""

    layout: Layout
    workers: int
    known: bool = True


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One row. batch: sequences in flight in one decoding replica; concurrency: of the whole deployment.

    prefill is None when prompts and tokens share a pool. run: rows with the same measured values are one run.
    """

    row: int
    model: Model
    checkpoint: Checkpoint
    accelerator: Accelerator
    system: System
    engine: str
    decode: Pool
    prefill: Pool | None
    batch: float
    concurrency: float
    input_tokens: float
    output_tokens: float
    ttft_ms: float
    tpot_ms: float
    date: str

    @property
    def known(self) -> bool:
        """Whether the row states its layout; otherwise it was guessed."""
        return self.decode.known and (self.prefill is None or self.prefill.known)

    @property
    def run(self) -> tuple[str, float, float]:
        """Identifies the measurement behind a row."""
        return self.system.id, self.ttft_ms, self.tpot_ms


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A row that cannot be predicted, and why."""

    row: int
    reason: str


def fingerprint(path: Path) -> str:
    """SHA-256 of a file's bytes, 16 hexadecimal digits."""
    return hashlib.sha256(read_bounded(path)).hexdigest()[:16]


def read_table(kb: KnowledgeBase, path: Path) -> tuple[list[Observation], list[Refusal]]:
    """All rows of a CSV file as observations, or the reason why one cannot be used.

    Raises InputError when the file cannot be read or lacks a column.
    """
    try:
        with io.StringIO(read_bounded(path).decode("utf-8"), newline="") as stream:
            reader = csv.DictReader(stream, restval="")
            missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    f"{path}: no column {', '.join(missing)}; a measured table has {', '.join(REQUIRED)}"
                )
            rows = list(reader)
    except (OSError, ValueError, csv.Error) as error:  # too large, or not UTF-8
        raise InputError(f"{path}: cannot read it as CSV: {error}") from error
    found: list[Observation] = []
    refused: list[Refusal] = []
    for number, row in enumerate(rows, start=2):
        try:
            found.append(read_row(kb, row, number))
        except (InputError, ValueError) as error:
            refused.append(Refusal(row=number, reason=str(error)))
    return found, refused


def read_row(kb: KnowledgeBase, row: Mapping[str, str], number: int) -> Observation:
    """One row of the table. Raises InputError that says what is missing or unknown."""
    model = resolve_model(kb, row["model_path"]).model
    system = kb.find("systems", row["system"])
    assert isinstance(system, System)
    accelerator = kb.entries[system.accelerator]
    assert isinstance(accelerator, Accelerator)
    checkpoint = pick_checkpoint(model, row.get("precision") or "")
    split = row.get("mode") == "disagg"
    concurrency = _number(row, "concurrency")
    if split:
        prefill = _side_pool(row, "prefill_", system, concurrency)
        decode = _side_pool(row, "decode_", system, concurrency)
        stated = _number(row, "decode_batch_size")
        batch = stated * decode.layout.dp if stated else (concurrency or 0.0) / decode.workers
        concurrency = concurrency or batch * decode.workers
    else:
        prefill = None
        decode, batch = _shared_pool(row, system, concurrency)
        concurrency = concurrency or batch
    values = {name: _positive(row, name) for name in ("isl", "osl", "ttft_ms", "tpot_ms")}
    if batch <= 0:
        raise InputError("neither concurrency nor a batch size is stated")
    return Observation(
        row=number, model=model, checkpoint=checkpoint, accelerator=accelerator, system=system, engine=row["backend"],
        decode=decode, prefill=prefill, batch=max(1.0, batch), concurrency=concurrency, input_tokens=values["isl"],
        output_tokens=values["osl"], ttft_ms=values["ttft_ms"], tpot_ms=values["tpot_ms"], date=row.get("measured") or "",
    )  # fmt: skip


def _shared_pool(row: Mapping[str, str], system: System, concurrency: float | None) -> tuple[Pool, float]:
    """(pool, sequences per replica) of an aggregated row. batch_size counts sequences per data-parallel rank."""
    tp, moe_tp, moe_ep = (int(_number(row, name) or 1) for name in ("tp_size", "moe_tp_size", "moe_ep_size"))
    pp = int(_number(row, "pp_size") or 1)
    per_rank = _number(row, "batch_size")
    stated = _number(row, "attention_dp_size")
    if stated is None:
        dp = max(1, moe_tp * moe_ep // tp)
        batch = per_rank * dp if per_rank else concurrency or 0.0
        return Pool(layout=Layout(tp=tp, dp=dp, ep=min(moe_ep, tp * dp), pp=pp), workers=1), batch
    dp = int(stated)
    if tp > 8 and tp == moe_tp and system.scale_up_domain > 8:
        pool = _whole(tp, concurrency or 0.0)
        return pool, (concurrency or per_rank or 0.0) / pool.workers
    layout = pool_layout(tp=tp, dp=dp, moe_tp=moe_tp, moe_ep=moe_ep)
    if concurrency is None or (dp == 1 and per_rank and concurrency > 1.5 * per_rank):
        return Pool(layout=layout, workers=1), per_rank or 0.0
    return Pool(layout=layout, workers=1), concurrency


def _side_pool(row: Mapping[str, str], side: str, system: System, concurrency: float | None) -> Pool:
    """One pool of a disaggregated row; where workers are not stated they are guessed from the concurrency."""
    tp, dp = (int(_number(row, side + name) or 1) for name in ("tp_size", "attention_dp_size"))
    moe_tp, moe_ep = (int(_number(row, side + name) or 1) for name in ("moe_tp_size", "moe_ep_size"))
    workers = _number(row, side + "num_workers")
    width = tp * dp
    if workers is not None:
        return Pool(
            layout=Layout(tp=tp, dp=dp, ep=width if dp > 1 and moe_tp * moe_ep > 1 else moe_ep),
            workers=int(workers),
        )
    total = width == moe_tp and width == int(_number(row, "prefill_tp_size") or 0)
    if total and width > 8 and system.scale_up_domain > 8:
        return _whole(width, concurrency or 1.0)
    return _guessed(width if width > 1 else 8, concurrency or 1.0)


def _whole(accelerators: int, concurrency: float) -> Pool:
    """A deployment known only by its total: one prefill worker of four, the rest decodes in groups of eight or as one."""
    decoding = max(8, accelerators - 4)
    if concurrency / decoding > _BUSY:
        return _guessed(decoding, concurrency)
    return Pool(layout=Layout(tp=8, ep=8), workers=max(1, decoding // 8), known=False)


_BUSY = 16.0
"""Sequences per accelerator from which a deployment of unknown layout is taken to run data-parallel attention."""
_WIDEST_TENSOR = 16
"""Widest tensor-parallel group that rows with a stated layout ran."""
_USUAL_WORKERS = 4
"""Decoding workers of a small group at low load: the median of the rows that state them."""


def _guessed(width: int, concurrency: float) -> Pool:
    if width > _WIDEST_TENSOR or concurrency / width > _BUSY:
        return Pool(layout=Layout(tp=1, dp=width, ep=width), workers=1, known=False)
    return Pool(layout=Layout(tp=width, ep=width), workers=_USUAL_WORKERS, known=False)


def _number(row: Mapping[str, str], name: str) -> float | None:
    """A number, or None for an empty or missing cell. Raises InputError for anything else."""
    text = (row.get(name) or "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name}: {shown(text)} is not a number")
    return value


def _positive(row: Mapping[str, str], name: str) -> float:
    value = _number(row, name)
    if value is None or value <= 0:
        raise InputError(f"{name}: a positive number is needed")
    return value


def newest(observations: Sequence[Observation]) -> str:
    """Date of the newest row, ISO; empty when none is dated."""
    return max((o.date for o in observations), default="")
