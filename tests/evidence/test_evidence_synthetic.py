"""Comparisons of made-up runs that differ in one thing: what pairs, what confounds, what the noise and the rate are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from advisor.evidence.confounders import confounders, limit_use, software_key
from advisor.evidence.effects import Effects, effects
from advisor.evidence.figures import Figure, altered, figures, round_key, strictest, unqualified
from advisor.evidence.held import audited_limits, audited_output_tokens, group_width, has_results
from advisor.evidence.noise import noise_band
from advisor.evidence.pairs import find_pairs, pair_kind
from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Cell, Entry, Estimate, Evidence, Latency, Pair, Result, Scale, System


def accelerator(slug: str, family: str) -> Accelerator:
    return Accelerator(
        id=f"accelerators/{slug}", title=slug.upper(), vendor="Maker", family=family, hbm_visible_bytes=Cell(value=1e11),
        hbm_marketed_gb=Cell(value=100), hbm_bandwidth_tb_per_s=Cell(value=4),
    )  # fmt: skip


def unit(slug: str, of: str, count: int) -> System:
    return System(
        id=f"systems/{slug}", title=slug, kind_of_unit="rack" if count == 72 else "node", accelerator=f"accelerators/{of}",
        accelerators=count, scale_up_domain=count, cooling=("air",),
    )  # fmt: skip


HARDWARE: tuple[Entry, ...] = (
    accelerator("n", "one"), accelerator("r", "one"), accelerator("old", "zero"), unit("node", "n", 8), unit("rack", "r", 72), unit("oldnode", "old", 8),
)  # fmt: skip


def run(
    name: str, of: str, count: int, each: float, *, scenario: Any = "offline", submitter: str = "Maker", unit: str = "", round: str = "v6.1",  # noqa: A002
    software: str = "Serve 1.0", precision: str | None = "fp4", variants: tuple[str, ...] = (), latency: Latency | None = None,
    metric: Any = "tokens_per_s", model: str = "models/m", benchmark: str = "bench", stated: str = "", availability: Any = "available",
    division: Any = "closed", topology: str = "", disaggregated: bool | None = False, group: int | None = None,
) -> Evidence:  # fmt: skip
    """`count` accelerators at `each` tokens/s; the unit follows from the count: eight of the rack's own silicon are a slice."""
    whole = {72: "rack", 144: "multi-rack"} | ({} if of == "r" else {8: "node", 16: "multi-node"})
    usual = whole.get(count, "slice")
    result = Result(
        benchmark=benchmark, model=model, scenario=scenario, metric=metric, value=each * count, record=f"rec-{name}", accuracy_variants=variants,
        precision=precision, latency=latency, topology=topology, disaggregated=disaggregated, group_width=group,
    )  # fmt: skip
    return Evidence(
        id=f"evidence/{round}/{name}", title=name, source="sources/s", round=round, submitter=submitter, system_name=name, platform=name,
        accelerator=f"accelerators/{of}", accelerator_as_stated=stated or of, scale=Scale(accelerators=count, nodes=1, unit=unit or usual),  # type: ignore[arg-type]
        availability=availability, division=division, software=software, grade="audited", results=(result,),
    )  # fmt: skip


def base(*runs: Evidence) -> KnowledgeBase:
    return KnowledgeBase([*HARDWARE, *runs])


def figure_of(entry: Evidence) -> Figure:
    (found,) = figures(base(entry))
    return found


NODE, RACK, SLICE = run("node", "n", 8, 100), run("rack", "r", 72, 120), run("slice", "r", 8, 110)


