"""`chat --serve`: the same screen in a browser, on the loopback address, for its own page only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.serve import allowed, is_loopback

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("127.8.8.8", True),
        ("0.0.0.0", False),
        ("example.org", False),
    ],
)
def test_loopback_addresses(host: str, expected: bool) -> None:
    """Only addresses that this machine alone reaches count as loopback."""
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("127.0.0.1:8320", None, True),
        ("localhost:8320", "http://localhost:8320", True),
        ("[::1]:8320", "http://[::1]:8320", True),
        ("127.0.0.1:8320", "https://evil.example", False),
        ("evil.example:8320", None, False),
        ("evil.example:8320", "http://evil.example:8320", False),
        ("", None, False),
    ],
)
def test_other_pages_are_refused(host: str, origin: str | None, expected: bool) -> None:
    """Neither a foreign page nor a foreign name that points here can drive the terminal."""
    assert allowed(host, origin, loopback=True) is expected


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running `rackfit chat --serve --port 0`."""
    folder = tmp_path_factory.mktemp("served")
    command = [sys.executable, "-m", "advisor.cli.main", "chat", "--serve", "--port", "0"]
    with (folder / "err").open("w") as err:
        process = subprocess.Popen(
            command,
            stderr=err,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        try:
            yield _address(folder / "err", process)
        finally:
            process.terminate()
            process.wait(10)


def _address(path: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(100):
        found = re.search(r"open (http://\S+) in", path.read_text())
        if found:
            return found[1]
        assert process.poll() is None, path.read_text()
        time.sleep(0.1)
    raise AssertionError("no address: " + path.read_text())


def _get(url: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    request = urllib.request.Request(url, headers=headers)
    for _ in range(30):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), dict(error.headers)
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError("no answer from " + url)


def test_the_page_needs_nothing_from_elsewhere(served: str) -> None:
    """No address of another host is in the page, and the browser is told to refuse any."""
    status, page, headers = _get(served)
    assert status == 200
    assert "//" not in re.sub(r'"wss?://"', "", page)
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")


def test_the_server_refuses_foreign_names_and_pages(served: str) -> None:
    """A request under another name or from another page is forbidden."""
    assert _get(served, Host="evil.example")[0] == 403
    assert _get(served + "/ws", Origin="https://evil.example")[0] == 403


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_screen_appears_in_a_browser(served: str, tmp_path: Path) -> None:
    """Headless Chromium shows the prompt of the chat."""
    assert CHROMIUM is not None
    _get(served)
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,800",
        "--virtual-time-budget=15000", "--timeout=20000",
    ]  # fmt: skip
    dump = subprocess.run(
        [CHROMIUM, *flags, "--dump-dom", served], capture_output=True, timeout=90, text=True
    )
    assert "rackfit" in dump.stdout
    assert "xterm" in dump.stdout
