"""Lint a knowledge base: read its files, check each entry, then check the entries against each other."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from advisor.knowledge.base import KnowledgeBase
from advisor.knowledge.entry import check_file
from advisor.knowledge.files import EntryFile, read_folder, stray_files
from advisor.knowledge.findings import Finding
from advisor.knowledge.limits import MAX_FINDINGS_PER_FILE
from advisor.knowledge.loader import fingerprint_of, load_knowledge
from advisor.knowledge.yaml_source import Document, finding_at
from advisor.lint.check import Check, Problem, checks_of, judged
from advisor.lint.corpus import Corpus
from advisor.lint.ignores import MARK, apply_ignores
from advisor.lint.options import Options
from advisor.lint.results import load_results, results_key, save_results
from advisor.lint.targets import Target, as_written, place_of
from advisor.records import KINDS, Entry, Fact

_NOT_YET = frozenset({"KB230", "KB302", "KB303", "KB304", "KB310", "KB509"})
"""What is missing around an entry: not reported while the entry is marked unfinished (KB605), or while another one is broken
and might hold what is missed."""

_SHARED = frozenset({"KB300", "KB301", "KB507", "KB508", "KB511"})
"""Codes about several entries together, one of which may lie in a layer below."""


def lint_target(target: Target, options: Options, *, cache: bool = True) -> list[Finding]:
    """All findings of a target, sorted by place. Raises KnowledgeError when a folder or a layer below is unusable."""
    below = [list(read_folder(root)) for root in target.below]
    files = list(read_folder(target.root))
    key = results_key(fingerprint_of([*below, files]), target.root, options)
    findings = load_results(key) if cache else None
    if findings is None:
        findings = lint_files(files, target, options)
        if cache:
            save_results(key, findings)
    return _inside(sorted([*stray_files(target.root), *findings]), target.only)


def replaced_entries(target: Target) -> list[str]:
    """Ids of entries that the target puts in the place of entries below it."""
    ids = (file.id for file in read_folder(target.root)) if target.below else iter(())
    return [
        entry_id for entry_id in ids if any((layer / f"{entry_id}.yaml").is_file() for layer in target.below)
    ]


def lint_files(files: Iterable[EntryFile], target: Target, options: Options) -> list[Finding]:
    """All findings of files that were already read, sorted by place."""
    with _collector_paused():
        return sorted(_Run(target, options).findings(files))


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Entries hold no cycles, and walking all of them again and again for some is a quarter of a large run."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Run:
    """One lint run; holds the plan of checks for each kind."""

    def __init__(self, target: Target, options: Options) -> None:
        self.target = target
        self.options = options
        self.text_checks = {kind: list(checks_of("text", kind)) for kind in KINDS}
        self.entry_checks = {kind: list(checks_of("entry", kind)) for kind in KINDS}
        self.unread: list[str] = []  # texts of the entries that cannot be used

    def findings(self, files: Iterable[EntryFile]) -> Iterator[Finding]:
        entries: dict[str, Entry] = {}
        kept: dict[str, EntryFile] = {}
        broken: set[str] = set()
        found: dict[str, list[Finding]] = {}
        for file in files:
            own, entry = self._check_one(file)
            if entry is None:
                broken.add(file.id)
                self.unread.append(file.text)
            else:
                entries[file.id], kept[file.id] = entry, file
            if own:
                found[file.id] = own
            if MARK in file.text:
                kept.setdefault(file.id, file)
        corpus = self._corpus(entries, kept, broken)
        for entry_id, more in self._across(corpus):
            found.setdefault(entry_id, []).extend(more)
        for entry_id in found.keys() | {i for i, file in kept.items() if MARK in file.text}:
            findings = found.get(entry_id, [])
            if any(finding.code == "KB605" for finding in findings):
                findings = [finding for finding in findings if finding.code not in _NOT_YET]
            text = kept[entry_id].text if entry_id in kept else ""
            path = kept[entry_id].path if entry_id in kept else ""
            yield from _bounded(apply_ignores(findings, text, path))

    def _check_one(self, file: EntryFile) -> tuple[list[Finding], Entry | None]:
        checked = check_file(file)
        findings = checked.findings
        document = checked.document
        if document is None or document.data is None:
            return findings, checked.entry
        for check in self.text_checks[file.kind]:
            findings += [
                _place(code, problem, document)
                for code, problem in islice(judged(check, document, file.id), MAX_FINDINGS_PER_FILE + 1)
            ]
        if checked.entry is not None:
            for check in self.entry_checks[file.kind]:
                findings += [
                    _place(code, problem, document)
                    for code, problem in islice(judged(check, checked.entry), MAX_FINDINGS_PER_FILE + 1)
                ]
        return findings, checked.entry

    def _corpus(self, entries: dict[str, Entry], files: dict[str, EntryFile], broken: set[str]) -> Corpus:
        below: dict[str, Entry] = {}
        if self.target.below:
            below = load_knowledge(self.target.below[1:], base=self.target.below[0]).entries
        union = {**below, **entries}
        kb = KnowledgeBase(union[entry_id] for entry_id in sorted(union))
        linted = {entry_id: file for entry_id, file in files.items() if entry_id in entries}
        return Corpus(
            kb=kb, options=self.options, files=linted, broken=frozenset(broken), base=frozenset(below)
        )

    def _may_be_mended(self, corpus: Corpus, problem: Problem) -> bool:
        """Whether a broken entry might hold what is missed: for a fact that nothing reads, one that at least names it."""
        fact = corpus.kb.entries.get(problem.entry)
        return not isinstance(fact, Fact) or any(fact.name in text for text in self.unread)

    def _across(self, corpus: Corpus) -> Iterator[tuple[str, list[Finding]]]:
        problems: dict[str, list[tuple[Check, Problem]]] = {}
        found = (pair for check in checks_of("corpus") for pair in judged(check, corpus))
        for check, problem in found:
            if corpus.broken and check.code in _NOT_YET and self._may_be_mended(corpus, problem):
                continue
            home = _home(corpus, check, problem)
            if home.entry:
                problems.setdefault(home.entry, []).append((check, home))
        for entry_id, own in problems.items():
            file = corpus.files[entry_id]
            document = Document(path=file.path, text=file.text)
            yield entry_id, [_place(check, problem, document) for check, problem in own]


def _home(corpus: Corpus, check: Check, problem: Problem) -> Problem:
    """The problem at the linted file that it is about; without an entry when it is about none of them.

    What an overlay does to the layers below may be found at an entry there: it is reported at the overlay's entry that the
    message names, or at its first rule.
    """
    if problem.entry in corpus.files:
        return problem
    if check.code == "KB029":
        return replace(problem, entry=next(iter(corpus.files), ""))
    home = ""
    if check.code in _SHARED and corpus.base:
        named = [
            i
            for i in corpus.files
            if i in problem.message or f" {i.partition('/')[2]} " in f" {problem.message} "
        ]
        rules = [entry_id for entry_id in corpus.files if entry_id.startswith("rules/")]
        home = next(iter([*named, *(rules if check.code == "KB508" else [])]), "")
    message = f"with this entry, {problem.entry}: {problem.message}"
    return replace(problem, entry=home, message=message, where=("id",), text="", span=None)


def _place(check: Check, problem: Problem, document: Document) -> Finding:
    span = problem.span or document.span(problem.where, key=problem.at_key)
    if problem.text:
        span = document.narrow(problem.where, problem.text) or span
    return finding_at(document.path, span, check.code, problem.message, fix=problem.fix,
                      severity=problem.severity or check.severity)  # fmt: skip


def _bounded(findings: Sequence[Finding]) -> Sequence[Finding]:
    if len(findings) <= MAX_FINDINGS_PER_FILE:
        return findings
    shown_here = sorted(findings)[: MAX_FINDINGS_PER_FILE - 1]
    rest = len(findings) - len(shown_here)
    last = replace(shown_here[-1], code="KB019", message=f"at least {rest} more findings in this file are not shown",
                   fix="mend the first ones and lint again", severity="error")  # fmt: skip
    return [*shown_here, last]


def _inside(findings: list[Finding], only: Sequence[Path]) -> list[Finding]:
    """Findings inside the paths asked for, or about a folder or link that one of them leads through."""
    if not only:
        return findings
    wanted = [place_of(path) for path in only]
    led_through = {str(folder) for path in only for folder in (as_written(path), *as_written(path).parents)}
    places = {finding.path: place_of(Path(finding.path)) for finding in findings}
    shown = {
        path
        for path, place in places.items()
        if str(as_written(Path(path))) in led_through or any(place.is_relative_to(asked) for asked in wanted)
    }
    return [finding for finding in findings if finding.path in shown]
