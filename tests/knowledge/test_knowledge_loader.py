"""Loading: layers in order, nothing replaced in silence, nothing broken let in, and a cache that can only make it faster."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.errors import KnowledgeError
from advisor.knowledge import KnowledgeBase, cache, load_knowledge

CONCEPT = "id: concepts/{slug}\ntitle: {title}\nsummary: A term that is used in these tests only.\n"


def _kb(root: Path, **concepts: str) -> Path:
    (root / "concepts").mkdir(parents=True)
    for slug, title in concepts.items():
        (root / "concepts" / f"{slug}.yaml").write_text(CONCEPT.format(slug=slug, title=title))
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rackfit"


def _titles(kb: KnowledgeBase) -> dict[str, str]:
    return {concept.slug: concept.title for concept in kb.concepts.values()}


def test_later_layers_win_and_say_so(tmp_path: Path) -> None:
    """An overlay adds and replaces entries; each replacement is a notice that names both."""
    base = _kb(tmp_path / "base", one="Base one", two="Base two")
    first = _kb(tmp_path / "first", two="First two", three="First three")
    second = _kb(tmp_path / "second", three="Second three")
    kb = load_knowledge([first, second], base=base, cache=False)
    assert _titles(kb) == {"one": "Base one", "three": "Second three", "two": "First two"}
    assert len(kb.notices) == 2
    assert all("replaces" in notice and "concepts/" in notice for notice in kb.notices)
    assert list(kb.entries) == sorted(kb.entries)


def test_a_broken_entry_is_one_line_with_its_place(tmp_path: Path) -> None:
    """A knowledge base with a broken entry is refused: where, what, what would be right, and how many more."""
    base = _kb(tmp_path / "base", one="Base one", two="Hm", three="Ok")
    with pytest.raises(KnowledgeError) as caught:
        load_knowledge(base=base, cache=False)
    text = str(caught.value)
    assert "three.yaml:2:8: KB106" in text
    assert "1 more; run rackfit lint" in text
    assert "\n" not in text


def test_a_lenient_load_leaves_broken_entries_out_and_names_them(tmp_path: Path) -> None:
    """On request the rest loads; what was left out is in the notices, and the result is never cached."""
    base = _kb(tmp_path / "base", one="Base one", two="Hm")
    kb = load_knowledge(base=base, strict=False)
    assert _titles(kb) == {"one": "Base one"}
    assert "left out" in kb.notices[0]
    with pytest.raises(KnowledgeError):
        load_knowledge(base=base)


def test_a_warning_does_not_keep_an_entry_out(tmp_path: Path) -> None:
    """Only errors do: a word that other readers take otherwise still loads."""
    base = _kb(tmp_path / "base", one="Base one")
    (base / "concepts" / "one.yaml").write_text(CONCEPT.format(slug="one", title="Base one") + "body: no\n")
    assert load_knowledge(base=base, cache=False).concepts["concepts/one"].body == "no"


def test_warm_is_what_cold_was(own_cache: Path) -> None:
    """The shipped knowledge base from the cache equals the one from its files, record by record."""
    cold = load_knowledge()
    assert list(own_cache.glob("kb-*.json"))
    warm = load_knowledge()
    assert warm.entries == cold.entries
    assert list(warm.entries) == list(cold.entries)
    assert warm.fingerprint == cold.fingerprint


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\x80\x04K\x01.", b"null", b'{"fingerprint":"other"}', b"[" * 100_000, b"\xff" * 50],
)
def test_a_corrupt_or_foreign_cache_is_ignored(tmp_path: Path, own_cache: Path, content: bytes) -> None:
    """Whatever lies in the cache file, the answer comes from the entries."""
    base = _kb(tmp_path / "base", one="Base one")
    fingerprint = load_knowledge(base=base).fingerprint
    (own_cache / f"kb-{fingerprint}.json").write_bytes(content)
    assert _titles(load_knowledge(base=base)) == {"one": "Base one"}


def test_the_cache_of_another_state_is_not_taken(tmp_path: Path, own_cache: Path) -> None:
    """Content decides, not names or times: a changed entry is read again even where its file looks as old as before."""
    base = _kb(tmp_path / "base", one="Base one")
    path = base / "concepts" / "one.yaml"
    before = path.stat()
    first = load_knowledge(base=base)
    path.write_text(CONCEPT.format(slug="one", title="Base two"))
    import os

    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _titles(load_knowledge(base=base)) == {"one": "Base two"}
    stored = (own_cache / f"kb-{first.fingerprint}.json").read_bytes()
    assert b"pickle" not in stored
    assert stored.startswith(b"{")


def test_without_a_usable_cache_folder_loading_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only home, a file in the place of the folder or no home at all cost speed and nothing else."""
    base = _kb(tmp_path / "base", one="Base one")
    (tmp_path / "blocked").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked"))
    assert _titles(load_knowledge(base=base)) == {"one": "Base one"}
    monkeypatch.setattr(cache, "cache_folder", lambda: None)
    assert _titles(load_knowledge(base=base)) == {"one": "Base one"}


def test_old_cache_files_do_not_pile_up(tmp_path: Path, own_cache: Path) -> None:
    """Each state of a knowledge base has its own file; only the newest few stay."""
    base = _kb(tmp_path / "base", one="Base one")
    for number in range(15):
        (base / "concepts" / "one.yaml").write_text(CONCEPT.format(slug="one", title=f"Title {number}"))
        load_knowledge(base=base)
    assert len(list(own_cache.glob("kb-*"))) <= 8
