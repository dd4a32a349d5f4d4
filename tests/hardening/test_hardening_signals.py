"""Signals, and a real terminal around the full screen: every end gives it back as it was."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "advisor.cli.main")
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _signals_are_heeded() -> Iterator[None]:
    """Processes started here heed signals even where the tests run under nohup or in the background of a shell."""
    ignored = [number for number in NUMBERS if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_a_signal_ends_the_line_chat_with_its_status(number: signal.Signals) -> None:
    """A chat that waits for input ends at once, silently, with 128 + the number of the signal; a storm changes nothing."""
    process = subprocess.Popen(
        [*COMMAND, "chat", "--plain"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    for _ in range(20):
        process.send_signal(number)
    _, err = process.communicate(timeout=20)
    # while the interpreter takes itself down, its handlers are gone: a late one of the storm ends it the plain way
    assert process.returncode in (128 + number, -number)
    assert err == b""


def test_nohup_is_respected() -> None:
    """A hang-up that is ignored from outside stays ignored."""
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *COMMAND, "chat", "--plain"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(b"quit\n", timeout=20)
    assert process.returncode == 0, err


class Terminal:
    """A pseudo-terminal with the full screen in it."""

    def __init__(self, folder: Path, **env: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._termios = termios
        pid, self.fd = pty.fork()
        if pid == 0:
            whole = {
                **os.environ,
                "TERM": "xterm-256color",
                **{f"XDG_{kind}_HOME": str(folder) for kind in ("STATE", "CONFIG")},
                **env,
            }
            os.execve(sys.executable, [*COMMAND], whole)
        self.pid = pid
        self.resize = lambda rows, columns: fcntl.ioctl(
            self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0)
        )
        self.resize(40, 120)
        self.before = termios.tcgetattr(self.fd)[:4]
        self.out = b""

    def read_until(self, words: bytes, seconds: float = 20) -> None:
        until = time.monotonic() + seconds
        while words not in self.out and time.monotonic() < until:
            self._read(0.1)
        assert words in self.out, self.out[-500:]

    def _read(self, seconds: float) -> bool:
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            return False
        self.out += more
        return bool(more)

    def end(self, seconds: float = 20) -> int:
        """The status, once the process has ended and everything it wrote was read."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self._read(0.1) and select.select([self.fd], [], [], 0.1)[0]:
                    pass
                self.after = self._termios.tcgetattr(self.fd)[:4]
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"still running after {seconds} s")

    def assert_restored(self) -> None:
        assert self.after == self.before, "modes of the terminal were not restored"
        assert self.out.rfind(b"\x1b[?1049l") > self.out.rfind(b"\x1b[?1049h"), (
            "the alternate screen was not left"
        )
        assert self.out.rfind(b"\x1b[?25h") > self.out.rfind(b"\x1b[?25l"), "the cursor stayed hidden"
        assert self.out.rfind(b"\x1b[?1000l") > self.out.rfind(b"\x1b[?1000h"), "the mouse is still reported"
        assert b"Traceback" not in self.out


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_a_signal_gives_the_terminal_back(number: signal.Signals, tmp_path: Path) -> None:
    """The full screen, resized a hundred times on the way, ends with the status of the signal and a normal terminal."""
    terminal = Terminal(tmp_path)
    terminal.read_until(b"\x1b[?1049h")
    if number == signal.SIGTERM:
        terminal.read_until(b"serve")
        for step in range(100):
            terminal.resize(3 + step % 50, 5 + (step * 7) % 150)
            os.kill(terminal.pid, signal.SIGWINCH)
    os.kill(terminal.pid, number)
    assert terminal.end() == 128 + number
    terminal.assert_restored()


def test_bytes_of_another_encoding_are_no_end_of_the_screen(tmp_path: Path) -> None:
    """A Latin-1 terminal, Alt keys that send single bytes, a pasted image: shown as unknown characters."""
    terminal = Terminal(tmp_path)
    terminal.read_until(b"serve")
    os.write(terminal.fd, b"f\xfcr llama \xe1\xff\xc3")
    terminal.read_until("f\ufffdr llama".encode())
    os.write(terminal.fd, bytes(range(128, 256)))
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    terminal.assert_restored()


@pytest.mark.parametrize(
    ("columns", "lines"), [("-1", "999999"), ("99999999", "24"), ("x", "0"), ("\u0663", "1e3")]
)
def test_a_screen_of_absurd_size_in_the_environment_is_passed_over(
    columns: str, lines: str, tmp_path: Path
) -> None:
    """COLUMNS and LINES that no screen has: the size of the terminal itself counts."""
    terminal = Terminal(tmp_path, COLUMNS=columns, LINES=lines)
    terminal.read_until(b"serve")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.end() == 128 + signal.SIGTERM
    terminal.assert_restored()
