"""The workbench of the lint tests as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_workbench import Workbench


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path / "kb")
