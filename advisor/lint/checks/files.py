"""KB010-KB013 and KB019-KB023: which files are read as entries, and what keeps a file from it. Found while reading."""

from __future__ import annotations

from advisor.knowledge.limits import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_FINDINGS_PER_FILE,
    MAX_FOLDER_LEVELS,
    MAX_TOTAL_BYTES,
)
from advisor.lint.check import declare

declare(
    "KB010",
    "unreadable-file",
    "error",
    f"""
A file or folder cannot be read, or is not a regular one.

## What it does
Reports links, pipes, devices, unreadable files, files that keep changing while they are read, and folders nested more
than {MAX_FOLDER_LEVELS} deep. None of them is followed or opened.

## Why is this bad?
A knowledge base is a folder of plain files. A link can lead outside it, a pipe can hang whoever reads it.

## Example
```text
kb/gotchas/example.yaml -> /etc/hostname
```

## Use instead
```text
kb/gotchas/example.yaml, a regular file
```

## How to fix
Put the file itself there, readable for whoever runs rackfit.
""",
)

declare(
    "KB011",
    "file-too-large",
    "error",
    f"""
The file is larger than {MAX_FILE_BYTES:,} bytes.

## What it does
Reports the file and reads none of it.

## Why is this bad?
One entry is one observation, model or system. A file this large is data, not knowledge, and would cost every start-up.

## Example
```text
kb/evidence/measured/everything.yaml, 40 MB
```

## Use instead
```text
kb/evidence/measured/<submitter>/<system>.yaml, one for each system
```

## How to fix
Split it by system, or keep the raw data elsewhere and cite it through a source entry.
""",
)

declare(
    "KB012",
    "byte-order-mark",
    "error",
    """
The file starts with a byte-order mark.

## What it does
Reports a UTF-8 file that begins with the invisible character U+FEFF.

## Why is this bad?
Tools that do not expect it read the first key as a different word.

## Example
```text
EF BB BF 69 64 3A …
```

## Use instead
```text
69 64 3A …
```

## How to fix
Save it as UTF-8 without BOM, or let `rackfit lint --fix` remove the mark.
""",
)

declare(
    "KB013",
    "not-utf-8",
    "error",
    """
A byte is not UTF-8.

## What it does
Reports the line and column of the first byte that does not decode.

## Why is this bad?
Guessing the encoding would change what the entry says.

## Example
```text
title: Caf\\xe9 (Latin-1)
```

## Use instead
```text
title: Café (UTF-8)
```

## How to fix
Open the file with its real encoding and save it as UTF-8.
""",
)

declare(
    "KB019",
    "more-findings",
    "error",
    f"""
The file has more than {MAX_FINDINGS_PER_FILE} findings.

## What it does
Sums up the findings of one file beyond the first {MAX_FINDINGS_PER_FILE}.

## Why is this bad?
A file this wrong has one cause, and a thousand lines would hide it and the findings of every other file.

## Example
```text
a results table pasted as it is into an entry
```

## Use instead
```text
rackfit import mlperf FILE --round v6.1
```

## How to fix
Mend the first ones and lint again.
""",
)

declare(
    "KB020",
    "too-many-files",
    "error",
    f"""
More files, or more text, than one knowledge base may hold.

## What it does
Stops reading at {MAX_ENTRIES:,} files or {MAX_TOTAL_BYTES // 1_000_000} MB.

## Why is this bad?
An overlay from elsewhere must not be able to fill the memory or the day of whoever loads it.

## Example
```text
--kb / (the whole disk)
```

## Use instead
```text
--kb ./our-notes
```

## How to fix
Point at the knowledge base itself, or split it into several overlays.
""",
)

declare(
    "KB022",
    "not-an-entry-file",
    "error",
    """
A data file where no entry is read.

## What it does
Reports `.yml` and `.json` files in kind folders, and YAML files outside them.

## Why is this bad?
The author believes that the entry exists, and it is never read.

## Example
```text
kb/gotchas/example.yml
```

## Use instead
```text
kb/gotchas/example.yaml
```

## How to fix
Rename the file to end in `.yaml` and put it into the folder of its kind.
""",
)

declare(
    "KB023",
    "unknown-kind-folder",
    "error",
    """
A folder with entries whose name is no kind.

## What it does
Reports folders next to the kind folders that hold `.yaml` files.

## Why is this bad?
`gotcha/` for `gotchas/` is easily typed, and nothing in it is read.

## Example
```text
kb/gotcha/example.yaml
```

## Use instead
```text
kb/gotchas/example.yaml
```

## How to fix
Rename the folder to the kind meant.
""",
)

declare(
    "KB029",
    "check-failed",
    "error",
    """
A check could not be carried out.

## What it does
Reports a check that stopped on a value nobody thought of, and goes on with the others. A failure in a check over the whole
knowledge base is reported at its first entry.

## Why is this bad?
What the check would have found is not known.

## Example
```text
a count of 1e300 where a division by its rounded inverse follows
```

## Use instead
```text
a count that some system has
```

## How to fix
Look for an extreme value in the entry. Please report the message: such values ought to have a finding of their own.
""",
)
