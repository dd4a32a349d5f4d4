"""From the names that logs and people use to entries: models with their checkpoint, accelerators with their memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from advisor.errors import UnknownIdError
from advisor.knowledge import KnowledgeBase, fold
from advisor.records import Accelerator, Cell, Checkpoint, Model
from advisor.sizing.formats import DEFAULT_FORMAT, FORMATS
from advisor.units import GIB

_PARENTHESES = re.compile(r"\s*\(([^)]*)\)")
_GIBIBYTES = re.compile(r"(\d+(?:\.\d+)?)\s*GiB", re.IGNORECASE)
_LABEL = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4})\s*GB(?![a-z])", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z0-9.]+")
_COUNT = re.compile(r"(?<![A-Za-z0-9])\d{1,4}\s*[xX*]\s*(?=[A-Za-z])")

_FORMAT_WORDS: dict[str, tuple[str, str]] = {
    "fp32": ("fp32", "fp32"), "float32": ("fp32", "fp32"),
    "bf16": ("bf16", "bf16"), "bfloat16": ("bf16", "bf16"), "fp16": ("bf16", "bf16"), "float16": ("bf16", "bf16"),
    "half": ("bf16", "bf16"), "16bit": ("bf16", "bf16"),
    "fp8": ("fp8", "fp8"), "f8": ("fp8", "fp8"), "e4m3": ("fp8", "fp8"), "fbgemm": ("fp8", "fp8-channel"), "ptpc": ("fp8", "fp8-channel"),
    "8bit": ("int8", "w8a8"), "int8": ("int8", "w8a8"), "w8a8": ("int8", "w8a8"), "w8a16": ("int8", "w8a8"),
    "w4a16": ("int4", "int4"), "int4": ("int4", "int4"), "4bit": ("int4", "int4"), "w4g128": ("int4", "gptq"),
    "autoround": ("int4", "gptq"), "awq": ("int4", "awq"), "gptq": ("int4", "gptq"), "bnb": ("int4", "bnb4"),
    "marlin": ("", ""), "bitsandbytes": ("int4", "bnb4"), "mxfp8": ("fp8", "mxfp8"),
    "nvfp4": ("fp4", "nvfp4"), "fp4": ("fp4", "nvfp4"), "mxfp4": ("fp4", "mxfp4"), "gguf": ("int4", "q4_k_m"),
    "q8": ("int8", "q8_0"), "q6": ("int8", "q6_k"), "q5": ("int4", "q5_k_m"), "q4": ("int4", "q4_k_m"),
    "q3": ("int3", "q3_k_m"), "q2": ("int2", "q2_k"),
}  # fmt: skip
"""Word in a name or a quantization field -> (precision, format)."""

_AS_PUBLISHED = frozenset(
    ("", "auto", "default", "none", "null", "compressed-tensors", "modelopt", "quark", "deepseek_v4_fp8")
)
"""Precision fields that say no more than the checkpoint itself; some are names of an engine's loader."""

