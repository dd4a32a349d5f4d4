"""The page of each code, and the folder of all of them; both come from the checks themselves."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.lint.check import FAMILIES, HEADINGS, Check, all_checks

_SCOPES = {
    "file": "while a file is read",
    "text": "in one entry",
    "entry": "in one entry",
    "corpus": "across the knowledge base",
}
_RAW = "```yaml raw"


def page(check: Check) -> str:
    """The documentation of one code as Markdown."""
    mended = "cannot be mended by --fix"
    if check.fixer is not None or check.code == "KB012":
        mended = "mended by `--fix --unsafe-fixes`" if check.unsafe else "mended by `--fix`"
    facts = f"{check.severity.capitalize()}. Found {_SCOPES[check.scope]}"
    if check.kinds:
        facts += f" ({', '.join(check.kinds)})"
    lines = [f"# {check.code} {check.name}", "", f"{facts}; {mended}.", "", check.summary]
    for heading in HEADINGS:
        lines += ["", f"## {heading}", "", check.sections[heading].replace(_RAW, "```yaml")]
    return "\n".join(lines) + "\n"


def index() -> str:
    """The table of all codes as Markdown."""
    lines = [
        "# Lint codes",
        "",
        "`rackfit lint` checks a knowledge base; `rackfit explain CODE` prints these pages. Error: wrong. Warning: likely wrong or",
        "stale. Info: style. Written by `rackfit explain --write docs/lint`; edit the checks in advisor/lint/checks instead.",
    ]
    for prefix, title in FAMILIES.items():
        lines += [
            "",
            f"## {prefix}xx {title}",
            "",
            "| code | name | severity | fix | |",
            "|---|---|---|---|---|",
        ]
        for check in all_checks().values():
            if check.code.startswith(prefix):
                lines.append(_row(check))
    return "\n".join(lines) + "\n"


def _row(check: Check) -> str:
    fix = "" if check.fixer is None and check.code != "KB012" else "unsafe" if check.unsafe else "safe"
    summary = " ".join(check.summary.split()).replace("|", "\\|")
    return f"| [{check.code}]({check.code}.md) | {check.name} | {check.severity} | {fix} | {summary} |"


def files() -> Mapping[str, str]:
    """File name -> text of the documentation folder."""
    return {"README.md": index(), **{f"{check.code}.md": page(check) for check in all_checks().values()}}
