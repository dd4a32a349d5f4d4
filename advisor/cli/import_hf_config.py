"""`rackfit import hf-config FILE`: a model entry from a Hugging Face config.json."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from advisor.cli.common import write_output
from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.reading import holds
from advisor.units import shown


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", metavar="FILE", help="the config.json")
    parser.add_argument(
        "--name", default="", metavar="OWNER/NAME", help="hub id of the model; without it, the folder's name"
    )
    parser.add_argument(
        "--slug", default="", metavar="SLUG", help="last part of the entry's id; without it, from the name"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="knowledge base to write into; without it, the entry is printed"
    )
    parser.add_argument("--force", action="store_true", help="replace an entry that is there and differs")


def run(arguments: argparse.Namespace) -> int:
    """Read the config, name what was not understood on standard error, and write or print the entry."""
    from advisor.lint.scaffold import check_slug
    from advisor.sizing.hf.config import load_config_file, read_config
    from advisor.sizing.model_entry import model_text

    path = Path(arguments.file)
    config = load_config_file(path)
    name = arguments.name or (path.resolve().parent.name if path.stem == "config" else path.stem)
    reading = read_config(config, name=name)
    for note in reading.notes:
        narrate(f"note: {note}")
    model = reading.model
    if arguments.slug:
        model = replace(model, id=f"models/{check_slug(arguments.slug)}")
    text = model_text(model)
    if not arguments.output:
        data(text, end="")
        return 0
    target = Path(arguments.output) / f"{model.id}.yaml"
    if target.exists() and not arguments.force and not holds(target, text.encode()):
        raise InputError(
            f"{shown(str(target), 200)} is there and differs; use --slug for another id, or --force"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    write_output(str(target), text)
    narrate(f"written to {target}")
    return 0
