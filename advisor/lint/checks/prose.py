"""KB600-KB609: prose that a reader can act on, with names spelt as their owners spell them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from advisor.knowledge.yaml_source import Document
from advisor.lint.check import Problem, corpus_check, entry_check, fixer, text_check
from advisor.lint.corpus import Corpus
from advisor.lint.edits import line_range, replaced
from advisor.lint.words import HOLLOW, IMPERATIVES, PRODUCT_NAMES
from advisor.records import Concept, Entry, Gotcha
from advisor.units import shown

_MIN_CONTENT_WORDS = 8
_CLAUSE_START = re.compile(
    r"(?:^|[.;:,!?()—–]\s+|\b(?:then|and|or|otherwise|instead|first|also|so|but|either|always|only)\s+)([a-z]+)"
)
_WORD = re.compile(r"(?<![\w/.@`#-])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*(?![\w/@`])")
_CODE = re.compile(r"`[^`\n]{0,200}`|https?://\S{1,300}")
_PLACEHOLDER = re.compile(r"\b(?:TODO|FIXME|XXX|TBD)\b|\blorem ipsum\b", re.IGNORECASE)
_PLACEHOLDER_HINTS = ("todo", "fixme", "xxx", "tbd", "lorem")
_PUNCTUATION = ".,;:!?()[]{}\"'“”‘’—–…*"
_MIN_PLAIN_WORDS = 4
"""Of advice without a hollow phrase: `Set NCCL_P2P_LEVEL to NVL` is short and says all."""
_FOLD_BEYOND = 140
_FOLD_WIDTH = 110
_RIGHT_WORDS: set[str] = set()
_MAX_REMEMBERED_WORDS = 50_000
_MAX_HOLLOW_WORDS = 40
"""A text with more words than this says something, whatever phrases are in it."""
_OUR_PLACEHOLDER = re.compile(r"\bTODO(?=[:,])|(?<=# )TODO\b")
_ASKED_FOR = re.compile(r"[:,] ([^\n]{1,120})")
_QUOTING_KINDS = ("evidence/", "calibration/")
_PROSE_FIELDS = ("title", "summary", "body", "symptom", "root_cause", "workaround", "notes", "reason", "note")
_LONG_LINE_KINDS = ("gotchas", "concepts")


@entry_check("KB600", "empty-advice", "warning", "gotchas")
def empty_advice(entry: Gotcha) -> Iterator[Problem]:
    """The workaround says nothing that a reader can do.

    ## What it does
    Takes out phrases such as "it depends", "be careful" and "test thoroughly" and counts what is left.

    ## Why is this bad?
    Somebody with the problem reads this field first, and only this field may be shown.

    ## Example
    ```yaml
    workaround: It depends on the workload, so be careful and test thoroughly.
    ```

    ## Use instead
    ```yaml
    workaround: Divide the quoted rate by the number of GPUs, and compare it with the eight-GPU slice of the same round.
    ```

    ## How to fix
    Say what to do, with what threshold, and how to tell that it worked.
    """
    if len(entry.workaround.split()) > _MAX_HOLLOW_WORDS:
        return
    rest, hollow = HOLLOW.subn(" ", entry.workaround.lower())
    if len(re.findall(r"[a-z0-9]{3,}", rest)) < (_MIN_CONTENT_WORDS if hollow else _MIN_PLAIN_WORDS):
        yield Problem(where=("workaround",), message="the workaround says nothing that a reader can do",
                      fix="say what to do, at which threshold, and how to tell that it worked")  # fmt: skip


@entry_check("KB602", "no-imperative", "warning", "gotchas")
def no_imperative(entry: Gotcha) -> Iterator[Problem]:
    """No sentence of the workaround tells the reader to do something.

    ## What it does
    Looks for a verb in the imperative at the start of a sentence or clause: use, set, divide, prefer, measure, avoid …

    ## Why is this bad?
    A workaround that only explains is a second root cause.

    ## Example
    ```yaml
    workaround: The number of GPUs in the rack is what the quoted figure has to be seen against, which is often forgotten.
    ```

    ## Use instead
    ```yaml
    workaround: Divide the quoted figure by the number of GPUs in the rack before you compare it with a node.
    ```

    ## How to fix
    Begin a sentence with what to do. If nothing can be done, say what to choose instead.
    """
    words = _CLAUSE_START.findall(" ".join(entry.workaround.split()).lower())
    if not IMPERATIVES.intersection(words):
        yield Problem(where=("workaround",), message="no sentence tells the reader to do something",
                      fix="begin one with a verb: use, set, divide, prefer, measure …")  # fmt: skip


@corpus_check("KB603", "long-line", "info")
def long_line(corpus: Corpus) -> Iterator[Problem]:
    """A line of prose longer than the limit.

    ## What it does
    Measures the lines of gotchas and concepts; lines without a space in their second half (addresses, ids) and lists in
    brackets pass. The limit is `line-length` in the configuration, 140 unless set.

    ## Why is this bad?
    A diff of a long line shows that something changed and not what.

    ## Example
    ```yaml
    symptom: This symptom is written on a single line that goes on and on and on, well past the edge of every editor window and of every review page that people use.
    ```

    ## Use instead
    ```yaml
    symptom: >-
      This symptom is folded into lines of a moderate length,
      which a reviewer can read side by side.
    ```

    ## How to fix
    Write `>-` behind the key and fold the text onto indented lines below it. `rackfit lint --fix` does where the text is one
    paragraph without a comment behind it.
    """
    limit = corpus.options.line_length
    for entry_id, file in corpus.files.items():
        if not entry_id.startswith(_LONG_LINE_KINDS) or max(map(len, file.text.split("\n"))) <= limit:
            continue
        offset = 0
        for number, line in enumerate(file.text.split("\n"), 1):
            if len(line) > limit and " " in line[limit // 2 :] and not line.rstrip().endswith(("]", "}")):
                span = Document(path=file.path, text=file.text).span_at(offset + limit, offset + len(line))
                yield Problem(entry=entry_id, span=span, message=f"line {number} has {len(line)} characters; at most {limit}",
                              fix="fold it with >- over several lines")  # fmt: skip
            offset += len(line) + 1


@fixer("KB603")
def fold_long_lines(document: Document, entry_id: str) -> str:
    """The text with long one-line prose folded onto lines of a moderate length; what the entry says stays the same."""
    if not entry_id.startswith(_LONG_LINE_KINDS):
        return document.text
    for field in _PROSE_FIELDS[1:]:
        place, value = document.places.get((field,)), (document.data or {}).get(field)
        if place is None or not isinstance(value, str) or "\n" in value or value != " ".join(value.split()):
            continue
        start, end = line_range(document.text, place)
        lines = document.text[start:end].split("\n")
        if max(map(len, lines)) > _FOLD_BEYOND and document.text[place.value.end : end].strip() == "":
            folded = "\n".join(
                textwrap.wrap(value, _FOLD_WIDTH, break_long_words=False, break_on_hyphens=False)
            )
            return replaced(document.text, [(start, end, f"{field}: >-\n{textwrap.indent(folded, '  ')}\n")])
    return document.text


@entry_check("KB604", "product-name", "warning", "gotchas", "concepts")
def product_name(entry: Entry) -> Iterator[Problem]:
    """A product name that is not spelt as its owner spells it.

    ## What it does
    Compares words of the prose, outside backticks and ids, with a list of names of hardware, engines and models.

    ## Why is this bad?
    Search finds one spelling and not the other, and readers wonder whether two things are meant.

    ## Example
    ```yaml
    symptom: The Nvidia rack answers slower than vllm on a node, although nothing else differs between them.
    ```

    ## Use instead
    ```yaml
    symptom: The NVIDIA rack answers slower than vLLM on a node, although nothing else differs between them.
    ```

    ## How to fix
    Write it as in the message. `rackfit lint --fix --unsafe-fixes` does; put literal names into backticks.
    """
    for field in _PROSE_FIELDS:
        text = getattr(entry, field, "")
        if text and _may_misspell(text):
            for written in _misspelt(text):
                yield Problem(where=(field,), text=written, message=f"{shown(written)} is spelt {PRODUCT_NAMES[written.lower()]}",
                              fix="correct it, or put a literal name into backticks")  # fmt: skip


def _may_misspell(text: str) -> bool:
    """A cheap look at the words, since nearly all are right and most were seen before."""
    words = set(text.split()) - _RIGHT_WORDS
    for word in words:
        bare = word.strip(_PUNCTUATION)
        if PRODUCT_NAMES.get(bare.lower(), bare) != bare:
            return True
    if len(_RIGHT_WORDS) < _MAX_REMEMBERED_WORDS:
        _RIGHT_WORDS.update(words)
    return False


def _misspelt(text: str) -> list[str]:
    words = set(_WORD.findall(_CODE.sub(" ", text)))
    return sorted(word for word in words if PRODUCT_NAMES.get(word.lower(), word) != word)


@fixer("KB604", unsafe=True)
def respell(document: Document, _entry_id: str) -> str:
    """The text with product names spelt as their owners spell them, in the prose only."""
    edits: list[tuple[int, int, str]] = []
    for field in _PROSE_FIELDS:
        place = document.places.get((field,))
        if place is None:
            continue
        region = document.text[place.value.start : place.value.end]
        masked = _CODE.sub(lambda match: " " * len(match.group()), region)
        for match in _WORD.finditer(masked):
            right = PRODUCT_NAMES.get(match.group().lower(), match.group())
            if right != match.group():
                edits.append((place.value.start + match.start(), place.value.start + match.end(), right))
    return replaced(document.text, edits)


@text_check("KB605", "placeholder", "error")
def placeholder(document: Document, entry_id: str) -> Iterator[Problem]:
    """Text that is still to be written: TODO, FIXME, TBD, lorem ipsum.

    ## What it does
    Looks for these words anywhere in the file, comments included; in evidence, which quotes its source, only TODO with a comma, a colon or a comment sign. `rackfit new` marks with TODO what only you can write.
    While an entry holds such a word, what is missing around it (links to it, uses of it) is not reported.

    ## Why is this bad?
    The entry would be shown to somebody as it is.

    ## Example
    ```yaml
    notes: "TODO: say for which models this holds."
    ```

    ## Use instead
    ```yaml
    notes: It holds for dense models; a mixture of experts was not tried.
    ```

    ## How to fix
    Write the text, or delete the field.
    """
    lowered = document.text.lower()
    if not any(hint in lowered for hint in _PLACEHOLDER_HINTS):
        return
    pattern = _OUR_PLACEHOLDER if entry_id.startswith(_QUOTING_KINDS) else _PLACEHOLDER
    for match in pattern.finditer(document.text):
        asked = _ASKED_FOR.match(document.text, match.end())
        what = f"{match.group()}: {asked.group(1).rstrip()}" if asked else match.group()
        yield Problem(span=document.span_at(match.start(), match.end()), message=f"{shown(what, 90)} is still to be written",
                      fix="write it and delete the mark, or delete the field")  # fmt: skip


@entry_check("KB606", "title-form", "info")
def title_form(entry: Entry) -> Iterator[Problem]:
    """A title that ends in a full stop, or has stray spaces.

    ## What it does
    Looks at the ends of the title and for double spaces.

    ## Why is this bad?
    Titles stand in tables and sentences; a full stop in the middle of one stops the reader.

    ## Example
    ```yaml
    title: A title with a full stop.
    ```

    ## Use instead
    ```yaml
    title: A title without a full stop
    ```

    ## How to fix
    Delete the full stop or the spaces.
    """
    title = entry.title
    if title.endswith(".") and not title.endswith(("...", "etc.")):
        yield Problem(where=("title",), message="the title ends in a full stop", fix="delete it")
    if title != " ".join(title.split()):
        yield Problem(where=("title",), message="the title has stray spaces", fix="delete them")


@entry_check("KB607", "summary-too-long", "info", "concepts")
def summary_too_long(entry: Concept) -> Iterator[Problem]:
    """A summary of more than one sentence or 240 characters.

    ## What it does
    Counts sentence ends and characters of `summary`.

    ## Why is this bad?
    The summary stands in tooltips, tables and search results, one line each. The rest belongs into `body`.

    ## Example
    ```yaml
    # concepts/example.yaml
    summary: This is one sentence. This is another one. And this is a third one that nobody asked for.
    ```

    ## Use instead
    ```yaml
    # concepts/example.yaml
    summary: This is one sentence that says what the term means.
    ```

    ## How to fix
    Keep the sentence that defines the term and move the others to `body`.
    """
    summary = " ".join(entry.summary.split())
    sentences = len(re.findall(r"[a-z)][.!?] [A-Z]", summary)) + 1
    if sentences > 2 or len(summary) > 240:
        yield Problem(where=("summary",), message=f"the summary has {sentences} sentences and {len(summary)} characters",
                      fix="keep the sentence that defines the term, and move the rest to body")  # fmt: skip
