"""Explanations line by line, the short ones of a conversation and the whole ones, on answers small enough to be written out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_base import answer_of
from test_reasoning_proofs import KB, candidate_of, small_answer, value

from advisor.knowledge import KnowledgeBase
from advisor.reasoning import explanation_brief as brief
from advisor.reasoning.contrast import contrast
from advisor.reasoning.explain import difference, how_sure, what_would_change
from advisor.reasoning.explanation_text import render
from advisor.reasoning.explanations import Assumption, Contrast, Ground, Parting, WhatWouldChange
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said
from advisor.reasoning.weight import weighty
from advisor.records import Candidate, Citation, Exclusion, Facts, Flip, Pair, PairSide, Recommendation

HOT = (Exclusion(constraint="rules/too-hot", text="Too hot by 5 kW.", nearest="less than 40 kW"),)
LARGE = (Exclusion(constraint="memory", text="Too large."),)


def out(name: str, of: str = "h", reasons: tuple[Exclusion, ...] = HOT) -> Candidate:
    return candidate_of(name, of, feasible=False, exclusions=reasons)


BOX, SECOND, CABINET = candidate_of("box", "h"), candidate_of("second", "h"), candidate_of("cabinet", "hr")


def given(*candidates: Candidate, **extra: object) -> Recommendation:
    own = candidates or (BOX, CABINET)
    best = {c.unit: c.system for c in reversed(own) if c.feasible}
    return replace(
        small_answer(), candidates=own, best_node=best.get("node"), best_rack=best.get("rack"), headline="18 × cabinet", **extra,  # type: ignore[arg-type]
    )  # fmt: skip


def test_why_in_few_lines() -> None:
    """Verdict, rule with its fresh facts, arithmetic of what was chosen, the comparison, who is out by reason and count."""
    answer = given(BOX, replace(CABINET, arithmetic=("72 × 100",)), out("a"), out("b"), out("c", "hr", LARGE))
    answer = replace(
        answer, comparison=replace(answer.comparison, chain=tuple(f"step {n}" for n in range(6)))
    )
    assert brief.why(KB, answer).splitlines() == [
        "Verdict: rack", "  18 × cabinet", "  because decides [rules/decides]", "    because of decides", "    pace: 50 ms (assumed: usual at 15 ms)",
        "    gain: 1.50× (computed by evidence)", "  cabinet:", "    72 × 100", "  Rack against node:", "    step 0", "    step 1", "    step 2", "    step 3",
        "  2 of 3 nodes considered are out:", "    2: too-hot (a, b) [rules/too-hot]", "  1 of 2 racks considered is out:", "    1: Too large (c)",
    ]  # fmt: skip


def test_systems_that_are_out_are_grouped_by_their_first_reason() -> None:
    """Most first; one alone has its own text, several the rule's title; without a reason no rate is known; asides are cut from titles."""
    hot_and_large = (*HOT, *LARGE)
    groups = brief.excluded(
        KB,
        [
            BOX,
            out("a", reasons=LARGE),
            out("b"),
            replace(out("c", reasons=hot_and_large), title="c (8-GPU node)"),
            out("d", reasons=()),
        ],
    )
    assert [(g.reason, g.rule, g.titles) for g in groups] == [
        ("too-hot", "rules/too-hot", ("b", "c")), ("Too large", "", ("a",)), ("No rate is known", "", ("d",)),
    ]  # fmt: skip
    (alone,) = brief.excluded(KB, [out("b")])
    assert (alone.reason, alone.rule) == ("Too hot by 5 kW", "rules/too-hot")


def test_why_not_a_kind_of_unit() -> None:
    """Both best systems, the cost where it is known, what the rival's nearest rule lacks."""
    answer = given()
    answer = replace(answer, comparison=replace(answer.comparison, cost_ratio_low=0.5, cost_ratio_high=0.9))
    lines = brief.why_not(KB, answer, "node").splitlines()
    assert lines[:4] == [
        "Why not node: the verdict is rack", "  box: 1 node, 8 accelerators, 7 idle; 100 tokens/s per accelerator, audited",
        "  cabinet: 1 rack, 72 accelerators, 71 idle; 100 tokens/s per accelerator, audited",
        "  Over the range of prices seen the rack fleet costs 0.50× to 0.90× the node fleet",
    ]  # fmt: skip
    assert "cooling: not known; node needs air [rules/rival]" in " ".join(lines)
    assert "costs" not in brief.why_not(KB, given(), "node")
    assert brief.why_not(KB, answer, "rack").splitlines()[0] == "The verdict is rack already:"


