"""Cache of compressed sparse attention (DeepSeek-V4) as vLLM lays it out: five kinds of pages that share one size.

Each layer keeps a sliding window; layers with a ratio also keep one entry per `ratio` tokens, an indexer where the ratio
is small, and the state of the compressor for the tokens of its own window. Page contents follow the cache specifications
in vLLM's deepseek_v4 model; they reproduce the page table of a DeepSeek-V4-Flash run byte for byte (see docs/validation.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor.records import AttentionGroup

PAGE_TOKENS = 256
"""Tokens of context behind one page of compressed entries."""
WINDOW_PAGE_TOKENS = 64
_ALIGNMENT = 576
_SCALE_GROUP = 64
_STATE_BYTES = 4
_INDEXER_ENTRY_EXTRA = 4


@dataclass(frozen=True, kw_only=True)
class PageKind:
    """One kind of page: tokens in it, bytes over all layers that use it, and the tokens a sequence keeps (0: all)."""

    tokens: int
    page_bytes: float
    window: int = 0


def page_kinds(groups: Sequence[AttentionGroup], value_bytes: float) -> tuple[PageKind, ...]:
    """The kinds of pages of a model whose attention is compressed; empty for other models."""
    own = [group for group in groups if group.kind == "compressed"]
    if not own:
        return ()
    entries = 0.0
    for group in own:
        if group.compress_ratio:
            rows = PAGE_TOKENS // group.compress_ratio
            entries += group.layers * _aligned(rows * entry_bytes(group, value_bytes), value_bytes)
            entries += group.layers * (
                _aligned(rows * _indexer_entry(group), value_bytes) if group.index_heads else 0
            )
    windows = sum(group.layers for group in own)
    window_page = _aligned(WINDOW_PAGE_TOKENS * entry_bytes(own[0], value_bytes), value_bytes)
    first = max((group.layers for group in own if group.compress_ratio), default=windows)
    kinds = [PageKind(tokens=PAGE_TOKENS, page_bytes=entries)]
    for layers in (first, windows - first):
        if layers > 0:
            kinds.append(
                PageKind(tokens=WINDOW_PAGE_TOKENS, page_bytes=layers * window_page, window=own[0].window)
            )
    kinds += _states(own, value_bytes)
    return tuple(kinds)


def _states(groups: Sequence[AttentionGroup], value_bytes: float) -> Iterator[PageKind]:
    """Compressor states in 32 bit: keys and scores, twice as wide where neighbouring entries overlap (small ratios)."""
    for group in groups:
        ratio = group.compress_ratio
        if not ratio:
            continue
        overlap = 2 if group.index_heads else 1
        tokens = 4 if group.index_heads else 8
        widths = [group.head_dim, *([group.index_head_dim] if group.index_heads else [])]
        pages = (_aligned(tokens * 2 * overlap * width * _STATE_BYTES, value_bytes) for width in widths)
        yield PageKind(tokens=tokens, page_bytes=group.layers * sum(pages), window=overlap * ratio)


def entry_bytes(group: AttentionGroup, value_bytes: float) -> float:
    """One cached entry: 8-bit values with 16-bit rotary part and scales, or plain 16-bit values."""
    if value_bytes >= 2:
        return group.kv_heads * group.head_dim * value_bytes
    plain = group.head_dim - group.rope_head_dim
    return plain * value_bytes + 2 * group.rope_head_dim + math.ceil(plain / _SCALE_GROUP) + 1


def _indexer_entry(group: AttentionGroup) -> float:
    return group.index_head_dim + _INDEXER_ENTRY_EXTRA


def _aligned(size: float, value_bytes: float) -> float:
    """Pages of the 8-bit layout are aligned."""
    return size if value_bytes >= 2 else math.ceil(size / _ALIGNMENT) * _ALIGNMENT
