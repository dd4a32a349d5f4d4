"""From a figure of an answer back to the audited rows: what is cited, in which order, for which results."""

from __future__ import annotations

import re
from statistics import median
from typing import Any

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said
from advisor.reasoning.weight import weighty
from advisor.records import Recommendation

CASES: list[dict[str, Any]] = [
    {"workload": "server", "concurrency": 2000},
    {"workload": "offline", "throughput_tokens_per_s": 200_000},
    {"workload": "interactive", "concurrency": 2000},
    {
        "workload": "interactive",
        "tpot_ms": 20,
        "concurrency": 5000,
        "input_tokens": 4096,
        "output_tokens": 1024,
    },
]


def answer(kb: KnowledgeBase, **values: Any) -> Recommendation:
    return recommend(kb, said(kb, {"model": "deepseek-r1", "weight_precision": "fp4", **values}), flips=False)


def behind(given: Recommendation, system: str | None) -> set[str]:
    rate = next(c for c in given.candidates if c.system == system).throughput_per_accelerator
    assert rate is not None
    return {i for i in rate.evidence if i.startswith("evidence/")}


@pytest.mark.parametrize("case", CASES)
def test_what_the_rates_rest_on_is_cited_first_with_its_results(
    kb: KnowledgeBase, case: dict[str, Any]
) -> None:
    """Every run behind the best node's and rack's rates shows its rate per accelerator, before what other systems rest on."""
    given = answer(kb, **case)
    wanted = behind(given, given.best_node) | behind(given, given.best_rack)
    assert wanted
    first = given.evidence[: len(wanted)]
    assert {citation.id for citation in first} == wanted
    scenarios = {"server", "interactive"} if "tpot_ms" in case else {case["workload"]}
    for citation in first:
        told = [figure for figure in citation.figures if figure.startswith("deepseek-r1")]
        assert scenarios & {figure.split(":")[0].split()[1] for figure in told}
        shown = re.search(r"deepseek-r1 (\w+) [\d,.]+ tokens/s \(entry", citation.text)
        assert shown is not None
        assert shown[1] in scenarios
    for citation in weighty(kb, given):
        if citation.id in wanted:
            assert citation.figures


def test_the_audited_rate_of_a_sum_is_the_median_of_the_rows_cited(kb: KnowledgeBase) -> None:
    """B200 nodes in v6.1 Server: CoreWeave 56,121.3 / 8 and Nebius 55,869 / 8 tokens/s (entries 84 and 333)."""
    given = answer(kb, **CASES[3], system="systems/hgx-b200")
    node = next(c for c in given.candidates if c.system == "systems/hgx-b200")
    printed = next(m for step in node.arithmetic if (m := re.search(r"rate ([\d,]+) tokens/s ×", step)))
    rows = [
        float(m[1])
        for citation in given.evidence
        if citation.id in behind(given, "systems/hgx-b200")
        for figure in citation.figures
        if (m := re.search(r"deepseek-r1 server: .* = ([\d.]+) tokens/s per accelerator", figure))
    ]
    assert len(rows) == 2
    assert median(rows) == pytest.approx(median([56_121.3 / 8, 55_869 / 8]), rel=1e-3)
    assert float(printed[1].replace(",", "")) == pytest.approx(median(rows), rel=1e-3)
