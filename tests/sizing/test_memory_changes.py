"""What would make a load fit: every change that is named does, and one step less does not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Checkpoint, Layout, Memory
from advisor.sizing.changes import capacity, cheapest_changes, shortfall
from advisor.sizing.memory import fit, footprint, kv_precision_of, load, pick_checkpoint
from advisor.units import GIB, parse_tokens

Load = dict[str, Any]


def fits(
    kb: KnowledgeBase, model: str, precision: str, accelerator: str, layout: Layout, given: Load
) -> Memory:
    own = kb.models[f"models/{model}"]
    return fit(
        kb,
        own,
        pick_checkpoint(own, precision),
        kb.accelerators[f"accelerators/{accelerator}"],
        layout,
        **given,
    )


def changes(
    kb: KnowledgeBase, model: str, precision: str, accelerator: str, layout: Layout, given: Load, **more: Any
) -> tuple[str, ...]:
    own = kb.models[f"models/{model}"]
    return cheapest_changes(
        kb,
        own,
        pick_checkpoint(own, precision),
        kb.accelerators[f"accelerators/{accelerator}"],
        layout,
        given,
        **more,
    )


CASES: list[tuple[str, str, str, Layout, Load]] = [
    (
        "llama-3.1-70b",
        "bf16",
        "h100",
        Layout(tp=4),
        {"context_tokens": 32_768, "sequences": 40, "kv_precision": "bf16"},
    ),
    (
        "llama-3.1-70b",
        "bf16",
        "h200",
        Layout(tp=2),
        {"context_tokens": 131_072, "sequences": 4, "kv_precision": "bf16"},
    ),
    (
        "llama-3.1-8b",
        "bf16",
        "h100",
        Layout(tp=1),
        {"context_tokens": 65_536, "sequences": 12, "kv_precision": ""},
    ),
    (
        "qwen3-235b-a22b",
        "fp8",
        "h100",
        Layout(tp=8),
        {"context_tokens": 32_768, "sequences": 400, "kv_precision": "bf16"},
    ),
    (
        "deepseek-r1",
        "fp8",
        "h200",
        Layout(tp=8),
        {"context_tokens": 32_768, "sequences": 200, "kv_precision": "bf16"},
    ),
]


@pytest.mark.parametrize(("model", "precision", "accelerator", "layout", "given"), CASES)
def test_each_named_change_makes_it_fit_and_a_step_less_does_not(
    kb: KnowledgeBase, model: str, precision: str, accelerator: str, layout: Layout, given: Load
) -> None:
    """Sequences to the last one, context to the next 1,024 tokens, the first width, the widest weights."""

    def headroom(precision: str = precision, layout: Layout = layout, **changed: Any) -> float:
        return fits(kb, model, precision, accelerator, layout, given | changed).headroom_bytes

    assert headroom() < 0
    named = changes(kb, model, precision, accelerator, layout, given)
    assert named
    for change in named:
        if match := re.fullmatch(r"at most ([0-9,]+) concurrent sequences instead of ([0-9,]+)", change):
            most = int(match[1].replace(",", ""))
            assert int(match[2].replace(",", "")) == given["sequences"]
            assert headroom(sequences=most) >= 0 > headroom(sequences=most + 1)
        elif match := re.fullmatch(r"context of (\S+) instead of (\S+) tokens", change):
            context = int(parse_tokens(match[1]))
            assert headroom(context_tokens=context) >= 0 > headroom(context_tokens=context + 1024)
        elif change == "KV cache in 8 bit":
            assert headroom(kv_precision="fp8") >= 0
        elif match := re.fullmatch(r"weights in (fp8|fp4)( and KV cache in 8 bit)?", change):
            extra = {"kv_precision": "fp8"} if match[2] else {}
            assert headroom(match[1], **extra) >= 0
            if match[1] == "fp4" and precision == "bf16":
                assert headroom("fp8") < 0
        elif match := re.fullmatch(r"TP (\d+) instead of (\d+) \((\d+) accelerators a replica\)", change):
            wide, now = int(match[1]), int(match[2])
            assert now == layout.tp
            assert headroom(layout=Layout(tp=wide, ep=wide if layout.ep > 1 else 1)) >= 0
            for narrower in [w for w in (2, 4, 8, 16, 32) if now < w < wide]:
                assert headroom(layout=Layout(tp=narrower)) < 0
        else:
            match = re.fullmatch(
                r"attention data parallelism (\d+) with expert parallelism \1 instead of TP \1 \(the same accelerators\)",
                change,
            )
            assert match, change
            width = int(match[1])
            assert width == layout.tp
            assert headroom(layout=Layout(tp=1, dp=width, ep=width)) >= 0


def test_what_fits_needs_no_change_and_what_nothing_helps_says_so(kb: KnowledgeBase) -> None:
    """Llama 8B on an H100 fits; 405B in 4 bit on one of 80 GB does not within two accelerators."""
    small: Load = {"context_tokens": 8192, "sequences": 1, "kv_precision": ""}
    assert changes(kb, "llama-3.1-8b", "bf16", "h100", Layout(tp=1), small) == ()
    huge = changes(kb, "llama-3.1-405b", "fp4", "h100", Layout(tp=1), small, widest=2)
    assert huge == ("no single change up to 2 accelerators a replica makes it fit",)
    wider = changes(kb, "llama-3.1-405b", "fp4", "h100", Layout(tp=1), small, widest=8)
    assert wider == ("TP 4 instead of 1 (4 accelerators a replica)",)


def test_a_cache_that_is_in_8_bit_already_cannot_shrink(kb: KnowledgeBase) -> None:
    """Neither where it was asked for."""
    model, precision, accelerator, layout, given = CASES[0]
    assert "KV cache in 8 bit" in changes(
        kb, model, precision, accelerator, layout, given | {"sequences": 20}
    )
    named = changes(
        kb, model, precision, accelerator, layout, given | {"kv_precision": "fp8", "sequences": 90}
    )
    assert named
    assert not any("8 bit" in change for change in named)


def memory(headroom: float, needed: float, limiting: str, **more: Any) -> Memory:
    own: dict[str, Any] = {"kv_capacity_tokens": 100_000, "max_sequences": 1} | more
    return Memory(
        hbm_bytes=80 * GIB, weights_bytes=0, kv_bytes_per_token=1, kv_bytes_needed=needed * GIB, reserve_bytes=0, headroom_bytes=headroom * GIB,
        limiting=limiting, **own,
    )  # fmt: skip


def test_what_is_missing_is_told_for_weights_and_for_the_cache() -> None:
    """7 GiB short of which 3 are the cache: the weights alone exceed by 4."""
    assert shortfall(memory(-7, 3, "weights")) == (
        "weights and reserves exceed what the engine may use by 4.0 GiB per accelerator, 7.0 GiB with the KV cache of this load"
    )
    assert (
        shortfall(memory(-7, 0, "weights"))
        == "weights and reserves exceed what the engine may use by 7.0 GiB per accelerator"
    )
    assert (
        shortfall(memory(-7, 3, "kv_cache"))
        == "the KV cache of this load is 7.0 GiB per accelerator larger than the pool"
    )


def test_capacity_in_tokens_and_sequences() -> None:
    """100,000 tokens are 12 sequences of 8k; 13 mean that some layers keep only a part; one is singular."""
    assert capacity(memory(1, 0, "", max_sequences=12), 8192) == "100,000 tokens, 12 sequences of 8k"
    assert capacity(memory(1, 0, "", max_sequences=1), 8192) == "100,000 tokens, 1 sequence of 8k"
    assert capacity(memory(1, 0, "", max_sequences=13), 8192) == (
        "100,000 tokens of short sequences, or 13 sequences of 8k, of which some layers keep only a part"
    )


def test_a_load_is_put_on_the_pool_by_hand(kb: KnowledgeBase) -> None:
    """Llama 8B: 32 layers x 8 heads x 256 values x 2 B = 131,072 B a token in blocks of 16; what the pool holds, to the block."""
    own = kb.models["models/llama-3.1-8b"]
    base = footprint(
        kb,
        own,
        pick_checkpoint(own, "bf16"),
        kb.accelerators["accelerators/h100"],
        Layout(tp=1),
        kv_precision="bf16",
        engine="vllm",
    )
    found = load(base, Layout(tp=1), context_tokens=1000, sequences=3)
    assert found.kv_bytes_per_token == 131_072
    assert found.kv_bytes_needed == 3 * 1008 * 131_072
    assert found.kv_capacity_tokens == base.pool_bytes // (16 * 131_072) * 16
    assert found.max_sequences == base.pool_bytes // (1008 * 131_072)
    assert found.headroom_bytes == pytest.approx(base.pool_bytes - found.kv_bytes_needed)
    assert found.limiting == "kv_cache"
    spread = load(base, Layout(tp=1, dp=2, ep=2), context_tokens=1000, sequences=3)
    assert spread.kv_bytes_needed == 2 * 1008 * 131_072
    assert spread.max_sequences == 2 * found.max_sequences
    assert spread.kv_capacity_tokens == 2 * found.kv_capacity_tokens
    short = load(base, Layout(tp=1), context_tokens=16, sequences=1)
    assert short.limiting == "max_num_seqs"
    assert load(base, Layout(tp=1), context_tokens=1000, sequences=1e6).limiting == "kv_cache"


def test_the_cache_type_follows_question_checkpoint_and_weights(kb: KnowledgeBase) -> None:
    """Asked first; else what the checkpoint's scales ask for; else 16 bit, 32 for 32-bit weights."""
    assert kv_precision_of(Checkpoint(precision="fp8", kv_precision="fp8"), " BF16 ") == "bf16"
    assert kv_precision_of(Checkpoint(precision="fp8", kv_precision="fp8"), "auto") == "fp8"
    assert kv_precision_of(Checkpoint(precision="fp8"), "") == "bf16"
    assert kv_precision_of(Checkpoint(precision="fp32"), "") == "fp32"
    with pytest.raises(InputError, match="no KV precision 'int3'"):
        kv_precision_of(Checkpoint(precision="fp8"), "int3")
