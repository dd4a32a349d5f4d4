"""What a schema violation means to the author: the field, the value it has, the values it may have, the nearest one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from advisor.units import shown

Where = tuple[str | int, ...]
Schemas = Mapping[str, Mapping[str, Any]]

_TYPES = {
    "string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
    "array": "a list", "object": "a mapping of fields", "null": "empty",
}  # fmt: skip


_NUMBER = re.compile(r"\d[\d.]{0,30}")
_MOST_RESPELT = 80


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One violation in the author's words; at_key: the key at `where` is at fault and not its value."""

    code: str
    where: Where
    message: str
    fix: str = ""
    at_key: bool = False


@dataclass(frozen=True)
class _Case:
    """A validator's error with what is needed to explain it. node: the schema that the value at `where` is held to."""

    error: Any
    where: Where
    value: Any
    node: Mapping[str, Any]
    inside: Callable[[str], Mapping[str, Any]] = lambda _name: {}
    """The schema of a field of the value."""

    @property
    def field(self) -> str:
        return _field(self.where)

    @property
    def meaning(self) -> str:
        return _meaning(self.node)


def explain(error: Any, data: Any, schema: str, schemas: Schemas) -> Iterator[Violation]:
    """The violations that one validator error stands for; several when it names several fields."""
    where = tuple(error.instance_path)
    case = _Case(
        error,
        where,
        _value_at(data, where),
        _node_at(schemas[schema], where, schema, schemas),
        lambda name: _node_at(schemas[schema], (*where, name), schema, schemas),
    )
    explainer = _EXPLAINERS.get(error.kind.name, _other)
    yield from explainer(case)


def _other(case: _Case) -> Iterator[Violation]:
    message = " ".join(case.error.message.split())
    yield Violation(
        code="KB100", where=case.where, message=f"{case.field}: {message[:200]}", fix=case.meaning
    )


def _unknown(case: _Case) -> Iterator[Violation]:
    known = list(case.node.get("properties", {}))
    for name in case.error.kind.unexpected:
        free = [field for field in known if field not in case.value]
        close = get_close_matches(name, free, n=1) or get_close_matches(name, known, n=1)
        fix = f"did you mean `{close[0]}`?" if close else f"fields here: {', '.join(known)}"
        inside = f" in {case.field}" if case.where else ""
        yield Violation(
            code="KB101",
            where=(*case.where, name),
            message=f"unknown field {shown(name)}{inside}",
            fix=fix,
            at_key=True,
        )


def _missing(case: _Case) -> Iterator[Violation]:
    name = case.error.kind.property
    unknown = [key for key in case.value if key not in case.node.get("properties", {})]
    if get_close_matches(name, unknown, n=1):
        return  # misspelt: the unknown field is reported, with this one as what was meant
    node = case.inside(name)
    meaning = ", ".join(map(str, node.get("enum", ()))) or _meaning(node)
    inside = f" in {case.field}" if case.where else ""
    yield Violation(
        code="KB102", where=case.where, message=f"field `{name}` is missing{inside}",
        fix=f"add `{name}:`" + (f" ({meaning})" if meaning else ""),
    )  # fmt: skip


def _type(case: _Case) -> Iterator[Violation]:
    wanted = [_TYPES.get(kind, kind) for kind in case.error.kind.types]
    fix = case.meaning
    if "string" in case.error.kind.types and isinstance(case.value, (int, float)):
        fix = "write it in quotes"
    elif case.value is None:
        fix = "give it a value or delete the line"
    elif "array" in case.error.kind.types and isinstance(case.value, (str, int, float)):
        fix = f"write [{str(case.value)[:60]}], or one `- ` line for each item"
    elif isinstance(case.value, str) and {"number", "integer"} & set(case.error.kind.types):
        fix = "write a plain number, without quotes, separators or unit"
    elif "value" in case.node.get("properties", {}) and isinstance(case.value, (str, int, float)):
        number = _NUMBER.search(str(case.value).replace(",", ""))
        fix = f"write {{value: {number.group() if number else '…'}, trust: unverified}}, and its source"
    yield Violation(
        code="KB103", where=case.where, message=f"{case.field} must be {' or '.join(wanted)}, not {_shape(case.value)}",
        fix=fix,
    )  # fmt: skip


def _enum(case: _Case) -> Iterator[Violation]:
    options = [str(option) for option in case.error.kind.options]
    close = get_close_matches(str(case.value), options, n=1)
    fix = f"did you mean {close[0]}? " if close else ""
    yield Violation(
        code="KB104", where=case.where, message=f"{case.field} is {_shown(case.value)}",
        fix=f"{fix}one of: {', '.join(options)}",
    )  # fmt: skip


