"""Strict YAML: 1.2 core scalars, no tags, no merge keys, no duplicate keys, bounded; every problem has a position."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from advisor.knowledge.findings import Finding

MAX_BYTES = 2_000_000
MAX_DEPTH = 40
MAX_VALUES = 200_000

_PLAIN, _QUOTED, _MAP, _SEQ = "plain", "quoted", "map", "seq"
_INT = re.compile(r"[-+]?[0-9]{1,400}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,400}|[0-9]{1,400}(?:\.[0-9]{0,400})?)(?:[eE][-+]?[0-9]{1,5})?")
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class _Composer(yaml.cyaml.CParser):
    """libyaml's composer with our own idea of tags: none but plain, quoted, map and seq."""

    def __init__(self, text: str) -> None:
        yaml.cyaml.CParser.__init__(self, text)

    def descend_resolver(self, *_: object) -> None:
        """Path resolvers are not used."""

    def ascend_resolver(self) -> None:
        """Path resolvers are not used."""

    def resolve(self, kind: type[yaml.Node], _value: object, implicit: object) -> str:
        """Name the style of an untagged node."""
        if kind is yaml.ScalarNode:
            return _PLAIN if isinstance(implicit, tuple) and implicit[0] else _QUOTED
        return _MAP if kind is yaml.MappingNode else _SEQ


@dataclass
class Document:
    """One parsed file: its data, what is wrong with it, and where each value stands.

    data is None when the text is not one YAML mapping; findings then say why.
    """

    path: str
    text: str
    data: dict[str, Any] | None = None
    findings: list[Finding] = field(default_factory=list)
    _node: yaml.Node | None = field(default=None, repr=False)

    def position(self, where: Sequence[str | int], *, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the value at `where` (or of its key). The nearest existing parent if absent."""
        node = self._node or _compose(self.text)
        self._node = node
        mark = node.start_mark if node is not None else None
        for depth, step in enumerate(where):
            last_key = key and depth == len(where) - 1
            found: yaml.Node | None = None
            if isinstance(node, yaml.MappingNode):
                for key_node, value_node in node.value:
                    if key_node.value == step:
                        found = value_node
                        mark = key_node.start_mark if last_key else value_node.start_mark
                        break
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
                found = node.value[step]
                mark = found.start_mark
            if found is None:
                break
            node = found
        return (mark.line + 1, mark.column + 1) if mark else (1, 1)

    def finding(self, code: str, message: str, where: Sequence[str | int] = (), **extra: Any) -> Finding:
        """A finding at the value (or, with key=True, the key) found at `where`."""
        line, column = self.position(where, key=extra.pop("key", False))
        return Finding(path=self.path, line=line, column=column, code=code, message=message, **extra)


def _compose(text: str) -> yaml.Node | None:
    node: yaml.Node | None = _Composer(text).get_single_node()
    return node


def parse_scalar(value: str) -> Any:
    """The YAML 1.2 core value of a plain scalar. `no`, `012`, `1:30` and dates stay text, except whole decimals."""
    if value in _WORDS:
        return _WORDS[value]
    first = value[0]
    if first in "+-.0123456789":
        if _INT.fullmatch(value):
            digits = value.lstrip("+-")
            return value if len(digits) > 1 and digits[0] == "0" else int(value)
        if _FLOAT.fullmatch(value):
            return float(value)
    return value


def parse_document(text: str, path: str) -> Document:
    """Parse one file's text. Never raises for bad input: findings of codes KB001-KB019 say what is wrong and where."""
    document = Document(path=path, text=text)
    try:
        node = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = " ".join(str(error.problem or error.context or "not YAML").split())
        document.findings.append(
            Finding(path=path, line=line, column=column, code="KB001", message=f"not valid YAML: {problem}",
                    fix="check indentation, quotes and colons on this line and the one above")
        )  # fmt: skip
        return document
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        document.findings.append(
            Finding(path=path, line=1, column=1, code="KB001",
                    message=f"not valid YAML: {' '.join(str(error).split())[:160]}", fix="save the file as UTF-8 text")
        )  # fmt: skip
        return document
    document._node = node
    if not isinstance(node, yaml.MappingNode):
        document.findings.append(
            Finding(path=path, line=1, column=1, code="KB002", message="the file does not hold a mapping",
                    fix="write `key: value` lines, starting with `id:`")
        )  # fmt: skip
        return document
    builder = _Builder(document)
    data = builder.build(node, 0)
    document.data = data if isinstance(data, dict) else None
    return document


class _Builder:
    """Turns nodes into plain data and collects what strict YAML refuses."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.values = 0

    def refuse(self, node: yaml.Node, code: str, message: str, fix: str) -> None:
        mark = node.start_mark
        self.document.findings.append(
            Finding(path=self.document.path, line=mark.line + 1, column=mark.column + 1, code=code, message=message, fix=fix)
        )

    def build(self, node: yaml.Node, depth: int) -> Any:
        self.values += 1
        if self.values > MAX_VALUES or depth > MAX_DEPTH:
            if self.values <= MAX_VALUES + 1:
                limit = f"{MAX_DEPTH} levels" if depth > MAX_DEPTH else f"{MAX_VALUES} values"
                self.refuse(node, "KB003", f"more than {limit} in one file", "split the entry; aliases count each time they are used")
            self.values = max(self.values, MAX_VALUES + 1)
            return None
        if isinstance(node, yaml.ScalarNode):
            if node.tag == _PLAIN:
                value = parse_scalar(node.value)
                if isinstance(value, float) and not math.isfinite(value):
                    self.refuse(node, "KB004", f"{node.value[:40]} is not a finite number", "write a number below 1e308")
                    return 0.0
                return value
            if node.tag != _QUOTED:
                self.refuse(node, "KB005", f"tag {node.tag} is not allowed", "remove the tag; quote text, leave numbers bare")
            return node.value
        if isinstance(node, yaml.SequenceNode):
            if node.tag != _SEQ:
                self.refuse(node, "KB005", f"tag {node.tag} is not allowed", "remove the tag")
            return [self.build(item, depth + 1) for item in node.value]
        return self.mapping(node, depth)

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        if node.tag != _MAP:
            self.refuse(node, "KB005", f"tag {node.tag} is not allowed", "remove the tag")
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.refuse(key_node, "KB006", "a key is a list or a mapping", "use a plain word as the key")
                continue
            key = key_node.value
            if key == "<<" and key_node.tag == _PLAIN:
                self.refuse(key_node, "KB007", "merge keys are not allowed", "write the keys out")
                continue
            if key in result:
                self.refuse(key_node, "KB008", f"key '{key}' occurs twice", "keep one of them")
            result[key] = self.build(value_node, depth + 1)
        return result
