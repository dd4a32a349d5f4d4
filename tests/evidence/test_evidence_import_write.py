"""Entries as files: stable, valid, and the shipped ones are what an import of the summaries gives."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import rows
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.evidence.mlperf import import_results
from advisor.evidence.mlperf.earlier import keep_earlier
from advisor.evidence.mlperf.source import write_missing_sources
from advisor.evidence.mlperf.tables import load_tables
from advisor.evidence.mlperf.write import to_yaml, write_entries
from advisor.knowledge import KnowledgeBase
from advisor.knowledge.build import build_record
from advisor.knowledge.locate import kb_folder
from advisor.knowledge.schema import check_document
from advisor.knowledge.yaml_source import parse_document
from advisor.records import Latency


def test_importing_twice_changes_no_byte(tmp_path: Path) -> None:
    """The second import finds every file as it would write it."""
    entries = list(
        import_results(
            rows.write_object(tmp_path, {"1": rows.object_row(), "2": rows.object_row(Scenario="Server")})
        ).entries
    )
    assert write_entries(entries, tmp_path) == (1, 0)
    assert write_entries(entries, tmp_path) == (0, 1)


def test_an_import_without_logs_keeps_what_an_earlier_one_knew(tmp_path: Path) -> None:
    """Latencies and facts of the same figure survive; those of another figure do not."""
    (entry,) = import_results(rows.write_list(tmp_path, rows.list_row(Scenario="Server"))).entries
    known = replace(entry.results[0], latency=Latency(tpot_p99_ms=12.5))
    write_entries([replace(entry, results=(known,), facts={"cooling": "air"})], tmp_path)
    (kept,) = keep_earlier([entry], tmp_path)
    assert (kept.results[0].latency, kept.facts) == (Latency(tpot_p99_ms=12.5), {"cooling": "air"})
    (changed,) = keep_earlier([replace(entry, results=(replace(entry.results[0], value=1.0),))], tmp_path)
    assert changed.results[0].latency is None


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """Rows in another order give the same text."""
    first, second = rows.list_row(), rows.list_row(Scenario="Server", Performance_Result=100282.0)
    texts = {
        to_yaml(import_results(rows.write_list(tmp_path, *order)).entries[0])
        for order in ((first, second), (second, first))
    }
    assert len(texts) == 1


def test_the_shipped_files_are_in_the_written_form(kb: KnowledgeBase) -> None:
    """Every shipped result file is byte for byte what the writer makes of its record: nobody edited it by hand."""
    for entry in kb.evidence.values():
        if entry.source.startswith("sources/mlperf-"):
            assert (kb_folder() / f"{entry.id}.yaml").read_text("utf-8") == to_yaml(entry)


def test_every_name_in_the_importers_tables_is_an_entry(kb: KnowledgeBase) -> None:
    """Accelerators and models that the tables name exist in the shipped knowledge base."""
    tables = load_tables()
    assert {f"accelerators/{known.slug}" for known in tables.accelerators if known.entry} <= set(
        kb.accelerators
    )
    assert {known.model for known in tables.benchmarks.values()} | set(tables.open_models.values()) <= set(
        kb.models
    )


def test_every_published_layout_belongs_to_a_shipped_result(kb: KnowledgeBase) -> None:
    """No line of the run table is dead: each one marks at least one result."""
    for run in load_tables().runs:
        assert any(
            (entry.round, entry.submitter, entry.accelerator, entry.scale.accelerators)
            == (run.round, run.submitter, "accelerators/" + run.accelerator, run.accelerators)
            and any(
                result.benchmark == run.benchmark and result.scenario in run.scenarios
                for result in entry.results
            )
            for entry in kb.evidence.values()
        ), run


def test_a_round_without_source_entry_gets_one(tmp_path: Path) -> None:
    """A future round is linkable: its source entry is written, valid, with the notice; known rounds get none."""
    entries = import_results(
        rows.write_object(tmp_path, {"1": rows.object_row(version="v9.9"), "2": rows.object_row()})
    ).entries
    (path,) = write_missing_sources(entries, tmp_path, date(2030, 1, 2))
    document = parse_document(path.read_text("utf-8"), str(path))
    assert path == tmp_path / "sources/mlperf-v9.9.yaml"
    assert not check_document(document, "sources")
    assert document.data is not None
    assert "registered and unregistered trademarks of MLCommons Association" in document.data["notice"]
    assert write_missing_sources(entries, tmp_path, date(2030, 1, 2)) == []


@settings(max_examples=150, deadline=None)
@given(
    st.text(min_size=1, max_size=40).filter(
        lambda text: any(c.isprintable() and not c.isspace() for c in text)
    ),
    st.text(max_size=60),
)
def test_any_text_survives_the_file(platform: str, software: str) -> None:
    """Names with quotes, colons, control characters or other scripts read back as they were."""
    from advisor.evidence.mlperf.entries import build_entries, name_row
    from advisor.evidence.mlperf.rows import Row, parse_rows

    tables = load_tables()
    (row,) = parse_rows([("1", rows.list_row(Platform=platform, Software=software))])
    assert isinstance(row, Row)
    named = name_row(row, tables)
    entries, problems = build_entries([named], tables, lambda *_: None, lambda _: {})  # type: ignore[list-item]
    assert not problems
    document = parse_document(to_yaml(entries[0]), "x.yaml")
    assert not document.findings
    assert document.data is not None
    assert build_record("evidence", document.data) == entries[0]
