"""From the paths on a command line to what is linted: which knowledge base they lie in, and what it lies over."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError
from advisor.knowledge.files import is_kb
from advisor.knowledge.limits import MAX_FOLDER_LEVELS
from advisor.knowledge.locate import kb_folder
from advisor.records import KINDS
from advisor.units import shown

_CONFIG = ".rackfit.toml"
_FIRST_FACT = Path("facts", "model.yaml")
"""Every answer starts from this fact, so a knowledge base without it can only lie over one that has it."""
_NAMES = (".yaml", ".yml", ".json")
_STRAY_LEVELS = 2
"""A file in the knowledge base itself or in a misspelt folder of it is not under a kind folder, and yet meant for it."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What to lint: the knowledge base at root, over the layers below it; only: files or folders to report on."""

    root: Path
    below: tuple[Path, ...] = ()
    only: tuple[Path, ...] = ()


def targets_of(paths: Sequence[Path], overlays: Sequence[Path]) -> list[Target]:
    """What to lint. overlays: folders named as such; paths in one of them are what to report on, the others what they lie over.

    Without overlays each knowledge base that a path lies in is linted, over the shipped one unless it stands alone.
    Raises InputError when a path is in none, or when an overlay is no folder.
    """
    for overlay in overlays:
        if not overlay.is_dir():
            raise InputError(
                f"--kb: {shown(str(overlay), 200)} is not a folder; give the folder that holds gotchas/, models/ and so on"
            )
    if overlays:
        inside = {path: next((o for o in overlays if _within(_existing(path), o)), None) for path in paths}
        layers = [kb_root(path) for path, overlay in inside.items() if overlay is None] or [kb_folder()]
        wanted = [overlay for overlay in overlays if overlay in inside.values()] or overlays
        return [
            Target(root=overlay, below=(*layers, *overlays[: overlays.index(overlay)]),
                   only=tuple(path for path, home in inside.items() if home == overlay and path != overlay))
            for overlay in wanted
        ]  # fmt: skip
    by_root: dict[Path, tuple[Path, list[Path]]] = {}
    for path in paths:
        root = kb_root(path)
        by_root.setdefault(root.resolve(), (root, []))[1].append(path)
    return [
        Target(root=root, below=() if stands_alone(root) else (kb_folder(),),
               only=() if resolved in [Path(os.path.realpath(path)) for path in only] else tuple(only))
        for resolved, (root, only) in by_root.items()
    ]  # fmt: skip


def stands_alone(root: Path) -> bool:
    """Whether a knowledge base is a whole one, and not some entries that lie over the shipped one."""
    return (root / _FIRST_FACT).is_file()


def kb_root(path: Path) -> Path:
    """The knowledge base that a path is in: itself, or the nearest folder above it that looks like one.

    Folders are those of the path as it is written, as many levels up as an entry may lie deep; links are not followed out of
    it. Raises InputError when there is none, or when the path is a file that is no entry.
    """
    name = shown(str(_existing(path)), 200)
    if path.is_dir() and is_kb(path):
        return path
    if path.is_file() and path.suffix.lower() not in _NAMES:
        raise InputError(f"{name} is no entry; entries are .yaml files in folders such as gotchas/")
    place = as_written(path)
    for level, folder in enumerate(place.parents[: MAX_FOLDER_LEVELS + 2]):
        holds_kinds = level < _STRAY_LEVELS and is_kb(folder)
        if place.relative_to(folder).parts[0] in KINDS or holds_kinds or (folder / _CONFIG).is_file():
            return folder if path.is_absolute() else Path(os.path.relpath(folder))
    raise InputError(f"{name} is not in a knowledge base; it needs folders such as gotchas/ or models/")


def as_written(path: Path) -> Path:
    """An absolute path without `..`, links left as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow links


def place_of(path: Path) -> Path:
    """Where a path lies: links on the way are followed, the one it may be itself is not."""
    return path.parent.resolve() / path.name


def _existing(path: Path) -> Path:
    if not os.path.lexists(path):
        raise InputError(
            f"{shown(str(path), 200)} does not exist; give a knowledge base folder or a file in one"
        )
    return path


def _within(path: Path, folder: Path) -> bool:
    return path == folder or place_of(path).is_relative_to(folder.resolve())
