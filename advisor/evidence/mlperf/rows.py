"""Result rows of the summary files, whatever their shape, as one typed record; what is wrong with a row is a problem."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from advisor.errors import InputError
from advisor.records import Scenario
from advisor.units import shown

MAX_BYTES = 64_000_000
_ROUND = re.compile(r"v[0-9]{1,2}\.[0-9]{1,2}")
_TEXT_LIMIT = 400
_MAX_RATE = 1e12
_MAX_COUNT = 1_000_000
_MANY = 10

# our name -> (field in the list shape of v5.1 and v6.0, field in the object shape of v6.1)
_FIELDS: dict[str, tuple[str, str]] = {
    "submitter": ("Submitter", "Organization"),
    "availability": ("Availability", "Availability"),
    "division": ("Category", "Division"),
    "suite": ("Suite", "SystemType"),
    "system_name": ("System", "SystemName"),
    "platform": ("Platform", "Platform"),
    "used_model": ("UsedModel", "Model"),
    "model": ("Model", "Model"),
    "scenario": ("Scenario", "Scenario"),
    "value": ("Performance_Result", "Result"),
    "units": ("Performance_Units", "Units"),
    "nodes": ("Nodes", "number_of_nodes"),
    "per_node": ("a#", "accelerators_per_node"),
    "total": ("Total Accelerators", "total_accelerators"),
    "accelerator": ("Accelerator", "accelerator_model_name"),
    "software": ("Software", "framework"),
    "weights": ("weight_data_types", "weight_data_types"),
    "version": ("version", "version"),
    "location": ("Location", "Location"),
}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong with one record of a results file."""

    record: str
    message: str

    def one_line(self, file: str) -> str:
        """`file: record ID: message`."""
        return f"{file}: record {self.record}: {self.message}"


