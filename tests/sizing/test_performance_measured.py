"""Reading a table of measured latency: layouts as they ran, and reasons for rows that say too little."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Layout, System
from advisor.sizing.folded import pool_layout, unfolded
from advisor.sizing.refit.measured import Observation, read_row, read_table

AGGREGATED = {
    "model_path": "deepseek-ai/DeepSeek-R1", "system": "b200_sxm", "backend": "sglang", "precision": "fp4", "mode": "agg",
    "isl": "1024", "osl": "1024", "concurrency": "64", "batch_size": "64", "tp_size": "8", "pp_size": "1",
    "attention_dp_size": "1", "moe_tp_size": "8", "moe_ep_size": "1", "ttft_ms": "500", "tpot_ms": "19.1",
}  # fmt: skip


def read(kb: KnowledgeBase, **changes: str) -> Observation:
    return read_row(kb, AGGREGATED | changes, 2)


def test_a_plain_row_is_read_as_it_stands(kb: KnowledgeBase) -> None:
    """TP8 with 64 sequences in one pool of eight B200."""
    found = read(kb)
    assert found.decode.layout == Layout(tp=8)
    assert (found.batch, found.prefill, found.known) == (64, None, True)
    assert (found.model.slug, found.accelerator.slug, found.checkpoint.precision) == (
        "deepseek-r1",
        "b200",
        "fp4",
    )


def test_tp_times_ep_in_the_width_is_a_group_of_ep(kb: KnowledgeBase) -> None:
    """The table holds 414.750 / 8.1241 ms twice, as TP8 EP8 and as width 64 = 8 x 8: it is one run on eight accelerators."""
    found = read(kb, tp_size="64", moe_tp_size="8", moe_ep_size="8")
    assert found.decode.layout == Layout(tp=8, ep=8)


def test_attention_ranks_written_as_sixty_four_are_eight(kb: KnowledgeBase) -> None:
    """3316.048 / 29.6733 ms occurs as attention DP8 and as DP64 with experts 8 x 8; 256 users are 32 a rank."""
    found = read(
        kb,
        tp_size="1",
        attention_dp_size="64",
        moe_tp_size="8",
        moe_ep_size="8",
        batch_size="4",
        concurrency="256",
    )
    assert found.decode.layout == Layout(tp=1, dp=8, ep=8)
    assert found.batch == 256


def test_tp_beside_dp_of_the_same_size_is_one_group(kb: KnowledgeBase) -> None:
    """vLLM rows of a data-parallel attention say TP4, DP4, EP16 on a node of eight: the group has four accelerators."""
    assert pool_layout(tp=4, dp=4, moe_tp=1, moe_ep=16) == Layout(tp=1, dp=4, ep=4)


def test_users_beyond_the_batch_of_one_group_are_other_replicas(kb: KnowledgeBase) -> None:
    """448 users at 14 a group are 32 replicas: each has 14."""
    assert read(kb, tp_size="2", moe_tp_size="1", batch_size="14", concurrency="448").batch == 14


def test_without_concurrency_the_batch_stands(kb: KnowledgeBase) -> None:
    """Some rows state only the batch of a rank."""
    assert read(kb, concurrency="", batch_size="28").batch == 28


def test_pools_of_a_disaggregated_row_are_kept_apart(kb: KnowledgeBase) -> None:
    """Two decoding workers of DP8 at 137 sequences a rank beside one prefill worker of DP4: 1,096 in a decoding replica."""
    found = read(
        kb, mode="disagg", backend="trtllm", concurrency="2192", decode_num_workers="2", decode_tp_size="1",
        decode_attention_dp_size="8", decode_moe_tp_size="1", decode_moe_ep_size="8", decode_batch_size="137",
        prefill_num_workers="1", prefill_tp_size="1", prefill_attention_dp_size="4", prefill_moe_tp_size="1",
        prefill_moe_ep_size="4",
    )  # fmt: skip
    assert found.decode.layout == Layout(tp=1, dp=8, ep=8)
    assert found.prefill is not None
    assert found.prefill.layout == Layout(tp=1, dp=4, ep=4)
    assert (found.batch, found.known) == (1096, True)


def test_unstated_workers_are_a_guess_and_say_so(kb: KnowledgeBase) -> None:
    """A row without worker counts is predicted, not fitted."""
    found = read(kb, mode="disagg", concurrency="10", decode_tp_size="8", prefill_tp_size="4")
    assert not found.known


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tpot_ms": ""}, "tpot_ms: a positive number is needed"),
        ({"isl": "many"}, "isl: 'many' is not a number"),
        ({"model_path": "nobody/knows-this"}, "no model"),
        ({"system": "abacus"}, "no system"),
        ({"concurrency": "", "batch_size": ""}, "neither concurrency nor a batch size"),
    ],
)
def test_a_row_that_says_too_little_is_refused_with_the_reason(
    kb: KnowledgeBase, changes: dict[str, str], message: str
) -> None:
    """One line: what is missing or unknown."""
    with pytest.raises(InputError, match=message):
        read(kb, **changes)


def test_a_table_without_a_needed_column_is_refused(kb: KnowledgeBase, tmp_path: Path) -> None:
    """The message names the columns."""
    path = tmp_path / "t.csv"
    path.write_text("model_path,isl\nx,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column system, backend"):
        read_table(kb, path)


def test_bad_rows_do_not_stop_the_table(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Row numbers are those of the file, the header being row 1."""
    path = tmp_path / "t.csv"
    bad = AGGREGATED | {"tpot_ms": "-1"}
    lines = [",".join(AGGREGATED), *(",".join(row.values()) for row in (AGGREGATED, bad, AGGREGATED))]
    path.write_text("\n".join(lines), encoding="utf-8")
    found, refused = read_table(kb, path)
    assert [row.row for row in found] == [2, 4]
    assert [row.row for row in refused] == [3]


def test_a_wide_group_of_a_rack_is_never_unfolded(kb: KnowledgeBase) -> None:
    """Sixty-four ranks with EP 8 are possible inside an NVL72, so they are taken at their word."""
    rack = kb.find("systems", "gb200-nvl72")
    assert isinstance(rack, System)
    assert unfolded(Layout(tp=64, ep=8), rack) == (Layout(tp=64, ep=8), "")
