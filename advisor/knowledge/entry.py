"""From the text of one file to its record: YAML, schema, id against path."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from advisor.knowledge.build import build_record
from advisor.knowledge.files import EntryFile
from advisor.knowledge.findings import Finding
from advisor.knowledge.schema import check_document
from advisor.knowledge.yaml_source import Document, parse_document
from advisor.records import Entry
from advisor.units import shown


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedFile:
    """What one file holds. entry: None when an error keeps it from being one. document: None when it was not read."""

    entry: Entry | None = None
    document: Document | None = None
    findings: list[Finding] = field(default_factory=list)


def check_file(file: EntryFile) -> CheckedFile:
    """The record of one file and what is wrong with the file itself.

    Codes: KB001-KB018 file and YAML, KB100-KB110 schema, KB200 id against path.
    """
    if file.finding:
        return CheckedFile(findings=[file.finding])
    document = parse_document(file.text, file.path)
    findings = document.findings
    data = document.data
    if data is None or any(finding.severity == "error" for finding in findings):
        return CheckedFile(document=document, findings=findings)
    findings += check_document(document, file.kind)
    stated = data.get("id")
    if isinstance(stated, str) and stated != file.id:
        findings.append(
            document.finding("KB200", f"id {shown(stated, 120)} is not the path", ("id",), fix=f"write id: {file.id}")
        )
    entry: Entry | None = None
    if not any(finding.severity == "error" for finding in findings):
        try:
            entry = build_record(file.kind, data)
        except msgspec.ValidationError as error:
            findings.append(document.finding("KB110", " ".join(str(error).split())[:300]))
    return CheckedFile(entry=entry, document=document, findings=findings)
