"""Load knowledge bases from folders: read, parse, validate, build records, layer overlays, remember in a cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from advisor import __version__
from advisor.errors import KnowledgeError
from advisor.knowledge.base import KnowledgeBase
from advisor.knowledge.build import build_record
from advisor.knowledge.cache import Stored, load_cached, save_cached
from advisor.knowledge.files import EntryFile, read_folder
from advisor.knowledge.findings import Finding
from advisor.knowledge.locate import kb_folder, schema_folder
from advisor.knowledge.schema import check_document
from advisor.knowledge.yaml_source import parse_document
from advisor.records import KINDS, Entry


def load_knowledge(overlays: Sequence[Path] = (), *, base: Path | None = None, cache: bool = True) -> KnowledgeBase:
    """Load the shipped knowledge base (or `base`) with overlays on top, later ones winning.

    Raises KnowledgeError with the first problem's place when a folder or an entry cannot be used.
    """
    roots = [base or kb_folder(), *overlays]
    layers = [list(read_folder(root)) for root in roots]
    fingerprint = _fingerprint(layers)
    stored = load_cached(fingerprint) if cache else None
    entries: list[Entry]
    if stored is not None:
        entries = [entry for kind in KINDS for entry in getattr(stored, kind)]
        notices = _notices(layers)
    else:
        merged: dict[str, Entry] = {}
        for layer in layers:
            merged.update((entry.id, entry) for entry in _build_layer(layer))
        entries, notices = list(merged.values()), _notices(layers)
        if cache:
            by_kind: dict[str, list[Entry]] = {kind: [] for kind in KINDS}
            for entry in entries:
                by_kind[entry.kind].append(entry)
            save_cached(Stored(fingerprint=fingerprint, **by_kind))  # type: ignore[arg-type]  # kinds match their lists
    return KnowledgeBase(sorted(entries, key=lambda e: e.id), fingerprint=fingerprint, notices=notices)


def check_entry(file: EntryFile) -> tuple[Entry | None, list[Finding]]:
    """The record of one file, or what is wrong with it: file, YAML, schema and id against path."""
    if file.finding:
        return None, [file.finding]
    kind = file.id.partition("/")[0]
    document = parse_document(file.text, file.path)
    findings = list(document.findings) or check_document(document, kind)
    if document.data is not None and document.data.get("id") != file.id:
        findings.append(
            document.finding("KB200", f"id {str(document.data.get('id'))[:80]!r} is not the path", ("id",), fix=f"write id: {file.id}")
        )
    if findings or document.data is None:
        return None, findings
    try:
        return build_record(kind, document.data), []
    except msgspec.ValidationError as error:
        return None, [document.finding("KB101", str(error)[:300])]


def _build_layer(layer: Iterable[EntryFile]) -> list[Entry]:
    entries: list[Entry] = []
    problems: list[Finding] = []
    for file in layer:
        entry, findings = check_entry(file)
        problems += findings
        if entry is not None:
            entries.append(entry)
    if problems:
        first = min(problems)
        more = f" (and {len(problems) - 1} more; run rackfit lint)" if len(problems) > 1 else ""
        text = f"{first.code} {first.message}{'; ' + first.fix if first.fix else ''}{more}"
        raise KnowledgeError(text, path=first.path, line=first.line, column=first.column)
    return entries


def _notices(layers: Sequence[Sequence[EntryFile]]) -> tuple[str, ...]:
    seen = {file.id for file in layers[0]}
    notices: list[str] = []
    for layer in layers[1:]:
        notices += [f"{file.path} replaces the shipped {file.id}" for file in layer if file.id in seen]
        seen |= {file.id for file in layer}
    return tuple(notices)


def _fingerprint(layers: Sequence[Sequence[EntryFile]]) -> str:
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    code = Path(__file__).parent.parent / "records"
    for path in [*sorted(schema_folder().glob("*.json")), *sorted(code.glob("*.py"))]:
        digest.update(path.read_bytes())
    for layer in layers:
        digest.update(b"\0layer")
        for file in layer:
            digest.update(f"\0{file.id}\0{len(file.text)}\0".encode())
            digest.update(file.text.encode())
    return digest.hexdigest()