@pytest.mark.parametrize(
    ("small", "large", "kind"),
    [
        (("n", 8), ("r", 72), "node-rack"), (("n", 8), ("r", 144), "node-rack"), (("n", 8), ("r", 8), "node-slice"), (("r", 8), ("r", 72), "slice-rack"),
        (("r", 4), ("r", 144), "slice-rack"), (("n", 8), ("n", 16), "node-nodes"), (("r", 72), ("r", 144), "rack-racks"),
        (("old", 8), ("r", 72), None), (("n", 8), ("n", 8), None), (("r", 72), ("n", 8), None), (("n", 4), ("r", 72), None), (("r", 72), ("r", 8), None),
        (("n", 16), ("n", 8), None), (("n", 8), ("old", 8), None), (("r", 8), ("r", 8), None),
    ],
)  # fmt: skip
def test_what_compares_with_what(small: tuple[str, int], large: tuple[str, int], kind: str | None) -> None:
    """Silicon of one generation; the same silicon only at a larger scale; a node is eight."""
    a, b = (figure_of(run("x", part, count, 100)) for part, count in (small, large))
    assert pair_kind(a, b) == kind
    found = find_pairs(base(run("a", *small, 100), run("b", *large, 150)))
    assert [(p.kind, p.ratio) for p in found if p.small.evidence.endswith("/a")] == (
        [(kind, 1.5)] if kind else []
    )


def pair(small: Evidence, large: Evidence, *more: Evidence) -> Pair:
    found = find_pairs(base(small, large, *more))
    (chosen,) = [p for p in found if (p.small.evidence, p.large.evidence) == (small.id, large.id)]
    return chosen


def test_a_ratio_is_of_rates_per_accelerator() -> None:
    """120 over 100, the sides with their totals and counts."""
    found = pair(NODE, RACK)
    assert (found.ratio, found.kind, found.round, found.scenario, found.metric) == (
        1.2,
        "node-rack",
        "v6.1",
        "offline",
        "tokens_per_s",
    )
    assert (found.small.value, found.small.accelerators, found.small.per_accelerator) == (800, 8, 100)
    assert (found.large.value, found.large.accelerators, found.large.per_accelerator) == (8640, 72, 120)
    assert (found.small.record, found.small.unit, found.large.unit, found.small.precision) == (
        "rec-node",
        "node",
        "rack",
        "fp4",
    )
    assert (found.grade, found.tie, found.noise_low, found.noise_high) == ("A", False, 1, 1)


@pytest.mark.parametrize(
    ("changes", "grade"),
    [({}, "A"), ({"software": "serve  1.0"}, "A"), ({"software": "Serve 1.1"}, "B"), ({"submitter": "MAKER"}, "A"), ({"submitter": "Other"}, "C")],
)  # fmt: skip
def test_grades_tell_who_ran_it_with_what(changes: dict[str, Any], grade: str) -> None:
    """A: one submitter and software, however spelt; B: one submitter; C: two."""
    assert pair(NODE, run("rack", "r", 72, 120, **changes)).grade == grade


@pytest.mark.parametrize(("rack", "tie"), [(125, True), (126, False), (80, True), (79, False), (100, True)])
def test_a_ratio_within_the_noise_is_a_tie(rack: float, tie: bool) -> None:
    """Two nodes of 100 and 125 differ by 1.25: a rack between 80 and 125 against the first says nothing."""
    found = pair(NODE, run("rack", "r", 72, rack), run("second", "n", 8, 125, submitter="Other"))
    assert (found.noise_low, found.noise_high) == (0.8, 1.25)
    assert found.tie is tie


@pytest.mark.parametrize(
    ("narrowed", "count"),
    [
        ({}, 1), ({"model": "models/m"}, 1), ({"model": "models/x"}, 0), ({"benchmark": "bench"}, 1), ({"benchmark": "bench-99"}, 1),
        ({"benchmark": "bench-99.9"}, 1), ({"benchmark": "benc"}, 0), ({"scenario": "offline"}, 1), ({"scenario": "server"}, 0), ({"round": "v6.1"}, 1),
        ({"round": "v6.0"}, 0), ({"accelerator": "accelerators/n"}, 1), ({"accelerator": "accelerators/r"}, 1), ({"accelerator": "accelerators/old"}, 0),
        ({"submitter": "maker"}, 1), ({"submitter": "Other"}, 0), ({"kind": "node-rack"}, 1), ({"kind": "node-slice"}, 0), ({"grade": "A"}, 1),
    ],
)  # fmt: skip
def test_pairs_are_narrowed_by_what_is_given(narrowed: dict[str, str], count: int) -> None:
    """Each filter keeps its own and drops the rest."""
    kb = base(run("a", "n", 8, 100, variants=("99", "99.9")), run("b", "r", 72, 120, variants=("99", "99.9")))
    assert len(find_pairs(kb, **narrowed)) == count  # type: ignore[arg-type]


