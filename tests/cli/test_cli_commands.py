"""Each command used as its users use it: what it prints, where it writes, and what it says when that is not possible."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.heatmap import Heatmap
from advisor.report.plots import map_png

Rackfit = Callable[..., Any]
LLAMA = ("--model", "llama-2-70b", "--workload", "offline", "--precision", "fp4")


# map


def test_the_map_takes_ranges_of_any_two_numeric_inputs(rackfit: Rackfit) -> None:
    """`--x tpot-ms=5:80` with units of the fact; the JSON form holds both axes and a verdict for each cell."""
    ran = rackfit(
        "map",
        "--model",
        "deepseek-r1",
        "--x",
        "tpot-ms=5:80",
        "--y",
        "concurrency=1:4096",
        "--steps",
        "5",
        "--format",
        "json",
    )
    grid = json.loads(ran.out)
    assert (grid["x"]["fact"], grid["y"]["fact"]) == ("tpot_ms", "concurrency")
    assert grid["x"]["values"][0] == 5
    assert grid["y"]["values"][-1] == 4096
    assert len(grid["verdicts"]) == len(grid["y"]["values"])
    assert all(len(row) == len(grid["x"]["values"]) for row in grid["verdicts"])


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (("--x", "context_tokens", "--y", "context_tokens"), "is on the other axis already"),
        (("--x", "context_tokens=1k"), "is no range; write LOW:HIGH"),
        (("--x", "context_tokens=4k:x"), "is not a number"),
        (("--x", "vendor"), "axis vendor: not a numeric fact"),
        (("--x", "nonsense"), "axis nonsense: not a numeric fact"),
    ],
)
def test_axes_that_cannot_be_drawn_are_refused(rackfit: Rackfit, axes: tuple[str, ...], words: str) -> None:
    """One line that names the flag and what would be right."""
    ran = rackfit("map", *LLAMA, *axes, "--steps", "4")
    assert ran.status == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG\r\n"), ("svg", b"<svg"), ("text", b"")])
def test_the_map_is_written_in_every_form(rackfit: Rackfit, form: str, start: bytes, tmp_path: Path) -> None:
    """Pictures and text go where `--output` says."""
    target = tmp_path / f"map.{form}"
    assert rackfit("map", *LLAMA, "--steps", "4", "--format", form, "--output", target).status == 0
    assert target.read_bytes().startswith(start)


@pytest.mark.parametrize("form", ["text", "json", "svg"])
def test_a_map_says_whose_results_it_is_derived_from(rackfit: Rackfit, form: str) -> None:
    """MLCommons' terms of use: the trademark notice, and that derived figures are not verified, wherever verdicts that rest
    on MLPerf results are shown; the words are those of `ask`."""
    shown = " ".join(
        re.sub(r"<[^>]*>", " ", rackfit("map", *LLAMA, "--steps", "4", "--format", form).out).split()
    )
    answer = json.loads(rackfit("ask", *LLAMA, "--no-flips", "--format", "json").out)
    assert "The MLPerf name and logo are registered and unregistered trademarks" in " ".join(
        answer["disclaimers"]
    )
    for notice in (*answer["disclaimers"], "derived, not verified by MLCommons"):
        assert notice in shown


def test_a_bitmap_of_the_map_has_the_notice_below_the_legend(kb: KnowledgeBase) -> None:
    """Ink below the legend when the verdicts rest on audited results, none when they do not."""
    said: tuple[str, ...] = ("Whose results these are.",)
    for disclaimers, inked in (said, True), ((), False):
        grid = Heatmap(
            x_fact="context_tokens", xs=(1024.0, 4096.0), y_fact="concurrency", ys=(1.0, 100.0), evaluated=4,
            cells=(("node", "rack"), ("rack", "node")), disclaimers=disclaimers,
        )  # fmt: skip
        with Image.open(io.BytesIO(map_png(kb, grid, "A map"))) as picture:
            legend = 40 + 8 * 2 + 62
            below = picture.convert("L").crop((0, legend + 3, picture.width, picture.height))
            assert (below.getextrema()[0] < 128) == inked


def test_a_map_that_rests_on_no_audited_result_claims_none(rackfit: Rackfit) -> None:
    """Qwen3-32B is in no benchmark of the evidence: neither `ask` nor the map names MLPerf."""
    asked = ("--model", "qwen3-32b", "--precision", "fp8")
    assert json.loads(rackfit("ask", *asked, "--no-flips", "--format", "json").out)["disclaimers"] == []
    assert "MLPerf" not in rackfit("map", *asked, "--steps", "3", "--format", "svg").out


def test_a_map_without_a_model_asks_for_one(rackfit: Rackfit) -> None:
    """No picture without a model."""
    ran = rackfit("map", "--steps", "4")
    assert ran.status == 2
    assert "which model?" in ran.err


# explain, schema, graph, search


def test_a_lint_code_is_explained_as_page_and_as_parts(rackfit: Rackfit) -> None:
    """By code and by name, as text and as JSON."""
    page = rackfit("explain", "KB403").out
    assert page.startswith("# KB403")
    parts = json.loads(rackfit("explain", "claim-mismatch", "--format", "json").out)
    assert parts["code"] == "KB403"
    assert parts["sections"]


def test_all_codes_are_listed_and_written(rackfit: Rackfit, tmp_path: Path) -> None:
    """`--list` has a line for each page that `--write` writes; pages of codes that are gone go too."""
    codes = [line.split()[0] for line in rackfit("explain", "--list").out.splitlines()]
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "KB999.md").write_text("gone")
    assert rackfit("explain", "--write", tmp_path / "pages").status == 0
    assert {path.stem for path in (tmp_path / "pages").glob("KB*.md")} == set(codes)


def test_explain_without_a_code_and_without_a_place_says_what_to_give(
    rackfit: Rackfit, tmp_path: Path
) -> None:
    """One line each."""
    assert "name a code" in rackfit("explain").err
    (tmp_path / "file").write_text("")
    ran = rackfit("explain", "--write", tmp_path / "file" / "below")
    assert ran.status == 2
    assert ran.err.count("\n") == 1


def test_a_graph_goes_to_a_file_and_its_depth_is_bounded(rackfit: Rackfit, tmp_path: Path) -> None:
    """`--output`, and 1 to 6 links."""
    target = tmp_path / "graph.dot"
    assert rackfit("graph", "concepts/kv-cache", "--format", "dot", "--output", target).status == 0
    assert target.read_text().startswith("digraph")
    assert "give 1 to 6" in rackfit("graph", "concepts/kv-cache", "--depth", "7").err


def test_a_name_of_several_entries_lists_them(rackfit: Rackfit) -> None:
    """`show` takes a name that only one entry has."""
    assert rackfit("show", "KV cache").out.startswith("KV cache")
    ran = rackfit("show", "no such thing at all")
    assert ran.status == 2
    assert "no entry" in ran.err


def test_searching_for_nothing_known_ends_with_one(rackfit: Rackfit) -> None:
    """Status 1 and a hint; a kind narrows, an unknown kind is refused with the list."""
    assert rackfit("search", "zzzzqqqq").status == 1
    hits = json.loads(rackfit("search", "kv cache", "--kind", "gotcha", "--format", "json").out)
    assert hits
    assert {hit["kind"] for hit in hits} == {"gotchas"}
    assert "no kind" in rackfit("search", "kv", "--kind", "poem").err


# findings


def test_each_report_and_picture_of_the_findings_carries_the_notice(rackfit: Rackfit, tmp_path: Path) -> None:
    """Ratios and rates per accelerator of MLPerf results never go anywhere without MLCommons' trademark notice."""
    assert rackfit("findings", "--output", tmp_path).status == 0
    written = list(tmp_path.iterdir())
    assert {path.suffix for path in written} == {".md", ".svg"}
    for path in written:
        text = " ".join(re.sub(r"<[^>]*>", " ", path.read_text("utf-8")).split())
        assert "result not verified by MLCommons Association" in text, path.name
        assert "trademarks of MLCommons Association" in text, path.name