def _constant(case: _Case) -> Iterator[Violation]:
    expected = case.node.get("const", "")
    yield Violation(
        code="KB104",
        where=case.where,
        message=f"{case.field} is {_shown(case.value)}",
        fix=f"write {expected}",
    )


def _pattern(case: _Case) -> Iterator[Violation]:
    pattern = str(case.node.get("pattern", ""))
    fix = case.meaning or f"it must match {pattern[:80]}"
    if isinstance(case.where[-1], int) and " - " in case.value:
        fix = "a line below begins with `- ` and is indented deeper, so it continues this item; align the two"
    elif better := next((text for text in _respelt(case.value) if re.search(pattern, text)), ""):
        fix = f"write {better}; {fix}"
    yield Violation(
        code="KB105", where=case.where, message=f"{case.field}: {_shown(case.value)} is not written as it must be", fix=fix,
    )  # fmt: skip


def _respelt(text: str) -> Iterator[str]:
    """How names are spelt in one place or another: lower case, hyphens or underscores, as a flag."""
    if len(text) <= _MOST_RESPELT:
        words = re.findall(r"[a-z0-9.]+", text.lower())
        yield from (text.lower(), "_".join(words), "-".join(words), f"--{'-'.join(words)}")


def _key(case: _Case) -> Iterator[Violation]:
    """A field of free choice whose name is none that may be chosen."""
    inner = case.error.kind.error
    name = str(inner.instance)
    options = [str(option) for option in getattr(inner.kind, "options", ())]
    fix = f"one of: {', '.join(options)}" if options else _meaning(case.node) or "lower case and underscores"
    yield Violation(
        code="KB101", where=(*case.where, name), message=f"{case.field} cannot hold {shown(name)}",
        fix=fix, at_key=True,
    )  # fmt: skip


def _limit(words: str) -> Callable[[_Case], Iterator[Violation]]:
    def explainer(case: _Case) -> Iterator[Violation]:
        limit = case.error.kind.limit
        size = len(case.value) if isinstance(case.value, (str, list, dict)) else _shown(case.value)
        text = words.format(field=case.field, size=size, limit=limit, s="" if size == 1 else "s")
        yield Violation(code="KB106", where=case.where, message=text, fix=case.meaning)

    return explainer


def _unique(case: _Case) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, item in enumerate(case.value):
        name = repr(item)
        if name in seen:
            yield Violation(
                code="KB107", where=(*case.where, index), message=f"{case.field}: {_shown(item)} is listed twice",
                fix="keep one of them",
            )  # fmt: skip
        seen.add(name)


def _one_of(case: _Case) -> Iterator[Violation]:
    """Several shapes are allowed and none, or more than one, fits."""
    alternatives: Sequence[Mapping[str, Any]] = case.node.get("oneOf") or case.node.get("anyOf") or []
    keys = [alternative.get("required", [""])[0] for alternative in alternatives]
    if not all(keys):
        yield from _best_alternative(case)
    elif isinstance(case.value, dict):  # else its type is a violation of its own
        present = [key for key in keys if key in case.value]
        strange = [key for key in case.value if key not in case.node.get("properties", {})]
        if not present and any(get_close_matches(key, keys, n=1) for key in strange):
            return  # misspelt: the unknown field is reported, with the one that was meant
        if len(present) == 1:
            message, fix = _beside(case, present[0], alternatives[keys.index(present[0])])
        else:
            has = f"has {' and '.join(present)}" if present else "has none of them"
            shapes = [
                _meaning(alternative) or f"`{key}`"
                for key, alternative in zip(keys, alternatives, strict=True)
            ]
            wanted = "exactly" if "oneOf" in case.node else "at least"
            message = f"{case.field} needs {wanted} one of {', '.join(keys)}; it {has}"
            fix = f"write one of: {'; '.join(shapes)}"
        yield Violation(code="KB108", where=case.where, message=message, fix=fix)