_NOISE = frozenset(
    (
        "instruct", "chat", "it", "hf", "base", "pt", "preview", "latest", "dynamic", "static", "pertensor", "block", "quantized",
        "quant", "kv", "compressed", "tensors", "modelopt", "text", "sft", "ft", "cpu", "model", "attn", "mtp", "eagle3", "iters",
    )
)  # fmt: skip
"""Words of a name that do not change the architecture."""


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A model by name, the checkpoint that the name asks for (None: not said), and what was assumed."""

    model: Model
    checkpoint: Checkpoint | None = None
    note: str = ""


def resolve_model(kb: KnowledgeBase, name: str) -> NamedModel:
    """The model called `name`: id, alias, hub id, or a quantised copy or fine-tune named after a known model.

    Raises UnknownIdError with the nearest names when nothing matches.
    """
    clean = _PARENTHESES.sub("", name).strip()
    inside = " ".join(_PARENTHESES.findall(name))
    try:
        model = kb.find("models", clean)
    except UnknownIdError as error:
        return _by_parts(kb, clean, inside, error)
    assert isinstance(model, Model)
    if (stated := _named_format(model, inside)) is not None:
        return NamedModel(model=model, checkpoint=stated)
    for checkpoint in model.checkpoints:
        if checkpoint.hf_id and fold(checkpoint.hf_id) == fold(clean):
            return NamedModel(model=model, checkpoint=checkpoint)
    return NamedModel(model=model, checkpoint=_named_format(model, clean))


def _by_parts(kb: KnowledgeBase, name: str, inside: str, error: UnknownIdError) -> NamedModel:
    """Drop the owner, then words that name a format or a tuning, until a known name is left."""
    base = name.rpartition("/")[2]
    words = [word for word in _WORDS.findall(base.replace("_", "-")) if word]
    kept = [word for word in words if not _is_noise(word)]
    candidates = [base, "-".join(kept)]
    while len(kept) > 2 and not any(character.isdigit() for character in kept[-1]):  # a size is never dropped
        kept.pop()
        candidates.append("-".join(kept))
    table = kb.names["models"]
    for candidate in dict.fromkeys(candidates):
        ids = table.get(fold(candidate), ()) or table.get(fold(candidate.removeprefix("Meta-")), ())
        if len(ids) == 1:
            model = kb.entries[ids[0]]
            assert isinstance(model, Model)
            note = f"{name} is taken as {model.title}: no entry has that name"
            return NamedModel(model=model, checkpoint=_named_format(model, f"{base} {inside}"), note=note)
    raise error


def _is_noise(word: str) -> bool:
    lowered = word.lower()
    if lowered in _NOISE or lowered in _FORMAT_WORDS:
        return True
    pieces = [piece for piece in re.split(r"[^a-z0-9]+", lowered) if piece]
    if len(pieces) > 1 and all(piece in _NOISE or piece in _FORMAT_WORDS for piece in pieces):
        return True
    return bool(re.fullmatch(r"v?\d{4}|iters\d+|g\d+", lowered))


def format_in_name(name: str) -> tuple[str, str] | None:
    """(precision, format) that the words of a name state, or None."""
    words = [
        word.lower() for part in _WORDS.findall(name.replace("_", "-")) for word in (part, *part.split("."))
    ]
    named = [word for word in words if word in _FORMAT_WORDS and _FORMAT_WORDS[word][0]]
    blocks = [word for word in named if word != "gguf"]  # a block type says more than the file format
    found = blocks or named
    return _FORMAT_WORDS[found[-1]] if found else None


def _named_format(model: Model, name: str) -> Checkpoint | None:
    """The checkpoint that format words of a name ask for; the model's own one in that format where it has one."""
    found = format_in_name(name)
    return checkpoint_in(model, *found) if found else None


def checkpoint_in(model: Model, precision: str, storage: str) -> Checkpoint:
    """The model's checkpoint in a precision and format, or a usual recipe.

    A format that is the common one of its precision (`fp8`) stands for whichever the model is published in.
    """
    same = [checkpoint for checkpoint in model.checkpoints if checkpoint.precision == precision]
    if same and storage == DEFAULT_FORMAT.get(precision):
        return same[0]
    for checkpoint in same:
        if (checkpoint.format or DEFAULT_FORMAT[checkpoint.precision]) == storage:
            return checkpoint
    return Checkpoint(
        precision=precision,
        format=storage,
        note="no published checkpoint is known here; a usual recipe is assumed",
    )


