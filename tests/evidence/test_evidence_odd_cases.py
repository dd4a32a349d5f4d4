"""Published rows, files and claims that are odd but real: what is made of them, or the line that refuses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rows

from advisor.errors import InputError, KnowledgeError
from advisor.evidence.claims import check_claims
from advisor.evidence.figures import figures, strictest
from advisor.evidence.mlperf import import_results, tables
from advisor.evidence.mlperf.rows import MAX_BYTES
from advisor.evidence.pairs import find_pairs
from advisor.knowledge import KnowledgeBase
from advisor.records import Claim, Evidence, Gotcha

Rackfit = Callable[..., Any]


def imported(folder: Path, *given: dict[str, Any]) -> tuple[Evidence, ...]:
    found = import_results(rows.write_list(folder, *given))
    assert found.problems == ()
    return found.entries


def refused(folder: Path, row: dict[str, Any]) -> str:
    found = import_results(rows.write_list(folder, row))
    assert found.entries == ()
    (problem,) = found.problems
    return problem.message


class TestRows:
    """Rows of a summary file."""

    @pytest.mark.parametrize(
        ("written", "benchmark", "variants"),
        [
            ("llama3_1-405b", "llama3.1-405b", ()),
            ("llama3.1-405b", "llama3.1-405b", ()),
            ("llama2-70b-99.9", "llama2-70b", ("99.9",)),
        ],
    )
    def test_a_benchmark_has_one_name_however_it_is_written(
        self, tmp_path: Path, written: str, benchmark: str, variants: tuple[str, ...]
    ) -> None:
        """v5.1 writes llama3_1-405b where v6.0 writes llama3.1-405b."""
        (entry,) = imported(tmp_path, rows.list_row(Model=written, UsedModel=written))
        (result,) = entry.results
        assert (result.benchmark, result.accuracy_variants) == (benchmark, variants)

    def test_a_model_that_nobody_knows_is_named_in_the_open_division(self, tmp_path: Path) -> None:
        """Open submissions may run another model than the benchmark's; one that has no entry cannot be filed under it."""
        row = rows.list_row(Category="open", UsedModel="HermesX-70b-sparse")
        assert refused(tmp_path, row) == "unknown model 'HermesX-70b-sparse' run in the open division"

    @pytest.mark.parametrize(
        ("rate", "marked"), [(103480.0 * 1.2, True), (103480.0 * 1.01, False), (90000.0, False)]
    )
    def test_a_rate_above_that_of_a_looser_limit_is_remarked(
        self, tmp_path: Path, rate: float, marked: bool
    ) -> None:
        """Offline has no latency limit, so a Server rate well above it is as published, but not to be trusted unseen."""
        (entry,) = imported(
            tmp_path, rows.list_row(), rows.list_row(Scenario="Server", Performance_Result=rate)
        )
        notes = {result.scenario: result.note for result in entry.results}
        assert ("above the offline rate of the same system, as published" in notes["server"]) is marked
        assert "above" not in notes["offline"]

    def test_a_count_that_no_system_has_is_refused(self, tmp_path: Path) -> None:
        """Each field alone may be right; their product may not."""
        row = rows.list_row(Nodes=900_000, **{"a#": 900_000, "Total Accelerators": None})
        assert "make more than 1,000,000 accelerators" in refused(tmp_path, row)

    def test_an_accelerator_without_entry_keeps_its_name_and_count(self, tmp_path: Path) -> None:
        """A part that the tables do not know: the row is kept, and nothing is read into its platform's name."""
        (entry,) = imported(tmp_path, rows.list_row(Accelerator="Frobnicator 9000", Platform="4x8frob"))
        assert entry.accelerator is None
        assert (entry.scale.accelerators, entry.scale.note) == (8, "")

    def test_a_board_of_four_is_a_node_of_its_own(self, tmp_path: Path) -> None:
        """GB200 NVL4 is sold as a server board; the chip is that of a rack, the scale-up domain is not."""
        (entry,) = imported(
            tmp_path,
            rows.list_row(
                Accelerator="NVIDIA GB200", Platform="GB200-NVL4_GB200-186GB_aarch64x4", Nodes=1, **{"a#": 4, "Total Accelerators": 4}
            ),
        )  # fmt: skip
        assert entry.scale.unit == "node"
        assert "a board of four on its own" in entry.scale.note


