"""`chat --serve`: the same screen in a browser, on the loopback address, for its own page only."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
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


@dataclass(frozen=True)
class Served:
    """A running `rackfit chat --serve`: its address and the key that it printed."""

    url: str
    key: str

    @property
    def cookies(self) -> dict[str, str]:
        """What a browser holds once it has opened the printed address."""
        return {f"rackfit-{self.url.rpartition(':')[2]}": self.key}

    @property
    def cookie(self) -> str:
        """The same as a header."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running `rackfit chat --serve --port 0`."""
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


def _address(path: Path, process: subprocess.Popen[bytes]) -> Served:
    for _ in range(100):
        found = re.search(r"open (http://\S+)/\?key=(\S{32}) in", path.read_text())
        if found:
            return Served(found[1], found[2])
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


def test_the_page_needs_nothing_from_elsewhere(served: Served) -> None:
    """No address of another host is in the page, and the browser is told to refuse any."""
    status, page, headers = _get(served.url, Cookie=served.cookie)
    assert status == 200
    assert "//" not in re.sub(r'"wss?://"', "", page)
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")


def test_the_server_refuses_foreign_names_and_pages(served: Served) -> None:
    """A request under another name or from another page is forbidden, even with the key."""
    assert _get(served.url, Host="evil.example", Cookie=served.cookie)[0] == 403
    assert _get(served.url + "/ws", Origin="https://evil.example", Cookie=served.cookie)[0] == 403


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/textual.js", "/download/x"])
@pytest.mark.parametrize("key", ["", "guessed"])
def test_nothing_is_served_without_the_key(served: Served, path: str, key: str) -> None:
    """Other users of the machine reach the port, but neither the page nor the terminal behind it; the answer says what to do."""
    cookie = served.cookie.replace(served.key, key)
    status, page, _ = _get(served.url + path, Cookie=cookie)
    assert status == 403
    assert "open the address that rackfit printed" in page
    assert _get(served.url + path)[0] == 403
    assert _get(f"{served.url}{path}?key={key}")[0] == 403


async def test_the_printed_address_lets_in_and_leaves_no_key_in_the_address_bar(served: Served) -> None:
    """The key becomes a cookie of this port that scripts and other sites cannot use."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        opened = await session.get(f"{served.url}/?key={served.key}")
        assert (opened.status, str(opened.url)) == (200, f"{served.url}/")
        cookie = opened.history[0].headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie


async def test_the_chat_works_over_the_page_s_connection(served: Served) -> None:
    """What the page does: connect, type a question, and the answer arrives."""
    async with (
        aiohttp.ClientSession(headers={"Cookie": served.cookie}) as session,
        session.ws_connect(f"{served.url}/ws?width=100&height=30") as socket,
    ):
        drawn = await _drawn_until(socket, b"hich model")
        for key in "Llama 3.3 70B fp8 32k context 100 users\r":
            await socket.send_json(["stdin", key])
        drawn = await _drawn_until(socket, b"NODE")
        assert b"NODE" in drawn


async def test_an_export_is_a_download_and_touches_no_file(served: Served) -> None:
    """In the browser F9 delivers the record to the reader instead of writing where the server runs."""
    async with (
        aiohttp.ClientSession(headers={"Cookie": served.cookie}) as session,
        session.ws_connect(f"{served.url}/ws?width=100&height=30") as socket,
    ):
        await _drawn_until(socket, b"Hugging")
        await socket.send_json(["stdin", "\x1b[20~"])
        await _drawn_until(socket, b"rackfit.md")
        await socket.send_json(["stdin", "\r"])
        async with asyncio.timeout(40):
            while (message := await socket.receive()).type != aiohttp.WSMsgType.TEXT:
                pass
        event, key = json.loads(message.data)
        assert event == "deliver_file_start"
        async with session.get(f"{served.url}/download/{key}") as download:
            assert download.headers["Content-Disposition"] == "attachment; filename=rackfit.md"
            assert (await download.text()).startswith("# rackfit conversation")


async def _drawn_until(socket: aiohttp.ClientWebSocketResponse, mark: bytes) -> bytes:
    drawn = b""
    async with asyncio.timeout(40):
        while mark not in drawn:
            message = await socket.receive()
            if message.type == aiohttp.WSMsgType.BINARY:
                drawn += message.data
            assert message.type not in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR), drawn[-500:]
    return drawn


class Browser:
    """Headless Chromium, driven through its debugging protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method and return its result."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        while True:
            answer = json.loads((await self._socket.receive()).data)
            if answer.get("id") == self._number:
                return dict(answer["result"])

    async def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return (await self.call("Runtime.evaluate", expression=expression))["result"].get("value")


@asynccontextmanager
async def browser(profile: Path) -> AsyncIterator[Browser]:
    """A new browser with an empty profile, ended afterwards."""
    assert CHROMIUM is not None
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader", f"--user-data-dir={profile}",
        "--remote-debugging-port=0", "--window-size=1200,800", "about:blank",
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(CHROMIUM, *flags, stderr=asyncio.subprocess.DEVNULL)
    try:
        port_file = profile / "DevToolsActivePort"
        async with asyncio.timeout(30):
            while not port_file.exists() or not port_file.read_text().strip():
                await asyncio.sleep(0.1)
        port = port_file.read_text().split()[0]
        async with aiohttp.ClientSession() as session:
            pages = await (await session.get(f"http://127.0.0.1:{port}/json")).json()
            address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                yield Browser(socket)
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
async def test_the_screen_appears_in_a_browser_and_takes_keys(served: Served, tmp_path: Path) -> None:
    """Headless Chromium draws the chat, the terminal has the focus, and nothing is loaded from elsewhere."""
    async with browser(tmp_path / "profile") as chromium:
        await chromium.call("Page.enable")
        await chromium.call("Page.navigate", url=f"{served.url}/?key={served.key}")
        async with asyncio.timeout(40):
            while "-first-byte" not in str(await chromium.value("document.body.className")):
                await asyncio.sleep(0.2)
        await asyncio.sleep(2)
        assert await chromium.value("document.activeElement.className") == "xterm-helper-textarea"
        loaded = await chromium.value("performance.getEntriesByType('resource').map(e => e.name).join(' ')")
        assert loaded
        assert all(name.startswith(served.url) for name in loaded.split())
        blank = await _picture_size(chromium)
        await chromium.call("Input.insertText", text="/evidence")
        await asyncio.sleep(1)
        assert blank > 15_000, "an empty page is smaller"
        assert await _picture_size(chromium) != blank


async def _picture_size(chromium: Browser) -> int:
    return len(base64.b64decode((await chromium.call("Page.captureScreenshot"))["data"]))
