"""KB601 and KB610-KB616: dates that are real and recent, rounds that are not superseded, addresses that open."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from advisor.lint.check import Problem, corpus_check, entry_check
from advisor.lint.corpus import Corpus
from advisor.records import Evidence, Gotcha, Source
from advisor.units import shown

_ROUND = re.compile(r"v(\d{1,4})\.(\d{1,4})")
_DATES = {
    "gotchas": ("reviewed",),
    "sources": ("retrieved",),
    "calibration": ("fitted",),
}


def _date(text: str) -> datetime.date | None:
    """The day of `2026-11-30`, or the last day that `2026-11` and `2026` may mean; None when it is none."""
    parts = text.split("-")
    try:
        numbers = [int(part) for part in parts]
        if len(numbers) == 3:
            return datetime.date(*numbers)
        if len(numbers) == 2:
            following = datetime.date(numbers[0] + numbers[1] // 12, numbers[1] % 12 + 1, 1)
            return following - datetime.timedelta(days=1)
        return datetime.date(numbers[0], 12, 31) if len(numbers) == 1 and 1990 <= numbers[0] <= 2999 else None
    except (ValueError, OverflowError):
        return None


@corpus_check("KB601", "stale-review", "warning")
def stale_review(corpus: Corpus) -> Iterator[Problem]:
    """A gotcha was last reviewed longer ago than the limit.

    ## What it does
    Compares `reviewed` with today. The limit is `review-days` in the configuration, 365 unless set.

    ## Why is this bad?
    Software and rounds move fast: last year's advice may describe a fault that is mended.

    ## Example
    ```yaml
    reviewed: "2020-01-01"
    ```

    ## Use instead
    ```yaml
    reviewed: "2026-11-01"
    ```

    ## How to fix
    Read the entry against the newest evidence, correct it, and write the day. Do not write the day without reading.
    """
    today, limit = corpus.options.today, corpus.options.review_days
    for gotcha in corpus.mine(corpus.kb.gotchas):
        day = _date(gotcha.reviewed)
        if day is not None and (today - day).days > limit:
            yield Problem(entry=gotcha.id, where=("reviewed",), message=f"last reviewed {(today - day).days} days ago; at most {limit}",
                          fix="read it against the newest evidence, then write the day")  # fmt: skip


@entry_check("KB610", "never-reviewed", "warning", "gotchas")
def never_reviewed(entry: Gotcha) -> Iterator[Problem]:
    """A gotcha that does not say when it was last reviewed.

    ## What it does
    Reports gotchas without `reviewed`.

    ## Why is this bad?
    Readers cannot tell whether the advice is of this year, and nothing reminds anyone to look again.

    ## Example
    ```yaml
    # no reviewed
    ```

    ## Use instead
    ```yaml
    reviewed: "2026-11-01"
    ```

    ## How to fix
    Add the day on which somebody last checked the entry against its sources.
    """
    if not entry.reviewed.strip():
        yield Problem(
            where=("reviewed",),
            message="the entry does not say when it was reviewed",
            fix="add reviewed: and the day",
        )


@corpus_check("KB611", "impossible-date", "error")
def impossible_date(corpus: Corpus) -> Iterator[Problem]:
    """A date that the calendar does not have, or that has not come yet.

    ## What it does
    Reads `reviewed`, `retrieved`, `fitted` and the dates of prices.

    ## Why is this bad?
    A date in the future never becomes stale.

    ## Example
    ```yaml
    reviewed: "2026-02-30"
    ```

    ## Use instead
    ```yaml
    reviewed: "2026-11-01"
    ```

    ## How to fix
    Write the day as year-month-day.
    """
    latest = corpus.options.today + datetime.timedelta(days=1)
    for entry in corpus.mine(corpus.kb.entries):
        dated = [((field,), getattr(entry, field)) for field in _DATES.get(entry.kind, ())]
        for where, text in [*dated, *_price_dates(entry)]:
            if not text:
                continue
            day = _date(text)
            if day is None:
                yield Problem(
                    entry=entry.id,
                    where=where,
                    message=f"{shown(text)} is no date",
                    fix="write year-month-day",
                )
            elif day > latest and not (text.count("-") < 2 and text <= latest.isoformat()):
                yield Problem(
                    entry=entry.id,
                    where=where,
                    message=f"{shown(text)} has not come yet",
                    fix="write the day it was",
                )


def _price_dates(entry: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for index, price in enumerate(getattr(entry, "prices", ())):
        yield ("prices", index, "date"), price.date


@corpus_check("KB612", "stale-price", "info")
def stale_price(corpus: Corpus) -> Iterator[Problem]:
    """A price seen longer ago than the limit.

    ## What it does
    Compares the `date` of each price with today. The limit is `price-days` in the configuration, 270 unless set.

    ## Why is this bad?
    Rental prices moved by half within a year. A verdict that turns on cost should not turn on last year's.

    ## Example
    ```yaml
    # systems/example.yaml
    prices:
      - {usd_per_accelerator_hour: 3, seller: Example, basis: on demand, date: "2020-01-01"}
    ```

    ## Use instead
    ```yaml
    # systems/example.yaml
    prices:
      - {usd_per_accelerator_hour: 3, seller: Example, basis: on demand, date: "2026-11-01"}
    ```

    ## How to fix
    Look the price up again and add it with its day; keep the old one only where the history matters.
    """
    today, limit = corpus.options.today, corpus.options.price_days
    for system in corpus.mine(corpus.kb.systems):
        for index, price in enumerate(system.prices):
            day = _date(price.date)
            if day is not None and (today - day).days > limit:
                yield Problem(entry=system.id, where=("prices", index, "date"),
                              message=f"seen {(today - day).days} days ago; at most {limit}",
                              fix="look the price up again")  # fmt: skip


@corpus_check("KB613", "superseded-round", "info")
def superseded_round(corpus: Corpus) -> Iterator[Problem]:
    """A claim rests on an old round although the same run was submitted again.

    ## What it does
    For each evidence input of a claim looks for the same submitter, accelerator, number of accelerators, benchmark and
    scenario in a later round.

    ## Why is this bad?
    Software gains between rounds are larger than many of the effects that gotchas are about.

    ## Example
    ```text
    claim over evidence/mlperf-v5.1/nvidia/…, where mlperf-v6.1 has the same run
    ```

    ## Use instead
    ```text
    claim over evidence/mlperf-v6.1/nvidia/…
    ```

    ## How to fix
    Compute the claim from the newest round, or say in `since` for which rounds the gotcha holds.
    """
    newest = _newest_rounds(corpus)
    for gotcha in corpus.mine(corpus.kb.gotchas):
        if gotcha.since:
            continue
        for index, claim in enumerate(gotcha.claims):
            for name, reference in claim.inputs.items():
                entry_id, _, run = reference.partition("#")
                entry = corpus.kb.evidence.get(entry_id)
                later = newest.get((*_system(entry), run)) if entry else None
                if entry and later and _round(entry.round) < _round(later):
                    yield Problem(entry=gotcha.id, where=("claims", index, "inputs", name),
                                  message=f"{entry.round} is superseded: the same run is in {later}",
                                  fix="compute it from the newer round, or say in since for which rounds it holds")  # fmt: skip


def _newest_rounds(corpus: Corpus) -> dict[tuple[object, ...], str]:
    newest: dict[tuple[object, ...], str] = {}
    for entry in corpus.kb.evidence.values():
        for result in entry.results:
            key = (*_system(entry), f"{result.benchmark}/{result.scenario}")
            newest[key] = max(newest.get(key, ""), entry.round, key=_round)
    return newest


def _system(entry: Evidence) -> tuple[object, ...]:
    return (entry.submitter, entry.accelerator, entry.scale.accelerators)


def _round(name: str) -> tuple[int, int]:
    match = _ROUND.fullmatch(name)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


@entry_check("KB614", "source-address", "error", "sources")
def source_address(entry: Source) -> Iterator[Problem]:
    """The address of a source is not one that a reader can open.

    ## What it does
    Expects `https://` or `http://` with a host, without a user name.

    ## Why is this bad?
    A source that cannot be opened cannot be checked; other schemes can do more than open a page.

    ## Example
    ```yaml
    # sources/example.yaml
    url: https://user@example.org/page
    ```

    ## Use instead
    ```yaml
    # sources/example.yaml
    url: https://example.org/page
    ```

    ## How to fix
    Write the whole address; leave `url` out when there is none.
    """
    if not entry.url:
        return
    try:
        parts = urlsplit(entry.url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good or any(character.isspace() for character in entry.url):
        yield Problem(
            where=("url",),
            message=f"{shown(entry.url, 80)} is no web address",
            fix="write https:// and the whole address",
        )


@entry_check("KB615", "source-undated", "warning", "sources")
def source_undated(entry: Source) -> Iterator[Problem]:
    """A source with an address and no day on which it was read.

    ## What it does
    Reports sources with `url` and without `retrieved`.

    ## Why is this bad?
    Pages change. Without the day nobody can find the version that was cited.

    ## Example
    ```yaml
    # sources/example.yaml
    url: https://example.org/page
    # no retrieved
    ```

    ## Use instead
    ```yaml
    # sources/example.yaml
    url: https://example.org/page
    retrieved: "2026-11-01"
    ```

    ## How to fix
    Add `retrieved` with the day the page was read.
    """
    if entry.url and not entry.retrieved:
        yield Problem(
            where=("url",),
            message="the source does not say when it was read",
            fix="add retrieved: and the day",
        )
