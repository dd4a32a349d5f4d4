"""What small commands do beside their main road: a name of several entries, a limit out of range, one sentence as JSON, standard input."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

Rackfit = Callable[..., Any]


def test_a_name_of_several_entries_is_answered_with_their_ids(rackfit: Rackfit) -> None:
    """`NVL72` is the name of three racks and of the fabric: none is picked."""
    ran = rackfit("show", "NVL72")
    assert ran.status == 2
    assert ran.err.startswith("rackfit: 'NVL72' names several entries; give one of: ")
    named = ran.err.strip().rpartition(": ")[2].split(", ")
    assert {"systems/gb200-nvl72", "systems/gb300-nvl72", "concepts/nvlink-nvl72"} <= set(named)
    assert all(rackfit("show", entry).status == 0 for entry in named)


@pytest.mark.parametrize("limit", ["0", "-3", "1001"])
def test_a_search_has_a_bounded_number_of_hits(rackfit: Rackfit, limit: str) -> None:
    """The range is part of the message."""
    ran = rackfit("search", "kv cache", f"--limit={limit}")
    assert ran.status == 2
    assert ran.err.strip() == f"rackfit: --limit: {limit} is out of range; give 1 to 1000"


class TestUnderstand:
    """`rackfit understand` for scripts."""

    def test_one_sentence_may_be_printed_as_json(self, rackfit: Rackfit) -> None:
        """The same facts as in the text form."""
        got = json.loads(
            rackfit("understand", "llama 2 70b in fp4 at 15 ms per token", "--format", "json").out
        )
        assert got["facts"]["model"]["value"] == "llama-2-70b"
        text = rackfit("understand", "llama 2 70b in fp4 at 15 ms per token").out
        assert "weight_precision: fp4" in text

    def test_a_factor_is_shown_with_what_it_may_scale(self, rackfit: Rackfit) -> None:
        """`twice the traffic` names no number: the factor is said with the facts that it may scale."""
        text = rackfit("understand", "what if twice the traffic").out
        assert "times 2  <-" in text

    def test_sentences_may_come_from_standard_input(
        self, rackfit: Rackfit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`-` reads a pipe; lines are numbered as in a file, blank ones too."""
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"llama 2 70b\n\nr1 at 15 ms\n")))
        rows = [json.loads(line) for line in rackfit("understand", "--batch", "-").out.splitlines()]
        assert [row["id"] for row in rows] == [1, 3]

    def test_nothing_to_read_prints_nothing(self, rackfit: Rackfit, tmp_path: Path) -> None:
        """An empty file is no error and gives no line, so that a pipe stays one of JSON lines."""
        empty = tmp_path / "lines"
        empty.write_text("\n\n", encoding="utf-8")
        ran = rackfit("understand", "--batch", empty)
        assert (ran.status, ran.out, ran.err) == (0, "", "")
