"""What an overlay's facts let people type is checked before anybody types it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lint_workbench import Workbench

from advisor.cli.main import build_parser
from advisor.dialogue.lexicon import Lexicon
from advisor.dialogue.understand import understand
from advisor.errors import KnowledgeError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.records import RESERVED_FLAGS

FACT = """\
id: facts/floor-load
title: Floor load
name: floor_load
type: number
unit: kg
question: How many kg may stand on one tile?
ask: decisive
used_by: [reasoning]
"""


def _place(bench: Workbench, fields: str) -> tuple[str, str, str]:
    """Code, the text that the finding points at, and its message, of the one finding of a phrase."""
    path = bench.write("facts/floor-load", FACT + fields)
    (finding,) = [f for f in bench.lint() if f.code in ("KB512", "KB513")]
    line = path.read_text().splitlines()[finding.line - 1]
    return finding.code, line[finding.column - 1 : finding.end_column - 1], finding.message


@pytest.mark.parametrize(
    ("fields", "pointed", "why"),
    [
        ("patterns:\n  - floor {number}\n  - (floor|tile {number}\n", "(floor|tile {number}", "bracket is not closed"),
        ("patterns: ['{number} <tiles>']\n", "'{number} <tiles>'", "no word list <tiles>"),
        ("patterns: ['floor {kilos}']\n", "'floor {kilos}'", "no slot type 'kilos'"),
        ("patterns: ['floor 800']\n", "'floor 800'", "write numbers as slots"),
        ("patterns: [strong floor => plenty]\n", "strong floor => plenty", "not a number"),
        ("patterns: ['(a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) b']\n",
         "'(a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) (a|a a) b'",
         "in more than 4,096 ways"),
        ("words: [floor load, (tile]\n", "(tile", "bracket is not closed"),
    ],
)  # fmt: skip
def test_a_phrase_that_the_chat_cannot_read_is_found_where_it_stands(
    bench: Workbench, fields: str, pointed: str, why: str
) -> None:
    """Line and column of the word or pattern itself, with the reason."""
    code, text, message = _place(bench, fields)
    assert (code, text) == ("KB512", pointed)
    assert why in message
    assert message.startswith("the chat cannot read this: ")


def test_the_word_of_a_choice_is_a_pattern_too(bench: Workbench) -> None:
    """It is compiled like one."""
    fields = "choices:\n  - {value: raised, words: [raised floor]}\n  - {value: slab, words: ['slab ['] }\n"
    path = bench.write(
        "facts/floor",
        FACT.replace("floor-load", "floor").replace("number", "choice").replace("unit: kg\n", "") + fields,
    )
    (finding,) = [f for f in bench.lint() if f.code == "KB512"]
    assert path.read_text().splitlines()[finding.line - 1][finding.column - 1 :].startswith("'slab [']")


def test_what_the_lint_passes_the_chat_can_read(tmp_path: Path) -> None:
    """The same engine compiles both: a phrase that lints clean is understood, one that does not stops the chat."""
    overlay = tmp_path / "ours"
    (overlay / "facts").mkdir(parents=True)
    path = overlay / "facts" / "floor-load.yaml"
    path.write_text(
        FACT + "patterns: ['[the] (floor|tiles) (carry|carries) {number} kg', 'strong floor => 2,000']\n"
    )
    ours = load_knowledge([overlay], cache=False)
    assert understand(ours, "the tiles carry 800 kg").facts["floor_load"].values == (800.0,)
    assert understand(ours, "a strong floor").facts["floor_load"].values == (2000.0,)
    path.write_text(FACT + "patterns: ['(floor']\n")
    with pytest.raises(KnowledgeError, match="not closed"):
        understand(load_knowledge([overlay], cache=False), "the tiles carry 800 kg")


def test_every_shipped_phrase_can_be_read(kb: KnowledgeBase) -> None:
    """None is beyond the bound that the lint sets for everybody's."""
    assert list(Lexicon(kb).unreadable(kb.facts.values())) == []


@pytest.mark.parametrize(
    ("flag", "owner"),
    [("--price", "the command itself"), ("--output", "the command itself"), ("--tile", "facts/a-tile")],
)
def test_a_flag_belongs_to_one_fact(
    bench: Workbench, rackfit: Callable[..., Any], tmp_path: Path, flag: str, owner: str
) -> None:
    """The lint names the owner at the flag; the command says the same in one line instead of failing."""
    bench.write(
        "facts/a-tile",
        FACT.replace("floor-load", "a-tile").replace("floor_load", "a_tile") + "flag: --tile\n",
    )
    code, text, message = _place(bench, f"flag: {flag}\n")
    assert (code, text) == ("KB513", flag)
    assert owner in message
    overlay = tmp_path / "ours"
    (overlay / "facts").mkdir(parents=True)
    for name in ("a-tile", "floor-load"):
        (overlay / "facts" / f"{name}.yaml").write_text(bench.path(f"facts/{name}").read_text())
    ran = rackfit("ask", "--kb", overlay, "--model", "r1")
    assert ran.status == 2
    assert ran.err.startswith("rackfit: facts/")
    assert f"the flag {flag} is that of {owner}" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("command", ["ask", "map"])
def test_the_reserved_flags_are_those_of_the_commands(kb: KnowledgeBase, command: str) -> None:
    """Every option that is no fact's is reserved, so that no overlay can claim it."""
    parser = build_parser(command, [command])
    (commands,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    options = {
        o
        for action in commands.choices[command]._actions
        for o in action.option_strings
        if o.startswith("--")
    }
    assert options - {fact.flag for fact in kb.facts.values()} <= RESERVED_FLAGS
