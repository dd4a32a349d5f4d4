"""Latencies of runs: from a table beside the summary, and from the logs of a checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rows

from advisor.errors import InputError
from advisor.evidence.mlperf import import_results

HEADER = (
    "round,division,submitter,platform,model,scenario,valid,tokens_per_s,samples_per_s,ttft_mean_ns,ttft_p50_ns,ttft_p99_ns,"
    "tpot_mean_ns,tpot_p50_ns,tpot_p99_ns,e2e_p99_ns,ttft_limit_ns,tpot_limit_ns,target_qps,samples\n"
)
GPT = "v6.0,closed,NVIDIA,GB300-NVL72_GB300-288GB_aarch64x72_TRT,gpt-oss-120b,"

# The lines of a log that matter, with the numbers of NVIDIA's v5.1 GB200 x72 llama3.1-405b Server run.
LOG = """\
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 17.72
Completed tokens per second: 11614.28
Result is : VALID
99.00 percentile latency (ns)   : 121070664389
50.00 percentile first token latency (ns)   : 1218057019
99.00 percentile first token latency (ns)   : 4358798704
50.00 percentile time to output token (ns)   : 104772970
99.00 percentile time to output token (ns)   : 128007502
================================================
Test Parameters Used
================================================
target_qps : 17.55
ttft_latency (ns): 6000000000
tpot_latency (ns): 175000000
"""


def gpt_row(**changes: object) -> dict[str, object]:
    rack = {
        "Submitter": "NVIDIA", "Platform": "GB300-NVL72_GB300-288GB_aarch64x72_TRT", "UsedModel": "gpt-oss-120b",
        "Model": "gpt-oss-120b", "Accelerator": "NVIDIA GB300", "Nodes": 18, "a#": 4, "Total Accelerators": 72,
    }  # fmt: skip
    return rows.list_row(**(rack | changes))


def test_the_run_with_the_published_rate_is_taken(tmp_path: Path) -> None:
    """gpt-oss has three logs per scenario (speed and accuracy modes): only the one of the published rate counts."""
    lines = [
        GPT + "Server,VALID,606425.44,99.05,,,1204303558,,,5848390,59866428316,3000000000,80000000,772.8,",
        GPT
        + "Server,VALID,1072251.73,819.15,,168969399,353332438,,54407548,59113769,107370569034,3000000000,80000000,840,",
    ]
    (tmp_path / "v6.0.latency.csv").write_text(HEADER + "\n".join(lines) + "\n")
    path = rows.write_list(tmp_path, gpt_row(Scenario="Server", Performance_Result=1072250.0))
    latency = import_results(path).entries[0].results[0].latency
    assert latency is not None
    assert (latency.ttft_p99_ms, latency.tpot_p99_ms, latency.tpot_p50_ms) == (353.332, 59.114, 54.408)
    assert (latency.ttft_limit_ms, latency.tpot_limit_ms, latency.target_qps) == (3000, 80, 840)


def test_a_rate_that_lost_its_exponent_is_recognised(tmp_path: Path) -> None:
    """Logs print 1.04298e+06; the table kept 1.04298. Offline keeps rates only: it has no latency bound."""
    line = GPT + "Offline,VALID,1.04298,797.384,,,,,,,661020198184,3000000000,80000000,846,\n"
    (tmp_path / "v6.0.latency.csv").write_text(HEADER + line)
    latency = (
        import_results(rows.write_list(tmp_path, gpt_row(Performance_Result=1042980.0)))
        .entries[0]
        .results[0]
        .latency
    )
    assert latency is not None
    assert latency.samples_per_s == 797.384
    assert latency.ttft_limit_ms is latency.e2e_p99_ms is None


def test_an_invalid_run_is_not_used(tmp_path: Path) -> None:
    """A log that says INVALID has no say."""
    line = GPT + "Server,INVALID,1072251.73,819.15,,,1,,,1,1,3000000000,80000000,840,\n"
    (tmp_path / "v6.0.latency.csv").write_text(HEADER + line)
    path = rows.write_list(tmp_path, gpt_row(Scenario="Server", Performance_Result=1072250.0))
    assert import_results(path).entries[0].results[0].latency is None


def test_a_table_without_the_columns_is_refused(tmp_path: Path) -> None:
    """The missing columns are named."""
    table = tmp_path / "t.csv"
    table.write_text("round,platform\n")
    with pytest.raises(InputError, match="has no column division, model"):
        import_results(rows.write_list(tmp_path, rows.list_row()), latency_file=table)


def checkout(
    folder: Path, log: str = LOG, location: str = "closed/NVIDIA/results/RACK/llama3.1-405b/Server"
) -> Path:
    row = gpt_row(
        ID="5.1-0071", version="v5.1", Platform="RACK", Model="llama3.1-405b", UsedModel="llama3.1-405b", Scenario="Server",
        Performance_Result=11614.3, Location=location,
    )  # fmt: skip
    rows.write_list(folder, row)
    run = folder / "closed/NVIDIA/results/RACK/llama3.1-405b/Server/performance/run_1"
    run.mkdir(parents=True)
    (run / "mlperf_log_summary.txt").write_text(log)
    systems = folder / "closed/NVIDIA/systems"
    systems.mkdir()
    (systems / "RACK.json").write_text(
        json.dumps(
            {
                "cooling": "Mix of liquid and air",
                "hw_notes": "GB200 TGP 1200W",
                "host_memory_capacity": "960 GB",
            }
        )
    )
    return folder


def test_a_checkout_gives_latencies_and_hardware_facts(tmp_path: Path) -> None:
    """The folder of a results repository: summary, system description and the log of the run."""
    done = import_results(checkout(tmp_path))
    (entry,) = done.entries
    latency = entry.results[0].latency
    assert latency is not None
    assert (latency.ttft_p99_ms, latency.tpot_p99_ms, latency.e2e_p99_ms) == (4358.799, 128.008, 121070.664)
    assert (latency.ttft_limit_ms, latency.tpot_limit_ms, latency.samples_per_s, latency.target_qps) == (
        6000,
        175,
        17.72,
        17.55,
    )
    assert entry.facts["cooling"] == "Mix of liquid and air"
    assert entry.facts["hardware_notes"] == "GB200 TGP 1200W"


@pytest.mark.parametrize(
    "log", [LOG.replace("VALID", "INVALID"), LOG.replace("11614.28", "9999"), "", "\x00\xff"]
)
def test_a_log_of_another_run_is_not_used(tmp_path: Path, log: str) -> None:
    """Not valid, another rate, empty or binary: the result is imported without latencies."""
    assert import_results(checkout(tmp_path, log)).entries[0].results[0].latency is None


def test_nothing_outside_the_checkout_is_read(tmp_path: Path) -> None:
    """A location that climbs out of the folder is ignored; the run is found at its usual place."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mlperf_log_summary.txt").write_text(LOG.replace("128007502", "1"))
    inside = tmp_path / "inside"
    inside.mkdir()
    latency = import_results(checkout(inside, location="../outside")).entries[0].results[0].latency
    assert latency is not None
    assert latency.tpot_p99_ms == 128.008


def test_a_folder_without_summary_is_refused(tmp_path: Path) -> None:
    """The names that were looked for are said."""
    with pytest.raises(InputError, match=r"holds no summary_results.json or summary.json"):
        import_results(tmp_path)


def test_a_submitters_name_cannot_leave_the_checkout(tmp_path: Path) -> None:
    """A row that calls its submitter `../..` gets no facts from outside the folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "X.json").write_text(json.dumps({"cooling": "stolen"}))
    rows.write_list(inside, rows.list_row(Submitter="../..", Platform="X"))
    assert import_results(inside).entries[0].facts == {}