def problem_lines(problems: Sequence[Problem], file: str) -> Iterator[str]:
    """A line for each problem; one for all records of which the same is wrong, when they are many."""
    records: dict[str, list[str]] = {}
    for problem in problems:
        records.setdefault(problem.message, []).append(problem.record)
    for message, own in records.items():
        if len(own) > _MANY:
            yield f"{file}: {len(own)} records ({', '.join(own)}): {message}"
        else:
            yield from (Problem(record=record, message=message).one_line(file) for record in own)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row as the file states it; counts are 0 where the file leaves them empty. value: in the units stated."""

    record: str
    round: str
    submitter: str
    availability: Literal["available", "preview", "rdi"]
    division: Literal["closed", "open"]
    suite: str
    system_name: str
    platform: str
    used_model: str
    model: str
    scenario: str
    value: float
    units: str
    nodes: int
    per_node: int
    total: int | None
    accelerator: str
    software: str
    weights: str
    location: str
    power_w: float | None

    @property
    def run_scenario(self) -> Scenario | None:
        """The scenario, when it is one of those that we know."""
        folded = self.scenario.casefold()
        return cast(Scenario, folded) if folded in ("offline", "server", "interactive") else None


class _MalformedError(Exception):
    """A field is missing or holds something else than it should; the text is the message."""


def read_summary(path: Path) -> list[tuple[str, Any]]:
    """(record id, plain data) of every row of a summary file. Raises InputError when it is no such file."""
    try:
        with path.open("rb") as handle:
            raw = handle.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{shown(str(path), 200)} cannot be read: {error.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise InputError(
            f"{shown(str(path), 200)} is larger than {MAX_BYTES:,} bytes; give one round's summary file"
        )
    try:
        data = json.loads(raw.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=float)
    except UnicodeDecodeError:
        raise InputError(f"{shown(str(path), 200)} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{shown(str(path), 200)} is not JSON: {' '.join(str(error).split())[:120]}"
        ) from None
    if isinstance(data, _Pairs):
        return [(str(key)[:80], value) for key, value in data.pairs]
    if isinstance(data, list):
        return [(_record_id(row, index), row) for index, row in enumerate(data)]
    raise InputError(
        f"{shown(str(path), 200)} is neither a list of results nor an object of results keyed by index"
    )


def parse_rows(summary: Sequence[tuple[str, Any]], round_: str = "") -> Iterator[Row | Problem]:
    """Each record as a row, or what is wrong with it. `round_`: the round that every row must belong to."""
    for record, data in summary:
        try:
            yield _row(record, data.as_dict() if isinstance(data, _Pairs) else data, round_)
        except _MalformedError as error:
            yield Problem(record=record, message=str(error))


def _row(record: str, data: Any, round_: str) -> Row:
    if not isinstance(data, dict):
        raise _MalformedError("is not an object of fields")
    shape = 0 if "Performance_Result" in data or "Submitter" in data else 1

    def name(field: str) -> str:
        return _FIELDS[field][shape]

    def text(field: str, *, needed: bool = True) -> str:
        value = data.get(name(field))
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not _clean(value)):
            raise _MalformedError(
                f"field {name(field)} is {'missing' if value is None else shown(repr(value))}; it needs text"
            )
        return _clean(value)[:_TEXT_LIMIT].strip()

    def count(field: str) -> int:
        value = data.get(name(field))
        if value in ("", None):
            return 0
        number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _MAX_COUNT:
            raise _MalformedError(f"field {name(field)} is {shown(repr(value))}; it needs a whole number")
        return number

    version = text("version", needed=False) or round_
    if round_ and version != round_:
        raise _MalformedError(f"belongs to {shown(version)}, not to {round_}")
    if not _ROUND.fullmatch(version):
        raise _MalformedError(
            f"field version is {shown(version)}; it needs a round such as v6.1 (or give --round)"
        )
    value = data.get(name("value"))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _MAX_RATE:
        stated = "missing" if value is None else shown(repr(value))
        raise _MalformedError(
            f"field {name('value')} is {stated}; it needs a number above 0 and up to {_MAX_RATE:g}"
        )
    availability = text("availability").casefold()
    if availability not in ("available", "preview", "rdi"):
        raise _MalformedError(
            f"field {name('availability')} is {shown(availability)}; it needs available, preview or rdi"
        )
    division = text("division").casefold()
    if division not in ("closed", "open"):
        raise _MalformedError(f"field {name('division')} is {shown(division)}; it needs closed or open")
    accelerator = text("accelerator", needed=False)
    accelerator = "" if accelerator == "None" else accelerator
    total = count("total") if data.get(name("total")) is not None else None
    if accelerator and not (total or count("nodes") * count("per_node")):
        raise _MalformedError(
            f"no accelerator count: fields {name('nodes')}, {name('per_node')} and {name('total')} give none"
        )
    if count("nodes") * count("per_node") > _MAX_COUNT:
        raise _MalformedError(
            f"fields {name('nodes')} and {name('per_node')} make more than {_MAX_COUNT:,} accelerators"
        )
    return Row(
        record=record, round=version, submitter=text("submitter"), division=division,  # type: ignore[arg-type]
        availability=availability, suite=text("suite").casefold(),  # type: ignore[arg-type]
        system_name=text("system_name", needed=False), platform=text("platform"), used_model=text("used_model"),
        model=text("model"), scenario=text("scenario"), value=float(value), units=text("units"),
        nodes=count("nodes"), per_node=count("per_node"), total=total,
        accelerator=accelerator, software=text("software", needed=False),
        weights=text("weights", needed=False), location=text("location", needed=False), power_w=_power(data),
    )  # fmt: skip


def _clean(value: str) -> str:
    """One line of printable text: control, bidirectional and zero-width characters become spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in value).split())


def _power(data: dict[str, Any]) -> float | None:
    value = data.get("Power_Result")
    measured = (
        data.get("Power_Units") == "Watts" and isinstance(value, (int, float)) and not isinstance(value, bool)
    )
    return float(value) if measured and value is not None and math.isfinite(value) and value > 0 else None


class _Pairs:
    """A JSON object with its duplicate keys, so that a record that occurs twice is seen."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs

    def as_dict(self) -> dict[str, Any]:
        return dict(self.pairs)


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    return _Pairs(pairs)


def _record_id(row: Any, index: int) -> str:
    data = row.as_dict() if isinstance(row, _Pairs) else {}
    own = data.get("ID")
    return own[:80] if isinstance(own, str) and own.strip() else f"#{index}"