def test_why_not_what_is_out_altogether() -> None:
    """All of several, the one alone, none considered."""
    several = replace(given(CABINET, out("a"), out("b", reasons=LARGE)), verdict="rack")
    assert brief.why_not(KB, several, "node").splitlines() == [
        "Why not node: all 2 considered are out", "  1: Too hot by 5 kW (a) [rules/too-hot]", "  1: Too large (b)",
    ]  # fmt: skip
    assert (
        brief.why_not(KB, given(CABINET, out("a")), "node").splitlines()[0]
        == "Why not node: 1 considered is out"
    )
    assert brief.why_not(KB, given(CABINET), "node").splitlines() == [
        "Why not node: no node was considered",
        "  The knowledge base holds none.",
    ]


def test_why_not_a_system() -> None:
    """Unknown, out, recommended, the best of the other kind, outdone by its own kind."""
    answer = given(BOX, SECOND, CABINET, out("oven", reasons=(*HOT, *LARGE)), out("mute", reasons=()))

    def told(name: str) -> list[str]:
        return brief.why_not(KB, answer, f"systems/{name}").splitlines()

    assert told("other") == ["systems/other was not considered", "  The knowledge base holds none."]
    assert told("oven") == [
        "Why not systems/oven: it is out",
        "  Too hot by 5 kW (would pass: less than 40 kW) [rules/too-hot]",
        "  Too large",
    ]
    assert told("mute") == ["Why not systems/mute: it is out", "  No rate is known for it."]
    assert told("cabinet") == [
        "cabinet is what the answer recommends",
        "  1 rack, 72 accelerators, 71 idle; 100 tokens/s per accelerator, audited",
    ]
    assert told("box")[0] == "Why not box: it is the best node; the verdict is rack"
    assert told("box")[1:] == brief.why_not(KB, answer, "node").splitlines()[1:]
    assert told("second") == [
        "Why not systems/second: it meets the requirement, and another node is preferred (the verdict is rack)",
        "  second: 1 node, 8 accelerators, 7 idle; 100 tokens/s per accelerator, audited", "  box: 1 node, 8 accelerators, 7 idle; 100 tokens/s per accelerator, audited",
    ]  # fmt: skip
    same = replace(answer, verdict="node")
    assert brief.why_not(KB, same, "systems/second").splitlines()[0].endswith("another node is preferred")


def test_how_sure_in_short_and_in_full() -> None:
    """Each reason with its rule; in full also what would lift it; none when nothing lowers it."""
    answer = small_answer()
    assert brief.sure(how_sure(KB, answer)).splitlines() == [
        "Confidence: low", "  not high: because of doubts [rules/doubts]", "  not medium: because of doubts-more [rules/doubts-more]",
    ]  # fmt: skip
    assert render(KB, how_sure(KB, answer)).splitlines()[2] == "    as long as spare not known"
    certain = answer_of(KB, {"load": value(30), "spare": value(False)})
    assert (
        brief.sure(how_sure(KB, certain)).splitlines()
        == render(KB, how_sure(KB, certain)).splitlines()
        == ["Confidence: high", "  No rule lowers it."]
    )


def changed_to(*candidates: Candidate, load: float = 30) -> Recommendation:
    facts: Facts = {
        "load": value(load),
        "pace": value(50),
        "gain": value(0.5, "computed"),
        "cooling": value("air"),
    }
    best = {c.unit: c.system for c in reversed(candidates) if c.feasible}
    return replace(
        answer_of(KB, facts),
        candidates=candidates,
        best_node=best.get("node"),
        best_rack=best.get("rack"),
        headline="4 × box",
    )


