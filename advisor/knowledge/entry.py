"""From the text of one file to its record: YAML, schema, id against path."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from advisor.knowledge.build import build_record
from advisor.knowledge.files import EntryFile
from advisor.knowledge.findings import Finding
from advisor.knowledge.schema import check_document
from advisor.knowledge.yaml_source import Document, parse_document
from advisor.records import Entry
from advisor.units import shown

_YAML_NAMES = {"is_": "is", "in_": "in"}
"""Fields that records spell differently, since Python keeps the word."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9.-]*")
_NOT_SLUG = re.compile(r"[^a-z0-9.]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedFile:
    """What one file holds. entry: None when an error keeps it from being one. document: None when it was not read."""

    entry: Entry | None = None
    document: Document | None = None
    findings: list[Finding] = field(default_factory=list)


def check_file(file: EntryFile) -> CheckedFile:
    """The record of one file and what is wrong with the file itself.

    Codes: KB001-KB018 file and YAML, KB100-KB110 schema, KB200-KB201 id against path.
    """
    if file.finding:
        return CheckedFile(findings=[file.finding])
    document = parse_document(file.text, file.path)
    findings = document.findings
    data = document.data
    if data is None or any(finding.severity == "error" for finding in findings):
        return CheckedFile(document=document, findings=findings)
    wrong_id = _check_id(document, data.get("id"), file.id)
    places = {(finding.line, finding.column) for finding in wrong_id}
    findings += [
        f
        for f in check_document(document, file.kind)
        if (f.line, f.column) not in places or f.code == "KB102"
    ]
    findings += wrong_id
    entry: Entry | None = None
    if not any(finding.severity == "error" for finding in findings):
        try:
            entry = build_record(file.kind, data)
        except msgspec.ValidationError as error:
            findings.append(_not_a_record(document, str(error)))
    return CheckedFile(entry=entry, document=document, findings=findings)


def _not_a_record(document: Document, error: str) -> Finding:
    """What the record's types refuse, at the place that msgspec writes as `$.claims[2].text`."""
    reason, _, place = error.partition(" - at `$")
    steps = re.findall(r"\.([^.\[`]+)|\[(\d+)\]", place.rstrip("`"))
    where = tuple(int(index) if index else _YAML_NAMES.get(name, name) for name, index in steps)
    return document.finding("KB110", " ".join(reason.split())[:200], where, fix="write a value of that type")


def _check_id(document: Document, stated: object, path_id: str) -> list[Finding]:
    kind, *parts = path_id.split("/")
    if not all(_SLUG.fullmatch(part) for part in parts):
        better = "/".join(_NOT_SLUG.sub("-", part.lower()).strip("-.") or "name" for part in parts)
        message = f"{shown('/'.join(parts), 120)} is no name for an entry: lower case, digits, - and . only"
        return [document.finding("KB201", message, ("id",), fix=f"rename it to {kind}/{better}.yaml")]
    if isinstance(stated, str) and stated != path_id:
        message = f"id {shown(stated, 120)} is not the path"
        return [document.finding("KB200", message, ("id",), fix=f"write id: {path_id}")]
    return []
