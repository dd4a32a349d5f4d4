"""Speed of the screen: first frame against a minimal Textual application, key to echo, memory, and how long the loop stands still.

Run it alone: `python tests/benchmarks/tui.py`. Everything is measured in this run, in a pseudo-terminal of 120x40, with a
warm cache and a state folder of its own.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.pop(0)  # this file's folder, where its own name would hide the package `tui`

COLUMNS, ROWS = 120, 40
RUNS = 7
MESSAGES = 500
MINIMAL = """
from textual.app import App
from textual.widgets import Footer, Header, Input, Markdown, Tree
class Minimal(App):
    def compose(self):
        yield Header(); yield Tree("root"); yield Markdown("# Title"); yield Input(placeholder="type"); yield Footer()
Minimal().run()
"""
BARE = """
from textual.app import App
from textual.widgets import Input
class Bare(App):
    def compose(self):
        yield Input(placeholder="type")
Bare().run()
"""
RACKFIT = ["-m", "advisor.cli.main", "chat"]


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, arguments: list[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execv(sys.executable, [sys.executable, *arguments])
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.output = b""

    def wait_for(self, mark: bytes, timeout: float = 20.0) -> float:
        """Read until `mark` was written; seconds since the start."""
        end = time.perf_counter() + timeout
        while mark not in self.output:
            if time.perf_counter() > end:
                raise TimeoutError(f"{mark!r} did not appear; last: {self.output[-300:]!r}")
            self.read(0.05)
        return time.perf_counter() - self.started

    def read(self, timeout: float) -> bytes:
        """Whatever is written within `timeout` seconds."""
        if not select.select([self.descriptor], [], [], timeout)[0]:
            return b""
        try:
            chunk = os.read(self.descriptor, 65536)
        except OSError:
            return b""
        self.output += chunk
        return chunk

    def drain(self, quiet: float, longest: float = 2.0) -> None:
        """Read until nothing was written for `quiet` seconds; the blinking cursor alone never ends it."""
        end = time.perf_counter() + longest
        while time.perf_counter() < end and self.read(quiet):
            pass

    def echo(self, key: str) -> float:
        """Seconds until a typed letter is drawn."""
        self.drain(0.3)
        self.output = b""
        start = time.perf_counter()
        os.write(self.descriptor, key.encode())
        self.wait_for(key.encode())
        return time.perf_counter() - start

    def resident_mb(self) -> float:
        """Resident memory in MB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1000
        return 0.0

    def close(self) -> None:
        """End the program."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


@contextmanager
def terminal(arguments: list[str]) -> Iterator[Terminal]:
    """A program in a pseudo-terminal, ended afterwards."""
    running = Terminal(arguments)
    try:
        yield running
    finally:
        running.close()


def first_frames(folder: Path) -> None:
    """Time to the first frame with a place to type, interleaved so that all share the machine's mood."""
    (folder / "minimal.py").write_text(MINIMAL)
    (folder / "bare.py").write_text(BARE)
    cases = {
        "minimal (header, tree, markdown, input, footer)": ([str(folder / "minimal.py")], b"ype"),
        "bare (one input)": ([str(folder / "bare.py")], b"ype"),
        "rackfit chat": (RACKFIT, b"hich model do you want to serve?"),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for run in range(RUNS + 1):
        for name, (arguments, mark) in cases.items():
            with terminal(arguments) as running:
                seconds = running.wait_for(mark)
            if run:
                times[name].append(seconds)
    base = statistics.median(times["minimal (header, tree, markdown, input, footer)"])
    for name, values in times.items():
        middle = statistics.median(values)
        print(
            f"first frame  {name:<50} {middle * 1000:6.0f} ms  ({min(values) * 1000:.0f}-{max(values) * 1000:.0f})  {middle / base:.2f}x"
        )


def long_session() -> None:
    """Key to echo and memory with a resumed conversation of `MESSAGES` messages."""
    from advisor.dialogue.messages import Message
    from advisor.dialogue.sessions import SessionStore, Turn, stamp

    table = "| system | tok/s |\n|---|--:|\n| HGX B300 | 14,441 |\n| GB300 NVL72 | 15,779 |\n"
    text = f"# Verdict: node\n\nThree nodes **meet** the load; see `gotchas/bench-output-tokens-only`.\n\n- one\n- two\n\n{table}"
    with SessionStore().create() as session:
        for number in range(MESSAGES // 2):
            messages = (Message(role="rackfit", kind="answer", markdown=text),)
            session.append(Turn(at=stamp(), typed=f"question {number}", messages=messages))
    with terminal([*RACKFIT, "--resume"]) as running:
        running.wait_for(b"earlier messages")
        running.drain(1.0)
        delays = [running.echo(letter) * 1000 for letter in "abcdefghijklmnopqrstuvwxyz"]
        memory = running.resident_mb()
    delays.sort()
    print(
        f"key to echo  with {MESSAGES} messages: median {statistics.median(delays):.1f} ms, worst {delays[-1]:.1f} ms"
    )
    print(f"memory       with {MESSAGES} messages: {memory:.0f} MB")


async def standstills() -> None:
    """The longest time that the event loop stood still during each step: by the clock, and the loop's own computing in it."""
    from tui.app import RackfitApp
    from tui.engine import shipped_opener
    from tui.settings import Settings

    app = RackfitApp(shipped_opener([]), settings=Settings())
    worst = [0.0, 0.0]

    async def heart() -> None:
        while True:
            wall, own = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.001)
            worst[0] = max(worst[0], time.perf_counter() - wall - 0.001)
            worst[1] = max(worst[1], time.thread_time() - own)

    def tell(name: str) -> None:
        print(
            f"standstill   {name:<16} {worst[0] * 1000:5.0f} ms by the clock, {worst[1] * 1000:5.0f} ms of its own"
        )
        worst[:] = [0.0, 0.0]

    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        beating = asyncio.create_task(heart())
        steps = {
            "load": "",
            "answer": "DeepSeek-R1 in fp8, 8k context, 100 users",
            "answer again": "what if the context is 32k",
        }
        for name, text in steps.items():
            if text:
                app.submit(text)
            await app.workers.wait_for_complete()
            await pilot.pause(0.7)
            tell(name)
        for key in ("f2", "f3", "f4", "a", "f5", "f6", "f7", "f8"):
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause(0.3)
            tell(key)
        await pilot.press("escape")
        for name, size in {"narrower": (90, 30), "wider": (COLUMNS, ROWS)}.items():
            await pilot.resize_terminal(*size)
            await pilot.pause(0.3)
            tell(name)
        for text in (
            "why",
            "why not the node",
            "what if air cooled",
            "what did you assume",
            "list gotchas",
        ) * 4:
            app.submit(text)
            await app.workers.wait_for_complete()
        await pilot.pause(0.7)
        tell("long session")
        await pilot.resize_terminal(90, 30)
        await pilot.pause(0.3)
        tell("narrower, long")
        beating.cancel()


def main() -> None:
    """Print every measurement, or those named: frames, session, standstills."""
    wanted = sys.argv[1:] or ["frames", "session", "standstills"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"], os.environ["XDG_CONFIG_HOME"] = (
            str(folder / "state"),
            str(folder / "config"),
        )
        if "frames" in wanted:
            first_frames(folder)
        if "session" in wanted:
            long_session()
        if "standstills" in wanted:
            asyncio.run(standstills())


if __name__ == "__main__":
    main()
