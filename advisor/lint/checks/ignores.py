"""KB025-KB027: comments that silence findings must say why, must name codes that exist, and must be needed."""

from __future__ import annotations

from advisor.lint.check import declare

declare(
    "KB025",
    "ignore-without-reason",
    "warning",
    """
A finding is silenced without saying why.

## What it does
Reports `# rackfit: ignore[…]` comments with no text after the bracket.

## Why is this bad?
The next reader cannot tell whether the exception still holds.

## Example
```yaml
symptom: A symptom of 123 tok/s that no claim covers. # rackfit: ignore[KB402]
```

## Use instead
```yaml
symptom: A symptom of 123 tok/s that no claim covers. # rackfit: ignore[KB402] the figure is made up for the page
```

## How to fix
Add the reason after the bracket, or delete the comment and mend the finding.
""",
)

declare(
    "KB026",
    "unused-ignore",
    "warning",
    """
A comment silences a code that is not found there.

## What it does
Reports each code of an ignore comment that matched nothing in the lines it covers. Errors that keep an entry from loading
cannot be silenced and so count as not matched.

## Why is this bad?
The comment outlived its cause and would hide the next finding of that code.

## Example
```yaml
title: A plain title # rackfit: ignore[KB604] nothing is misspelt here
```

## Use instead
```yaml
title: A plain title
```

## How to fix
Delete the code from the comment, or the whole comment.
""",
)

declare(
    "KB027",
    "unknown-ignore",
    "error",
    """
An ignore comment names no code, or one that does not exist.

## What it does
Reports `# rackfit: ignore` without a bracket and codes that `rackfit explain` does not know.

## Why is this bad?
It silences nothing, while its author thinks it does.

## Example
```yaml
title: A plain title # rackfit: ignore[KB999] a code that does not exist
```

## Use instead
```yaml
title: A plain title
```

## How to fix
Write the code as it is printed in the finding, such as `# rackfit: ignore[KB601] reviewed every other year`.
""",
)
