"""KB001-KB009 and KB014-KB018: what strict YAML refuses. Found while reading."""

from __future__ import annotations

import re

from advisor.knowledge.limits import MAX_DEPTH, MAX_VALUES
from advisor.knowledge.scalars import read_otherwise
from advisor.knowledge.yaml_source import Document, parse_document
from advisor.lint.check import declare, fixer
from advisor.lint.edits import replaced

declare(
    "KB001",
    "yaml-syntax",
    "error",
    """
The text is not YAML.

## What it does
Reports the first place where the YAML parser cannot go on.

## Why is this bad?
Nothing after that place can be read, so the entry does not exist for the advisor and links to it break.

## Example
```yaml
title: Racks: when they pay
```

## Use instead
```yaml
title: "Racks: when they pay"
```

## How to fix
Look at the line named and the one above it: a missing quote, a colon followed by a space inside bare text, a bracket
left open, or a line that is not indented like its neighbours. Long text is safest as `>-` with the text on the lines below.
""",
)

declare(
    "KB002",
    "not-a-mapping",
    "error",
    """
The file holds a list or a single value, not `key: value` lines.

## What it does
Reports a file whose top level is not a mapping.

## Why is this bad?
An entry is a set of named fields; without names nothing can be looked up.

## Example
```yaml raw
- id: gotchas/example
- title: A list of pairs
```

## Use instead
```yaml raw
id: gotchas/example
title: One field a line
```

## How to fix
Write one `field: value` line for each field, starting with `id:`. `rackfit new` writes the frame for you.
""",
)

declare(
    "KB003",
    "too-large-inside",
    "error",
    f"""
The entry nests too deep or holds too many values.

## What it does
Stops reading at {MAX_DEPTH} levels or {MAX_VALUES:,} values. A part repeated by an alias counts each time.

## Why is this bad?
Overlays come from elsewhere. Without a bound a few lines of aliases could fill the memory of whoever loads them.

## Example
```yaml raw
{"id: gotchas/example" + chr(10)}title: {"[" * (MAX_DEPTH + 2)}{"]" * (MAX_DEPTH + 2)}
```

## Use instead
```yaml
title: A plain value
```

## How to fix
Split the entry in two, or flatten it. No honest entry comes near the limits.
""",
)

declare(
    "KB004",
    "number-not-finite",
    "error",
    """
A number is infinite, not a number, or beyond what a double holds.

## What it does
Reports `.inf`, `.nan`, `1e400` and integers of more than 400 digits.

## Why is this bad?
One such value spreads through every sum and comparison it meets, and the answer becomes nonsense without a warning.

## Example
```yaml
# rules/example.yaml
strength: .inf
```

## Use instead
```yaml
# rules/example.yaml
strength: 3
```

## How to fix
Write the number meant, or leave the field out when there is no limit.
""",
)

declare(
    "KB005",
    "tag",
    "error",
    """
A YAML tag such as `!!str` or `!custom`.

## What it does
Reports every explicit tag.

## Why is this bad?
Tags make one text mean different things to different readers, and some readers run code for them.

## Example
```yaml
title: !!str An example of a tag
```

## Use instead
```yaml
title: An example without a tag
```

## How to fix
Delete the tag. Quote what must be text; leave numbers and true/false bare.
""",
)

declare(
    "KB006",
    "key-not-a-word",
    "error",
    """
A key is a list, a mapping or an alias.

## What it does
Reports keys that are not plain words.

## Why is this bad?
Fields are found by name. JSON Schema, JSON and every editor know text keys only.

## Example
```yaml
claims:
  - {text: 1, expression: 1, inputs: {[a, b]: evidence/x}}
```

## Use instead
```yaml
title: Fields with plain names
```

## How to fix
Use a word as the key. An opening bracket or brace at the start of a line is the usual cause: quote it.
""",
)

declare(
    "KB007",
    "merge-key",
    "error",
    """
A merge key `<<`.

## What it does
Reports `<<:` where it is not quoted.

## Why is this bad?
Merge keys belong to YAML 1.1. A YAML 1.2 reader sees a field called `<<`; what the entry says would depend on the reader.

## Example
```yaml
applies_when:
  <<: {fact: model_is_moe, is: true}
```

## Use instead
```yaml
applies_when: {fact: model_is_moe, is: true}
```

## How to fix
Write the fields out.
""",
)