def parse_precision(text: str) -> tuple[str, str] | None:
    """(precision, format) of a weight precision in any of its spellings; None for auto or an empty text.

    Raises UnknownIdError for a word that names no format.
    """
    lowered = text.strip().lower()
    if lowered in _AS_PUBLISHED:
        return None
    if lowered in FORMATS and lowered not in DEFAULT_FORMAT:
        precision = next((p for p, f in _FORMAT_WORDS.values() if f == lowered), "")
        return precision or ("fp8" if FORMATS[lowered].bits == 8 else "int4"), lowered
    words = [word for part in _WORDS.findall(lowered.replace("_", "-")) for word in (part, *part.split("."))]
    for word in reversed(words):
        if word in _FORMAT_WORDS and _FORMAT_WORDS[word][0]:
            return _FORMAT_WORDS[word]
    raise UnknownIdError(f"no weight precision '{text[:40]}'; use one of {', '.join(DEFAULT_FORMAT)}")


def resolve_accelerator(
    kb: KnowledgeBase, name: str, hbm_gib: float | None = None
) -> tuple[Accelerator, str]:
    """(accelerator, note) for a name as logs print it. Memory stated in GiB, in the name or by `hbm_gib`, is what programs see.

    A label in GB that differs from the entry's, or on an accelerator that is not known, is taken as GiB and noted. Raises
    UnknownIdError with the nearest names when neither the name nor a size says how much memory there is.
    """
    stated = hbm_gib
    if stated is None and (found := _GIBIBYTES.search(name)):
        stated = float(found.group(1))
    label = _LABEL.search(name)
    clean = _PARENTHESES.sub("", name).strip()
    entry, error = _find_accelerator(kb, clean)
    if entry is None:
        if stated is None and label is None:
            raise error or UnknownIdError(f"no accelerator '{name[:60]}'")
        size = stated if stated is not None else float(label.group(1))  # type: ignore[union-attr]  # one of both is set
        note = f"no accelerator entry for '{name[:60]}': {size:g} GiB are assumed to be visible"
        return _unknown_accelerator(name, size), note
    if stated is not None:
        return _with_memory(entry, stated), ""
    marketed = entry.hbm_marketed_gb.number
    if label is not None and not 0.85 <= float(label.group(1)) / marketed <= 1.15:
        size = float(label.group(1))
        return _with_memory(entry, size), f"{entry.title} with {size:g} GB: taken as {size:g} GiB"
    return entry, ""


def _find_accelerator(kb: KnowledgeBase, name: str) -> tuple[Accelerator | None, UnknownIdError | None]:
    try:
        entry = kb.find("accelerators", name)
    except UnknownIdError as error:
        table = kb.names["accelerators"]
        words = _WORDS.findall(_COUNT.sub("", name))
        spans = sorted(
            ((first, last) for first in range(len(words)) for last in range(first + 1, len(words) + 1)),
            key=lambda span: span[0] - span[1],
        )  # the longest run of words that is a name
        known = (table.get(fold("".join(words[first:last])), ()) for first, last in spans)
        found = next((ids for ids in known if len(ids) == 1), None)
        if found is None:
            return None, error
        entry = kb.entries[found[0]]
    assert isinstance(entry, Accelerator)
    return entry, None


def _with_memory(entry: Accelerator, gib: float) -> Accelerator:
    """The accelerator with `gib` GiB visible to programs instead of its own memory."""
    seen = Cell(value=gib, trust="unverified", note="as stated with the name")
    facts = {**entry.facts, "torch_total_gib": seen}
    return replace(entry, hbm_visible_bytes=Cell(value=round(gib * GIB), trust="unverified"), facts=facts)


NO_ACCELERATOR = Accelerator(
    id="accelerators/unknown", title="not named", vendor="unknown", family="unknown",
    hbm_visible_bytes=Cell(value=0), hbm_marketed_gb=Cell(value=0), hbm_bandwidth_tb_per_s=Cell(value=0),
)  # fmt: skip
"""Stands in where no accelerator is named; it has no memory."""


def _unknown_accelerator(name: str, gib: float) -> Accelerator:
    return _with_memory(replace(NO_ACCELERATOR, title=name, hbm_marketed_gb=Cell(value=gib)), gib)