def test_a_difference_in_short_and_in_full() -> None:
    """The verdict, both headlines, confidence, facts, systems, what decides now."""
    before, after = given(BOX, CABINET), changed_to(BOX, out("cabinet", "hr"))
    change = difference(KB, before, after)
    assert brief.difference(KB, change).splitlines() == [
        "The verdict changes from rack to node.", "  before: 18 × cabinet", "  after: 4 × box", "  Confidence: low → medium", "  load: 15 ms → 30 ms",
        "  cooling: not known → air", "  out now, 1: Too hot by 5 kW (cabinet) [rules/too-hot]", "  decided by: rival [rules/rival]",
    ]  # fmt: skip
    full = render(KB, change).splitlines()
    assert full[:4] == [
        "The verdict changes from rack to node.",
        "  before: 18 × cabinet",
        "  after:  4 × box",
        "  Confidence: low → medium",
    ]
    assert "  cabinet: 1 rack, 72 accelerators, 71 idle → out (too-hot)" in full
    assert full[-3:] == [
        "  now holds: rival [rules/rival]",
        "  no longer holds: decides [rules/decides]",
        "  no longer holds: doubts-more [rules/doubts-more]",
    ]
    same = difference(KB, before, before)
    assert brief.difference(KB, same).splitlines() == [
        "The verdict stays rack.",
        "  before: 18 × cabinet",
        "  after: 18 × cabinet",
    ]
    assert render(KB, same).splitlines() == [
        "The verdict stays rack.",
        "  before: 18 × cabinet",
        "  after:  18 × cabinet",
    ]


FLIP = Flip(fact="load", from_=15, to=30, verdict="node", text="load: 15 ms → 30 ms gives node")


def test_what_would_change_in_short_and_in_full() -> None:
    """Flips first, or that there are none; then where the rivals part, or that none was considered."""
    answer = given(flips=(FLIP, replace(FLIP, text="")))
    told = what_would_change(KB, answer)
    lines = brief.changes(KB, answer, told).splitlines()
    assert lines[:4] == [
        "Nearest changes that turn the verdict:", "  load: 15 ms → 30 ms gives node", "  load 15 → 30: node", "Where rack and node part:",
    ]  # fmt: skip
    assert render(KB, told).splitlines()[:4] == lines[:4]
    alone = given(CABINET)
    none = brief.changes(KB, alone, what_would_change(KB, alone)).splitlines()
    assert none == [
        "No change of a single input that was tried turns the verdict.", "Where rack and node part:", "  No node was considered. The knowledge base holds none.",
    ]  # fmt: skip
    empty = WhatWouldChange(flips=(), contrasts=())
    assert (
        render(KB, empty)
        == brief.changes(KB, answer, empty)
        == "No change of a single input that was tried turns the verdict."
    )
    hot = given(CABINET, out("a"))
    assert (
        "  1 of 1 nodes considered is out:" in brief.changes(KB, hot, what_would_change(KB, hot)).splitlines()
    )


def test_where_two_proofs_part() -> None:
    """What each rule of the rival lacks, in order of how near it is; the weights where both were spoken for."""
    answer = small_answer()
    parted = contrast(KB, answer, "node")
    assert [(p.fact, p.actual, p.needed, p.rule) for p in parted.partings] == [
        ("cooling", "not known", "air", "rules/rival")
    ]
    assert (parted.chosen, parted.rival, parted.weights) == ("rack", "node", {"rack": 1.0})
    both = answer_of(KB, {"pace": value(50), "gain": value(1.5, "computed"), "cooling": value("air")})
    even = contrast(KB, both, "node")
    assert even.weights == {"rack": 1.0, "node": 1.0}
    assert [proof.key for proof in even.spoke_for_rival] == ["rules/rival"]
    text = render(KB, even).splitlines()
    assert text[0] == "Where either and node part:"
    assert "  Both were spoken for; the weights add up to node 1, rack 1." in text
    assert "  for node: rival: favour node (+1) [rules/rival]" in text
    assert render(KB, contrast(KB, answer, "none")).splitlines() == [
        "Where rack and none part:",
        "  No rule concludes none.",
    ]


def side(name: str, each: float, platform: str = "") -> PairSide:
    return PairSide(
        evidence=f"evidence/{name}", record="1", submitter="Maker", platform=platform, accelerator="accelerators/h", accelerators=8, unit="node", value=8 * each,
        per_accelerator=each,
    )  # fmt: skip