declare(
    "KB008",
    "duplicate-key",
    "error",
    """
A key occurs twice in one mapping.

## What it does
Reports the second and every further occurrence.

## Why is this bad?
Most readers keep the last one silently, so a correction made to the first has no effect.

## Example
```yaml
title: First title
title: Second title
```

## Use instead
```yaml
title: The only title
```

## How to fix
Keep the one that is right.
""",
)

declare(
    "KB009",
    "alias-to-nothing",
    "error",
    """
An alias names an anchor that is not above it, or one it stands inside.

## What it does
Reports `*name` without `&name` before it, and aliases that would contain themselves.

## Why is this bad?
The value does not exist, or would be endless.

## Example
```yaml
symptom: *missing
```

## Use instead
```yaml
symptom: The text itself, which an example keeps short.
```

## How to fix
Write the value out. Entries are read alone, so an anchor in another file is never visible.
""",
)

declare(
    "KB014",
    "tab-indentation",
    "error",
    """
A tab indents a line.

## What it does
Reports the first line whose indentation holds a tab.

## Why is this bad?
YAML forbids it, because nobody agrees how wide a tab is.

## Example
```yaml raw
id: gotchas/example
concepts:
\t- concepts/example
```

## Use instead
```yaml raw
id: gotchas/example
concepts:
  - concepts/example
```

## How to fix
Indent with two spaces, or let `rackfit lint --fix` replace the tabs.
""",
)

declare(
    "KB015",
    "hidden-character",
    "error",
    """
A control character, a bidirectional mark or a zero-width character.

## What it does
Reports the first character that a reader cannot see or that reorders the text around it.

## Why is this bad?
What a reviewer sees and what the program reads are then two different things. Two ids may look the same and differ.

## Example
```yaml raw
id: gotchas/example
title: Zero\u200bwidth
```

## Use instead
```yaml raw
id: gotchas/example
title: Zero width
```

## How to fix
Delete the character at the place named.
""",
)

declare(
    "KB016",
    "second-document",
    "error",
    """
A second document (`---`) or a `%` directive.

## What it does
Reports anything beyond one plain YAML document.

## Why is this bad?
The id of an entry is its path, so a file can hold only one; most readers would drop the rest silently.

## Example
```yaml raw
id: gotchas/example
---
id: gotchas/another
```

## Use instead
```yaml raw
id: gotchas/example
```

## How to fix
Give each entry its own file.
""",
)

declare(
    "KB018",
    "read-otherwise",
    "warning",
    """
A bare word that YAML 1.1 readers take for a flag or a number.

## What it does
Reports `yes`, `no`, `on`, `off`, `012`, `1_000` and `12:30` where they are not quoted. They are text here, as YAML 1.2 says.

## Why is this bad?
Whoever reads the file with a YAML 1.1 library, still the most common sort, sees true, 10, 1000 or 750.

## Example
```yaml
since: 012
```

## Use instead
```yaml
since: "012"
```

## How to fix
Quote it if text is meant; write `true`, `false` or a plain decimal otherwise. `rackfit lint --fix` adds the quotes.
""",
)


@fixer("KB014")
def tabs_to_spaces(document: Document, _entry_id: str) -> str:
    """The text with two spaces for each tab of an indentation, if that makes it YAML."""
    mended = re.sub(
        r"^[ \t]+", lambda indent: indent.group().replace("\t", "  "), document.text, flags=re.MULTILINE
    )
    return mended if parse_document(mended, document.path).data is not None else document.text


@fixer("KB018")
def quote_words(document: Document, _entry_id: str) -> str:
    """The text with quotes around bare words that YAML 1.1 readers take for something else."""
    edits: list[tuple[int, int, str]] = []
    for path, place in document.places.items():
        word = document.text[place.value.start : place.value.end]
        if path and place.style == "plain" and read_otherwise(word):
            edits.append((place.value.start, place.value.end, f'"{word}"'))
    return replaced(document.text, edits)
