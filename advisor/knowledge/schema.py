"""The JSON Schemas (2020-12) and what they say about a document, in the field's own words."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from advisor.errors import InputError
from advisor.knowledge.findings import Finding
from advisor.knowledge.locate import schema_folder
from advisor.knowledge.yaml_source import Document
from advisor.records import SCHEMA_NAMES


@lru_cache(maxsize=1)
def load_schemas(folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """All shipped schemas by name (`gotcha`, `common`, `recommendation`, …)."""
    base = folder or schema_folder()
    return {
        path.name.removesuffix(".schema.json"): json.loads(path.read_text("utf-8"))
        for path in sorted(base.glob("*.schema.json"))
    }


def load_schema(name: str) -> dict[str, Any]:
    """One schema by name. Raises InputError that lists the names."""
    schemas = load_schemas()
    if name not in schemas:
        raise InputError(f"no schema named '{name[:40]}'; there are {', '.join(sorted(schemas))}")
    return schemas[name]


@lru_cache(maxsize=32)
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas = load_schemas()
    registry: Any = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas.values()
    )
    return Draft202012Validator(schemas[name], registry=registry)


def check_data(name: str, data: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """(path, message) of each violation of schema `name` in plain data."""
    return [(tuple(error.absolute_path), _message(error)) for error in _validator(name).iter_errors(data)]


def check_document(document: Document, kind: str) -> list[Finding]:
    """Violations of the schema of a kind folder, as KB100 findings with positions."""
    if document.data is None:
        return []
    return [
        document.finding("KB100", message, path)
        for path, message in check_data(SCHEMA_NAMES[kind], document.data)
    ]


def _message(error: Any) -> str:
    from jsonschema.exceptions import best_match

    deepest = best_match([error]) or error
    where = ".".join(str(step) for step in error.absolute_path)
    text = " ".join(deepest.message.split())
    return f"{where + ': ' if where else ''}{text[:300]}"
