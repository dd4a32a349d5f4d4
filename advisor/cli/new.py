"""`rackfit new KIND SLUG`: write a new entry to fill in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.lint.files import write_text
from advisor.lint.scaffold import check_slug, kind_folder, new_entry

_ASKED = {
    "gotchas": ("title", "symptom", "root_cause", "workaround"),
    "concepts": ("title", "summary"),
    "sources": ("title", "publisher", "url"),
    "rules": ("title", "reason"),
    "facts": ("title", "question", "why", "help"),
}
"""Kind folder -> fields that are asked for on a terminal; of other kinds the title."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "kind", help="gotcha, concept, evidence, model, accelerator, system, rule, fact, source or engine"
    )
    parser.add_argument("slug", help="name of the file and last part of the id: lower case, digits and -")
    parser.add_argument(
        "--kb",
        type=Path,
        default=Path("kb"),
        metavar="DIR",
        help="knowledge base to write into (default: ./kb)",
    )
    parser.add_argument("--title", help="the title")
    parser.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="fill in a field; repeatable"
    )
    parser.add_argument("--no-input", action="store_true", help="ask nothing, even on a terminal")
    parser.add_argument("--print", action="store_true", help="print the entry instead of writing it")


def run(arguments: argparse.Namespace) -> int:
    """Write the entry and say what to do next."""
    kind, slug = kind_folder(arguments.kind), check_slug(arguments.slug)
    path = arguments.kb / kind / f"{slug}.yaml"
    if path.exists() and not arguments.print:
        raise InputError(f"{path} exists already; choose another name or edit it")
    fields = dict(_assignment(text) for text in arguments.set)
    if arguments.title:
        fields["title"] = arguments.title
    if sys.stdin.isatty() and not arguments.no_input and not arguments.print:
        fields = _ask(kind, fields)
    text = new_entry(kind, slug, fields, kb=arguments.kb)
    if arguments.print:
        data(text, end="")
        return 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: {error.strerror}; give another folder with --kb") from None
    write_text(path, text)
    data(str(path))
    narrate(f"fill in what is marked TODO, then: rackfit lint {path}")
    return 0


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--set {text[:60]}: write FIELD=VALUE, such as --set severity=info")
    return name.strip(), value.strip()


def _ask(kind: str, known: dict[str, str]) -> dict[str, str]:
    """Ask on the terminal for the fields that nobody else can know; an empty answer leaves a TODO."""
    answers = dict(known)
    for name in _ASKED.get(kind, ("title",)):
        if name not in answers:
            try:
                answer = input(f"{name.replace('_', ' ')} (empty: later): ").strip()
            except EOFError:
                break
            if answer:
                answers[name] = answer
    return answers
