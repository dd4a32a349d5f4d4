"""Hostile text in every view: what would command a terminal or a browser is shown, never obeyed."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.dom.minidom import parseString

import pytest
from hostile_text import FORBIDDEN, MARK, PAYLOADS, poisoned_base
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.knowledge import KnowledgeBase
from advisor.visible import encodable, inert, one_line, visible

HIDDEN = " ".join(
    PAYLOADS[name] for name in ("csi", "osc", "c1", "bidi", "zero-width", "tags", "separators", "nul")
)
MARKUP = " ".join(PAYLOADS[name] for name in ("rich", "html", "markdown", "dot", "table", "percent"))
BASES = {"hidden": HIDDEN, "markup": MARKUP, "lines": PAYLOADS["lines"], "start": PAYLOADS["start-fence"]}

ASK = ("ask", "--model", "models/deepseek-r1", "--tpot-ms", "15", "--no-flips", "--explain")
SHOWN = (
    "concepts/kv-cache", "gotchas/bench-288-gpus-are-four-domains", "models/deepseek-r1", "accelerators/gb300", "systems/a100-node",
    "rules/acquisition-not-for-rent", "facts/context-tokens", "sources/mlperf-v6.0", "engines/vllm",
)  # fmt: skip
VIEWS: list[tuple[str, ...]] = [
    *((*ASK, "--format", form) for form in ("text", "json", "markdown", "html")),
    *(("show", entry, "--format", form) for entry in SHOWN for form in ("text", "markdown", "json")),
    *(("search", f"{MARK} kv", "--format", form) for form in ("text", "json")),
    *(("graph", "concepts/kv-cache", "--format", form) for form in ("text", "json", "dot", "svg")),
    *(
        ("compare", "--model", "deepseek-r1", "--round", "v6.1", "--format", form)
        for form in ("text", "json", "csv")
    ),
    *(
        ("map", "--model", "models/llama-2-70b", "--steps", "3", "--format", form)
        for form in ("text", "json", "svg")
    ),
    *(
        ("estimate", "--model", "models/llama-2-70b", "--accelerator", "h100", "--tp", "8", "--format", form)
        for form in ("text", "json")
    ),
]
SILENT = {("map", "json"), ("compare", "json")}
"""Views that may show none of the poisoned text: figures and ids only."""


@pytest.fixture(scope="module", params=BASES)
def hostile(request: pytest.FixtureRequest, kb: KnowledgeBase) -> KnowledgeBase:
    """The shipped knowledge base with one payload in every text."""
    return poisoned_base(kb, BASES[request.param])


@pytest.fixture
def over_hostile(hostile: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """Commands find the hostile knowledge base in the place of the shipped one."""
    for module in ("advisor.cli.common", "advisor.cli.requirement"):
        __import__(module)
        monkeypatch.setattr(f"{module}.load_knowledge", lambda *_, **__: hostile)
    return hostile


class _Page(HTMLParser):
    """Tags, their attributes and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check_html(text: str) -> None:
    page = _Page()
    page.feed(text)
    names = {tag for tag, _ in page.tags}
    assert names <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th",
        "td", "strong", "em", "code", "pre", "a",
    }  # fmt: skip
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert (attributes.get("href") or "https://").startswith(("https://", "http://"))
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    headings = re.findall(r"<h[1-6]>(.*?)</h[1-6]>", text, re.DOTALL)
    assert not any(heading.startswith("Verdict:") for heading in headings), headings


@pytest.mark.parametrize("view", VIEWS, ids=[f"{view[0]}-{view[1][:30]}-{view[-1]}" for view in VIEWS])
def test_every_view_shows_hostile_text_as_text(
    view: tuple[str, ...], over_hostile: KnowledgeBase, rackfit: Callable[..., Any]
) -> None:
    """No hidden character comes through, documents stay well-formed, and nothing injected becomes structure."""
    ran = rackfit(*view)
    assert ran.status in (0, 1), ran.err
    assert not FORBIDDEN.search(ran.out), FORBIDDEN.search(ran.out)
    assert not FORBIDDEN.search(ran.err)
    form = view[-1]
    assert MARK in ran.out or (view[0], form) in SILENT
    if form == "json":
        json.loads(ran.out)
    elif form == "svg":
        names = {node.nodeName for node in parseString(ran.out).getElementsByTagName("*")}
        assert names <= {"svg", "rect", "line", "circle", "text", "title"}
    elif form == "html":
        check_html(ran.out)
    elif form == "markdown":
        assert not re.search(r"(?m)^#+ Verdict", ran.out)
        assert not re.search(r"(?m)^ {0,3}(~~~|---\s*$|\| a \| b)", ran.out)
    elif form == "dot":
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', ran.out)) % 2 == 0


def test_files_hold_no_more_than_the_screen(
    over_hostile: KnowledgeBase, rackfit: Callable[..., Any], tmp_path: Path
) -> None:
    """`--output` writes the same escaped text: `cat` of a report is as safe as the report on screen."""
    for form in ("text", "json", "markdown", "html"):
        target = tmp_path / f"answer.{form}"
        assert rackfit(*ASK, "--format", form, "--output", target).status in (0, 1)
        assert not FORBIDDEN.search(target.read_text())


