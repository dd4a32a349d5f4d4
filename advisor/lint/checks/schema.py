"""KB100-KB110: fields that an entry must have, may have, and what may stand in them. Found while reading."""

from __future__ import annotations

import re
from typing import Any

from advisor.knowledge.yaml_source import Document
from advisor.lint.check import declare, fixer
from advisor.lint.edits import without_items

_WHY_FIELDS = "The advisor reads fields by name and type; what does not match the schema cannot be used, so the entry does not load."

declare(
    "KB100",
    "schema",
    "error",
    f"""
The entry does not match the schema of its kind.

## What it does
Reports violations of the JSON Schema that have no more specific code.

## Why is this bad?
{_WHY_FIELDS}

## Example
```text
rackfit schema gotcha
```

## Use instead
```text
rackfit schema gotcha
```

## How to fix
`rackfit schema KIND` prints the schema; the schema line at the top of a file makes editors show it as you type.
""",
)

declare(
    "KB101",
    "unknown-field",
    "error",
    f"""
A field that this kind does not have.

## What it does
Reports each unknown field at its key, with the nearest known one.

## Why is this bad?
{_WHY_FIELDS} A misspelt field would otherwise be ignored, and its content lost.

## Example
```yaml
root_couse: The key is misspelt.
```

## Use instead
```yaml
root_cause: The key is spelt as the schema has it.
```

## How to fix
Correct the spelling, or move the text to a field that exists, such as `notes`.
""",
)

declare(
    "KB102",
    "missing-field",
    "error",
    f"""
A field that every entry of this kind must have is missing.

## What it does
Reports the mapping that lacks the field, and what the field means.

## Why is this bad?
{_WHY_FIELDS}

## Example
```yaml raw
id: concepts/example
title: A concept without a summary
```

## Use instead
```yaml
# concepts/example.yaml
summary: One sentence that says what the term means.
```

## How to fix
Add the field. `rackfit new KIND SLUG` writes an entry with all of them.
""",
)

declare(
    "KB103",
    "wrong-type",
    "error",
    f"""
A value of the wrong type: text for a number, one value for a list.

## What it does
Reports the value, what it is and what it must be.

## Why is this bad?
{_WHY_FIELDS}

## Example
```yaml
concepts: concepts/example
```

## Use instead
```yaml
concepts: [concepts/example]
```

## How to fix
Quote numbers that are text; leave numbers bare, without units or separators; put single items of a list into brackets.
""",
)

declare(
    "KB104",
    "value-not-allowed",
    "error",
    f"""
A value outside the list of allowed ones.

## What it does
Reports the value, the allowed ones and the nearest of them.

## Why is this bad?
{_WHY_FIELDS}

## Example
```yaml
# rules/example.yaml
scope: comparisons
```

## Use instead
```yaml
# rules/example.yaml
scope: comparison
```

## How to fix
Use one of the values named in the message.
""",
)

declare(
    "KB105",
    "malformed-value",
    "error",
    f"""
A value that is not written in the form asked for.

## What it does
Reports ids, dates and names that do not match their pattern, with the form in words.

## Why is this bad?
{_WHY_FIELDS}

## Example
```yaml
sources: [Sources/Example]
```

## Use instead
```yaml
sources: [sources/example]
```

## How to fix
Ids are a kind folder and lower-case kebab-case parts; dates are year-month-day; fact names are lower case with underscores.
""",
)

declare(
    "KB106",
    "out-of-bounds",
    "error",
    f"""
A value is too long, too short, too large or too small.

## What it does
Reports the size and the bound.

## Why is this bad?
{_WHY_FIELDS} Bounds keep titles fit for a table and lists free of empty shells.

## Example
```yaml
title: Hm
```

## Use instead
```yaml
title: A title that says what goes wrong
```

## How to fix
Shorten or fill in the value until it is within the bound.
""",
)

declare(
    "KB107",
    "listed-twice",
    "error",
    """
The same item stands twice in a list.

## What it does
Reports the second occurrence.

## Why is this bad?
It adds nothing, and hides that another item was meant.

## Example
```yaml
sources: [sources/example, sources/example]
```

## Use instead
```yaml
sources: [sources/example]
```

## How to fix
Delete it, or replace it by the item that was meant. `rackfit lint --fix` deletes it.
""",
)

declare(
    "KB108",
    "no-shape-fits",
    "error",
    f"""
A part may take one of several shapes, and fits none of them, or more than one.

## What it does
Reports the part and the shapes it may take.

## Why is this bad?
{_WHY_FIELDS} A condition that is both `all` and `any` has no meaning.

## Example
```yaml
applies_when: {{fact: model_is_moe}}
```

## Use instead
```yaml
applies_when: {{fact: model_is_moe, is: true}}
```

## How to fix
Choose one shape. A condition is `all`, `any` or `none` with a list, or `fact` with exactly one comparison.
""",
)

declare(
    "KB110",
    "not-a-record",
    "error",
    f"""
The entry matches its schema and still cannot become a record.

## What it does
Reports what the record's own types refuse.

## Why is this bad?
{_WHY_FIELDS}

## Example
```text
an integer beyond 64 bits where a count is expected
```

## Use instead
```text
a count
```

## How to fix
Correct the value named. If it looks right, the schema and the record disagree: please report it.
""",
)


@fixer("KB107")
def drop_repeats(document: Document, _entry_id: str) -> str:
    """The text without list items that stand in their list already; one list at a time."""
    for path, place in document.places.items():
        if not path or place.style not in ("flow", "block"):
            continue
        seen: set[str] = set()
        repeats: list[int] = []
        for index, item in enumerate(_list_at(document.data, path)):
            if isinstance(item, str):
                if item in seen:
                    repeats.append(index)
                seen.add(item)
        if repeats:
            return without_items(document, path, repeats)
    return document.text


def _list_at(data: Any, path: tuple[str | int, ...]) -> list[Any]:
    try:
        for step in path:
            data = data[step]
    except (KeyError, IndexError, TypeError):
        return []
    return data if isinstance(data, list) else []


@fixer("KB102")
def add_id(document: Document, entry_id: str) -> str:
    """The text with its id on top, if that is what is missing."""
    if document.data is None or "id" in document.data:
        return document.text
    first = re.search(r"^[^#\n]", document.text, re.MULTILINE)
    at = first.start() if first else len(document.text)
    return f"{document.text[:at]}id: {entry_id}\n{document.text[at:]}"