def test_a_grade_asks_for_that_or_better_and_preview_must_be_asked_for() -> None:
    """B keeps A and B; a preview on either side is left out."""
    kb = base(
        NODE,
        RACK,
        run("b", "r", 72, 1, software="x"),
        run("c", "r", 72, 1, submitter="Other"),
        run("p", "r", 72, 1, availability="preview"),
    )

    def grades(**more: Any) -> list[str]:
        return sorted(p.grade for p in find_pairs(kb, kind="node-rack", **more))

    assert grades() == ["A", "B", "C"]
    assert grades(grade="B") == ["A", "B"]
    assert grades(grade="A") == ["A"]
    assert grades(include_preview=True) == ["A", "A", "B", "C"]


def test_the_strictest_accuracy_that_both_met_is_compared() -> None:
    """A rack that met 99.9 with one run and 99 with another stands with 99 against a node that met only 99."""

    def two(name: str, of: str, count: int, loose: float, strict: float) -> Evidence:
        first, second = (
            run(name, of, count, each, variants=(v,)).results[0]
            for each, v in ((loose, "99"), (strict, "99.9"))
        )
        return replace(run(name, of, count, 1), results=(first, second))

    only = run("node", "n", 8, 100, variants=("99",))
    both = pair(only, two("rack", "r", 72, 150, 130))
    assert (both.ratio, both.benchmark) == (1.5, "bench-99")
    shared = pair(two("node", "n", 8, 100, 80), two("rack", "r", 72, 150, 130))
    assert (shared.ratio, shared.benchmark) == (130 / 80, "bench-99.9")
    exact = find_pairs(base(only, two("rack", "r", 72, 150, 130)), benchmark="bench-99.9")
    assert exact == ()


def test_rates_in_unlike_metrics_are_no_pair() -> None:
    """Samples against tokens."""
    assert find_pairs(base(NODE, run("rack", "r", 72, 120, metric="samples_per_s"))) == ()


def test_pairs_are_listed_newest_first() -> None:
    """v10.0 before v9.1, then by scenario and kind, as `KINDS` has them."""
    runs = [
        run(f"{name}{scenario}", of, count, 100, round=round_, scenario=scenario)
        for round_ in ("v9.1", "v10.0") for scenario in ("server", "offline") for name, of, count in (("n", "n", 8), ("s", "r", 8), ("r", "r", 72))
    ]  # fmt: skip
    listed = [(p.round, p.scenario, p.kind) for p in find_pairs(base(*runs))]
    kinds = ("node-rack", "slice-rack", "node-slice")
    assert listed == [(r, s, k) for r in ("v10.0", "v9.1") for s in ("offline", "server") for k in kinds]


def named(small: dict[str, Any], large: dict[str, Any], scenario: str = "offline") -> tuple[str, ...]:
    a = figure_of(run("a", "n", 8, 100, scenario=scenario, **small))
    b = figure_of(run("b", "r", 72, 100, scenario=scenario, **large))
    return confounders(a, b)


LOGGED = Latency(ttft_p99_ms=900, ttft_limit_ms=1000, tpot_p99_ms=95, tpot_limit_ms=100)
SLACK = Latency(ttft_p99_ms=790, ttft_limit_ms=1000, tpot_p99_ms=40, tpot_limit_ms=100)


