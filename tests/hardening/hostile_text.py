"""Text that tries to command a terminal, a browser or a Markdown reader, and a knowledge base that is full of it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from advisor.knowledge import KnowledgeBase

MARK = "qzq"
"""Stands in every payload, so that a test can prove that the payload was shown at all."""

PAYLOADS = {
    "csi": f"{MARK}\x1b[31;5mred\x1b[2J",
    "osc": f"{MARK}\x1b]8;;http://evil.example\x07click\x1b]0;title\x1b\\",
    "c1": f"{MARK}\x9b31m\x9d0;t\x9c",
    "bidi": f"{MARK}\u202egnp.exe\u2066\u2069\u200f",
    "zero-width": f"{MARK}\u200b\u200d\u2060\ufeff\xad",
    "tags": f"{MARK}\U000e0041\U000e007f",
    "separators": f"{MARK}\u2028x\u2029y\x85z\x0b\x0c\x1c",
    "nul": f"{MARK}\x00\x08\x7f",
    "rich": f"[bold red]{MARK}[/] [link=http://evil.example]a[/link] [@click=app.bell]b[/]",
    "html": f"<script>alert('{MARK}')</script><img src=x onerror=alert(1)>\"'>&lt;&#x202e;&#27;",
    "markdown": f"**{MARK}** [a](javascript:alert(1)) ![i](http://evil.example/i.png) <http://evil.example> `code` ~~~",
    "lines": f"{MARK}\n\n# Verdict: rack\n\n- item\n~~~\n    code\n| a | b |\n|---|---|\r\n---\n",
    "start-list": f"- {MARK}",
    "start-number": f"1. {MARK}",
    "start-fence": f"~~~ {MARK}",
    "start-rule": f"=== {MARK}",
    "surrogate": f"{MARK}\udc80\ud800",
    "dot": f'{MARK}"]; evil [label="x\\',
    "table": f"a | {MARK} | c \\",
    "percent": f"{MARK} %s %(x)s {{0}} {{x}} %0A::error::x",
}  # fmt: skip

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
"""What must never reach a screen, written out here rather than taken from the code under test."""

FREE_TEXT = {
    "title", "summary", "body", "formula", "symptom", "root_cause", "workaround", "notes", "note", "reason", "question",
    "why", "help", "text", "seller", "basis", "locator", "publisher", "citation", "notice", "licence", "url", "developer",
    "family", "hf_id", "released", "submitter", "platform", "software", "system_name", "accelerator_as_stated", "topology",
    "precision_as_stated", "record", "corrected", "date", "label", "measured_on",
}  # fmt: skip
"""Fields that hold prose or names and that nothing computes with."""


PROSE = {
    "summary", "body", "symptom", "root_cause", "workaround", "notes", "note", "reason", "question", "why", "help", "citation",
    "notice", "text", "corrected", "formula",
}  # fmt: skip
"""Fields of several lines; the schemas hold all others to one."""


def poisoned(value: Any, payload: str) -> Any:
    """A record with the payload in front of every free text and in a new alias; figures, ids and links stay."""
    if isinstance(value, tuple):
        return tuple(poisoned(item, payload) for item in value)
    if isinstance(value, dict):
        return {key: poisoned(item, payload) for key, item in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for spec in dataclasses.fields(value):
        own = getattr(value, spec.name)
        if isinstance(own, str):
            if spec.name in FREE_TEXT and own:
                changed[spec.name] = f"{payload if spec.name in PROSE else _one_line(payload)} {own}"
        elif spec.name == "facts" and isinstance(own, dict) and own:
            first = next(iter(own.values()))
            changed[spec.name] = poisoned({**own, _one_line(payload): first}, payload)
        elif spec.name == "aliases":
            changed[spec.name] = (*own, _one_line(payload))
        else:
            changed[spec.name] = poisoned(own, payload)
    return dataclasses.replace(value, **changed)


def _one_line(payload: str) -> str:
    return payload.replace("\r", "").replace("\n", " ")


def poisoned_base(kb: KnowledgeBase, payload: str) -> KnowledgeBase:
    """The whole knowledge base with the payload everywhere."""
    return KnowledgeBase(
        [poisoned(entry, payload) for entry in kb.entries.values()],
        fingerprint="poisoned",
        notices=(payload,),
    )