def test_the_ground_is_told_citation_by_citation_and_pair_by_pair() -> None:
    """Verified or not, derived figures below; a pair with its ratio, tie and what else differs."""
    assert "No evidence entry stands behind" in render(KB, Ground(citations=(), pairs=()))
    cited = (
        Citation(id="evidence/a", text="A ran it", grade="audited", verified=True, figures=()),
        Citation(id="evidence/b", text="B ran it", grade="audited", verified=False, figures=("1.5 (derived)",)),
    )  # fmt: skip
    pair = Pair(
        kind="node-rack", round="v6.1", benchmark="bench", scenario="offline", metric="tokens_per_s", small=side("a", 100), large=side("b", 150, "Rack X"),
        ratio=1.5, grade="C", tie=True, noise_low=0.5, noise_high=2, confounders=("submitter: A against B",),
    )  # fmt: skip
    assert render(KB, Ground(citations=cited, pairs=(pair, replace(pair, tie=False, confounders=())))).splitlines() == [
        "A ran it (audited; verified) [evidence/a]", "B ran it (audited; not verified by its publisher) [evidence/b]", "  1.5 (derived)",
        "v6.1 bench offline, node-rack, grade C: evidence/a 100 → Rack X 150 per accelerator, 1.50× (a tie within the noise); differs in submitter: A against B",
        "v6.1 bench offline, node-rack, grade C: evidence/a 100 → Rack X 150 per accelerator, 1.50×",
    ]  # fmt: skip


def test_assumptions_are_told_with_how_to_say_them() -> None:
    """A line each, the reason below; nothing assumed is said."""
    assert render(KB, ()) == "Nothing was assumed."
    plain = Assumption(fact="load", title="load", value="15 ms", why="", source="rules/x", flag="--load")
    assert render(KB, (plain, replace(plain, why="usual"))).splitlines() == [
        "load: 15 ms [rules/x]; say it with --load", "load: 15 ms [rules/x]; say it with --load", "  usual",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="not an explanation: int"):
        render(KB, 3)


def parted(weights: dict[str, float], *facts: str) -> list[str]:
    partings = tuple(Parting(fact=fact, actual="no", needed="yes", rule="rules/decides") for fact in facts)
    rivalry = Contrast(chosen="rack", rival="node", weights=weights, partings=partings)
    told = brief.changes(KB, given(), WhatWouldChange(flips=(), contrasts=(rivalry,)))
    return told.splitlines()[1:]


def test_what_parts_two_feasible_sides_is_told_without_what_they_share() -> None:
    """Weights where both were spoken for; facts that part them, but not that both are feasible; and that no rule speaks for the rival."""
    both = parted({"rack": 2.0, "node": 1.0}, "node_feasible", "pace")
    assert both[:2] == [
        "Where rack and node part:",
        "  Both were spoken for; the weights add up to node 1, rack 2.",
    ]
    assert len(both) == 3
    assert "pace" in both[2]
    assert parted({"rack": 2.0})[1:] == ["  No rule concludes node."]
    assert not any("spoken for" in line or "No rule" in line for line in parted({"rack": 2.0}, "pace"))
    assert not any("No rule" in line for line in parted({"node": 1.0}))


def test_citations_carry_figures_of_the_asked_scenario_first_those_of_the_pairs_before_the_rest(
    shipped: KnowledgeBase,
) -> None:
    """Llama 2 70B offline: server and interactive figures of the same runs are left out, and runs without an offline figure come last."""
    answer = recommend(
        shipped,
        said(shipped, {"model": "llama-2-70b", "weight_precision": "fp4", "workload": "offline"}),
        flips=False,
    )
    cited = weighty(shipped, answer)
    told = [figure for citation in cited for figure in citation.figures]
    assert told
    assert all(" offline:" in figure for figure in told)
    bare = [not citation.figures for citation in cited]
    assert bare == sorted(bare)
    compared = {pair.small.evidence for pair in answer.comparison.pairs[:1]} | {
        pair.large.evidence for pair in answer.comparison.pairs[:1]
    }
    assert compared <= {citation.id for citation in cited[:6]}
