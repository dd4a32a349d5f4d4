"""What a conversation consists of: messages, the facts they show, and the choices they offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from advisor.records import Origin

Role = Literal["user", "rackfit", "notice"]
MessageKind = Literal["echo", "question", "answer", "explanation", "notice", "error"]


@dataclass(frozen=True, kw_only=True)
class Chip:
    """One fact as understood, to be shown and edited: its name, its title, its value in words."""

    fact: str
    label: str
    text: str
    origin: Origin = "said"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message. markdown: its text; choices: replies to offer, each can be said as it is; citations: ids of entries."""

    role: Role
    kind: MessageKind
    markdown: str
    chips: tuple[Chip, ...] = ()
    choices: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