def test_findings_are_written_and_checked(rackfit: Rackfit, tmp_path: Path) -> None:
    """`--check` is clean after writing, and names the file that was changed by hand."""
    folder = tmp_path / "findings"
    assert rackfit("findings", "--output", folder).status == 0
    assert rackfit("findings", "--output", folder, "--check").status == 0
    (folder / "README.md").write_text("by hand")
    ran = rackfit("findings", "--output", folder, "--check")
    assert ran.status == 1
    assert "README.md is out of date" in ran.err
    (tmp_path / "file").write_text("")
    assert rackfit("findings", "--output", tmp_path / "file").status == 2


# ask


def test_facts_prices_and_files_reach_the_answer(rackfit: Rackfit, tmp_path: Path) -> None:
    """`--fact`, `--price` and `--output` together: the price decides the cost that is printed."""
    target = tmp_path / "answer.json"
    ran = rackfit("ask", *LLAMA, "--fact", "spare=1", "--throughput", "100000", "--price", "hgx-b300=3", "--price", "gb300-nvl72=9",
                  "--system", "hgx-b300", "--system", "gb300-nvl72", "--format", "json", "--output", target)  # fmt: skip
    assert ran.status == 0, ran.err
    answer = json.loads(target.read_text())
    node = next(c for c in answer["candidates"] if c["system"] == "systems/hgx-b300")
    assert node["fleet"]["spare_systems"] == 1
    assert node["fleet"]["cost"]["price_usd_per_accelerator_hour"] == 3
    assert answer["verdict"] == "node"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--price", "hgx-b300"), "is not ID=USD_PER_GPU_HOUR"), (("--price", "hgx-b300=0"), "out of range"),
        (("--price", "hgx-b300=99999"), "out of range"), (("--price", "hgx-b300=1e-300"), "out of range"), (("--fact", "system=nothing"), "no system"),
        (("--price", "no-such=3"), "no system"), (("--fact", "spare"), "is not NAME=VALUE"),
        (("--fact", "nonsense=1"), "no fact"), (("--spare", "perhaps"), "--spare"),
        (("--include-preview", "perhaps"), "is not yes or no"), (("--config", "no/such/config.json"), "is not a file"),
        (("--concurrency", "2.5"), "is not a whole number"),
    ],
)  # fmt: skip
def test_each_flag_says_what_is_wrong_with_it(
    rackfit: Rackfit, arguments: tuple[str, ...], words: str
) -> None:
    """Status 2 and one line."""
    ran = rackfit("ask", "--model", "llama-2-70b", *arguments)
    assert ran.status == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_words_and_flags_may_be_mixed_and_flags_win(rackfit: Rackfit) -> None:
    """The context said by flag holds against the one in the text."""
    answer = json.loads(
        rackfit("ask", "llama 2 70b with 2k context", "--context", "4096", "--format", "json").out
    )
    assert answer["requirement"]["context_tokens"]["value"] == 4096


