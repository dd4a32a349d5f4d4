"""Names as logs, hubs and people write them."""

from __future__ import annotations

import pytest

from advisor.errors import UnknownIdError
from advisor.knowledge import KnowledgeBase
from advisor.sizing.names import parse_precision, resolve_accelerator, resolve_model
from advisor.units import GIB


@pytest.mark.parametrize(
    ("name", "slug", "storage"),
    [
        ("R1", "deepseek-r1", None),
        ("405B", "llama-3.1-405b", None),
        ("gptoss", "gpt-oss-120b", None),
        ("qwen 235b a22b", "qwen3-235b-a22b", None),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b", "int4"),
        ("someone/Llama-3.3-70B-Instruct-AWQ", "llama-3.3-70b", "awq"),
        ("unsloth/Qwen3-8B-GGUF", "qwen3-8b", "q4_k_m"),
        ("deepseek-ai/DeepSeek-R1 (GGUF)", "deepseek-r1", "q4_k_m"),
        ("nvidia/DeepSeek-R1-0528-FP4", "deepseek-r1", "nvfp4"),
        ("amd/Llama-3.1-405B-Instruct-FP8-KV", "llama-3.1-405b", "fp8"),
        ("moonshotai/Kimi-K2-Thinking", "kimi-k2", "int4"),
        ("google/gemma-2-9b", "gemma-2-9b", None),
    ],
)
def test_models_and_their_quantised_copies(
    kb: KnowledgeBase, name: str, slug: str, storage: str | None
) -> None:
    """Nicknames, hub ids and copies named after a known model."""
    found = resolve_model(kb, name)
    assert found.model.slug == slug
    assert (found.checkpoint.format if found.checkpoint else None) == storage


@pytest.mark.parametrize(
    "name",
    ["google/gemma-3-1b-it", "meta-llama/Llama-3.1-9B", "Qwen/Qwen3-99B-FP8", "mistralai/Mistral-Nemo-12B"],
)
def test_a_size_is_never_dropped_to_find_a_name(kb: KnowledgeBase, name: str) -> None:
    """A model of another size is another model, however alike its name is."""
    with pytest.raises(UnknownIdError):
        resolve_model(kb, name)


def test_an_unknown_model_gets_the_nearest_names(kb: KnowledgeBase) -> None:
    """Nothing is picked for a name that matches nothing."""
    with pytest.raises(UnknownIdError, match="nearest"):
        resolve_model(kb, "hfl/chinese-alpaca-2 (size not stated)")


@pytest.mark.parametrize(
    ("name", "entry", "gib"),
    [
        ("H100-80GB", "h100", 79.65),
        ("H100 80GB HBM3 (SXM5)", "h100", 79.65),
        ("8xH100", "h100", 79.65),
        ("8 x MI300X", "mi300x", 191.98),
        ("title says H200, error says 79.10 GiB capacity", "h200", 79.10),
        ("H100 (79.18 GiB)", "h100", 79.18),
        ("H100 NVL (93.02 GiB)", "h100", 93.02),
        ("RTX PRO 6000 Blackwell 96GB Server Edition", "rtx-pro-6000", 95.59),
        ("B200 (kernel tuning file in log: device_name=NVIDIA_B200)", "b200", 179.06),
        ("A100-40GB", "a100", 40.0),
        ("Jetson AGX Orin 64GB", "unknown", 64.0),
    ],
)
def test_accelerators_as_logs_print_them(kb: KnowledgeBase, name: str, entry: str, gib: float) -> None:
    """A size in GiB is what programs see; a label that differs from the entry's is another variant."""
    accelerator, _ = resolve_accelerator(kb, name)
    assert accelerator.slug == entry
    assert accelerator.hbm_visible_bytes.number / GIB == pytest.approx(gib, abs=0.01)


def test_an_unknown_accelerator_without_a_size_is_refused(kb: KnowledgeBase) -> None:
    """There is nothing to size against."""
    with pytest.raises(UnknownIdError, match="nearest"):
        resolve_accelerator(kb, "h999")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None), ("auto", None), ("compressed-tensors", None), ("bfloat16", ("bf16", "bf16")), ("FP8", ("fp8", "fp8")),
        ("awq_marlin", ("int4", "awq")), ("modelopt_fp4", ("fp4", "nvfp4")), ("MXFP4 (Marlin weight-only)", ("fp4", "mxfp4")),
        ("AutoRound INT4 g128", ("int4", "int4")), ("q4_k_m", ("int4", "q4_k_m")),
    ],
)  # fmt: skip
def test_precisions_in_every_spelling(text: str, expected: tuple[str, str] | None) -> None:
    """Types, loaders and formats as engines name them."""
    assert parse_precision(text) == expected


def test_a_word_that_is_no_precision_is_refused() -> None:
    """The message lists what there is."""
    with pytest.raises(UnknownIdError, match="bf16"):
        parse_precision("purple")
