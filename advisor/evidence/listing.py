"""What `compare` lists: the pairs that a selection of names leaves, the effects and the noise behind them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from advisor.errors import InputError, UnknownIdError
from advisor.evidence.citation import DERIVED, notices
from advisor.evidence.effects import Effects, effects
from advisor.evidence.figures import figures
from advisor.evidence.noise import noise_band
from advisor.evidence.pairs import find_pairs
from advisor.knowledge import KnowledgeBase, fold
from advisor.records import NoiseBand, Pair
from advisor.units import shown

NOTE = (
    "Figures per accelerator, ratios and effects are not primary metrics of MLPerf® Inference:"
    f" {DERIVED}. Result not verified by MLCommons Association."
)
"""Said with every listing."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Names as a user gives them; empty means any."""

    model: str = ""
    scenario: str = ""
    round: str = ""
    accelerator: str = ""
    submitter: str = ""
    kind: str = ""
    grade: str = ""
    include_preview: bool = False


@dataclass(frozen=True, kw_only=True)
class ListedEffects:
    """Effects of one model and scenario between a node's and a rack's accelerator."""

    model: str
    scenario: str
    round: str
    node_accelerator: str
    rack_accelerator: str
    effects: Effects


@dataclass(frozen=True, kw_only=True)
class ListedNoise:
    """The noise band of one accelerator in one benchmark, scenario and round."""

    accelerator: str
    benchmark: str
    scenario: str
    round: str
    band: NoiseBand


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Pairs with everything that must be read beside them."""

    pairs: tuple[Pair, ...]
    effects: tuple[ListedEffects, ...]
    noise: tuple[ListedNoise, ...]
    note: str
    notices: tuple[str, ...]


def find_listing(kb: KnowledgeBase, selection: Selection) -> Listing:
    """The listing of a selection. Raises InputError that names the nearest known name."""
    model, benchmark = _model(kb, selection.model)
    accelerator = kb.find("accelerators", selection.accelerator).id if selection.accelerator else ""
    round_ = _known("--round", selection.round, {figure.entry.round for figure in figures(kb)})
    submitter = _known("--submitter", selection.submitter, {figure.entry.submitter for figure in figures(kb)})
    pairs = find_pairs(
        kb,
        model=model,
        benchmark=benchmark,
        scenario=selection.scenario,
        round=round_,
        accelerator=accelerator,
        submitter=submitter,
        kind=selection.kind,
        grade=selection.grade,
        include_preview=selection.include_preview,
    )
    sides = [side.evidence for pair in pairs for side in (pair.small, pair.large)]
    return Listing(
        pairs=pairs,
        effects=_effects(kb, pairs, round_, selection.include_preview),
        noise=_noise(kb, pairs),
        note=NOTE,
        notices=notices(kb, list(dict.fromkeys(sides))),
    )


def _model(kb: KnowledgeBase, name: str) -> tuple[str, str]:
    """(model id, "") or ("", benchmark) of a name; a benchmark's name may carry its accuracy variant."""
    if not name:
        return "", ""
    own = {fold(own): own for figure in figures(kb) for own in (figure.benchmark, figure.result.benchmark)}
    if fold(name) in own:
        return "", own[fold(name)]
    measured = {figure.result.model for figure in figures(kb)}
    try:
        found = kb.find("models", name).id
    except UnknownIdError as error:
        raise InputError(f"--model: {error}; measured are {', '.join(sorted(own.values()))}") from None
    if found not in measured:
        raise InputError(
            f"--model: no audited result for {found}; measured are {', '.join(sorted(own.values()))}"
        )
    return found, ""


def _known(flag: str, name: str, known: set[str]) -> str:
    if not name:
        return ""
    by_fold = {fold(own): own for own in known}
    by_fold |= {fold(own.removeprefix("v")): own for own in known if flag == "--round"}
    if fold(name) in by_fold:
        return by_fold[fold(name)]
    near = get_close_matches(fold(name), by_fold, n=3, cutoff=0.5)
    choices = dict.fromkeys(by_fold[own] for own in near) or sorted(known)
    raise InputError(f"{flag}: no results of {shown(name)}; nearest: {', '.join(choices)}")


def _effects(
    kb: KnowledgeBase, pairs: tuple[Pair, ...], round_: str, include_preview: bool
) -> tuple[ListedEffects, ...]:
    wanted: dict[tuple[str, str, str, str], None] = {}
    for pair in pairs:
        if pair.kind in ("node-rack", "node-slice"):
            wanted.setdefault(
                (pair.model, pair.scenario, pair.small.accelerator, pair.large.accelerator), None
            )
    listed = []
    for model, scenario, node, rack in wanted:
        found = effects(
            kb, model=model, scenario=scenario, node_accelerator=node, rack_accelerator=rack, round=round_,
            include_preview=include_preview,
        )  # fmt: skip
        first = found.pairs[0] if found.pairs else found.silicon_pair
        listed.append(
            ListedEffects(
                model=model,
                scenario=scenario,
                round=first.round if first else "",
                node_accelerator=node,
                rack_accelerator=rack,
                effects=found,
            )
        )
    return tuple(listed)


def _noise(kb: KnowledgeBase, pairs: tuple[Pair, ...]) -> tuple[ListedNoise, ...]:
    wanted: dict[tuple[str, str, str, str], None] = {}
    for pair in pairs:
        for side in (pair.small, pair.large):
            wanted.setdefault((side.accelerator, pair.benchmark, pair.scenario, pair.round), None)
    return tuple(
        ListedNoise(accelerator=a, benchmark=b, scenario=s, round=r, band=noise_band(kb, a, b, s, r))
        for a, b, s, r in wanted
    )
