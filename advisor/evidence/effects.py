"""The rack/node ratio of one model and scenario, split into silicon effect (slice/node) and scale effect (rack/slice)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.evidence.figures import NODE_SIZE, round_key
from advisor.evidence.pairs import find_pairs
from advisor.knowledge import KnowledgeBase, fold
from advisor.records import Estimate, Pair
from advisor.units import format_count


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What 72 accelerators in one domain did against 8 in a node, per accelerator.

    Each estimate is one pair's ratio; low and high span the other pairs as good as it, or the noise of the silicon.
    silicon x scale gives the whole ratio only when one submitter ran all three systems; `chain` says so in sentences.
    pairs: the one behind rack_over_node, then those of the same round and standing. None: no comparable pair.
    """

    rack_over_node: Estimate | None
    silicon_effect: Estimate | None
    scale_effect: Estimate | None
    confounders: tuple[str, ...]
    pairs: tuple[Pair, ...]
    chain: tuple[str, ...]
    silicon_pair: Pair | None = None
    scale_pair: Pair | None = None


def effects(
    kb: KnowledgeBase,
    *,
    model: str,
    scenario: str,
    node_accelerator: str,
    rack_accelerator: str,
    round: str = "",  # noqa: A002 - the field's name
    include_preview: bool = False,
) -> Effects:
    """Effects from the best pairs: same submitter before others, then the latest round (or the one given)."""
    key = ("effects", model, scenario, node_accelerator, rack_accelerator, round, include_preview)
    if key not in kb.memo:
        own = find_pairs(
            kb,
            model=model,
            scenario=scenario,
            round=round,
            accelerator=rack_accelerator,
            include_preview=include_preview,
        )
        of_node = [pair for pair in own if pair.small.accelerator == node_accelerator]
        slices = [pair for pair in own if pair.kind == "slice-rack"]
        rack, node, name = (i.partition("/")[2] for i in (rack_accelerator, node_accelerator, model))
        nothing = f"no {rack} rack and {node} node ran {name} {scenario} in one round"
        kb.memo[key] = _effects(kb, of_node, slices, nothing)
    found: Effects = kb.memo[key]
    return found


def _effects(kb: KnowledgeBase, of_node: Sequence[Pair], slices: Sequence[Pair], nothing: str) -> Effects:
    silicon = [pair for pair in of_node if pair.kind == "node-slice" and pair.large.accelerators <= NODE_SIZE]
    racks = [pair for pair in of_node if pair.kind == "node-rack"]
    whole = _best(kb, racks, silicon)
    if whole is None:
        own = _best(kb, silicon, [])
        return Effects(
            rack_over_node=None,
            silicon_effect=_estimate(own, silicon) if own else None,
            scale_effect=None,
            confounders=own.confounders if own else (),
            pairs=(),
            chain=((_step("silicon effect", own),) if own else ()) + (nothing,),
            silicon_pair=own,
        )
    others = [pair for pair in racks if pair is not whole and _equals(pair, whole)]
    slice_pair, scale_pair = _split(kb, whole, silicon, slices)
    chain = [_step("rack over node", whole)]
    if slice_pair is None or scale_pair is None:
        chain.append(
            "no slice of the rack's silicon ran this in the round: how much is silicon and how much scale is not known"
        )
    else:
        chain += [
            _step("silicon effect", slice_pair),
            _step("scale effect", scale_pair),
            _product(whole, slice_pair, scale_pair),
        ]
    named = dict.fromkeys(whole.confounders)
    for name, part in (("silicon effect", slice_pair), ("scale effect", scale_pair)):
        named |= dict.fromkeys(
            f"{name}: {text}" for text in (part.confounders if part else ()) if text not in whole.confounders
        )
    return Effects(
        rack_over_node=_estimate(whole, racks),
        silicon_effect=_estimate(slice_pair, silicon) if slice_pair else None,
        scale_effect=_estimate(scale_pair, slices) if scale_pair else None,
        confounders=tuple(named),
        pairs=(whole, *sorted(others, key=lambda pair: pair.grade)),
        chain=tuple(chain),
        silicon_pair=slice_pair,
        scale_pair=scale_pair,
    )


