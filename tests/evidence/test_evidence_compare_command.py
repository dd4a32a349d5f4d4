"""`rackfit compare` as its user meets it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from advisor.cli.main import main

COLUMNS = [
    "kind",
    "round",
    "benchmark",
    "scenario",
    "unit",
    "small_submitter",
    "small_platform",
    "small_accelerator",
    "small_accelerators",
    "small_per_accelerator",
    "large_submitter",
    "large_platform",
    "large_accelerator",
    "large_accelerators",
    "large_per_accelerator",
    "ratio",
    "grade",
    "tie",
    "confounders",
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["compare", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_csv_has_the_promised_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a pair; the ratio is the two per-accelerator figures divided; nothing but data on standard output."""
    status, out, err = run(
        capsys, "--model", "llama2-70b-99.9", "--scenario", "offline", "--round", "v6.1", "--format", "csv"
    )
    table = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert list(table[0]) == COLUMNS
    for line in table:
        assert float(line["ratio"]) == pytest.approx(
            float(line["large_per_accelerator"]) / float(line["small_per_accelerator"]), rel=1e-5
        )
        assert (line["round"], line["benchmark"], line["scenario"], line["unit"]) == (
            "v6.1",
            "llama2-70b-99.9",
            "offline",
            "tokens/s",
        )
        assert line["tie"] in ("true", "false")
    (own,) = [
        r
        for r in table
        if r["kind"] == "node-rack" and r["small_accelerator"] == "b300" and r["grade"] == "A"
    ]
    assert (own["small_submitter"], own["large_submitter"], own["small_accelerators"], own["large_accelerators"]) == (
        "CoreWeave", "CoreWeave", "8", "72",
    )  # fmt: skip
    assert f"{float(own['ratio']):.2f}" == "1.09"
    assert own["tie"] == "true"
    assert "registered and unregistered trademarks of MLCommons Association" in err


def test_text_shows_the_chain_the_noise_and_the_notice(capsys: pytest.CaptureFixture[str]) -> None:
    """Ratio, silicon, scale, tie, what each letter means, and that nothing here was verified by MLCommons."""
    status, out, _err = run(
        capsys, "--model", "llama-2-70b", "--scenario", "Offline", "--round", "6.1", "--accelerator", "GB300"
    )
    assert status == 0
    for part in (
        "rack over node 1.09 = CoreWeave GB300 x72 15,779 / CoreWeave B300 x8 14,441", "silicon effect 1.20", "scale effect 0.96",
        "a tie, noise 1.11", "derived, not verified by MLCommons", "www.mlcommons.org", "A: same submitter, round and software",
    ):  # fmt: skip
        assert part in out


def test_pairs_across_submitters_are_summed_up_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the range of their ratios; `--all` lists each."""
    short = run(capsys, "--round", "v6.1", "--model", "llama2-70b", "--scenario", "offline")[1]
    long = run(capsys, "--round", "v6.1", "--model", "llama2-70b", "--scenario", "offline", "--all")[1]
    assert "more across submitters (--all lists them)" in short
    assert "more across submitters" not in long
    assert len(long) > len(short)


def test_json_holds_pairs_effects_noise_and_notices(capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that must be read beside a ratio, p99 and limits of both sides included."""
    listing = json.loads(
        run(
            capsys,
            "--round",
            "v6.0",
            "--model",
            "llama2-70b",
            "--scenario",
            "server",
            "--grade",
            "a",
            "--format",
            "json",
        )[1]
    )
    assert set(listing) == {"pairs", "effects", "noise", "note", "notices"}
    (pair,) = [p for p in listing["pairs"] if p["kind"] == "node-rack"]
    assert pair["large"]["tpot_limit_ms"] == 200
    assert pair["large"]["tpot_p99_ms"] == pytest.approx(40.5, abs=0.05)
    assert listing["effects"][0]["effects"]["chain"]
    assert listing["noise"][0]["band"]["submissions"] >= 1


def test_an_output_file_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`--output` takes the table instead of standard output."""
    target = tmp_path / "pairs.csv"
    assert run(capsys, "--round", "v5.1", "--format", "csv", "--output", str(target))[1] == ""
    assert target.read_text().startswith("kind,round,")


def test_no_match_is_an_empty_table_and_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """A selection that leaves nothing is answered, not failed."""
    status, out, err = run(capsys, "--model", "mixtral-8x7b", "--scenario", "interactive", "--format", "csv")
    assert status == 0
    assert out.strip() == ",".join(COLUMNS)
    assert "no comparable pair matches" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--round", "v9.9"), "--round: no results of 'v9.9'; nearest: "), (("--submitter", "nvida"), "nearest: NVIDIA"),
        (("--model", "llama-9"), "--model: no model 'llama-9'"), (("--accelerator", "gb30"), "no accelerator 'gb30'; nearest: "),
        (("--scenario", "batch"), "invalid choice: 'batch'"), (("--grade", "d"), "invalid choice"), (("--format", "xml"), "invalid choice"),
    ],
)  # fmt: skip
def test_an_unknown_name_is_one_line_with_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    """Status 2, one line, what would be right."""
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
