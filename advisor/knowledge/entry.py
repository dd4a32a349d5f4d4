"""From the text of one file to its record: YAML, schema, id against path."""

from __future__ import annotations

import msgspec

from advisor.knowledge.build import build_record
from advisor.knowledge.files import EntryFile
from advisor.knowledge.findings import Finding
from advisor.knowledge.schema import check_document
from advisor.knowledge.yaml_source import parse_document
from advisor.records import Entry
from advisor.units import shown


def check_entry(file: EntryFile) -> tuple[Entry | None, list[Finding]]:
    """The record of one file, None when an error keeps it from being one, and what is wrong with the file.

    Codes: KB001-KB018 file and YAML, KB100-KB110 schema, KB200 id against path.
    """
    if file.finding:
        return None, [file.finding]
    document = parse_document(file.text, file.path)
    findings = document.findings
    data = document.data
    if data is None or any(finding.severity == "error" for finding in findings):
        return None, findings
    findings += check_document(document, file.kind)
    stated = data.get("id")
    if isinstance(stated, str) and stated != file.id:
        findings.append(
            document.finding(
                "KB200", f"id {shown(stated, 120)} is not the path", ("id",), fix=f"write id: {file.id}"
            )
        )
    if any(finding.severity == "error" for finding in findings):
        return None, findings
    try:
        return build_record(file.kind, data), findings
    except msgspec.ValidationError as error:
        return None, [*findings, document.finding("KB110", " ".join(str(error).split())[:300])]