@pytest.mark.parametrize(
    ("small", "large", "scenario", "texts"),
    [
        ({}, {}, "offline", ()),
        ({}, {"submitter": "Other"}, "offline", ("submitter: Maker against Other",)),
        ({}, {"software": "Other 2"}, "offline", ("software: Serve 1.0 against Other 2",)),
        ({}, {"software": ""}, "offline", ("software: Serve 1.0 against not stated",)),
        ({}, {"software": "x" * 61}, "offline", (f"software: Serve 1.0 against {'x' * 59}…",)),
        ({}, {"software": "x" * 60}, "offline", (f"software: Serve 1.0 against {'x' * 60}",)),
        ({}, {"precision": "fp8"}, "offline", ("precision: fp4 against fp8",)),
        ({"precision": None}, {"precision": None}, "offline", ("precision: not known against not known",)),
        ({}, {"precision": None}, "offline", ("precision: fp4 against not known",)),
        ({"variants": ("99",)}, {"variants": ("99.9",)}, "offline", ("accuracy: bench-99 against bench-99.9",)),
        ({"variants": ("99",)}, {"variants": ("99", "99.9")}, "offline", ()),
        ({}, {"disaggregated": True}, "offline", ("disaggregation: not disaggregated against disaggregated",)),
        ({"disaggregated": None}, {"disaggregated": None}, "offline", ()),
        ({"topology": "speculative"}, {}, "offline", ("speculative decoding: on one side only, as far as is known",)),
        ({"topology": "speculative"}, {"topology": "speculative"}, "offline", ()),
        ({"group": 8}, {"group": 16}, "offline", ("group width: 8 against 16 accelerators",)),
        ({"group": 8}, {"group": 8}, "offline", ()), ({"group": 8}, {"group": None}, "offline", ()),
        ({}, {"topology": "recipe x"}, "offline", ("recipe: Maker 72 ran recipe x",)),
        ({}, {"availability": "preview"}, "offline", ("availability: available against preview",)),
        ({"stated": "N Power Cap 900 W"}, {}, "offline", ("hardware: Maker ran N Power Cap 900 W",)),
        ({"latency": LOGGED}, {"latency": LOGGED}, "server", ()),
        ({"latency": LOGGED}, {}, "server", ("SLA slack: known on one side only",)),
        ({}, {}, "server", ("SLA slack: not known, no run log",)),
        ({"latency": LOGGED}, {"latency": SLACK}, "server", ("SLA slack: p99 used TTFT 90%, TPOT 95% against TTFT 79%, TPOT 40% of the limit",)),
        ({"latency": SLACK}, {}, "server",
         ("SLA slack: known on one side only", "SLA slack: p99 used TTFT 79%, TPOT 40% against an unknown part of the limit")),
        ({"latency": replace(SLACK, ttft_p99_ms=800)}, {"latency": LOGGED}, "server", ()),
        ({"latency": Latency(samples_per_s=1)}, {"latency": Latency(samples_per_s=9.18)}, "offline", ()),
        ({"latency": Latency(samples_per_s=1)}, {"latency": Latency(samples_per_s=8)}, "offline", ("output length: 800 against 900 tokens per sample",)),
        ({"latency": Latency(samples_per_s=1)}, {}, "offline", ()),
    ],
)  # fmt: skip
def test_what_differs_beside_the_scale_is_named(
    small: dict[str, Any], large: dict[str, Any], scenario: str, texts: tuple[str, ...]
) -> None:
    """Each difference alone gives its own sentence, and nothing gives none."""
    assert named(small, large, scenario) == texts


def test_interactive_runs_of_unknown_arrangement_are_suspected() -> None:
    """Published interactive racks were mostly disaggregated, so not knowing is said."""
    unknown = {"disaggregated": None, "latency": LOGGED}
    assert named(unknown, unknown, "interactive") == ("disaggregation: not known against not known",)


def test_software_is_compared_without_case_space_and_order() -> None:
    """`B 2, a  1` is `A 1,b 2`."""
    assert software_key("B 2, a  1") == software_key("A 1,b 2")
    assert software_key("a 1") != software_key("a1")