@pytest.mark.usefixtures("over_hostile")
def test_the_plain_chat_shows_hostile_text_as_text(
    rackfit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user types comes back escaped, and so does everything the knowledge base says."""
    said = [
        "deepseek r1 at 15 ms",
        HIDDEN,
        MARKUP,
        "why",
        "explain kv cache",
        "facts",
        "what if 64k",
        f"call me {PAYLOADS['surrogate']}",
    ]
    monkeypatch.setattr(
        sys, "stdin", io.StringIO("".join(f"{line}\n" for text in said for line in text.split("\n")))
    )
    ran = rackfit("chat", "--plain")
    assert ran.status == 0, ran.err
    assert not FORBIDDEN.search(ran.out)
    assert not FORBIDDEN.search(ran.err)
    assert MARK in ran.out
    assert not re.search(r"(?m)^Verdict: rack\n=+$", ran.out), "a text of an entry became a heading"


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "github", "junit"])
@pytest.mark.parametrize("name", ["csi", "bidi", "nul", "surrogate", "percent", "separators"])
def test_lint_reports_escape_paths_and_excerpts(
    form: str, name: str, tmp_path: Path, rackfit: Callable[..., Any]
) -> None:
    """A file name and a line that hold escapes are reported without them, and no annotation of a CI can be forged."""
    stem = re.sub(r"[/\x00\ud800]", "", PAYLOADS[name])
    folder = tmp_path / "kb" / "concepts"
    folder.mkdir(parents=True)
    (folder / f"{stem}.yaml").write_bytes(
        f"id: concepts/x\ntitle: {PAYLOADS[name]}\n".encode(
            "utf-8", "surrogateescape" if name == "surrogate" else "strict"
        )
        if name != "surrogate"
        else b"id: concepts/x\ntitle: \xff\n"
    )
    ran = rackfit("lint", tmp_path / "kb", "--format", form, "--no-config")
    assert ran.status == 1
    assert not FORBIDDEN.search(ran.out)
    assert not FORBIDDEN.search(ran.err)
    if form in ("json", "sarif"):
        json.loads(ran.out)
    if form == "github":
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in ran.out.splitlines())


@pytest.mark.parametrize("name", sorted(PAYLOADS))
def test_arguments_are_shown_escaped(name: str, rackfit: Callable[..., Any]) -> None:
    """A flag, a command, an id and a path that hold escapes are named in an error of one clean line."""
    payload = PAYLOADS[name].replace("\x00", "")
    for arguments in ((payload,), ("show", payload), ("schema", payload), ("explain", payload), ("ask", "--model", payload),
                      ("ask", "--config", payload), ("ask", f"--{payload}"), ("graph", payload), ("search", "--kind", payload, "x"),
                      ("show", "x", "--kb", payload), ("lint", payload), ("estimate", "--batch", payload)):  # fmt: skip
        ran = rackfit(*arguments)
        assert ran.status in (1, 2), (arguments, ran)
        assert not FORBIDDEN.search(ran.out + ran.err), arguments
        assert ran.err.splitlines()[-1].startswith("rackfit: "), (arguments, ran.err)


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\u202e", "\u200b", "\x00", "\x7f", "\x9b", "\u2028", "\xad", "\U000e0041", "\ufeff"],
)
@pytest.mark.parametrize("form", ['"{}"', "[{}]", '["{}"]'])
def test_entries_may_not_hide_characters_in_escapes(character: str, form: str) -> None:
    """An escape in double quotes is refused like the character itself, with its place."""
    from advisor.knowledge.yaml_source import parse_document

    escaped = form.format(f"x\\U{ord(character):08x}")
    codes = [finding.code for finding in parse_document(f"a: {escaped}\n", "f.yaml").findings]
    assert codes == (["KB015"] if '"' in form else [])
    plain = [
        finding.code for finding in parse_document(f"a: {form.format('x' + character)}\n", "f.yaml").findings
    ]
    assert plain == ["KB015"]


anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@settings(derandomize=True, max_examples=300)
@given(anything)
def test_visible_text_has_nothing_hidden_and_keeps_what_can_be_seen(text: str) -> None:
    """Applying it twice changes nothing; printable text stays as it is; a JSON text stays the same JSON."""
    shown = visible(text)
    assert not FORBIDDEN.search(shown)
    assert visible(shown) == shown
    assert shown == text or not text.isprintable()
    document = json.dumps([text], ensure_ascii=False)
    assert json.loads(visible(document)) == [text]
    assert json.loads(encodable(visible(document), "ascii")) == [text]


@settings(derandomize=True, max_examples=300)
@given(anything)
def test_inert_text_is_one_paragraph_that_reads_like_the_data(text: str) -> None:
    """Rendered as Markdown, data gives exactly its own words: no markup, no entity, no second block."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(f"{inert(text)}\n")
    if not one_line(text):
        assert tokens == []
        return
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == one_line(text)


def test_links_of_html_are_web_links_only() -> None:
    """Of our own Markdown links, only http and https become links."""
    from advisor.report.html import render_html

    for address, kept in (("https://a.example", True), ("http://a.example", True), ("javascript:alert(1)", False),
                          ("data:text/html,x", False), ("file:///etc/passwd", False), ("JaVaScRiPt:x", False), ("//a.example", False)):  # fmt: skip
        assert ("href" in render_html(f"[a]({address})", "t")) is kept, address


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def test_a_spreadsheet_gets_no_formula(
    kb: KnowledgeBase, rackfit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submitter called `=cmd()` is text in the CSV form."""
    import csv

    hostile = poisoned_base(kb, "=HYPERLINK(1)")
    monkeypatch.setattr("advisor.cli.common.load_knowledge", lambda *_, **__: hostile)
    rows = list(csv.reader(io.StringIO(rackfit("compare", "--round", "v6.1", "--format", "csv").out)))
    assert len(rows) > 2
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
