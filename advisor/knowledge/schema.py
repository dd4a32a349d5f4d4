"""The JSON Schemas (2020-12) that say what an entry of each kind looks like, and the check of a document against them."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import islice
from typing import Any

from advisor.errors import InputError
from advisor.knowledge.findings import Finding
from advisor.knowledge.limits import MAX_FINDINGS_PER_FILE
from advisor.knowledge.locate import schema_folder
from advisor.knowledge.yaml_source import Document
from advisor.records import SCHEMA_NAMES


@lru_cache(maxsize=1)
def load_schemas() -> dict[str, dict[str, Any]]:
    """All shipped schemas by name (`gotcha`, `common`, `recommendation`, …)."""
    return {
        path.name.removesuffix(".schema.json"): json.loads(path.read_text("utf-8"))
        for path in sorted(schema_folder().glob("*.schema.json"))
    }


def load_schema(name: str) -> dict[str, Any]:
    """One schema by name. Raises InputError that lists the names."""
    schemas = load_schemas()
    if name not in schemas:
        raise InputError(f"no schema named '{name[:40]}'; there are {', '.join(sorted(schemas))}")
    return schemas[name]


@lru_cache(maxsize=32)
def _validator(name: str) -> Any:
    """A compiled schema. Its patterns run on an engine without backtracking, so hostile text cannot make them slow."""
    from jsonschema_rs import Draft202012Validator, RegexOptions, Registry

    schemas = load_schemas()
    registry = Registry([(schema["$id"], schema) for schema in schemas.values()])
    return Draft202012Validator(schemas[name], registry=registry, pattern_options=RegexOptions())


def check_data(name: str, data: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """(path, message) of the violations of schema `name` in plain data, the first hundred of them."""
    from advisor.knowledge.schema_messages import explain

    validator = _validator(name)
    if validator.is_valid(data):
        return []
    errors = islice(validator.iter_errors(data), MAX_FINDINGS_PER_FILE)
    return [
        (violation.where, violation.message)
        for error in errors
        for violation in explain(error, data, name, load_schemas())
    ]


def check_document(document: Document, kind: str) -> list[Finding]:
    """Violations of the schema of a kind folder, as KB10x findings with positions. The document holds data."""
    name = SCHEMA_NAMES[kind]
    validator = _validator(name)
    if validator.is_valid(document.data):
        return []
    from advisor.knowledge.schema_messages import explain

    found: dict[Finding, None] = {}
    for error in islice(validator.iter_errors(document.data), MAX_FINDINGS_PER_FILE):
        for violation in explain(error, document.data, name, load_schemas()):
            finding = document.finding(
                violation.code, violation.message, violation.where, key=violation.at_key, fix=violation.fix
            )
            found.setdefault(finding)
    return list(found)[:MAX_FINDINGS_PER_FILE]