def test_the_use_of_each_limit_is_a_share() -> None:
    """A limit or a percentile that is missing has none."""
    found = limit_use(
        figure_of(run("a", "n", 8, 100, latency=replace(LOGGED, e2e_p99_ms=5.0, tpot_limit_ms=None)))
    )
    assert found == {"TTFT": 0.9}
    whole = limit_use(
        figure_of(run("a", "n", 8, 100, latency=replace(LOGGED, e2e_p99_ms=5, e2e_limit_ms=10)))
    )
    assert whole == {"TTFT": 0.9, "TPOT": 0.95, "end-to-end": 0.5}
    assert limit_use(figure_of(NODE)) == {}


# noise


def spread(*runs: Evidence, of: str = "n") -> tuple[float | None, int]:
    band = noise_band(base(*runs), f"accelerators/{of}", "bench", "offline", "v6.1")
    return band.spread, band.submissions


def test_noise_is_the_spread_of_like_units() -> None:
    """100, 110 and 125 are 1.25; other precisions, altered parts, previews, other rounds and scenarios do not count."""
    own = [run("a", "n", 8, 100), run("b", "n", 8, 110, submitter="B"), run("c", "n", 8, 125, submitter="C")]
    assert spread(*own) == (1.25, 3)
    beside = [
        run("d", "n", 8, 10, precision="fp8"), run("e", "n", 8, 10, stated="N virtual"), run("f", "n", 8, 10, availability="preview"),
        run("g", "n", 8, 10, round="v6.0"), run("h", "n", 8, 10, scenario="server"), run("i", "n", 16, 10), run("j", "n", 4, 10),
        run("k", "n", 8, 10, metric="samples_per_s"), run("l", "r", 8, 10),
    ]  # fmt: skip
    assert spread(*own, *beside) == (1.25, 3)


def test_slices_count_where_no_whole_unit_does_and_by_size() -> None:
    """Slices of eight against each other, not against four; of nothing nothing is known."""
    slices = [run("a", "r", 8, 100), run("b", "r", 8, 130, submitter="B"), run("c", "r", 4, 10)]
    assert spread(*slices, of="r") == (1.3, 2)
    assert spread(of="r") == (None, 0)
    assert (
        noise_band(base(*slices), "accelerators/r", "bench-99.9", "offline", "v6.1").note
        == "2 r slices of 8 of 2 submitters at fp4"
    )


# the closest rate


def rate(*runs: Evidence, of: str = "n", **more: Any) -> Estimate | None:
    asked: dict[str, Any] = {
        "model": "models/m",
        "precision": "fp4",
        "scenario": "offline",
        "accelerator": f"accelerators/{of}",
        **more,
    }
    return closest_rate(base(*runs), **asked)


def test_the_rate_is_the_median_of_the_latest_round() -> None:
    """100, 110, 150 of v6.1: 110, from 100 to 150; the 500 of v6.0 is past."""
    runs = [run(name, "n", 8, each, submitter=name) for name, each in (("a", 100), ("b", 150), ("c", 110))]
    found = rate(*runs, run("old", "n", 8, 500, round="v6.0"), unit="node")
    assert found is not None
    assert (found.value, found.low, found.high, found.unit, found.basis) == (
        110,
        100,
        150,
        "tokens/s",
        "audited",
    )
    assert len(found.evidence) == 3
    assert found.note == "bench offline v6.1, node of 8, median of 3 submissions"


