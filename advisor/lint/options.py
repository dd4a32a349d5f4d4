"""What a run is told: which codes count, how old is old, where the baseline is; from flags and configuration files."""

from __future__ import annotations

import datetime
import fnmatch
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from advisor.errors import InputError
from advisor.knowledge.findings import Finding, Severity
from advisor.lint.check import all_checks, find_check
from advisor.reading import read_bounded
from advisor.units import shown

_LARGEST = 1_000_000
"""Bytes of a configuration file."""
_LEVELS = 50
_DEEP_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){%d}""" % _LEVELS  # noqa: UP031  # full of braces
)
"""A key that tomllib would need time and memory for that grow with the square of its parts."""

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From mildest to worst."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The settings of a run.

    select, ignore: codes, after families and names were spelled out. per_file_ignores: glob over paths -> codes.
    severities: code -> severity that replaces the check's. fail_on: mildest severity that makes the run fail.
    """

    today: datetime.date = field(default_factory=datetime.date.today)
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    per_file_ignores: Mapping[str, frozenset[str]] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    fail_on: Severity = "info"
    baseline: Path | None = None
    review_days: int = 365
    price_days: int = 270
    line_length: int = 140

    def allows(self, code: str, path: str) -> bool:
        """Whether a code counts in a file."""
        if code in self.ignore or (self.select is not None and code not in self.select):
            return False
        return not any(
            code in codes and _matches(path, glob) for glob, codes in self.per_file_ignores.items()
        )

    def choose(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that count, with their configured severity."""
        counting = [finding for finding in findings if self.allows(finding.code, finding.path)]
        return [
            replace(finding, severity=self.severities[finding.code])
            if finding.code in self.severities
            else finding
            for finding in counting
        ]

    def fails(self, findings: Iterable[Finding]) -> bool:
        """Whether a finding is at least as bad as fail_on."""
        threshold = SEVERITIES.index(self.fail_on)
        return any(SEVERITIES.index(finding.severity) >= threshold for finding in findings)


def _matches(path: str, glob: str) -> bool:
    posix = Path(path).as_posix()
    return fnmatch.fnmatch(posix, glob) or fnmatch.fnmatch(posix, f"*/{glob}")


def expand_codes(words: Iterable[str]) -> frozenset[str]:
    """Codes of words that are codes (`KB601`), names (`stale-review`), families (`KB6`, `KB40`) or `ALL`.

    Raises InputError that names the nearest code.
    """
    codes: set[str] = set()
    for word in (part.strip() for text in words for part in text.split(",")):
        if not word:
            continue
        prefix = word.upper()
        hits = {
            code
            for code in all_checks()
            if prefix == "ALL" or (prefix.startswith("KB") and code.startswith(prefix))
        }
        codes |= hits or {find_check(word).code}
    return frozenset(codes)


def find_config(start: Path) -> Path | None:
    """The nearest `.rackfit.toml`, or `pyproject.toml` with a `[tool.rackfit]` table, at or above a folder."""
    for folder in (start.resolve(), *start.resolve().parents):
        own = folder / ".rackfit.toml"
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and "rackfit" in _read_toml(project).get("tool", {}):
            return project
    return None


def load_options(path: Path | None, base: Options | None = None) -> Options:
    """Options with what a configuration file says on top. Raises InputError naming the file, the key and the nearest key."""
    options = base or Options()
    if path is None:
        return options
    table = _read_toml(path)
    if path.name == "pyproject.toml":
        table = _table(
            _table(table.get("tool", {}), f"{path}: tool").get("rackfit", {}), f"{path}: tool.rackfit"
        )
    unknown = [key for key in table if key != "lint"]
    if unknown:
        raise InputError(f"{path}: unknown table {shown(unknown[0])}; there is [lint]")
    for key, value in _table(table.get("lint", {}), f"{path}: lint").items():
        options = _with(options, key, value, path)
    return options


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = read_bounded(path, _LARGEST).decode("utf-8")
        if deep := _DEEP_KEY.search(text):
            line = text.count("\n", 0, deep.start()) + 1
            raise ValueError(f"line {line}: a key of more than {_LEVELS} parts")
        return tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:  # bad UTF-8 and bad TOML are ValueErrors
        raise InputError(
            f"{path}: cannot be used: {' '.join(str(error).split())[:160]}; correct it or use --no-config"
        ) from None


def _with(options: Options, key: str, value: Any, path: Path) -> Options:
    where = f"{path}: lint.{key}"
    name = key.replace("-", "_")
    if name == "select":
        return replace(options, select=_codes(value, where))
    if name == "ignore":
        return replace(options, ignore=_codes(value, where))
    if name == "per_file_ignores":
        table = {glob: _codes(codes, f"{where}.{glob}") for glob, codes in _table(value, where).items()}
        return replace(options, per_file_ignores=table)
    if name == "severity":
        severities = {
            code: parse_severity(str(level), f"{where}.{word}")
            for word, level in _table(value, where).items()
            for code in expand_codes([word])
        }
        return replace(options, severities=severities)
    if name == "fail_on":
        return replace(options, fail_on=parse_severity(str(value), where))
    if name == "baseline":
        return replace(options, baseline=path.parent / str(value))
    if name in ("review_days", "price_days", "line_length"):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 100_000:
            raise InputError(f"{where}: {shown(str(value))} is not a whole number from 1 to 100,000")
        return replace(options, **cast(dict[str, Any], {name: value}))
    known = [
        "select",
        "ignore",
        "per-file-ignores",
        "severity",
        "fail-on",
        "baseline",
        "review-days",
        "price-days",
        "line-length",
    ]
    near = get_close_matches(key, known, n=1)
    raise InputError(
        f"{where}: no such setting; "
        + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")
    )


def _codes(value: Any, where: str) -> frozenset[str]:
    if (
        not isinstance(value, Sequence)
        or isinstance(value, str)
        or not all(isinstance(word, str) for word in value)
    ):
        raise InputError(f'{where}: must be a list of codes, such as ["KB601"]')
    try:
        return expand_codes(value)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: must be a table")
    return value


def parse_severity(word: str, where: str) -> Severity:
    """A severity by name. Raises InputError that lists them."""
    if word not in SEVERITIES:
        raise InputError(f"{where}: {shown(word)} is no severity; one of: {', '.join(SEVERITIES)}")
    return word
