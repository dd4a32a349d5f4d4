"""Bounds on what a knowledge base may hold: overlays are untrusted, so time and memory must end somewhere."""

from __future__ import annotations

MAX_FILE_BYTES = 2_000_000
"""Of one entry; the largest shipped entry is a hundredth of this."""

MAX_DEPTH = 40
"""Levels of mappings and lists inside one entry."""

MAX_VALUES = 50_000
"""Keys' values and list items in one entry; an aliased part counts each time it is used."""

MAX_DIGITS = 400
"""Digits of an integer; above this it is not a quantity."""

MAX_ENTRIES = 200_000
"""Files of one knowledge base, and names in one folder."""

MAX_TOTAL_BYTES = 512_000_000
"""Text of one knowledge base."""

MAX_FOLDER_LEVELS = 8
"""Folders inside a kind folder."""

MAX_FINDINGS_PER_FILE = 100
"""Findings that one file may contribute before the rest is summed up."""