def test_a_single_submission_has_the_noise_of_its_silicon_or_generation() -> None:
    """A lone rack takes the spread of 1.21 of its generation's nodes: a factor of 1.1 each way; alone in the world, none."""
    nodes = [run("a", "n", 8, 100), run("b", "n", 8, 121, submitter="B")]
    found = rate(RACK, *nodes, of="r", unit="rack")
    assert found is not None
    assert (found.value, found.low, found.high) == (120, pytest.approx(120 / 1.1), pytest.approx(132))
    assert found.note == "bench offline v6.1, rack of 72, Maker; range from the noise of 2 submissions"
    alone = rate(RACK, of="r", unit="rack")
    assert alone is not None
    assert (alone.low, alone.high) == (120, 120)
    assert alone.note.endswith("Maker; noise not known")
    mine = rate(run("z", "n", 16, 90), *nodes, unit="multi-node")
    assert mine is not None
    assert mine.low == pytest.approx(90 / math.sqrt(1.21))


@pytest.mark.parametrize(
    ("unit", "there", "stands"),
    [
        ("node", (8, 16), 8), ("node", (16,), 16), ("node", (4,), 4), ("node", (72,), None), ("multi-node", (8, 16), 16), ("multi-node", (8,), 8),
        ("slice", (4, 72), 4), ("slice", (72, 144), 72), ("rack", (72, 144), 72), ("rack", (144, 4), 144), ("rack", (4,), 4), ("rack", (8,), None),
        ("multi-rack", (72, 144), 144), ("multi-rack", (72,), 72), ("multi-rack", (4,), None), (None, (8, 72), 8), (None, (72, 16), 72), (None, (16, 4), 16),
        (None, (4, 144), 4),
    ],
)  # fmt: skip
def test_what_stands_in_for_a_unit(unit: str | None, there: tuple[int, ...], stands: int | None) -> None:
    """The unit itself, then its nearest kin; a rack never stands in for a node, nor a node for a rack."""
    found = rate(*(run(f"x{count}", "n", count, count) for count in there), unit=unit)
    assert (found.value if found else None) == stands
    if (
        found
        and unit
        and {8: "node", 16: "multi-node", 4: "slice", 72: "rack", 144: "multi-rack"}[int(found.value)] != unit
    ):
        assert f"in place of a {unit}" in found.note


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "fp8"},
        {"stated": "virtual N"},
        {"availability": "preview"},
        {"scenario": "server"},
        {"model": "models/x"},
        {"division": "open"},
    ],
)
def test_another_question_has_another_answer(changes: dict[str, Any]) -> None:
    """Precision, altered parts, previews, scenario, model and division are all part of it."""
    assert rate(run("a", "n", 8, 100, **changes)) is None
    assert rate(run("a", "n", 8, 100)) is not None


# effects


def split(*runs: Evidence) -> Effects:
    return effects(
        base(*runs),
        model="models/m",
        scenario="offline",
        node_accelerator="accelerators/n",
        rack_accelerator="accelerators/r",
    )


def test_silicon_times_scale_is_the_whole_of_one_submitter() -> None:
    """100, 110, 121 per accelerator: 1.1 x 1.1 = 1.21."""
    found = split(NODE, SLICE, run("rack", "r", 72, 121))
    assert found.rack_over_node is not None
    assert found.silicon_effect is not None
    assert found.scale_effect is not None
    assert [round(e.value, 4) for e in (found.rack_over_node, found.silicon_effect, found.scale_effect)] == [
        1.21,
        1.1,
        1.1,
    ]
    assert found.chain[-1] == "silicon 1.10 × scale 1.10 = 1.21: one chain of three systems"
    assert len(found.chain) == 4
    assert found.silicon_pair is not None
    assert found.scale_pair is not None
    assert (found.silicon_pair.kind, found.scale_pair.kind) == ("node-slice", "slice-rack")
    assert found.confounders == ()


def test_without_a_rack_the_silicon_alone_is_known() -> None:
    """1.1 of node to slice; the chain says what is missing."""
    found = split(NODE, SLICE)
    assert found.rack_over_node is None
    assert found.scale_effect is None
    assert found.silicon_effect is not None
    assert found.silicon_effect.value == pytest.approx(1.1)
    assert found.pairs == ()
    assert found.chain[-1] == "no r rack and n node ran m offline in one round"
    assert len(found.chain) == 2
    assert split(RACK).chain == found.chain[-1:]


