"""The shipped application in a real terminal (tmux): from the start to an exported report, and where no screen can be."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TMUX = shutil.which("tmux")
RACKFIT = [sys.executable, "-m", "advisor.cli.main"]

needs_tmux = pytest.mark.skipif(TMUX is None, reason="no tmux on this machine")


class Tmux:
    """A terminal of its own server, so that nobody's sessions are touched."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "tmux"
        self._folder = folder

    def _run(self, *arguments: str) -> str:
        assert TMUX is not None
        command = [TMUX, "-S", str(self._socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout

    def start(self, columns: int, rows: int, *arguments: str, **environment: str) -> None:
        """Start `rackfit chat` in a terminal of this size; the shell tells its exit status."""
        words = {"COLORTERM": "truecolor", **environment}
        exports = " ".join(f"{name}={value}" for name, value in words.items())
        command = f"cd {self._folder} && env {exports} {' '.join(RACKFIT)} chat {' '.join(arguments)}; echo left with $?; sleep 60"
        self._run("new-session", "-d", "-x", str(columns), "-y", str(rows), command)

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        for key in keys:
            self._run("send-keys", key)
            time.sleep(0.15)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._run("send-keys", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *flags: str) -> str:
        """What is on screen."""
        return self._run("capture-pane", "-p", *flags)

    def wait_for(self, text: str, seconds: float = 30.0) -> str:
        """The screen once it shows `text`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            screen = self.screen()
            if text in screen:
                return screen
            time.sleep(0.1)
        raise AssertionError(f"{text!r} did not appear:\n{self.screen()}")

    def close(self) -> None:
        """End the server."""
        self._run("kill-server")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    """A terminal."""
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.close()


@needs_tmux
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_from_the_start_to_an_exported_report(tmux: Tmux, tmp_path: Path, columns: int, rows: int) -> None:
    """Ask, see the verdict, look at the panels, resize, export the decision, quit: all with the keyboard."""
    tmux.start(columns, rows)
    tmux.wait_for("? help")
    tmux.type("Llama 3.3 70B in fp8, 32k context, 100 users")
    tmux.keys("Enter")
    tmux.wait_for("NODE")
    for key, text in (
        ("F3", "weights"),
        ("F4", "noise of the same silicon"),
        ("F6", "Verdict: node"),
        ("F8", "ctrl+k"),
    ):
        tmux.keys(key)
        tmux.wait_for(text)
    tmux.resize(100, 30)
    tmux.resize(columns, rows)
    tmux.keys("Escape")
    tmux.type("why")
    tmux.keys("Enter")
    tmux.wait_for("❯ why")
    tmux.keys("F9")
    tmux.wait_for("Decision and conversation")
    tmux.keys("Enter")
    tmux.wait_for("Saved rackfit-llama-3.3-70b.md")
    tmux.keys("C-q")
    tmux.wait_for("left with 0")
    report = (tmp_path / "rackfit-llama-3.3-70b.md").read_text()
    assert "**You:** Llama 3.3 70B in fp8, 32k context, 100 users" in report
    assert "Verdict" in report


@needs_tmux
def test_no_color_reaches_the_terminal_without_colours(tmux: Tmux) -> None:
    """With NO_COLOR not one colour sequence is written, and the screen works."""
    tmux.start(100, 30, NO_COLOR="1")
    tmux.wait_for("? help")
    raw = tmux.screen("-e")
    codes = {code for part in raw.split("\x1b[")[1:] if "m" in part for code in part.split("m")[0].split(";")}
    assert codes <= {"", "0", "1", "2", "3", "4", "7", "39", "49"}


@needs_tmux
def test_the_terminals_cursor_can_be_shown_at_the_prompt(tmux: Tmux) -> None:
    """For Braille displays: the terminal's own cursor is visible and stands where one types."""
    tmux.start(80, 24)
    tmux.wait_for("Which model will you serve?")
    tmux.type("/cursor")
    tmux.keys("Enter")
    tmux.wait_for("cursor is shown")
    tmux.type("abc")
    tmux.wait_for("abc")
    time.sleep(0.3)
    flag, row = tmux._run("display-message", "-p", "#{cursor_flag} #{cursor_y}").split()
    assert flag == "1"
    assert "abc" in tmux.screen().splitlines()[int(row)]


@needs_tmux
def test_an_overlay_that_does_not_exist_is_one_line(tmux: Tmux) -> None:
    """Bad input ends with status 2 before the screen starts."""
    tmux.start(80, 24, "--kb", "/nowhere/at/all")
    assert "is not a folder" in tmux.wait_for("left with 2")


@needs_tmux
def test_termination_leaves_the_terminal_as_it_was(tmux: Tmux) -> None:
    """A SIGTERM ends the screen and restores the terminal."""
    tmux.start(80, 24)
    tmux.wait_for("Which model will you serve?")
    parent = int(tmux._run("display-message", "-p", "#{pane_pid}"))
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    ).stdout
    child = next(int(line.split()[0]) for line in children.splitlines() if "advisor.cli.main" in line)
    os.kill(child, 15)
    tmux.wait_for("left with")
    assert tmux._run("display-message", "-p", "#{alternate_on} #{mouse_any_flag}").split() == ["0", "0"]


def test_without_a_terminal_the_chat_is_line_by_line() -> None:
    """Pipes get the plain chat and a notice why."""
    done = subprocess.run(
        [*RACKFIT, "chat"], input="quit\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert "standard input is not a terminal: chatting line by line (--plain)" in done.stderr
    assert "\x1b" not in done.stdout


def test_a_dumb_terminal_gets_the_chat_line_by_line() -> None:
    """TERM=dumb falls back with a notice, even on a terminal."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execv(sys.executable, [*RACKFIT, "chat"])
    output = b""
    end = time.monotonic() + 30
    while b"> " not in output and time.monotonic() < end:
        output += os.read(descriptor, 4096)
    os.write(descriptor, b"quit\n")
    _, status = os.waitpid(pid, 0)
    os.close(descriptor)
    assert status == 0
    assert b"TERM is dumb: chatting line by line" in output
    assert b"\x1b" not in output