class TestFiles:
    """Files that an import reads and replaces."""

    def test_a_file_that_cannot_be_read_gives_the_systems_reason(self, tmp_path: Path) -> None:
        """One line with the name."""
        with pytest.raises(InputError, match=r"none\.json' cannot be read: No such file or directory"):
            import_results(tmp_path / "none.json")

    def test_a_file_larger_than_any_round_is_refused(self, tmp_path: Path) -> None:
        """Sixty-four megabytes hold every row of a round many times."""
        path = tmp_path / "huge.json"
        with path.open("wb") as handle:
            handle.truncate(MAX_BYTES + 1)
        with pytest.raises(
            InputError, match="is larger than 64,000,000 bytes; give one round's summary file"
        ):
            import_results(path)

    @pytest.mark.parametrize(
        "content",
        [
            "id: [broken\n",
            "id: evidence/x\nid: evidence/y\n",
            "just text\n",
            "title: no results and no scale\n",
        ],
        ids=["no YAML", "a key twice", "no mapping", "no evidence"],
    )
    def test_a_damaged_entry_is_replaced_as_a_whole(
        self, rackfit: Rackfit, tmp_path: Path, content: str
    ) -> None:
        """An import over files that somebody broke gives what an import into an empty folder gives."""
        summary = rows.write_list(tmp_path, rows.list_row(version="v9.9"))
        fresh, damaged = tmp_path / "fresh", tmp_path / "damaged"
        assert rackfit("import", "mlperf", summary, "--output", fresh).status == 0
        (written,) = (fresh / "evidence").rglob("*.yaml")
        target = damaged / written.relative_to(fresh)
        target.parent.mkdir(parents=True)
        target.write_text(content, encoding="utf-8")
        assert rackfit("import", "mlperf", summary, "--output", damaged).status == 0
        assert target.read_bytes() == written.read_bytes()

    def test_a_damaged_table_of_names_is_a_line_with_its_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Who adds a benchmark and slips sees where."""
        (tmp_path / "benchmarks.yaml").write_text("benchmarks:\n  a: 1\n  a: 2\n", encoding="utf-8")
        monkeypatch.setattr(tables, "__file__", str(tmp_path / "tables.py"))
        tables.load_tables.cache_clear()
        try:
            with pytest.raises(KnowledgeError, match=r"benchmarks\.yaml:3:3: .*'a' occurs twice"):
                tables.load_tables()
        finally:
            tables.load_tables.cache_clear()


def test_a_figure_beyond_all_measure_is_no_arithmetic(kb: KnowledgeBase) -> None:
    """A slip in an expression (a product of totals) is said instead of compared."""
    claim = Claim(text="900 tok/s", expression="1000000 * 1000000 * 1000000 * 1000000")
    entry = Gotcha(
        id="gotchas/x", title="X", concepts=(), symptom="It serves 900 tok/s.", root_cause="", workaround="", claims=(claim,)
    )  # fmt: skip
    (problem,) = check_claims(kb, entry)
    assert (problem.kind, problem.message) == (
        "expression",
        "comes to more than 1e+18, which no figure here does",
    )


class TestVariants:
    """Two accuracy targets of one system are two figures and one system."""

    def test_the_strictest_target_counts_in_any_order(self, kb: KnowledgeBase) -> None:
        """HPE's v5.1 server ran 99 and 99.9 apart: 26,205.8 and 26,205.3 tokens/s; the harder one stands for it."""
        figure = next(f for f in figures(kb) if f.result.benchmark == "llama2-70b")
        loose, strict = (
            replace(figure, result=replace(figure.result, value=value, accuracy_variants=(variant,)))
            for value, variant in ((26205.8, "99"), (26205.3, "99.9"))
        )
        for order in ([loose, strict], [strict, loose]):
            assert strictest(order) == [strict]

    def test_systems_without_a_common_target_pair_by_their_strictest(self, kb: KnowledgeBase) -> None:
        """A system with two figures for a benchmark that has no accuracy targets still pairs once with each other system."""
        pair = next(p for p in find_pairs(kb, benchmark="deepseek-r1", kind="node-rack"))
        node = kb.evidence[pair.small.evidence]
        own = next(r for r in node.results if (r.benchmark, r.scenario) == (pair.benchmark, pair.scenario))
        again = replace(node, results=(*node.results, replace(own, value=own.value / 2, record="again")))
        twice = KnowledgeBase({**kb.entries, node.id: again}.values())

        def sides(base: KnowledgeBase) -> list[tuple[str, str]]:
            found = find_pairs(base, benchmark=pair.benchmark, scenario=pair.scenario, kind="node-rack")
            return sorted((p.small.evidence, p.large.evidence) for p in found if p.round == pair.round)

        assert sides(twice) == sides(kb)


class TestCompare:
    """`rackfit compare --model` takes benchmarks and models."""

    def test_a_models_id_lists_what_was_measured_with_it(self, rackfit: Rackfit) -> None:
        """The id of the model and the name of its benchmark give the same pairs."""
        by_id, by_name = (
            rackfit("compare", "--model", name, "--kind", "node-rack", "--format", "csv")
            for name in ("models/llama-2-70b", "llama2-70b")
        )
        assert by_id.status == 0
        assert by_id.out == by_name.out
        assert len(by_id.out.splitlines()) > 1

    def test_a_model_that_was_never_measured_is_told_apart_from_an_unknown_one(
        self, rackfit: Rackfit
    ) -> None:
        """Qwen3 14B has an entry and no audited result: the message says so and names what has."""
        ran = rackfit("compare", "--model", "qwen3-14b")
        assert ran.status == 2
        assert "--model: no audited result for models/qwen3-14b; measured are " in ran.err
        assert "llama2-70b" in ran.err