def test_one_submitter_is_more_telling_than_a_later_round_across_two() -> None:
    """Same submitter before round, round before the number of racks."""
    crossed = run("late", "r", 72, 200, submitter="Other", round="v6.2")
    late_node = run("laten", "n", 8, 100, round="v6.2")
    found = split(NODE, RACK, crossed, late_node).rack_over_node
    assert found is not None
    assert found.value == pytest.approx(1.2)
    newer = split(NODE, RACK, late_node, run("later", "r", 72, 130, round="v6.2")).rack_over_node
    assert newer is not None
    assert newer.value == pytest.approx(1.3)
    many = split(NODE, RACK, run("two", "r", 144, 150)).rack_over_node
    assert many is not None
    assert many.value == pytest.approx(1.2)


def test_across_submitters_the_best_of_each_side_counts() -> None:
    """Racks of 120 and 140 against nodes of 90 and 100 of others: 1.4, and the range over all four."""
    found = split(
        run("a", "n", 8, 90, submitter="A"), run("b", "n", 8, 100, submitter="B"), run("c", "r", 72, 120, submitter="C"), run("d", "r", 72, 140, submitter="D"),
    ).rack_over_node  # fmt: skip
    assert found is not None
    assert found.value == pytest.approx(1.4)
    assert (found.low, found.high) == (pytest.approx(1.2), pytest.approx(140 / 90))
    assert found.note.endswith("; range over 4 pairs")


def test_a_lone_pair_spans_half_of_the_noise_each_way() -> None:
    """Noise of 1.21 among nodes: a factor of 1.1 around 1.5; without noise no range."""
    found = split(NODE, run("rack", "r", 72, 150), run("b", "n", 8, 121, submitter="B")).rack_over_node
    assert found is not None
    assert found.low == pytest.approx(1.5 / 1.1)
    assert found.high == pytest.approx(1.5 * 1.1)
    alone = split(NODE, RACK).rack_over_node
    assert alone is not None
    assert (alone.low, alone.high) == (pytest.approx(1.2), pytest.approx(1.2))


# what runs were held to


def test_limits_lengths_and_widths_of_audited_runs() -> None:
    """The tightest limit, the median length (800/2 and 800/4: 300), the widest group; open runs do not count."""
    runs = [
        run("a", "n", 8, 100, scenario="server", latency=Latency(tpot_limit_ms=80, ttft_limit_ms=3000, samples_per_s=2), group=8),
        run("b", "n", 8, 100, scenario="server", latency=Latency(tpot_limit_ms=40, ttft_limit_ms=2000, samples_per_s=4), group=4),
        run("c", "n", 8, 100, scenario="server", latency=Latency(tpot_limit_ms=1, ttft_limit_ms=1, samples_per_s=1), group=64, division="open"),
        run("d", "n", 8, 100, metric="samples_per_s", latency=Latency(samples_per_s=1)),
    ]  # fmt: skip
    kb = base(*runs)
    assert audited_limits(kb) == {("models/m", "server"): 40}
    assert audited_limits(kb, "ttft") == {("models/m", "server"): 2000}
    assert audited_output_tokens(kb, "models/m") == 300
    assert audited_output_tokens(kb, "models/x") is None
    assert group_width(kb, "models/m", "server", "accelerators/n") == 8
    assert group_width(kb, "models/m", "offline", "accelerators/n") == 0
    assert group_width(kb, "models/m", "server", "accelerators/r") == 0
    assert has_results(kb, "accelerators/n")
    assert not has_results(kb, "accelerators/r")


