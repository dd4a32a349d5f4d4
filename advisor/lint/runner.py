"""Lint a knowledge base: read its files, check each entry, then check the entries against each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from advisor.errors import InputError
from advisor.knowledge.entry import check_entry
from advisor.knowledge.files import read_folder
from advisor.knowledge.findings import Finding
from advisor.knowledge.graph import links_of
from advisor.knowledge.yaml_source import parse_document
from advisor.records import KINDS, Entry
from advisor.units import shown


def kb_root(path: Path) -> Path:
    """The knowledge base that a path is in: itself or the nearest ancestor that holds kind folders.

    Raises InputError when there is none.
    """
    if not path.exists():
        raise InputError(
            f"{shown(str(path), 200)} does not exist; give a knowledge base folder or a file in one"
        )
    for folder in (path, *path.resolve().parents):
        if folder.is_dir() and any((folder / kind).is_dir() for kind in KINDS):
            return folder
    raise InputError(
        f"{shown(str(path), 200)} is not in a knowledge base; it needs folders such as gotchas/ or models/"
    )


def lint_folder(root: Path, only: Sequence[Path] = ()) -> list[Finding]:
    """All findings in a knowledge base, sorted by place; with `only`, those inside these files or folders."""
    findings: list[Finding] = []
    entries: dict[str, tuple[Entry, str, str]] = {}
    known: set[str] = set()
    for file in read_folder(root):
        known.add(file.id)
        entry, problems = check_entry(file)
        findings += problems
        if entry is not None:
            entries[entry.id] = (entry, file.path, file.text)
    for entry, path, text in entries.values():
        document = None
        for link in links_of(entry):
            if link.target in known:
                continue
            document = document or parse_document(text, path)
            findings.append(
                document.finding("KB210", f"{link.relation}: no entry {shown(link.target, 120)}", link.where)
            )
    return sorted(_inside(findings, only))


def _inside(findings: Iterable[Finding], only: Sequence[Path]) -> list[Finding]:
    folders = [path.resolve() for path in only]
    if not folders:
        return list(findings)
    kept = []
    for finding in findings:
        path = Path(finding.path).resolve()
        if any(path.is_relative_to(folder) for folder in folders):
            kept.append(finding)
    return kept
