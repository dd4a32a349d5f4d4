"""kill -9 at random moments while files are written: each is the old or the new one, whole.

`scripts/crash.py` does the same a thousand times for each scenario.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from crash_harness import SCENARIOS, kill_often

KILLS = 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_killed_writer_leaves_whole_files(name: str, tmp_path: Path) -> None:
    """Exports, sessions, the cache, imports, fixes and settings survive a writer that dies anywhere."""
    kill_often(SCENARIOS[name], tmp_path, times=KILLS)
