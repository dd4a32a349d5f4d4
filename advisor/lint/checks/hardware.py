"""KB430-KB437: figures of accelerators and systems are dense, in the right unit, sourced, and fit each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from advisor.lint.check import Problem, corpus_check, entry_check
from advisor.lint.corpus import Corpus
from advisor.records import Accelerator, Cell, Entry, System

_NOMINAL = {"fp8": 2.0, "int8": 2.0, "fp6": 2.0, "fp4": 4.0, "int4": 4.0}
"""Rate against bf16 that halving the bits gives."""
_LADDER_SLACK = 1.7
_MAX_OPS_PER_BYTE = 575.0
_MAX_TFLOPS_PER_WATT = 2.6
_SETTLED = re.compile(r"\bdense\b|\bspars(?:e|ity)\b", re.IGNORECASE)
_SPARSE_FIGURE = re.compile(
    r"([0-9][0-9,]{0,12}(?:\.[0-9]{1,6})?) (?:with (?:2:4 )?sparsity|sparse)\b", re.IGNORECASE
)

_MAGNITUDES = {
    "hbm_visible_bytes": (1e9, 2e12, "bytes"),
    "hbm_marketed_gb": (1, 2000, "GB"),
    "hbm_bandwidth_tb_per_s": (0.05, 100, "TB/s"),
    "scale_up_gb_per_s": (10, 20_000, "GB/s, both directions together"),
    "tdp_w": (20, 5000, "watts"),
}
"""Field -> smallest and largest value that any accelerator had or was announced with, and the unit."""


@entry_check("KB430", "sparse-flops", "warning", "accelerators")
def sparse_flops(entry: Accelerator) -> Iterator[Problem]:
    """FLOPS that look like the figure with structured sparsity.

    ## What it does
    Compares each precision with bf16 (halving the bits doubles the rate), bf16 with the memory bandwidth (575 operations a byte)
    and with the power (2.6 TFLOPS a watt). A note that speaks of dense or sparse figures settles it, unless the value is the one
    that the note gives "with sparsity".

    ## Why is this bad?
    Data sheets print the sparse figure first. No served model uses it, and every bound computed from it is twice too high.

    ## Example
    ```yaml
    # accelerators/example.yaml
    dense_tflops: {bf16: {value: 1979, trust: unverified}}
    ```

    ## Use instead
    ```yaml
    # accelerators/example.yaml
    dense_tflops: {bf16: {value: 989, trust: unverified}}
    ```

    ## How to fix
    Halve it, or say in the cell's note where the dense figure is stated.
    """
    bf16 = entry.dense_tflops.get("bf16")
    for precision, cell in entry.dense_tflops.items():
        words = f"{cell.note} {cell.locator}"
        reason = ""
        if any(float(text.replace(",", "")) == cell.number for text in _SPARSE_FIGURE.findall(words)):
            reason = "it is what its note gives with sparsity"
        elif not _SETTLED.search(words):
            reason = (
                _bf16_reason(entry, cell) if precision == "bf16" else _ladder_reason(precision, cell, bf16)
            )
        if reason:
            yield Problem(where=("dense_tflops", precision, "value"), message=f"{cell.number:,.6g} {precision} looks sparse: {reason}",
                          fix="halve it, or say in the note that it is dense and where that is stated")  # fmt: skip


def _ladder_reason(precision: str, cell: Cell, bf16: Cell | None) -> str:
    nominal = _NOMINAL.get(precision)
    if nominal is None or bf16 is None or bf16.number <= 0:
        return ""
    ratio = cell.number / bf16.number
    return (
        f"it is {ratio:.1f} times bf16, where {nominal:g} is usual" if ratio > nominal * _LADDER_SLACK else ""
    )


def _bf16_reason(entry: Accelerator, cell: Cell) -> str:
    bandwidth = entry.hbm_bandwidth_tb_per_s.number
    if bandwidth > 0 and cell.number / bandwidth > _MAX_OPS_PER_BYTE:
        return f"{cell.number / bandwidth:,.0f} operations for each byte of bandwidth"
    if (
        entry.tdp_w is not None
        and entry.tdp_w.number > 0
        and cell.number / entry.tdp_w.number > _MAX_TFLOPS_PER_WATT
    ):
        return f"{cell.number / entry.tdp_w.number:.1f} TFLOPS a watt"
    return ""


@entry_check("KB431", "memory-label", "warning", "accelerators")
def memory_label(entry: Accelerator) -> Iterator[Problem]:
    """Visible memory and marketed label do not fit each other.

    ## What it does
    Expects the visible bytes between 93 % and 108 % of the label taken as GB: labels are GB or GiB, which differ by 7 %.

    ## Why is this bad?
    Memory decides what fits. A label entered as bytes, or bytes of another variant, shifts every answer.

    ## Example
    ```yaml
    # accelerators/example.yaml
    hbm_visible_bytes: {value: 64000000000, trust: unverified}
    ```

    ## Use instead
    ```yaml
    # accelerators/example.yaml
    hbm_visible_bytes: {value: 85520809984, trust: unverified}
    ```

    ## How to fix
    Copy the total that the driver or an engine's log prints, in bytes.
    """
    label = entry.hbm_marketed_gb.number * 1e9
    visible = entry.hbm_visible_bytes.number
    if label <= 0 or not 0.93 <= visible / label <= 1.08:
        yield Problem(where=("hbm_visible_bytes", "value"),
                      message=f"{visible / 1e9:,.1f} GB are visible of a label of {entry.hbm_marketed_gb.number:g} GB",
                      fix="copy the total that the driver prints, in bytes, for this variant")  # fmt: skip


@entry_check("KB432", "hardware-magnitude", "error", "accelerators")
def hardware_magnitude(entry: Accelerator) -> Iterator[Problem]:
    """A figure in the wrong unit, by its size.

    ## What it does
    Compares memory, bandwidth, link and power with the range of everything sold or announced so far.

    ## Why is this bad?
    GB/s entered as TB/s is a factor of a thousand in every bound.

    ## Example
    ```yaml
    # accelerators/example.yaml
    hbm_bandwidth_tb_per_s: {value: 3350, trust: unverified}
    ```

    ## Use instead
    ```yaml
    # accelerators/example.yaml
    hbm_bandwidth_tb_per_s: {value: 3.35, trust: unverified}
    ```

    ## How to fix
    Convert it to the unit in the field's name.
    """
    for field, (low, high, unit) in _MAGNITUDES.items():
        cell: Cell | None = getattr(entry, field)
        if cell is not None and (isinstance(cell.value, (str, bool)) or not low <= cell.number <= high):
            yield Problem(where=(field, "value"), message=f"{cell.value} is no likely value in {unit}",
                          fix=f"convert it; {low:,.9g} to {high:,.9g} is the range so far")  # fmt: skip


@corpus_check("KB433", "system-power", "warning")
def system_power(corpus: Corpus) -> Iterator[Problem]:
    """The power of a system does not fit its accelerators.

    ## What it does
    Compares `power_kw` with accelerators x TDP: hosts, switches and fans bring it to 1.2 to 2.6 times.

    ## Why is this bad?
    Power against the rack's limit excludes candidates; per-accelerator or per-host power entered for the system lets all pass.

    ## Example
    ```text
    systems/hgx-h100: power_kw 1.3 for eight accelerators of 700 W
    ```

    ## Use instead
    ```text
    systems/hgx-h100: power_kw 10.2
    ```

    ## How to fix
    Take the maximum of the whole unit from its data sheet, in kW.
    """
    for system in corpus.mine(corpus.kb.systems):
        accelerator = corpus.kb.accelerators.get(system.accelerator)
        if (
            system.power_kw is None
            or accelerator is None
            or accelerator.tdp_w is None
            or not system.accelerators
        ):
            continue
        ratio = system.power_kw.number * 1000 / (system.accelerators * accelerator.tdp_w.number)
        if not 1.1 <= ratio <= 2.6 and not system.power_kw.note:
            yield Problem(entry=system.id, where=("power_kw", "value"),
                          message=f"{system.power_kw.number:g} kW is {ratio:.2f} times the power of its accelerators",
                          fix="take the maximum of the whole unit, or say in the note what it covers")  # fmt: skip


@entry_check("KB434", "system-shape", "error", "systems")
def system_shape(entry: System) -> Iterator[Problem]:
    """Counts of a system that contradict each other.

    ## What it does
    Checks that counts are positive, that hosts divide the accelerators, and that no slice is larger than the system.

    ## Why is this bad?
    Fleets are counted in these units.

    ## Example
    ```yaml
    # systems/example.yaml
    accelerators: 8
    rentable_slices: [16]
    ```

    ## Use instead
    ```yaml
    # systems/example.yaml
    accelerators: 8
    rentable_slices: [4]
    ```

    ## How to fix
    Correct the count; an accelerator of the system is one that software sees.
    """
    if entry.accelerators < 1 or entry.scale_up_domain < 1 or entry.accelerators_per_host < 1:
        yield Problem(where=("accelerators",), message="accelerators, scale_up_domain and accelerators_per_host must be at least 1",
                      fix="write the counts that software sees")  # fmt: skip
        return
    if entry.accelerators > entry.accelerators_per_host and entry.accelerators % entry.accelerators_per_host:
        yield Problem(where=("accelerators_per_host",),
                      message=f"{entry.accelerators} accelerators are not whole hosts of {entry.accelerators_per_host}",
                      fix="correct one of the two")  # fmt: skip
    for index, size in enumerate(entry.rentable_slices):
        if not 1 <= size <= entry.accelerators:
            yield Problem(where=("rentable_slices", index), message=f"a slice of {size} out of {entry.accelerators}",
                          fix="list sizes from 1 to the whole system")  # fmt: skip


@entry_check("KB435", "unsourced-cell", "warning", "accelerators", "systems", "models")
def unsourced_cell(entry: Entry) -> Iterator[Problem]:
    """A fact that claims to be checked and names no source.

    ## What it does
    Reports cells whose `trust` is vendor, measured-log or third-party and whose `source` is empty.

    ## Why is this bad?
    The mark says that somebody could look it up; nobody can.

    ## Example
    ```yaml
    # accelerators/example.yaml
    tdp_w: {value: 700, trust: vendor}
    ```

    ## Use instead
    ```yaml
    # accelerators/example.yaml
    tdp_w: {value: 700, trust: unverified}
    ```

    ## How to fix
    Name the source entry and the place in it, or mark the cell `unverified` or `derived`.
    """
    for where, cell in _cells(entry, ()):
        if cell.trust not in ("unverified", "derived") and not cell.source:
            yield Problem(where=where, message=f"marked {cell.trust}, but no source is named",
                          fix="name the source entry, or mark it unverified or derived")  # fmt: skip


def _cells(value: Any, where: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Cell]]:
    for spec in fields(value):
        item = getattr(value, spec.name)
        here = (*where, spec.name)
        if isinstance(item, Cell):
            yield here, item
        elif isinstance(item, dict):
            yield from (((*here, key), cell) for key, cell in item.items() if isinstance(cell, Cell))
        elif isinstance(item, tuple):
            for index, part in enumerate(item):
                if is_dataclass(part):
                    yield from _cells(part, (*here, index))
