"""A fact that an overlay adds is understood from its words: adding one needs neither Python nor patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.dialogue.understand import understand
from advisor.knowledge import KnowledgeBase, load_knowledge

FLOOR = """\
id: facts/raised-floor
title: Raised floor
name: raised_floor
type: flag
question: Does the room have a raised floor?
ask: decisive
words: [raised floor]
"""
LOAD = """\
id: facts/floor-load-kg
title: Floor load
name: floor_load_kg
type: number
unit: kg
minimum: 0
question: How many kilograms can the floor carry at one rack position?
ask: decisive
"""


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    folder: Path = tmp_path_factory.mktemp("overlay") / "facts"
    folder.mkdir()
    (folder / "raised-floor.yaml").write_text(FLOOR, encoding="utf-8")
    (folder / "floor-load-kg.yaml").write_text(LOAD, encoding="utf-8")
    return load_knowledge([folder.parent], cache=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("we have a raised floor", True),
        ("R1 in fp4, our rooms have raised floors", True),
        ("raised floor: yes", True),
        ("no raised floor", False),
        ("without a raised floor, R1 in fp4", False),
        ("raised floor is no", False),
        ("Raised Floor = no", False),
    ],
)
def test_a_flag_is_read_from_its_words(kb: KnowledgeBase, text: str, value: bool) -> None:
    """Naming it says yes; a negation before it, or a no after it, says no."""
    assert understand(kb, text).facts["raised_floor"].value is value


@pytest.mark.parametrize(
    "text", ["floor load 800 kg", "floor load of about 800", "the floor carries 800 kg floor load"]
)
def test_a_number_is_read_beside_its_title(kb: KnowledgeBase, text: str) -> None:
    """Without words the title is what people say; the unit may be left out."""
    assert understand(kb, text).facts["floor_load_kg"].value == 800


def test_a_shipped_fact_that_nobody_is_asked_needs_its_own_patterns(kb: KnowledgeBase) -> None:
    """`400 network` has no unit that can be trusted to be the fact's."""
    assert "scale_out_gb_per_s" not in understand(kb, "network 400").facts
