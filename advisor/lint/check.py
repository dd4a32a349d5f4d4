"""What a check is: a code with its documentation, and a function over one entry, one text or the whole knowledge base."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from advisor.errors import InputError
from advisor.knowledge.findings import Severity
from advisor.knowledge.spans import Path as Where
from advisor.knowledge.spans import Span
from advisor.knowledge.yaml_source import Document
from advisor.units import shown

if TYPE_CHECKING:
    pass

Scope = Literal["file", "text", "entry", "corpus"]
"""file: found while reading. text: over a parsed document. entry: over one record. corpus: over all of them."""

HEADINGS = ("What it does", "Why is this bad?", "Example", "Use instead", "How to fix")
"""Sections of every check's documentation, in order."""

FAMILIES = {
    "KB0": "Files and YAML",
    "KB1": "Schema",
    "KB2": "Ids and links",
    "KB3": "Graph",
    "KB4": "Evidence, claims and figures",
    "KB5": "Rules and facts",
    "KB6": "Prose and freshness",
}
"""First three characters of a code -> what the family is about."""

_MODULES = (
    "files", "yaml", "schema", "style", "ignores", "links", "names", "graph", "claims", "evidence", "models", "hardware",
    "rules", "rule_regions", "facts", "prose", "freshness",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What a check found, before it has a place in the file.

    where: path inside the entry, the key rather than the value if at_key. text: narrows the place to where this text
    stands inside the value. span: the place itself, for checks that read the text. entry: id, when the check saw many.
    severity: when it differs from the check's. code: when one function finds several.
    """

    message: str
    fix: str = ""
    where: Where = ()
    at_key: bool = False
    text: str = ""
    span: Span | None = None
    entry: str = ""
    severity: Severity | None = None
    code: str = ""


Fixer = Callable[[Document, str], str]
"""From a document and its id to the mended text (the same text when there is nothing to mend)."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One code. run takes (document, id), an entry or a Corpus, by scope; codes of scope `file` have none."""

    code: str
    name: str
    severity: Severity
    scope: Scope
    kinds: tuple[str, ...] = ()
    run: Callable[..., Iterable[Problem]] | None = None
    summary: str = ""
    sections: dict[str, str] = field(default_factory=dict)
    fixer: Fixer | None = None
    unsafe: bool = False

    @property
    def family(self) -> str:
        """What the codes around it are about."""
        return FAMILIES[self.code[:3]]


_CHECKS: dict[str, Check] = {}

F = TypeVar("F", bound=Callable[..., Iterable[Problem]])


def entry_check(code: str, name: str, severity: Severity, *kinds: str) -> Callable[[F], F]:
    """Register a function over one entry of these kinds; its docstring is the documentation."""
    return _registering(code, name, severity, "entry", kinds)


def text_check(code: str, name: str, severity: Severity, *kinds: str) -> Callable[[F], F]:
    """Register a function over (document, id) of files that parsed, of these kinds or of all."""
    return _registering(code, name, severity, "text", kinds)


def corpus_check(code: str, name: str, severity: Severity) -> Callable[[F], F]:
    """Register a function over the Corpus, run once after all entries were read."""
    return _registering(code, name, severity, "corpus", ())


def declare(code: str, name: str, severity: Severity, documentation: str) -> None:
    """Register a code that is found elsewhere: while files are read, or by another layer."""
    _add(Check(code=code, name=name, severity=severity, scope="file"), documentation)


def fixer(code: str, *, unsafe: bool = False) -> Callable[[Fixer], Fixer]:
    """Register the function that mends what a code reports. unsafe: it may change what the entry says."""

    def register(function: Fixer) -> Fixer:
        _CHECKS[code] = replace(_CHECKS[code], fixer=function, unsafe=unsafe)
        return function

    return register


def _registering(
    code: str, name: str, severity: Severity, scope: Scope, kinds: tuple[str, ...]
) -> Callable[[F], F]:
    def register(function: F) -> F:
        check = Check(code=code, name=name, severity=severity, scope=scope, kinds=kinds, run=function)
        _add(check, inspect.getdoc(function) or "")
        return function

    return register


def _add(check: Check, documentation: str) -> None:
    if check.code in _CHECKS or any(check.name == other.name for other in _CHECKS.values()):
        raise ValueError(f"two checks share {check.code} or {check.name}")
    summary, sections = _sections(documentation)
    _CHECKS[check.code] = replace(check, summary=summary, sections=sections)


def _sections(documentation: str) -> tuple[str, dict[str, str]]:
    """Summary and sections of a documentation text with `## Heading` lines."""
    parts = re.split(r"^## (.+)$", documentation, flags=re.MULTILINE)
    bodies = {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}
    return parts[0].strip(), bodies


@lru_cache(maxsize=1)
def all_checks() -> dict[str, Check]:
    """Every check by code, in code order."""
    for module in _MODULES:
        importlib.import_module(f"advisor.lint.checks.{module}")
    return dict(sorted(_CHECKS.items()))


def checks_of(scope: Scope, kind: str = "") -> Iterator[Check]:
    """Checks of a scope that apply to a kind folder."""
    for check in all_checks().values():
        if check.scope == scope and (not check.kinds or kind in check.kinds):
            yield check


@lru_cache(maxsize=1)
def _names() -> dict[str, Check]:
    """Code in lower case, and name -> check."""
    return {name: check for check in all_checks().values() for name in (check.code.lower(), check.name)}


def find_check(word: str) -> Check:
    """The check of a code or name, any case. Raises InputError that names the nearest ones."""
    from difflib import get_close_matches

    names = _names()
    found = names.get(word.strip().lower())
    if found is None:
        near = get_close_matches(word.strip().lower(), names, n=3, cutoff=0.5)
        hint = (
            ", ".join(f"{names[name].code} {names[name].name}" for name in near)
            or "see `rackfit explain --list`"
        )
        raise InputError(f"no lint code {shown(word)}; nearest: {hint}")
    return found


def judged(check: Check, *arguments: Any) -> Iterator[tuple[Check, Problem]]:
    """What a check finds, each problem with the check whose code it has. A check that fails is itself a finding (KB029).

    Checks compute with whatever an overlay holds; one that meets a value nobody thought of must not hide all other findings.
    """
    assert check.run is not None
    try:
        for problem in check.run(*arguments):
            yield all_checks()[problem.code] if problem.code else check, problem
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        message = f"{check.code} {check.name} could not be checked ({what})"
        problem = Problem(
            message=message, fix="look for an extreme value here, and report this message", where=("id",)
        )
        yield all_checks()["KB029"], problem
