"""A listing of comparable pairs as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from advisor.evidence.figures import UNIT_NAMES
from advisor.evidence.listing import ListedEffects, Listing
from advisor.records import Pair, PairSide
from advisor.units import format_count

CSV_COLUMNS = (
    "kind", "round", "benchmark", "scenario", "unit",
    "small_submitter", "small_platform", "small_accelerator", "small_accelerators", "small_per_accelerator",
    "large_submitter", "large_platform", "large_accelerator", "large_accelerators", "large_per_accelerator",
    "ratio", "grade", "tie", "confounders",
)  # fmt: skip
"""Columns of the CSV form, in order."""


def listing_csv(listing: Listing) -> str:
    """One line a pair; confounders are joined by semicolons."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for pair in listing.pairs:
        writer.writerow(
            [pair.kind, pair.round, pair.benchmark, pair.scenario, UNIT_NAMES[pair.metric], *_cells(pair.small),
             *_cells(pair.large), f"{pair.ratio:.6g}", pair.grade, "true" if pair.tie else "false",
             "; ".join(pair.confounders)]
        )  # fmt: skip
    return out.getvalue()


def listing_json(listing: Listing) -> str:
    """The whole listing: pairs, effects, noise, note and notices."""
    return msgspec.json.format(msgspec.json.encode(listing)).decode() + "\n"


def listing_text(listing: Listing, *, every: bool = False) -> str:
    """Pairs by round, benchmark and scenario, then effects, then the notices.

    Pairs across submitters are summed up in one line where the same submitter ran both sides, unless `every`.
    """
    lines: list[str] = []
    for (round_, benchmark, scenario), own in groupby(
        listing.pairs, key=lambda p: (p.round, p.benchmark, p.scenario)
    ):
        lines += [f"{round_} {benchmark} {scenario}", *_group(list(own), every), ""]
    if listing.effects:
        lines.append("effects: rack/node = silicon (slice/node) × scale (rack/slice)")
        for item in listing.effects:
            lines += _effect(item)
        lines.append("")
    counts = ", ".join(f"{sum(p.grade == grade for p in listing.pairs)} {grade}" for grade in "ABC")
    lines.append(
        f"{len(listing.pairs)} pairs ({counts}); A: same submitter, round and software; B: same submitter; C: across"
    )
    return "\n".join([*lines, listing.note, *listing.notices]) + "\n"


def _cells(side: PairSide) -> list[str]:
    return [
        _text_cell(side.submitter),
        _text_cell(side.platform),
        _short(side),
        str(side.accelerators),
        f"{side.per_accelerator:.8g}",
    ]


def _text_cell(text: str) -> str:
    """Text that a spreadsheet takes for a formula is marked as text."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _short(side: PairSide) -> str:
    return side.accelerator.rpartition("/")[2]


def _group(pairs: Sequence[Pair], every: bool) -> Iterator[str]:
    for _key, own in groupby(sorted(pairs, key=_silicon), key=_silicon):
        members = list(own)
        same = [pair for pair in members if pair.grade != "C"]
        across = [pair for pair in members if pair.grade == "C"]
        if every:
            yield from _lines(members)
            continue
        shown = same or across[:1]
        yield from _lines(shown)
        rest = [pair for pair in members if pair not in shown]
        if rest:
            ratios = sorted(pair.ratio for pair in rest)
            yield f"  {rest[0].kind:<11}C  {ratios[0]:.2f}–{ratios[-1]:.2f}  {len(rest)} more across submitters (--all lists them)"


def _silicon(pair: Pair) -> tuple[str, str, str]:
    return (pair.kind, _short(pair.small), _short(pair.large))


def _lines(pairs: Iterable[Pair]) -> Iterator[str]:
    for pair in pairs:
        tie = (
            f"a tie, noise {pair.noise_high:.2f}"
            if pair.tie
            else f"noise {pair.noise_high:.2f}"
            if pair.noise_high > 1
            else ""
        )
        sides = f"{_side(pair.small)} -> {_side(pair.large)} {UNIT_NAMES[pair.metric]} each"
        sides += f" [entries {pair.small.record} -> {pair.large.record}]"
        yield f"  {pair.kind:<11}{pair.grade}  {pair.ratio:.3f}  {sides}" + (f"  ({tie})" if tie else "")
        if pair.confounders:
            yield f"      beside: {'; '.join(pair.confounders)}"


def _side(side: PairSide) -> str:
    mark = "" if side.availability == "available" else f" [{side.availability}]"
    return f"{side.submitter} {_short(side)} x{side.accelerators}{mark} {format_count(side.per_accelerator)}"


def _effect(item: ListedEffects) -> Iterator[str]:
    node, rack = (name.rpartition("/")[2] for name in (item.node_accelerator, item.rack_accelerator))
    yield f"  {item.model.rpartition('/')[2]} {item.scenario}, {node} against {rack}"
    for step in item.effects.chain:
        yield f"    {step}"
    if item.effects.confounders:
        yield f"    confounded by: {'; '.join(item.effects.confounders)}"
