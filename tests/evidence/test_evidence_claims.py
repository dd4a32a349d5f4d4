"""Every figure of a gotcha's prose is recomputed, at the precision written, or reported."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.evidence.claims import check_claims, resolve_input
from advisor.evidence.expression import ExpressionError
from advisor.evidence.prose_figures import needing_account, occurrences, written_numbers
from advisor.knowledge import KnowledgeBase
from advisor.records import Claim, Correction, Gotcha

SEED = "gotchas/bench-mlperf-rack-scale-is-per-gpu-negative-for-70b"
RACK = "evidence/mlperf-v6.1/coreweave/gb300-nvl72-gb300-288gb-aarch64x72-trt"
INPUTS = {"rack": f"{RACK}#llama2-70b/offline", "gpus": f"{RACK}#@accelerators"}


def gotcha(symptom: str, *claims: Claim, corrections: tuple[Correction, ...] = (), notes: str = "") -> Gotcha:
    return Gotcha(
        id="gotchas/x", title="X", concepts=(), symptom=symptom, root_cause="", workaround="", notes=notes, claims=claims,
        corrections=corrections,
    )  # fmt: skip


def kinds(kb: KnowledgeBase, entry: Gotcha) -> list[str]:
    return [problem.kind for problem in check_claims(kb, entry)]


def test_the_first_gotcha_holds(kb: KnowledgeBase) -> None:
    """All figures of the finding on 70B racks recompute or stand corrected."""
    assert check_claims(kb, kb.gotchas[SEED]) == ()


@pytest.mark.parametrize(
    "figure",
    [
        "131464 tok/s", "127911.34 tok/s", "16433 tok/s per GPU", "1136100 tok/s", "944902.14 tok/s", "15779 tok/s per GPU", "8.6x",
        "894002 tok/s", "12417 per GPU", "13660 per GPU", "109277 tok/s", "1042110 tok/s", "11842 per GPU", "103480 tok/s",
        "12935 per GPU", "8.5% per GPU", "4-30% better", "4-9% per GPU", "1.4% across three", "35-40GB", "270-288GB",
    ],
)  # fmt: skip
def test_the_first_gotcha_keeps_its_authors_figures(kb: KnowledgeBase, figure: str) -> None:
    """No figure of the finding was lost or silently changed."""
    entry = kb.gotchas[SEED]
    prose = " ".join(f"{entry.symptom} {entry.root_cause} {entry.workaround} {entry.notes}".split())
    assert list(occurrences(figure, prose))


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("88xMI355X", "87xMI355X"), ("11842 per GPU", "11978 per GPU"), ("8.5% per GPU", "7.4% per GPU"),
        ("4-30% better", "4-22% better, for the slice against the rack"),
    ],
)  # fmt: skip
def test_the_first_gotchas_figures_that_do_not_hold_are_corrected(
    kb: KnowledgeBase, text: str, corrected: str
) -> None:
    """88 accelerators were 87, so 11842 is 11978 and 8.5 % is 7.4 %; 4-30 % mixed generations."""
    assert (text, corrected) in {(item.text, item.corrected) for item in kb.gotchas[SEED].corrections}


@pytest.mark.parametrize("index", range(16))
def test_any_changed_figure_of_the_first_gotcha_is_found(kb: KnowledgeBase, index: int) -> None:
    """Change the last digit of any claimed figure (the last whole one, where the log had decimals), in prose and claim alike: a mismatch with both values."""
    entry = kb.gotchas[SEED]
    claim = entry.claims[index]
    whole = claim.text.partition(".")[0] if not claim.text.startswith(("8.6", "1.4")) else claim.text
    digits = max(i for i, c in enumerate(whole) if c.isdigit())
    wrong = claim.text[:digits] + str((int(claim.text[digits]) + 5) % 10) + claim.text[digits + 1 :]
    changed = replace(
        entry, claims=(*entry.claims[:index], replace(claim, text=wrong), *entry.claims[index + 1 :])
    )
    for part in ("symptom", "notes"):
        changed = replace(
            changed, **{part: " ".join(getattr(changed, part).split()).replace(claim.text, wrong)}
        )
    found = [problem for problem in check_claims(kb, changed) if problem.kind == "mismatch"]
    assert found
    assert found[0].where[:2] == ("claims", index)
    assert found[0].stated != found[0].computed


def test_a_figure_that_recomputes_is_accepted_at_its_own_precision(kb: KnowledgeBase) -> None:
    """1136100 / 72 = 15779.17: written 15779, 15,779.2, 15.8k or 16k."""
    for text in ("15779 tok/s", "15,779.2 tok/s", "15.8k tok/s", "16k tok/s"):
        assert (
            kinds(
                kb,
                gotcha(f"It makes {text} there.", Claim(text=text, expression="rack / gpus", inputs=INPUTS)),
            )
            == []
        )


def test_a_mismatch_names_both_values(kb: KnowledgeBase) -> None:
    """15780 is written, 15779 comes out: both are said, and what to do."""
    (problem,) = check_claims(
        kb, gotcha("15780 tok/s", Claim(text="15780 tok/s", expression="rack / gpus", inputs=INPUTS))
    )
    assert problem.kind == "mismatch"
    assert (problem.stated, problem.computed) == ("15,780", "15,779")
    assert "corrections" in problem.fix


def test_a_range_recomputes_at_both_ends(kb: KnowledgeBase) -> None:
    """`upper` is the second number of a range."""
    claim = Claim(text="10-20%", expression="gpus / 7.2", upper="gpus / 3.6", inputs={"gpus": INPUTS["gpus"]})
    assert kinds(kb, gotcha("10-20% more", claim)) == []
    assert kinds(kb, gotcha("10-30% more", replace(claim, text="10-30%"))) == ["mismatch"]


def test_a_figure_no_claim_covers_is_reported(kb: KnowledgeBase) -> None:
    """Rates and percentages in symptom, root cause and notes need an account; sizes and counts do not."""
    entry = gotcha("It serves 900 tok/s on 8 GPUs with 288GB.", notes="A 12% gap, 40 ms.")
    assert [(p.kind, p.where, p.text) for p in check_claims(kb, entry)] == [
        ("uncovered", ("symptom",), "900 tok/s"), ("uncovered", ("notes",), "12%"),
    ]  # fmt: skip


def test_a_quoted_figure_needs_no_arithmetic(kb: KnowledgeBase) -> None:
    """A figure from a source that is not evidence is accounted for by naming the source."""
    assert kinds(kb, gotcha("Up to 30% is reserved.", Claim(text="30%", source="sources/vllm-source"))) == []


def test_a_claim_must_stand_in_the_prose(kb: KnowledgeBase) -> None:
    """A figure that the prose does not hold as a whole is reported: 1.4 is not in 11.4."""
    claim = Claim(text="1.4%", expression="1.4")
    assert kinds(kb, gotcha("About 11.4% more.", claim)) == ["absent", "uncovered"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("evidence/nowhere#llama2-70b/offline", "no evidence 'evidence/nowhere'; nearest: "),
        (f"{RACK}#llama2-70b/interactive", "it has .*llama2-70b/offline"), (f"{RACK}#@colour", "names no value"), (RACK, "names no value"),
        (f"{RACK}#llama2-70b/server@tpot_p99_ms", "has no tpot_p99_ms"), (f"{RACK}#llama2-70b/server@mood", "is no latency field"),
    ],
)  # fmt: skip
def test_an_input_that_names_nothing_is_reported(kb: KnowledgeBase, reference: str, message: str) -> None:
    """What is missing and what there is instead."""
    with pytest.raises(ExpressionError, match=message):
        resolve_input(kb, reference)


def test_inputs_are_exact(kb: KnowledgeBase) -> None:
    """Rates, scales and latencies as the source printed them, without binary rounding."""
    node = "evidence/mlperf-v6.0/nvidia/b300-sxm-270gbx8-trt"
    assert resolve_input(kb, f"{RACK}#@nodes") == 18
    assert resolve_input(kb, f"{RACK}#llama2-70b-99.9/offline") == 1136100
    assert resolve_input(kb, f"{node}#llama2-70b/server@tpot_limit_ms") == Fraction(200)


def test_an_unused_input_is_reported(kb: KnowledgeBase) -> None:
    """An input that no expression reads is a left-over."""
    assert kinds(kb, gotcha("72 per GPU", Claim(text="72 per GPU", expression="gpus", inputs=INPUTS))) == [
        "input"
    ]


def test_a_corrected_figure_is_recomputed_too(kb: KnowledgeBase) -> None:
    """A correction that carries arithmetic must itself hold."""
    correction = Correction(
        text="15000 tok/s", corrected="15778 tok/s", reason="r", expression="rack / gpus", inputs=INPUTS
    )
    assert kinds(kb, gotcha("15000 tok/s", corrections=(correction,))) == ["mismatch"]
    assert kinds(kb, gotcha("15000 tok/s", corrections=(replace(correction, corrected="15779 tok/s"),))) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("16433 tok/s", ["16433±1"]), ("131,464.50", ["131464.5±0.01"]), ("8.6x", ["8.6±0.1"]), ("4-30%", ["4±1", "30±1"]),
        ("0.86–1.22", ["0.86±0.01", "1.22±0.01"]), ("87xMI355X", ["87±1"]), ("1.2M tok/s", ["1200000±100000"]), ("-3%", ["-3±1"]), ("none", []),
    ],
)  # fmt: skip
def test_numbers_as_written(text: str, numbers: list[str]) -> None:
    """Value and the place of the last digit."""
    assert [f"{float(w.value):g}±{float(w.step):g}" if w.value < 10**6 and w.value != Fraction("131464.5") else
            f"{float(w.value):.10g}±{float(w.step):g}" for w in written_numbers(text)] == numbers  # fmt: skip


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("16433 tok/s per GPU and 15,779 tokens per second", ["16433 tok/s", "15,779 tokens per second"]), ("12417 per GPU, 4-30% better", ["12417 per GPU", "4-30%"]),
        ("3 req/s, 2.5 queries/s, 40 QPS", ["3 req/s", "2.5 queries/s", "40 QPS"]), ("8 GPUs, 288GB, v6.1, 40 ms, 72 nodes", []),
        ("30 percent of x288", ["30 percent"]), ("600 tok/s/GPU", ["600 tok/s"]), ("8 per second hand", []), ("100 tokens", []),
    ],
)  # fmt: skip
def test_which_figures_need_an_account(prose: str, figures: list[str]) -> None:
    """A rate unit, a figure per GPU or a percent sign; not counts, sizes, versions or times."""
    assert [prose[start:end] for start, end in needing_account(prose)] == figures


@given(st.text(max_size=200))
def test_no_prose_breaks_the_check(kb: KnowledgeBase, prose: str) -> None:
    """Any prose is read without error."""
    check_claims(kb, gotcha(prose, Claim(text=prose[:5] or "x", expression="1")))
