"""Nothing goes over a network at run time: every command works in a process that may not open a socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FORBID = """
import sys

def forbid(event, arguments):
    if event.split(".")[0] in ("socket", "urllib", "http", "ftplib", "smtplib", "ssl", "webbrowser") and event != "socket.gethostname":
        raise SystemExit(f"network: {event} {arguments}")
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"):
        raise SystemExit(f"process: {event} {arguments}")

sys.addaudithook(forbid)
from advisor.cli.main import main
raise SystemExit(main(sys.argv[1:]))
"""
"""An audit hook sees what no replaced function would: sockets made in C, by whatever library."""

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip
"""Shapes as in the config.json of an 8B Llama."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "--model", "deepseek-r1", "--tpot-ms", "15"), ("ask", "--config", "config.json", "--format", "html"),
        ("map", "--model", "llama-2-70b", "--steps", "4", "--format", "svg"), ("lint", "kb", "--no-config"), ("chat", "--plain"),
        ("compare",), ("search", "kv"), ("show", "sources/mlperf-v6.1"), ("graph", "concepts/kv-cache", "--format", "svg"),
        ("understand", "r1 at 15 ms on https://example.com"), ("import", "hf-config", "config.json", "--output", "out"),
        ("estimate", "--config", "config.json", "--accelerator", "h100"), ("import", "mlperf", "results.json", "--output", "out"),
        ("explain", "KB403"), ("schema", "gotcha"), ("new", "gotcha", "kv-a-slug", "--kb", "kb"), ("findings", "--output", "found"),
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)  # fmt: skip
def test_no_command_opens_a_socket_or_starts_a_process(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Sockets, name look-ups, browsers and child processes are forbidden by an audit hook; the commands do not notice."""
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "results.json").write_text("[]")
    (tmp_path / "kb" / "gotchas").mkdir(parents=True)
    ended = subprocess.run(
        [sys.executable, "-c", FORBID, *arguments], cwd=tmp_path, input=b"llama 2 70b\njust answer\nquit\n", capture_output=True,
        timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )  # fmt: skip
    assert b"network:" not in ended.stderr, ended.stderr
    assert b"process:" not in ended.stderr, ended.stderr
    assert ended.returncode in (0, 1), ended.stderr


def test_the_hook_would_notice() -> None:
    """The same hook ends a process that does open a socket, so that the tests above mean something."""
    tried = FORBID.partition("from advisor")[0] + "import socket\nsocket.socket()\n"
    ended = subprocess.run([sys.executable, "-c", tried], capture_output=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert b"network: socket.__new__" in ended.stderr
