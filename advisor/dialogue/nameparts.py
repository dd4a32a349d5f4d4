"""Names of models as parts: how a repository name, an alias and a sentence are cut so that they can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from advisor.dialogue.text import Token, tokens_of
from advisor.dialogue.trie import SEPARATORS, is_tight
from advisor.knowledge import KnowledgeBase
from advisor.records import Fact, Model

QUALIFIERS = frozenset({"instruct", "chat", "hf", "it", "base", "thinking", "model", "weights", "preview", "exp", "inst", "sft", "dense", "moe", "llm", "模型", "full"})  # fmt: skip
"""Words after a name that do not change which model it is."""
LOOSE_QUALIFIERS = frozenset({"instruct", "inst"})
VARIANTS = frozenset({"audio", "coder", "embedding", "flash", "guard", "large", "lite", "math", "max", "medium", "micro", "mini", "nano", "ocr", "omni", "plus", "pro", "reranker", "small", "super", "turbo", "ultra", "vision", "vl", "zero"})  # fmt: skip
"""Words in a name that make it another model."""
_REVISION = re.compile(r"v[0-9]+(\.[0-9]+)?")
BRACKETS = frozenset({"(", ")", "'", '"'})


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a name: a word, a version, a size (`70b`, `8x7b`) or a short code (`r1`, `a22b`); tokens start..end-1.

    glued: nothing stands between it and the part before it.
    """

    text: str
    start: int
    end: int
    plain_number: bool = False
    glued: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A model in the knowledge base or known by name only. sizes: labels such as `70b` that people say for it."""

    slug: str
    parts: frozenset[str]
    own: tuple[str, ...]
    released: str = ""
    sized: bool = True


def parts_of(tokens: Sequence[Token], blocked: Sequence[bool] = ()) -> list[Part]:
    """Token stream as parts of names: `r`+`1`, `8`+`x`+`7b`, `3`+`_`+`3` become one part each."""
    parts: list[Part] = []
    place = 0

    def free(index: int) -> bool:
        return index < len(tokens) and not (blocked and blocked[index])

    while place < len(tokens):
        token = tokens[place]
        glued = token.glued
        if not free(place):
            parts.append(Part("\0", place, place + 1, glued=glued))
            place += 1
            continue
        first, second = (tokens[i] if free(i) and tokens[i].glued else None for i in (place + 1, place + 2))
        if first is not None and is_tight(token, first):
            parts.append(Part(token.text + first.text, place, place + 2, glued=glued))
        elif token.number is not None and not token.suffix and first is not None and second is not None and (
            first.text in ("x", "*") and second.number is not None and second.suffix in ("", "b")
        ):  # fmt: skip
            parts.append(Part(f"{token.text}x{second.text}", place, place + 3, glued=glued))
        elif token.number is not None and first is not None and first.text == "_" and second is not None and (
            second.number is not None and len(second.text) == len(token.text) == 1
        ):  # fmt: skip
            parts.append(Part(f"{token.text}.{second.text}", place, place + 3, glued=glued))
        else:
            plain = token.number is not None and not token.suffix
            parts.append(Part(token.text, place, place + 1, plain, glued))
        place = parts[-1].end
    return parts


_SIZE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:x[0-9]{1,9}(?:\.[0-9]{1,9})?){0,2}[bt]")


def is_size(part: str) -> bool:
    """Whether a part is a size such as `70b`, `8x7b` or `1t`."""
    return _SIZE.fullmatch(part) is not None


def billions(size: str) -> float:
    """Parameters in billions of a size such as `70b`, `8x7b` or `1t`."""
    product = 1000.0 if size[-1] == "t" else 1.0
    for factor in size[:-1].split("x"):
        product *= float(factor)
    return product


def named_models(kb: KnowledgeBase) -> Iterable[tuple[str, tuple[str, ...], tuple[str, ...], str, bool]]:
    """Slug, other names, size labels, release date and whether it can be sized, of every model."""
    for model in kb.models.values():
        tails = tuple(_without_precision(name.rpartition("/")[2]) for name in _repositories(model))
        yield model.slug, (*model.aliases, *tails), _sizes(model), model.released, True
    fact = kb.facts.get("model")
    for mention in fact.mentions if isinstance(fact, Fact) else ():
        yield mention.value, mention.words, (), "", False


def _repositories(model: Model) -> tuple[str, ...]:
    """Repository names of a model and its checkpoints."""
    names = (model.hf_id, *(checkpoint.hf_id for checkpoint in model.checkpoints))
    return tuple(name for name in names if name)


def publishers(kb: KnowledgeBase) -> dict[str, set[tuple[str, ...]]]:
    """First part -> publisher names, as they stand before the slash of a repository name."""
    names = (name for model in kb.models.values() for name in _repositories(model))
    forms = {name_parts(name.partition("/")[0]) for name in names if "/" in name}
    table: dict[str, set[tuple[str, ...]]] = {}
    for form in forms:
        table.setdefault(form[0], set()).add(form)
    return table


def _sizes(model: Model) -> tuple[str, ...]:
    labels: list[str] = []
    for cell, prefix in ((model.parameters_total, ""), (model.parameters_active, "a")):
        if cell is not None:
            billions = cell.number / 1e9
            labels.append(f"{prefix}{billions:.0f}b")
            if billions >= 950:
                labels.append(f"{prefix}{billions / 1000:.0f}t")
    return tuple(labels)


_PRECISION_WORDS = frozenset(
    {"fp", "bf", "nvfp", "mxfp", "int", "awq", "gptq", "w", "q", "quantized", "dynamic", "block", "static"}
)


def _without_precision(name: str) -> str:
    """A repository name without the part that names its weight format (that is said by the precision)."""
    tokens = tokens_of(name)
    for place, token in enumerate(tokens):
        if place and token.text in _PRECISION_WORDS:
            return name[: tokens[place - 1].start]
    return name


def name_parts(name: str, kept: Set[str] = frozenset()) -> tuple[str, ...]:
    """The parts of a name, without separators and without words at its end that change nothing, unless they are `kept`."""
    parts = [p.text for p in parts_of(tokens_of(name)) if p.text not in SEPARATORS and p.text not in BRACKETS]
    while len(parts) > 1 and parts[-1] in QUALIFIERS - kept:
        parts.pop()
    return tuple(parts)


def joined_forms(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """`gpt oss 120b` also as `gptoss 120b`; `deepseek r1` as `deepseekr 1`, the way `deepseekr1` splits."""
    if len(parts) >= 2 and parts[0].isalpha() and parts[0].isascii():
        second = parts[1]
        if second.isalpha() and second.isascii():
            yield (parts[0] + second, *parts[2:])
        elif second[0].isalpha() and len(second) > 1 and second[1].isdigit():
            yield (parts[0] + second[0], second[1:], *parts[2:])


def matches_at(parts: list[Part], place: int, form: Sequence[str]) -> int | None:
    """The place after `form` when it stands at `place`, separators aside."""
    for index, wanted in enumerate(form):
        while (
            index and place < len(parts) and parts[place].text in SEPARATORS and parts[place].text != wanted
        ):
            place += 1
        if place >= len(parts) or parts[place].text != wanted:
            return None
        place += 1
    return place


def skip_qualifiers(parts: Sequence[Part], end: int, spoken: Set[str] = LOOSE_QUALIFIERS) -> int:
    """Leave behind what belongs to the name and changes nothing: `-Instruct`, `-0324`.

    `spoken` qualifiers may follow after a space; there, `chat` and `base` are words of the sentence for most models.
    """
    while end < len(parts):
        place = end
        while place < len(parts) and parts[place].text in SEPARATORS:
            place += 1
        if place >= len(parts):
            return end
        part = parts[place]
        months = part.text[0] in "01" or (place > end and part.text[:2] in ("24", "25", "26"))
        dated = part.plain_number and len(part.text) == 4 and months
        qualifies = part.text in (QUALIFIERS if place > end else spoken)
        if place > end and part.glued and _REVISION.fullmatch(part.text):
            qualifies = True
            if place + 2 < len(parts) and parts[place + 1].text == "_" and parts[place + 2].plain_number:
                place += 2
        if not qualifies and not dated:
            return end
        end = place + 1
    return end