def test_names_rounds_and_altered_parts() -> None:
    """Variants are no part of a benchmark's name; v9.1 is before v10.0; a cap or a virtual machine alters the part."""
    assert [unqualified(name) for name in ("bench", "bench-99", "bench-99.9", "bench-9")] == [
        "bench",
        "bench",
        "bench",
        "bench-9",
    ]
    assert sorted(["v10.0", "v9.1", "v9.0"], key=round_key) == ["v9.0", "v9.1", "v10.0"]
    assert [
        bool(altered(run("a", "n", 8, 1, stated=name)))
        for name in ("N 288GB", "N Power Cap 1 kW", "VirtualN")
    ] == [False, True, True]
    loose, strict = (
        figure_of(run("a", "n", 8, each, variants=(v,))) for each, v in ((100, "99"), (90, "99.9"))
    )
    assert strictest([loose, strict]) == strictest([strict, loose]) == [strict]
    assert strict.benchmark == "bench-99.9"
    assert figure_of(NODE).benchmark == "bench"


def test_runs_that_met_different_targets_share_the_plain_name() -> None:
    """99 against 99.9: the benchmark alone is common, and that they differ is said."""
    found = pair(run("a", "n", 8, 100, variants=("99",)), run("b", "r", 72, 120, variants=("99.9",)))
    assert found.benchmark == "bench"
    assert found.confounders == ("accuracy: bench-99 against bench-99.9",)


def test_silicon_is_compared_at_the_size_of_a_node() -> None:
    """A slice of sixteen already scales; of four and eight the eight tell."""
    assert split(NODE, RACK, run("slice16", "r", 16, 110)).silicon_effect is None
    found = split(NODE, run("slice4", "r", 4, 150), SLICE).silicon_effect
    assert found is not None
    assert found.value == pytest.approx(1.1)
    small = split(NODE, run("slice4", "r", 4, 150)).silicon_effect
    assert small is not None
    assert small.value == pytest.approx(1.5)


def of_one(name: str, node: float, rack: float, slice_: float = 0) -> list[Evidence]:
    own = [run(f"{name}n", "n", 8, node, submitter=name), run(f"{name}r", "r", 72, rack, submitter=name)]
    return [*own, run(f"{name}s", "r", 8, slice_, submitter=name)] if slice_ else own


@pytest.mark.parametrize(
    ("runs", "ratio"),
    [
        ((*of_one("A", 100, 120), *of_one("B", 100, 130)), 1.2),  # nothing tells them apart but the name
        ((*of_one("A", 100, 120), *of_one("B", 100, 130, 110)), 1.3),  # B also ran a slice
        ((*of_one("A", 100, 120), *of_one("Maker", 100, 140)), 1.4),  # the silicon's own vendor
        ((*of_one("Maker", 100, 140), *of_one("B", 100, 130, 110)), 1.3),  # a slice before the vendor
    ],
)
def test_of_several_submitters_the_most_telling_is_taken(runs: tuple[Evidence, ...], ratio: float) -> None:
    """One that also ran a slice, then the silicon's vendor, whose team tuned both sides."""
    found = split(*runs).rack_over_node
    assert found is not None
    assert found.value == pytest.approx(ratio)


def test_a_split_is_taken_from_the_nodes_own_submitter_first() -> None:
    """B ran node, slice and rack: its parts multiply; where only C ran the slice, the parts are crossed and said to be."""
    own = split(*of_one("B", 100, 130, 110), *of_one("C", 90, 150, 120)[2:])
    assert own.silicon_effect is not None
    assert own.silicon_effect.value == pytest.approx(1.1)
    assert own.chain[-1].endswith("one chain of three systems")
    crossed = split(
        *of_one("B", 100, 130), run("cn", "n", 8, 90, submitter="C"), run("cs", "r", 8, 108, submitter="C")
    )
    assert crossed.silicon_effect is not None
    assert crossed.scale_effect is not None
    assert crossed.silicon_effect.value == pytest.approx(
        1.2
    )  # C against itself, before B's node against C's slice
    assert crossed.scale_effect.value == pytest.approx(130 / 108)
    assert "need not multiply to the whole" in crossed.chain[-1]
    assert any(text.startswith("scale effect: submitter: C against B") for text in crossed.confounders)
