"""Checks that a page's example cannot show: comparisons over many entries, near duplicates, and what they must not report."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lint_workbench import Workbench

from advisor.cli.main import main
from advisor.errors import InputError
from advisor.lint.check import all_checks, find_check
from advisor.lint.shingles import similar_pairs
from advisor.lint.watch import changes

RESULT = "{{benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: {value}, record: r1}}"


def _box(bench: Workbench, name: str, value: float, extra: str = "") -> None:
    text = bench.path("evidence/example/box").read_text().replace("example/box", f"example/{name}")
    text = text[: text.index("results:")] + f"results:\n  - {RESULT.format(value=value)}\n{extra}"
    bench.write(f"evidence/example/{name}", text)


def test_a_per_accelerator_figure_entered_as_a_total_stands_out(bench: Workbench) -> None:
    """Among systems of the same silicon, one whose rate is an eighth of the others' is reported, and only that one."""
    for number in range(4):
        _box(bench, f"b{number}", 1000 + 50 * number)
    assert "KB413" not in bench.codes()
    _box(bench, "odd", 131)
    found = [f for f in bench.lint() if f.code == "KB413"]
    assert [Path(f.path).stem for f in found] == ["odd"]
    assert "16.38 per accelerator" in found[0].message


def test_more_tokens_than_multiplications_allow_are_an_error(bench: Workbench) -> None:
    """989 dense TFLOPS over 2 x 8.03e9 operations a token allow 61,580 tokens/s; a system of eight eight times that."""
    _box(bench, "fast", 8 * 61_000)
    assert "KB414" not in bench.codes()
    _box(bench, "fast", 8 * 62_000)
    assert "KB414" in bench.codes()


def test_the_power_of_a_system_covers_its_accelerators(bench: Workbench) -> None:
    """Eight of 700 W are 5.6 kW; DGX H100 is specified with 10.2 kW at most (NVIDIA DGX H100 user guide)."""
    bench.change("systems/example", "power_kw: {value: 10.2, trust: unverified}")
    assert "KB433" not in bench.codes()
    bench.change("systems/example", "power_kw: {value: 1.3, trust: unverified}")
    assert "KB433" in bench.codes()


def test_a_claim_over_an_old_round_is_pointed_out_when_the_run_was_repeated(bench: Workbench) -> None:
    """The same submitter, silicon, size, benchmark and scenario in a later round supersede; a stated `since` settles it."""
    for round_, name in (("v5.1", "old"), ("v6.0", "new")):
        _box(bench, name, 1000, f"round: {round_}\n")
    claim = (
        "symptom: The box delivers 125 tok/s for each GPU.\nclaims:\n  - text: 125 tok/s\n    expression: rate / gpus\n"
        '    inputs: {rate: "evidence/example/old#llama2-70b/offline", gpus: "evidence/example/old#@accelerators"}\n'
    )
    bench.change("gotchas/example", claim)
    assert "KB613" in bench.codes()
    bench.change("gotchas/example", claim + "since: v5.1")
    assert "KB613" not in bench.codes()


def test_a_name_that_no_id_can_have_is_not_called_a_wrong_id(bench: Workbench) -> None:
    """A file in capitals is to be renamed; writing its name into the id would not help."""
    bench.path("concepts/another").rename(bench.root / "concepts" / "Another_Term.yaml")
    found = {f.code: f for f in bench.lint()}
    assert "KB201" in found
    assert "KB200" not in found
    assert "concepts/another-term.yaml" in found["KB201"].fix


def test_texts_that_share_most_of_their_runs_are_near_duplicates() -> None:
    """A copy with a few words changed is found; two texts about one subject are not."""
    story = (
        "The rack answers slower than the node because its replicas wait for a collective that crosses the whole domain, and "
        "nothing in the model needs that. Set tensor parallelism to eight and start nine replicas of the model instead."
    )
    copy = story.replace("slower", "later").replace("Set", "Choose")
    other = (
        "A node answers slower than a rack where the model is a mixture of many experts and the latency per token is tight, "
        "since eight accelerators cannot hold enough experts each to keep their memory busy at a small batch."
    )
    assert [(later, earlier) for later, earlier, _ in similar_pairs({"a": story, "b": other, "c": copy})] == [
        ("c", "a")
    ]


def test_ten_thousand_copies_take_no_longer_than_as_many_texts() -> None:
    """A folder of identical entries does not make the comparison quadratic, and each copy is named once."""
    text = " ".join(f"word{number} follows word{number * 7 % 101}" for number in range(120))
    start = time.process_time()
    pairs = list(similar_pairs({f"g{number:05d}": text for number in range(5000)}))
    assert len(pairs) == 4999
    assert time.process_time() - start < 60  # a guard against quadratic growth, which would take hours


@pytest.mark.parametrize("word", ["KB403", "kb403", " claim-mismatch "])
def test_a_code_is_found_by_number_or_name(word: str) -> None:
    """Findings show both, so both lead to the page."""
    assert find_check(word).code == "KB403"


def test_an_unknown_code_names_the_nearest() -> None:
    """A typo is answered with what was probably meant."""
    with pytest.raises(InputError, match="claim-mismatch"):
        find_check("claim-missmatch")


def test_explain_prints_the_page_and_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """`rackfit explain KB403` is the page in docs/lint; --list has one line for each code."""
    assert main(["explain", "KB403"]) == 0
    page = Path(__file__).parents[2] / "docs" / "lint" / "KB403.md"
    assert capsys.readouterr().out == page.read_text("utf-8")
    assert main(["explain", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(all_checks())
    assert main(["explain"]) == 2
    assert main(["explain", "KB9"]) == 2


def test_watching_notices_what_is_written_added_and_removed(bench: Workbench) -> None:
    """Each change of the folder gives one more look, and none without."""
    looks = changes([bench.root], seconds=0.01)
    next(looks)
    bench.change("gotchas/example", "severity: info")
    next(looks)
    extra = bench.change("concepts/extra", "title: An extra term")
    next(looks)
    extra.unlink()
    next(looks)


def test_a_fact_nothing_reads_is_reported_unless_a_broken_entry_names_it(bench: Workbench) -> None:
    """A rule that cannot be used yet may be the one that reads the fact; any other broken entry says nothing about it."""
    bench.change("facts/ceiling-height", "name: ceiling_height\n")
    bench.write("rules/broken", "id: rules/broken\ntitle: Broken\nwhen: {fact: tpot_ms, below: 15}\n")
    assert "KB509" in bench.codes()
    bench.write("rules/broken", "id: rules/broken\ntitle: Broken\nwhen: {fact: ceiling_height, below: 3}\n")
    assert "KB509" not in bench.codes()
