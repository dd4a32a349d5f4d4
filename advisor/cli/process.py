"""How the process begins and ends: signals, closed standard streams, output that nobody takes any more."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

_LEAVE_SCREEN = (
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""Mouse, focus, paste and key reports off, the normal screen and the cursor back."""


def prepare() -> None:
    """End cleanly on SIGTERM and SIGHUP; give standard streams that were closed a stand-in."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115  # lives as long as the process
    end_on("SIGTERM", "SIGHUP")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, _interrupt)


def _pass_over(_number: int, _frame: object) -> None:
    """Instead of SIG_IGN, which CPython complains about when the signal is already on its way."""


def _interrupt(_number: int, _frame: object) -> None:
    """Ctrl-C once; a second one does not disturb the ending that the first one began."""
    signal.signal(signal.SIGINT, _pass_over)
    raise KeyboardInterrupt


def end_on(*names: str) -> None:
    """Let signals end the process by way of all `finally` blocks, with status 128 + number; ignored ones (nohup) stay so."""
    for name in names:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # not the main thread
                signal.signal(number, _end)


def _end(number: int, _frame: object) -> None:
    signal.signal(number, _pass_over)
    sys.unraisablehook = lambda _: None  # what is cut off in the middle has nothing to report
    if "logging" in sys.modules:
        sys.modules["logging"].disable()
    raise SystemExit(128 + number)


def forget_absurd_size() -> None:
    """Take COLUMNS and LINES out of the environment where no screen is that large or small: the terminal knows better."""
    for name in ("COLUMNS", "LINES"):
        value = os.environ.get(name, "")
        if value and not (value.isascii() and value.isdigit() and len(value) < 4 and int(value) > 0):
            del os.environ[name]


@contextlib.contextmanager
def terminal_restored() -> Iterator[None]:
    """Give the terminal back as it was, even when a full-screen program ends before it can do so itself."""
    try:
        import termios
    except ImportError:  # Windows
        yield
        return
    try:
        saved = termios.tcgetattr(sys.stdin.fileno())
    except (OSError, ValueError, termios.error):
        yield
        return
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError, ValueError, termios.error):
            os.write(sys.stdout.fileno(), _LEAVE_SCREEN)
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, saved)
        raise


def drop_output() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not fail on it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
