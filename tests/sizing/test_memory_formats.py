"""Bits of a stored weight and bytes of a cached value, from the layouts that the formats' authors publish; words that name them."""

from __future__ import annotations

import pytest

from advisor.errors import UnknownIdError
from advisor.knowledge import KnowledgeBase
from advisor.records import Checkpoint, Model
from advisor.sizing.formats import DEFAULT_FORMAT, FORMATS, KV_BYTES
from advisor.sizing.names import checkpoint_in, format_in_name, parse_precision, resolve_accelerator
from advisor.units import GIB


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("fp32", 32), ("bf16", 16), ("fp16", 16), ("fp8", 8), ("fp8-channel", 8), ("w8a8", 8), ("int8", 8),
        ("fp8-block", 8 + 32 / (128 * 128)),  # DeepSeek-V3: one float32 for 128 x 128 values
        ("mxfp8", 8.25), ("fp6", 6.25), ("mxfp4", 4.25),  # OCP Microscaling: an 8-bit scale for 32 values
        ("nvfp4", 4.5),  # an FP8 scale for 16 values
        ("int4", 4 + 16 / 128), ("awq", 4 + (16 + 4) / 128), ("gptq", 4 + (16 + 4) / 128),  # scale, zero point
        ("bnb4", 4.127),  # QLoRA: 0.127 bits a parameter with double quantisation
        ("q8_0", 34 * 8 / 32), ("q6_k", 210 * 8 / 256), ("q5_0", 22 * 8 / 32),  # ggml: bytes of a block over its values
    ],
)  # fmt: skip
def test_bits_of_a_value_with_its_scales(name: str, bits: float) -> None:
    """As published, to a thousandth of a bit."""
    assert FORMATS[name].bits_per_value() == pytest.approx(bits, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("q5_k_m", 5.69),
        ("q4_k_m", 4.85),
        ("q4_k_s", 4.58),
        ("q3_k_m", 3.91),
        ("q4_0", 4.5),
        ("iq4_xs", 4.25),
        ("q2_k", 2.96),
    ],
)
def test_mixtures_take_what_llama_cpp_measures(name: str, bits: float) -> None:
    """llama.cpp's table of bits per weight, within what differs between models (3 %)."""
    assert FORMATS[name].bits_per_value() == pytest.approx(bits, rel=0.03)


def test_a_group_size_of_the_checkpoint_replaces_the_usual_one() -> None:
    """GPTQ with 32 values a group: 4 + 20/32; a format without scales stays as it is."""
    assert FORMATS["gptq"].bits_per_value(32) == 4.625
    assert FORMATS["fp8"].bits_per_value(32) == 8


def test_which_formats_cover_the_whole_model() -> None:
    """GGUF and plain types hold every matrix alike; quantised recipes leave the embedding and the head in 16 bit."""
    whole = {name for name, each in FORMATS.items() if each.whole_model}
    assert whole == {name for name in FORMATS if name.startswith(("q", "iq"))} | {"fp32", "bf16", "fp16"}
    for name, each in FORMATS.items():
        assert set(each.sixteen_bit) == (
            set() if name in whole else {"embedding", "head", "router", "vision", "mtp"}
        )


def test_the_usual_format_of_each_precision() -> None:
    """What is meant when only a precision is said; every one is a known format of that width."""
    assert DEFAULT_FORMAT["fp4"] == "nvfp4"
    assert DEFAULT_FORMAT["int8"] == "w8a8"
    for precision, name in DEFAULT_FORMAT.items():
        assert FORMATS[name].bits == pytest.approx(float("".join(c for c in precision if c.isdigit())), abs=1)


