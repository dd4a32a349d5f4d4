"""Findings remembered by everything they depend on: the files' content, the schemas, the code, the options."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from advisor.knowledge.cache import read_blob, write_blob
from advisor.knowledge.findings import Finding
from advisor.lint.options import Options

_PACKAGE = Path(__file__).resolve().parents[1]


class _Stored(msgspec.Struct):
    key: str
    findings: list[Finding]


def results_key(fingerprint: str, root: Path, options: Options) -> str:
    """The name under which the findings of one state are kept."""
    settings = f"{options.today} {options.review_days} {options.price_days} {options.line_length}"
    parts = (fingerprint, _code_state(), settings, str(root))
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def load_results(key: str) -> list[Finding] | None:
    """The findings kept under a key, or None; a corrupt or foreign file counts as none."""
    raw = read_blob(f"lint-{key}.json")
    if raw is None:
        return None
    try:
        stored = msgspec.json.decode(raw, type=_Stored)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return stored.findings if stored.key == key else None


def save_results(key: str, findings: Sequence[Finding]) -> None:
    """Keep findings; failures are ignored, since a cache is only a speed-up."""
    try:
        content = msgspec.json.encode(_Stored(key=key, findings=list(findings)))
    except (UnicodeEncodeError, msgspec.MsgspecError):  # a file name that is not Unicode
        return
    write_blob(f"lint-{key}.json", content)


@lru_cache(maxsize=1)
def _code_state() -> str:
    """Size and time of every module and of the data beside it: checks also change when what they call does."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted((*_PACKAGE.rglob("*.py"), *_PACKAGE.glob("*/*.yaml"))):
        status = path.stat()
        digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
