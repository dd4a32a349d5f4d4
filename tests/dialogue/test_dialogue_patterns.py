"""The phrase patterns in which facts say how people write them."""

from __future__ import annotations

import pytest

from advisor.dialogue.lexicon import Lexicon
from advisor.dialogue.pattern_index import PatternIndex
from advisor.dialogue.patterns import PatternCompiler
from advisor.dialogue.text import tokens_of
from advisor.dialogue.values import read
from advisor.errors import KnowledgeError
from advisor.knowledge import KnowledgeBase

COMPILER = PatternCompiler(
    {"users": ["users", "people"], "fill before": ["about", "of", "at"], "fill after": ["+"]}
)


def matches(pattern: str, line: str) -> bool:
    return COMPILER.compile(pattern, "test").expression.search(COMPILER.line_of(line.split())) is not None


def test_a_word_list_stands_for_any_of_its_words() -> None:
    """`<users>` is one of the list's words, `[…]` may be absent."""
    assert matches("{count} [concurrent] <users>", "# concurrent people")
    assert matches("{count} [concurrent] <users>", "#k users")
    assert not matches("{count} [concurrent] <users>", "# cards")


def test_fillers_may_stand_between_a_cue_and_its_number() -> None:
    """`context of about 32k` is read like `context 32k`."""
    assert matches("context {tokens}", "context of about #k")
    assert not matches("context {tokens}", "context for the 2 users")


def test_a_range_is_never_a_product() -> None:
    """`4-5 H100` are four to five, not four times five."""
    assert not matches("{times} [x] {count} {accelerator}", "# - # A".replace("# - #", "# -- #"))
    found = COMPILER.compile("{times} [x] {count} {accelerator}", "test").expression.search(
        COMPILER.line_of(["#", "-", "#", "A"])
    )
    assert found is None


def test_a_gap_reaches_over_four_words_and_over_no_number() -> None:
    """`context … 32k` allows words in between, never another quantity."""
    assert matches("context ... {tokens}", "context is cut to #k")
    assert not matches("context ... {tokens}", "context a b c d e #k")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("{count} <nobody>", "no word list"),
        ("{gizmo} users", "no slot type"),
        ("(a|b", "not closed"),
        ("8 users", "cannot be a word"),
        ("(a | | b)", "empty"),
        ("x" * 600, "longer than"),
        ("(" * 40 + "a" + ")" * 40, "brackets inside"),
        ("[a] " * 40 + "b", "optional parts"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, problem: str) -> None:
    """An overlay's bad pattern is one clear error, not a surprise at run time."""
    with pytest.raises(KnowledgeError, match=problem):
        COMPILER.compile(pattern, "facts/test")


@pytest.mark.parametrize(
    ("piece", "readings"),
    [
        ("[a]", 2),
        ("(a|a a)", 2),
        ("(a|a a|a a a)", 3),
        ("a ...", 5),
        ("{counts} ,", 7),
        ("[<users>]", 2),
    ],
)
def test_a_pattern_cannot_be_read_in_more_ways_than_a_search_can_try(piece: str, readings: int) -> None:
    """n pieces of k readings each read one line in k to the n ways, all of which a search that fails in the end tries; the most
    that is accepted stays within 4,096, and the next is refused with the reason."""
    most = max(count for count in range(1, 30) if readings**count <= 4096)
    COMPILER.compile(f"{piece} " * most + "zz", "facts/test")
    with pytest.raises(KnowledgeError, match="in more than 4,096 ways"):
        COMPILER.compile(f"{piece} " * (most + 1) + "zz", "facts/test")


def test_all_shipped_patterns_compile(kb: KnowledgeBase) -> None:
    """Every pattern and word of the shipped facts and acts is usable."""
    lexicon = Lexicon(kb)
    assert len(lexicon.patterns) > 100
    assert {act.intent for act in lexicon.acts} == {"size", "compare", "why", "what_if", "define", "other"}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("tokens", "128k", 131072),
        ("tokens", "1M", 1048576),
        ("count", "1k", 1000),
        ("speed", "25", 40),
        ("duration", "2 s", 2000),
        ("duration", "30 ms", 30),
        ("long", "8192", 8192),
    ],
)
def test_a_slot_reads_its_unit(kind: str, text: str, value: float) -> None:
    """Token counts are powers of 1024, loads powers of 1000, speeds become milliseconds."""
    quantity = read(kind, tokens_of(text))
    assert quantity is not None
    assert quantity.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("kind", "text"), [("long", "8000"), ("long", "500"), ("pair", "24"), ("several", "1"), ("tokens", "1b")]
)
def test_a_slot_refuses_what_its_kind_is_not(kind: str, text: str) -> None:
    """A bare `8000` is no context by its look, `24/7` no pair of lengths."""
    assert read(kind, tokens_of(text)) is None


def test_a_pattern_may_end_the_sentence() -> None:
    """`{tokens} in $` reads `16k in` at the end and leaves `16k in fp8` alone."""
    assert matches("{tokens} in [?] $", "no , #k in ?")
    assert not matches("{tokens} in [?] $", "#k in P")


def test_an_entry_of_a_word_list_may_be_alternatives() -> None:
    """`(tok|token) (/|per) s` stands for four spellings and counts as one word."""
    compiler = PatternCompiler({"rate": ["(tok|token) (/|per) s", "tps"]})
    pattern = compiler.compile("{count} <rate>", "test")
    assert pattern.weight == 1
    for words in ("# tok / s", "# token per s", "# tps"):
        assert pattern.expression.search(compiler.line_of(words.split()))


def test_an_index_offers_every_pattern_that_may_match_and_none_that_cannot() -> None:
    """Looking a line up by its words leaves out only patterns that need another word."""
    patterns = [COMPILER.compile(source, "test") for source in ("{count} <users>", "undo", "{tokens}")]
    index = PatternIndex(patterns)
    assert [p.source for p in index.possible({"#", "people"})] == ["{count} <users>", "{tokens}"]
    assert [p.source for p in index.possible({"undo"})] == ["undo"]


@pytest.mark.parametrize(
    "lists",
    [{"a": ["x", "(<a>|y)"]}, {"a": ["(<b>|x)"], "b": ["[x] y", "(y|<a>)"]}],
    ids=["itself", "one another"],
)
def test_a_word_list_that_names_itself_is_refused(lists: dict[str, list[str]]) -> None:
    """There is no end to its words, however long the way round."""
    with pytest.raises(KnowledgeError, match="the word list <a> names itself"):
        PatternCompiler(lists).compile("<a> {count}", "test")


def test_word_lists_that_multiply_are_refused_before_they_do() -> None:
    """Eight lists, each forty times the one before: more words than any memory holds, and refused at the third."""
    lists = {"a": ["word"]}
    for name, before in zip("bcdefgh", "abcdefg", strict=True):
        lists[name] = ["(" + " ".join([f"<{before}>"] * 40) + ")"]
    with pytest.raises(KnowledgeError, match=r"^test: .*more than 200,000 characters"):
        PatternCompiler(lists).compile("<h> {count}", "test")
    assert PatternCompiler(lists).compile("<b> {count}", "test").regex.count("word") == 40


def test_all_patterns_together_have_a_bound() -> None:
    """One pattern within its own bound is read, many of them are not: a line is searched for every one."""
    compiler = PatternCompiler({})
    sources = [f"... ... ... ... ... go {'on ' * number}" for number in range(30)]
    assert len([compiler.compile(source, "test") for source in sources[:20]]) == 20
    with pytest.raises(KnowledgeError, match="by all patterns together"):
        [compiler.compile(source, "test") for source in sources[20:]]
