"""KB030-KB035: how an entry is laid out. All of it can be mended by --fix, and none of it changes what an entry says."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from advisor.knowledge.schema import load_schemas
from advisor.knowledge.yaml_source import Document
from advisor.lint.check import Problem, fixer, text_check
from advisor.lint.edits import reordered_fields, reordered_items, replaced, top_fields
from advisor.records import KINDS, SCHEMA_NAMES

_GENERATED = ("evidence", "calibration")
"""Kinds that commands write in their own order."""

_WRITTEN = tuple(kind for kind in KINDS if kind not in _GENERATED)
_SORTED_FIELDS = ("sources",)
_SCHEMA_LINE = re.compile(r"\A# yaml-language-server: \$schema=(\S+)[ \t]*$", re.MULTILINE)


def field_order(kind: str) -> list[str]:
    """Fields of a kind in the order in which entries hold them, which is that of the schema."""
    return list(load_schemas()[SCHEMA_NAMES[kind]]["properties"])


@text_check("KB030", "field-order", "info", *_WRITTEN)
def field_order_check(document: Document, entry_id: str) -> Iterator[Problem]:
    """The fields are not in the usual order.

    ## What it does
    Compares the order of the top-level fields with the order of the schema (`rackfit schema KIND`): id and title first.

    ## Why is this bad?
    Readers find a field by its place, and two entries differ in a diff only where they differ.

    ## Example
    ```yaml raw
    title: Title before id
    id: gotchas/example
    ```

    ## Use instead
    ```yaml raw
    id: gotchas/example
    title: Title after id
    ```

    ## How to fix
    `rackfit lint --fix` moves the fields with their comments.
    """
    order = {name: place for place, name in enumerate(field_order(entry_id.partition("/")[0]))}
    highest, before = -1, ""
    for name in document.data or {}:
        place = order.get(name, highest)
        if place < highest:
            yield Problem(
                where=(name,),
                at_key=True,
                message=f"{name} stands after {before}",
                fix=f"move it before {before}",
            )
            return
        if place > highest:
            highest, before = place, name


@fixer("KB030")
def reorder_fields(document: Document, entry_id: str) -> str:
    """The text with its top-level fields in the usual order, each with the comments above it."""
    order = field_order(entry_id.partition("/")[0])
    present = top_fields(document)
    known = [name for name in order if name in present]
    if len(known) != len(present):
        return document.text  # an unknown field has no place; KB101 reports it
    return reordered_fields(document, known)


@text_check("KB031", "unsorted-sources", "info", *_WRITTEN)
def unsorted_sources(document: Document, _entry_id: str) -> Iterator[Problem]:
    """The list of sources is not in alphabetical order.

    ## What it does
    Compares the order of `sources` with the alphabetical one.

    ## Why is this bad?
    Two people who add a source at the end of the same list get a merge conflict; in order they rarely do.

    ## Example
    ```yaml
    sources: [sources/example, sources/another]
    ```

    ## Use instead
    ```yaml
    sources: [sources/another, sources/example]
    ```

    ## How to fix
    `rackfit lint --fix` sorts the list.
    """
    for field in _SORTED_FIELDS:
        items = (document.data or {}).get(field)
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            continue
        for index, (left, right) in enumerate(itertools.pairwise(items)):
            if right < left:
                yield Problem(
                    where=(field, index + 1), message=f"{right} stands after {left}", fix="sort the list"
                )
                break


@fixer("KB031")
def sort_sources(document: Document, _entry_id: str) -> str:
    """The text with its sorted lists in order, each item with the comments above it."""
    text = document.text
    for field in _SORTED_FIELDS:
        items = (document.data or {}).get(field)
        if (
            isinstance(items, list)
            and all(isinstance(item, str) for item in items)
            and items != sorted(items)
        ):
            text = reordered_items(
                document, (field,), sorted(range(len(items)), key=lambda index: str(items[index]))
            )
    return text


@text_check("KB032", "whitespace", "info")
def whitespace(document: Document, _entry_id: str) -> Iterator[Problem]:
    """Spaces at line ends, carriage returns, or a file that does not end in exactly one newline.

    ## What it does
    Reports the first of each in the file.

    ## Why is this bad?
    Invisible differences show up in diffs and in folded text.

    ## Example
    ```yaml raw
    id: gotchas/example   \u0020
    ```

    ## Use instead
    ```yaml raw
    id: gotchas/example
    ```

    ## How to fix
    `rackfit lint --fix` removes them.
    """
    text = document.text
    if "\r" in text:
        at = text.index("\r")
        yield Problem(
            span=document.span_at(at, at + 1),
            message="lines end in carriage return and newline",
            fix="end them in newline",
        )
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        offset = 0
        for line in text.split("\n"):
            bare = line.rstrip(" \t")
            if bare != line:
                break
            offset += len(line) + 1
        span = document.span_at(offset + len(bare), offset + len(line))
        yield Problem(span=span, message="spaces at the end of the line", fix="delete them")
    if not text.endswith("\n") or text.endswith("\n\n"):
        at = len(text.rstrip("\n"))
        what = (
            "the file ends in empty lines"
            if text.endswith("\n")
            else "the last line does not end in a newline"
        )
        yield Problem(span=document.span_at(max(at - 1, 0), at), message=what, fix="end it in one newline")


@fixer("KB032")
def trim(document: Document, _entry_id: str) -> str:
    """The text with plain newlines, nothing before them, and one at the end."""
    text = document.text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip(" \t") for line in text.split("\n")).rstrip("\n") + "\n"


@text_check("KB033", "schema-line", "info", *_WRITTEN)
def schema_line(document: Document, entry_id: str) -> Iterator[Problem]:
    """The first line does not name the schema for editors.

    ## What it does
    Expects `# yaml-language-server: $schema=…` with the schema of the kind, as seen from the file.

    ## Why is this bad?
    With it an editor completes field names, shows what they mean and marks mistakes as you type.

    ## Example
    ```yaml raw
    id: gotchas/example
    title: An entry without the line
    ```

    ## Use instead
    ```yaml raw
    # yaml-language-server: $schema=../../schemas/gotcha.schema.json
    id: gotchas/example
    title: An entry with the line
    ```

    ## How to fix
    `rackfit lint --fix` adds it.
    """
    found = _SCHEMA_LINE.search(document.text)
    name = f"{SCHEMA_NAMES[entry_id.partition('/')[0]]}.schema.json"
    if found is None:
        yield Problem(span=document.span_at(0, 0), message="the first line does not name the schema",
                      fix=f"add {expected_schema_line(entry_id)}")  # fmt: skip
    elif found.group(1).rpartition("/")[2] != name:
        yield Problem(span=document.span_at(*found.span(1)), message=f"the schema line names {found.group(1)[:80]}",
                      fix=f"this kind has {name}")  # fmt: skip


def expected_schema_line(entry_id: str) -> str:
    """The schema line of an entry in a knowledge base beside its schemas."""
    up = "../" * (entry_id.count("/") + 1)
    return (
        f"# yaml-language-server: $schema={up}schemas/{SCHEMA_NAMES[entry_id.partition('/')[0]]}.schema.json"
    )


@fixer("KB033")
def add_schema_line(document: Document, entry_id: str) -> str:
    """The text with the schema line of its kind on top."""
    found = _SCHEMA_LINE.search(document.text)
    line = expected_schema_line(entry_id)
    if found is None:
        return f"{line}\n{document.text}"
    if next(schema_line(document, entry_id), None) is None:
        return document.text
    return replaced(document.text, [(*found.span(), line)])
