"""Which files are read: plain ones inside the folder. Everything else is reported, and the rest is read all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from advisor.errors import KnowledgeError
from advisor.knowledge import files
from advisor.knowledge.files import EntryFile, read_folder, stray_files

GOOD = "id: gotchas/good\ntitle: Good\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "gotchas").mkdir()
    (tmp_path / "gotchas" / "good.yaml").write_text(GOOD)
    return tmp_path


def _read(root: Path) -> dict[str, EntryFile]:
    return {file.id: file for file in read_folder(root)}


def _code(file: EntryFile) -> str:
    return file.finding.code if file.finding else ""


def test_links_are_not_followed(root: Path) -> None:
    """A link to a file, to a folder, to itself or out of the knowledge base is reported and its target never opened."""
    (root / "gotchas" / "file.yaml").symlink_to("/etc/hostname")
    (root / "gotchas" / "loop.yaml").symlink_to("loop.yaml")
    (root / "gotchas" / "up").symlink_to(root)
    (root / "concepts").symlink_to("/etc")
    found = _read(root)
    assert found["gotchas/good"].text == GOOD
    for name in ("gotchas/file", "gotchas/loop", "gotchas/up", "concepts"):
        assert _code(found[name]) == "KB010", name
        assert found[name].text == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_pipes_and_devices_are_not_opened(root: Path) -> None:
    """A named pipe would hang its reader forever; a socket cannot be read. Both are reported at once."""
    os.mkfifo(root / "gotchas" / "pipe.yaml")
    assert _code(_read(root)["gotchas/pipe"]) == "KB010"
    assert _read(root)["gotchas/good"].text == GOOD


def test_a_pipe_that_takes_the_place_of_a_file_does_not_hang(root: Path) -> None:
    """Between listing and reading a file may become a pipe: opening does not wait for a writer."""
    if not hasattr(os, "mkfifo"):
        return
    os.mkfifo(root / "late.yaml")
    assert _code(files.read_entry_file(str(root / "late.yaml"), "gotchas/late")) == "KB010"


def test_a_ten_gigabyte_file_is_refused_unread(root: Path) -> None:
    """Only as much as the limit is ever read of a file, sparse or not."""
    with (root / "gotchas" / "huge.yaml").open("wb") as out:
        out.truncate(10_000_000_000)
    assert _code(_read(root)["gotchas/huge"]) == "KB011"


@pytest.mark.parametrize(
    ("raw", "code", "place"),
    [
        (b"\xef\xbb\xbfid: x\n", "KB012", (1, 1)),
        (b"id: x\ntitle: caf\xe9\n", "KB013", (2, 11)),
        (b"id: \xc3\xa9\xff\n", "KB013", (1, 6)),
        (b"\x00\xff\xfe", "KB013", (1, 2)),
    ],
)
def test_encodings_other_than_utf_8_are_refused_where_they_show(
    root: Path, raw: bytes, code: str, place: tuple[int, int]
) -> None:
    """A byte-order mark and bytes that are not UTF-8 are reported at their line and column."""
    (root / "gotchas" / "bad.yaml").write_bytes(raw)
    finding = _read(root)["gotchas/bad"].finding
    assert finding is not None
    assert (finding.code, finding.line, finding.column) == (code, *place)


def test_unreadable_files_and_folders_are_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without permission there is a finding, and the rest is read. Refused here by hand, since root may read everything."""
    (root / "gotchas" / "secret.yaml").write_text("id: x\n")
    (root / "rules").mkdir()
    real_open, real_scandir = os.open, os.scandir

    def refuse(path: str) -> None:
        if str(path).endswith(("secret.yaml", "rules")):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "open", lambda path, *rest: (refuse(path), real_open(path, *rest))[1])
    monkeypatch.setattr(files.os, "scandir", lambda path: (refuse(path), real_scandir(path))[1])
    found = _read(root)
    assert _code(found["gotchas/secret"]) == "KB010"
    assert _code(found["rules"]) == "KB010"
    assert found["gotchas/good"].text == GOOD


def test_a_file_that_keeps_changing_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file written to while it is read is read again, and reported when it will not hold still."""
    path = root / "gotchas" / "good.yaml"
    real_read = os.read

    def growing(descriptor: int, size: int) -> bytes:
        with path.open("ab") as out:
            out.write(b"# more\n")
        return real_read(descriptor, size)

    monkeypatch.setattr(files.os, "read", growing)
    finding = files.read_entry_file(str(path), "gotchas/good").finding
    assert finding is not None
    assert "changes while it is read" in finding.message


def test_names_that_are_not_unicode_are_read_and_survive_printing(root: Path) -> None:
    """A file name of raw bytes does not stop anything."""
    try:
        Path(os.fsdecode(os.fsencode(root) + b"/gotchas/bad\xff.yaml")).write_text("id: x\n")
    except OSError:
        return  # the file system refuses such names, which is as good
    found = [file for file in read_folder(root) if "bad" in file.id]
    assert len(found) == 1


def test_a_knowledge_base_ends_at_its_limits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the number of files or bytes nothing more is read, and one finding says so."""
    for number in range(20):
        (root / "gotchas" / f"n{number:02d}.yaml").write_text("id: x\n")
    monkeypatch.setattr(files, "MAX_ENTRIES", 30)
    budget = files._Budget(entries=10)
    monkeypatch.setattr(files, "_Budget", lambda: budget)
    found = list(read_folder(root))
    assert len(found) == 11
    assert [_code(file) for file in found].count("KB020") == 1


def test_folders_beyond_the_depth_limit_are_reported(root: Path) -> None:
    """A folder inside a folder, many times, ends."""
    deep = root / "gotchas"
    for _ in range(12):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "x.yaml").write_text("id: x\n")
    assert "KB010" in {_code(file) for file in read_folder(root)}


def test_files_that_look_like_entries_and_are_not_read_are_reported(root: Path) -> None:
    """`.yml`, a misspelt kind folder and entries outside the kinds are named; notes and hidden files are left alone."""
    (root / "gotchas" / "other.yml").write_text("id: x\n")
    (root / "gotcha").mkdir()
    (root / "gotcha" / "lost.yaml").write_text("id: x\n")
    (root / "stray.yaml").write_text("id: x\n")
    (root / "README.md").write_text("notes")
    (root / "gotchas" / ".swap.yaml").write_text("{")
    assert [_code(file) for file in read_folder(root)] == ["", "KB022"]
    assert [(f.code, Path(f.path).name) for f in stray_files(root)] == [
        ("KB023", "gotcha"),
        ("KB022", "stray.yaml"),
    ]
    assert "gotchas/" in next(stray_files(root)).fix


@pytest.mark.parametrize("make", [lambda p: p / "absent", lambda p: p / "file", lambda p: p])
def test_a_folder_that_is_no_knowledge_base_is_one_clear_line(tmp_path: Path, make: object) -> None:
    """A missing folder, a file and a folder without kinds each say what to give instead."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(KnowledgeError) as caught:
        list(read_folder(make(tmp_path)))  # type: ignore[operator]
    assert "\n" not in str(caught.value)
    assert "give" in str(caught.value)
