"""What a schema violation is called: the field, its value, what may stand there; and that the verdict is the reference's."""

from __future__ import annotations

import copy
import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from advisor.knowledge.locate import kb_folder
from advisor.knowledge.schema import check_data, check_document, load_schemas
from advisor.knowledge.yaml_source import parse_document
from advisor.records import SCHEMA_NAMES

GOTCHA: dict[str, Any] = {
    "id": "gotchas/example",
    "title": "An example",
    "concepts": ["concepts/example"],
    "symptom": "Something is slow.",
    "root_cause": "It is wide.",
    "workaround": "Use fewer.",
}


def _said(**changes: Any) -> list[str]:
    data = {key: value for key, value in {**GOTCHA, **changes}.items() if value is not ...}
    document = parse_document(json.dumps(data), "x.yaml")
    return [
        f"{finding.code} {finding.message}; {finding.fix}" for finding in check_document(document, "gotchas")
    ]


CASES = [
    ({"root_couse": "x"}, "KB101 unknown field 'root_couse'; did you mean `root_cause`?"),
    ({"symptom": ...}, "KB102 field `symptom` is missing; add `symptom:`"),
    ({"title": 12}, "KB103 `title` must be text, not the number 12; write it in quotes"),
    ({"concepts": "concepts/example"}, "KB103 `concepts` must be a list, not the text 'concepts/example'; write [concepts/example]"),
    ({"symptom": None}, "KB103 `symptom` must be text, not empty; give it a value or delete the line"),
    ({"severity": "warn"}, "KB104 `severity` is 'warn'; did you mean warning? one of: info, warning, critical"),
    ({"title": "ab"}, "KB106 `title` has 2 characters; at least 3"),
    ({"sources": ["sources/a", "sources/b", "sources/a"]}, "KB107 `sources`: 'sources/a' is listed twice; keep one of them"),
    ({"applies_when": {"fact": "x", "abov": 3}}, "KB101 unknown field 'abov' in `applies_when`; did you mean `above`?"),
    ({"applies_when": {"all": [{"fact": "x", "is": 1}], "any": []}}, "KB108 `applies_when` needs exactly one of all, any, none, fact; it has all and any"),
    ({"applies_when": {}}, "it has none of them"),
    ({"applies_when": {"fact": "x", "below": 9, "above": 3}}, "KB108 `applies_when`: `fact` takes one of above, below; write a part for each: `all: [{fact: …, above: …}, {fact: …, below: …}]`"),
    ({"applies_when": {"fact": "x"}}, "KB108 `applies_when`: `fact` has nothing beside it; add one of is, in, above, at_least, below, at_most, known, stated"),
    ({"applies_when": {"all": [{"fact": "x", "is": 1}], "below": 3}}, "KB108 `applies_when`: `all` stands alone, not beside below; move below into a part of it"),
    ({"claims": [{"txt": "5"}]}, "KB101 unknown field 'txt' in `claims[0]`; did you mean `text`?"),
    ({"claims": [{"expression": "5"}]}, "KB102 field `text` is missing in `claims[0]`; add `text:`"),
    ({"sources": 5}, "KB103 `sources` must be a list, not the number 5; write [5], or one `- ` line for each item"),
    ({"concepts": ["concepts/a - concepts/b"]}, "a line below begins with `- ` and is indented deeper, so it continues this item"),
    ({"applies_when": {"fact": "Tpot-MS", "below": 3}}, "KB105 `applies_when.fact`: 'Tpot-MS' is not written as it must be; write tpot_ms; Name of a fact"),
    ({"applies_when": {"fact": "x", "below": "3"}}, "KB103 `applies_when.below` must be a number, not the text '3'; write it without quotes"),
    ({"applies_when": {"fact": "x", "below": "15ms"}}, "fits none of the allowed shapes: '15ms'; Strictly less: a number in the fact's unit, the same with the unit behind a space (`15 ms`)"),
    ({"concepts": []}, "KB106 `concepts` has 0 items; at least 1"),
    ({"title": "x"}, "KB106 `title` has 1 character; at least 3"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), CASES, ids=[expected[:30] for _, expected in CASES])
def test_violations_speak_of_the_field(changes: dict[str, Any], expected: str) -> None:
    """The author reads which field is wrong, what it holds and what would be right, and nothing about JSON Schema."""
    said = _said(**changes)
    assert any(expected in line for line in said), said
    assert not any(
        word in " ".join(said) for word in ("oneOf", "anyOf", "additionalProperties", "schemas listed")
    )


def test_a_valid_document_has_no_violations() -> None:
    """What the schema allows is not remarked upon."""
    assert _said() == []


def test_violations_of_any_schema_can_be_listed() -> None:
    """Reports too are checked, by schema name."""
    assert check_data("source", {"id": "sources/x", "title": "A source"}) == [
        ((), "field `publisher` is missing")
    ]


def test_messages_are_bounded_whatever_the_value() -> None:
    """A hostile value does not fill the terminal: at most a hundred findings, each short."""
    said = _said(concepts=[{"a" * 900: "b" * 5000}] * 500, **{"k" * 900: 1})
    assert 0 < len(said) <= 100
    assert all(len(line) < 1200 for line in said)


@lru_cache(maxsize=16)
def _reference(name: str) -> Any:
    schemas = load_schemas()
    registry: Any = Registry().with_resources((s["$id"], Resource.from_contents(s)) for s in schemas.values())
    return Draft202012Validator(schemas[name], registry=registry)


def _sample(kind: str) -> list[Path]:
    return sorted((kb_folder() / kind).rglob("*.yaml"))[::7][:12]


def _spoil(value: Any, chance: random.Random) -> Any:
    """The value with one thing in it changed."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(sorted(value))
        changed = {**value}
        match chance.randrange(4):
            case 0:
                del changed[key]
            case 1:
                changed[key + "x"] = changed[key]
            case _:
                changed[key] = _spoil(value[key], chance)
        return changed
    if isinstance(value, list) and value and chance.random() < 0.8:
        index = chance.randrange(len(value))
        return [*value[:index], _spoil(value[index], chance), *value[index + 1 :]]
    return chance.choice(
        [None, "", "x" * 200, 0, -1, 1.5, True, [], {}, ["a", "a"], {"fact": "x"}, "sources/x", "2026-13-99"]
    )


@pytest.mark.parametrize("kind", [kind for kind in SCHEMA_NAMES if kind != "calibration"])
def test_verdicts_agree_with_the_reference_validator(kind: str) -> None:
    """On shipped entries and on entries spoilt at random, the fast validator says what the reference implementation says."""
    chance = random.Random(11)
    name = SCHEMA_NAMES[kind]
    for path in _sample(kind):
        data = parse_document(path.read_text("utf-8"), str(path)).data
        assert _reference(name).is_valid(data) == (check_data(name, data) == [])
        for _ in range(25):
            spoilt = _spoil(copy.deepcopy(data), chance)
            if isinstance(spoilt, dict):
                assert _reference(name).is_valid(spoilt) == (check_data(name, spoilt) == []), spoilt