@pytest.mark.parametrize(
    ("precision", "size"),
    [
        ("fp32", 4),
        ("bf16", 2),
        ("fp16", 2),
        ("fp8", 1),
        ("int8", 1),
        ("fp4", (4 + 8 / 16) / 8),
        ("int4", (4 + 8 / 16) / 8),
    ],
)
def test_bytes_of_a_cached_value(precision: str, size: float) -> None:
    """Four bits carry an 8-bit scale for 16 values."""
    assert KV_BYTES[precision] == size


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fp32 float32", ("fp32", "fp32")), ("bf16 bfloat16 fp16 float16 half 16bit", ("bf16", "bf16")), ("fp8 f8 e4m3", ("fp8", "fp8")),
        ("fbgemm ptpc", ("fp8", "fp8-channel")), ("8bit int8 w8a8 w8a16", ("int8", "w8a8")), ("w4a16 int4 4bit", ("int4", "int4")),
        ("w4g128 autoround gptq", ("int4", "gptq")), ("awq", ("int4", "awq")), ("bnb bitsandbytes", ("int4", "bnb4")), ("mxfp8", ("fp8", "mxfp8")),
        ("nvfp4 fp4", ("fp4", "nvfp4")), ("mxfp4", ("fp4", "mxfp4")), ("gguf q4", ("int4", "q4_k_m")), ("q8", ("int8", "q8_0")), ("q6", ("int8", "q6_k")),
        ("q5", ("int4", "q5_k_m")), ("q3", ("int3", "q3_k_m")), ("q2", ("int2", "q2_k")),
    ],
)  # fmt: skip
def test_words_that_name_a_format(words: str, expected: tuple[str, str]) -> None:
    """Alone, in capitals, and at the end of a model's name."""
    for word in words.split():
        assert parse_precision(word) == expected, word
        assert parse_precision(f" {word.upper()} ") == expected
        assert format_in_name(f"Some-Model-7B-{word}") == expected
        assert format_in_name(f"org/some_model_{word.upper()}") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "auto",
        "default",
        "none",
        "null",
        "compressed-tensors",
        "modelopt",
        "quark",
        "deepseek_v4_fp8",
        " AUTO ",
    ],
)
def test_fields_that_say_no_more_than_the_checkpoint(text: str) -> None:
    """Names of loaders, and nothing at all."""
    assert parse_precision(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q6_k", ("int8", "q6_k")), ("q4_k_s", ("int4", "q4_k_s")), ("q4_0", ("int4", "q4_0")), ("iq4_xs", ("int4", "iq4_xs")), ("q5_0", ("int4", "q5_0")),
        ("fp8-block", ("fp8", "fp8-block")), ("fp8-channel", ("fp8", "fp8-channel")), ("nvfp4", ("fp4", "nvfp4")), ("fp6", None), ("marlin", None),
    ],
)  # fmt: skip
def test_formats_by_their_own_name(text: str, expected: tuple[str, str] | None) -> None:
    """A block type keeps itself; a kernel's name alone is no format."""
    if expected is None:
        with pytest.raises(UnknownIdError, match="no weight precision"):
            parse_precision(text)
    else:
        assert parse_precision(text) == expected


def test_a_block_type_says_more_than_the_file_format() -> None:
    """`GGUF` beside `Q8` or `Q2`; without one the usual mixture. The last of several formats counts."""
    assert format_in_name("Model-GGUF-Q8_0") == ("int8", "q8_0")
    assert format_in_name("ggml-org/Model-Q8_0-GGUF") == ("int8", "q8_0")
    assert format_in_name("Model-Q2-gguf") == ("int2", "q2_k")
    assert format_in_name("Model-GGUF") == ("int4", "q4_k_m")
    assert format_in_name("Model-fp8-w4a16") == ("int4", "int4")
    assert format_in_name("Model-7B") is None
    assert format_in_name("Model-marlin") is None


def test_the_models_own_checkpoint_stands_for_the_common_format(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 is published in blocks of FP8; `fp8` means that one, channel scales a recipe of someone else."""
    model = kb.find("models", "deepseek-r1")
    assert isinstance(model, Model)
    own = checkpoint_in(model, "fp8", "fp8")
    assert own in model.checkpoints
    assert own.format == "fp8-block"
    assert checkpoint_in(model, "fp8", "fp8-block") is own
    other = checkpoint_in(model, "fp8", "fp8-channel")
    assert (other.precision, other.format, other.hf_id) == ("fp8", "fp8-channel", "")
    assert "no published checkpoint" in other.note
    assert isinstance(other, Checkpoint)


@pytest.mark.parametrize(
    ("name", "gib", "noted"),
    [
        ("H100 80GB", None, False),
        ("H100 93GB", 93, True),
        ("H100 92GB", None, False),
        ("H100 68GB", None, False),
        ("H100 67GB", 67, True),
    ],
)
def test_a_label_within_fifteen_per_cent_is_the_entrys(
    kb: KnowledgeBase, name: str, gib: float | None, noted: bool
) -> None:
    """80 GB are 68 to 92; beyond it is another variant, taken as GiB and said."""
    accelerator, note = resolve_accelerator(kb, name)
    own = kb.accelerators["accelerators/h100"].hbm_visible_bytes.number
    assert accelerator.hbm_visible_bytes.number == (own if gib is None else gib * GIB)
    assert bool(note) is noted


def test_memory_stated_beside_the_name_is_what_programs_see(kb: KnowledgeBase) -> None:
    """By number, in the name, or for an accelerator that nobody knows."""
    assert resolve_accelerator(kb, "H100", 79.0)[0].hbm_visible_bytes.number == 79 * GIB
    assert resolve_accelerator(kb, "H100 (79.25 GiB)", 70.0)[0].hbm_visible_bytes.number == 70 * GIB
    unknown, note = resolve_accelerator(kb, "Fancy 9000", 42.0)
    assert (unknown.title, unknown.hbm_visible_bytes.number) == ("Fancy 9000", 42 * GIB)
    assert note == "no accelerator entry for 'Fancy 9000': 42 GiB are assumed to be visible"
    labelled, _ = resolve_accelerator(kb, "Fancy 48GB")
    assert labelled.hbm_visible_bytes.number == 48 * GIB
