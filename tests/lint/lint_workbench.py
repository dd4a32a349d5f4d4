"""A small knowledge base without findings, and a way to lint it with a few fields or files changed."""

from __future__ import annotations

import datetime
import re
import shutil
from pathlib import Path

from advisor.knowledge.findings import Finding
from advisor.lint.options import Options
from advisor.lint.runner import lint_target
from advisor.lint.targets import Target

CLEAN_KB = Path(__file__).parent / "kb"
TODAY = datetime.date(2026, 11, 30)


class Workbench:
    """A copy of the clean knowledge base that a test may spoil."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(CLEAN_KB, root)

    def path(self, entry_id: str) -> Path:
        return self.root / f"{entry_id}.yaml"

    def write(self, entry_id: str, text: str) -> Path:
        path = self.path(entry_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def change(self, entry_id: str, fields: str) -> Path:
        """Put `fields` (YAML lines) in the place of the entry's fields of the same names, `# no name` to take one out.

        An entry that is new starts as the example of its kind.
        """
        path = self.path(entry_id)
        if not path.exists():
            kind = entry_id.partition("/")[0]
            own = {
                "concepts": "concepts/example", "sources": "sources/example", "gotchas": "gotchas/example",
                "facts": "facts/tpot-ms", "rules": "rules/example",
            }[kind]  # fmt: skip
            text = (CLEAN_KB / f"{own}.yaml").read_text().replace(f"id: {own}", f"id: {entry_id}")
            text = re.sub(
                r"^title: .*$", f"title: Entry {entry_id.rpartition('/')[2]}", text, flags=re.MULTILINE
            )
            text = text.replace("used_by: [sizing]\n", "")
        else:
            text = path.read_text()
        for name in re.findall(r"^(?:# no )?([a-z_]+)(?::|$)", fields, re.MULTILINE):
            text = re.sub(rf"^{name}:.*\n(?:[ \-].*\n|\n)*", "", text, flags=re.MULTILINE)
        return self.write(entry_id, text + fields.rstrip("\n") + "\n")

    def lint(self, **options: object) -> list[Finding]:
        chosen = Options(today=TODAY, **options)  # type: ignore[arg-type]
        return chosen.choose(lint_target(Target(root=self.root), chosen, cache=False))

    def codes(self, **options: object) -> set[str]:
        return {finding.code for finding in self.lint(**options)}
