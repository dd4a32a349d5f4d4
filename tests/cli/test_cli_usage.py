"""Bad usage of any command: one line that names the command, what it does not take, and the nearest flag it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Rackfit = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("compare", "--acelerator", "h100"), "rackfit: compare: does not take '--acelerator'; did you mean --accelerator?"),
        (("import", "mlperf", "x", "--rond=v6.1"), "rackfit: import mlperf: does not take '--rond=v6.1'; did you mean --round?"),
        (("ask", "--zzz"), "rackfit: ask: does not take '--zzz'; see `rackfit ask --help`"),
        (("show", "concepts/tpot", "extra"), "rackfit: show: does not take 'extra'; see `rackfit show --help`"),
        (("lint", "--format", "xml"), "rackfit: lint: argument --format: invalid choice: 'xml'"),
    ],
)  # fmt: skip
def test_an_unknown_flag_is_refused_in_one_line_with_the_nearest(
    rackfit: Rackfit, arguments: tuple[str, ...], line: str
) -> None:
    """Status 2, and the program's name stands once."""
    ran = rackfit(*arguments)
    assert ran.status == 2
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1
