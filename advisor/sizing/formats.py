"""How many bits one weight takes in each storage format, scales and zero points included."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Format:
    """One storage format.

    bits: of a value alone. scale_bits: of one scale (and zero point). group: values per scale, 0 when a scale covers a
    row or more (its cost is below 0.05 %). sixteen_bit: names the parts that a usual recipe leaves in 16 bit.
    whole_model: the format also covers embedding and head (GGUF).
    """

    bits: float
    scale_bits: float = 0.0
    group: int = 0
    sixteen_bit: tuple[str, ...] = ("embedding", "head", "router", "vision", "mtp")
    whole_model: bool = False

    def bits_per_value(self, group: int = 0) -> float:
        """Stored bits per value with scales; `group` replaces the format's own group size when positive."""
        size = group or self.group
        return self.bits + (self.scale_bits / size if size else 0.0)


_BLOCK = 128 * 128

FORMATS: dict[str, Format] = {
    "fp32": Format(bits=32, sixteen_bit=(), whole_model=True),
    "bf16": Format(bits=16, sixteen_bit=(), whole_model=True),
    "fp16": Format(bits=16, sixteen_bit=(), whole_model=True),
    "fp8": Format(bits=8),  # one scale per tensor
    "fp8-channel": Format(bits=8),  # one scale per row
    "fp8-block": Format(bits=8, scale_bits=32, group=_BLOCK),
    "mxfp8": Format(bits=8, scale_bits=8, group=32),
    "w8a8": Format(bits=8),
    "int8": Format(bits=8),
    "fp6": Format(bits=6, scale_bits=8, group=32),
    "nvfp4": Format(bits=4, scale_bits=8, group=16),  # E4M3 scale per 16 values
    "mxfp4": Format(bits=4, scale_bits=8, group=32),  # E8M0 scale per 32 values
    "int4": Format(bits=4, scale_bits=16, group=128),  # symmetric, packed; group from the checkpoint
    "awq": Format(bits=4, scale_bits=20, group=128),  # 16-bit scale and 4-bit zero point
    "gptq": Format(bits=4, scale_bits=20, group=128),
    "bnb4": Format(bits=4, scale_bits=8.127, group=64),  # NF4 with double quantisation
    # GGUF: block layouts of llama.cpp; the _m mixtures use wider blocks for part of the tensors
    "q8_0": Format(bits=8.5, sixteen_bit=(), whole_model=True),
    "q6_k": Format(bits=6.5625, sixteen_bit=(), whole_model=True),
    "q5_k_m": Format(bits=5.69, sixteen_bit=(), whole_model=True),
    "q5_0": Format(bits=5.5, sixteen_bit=(), whole_model=True),
    "q4_k_m": Format(bits=4.85, sixteen_bit=(), whole_model=True),
    "q4_k_s": Format(bits=4.58, sixteen_bit=(), whole_model=True),
    "q4_0": Format(bits=4.55, sixteen_bit=(), whole_model=True),
    "iq4_xs": Format(bits=4.3, sixteen_bit=(), whole_model=True),
    "q3_k_m": Format(bits=3.91, sixteen_bit=(), whole_model=True),
    "q2_k": Format(bits=3.0, sixteen_bit=(), whole_model=True),
}
"""Format name -> layout. Sources: OCP Microscaling specification (MX formats), NVIDIA NVFP4 description, AutoAWQ and GPTQ
tensor layouts (qweight, scales, qzeros), ggml block structures."""

DEFAULT_FORMAT: dict[str, str] = {
    "fp32": "fp32", "bf16": "bf16", "fp16": "fp16", "fp8": "fp8", "int8": "w8a8", "fp6": "fp6", "fp4": "nvfp4",
    "int4": "int4", "int3": "q3_k_m", "int2": "q2_k",
}  # fmt: skip
"""Precision as a user says it -> format of a recipe when no checkpoint says otherwise."""

KV_BYTES: dict[str, float] = {
    "fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "fp4": 0.5625, "int4": 0.5625,
}  # fmt: skip
"""Bytes of one cached value; four-bit caches carry an 8-bit scale per 16 values."""
