"""Comments that silence findings: `# rackfit: ignore[KB601] reason` for a field, `ignore-file[…]` for a whole entry."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from advisor.errors import InputError
from advisor.knowledge.findings import Finding
from advisor.knowledge.spans import Place
from advisor.knowledge.yaml_source import Document, finding_at
from advisor.lint.check import find_check
from advisor.lint.unchecked import keeps_from_loading
from advisor.units import shown

_COMMENT = re.compile(
    r"(?:^|(?<=[ \t]))#[ \t]*rackfit:[ \t]*(ignore(?:-file)?)\b(?:\[([^\]\n]{0,200})\])?([^\n]*)",
    re.MULTILINE,
)
_MAX_COMMENTS = 100
"""Of one file; each is compared with every value of it."""

MARK = "rackfit:"
"""A text without this word holds no such comment."""


@dataclass(slots=True)
class _Ignore:
    start: int
    end: int
    codes: frozenset[str]
    first_line: int
    last_line: int
    used: set[str] = field(default_factory=set)

    def covers(self, finding: Finding) -> bool:
        return finding.code in self.codes and self.first_line <= finding.line <= self.last_line


def apply_ignores(findings: Iterable[Finding], text: str, path: str) -> list[Finding]:
    """The findings that no comment silences, and what is wrong with the comments themselves (KB025-KB027).

    Findings that keep an entry from loading are never silenced.
    """
    if MARK not in text:
        return list(findings)
    document = Document(path=path, text=text)
    problems: list[Finding] = []
    ignores = list(_read(document, problems))
    kept: list[Finding] = []
    for finding in findings:
        hits = [] if keeps_from_loading(finding) else [ignore for ignore in ignores if ignore.covers(finding)]
        for ignore in hits:
            ignore.used.add(finding.code)
        if not hits:
            kept.append(finding)
    for ignore in ignores:
        for code in sorted(ignore.codes - ignore.used):
            span = document.span_at(ignore.start, ignore.end)
            problems.append(finding_at(path, span, "KB026", f"nothing here to ignore for {code}",
                                       fix="delete the code from the comment", severity="warning"))  # fmt: skip
    return kept + problems


def ignored_codes(text: str) -> frozenset[str]:
    """Codes that comments of a text name: fixes leave the whole entry alone in these."""
    codes: set[str] = set()
    for match in islice(_COMMENT.finditer(text), _MAX_COMMENTS):
        for word in (match.group(2) or "").split(","):
            with contextlib.suppress(InputError):
                codes.add(find_check(word).code)
    return frozenset(codes)


def _read(document: Document, problems: list[Finding]) -> Iterable[_Ignore]:
    for number, match in enumerate(_COMMENT.finditer(document.text)):
        if number < _MAX_COMMENTS and _in_a_scalar(document, match.start()):
            continue
        span = document.span_at(match.start(), match.end())
        if number >= _MAX_COMMENTS:
            problems.append(finding_at(document.path, span, "KB027", f"more than {_MAX_COMMENTS} ignore comments",
                                       fix="use ignore-file for what holds in the whole entry"))  # fmt: skip
            return
        words = [word.strip() for word in (match.group(2) or "").split(",") if word.strip()]
        codes: set[str] = set()
        for word in words:
            try:
                codes.add(find_check(word).code)
            except InputError as error:
                problems.append(
                    finding_at(document.path, span, "KB027", str(error), fix="name a code that exists")
                )
        if match.group(2) is None or not words:
            problems.append(finding_at(document.path, span, "KB027", f"{shown(match.group())} names no code",
                                       fix="write for example # rackfit: ignore[KB601] and the reason"))  # fmt: skip
        if not match.group(3).strip(" \t:-—"):
            problems.append(finding_at(document.path, span, "KB025", "an ignore without a reason",
                                       fix="say after the bracket why it is right here", severity="warning"))  # fmt: skip
        first, last = _range(document, match.group(1), match.start(), span.line)
        yield _Ignore(match.start(), match.end(), frozenset(codes), first, last)


def _in_a_scalar(document: Document, offset: int) -> bool:
    return any(
        place.value.start <= offset < place.value.end
        for place in document.places.values()
        if place.style == "quoted"
        or (place.style == "block" and document.text[place.value.start : place.value.start + 1] in "|>")
    )


def _range(document: Document, form: str, offset: int, line: int) -> tuple[int, int]:
    """First and last line that a comment covers: the file, the field that follows, or the field on its line."""
    if form == "ignore-file":
        return 1, document.text.count("\n") + 1
    own_line = not document.text[document.text.rfind("\n", 0, offset) + 1 : offset].strip()
    starts = [(_first_line(place), path, place) for path, place in document.places.items() if path]
    if own_line:
        later = [start for start, _, _ in starts if start > line]
        wanted = min(later, default=line)
    else:
        wanted = line
    here = [(len(path), place) for start, path, place in starts if start == wanted]
    if not here:
        return line, line
    pick = min if own_line else max
    _, place = pick(here, key=lambda pair: pair[0])
    last = place.value.end_line - (1 if place.value.end_column == 1 and place.value.end_line > wanted else 0)
    return wanted, max(last, wanted)


def _first_line(place: Place) -> int:
    return place.key.line if place.key else place.value.line
