"""KB410-KB419: results as they were published, and figures that can be true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from advisor.lint.check import Problem, corpus_check, entry_check
from advisor.lint.corpus import Corpus
from advisor.records import Evidence, Result

_COUNT = re.compile(
    r"(?:(?<![0-9A-Za-z])(\d{1,4})x)?(?<![0-9A-Za-z])(\d{1,4})x(?=[A-Z(])|x(\d{1,4})(?![0-9A-Za-z])"
)
_PRODUCT = re.compile(r"(?<![0-9A-Za-z])(\d{1,4})x(\d{1,4})x(?=[A-Z(])")
_SPREAD = 4.0
"""Factor from the median of the same silicon, benchmark and scenario; the widest honest one seen is below 3."""
_MIN_PEERS = 3
_SCENARIO_SLACK = 1.05
"""Server may exceed Offline by run-to-run noise; from here on something else is at work."""


@entry_check("KB410", "evidence-without-record", "error", "evidence")
def evidence_without_record(entry: Evidence) -> Iterator[Problem]:
    """A result that does not say which record of its source it is.

    ## What it does
    Reports results whose `record` is blank.

    ## Why is this bad?
    Nobody can check the figure, and a citation of it is not one.

    ## Example
    ```yaml
    # evidence/example/box.yaml
    results:
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1000, record: " "}
    ```

    ## Use instead
    ```yaml
    # evidence/example/box.yaml
    results:
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1000, record: "6.0-0001"}
    ```

    ## How to fix
    Copy the id of the row from the result file; for a log, the name of the log and the line.
    """
    for index, result in enumerate(entry.results):
        if not result.record.strip():
            yield Problem(where=("results", index, "record"), message="the result names no record of its source",
                          fix="copy the id of the row from the result file")  # fmt: skip


@entry_check("KB411", "accelerator-count", "warning", "evidence")
def accelerator_count(entry: Evidence) -> Iterator[Problem]:
    """The number of accelerators contradicts the name of the system, and no note says why.

    ## What it does
    Reads counts such as `8xH200`, `x72` and `(x87)` in `platform` and `system_name` and compares them with
    `scale.accelerators`; also a `stated_accelerators` that differs. A note in `scale` settles it.

    ## Why is this bad?
    Every per-accelerator figure is divided by this number. Result files have totals that are wrong by one in eighty-eight.

    ## Example
    ```yaml
    # evidence/example/box.yaml
    system_name: Example cluster (x87)
    scale: {accelerators: 88, nodes: 11, unit: multi-node}
    ```

    ## Use instead
    ```yaml
    # evidence/example/box.yaml
    system_name: Example cluster (x87)
    scale: {accelerators: 87, nodes: 11, unit: multi-node, stated_accelerators: 88, note: "the name says 87, the total 88"}
    ```

    ## How to fix
    Find out which is right, write it, and say in `scale.note` why the other differs.
    """
    scale = entry.scale
    if scale.note or not scale.accelerators:
        return
    if scale.stated_accelerators not in (None, scale.accelerators):
        yield Problem(where=("scale", "stated_accelerators"),
                      message=f"the source states {scale.stated_accelerators} accelerators, the entry counts {scale.accelerators}",
                      fix="say in scale.note why")  # fmt: skip
    named = _counts(entry.platform) | _counts(entry.system_name)
    if named and scale.accelerators not in named:
        counts = " or ".join(str(count) for count in sorted(named))
        yield Problem(where=("scale", "accelerators"), message=f"the name says {counts} accelerators, the entry {scale.accelerators}",
                      fix="correct the count, or say in scale.note why it differs")  # fmt: skip


def _counts(name: str) -> set[int]:
    products = {int(a) * int(b) for a, b in _PRODUCT.findall(name)}
    return products or {int(inner or after) for _, inner, after in _COUNT.findall(name)}


@entry_check("KB412", "server-above-offline", "warning", "evidence")
def server_above_offline(entry: Evidence) -> Iterator[Problem]:
    """A scenario with stricter latency is faster than one with a looser.

    ## What it does
    Compares Server with Offline and Interactive with Server for the same benchmark, model, accuracy and unit. A difference
    of up to 5 % passes as noise between runs; a note on one of the results settles it.

    ## Why is this bad?
    Waiting for latency costs throughput. Where the order is the other way round the Offline run was not tuned, or two rows
    were swapped; either way a ratio built on it misleads.

    ## Example
    ```yaml
    # evidence/example/box.yaml
    results:
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1000, record: "6.0-0001"}
      - {benchmark: llama2-70b, model: models/example, scenario: server, metric: tokens_per_s, value: 1500, record: "6.0-0001"}
    ```

    ## Use instead
    ```yaml
    # evidence/example/box.yaml
    results:
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1500, record: "6.0-0001"}
      - {benchmark: llama2-70b, model: models/example, scenario: server, metric: tokens_per_s, value: 1000, record: "6.0-0001"}
    ```

    ## How to fix
    Check the rows against the source. If they are as published, say so in the result's `note`.
    """
    runs: dict[tuple[object, ...], dict[str, tuple[int, Result]]] = {}
    for index, result in enumerate(entry.results):
        key = (result.benchmark, result.model, result.accuracy_variants, result.metric)
        runs.setdefault(key, {})[result.scenario] = (index, result)
    for scenarios in runs.values():
        for strict, loose in (("server", "offline"), ("interactive", "server")):
            if strict not in scenarios or loose not in scenarios:
                continue
            index, result = scenarios[strict]
            other = scenarios[loose][1]
            if result.value > other.value * _SCENARIO_SLACK and not (result.note or other.note):
                yield Problem(
                    where=("results", index, "value"),
                    message=f"{strict} ({result.value:,.6g}) is above {loose} ({other.value:,.6g}) for {result.benchmark}",
                    fix="check both rows; if published so, say it in the result's note",
                )


@corpus_check("KB413", "rate-out-of-family", "warning")
def rate_out_of_family(corpus: Corpus) -> Iterator[Problem]:
    """A total that does not fit accelerators x the rate of the same silicon.

    ## What it does
    Divides each closed-division result by its accelerators and compares it with the median of the same accelerator,
    benchmark, scenario and unit over at least three other entries. A factor of four or more is reported, unless noted.

    ## Why is this bad?
    It is the sign of a per-accelerator figure entered as a total, of a total entered twice, or of samples taken for tokens.

    ## Example
    ```text
    scale: {accelerators: 8, …}, value: 12500, where eight others on the same GPU read 100,000
    ```

    ## Use instead
    ```text
    scale: {accelerators: 8, …}, value: 100000
    ```

    ## How to fix
    Check the unit and the accelerator count against the source. If the figure is right, say in the result's `note` why.
    """
    rates: dict[tuple[str, ...], list[tuple[float, str, int]]] = {}
    for entry in corpus.kb.evidence.values():
        if entry.accelerator and entry.scale.accelerators and entry.division == "closed":
            for index, result in enumerate(entry.results):
                key = (entry.accelerator, result.benchmark, result.scenario, result.metric)
                rates.setdefault(key, []).append((result.value / entry.scale.accelerators, entry.id, index))
    for (_, benchmark, scenario, _), found in rates.items():
        if len(found) <= _MIN_PEERS:
            continue
        usual = median(rate for rate, _, _ in found)
        for rate, entry_id, index in found:
            noted = corpus.kb.evidence[entry_id].results[index].note
            if not noted and usual > 0 and not 1 / _SPREAD < rate / usual < _SPREAD:
                yield Problem(entry=entry_id, where=("results", index, "value"),
                              message=f"{rate:,.4g} per accelerator in {benchmark} {scenario}; others on this silicon have {usual:,.4g}",
                              fix="check the unit and the accelerator count, or say in the note why")  # fmt: skip


@corpus_check("KB414", "beyond-roofline", "error")
def beyond_roofline(corpus: Corpus) -> Iterator[Problem]:
    """More tokens a second than the accelerator can multiply.

    ## What it does
    Compares tokens per second and accelerator with its fastest dense FLOPS divided by two operations for each active
    parameter of the model.

    ## Why is this bad?
    No software can exceed it, so the figure, its unit or its accelerator count is wrong.

    ## Example
    ```text
    value: 9000000 for eight H100 and Llama 2 70B
    ```

    ## Use instead
    ```text
    value: 31000
    ```

    ## How to fix
    Check value, metric and accelerators against the source.
    """
    for entry in corpus.mine(corpus.kb.evidence):
        accelerator = corpus.kb.accelerators.get(entry.accelerator or "")
        if accelerator is None or not entry.scale.accelerators:
            continue
        flops = max((cell.number for cell in accelerator.dense_tflops.values()), default=0.0) * 1e12
        for index, result in enumerate(entry.results):
            model = corpus.kb.models.get(result.model)
            if result.metric != "tokens_per_s" or model is None or not flops:
                continue
            active = (model.parameters_active or model.parameters_total).number
            bound = flops / (2 * active) if active > 0 else float("inf")
            rate = result.value / entry.scale.accelerators
            if rate > bound:
                yield Problem(entry=entry.id, where=("results", index, "value"),
                              message=f"{rate:,.4g} tokens/s per accelerator; its FLOPS allow {bound:,.4g} for this model",
                              fix="check value, metric and accelerators against the source")  # fmt: skip


@entry_check("KB415", "duplicate-result", "error", "evidence")
def duplicate_result(entry: Evidence) -> Iterator[Problem]:
    """One run stands in an entry twice.

    ## What it does
    Reports results with the benchmark, model, scenario, unit and accuracy of an earlier one. In the open division several
    rows of one benchmark are usual, so there the record must be the same too.

    ## Why is this bad?
    Which of the two is meant by a citation is chance.

    ## Example
    ```yaml
    # evidence/example/box.yaml
    results:
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1000, record: "6.0-0001"}
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1001, record: "6.0-0002"}
    ```

    ## Use instead
    ```yaml
    # evidence/example/box.yaml
    results:
      - {benchmark: llama2-70b, model: models/example, scenario: offline, metric: tokens_per_s, value: 1000, record: "6.0-0001"}
    ```

    ## How to fix
    Keep the one that the source holds; list two accuracy variants of one run in `accuracy_variants`.
    """
    seen: set[tuple[str, ...]] = set()
    for index, result in enumerate(entry.results):
        for variant in result.accuracy_variants or ("",):
            record = result.record if entry.division == "open" else ""
            key = (result.benchmark, result.model, result.scenario, result.metric, variant, record)
            if key in seen:
                yield Problem(where=("results", index), message=f"{result.benchmark} {result.scenario} is already in this entry",
                              fix="keep one, or tell the accuracy variants apart")  # fmt: skip
            seen.add(key)


@entry_check("KB416", "latency-over-limit", "warning", "evidence")
def latency_over_limit(entry: Evidence) -> Iterator[Problem]:
    """A run whose 99th percentile is above its own limit.

    ## What it does
    Compares `ttft_p99_ms` and `tpot_p99_ms` with the limits beside them, for closed-division results without a note.

    ## Why is this bad?
    Such a run would not have been accepted, so a number was read from the wrong row or in the wrong unit.

    ## Example
    ```yaml
    # evidence/example/box.yaml
    results:
      - benchmark: llama2-70b
        model: models/example
        scenario: server
        metric: tokens_per_s
        value: 1000
        record: "6.0-0001"
        latency: {ttft_p99_ms: 2500, ttft_limit_ms: 2000}
    ```

    ## Use instead
    ```yaml
    # evidence/example/box.yaml
    results:
      - benchmark: llama2-70b
        model: models/example
        scenario: server
        metric: tokens_per_s
        value: 1000
        record: "6.0-0001"
        latency: {ttft_p99_ms: 1500, ttft_limit_ms: 2000}
    ```

    ## How to fix
    Check the log. If the run was accepted all the same, say why in the result's `note`.
    """
    for index, result in enumerate(entry.results):
        if result.latency is None or result.note or entry.division != "closed":
            continue
        for name in ("ttft", "tpot"):
            measured, limit = (getattr(result.latency, f"{name}_{part}_ms") for part in ("p99", "limit"))
            if measured is not None and limit is not None and measured > limit:
                yield Problem(where=("results", index, "latency", f"{name}_p99_ms"),
                              message=f"{name} p99 of {measured:,.6g} ms is above the limit of {limit:,.6g} ms",
                              fix="check the log, or say in the note why the run was accepted")  # fmt: skip


@entry_check("KB417", "scale-shape", "error", "evidence")
def scale_shape(entry: Evidence) -> Iterator[Problem]:
    """Accelerators, nodes and unit of a system contradict each other.

    ## What it does
    Checks that a node has one node, that a slice or rack has several accelerators, that counts are not negative, and that a
    system of mixed silicon names no single accelerator.

    ## Why is this bad?
    Pairs are formed by unit: a rack entered as a node is compared with the wrong things.

    ## Example
    ```yaml
    # evidence/example/box.yaml
    scale: {accelerators: 16, nodes: 2, unit: node}
    ```

    ## Use instead
    ```yaml
    # evidence/example/box.yaml
    scale: {accelerators: 16, nodes: 2, unit: multi-node}
    ```

    ## How to fix
    Choose the unit by how the accelerators are joined: node, slice of a rack, rack, several of either.
    """
    scale = entry.scale
    problems = []
    if scale.accelerators < 0 or scale.nodes < 0 or scale.racks < 0:
        problems.append(("accelerators", "a count is negative", "write the count"))
    if scale.unit == "node" and scale.nodes > 1:
        problems.append(("unit", f"a node of {scale.nodes} nodes", "write multi-node, slice or rack"))
    if scale.unit in ("multi-node", "multi-rack") and scale.nodes == 1:
        problems.append(("unit", f"{scale.unit} with a single node", "write node"))
    if scale.mixed_silicon and entry.accelerator:
        problems.append(
            ("mixed_silicon", "mixed silicon, and yet one accelerator is named", "leave `accelerator` out")
        )
    for field, message, fix in problems:
        yield Problem(where=("scale", field), message=message, fix=fix)