def _best(kb: KnowledgeBase, candidates: Sequence[Pair], silicon: Sequence[Pair]) -> Pair | None:
    """The most telling pair: same submitter, latest round, one rack, a submitter with a slice, the silicon's vendor.

    Across submitters, the best node against the best rack: a badly tuned side would pass for an effect.
    """
    with_slice = {(pair.round, fold(pair.large.submitter)) for pair in silicon if pair.grade != "C"}

    def rank(pair: Pair) -> tuple[object, ...]:
        return (
            pair.grade == "C",
            tuple(-part for part in round_key(pair.round)),
            pair.large.unit == "multi-rack",
            (-pair.small.per_accelerator, -pair.large.per_accelerator) if pair.grade == "C" else (),
            (pair.round, fold(pair.small.submitter)) not in with_slice,
            not _by_vendor(kb, pair),
            NODE_SIZE - pair.large.accelerators if pair.kind == "node-slice" else 0,
            pair.grade,
            pair.small.evidence,
        )

    return min(candidates, key=rank, default=None)


def _by_vendor(kb: KnowledgeBase, pair: Pair) -> bool:
    """Whether the silicon's own vendor ran both sides: one team tuned them."""
    vendor = fold(kb.accelerators[pair.large.accelerator].vendor)
    return fold(pair.small.submitter) == vendor == fold(pair.large.submitter)


def _split(
    kb: KnowledgeBase, whole: Pair, silicon: Sequence[Pair], slices: Sequence[Pair]
) -> tuple[Pair | None, Pair | None]:
    """The node-slice and slice-rack pairs that lead from the node to the rack of `whole`, best submitters first."""
    to_rack = {pair.small.evidence: pair for pair in slices if pair.large.evidence == whole.large.evidence}
    usable = [pair for pair in silicon if pair.round == whole.round and pair.large.evidence in to_rack]
    own = [pair for pair in usable if pair.small.evidence == whole.small.evidence and pair.grade != "C"]
    same = [pair for pair in usable if pair.grade != "C"]
    from_node = [pair for pair in usable if pair.small.evidence == whole.small.evidence]
    for candidates in (own, same, from_node):
        best = _best(kb, candidates, [])
        if best is not None:
            return best, to_rack[best.large.evidence]
    return None, None


def _equals(one: Pair, other: Pair) -> bool:
    """Whether two pairs tell the same with the same standing: one round and unit, both within or both across submitters."""
    return (one.round, one.large.unit, one.grade == "C") == (
        other.round,
        other.large.unit,
        other.grade == "C",
    )


def _estimate(pair: Pair, rivals: Sequence[Pair]) -> Estimate:
    """The pair's ratio, spanned by the pairs of the same standing, or by half the silicon's noise each way."""
    ratios = sorted({*(other.ratio for other in rivals if _equals(other, pair)), pair.ratio})
    if len(ratios) > 1:
        low, high, note = ratios[0], ratios[-1], f"range over {len(ratios)} pairs"
    else:
        half = math.sqrt(pair.noise_high)
        low, high = pair.ratio / half, pair.ratio * half
        note = "range from the noise of the silicon" if half > 1 else "one pair, noise not known"
    who = pair.small.submitter if pair.grade != "C" else f"{pair.small.submitter} and {pair.large.submitter}"
    return Estimate(
        value=pair.ratio, low=low, high=high, unit="ratio", basis="audited",
        evidence=(pair.small.evidence, pair.large.evidence),
        note=f"{pair.benchmark} {pair.scenario} {pair.round}, {who}, grade {pair.grade}; {note}",
    )  # fmt: skip


def side_text(pair: Pair, side: str) -> str:
    """`CoreWeave B300 x8 14,441`."""
    one = pair.small if side == "small" else pair.large
    name = one.accelerator.rpartition("/")[2].upper()
    return f"{one.submitter} {name} x{one.accelerators} {format_count(one.per_accelerator)}"


def _step(name: str, pair: Pair) -> str:
    tie = ", within the noise: a tie" if pair.tie else ""
    crossed = ", across submitters" if pair.grade == "C" else ""
    return (f"{name} {pair.ratio:.2f} = {side_text(pair, 'large')} / {side_text(pair, 'small')}"
            f" ({pair.round}, grade {pair.grade}{crossed}{tie})")  # fmt: skip


def _product(whole: Pair, silicon: Pair, scale: Pair) -> str:
    text = f"silicon {silicon.ratio:.2f} × scale {scale.ratio:.2f} = {silicon.ratio * scale.ratio:.2f}"
    if silicon.small.evidence == whole.small.evidence:
        return f"{text}: one chain of three systems"
    return (
        f"{text} beside {whole.ratio:.2f} measured: node and slice are another submitter's ({silicon.large.submitter}),"
        " so the parts need not multiply to the whole"
    )
