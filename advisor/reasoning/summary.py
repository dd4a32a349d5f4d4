"""The answer in one line and in one paragraph, figures first."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.reasoning.candidates import Sized
from advisor.reasoning.comparison import Compared
from advisor.reasoning.engine import Decision
from advisor.records import Comparison, Verdict
from advisor.units import format_count, format_ratio


def headline(verdict: Verdict, compared: Compared) -> str:
    """`4 replicas × 8 GPUs on 4 nodes (HGX B300): 32 installed, 0 idle`; one full unit when no load was stated."""
    if verdict == "none":
        return "No candidate meets this requirement"
    sides = {"node": compared.node, "rack": compared.rack}
    parts = [
        _fleet_line(sides[name], name) for name in (("node", "rack") if verdict == "either" else (verdict,))
    ]
    return " or ".join(part for part in parts if part) or f"Verdict: {verdict}"


def _fleet_line(side: Sized | None, name: str) -> str:
    if side is None or side.candidate.fleet is None or side.candidate.layout is None:
        return ""
    fleet, width = side.candidate.fleet, side.candidate.layout.accelerators
    replicas = f"{fleet.replicas} replica{'s' if fleet.replicas != 1 else ''} × {width} GPU{'s' if width != 1 else ''}"
    units = f"{fleet.systems} {name}{'s' if fleet.systems != 1 else ''}"
    size = "" if side.demand.stated else _without_load(fleet.systems)
    return (
        f"{replicas} on {units} ({side.candidate.title}): {fleet.accelerators_installed} installed, "
        f"{fleet.accelerators_idle} idle{size}"
    )


def _without_load(units: int) -> str:
    if units == 1:
        return ", one full unit since no load was stated"
    return ", as many full units as the accelerators you named; no load was stated"


_NOTHING_CONSIDERED = "No known system is one of those named and has the accelerator named; leave one of the two out or name another."


def summary(verdict: Verdict, decision: Decision, compared: Compared, sized: Sequence[Sized]) -> str:
    """One paragraph a manager can read: the rates, what explains their ratio, the fleets, the tie and what broke it."""
    return " ".join(sentence for sentence in _sentences(verdict, decision, compared, sized) if sentence)


def _sentences(verdict: Verdict, decision: Decision, compared: Compared, sized: Sequence[Sized]) -> list[str]:
    if not sized:
        return [_NOTHING_CONSIDERED]
    comparison = compared.comparison
    out = [_rates(compared)]
    if comparison.rack_over_node is not None:
        split = _split(compared)
        out.append(
            f"Per accelerator the rack gives {format_ratio(comparison.rack_over_node.value)} of the node{split}."
        )
    cost = cost_words(comparison)
    if cost:
        out.append(f"{cost}.")
    out.append(_width(compared))
    out += [f"{fired.effect.text.rstrip('.')}." for fired in decision.decided_by[:3] if fired.effect.text]
    if (
        comparison.confounders
        and comparison.rack_over_node is not None
        and comparison.rack_over_node.basis == "audited"
    ):
        named = dict.fromkeys(_confounder(text) for text in comparison.confounders)
        out.append(f"The ratio is confounded by {', '.join(named)}.")
    if verdict == "none":
        out += _nearest(sized)
    return out


def cost_words(comparison: Comparison) -> str:
    """What the rack fleet costs over the node fleet: at the rates as they are, then with the doubt about them; empty if unknown."""
    low, high = comparison.cost_ratio_low, comparison.cost_ratio_high
    if low is None or high is None:
        return ""
    prices = "your prices" if comparison.prices_said else "the range of prices seen"
    tie = ", which is a tie" if comparison.tie else ""
    plain = _span(comparison.cost_at_rates_low, comparison.cost_at_rates_high)
    whole = _span(low, high)
    if not plain or plain == whole:
        return f"Over {prices} the rack fleet costs {whole} the node fleet{tie}"
    return f"At these rates and over {prices} the rack fleet costs {plain} the node fleet, with the doubt about the rates {whole}{tie}"


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    ends = format_ratio(low), format_ratio(high)
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _rates(compared: Compared) -> str:
    parts = []
    for side, name in ((compared.node, "node"), (compared.rack, "rack")):
        rate = side.candidate.throughput_per_accelerator if side else None
        if side and rate:
            parts.append(
                f"the {name} ({side.candidate.title}) {format_count(rate.value)} {rate.unit} per accelerator, {rate.basis}"
            )
    text = " and ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _confounder(text: str) -> str:
    """`scale effect: submitter` of `scale effect: submitter: NVIDIA against CoreWeave`."""
    effect, _, rest = (
        text.partition(": ") if text.startswith(("scale effect", "silicon effect")) else ("", "", text)
    )
    kind = rest.partition(":")[0]
    return f"{kind} ({effect})" if effect else kind


def _width(compared: Compared) -> str:
    if compared.node is None or compared.rack is None or compared.rack.candidate.layout is None:
        return ""
    width, node = compared.rack.candidate.layout.accelerators, compared.node.candidate
    domain = node.fleet.failure_domain if node.fleet else 8
    if width <= domain:
        return ""
    return (
        f"On the rack one replica spans {width} GPUs, a group wider than the {domain} of a node: each token draws on more "
        "memory bandwidth, over the rack's own fabric."
    )


def _split(compared: Compared) -> str:
    ratio = compared.comparison.rack_over_node
    silicon, scale = compared.comparison.silicon_effect, compared.comparison.scale_effect
    if not compared.one_generation:
        return ", which are of different generations"
    if ratio is None or ratio.basis != "audited":
        return ", a ratio of the two rates and not of a comparable pair"
    if silicon is None or scale is None:
        return "; how much is silicon and how much is scale is unknown, since no slice was measured"
    return f"; measured apart, the silicon gives {format_ratio(silicon.value)} (node to slice), the scale {format_ratio(scale.value)} (slice to rack)"


def _nearest(sized: Sequence[Sized]) -> list[str]:
    """Why the systems are out, those with results first, each reason once with the systems it holds for; four reasons at most."""
    reasons: dict[str, list[str]] = {}
    for side in sorted(sized, key=_far):
        candidate = side.candidate
        if candidate.exclusions:
            first = candidate.exclusions[0]
            nearest = f" (would pass: {first.nearest})" if first.nearest else ""
            reasons.setdefault(f"{first.text.rstrip('.')}{nearest}.", []).append(candidate.title)
    return [f"{_few(titles)}: {reason}" for reason, titles in list(reasons.items())[:_REASONS]]


_REASONS, _NAMED = 4, 3


def _far(side: Sized) -> tuple[bool, bool]:
    """Systems without results come last, those that some change would let pass first."""
    known = side.facts.get("candidate_measured")
    return known is not None and not known.value, not any(e.nearest for e in side.candidate.exclusions[:1])


def _few(titles: Sequence[str]) -> str:
    rest = len(titles) - _NAMED
    return "; ".join(titles[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