def _beside(case: _Case, key: str, alternative: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong, and what would be right, when the one key that makes a shape has too much or too little beside it."""
    others = [name for name in case.node.get("properties", {}) if name in case.value and name != key]
    most = alternative.get("maxProperties", len(case.value))
    if len(case.value) > most > 1:
        parts = ", ".join(f"{{{key}: …, {name}: …}}" for name in others)
        return (
            f"{case.field}: `{key}` takes one of {', '.join(others)}",
            f"write a part for each: `all: [{parts}]`",
        )
    if len(case.value) > most:
        return (
            f"{case.field}: `{key}` stands alone, not beside {', '.join(others)}",
            f"move {', '.join(others)} into a part of it",
        )
    allowed = [name for name in case.node.get("properties", {}) if name not in _heads(case.node)]
    return f"{case.field}: `{key}` has nothing beside it", f"add one of {', '.join(allowed)}"


def _heads(node: Mapping[str, Any]) -> set[str]:
    """The keys that tell the shapes of a `oneOf` apart."""
    return {
        alternative["required"][0] for alternative in node.get("oneOf", ()) if alternative.get("required")
    }


def _best_alternative(case: _Case) -> Iterator[Violation]:
    """The errors of the alternative that came closest: the one whose errors lie deepest and are fewest."""
    closest = min(
        case.error.kind.context,
        key=lambda errors: (-max((len(e.instance_path) for e in errors), default=0), len(errors)),
    )
    reasons = "; ".join(" ".join(error.message.split())[:120] for error in closest[:2])
    if isinstance(case.value, str) and _NUMBER.fullmatch(case.value):
        yield Violation(code="KB103", where=case.where, message=f"{case.field} must be a number, not {_shape(case.value)}",
                        fix="write it without quotes")  # fmt: skip
        return
    shown_value = f": {_shown(case.value)}" if isinstance(case.value, str) else ""
    yield Violation(
        code="KB108", where=case.where, message=f"{case.field} fits none of the allowed shapes{shown_value}",
        fix=case.meaning if shown_value and case.meaning else f"closest: {reasons}",
    )  # fmt: skip


_EXPLAINERS: dict[str, Callable[[_Case], Iterator[Violation]]] = {
    "additionalProperties": _unknown,
    "required": _missing,
    "type": _type,
    "enum": _enum,
    "const": _constant,
    "pattern": _pattern,
    "propertyNames": _key,
    "uniqueItems": _unique,
    "oneOf": _one_of,
    "anyOf": _one_of,
    "minLength": _limit("{field} has {size} character{s}; at least {limit}"),
    "maxLength": _limit("{field} has {size} character{s}; at most {limit}"),
    "minItems": _limit("{field} has {size} item{s}; at least {limit}"),
    "maxItems": _limit("{field} has {size} item{s}; at most {limit}"),
    "minProperties": _limit("{field} has {size} field{s}; at least {limit}"),
    "maxProperties": _limit("{field} has {size} field{s}; at most {limit}"),
    "minimum": _limit("{field} is {size}; at least {limit}"),
    "maximum": _limit("{field} is {size}; at most {limit}"),
    "exclusiveMinimum": _limit("{field} is {size}; it must be above {limit}"),
    "exclusiveMaximum": _limit("{field} is {size}; it must be below {limit}"),
}


def _field(where: Where) -> str:
    """`claims[2].text`, or `the entry` for the whole."""
    text = ""
    for step in where:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return f"`{text[:100]}`" if text else "the entry"


def _meaning(node: Mapping[str, Any]) -> str:
    return str(node.get("description", "")).strip().rstrip(".")[:200]


def _shown(value: Any) -> str:
    return (
        shown(value)
        if isinstance(value, str)
        else _shape(value)
        if isinstance(value, (list, dict))
        else str(value)
    )


def _shape(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {str(value)[:40]}"
    return (
        f"the text {shown(value, 40)}"
        if isinstance(value, str)
        else "a list"
        if isinstance(value, list)
        else "a mapping"
    )


def _value_at(data: Any, where: Where) -> Any:
    for step in where:
        data = data[step]
    return data


def _node_at(node: Mapping[str, Any], where: Where, base: str, schemas: Schemas) -> Mapping[str, Any]:
    """The schema that the value at `where` is held to, references followed; a field's own description wins."""
    node, base = _resolve(node, base, schemas)
    for step in where:
        inner: Any
        if isinstance(step, int):
            inner = node.get("items", {})
        else:
            inner = node.get("properties", {}).get(step) or node.get("additionalProperties") or {}
        node, base = _resolve(inner if isinstance(inner, Mapping) else {}, base, schemas)
    return node


def _resolve(node: Mapping[str, Any], base: str, schemas: Schemas) -> tuple[Mapping[str, Any], str]:
    while isinstance(reference := node.get("$ref"), str):
        file, _, pointer = reference.partition("#")
        base = file.removesuffix(".schema.json") if file else base
        target: Any = schemas.get(base, {})
        for step in pointer.strip("/").split("/") if pointer.strip("/") else []:
            target = target.get(step, {})
        own = {key: value for key, value in node.items() if key != "$ref"}
        fields = {**target.get("properties", {}), **own.get("properties", {})}
        node = {**target, **own, **({"properties": fields} if fields else {})}
    return node, base