@pytest.mark.parametrize("flag", ["yes", "no", "on", "0"])
def test_a_flag_may_be_given_without_or_with_a_word(rackfit: Rackfit, flag: str) -> None:
    """`--include-preview`, and the words that mean yes and no."""
    answer = json.loads(
        rackfit("ask", *LLAMA, "--no-flips", "--include-preview", flag, "--format", "json").out
    )
    assert answer["requirement"]["include_preview"]["value"] is (flag in ("yes", "on"))


# estimate


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"model": 3}, "is not text"), ({"model": "x" * 5000}, "longer than 4,096"), ({"model": "r1", "tp": True}, "is not a whole number"),
        ({"model": "r1", "tp": 1.5}, "is not a whole number"), ({"model": "r1", "tp": 0}, "out of range"),
        ({"model": "r1", "memory_fraction": 1.5}, "out of range"), ({"model": "r1", "memory_fraction": "x"}, "is not a number"),
        ({"model": "r1", "hbm_gib": -3}, "out of range"), ({"model": "r1", "speculative": "perhaps"}, "neither yes nor no"),
        ({"model": "r1", "engine_term": {"driver_gb": 1}}, "no term 'driver_gb'; nearest: driver_gib"), ([], "holds no object"),
        ({}, "no model"), ({"model": "r1", "accelerator": "no-such-chip"}, "no-such-chip"), ({"model": "llama-2-70b", "pp": 200}, "pipeline stages"),
        ({"config": {"model_type": "x"}}, "not known"), ({"model": "r1", "system": "no-such"}, "no-such"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used_says_why_and_the_next_is_answered(
    rackfit: Rackfit, line: Any, words: str, tmp_path: Path
) -> None:
    """A batch goes on; its status says that something was left out."""
    good = {
        "id": "good",
        "model": "llama-3.1-8b",
        "accelerator": "h100",
        "speculative": "no",
        "engine_term": {"driver_gib": 0.5},
    }
    batch = tmp_path / "batch.jsonl"
    batch.write_text(json.dumps(line) + "\n\n" + json.dumps(good) + "\n")
    ran = rackfit("estimate", "--batch", batch)
    first, second = (json.loads(text) for text in ran.out.splitlines())
    assert ran.status == 1
    assert words in first["error"]
    assert second["fits"] is True


def test_a_batch_reads_standard_input_and_writes_a_file(
    rackfit: Rackfit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--batch - --output FILE`; torn JSON and numbers without end are errors of their lines."""
    lines = (
        b'{"model": "llama-3.1-8b", "accelerator": "h100"\n'
        b'{"tp": ' + b"9" * 5000 + b"}\n" + b"[" * 100_000 + b"\n"
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    target = tmp_path / "out.jsonl"
    assert rackfit("estimate", "--batch", "-", "--output", target).status == 1
    errors = [json.loads(text)["error"] for text in target.read_text().splitlines()]
    assert ["not valid JSON" in errors[0], "digits" in errors[1], "nested" in errors[2]] == [True] * 3
    assert "give a file" in rackfit("estimate", "--batch", tmp_path / "none").err


def test_an_estimate_is_a_report_too(rackfit: Rackfit, tmp_path: Path) -> None:
    """Speed with lengths, a shortfall with what would help, weights alone without an accelerator."""
    fast = rackfit("estimate", "--model", "llama-3.1-70b", "--accelerator", "h100", "--tp", "4", "--precision", "fp8", "--input-tokens", "1k",
                   "--output-tokens", "256", "--concurrency", "16")  # fmt: skip
    assert fast.status == 0
    assert "per output token" in fast.out
    short = rackfit(
        "estimate",
        "--model",
        "llama-3.1-70b",
        "--accelerator",
        "h100",
        "--tp",
        "1",
        "--output",
        tmp_path / "short.txt",
    )
    assert short.status == 1
    assert "what would help" in (tmp_path / "short.txt").read_text()
    bare = rackfit("estimate", "--model", "llama-3.1-70b")
    assert "only weights and bytes per token are known" in bare.out
    placed = rackfit(
        "estimate",
        "--model",
        "deepseek-r1",
        "--system",
        "gb300-nvl72",
        "--precision",
        "fp4",
        "--format",
        "json",
    )
    assert json.loads(placed.out)["layout"]["accelerators"] >= 2


# understand, schema, lint


def test_sentences_are_read_one_by_one_from_a_file(rackfit: Rackfit, tmp_path: Path) -> None:
    """JSON lines keep their ids, plain lines are numbered, a line without text is an error."""
    batch = tmp_path / "lines"
    batch.write_text('{"id": "a", "text": "llama 2 70b"}\n\nr1 at 15 ms\n{"id": "b"}\n')
    rows = [json.loads(text) for text in rackfit("understand", "--batch", batch).out.splitlines()]
    assert [row["id"] for row in rows] == ["a", 3, "b"]
    assert rows[0]["facts"]["model"]["value"] == "llama-2-70b"
    assert "no `text`" in rows[2]["error"]
    assert rackfit("understand", "--batch", batch, "--output", tmp_path / "out").status == 0
    assert "cannot read" in rackfit("understand", "--batch", tmp_path / "none").err
    assert "no sentence" in rackfit("understand").err


def test_schemas_are_printed_and_unknown_ones_listed(rackfit: Rackfit) -> None:
    """`rackfit schema recommendation` is the contract of the JSON form."""
    assert json.loads(rackfit("schema", "recommendation").out)["$id"].endswith("recommendation.schema.json")
    assert "there are" in rackfit("schema", "poem").err


def test_an_internal_fault_is_one_line_and_can_be_seen_whole(
    rackfit: Rackfit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect never shows a traceback unless it is asked for; it says where it happened."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by\nzero")

    monkeypatch.setattr("advisor.cli.search.search", broken)
    ran = rackfit("search", "kv")
    assert ran.status == 2
    assert ran.err.startswith("rackfit: internal error at test_cli_commands.py:")
    assert "ZeroDivisionError: division by zero" in ran.err
    monkeypatch.setenv("RACKFIT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        rackfit("search", "kv")
