"""Load knowledge bases from folders: read, parse, validate, build records, layer overlays, remember in a cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from advisor import __version__
from advisor.errors import KnowledgeError
from advisor.knowledge.base import KnowledgeBase
from advisor.knowledge.cache import load_cached, save_cached
from advisor.knowledge.files import EntryFile, read_folder
from advisor.knowledge.findings import Finding
from advisor.knowledge.locate import kb_folder, schema_folder
from advisor.records import Entry


def load_knowledge(
    overlays: Sequence[Path] = (), *, base: Path | None = None, cache: bool = True, strict: bool = True
) -> KnowledgeBase:
    """Load the shipped knowledge base (or `base`) with overlays on top, later ones winning.

    Raises KnowledgeError with the first problem's place when a folder cannot be read or, if strict, when an entry
    cannot be used. Otherwise such entries are left out and named in the notices, and nothing is cached.
    """
    layers = [list(read_folder(root)) for root in (base or kb_folder(), *overlays)]
    fingerprint = fingerprint_of(layers)
    entries = load_cached(fingerprint) if cache else None
    notices = _replaced(layers)
    if entries is None:
        entries, problems = _build(layers)
        if problems and strict:
            raise _refusal(problems)
        notices += tuple(f"left out: {problem.one_line()}" for problem in problems)
        if cache and not problems:
            save_cached(fingerprint, entries)
    return KnowledgeBase(entries, fingerprint=fingerprint, notices=notices)


def _build(layers: Iterable[Iterable[EntryFile]]) -> tuple[list[Entry], list[Finding]]:
    """Entries in id order and the errors of the files that hold none."""
    from advisor.knowledge.entry import check_file

    merged: dict[str, Entry] = {}
    problems: list[Finding] = []
    for layer in layers:
        for file in layer:
            checked = check_file(file)
            problems += [finding for finding in checked.findings if finding.severity == "error"]
            if checked.entry is not None:
                merged[checked.entry.id] = checked.entry
    return [merged[entry_id] for entry_id in sorted(merged)], sorted(problems)


def _refusal(problems: Sequence[Finding]) -> KnowledgeError:
    first = problems[0]
    more = f" (and {len(problems) - 1} more; run rackfit lint)" if len(problems) > 1 else ""
    text = f"{first.code} {first.message}{'; ' + first.fix if first.fix else ''}{more}"
    return KnowledgeError(text, path=first.path, line=first.line, column=first.column)


def _replaced(layers: Sequence[Sequence[EntryFile]]) -> tuple[str, ...]:
    """What an overlay replaces is said, never silent."""
    seen = {file.id for file in layers[0]}
    notices: list[str] = []
    for layer in layers[1:]:
        notices += [f"{file.path} replaces the shipped {file.id}" for file in layer if file.id in seen]
        seen |= {file.id for file in layer}
    return tuple(notices)


def fingerprint_of(layers: Iterable[Iterable[EntryFile]]) -> str:
    """Hash of everything that records depend on: version, schemas, record definitions, and each file's id and text."""
    digest = hashlib.blake2b(_code_digest(), digest_size=16)
    for layer in layers:
        digest.update(b"\0layer")
        for file in layer:
            text = file.text.encode()
            refused = f"{file.finding.code} {file.finding.message}" if file.finding else ""
            digest.update(f"\0{file.id}\0{refused}\0{len(text)}\0".encode("utf-8", "surrogateescape"))
            digest.update(text)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _code_digest() -> bytes:
    digest = hashlib.blake2b(__version__.encode())
    package = Path(__file__).parent.parent
    code = [*(package / "records").glob("*.py"), *(package / "knowledge").glob("*.py")]
    for path in [*sorted(schema_folder().glob("*.json")), *sorted(code)]:
        digest.update(path.read_bytes())
    return digest.digest()
