"""Flags and words of a requirement, read into checked facts; shared by `ask`, `map` and `chat`."""

from __future__ import annotations

import argparse
from pathlib import Path

from advisor.cli.common import add_knowledge_flag, load_for
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.records import RESERVED_FLAGS, Facts, FactValue, Scalar
from advisor.report.terminal import plain
from advisor.units import shown

_PREFIX = "fact_"


def _named_overlays(argv: list[str]) -> list[Path]:
    """The `--kb` folders on a command line, before it is parsed: their facts bring flags of their own."""
    folders = [argv[i + 1] for i, word in enumerate(argv[:-1]) if word == "--kb"]
    return [Path(f) for f in [*folders, *(word[5:] for word in argv if word.startswith("--kb="))]]


def add_requirement_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every fact that has one, and --config, --price, --fact and --kb.

    Raises InputError when two facts, or a fact and a command, claim one flag.
    """
    kb = load_knowledge(_named_overlays(parser.get_default("argv") or []))
    owners = dict.fromkeys(RESERVED_FLAGS, "the command itself")
    for fact in sorted(kb.facts.values(), key=lambda f: (f.order, f.name)):
        if not fact.flag:
            continue
        if owners.setdefault(fact.flag, fact.id) != fact.id:
            raise InputError(
                f"{fact.id}: the flag {fact.flag} is that of {owners[fact.flag]}; choose another and check with rackfit lint"
            )
        text = (fact.help or fact.title).replace("%", "%%")
        destination = _PREFIX + fact.name
        if fact.type == "flag":
            parser.add_argument(
                fact.flag, dest=destination, nargs="?", const="yes", metavar="yes|no", help=text
            )
        else:
            repeat = "append" if fact.type == "entry" and fact.name == "system" else "store"
            choices = "|".join(choice.value for choice in fact.choices)
            parser.add_argument(
                fact.flag,
                dest=destination,
                action=repeat,
                help=text,
                metavar=choices or (fact.unit or fact.type).upper().replace(" ", "-"),
            )
    parser.add_argument("--config", metavar="FILE", help="a Hugging Face config.json instead of --model")
    parser.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="ID=USD",
        help="USD per GPU-hour of a system; repeatable",
    )
    parser.add_argument(
        "--fact", action="append", default=[], metavar="NAME=VALUE", help="any other fact; repeatable"
    )
    add_knowledge_flag(parser)


def read_requirement(arguments: argparse.Namespace, words: str) -> tuple[KnowledgeBase, Facts, list[str]]:
    """The knowledge base, the facts said by flags and words, and notes on words that were not understood.

    Raises InputError that names the flag, what was wrong and what would be right.
    """
    from advisor.reasoning.requirement import PRICE, PRICE_PREFIX, check_value, said

    kb = load_for(arguments)
    values: dict[str, Scalar] = {}
    places: dict[str, str] = {}
    notes: list[str] = []
    worded: Facts = {}
    if words.strip():
        worded, notes = _from_words(kb, words)
    for name, fact in kb.facts.items():
        given = getattr(arguments, _PREFIX + name, None)
        if given is not None:
            if isinstance(given, list):
                given = ",".join(kb.find(fact.entry_kind, item).id for item in given)
            values[name], places[name] = given, fact.flag
    for pair in arguments.fact:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InputError(f"--fact: {shown(pair)} is not NAME=VALUE")
        values[name.strip().replace("-", "_")] = value.strip()
        places[name.strip().replace("-", "_")] = "--fact"
    if arguments.config:
        kb, values["model"], doubts = _with_config(kb, arguments.config)
        notes += doubts
    systems = values.pop("system", None)
    facts = {**worded, **said(kb, values, where=places)}
    if systems is not None:
        ids = ",".join(kb.find("systems", item).id for item in str(systems).split(","))
        facts["system"] = FactValue(value=ids, origin="said", because="--system")
    for pair in arguments.price:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InputError(f"--price: {shown(pair)} is not ID=USD_PER_GPU_HOUR, such as hgx-b300=4.50")
        price = check_value(kb, PRICE, value, what="--price")
        facts[PRICE_PREFIX + kb.find("systems", name.strip()).id] = FactValue(
            value=price, origin="said", because="--price"
        )
    return kb, facts, notes


def _from_words(kb: KnowledgeBase, words: str) -> tuple[Facts, list[str]]:
    """Facts said in words, and notes on what was left out. Raises InputError where the words may mean several things."""
    from advisor.dialogue.stated import out_of_range, stated
    from advisor.dialogue.understand import understand

    understood = understand(kb, words)
    read = stated(kb, understood)
    for ask in read.asks:
        choices = ", ".join(ask.choices)
        raise InputError(f"{ask.fact}: {plain(ask.reason)} {choices}; name one in the text or by its flag")
    for left in understood.ignored:
        if left.why == "range":
            raise InputError(f"{shown(left.text)}: {out_of_range(kb.facts[left.fact])}")
        if left.why == "unknown" and any(c.isdigit() for c in left.text):
            raise InputError(
                f"{shown(left.text)}: a figure of what? say for example '15 ms per token', 'TTFT 500 ms' or '500 users'"
            )
    notes = [f"not used: {shown(left.text)} ({left.why})" for left in understood.ignored]
    return read.facts, [plain(note) for note in read.notes] + notes


def _with_config(kb: KnowledgeBase, path: str) -> tuple[KnowledgeBase, str, list[str]]:
    """The knowledge base with the model of a config.json, its id, and notes on what was not read in it."""
    from advisor.sizing.hf.config import load_config_file, read_config

    name = Path(path).parent.name if Path(path).name == "config.json" else Path(path).stem
    reading = read_config(load_config_file(Path(path)), name=name or "config")
    entries = [*(entry for entry in kb.entries.values() if entry.id != reading.model.id), reading.model]
    whole = KnowledgeBase(entries, fingerprint=kb.fingerprint, notices=kb.notices)
    return whole, reading.model.id, list(reading.notes)
