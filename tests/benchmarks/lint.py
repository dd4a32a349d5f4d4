"""Time `rackfit lint` on many gotchas, and beside it check-jsonschema and yamllint on the same files in the same run.

    python tests/benchmarks/lint.py --count 10000 --peers PATH_TO_VENV_WITH_BOTH/bin

Each tool runs as its own process; the table shows wall seconds, the ratio to rackfit's cold run, and peak memory. Checks are
not equal: the peers see schema and style, rackfit also links, graph, claims, rules and prose.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from advisor.knowledge.locate import kb_folder, schema_folder

WORDS = [
    "rack",
    "node",
    "replica",
    "batch",
    "cache",
    "token",
    "latency",
    "throughput",
    "prefill",
    "decode",
    "memory",
    "bandwidth",
    "link",
    "switch",
    "fabric",
    "tray",
    "host",
    "power",
    "cooling",
    "limit",
    "request",
    "queue",
    "router",
    "expert",
    "layer",
    "head",
    "window",
    "weight",
    "precision",
    "checkpoint",
    "engine",
    "kernel",
    "graph",
    "budget",
    "fleet",
    "spare",
    "slice",
    "domain",
    "driver",
    "firmware",
    "topology",
    "schedule",
    "context",
    "prompt",
    "answer",
    "session",
    "stream",
    "buffer",
    "page",
    "block",
    "table",
    "index",
    "shard",
    "group",
    "rank",
    "stage",
]


def write_corpus(folder: Path, count: int, seed: int = 7) -> None:
    """A knowledge base of `count` gotchas of about 1.5 kB, with the concepts, facts and sources that they link to."""
    chance = random.Random(seed)
    shipped = kb_folder()
    for kind in (
        "concepts",
        "facts",
        "rules",
        "sources",
        "models",
        "accelerators",
        "systems",
        "engines",
        "evidence",
        "calibration",
    ):
        if (shipped / kind).is_dir():
            shutil.copytree(shipped / kind, folder / kind)
    concepts = sorted(f"concepts/{path.stem}" for path in (folder / "concepts").glob("*.yaml"))
    sources = sorted(f"sources/{path.stem}" for path in (folder / "sources").glob("*.yaml"))
    (folder / "gotchas").mkdir()
    for number in range(count):
        (folder / "gotchas" / f"bench-{number:06d}.yaml").write_text(
            _gotcha(number, chance, concepts, sources)
        )


def _gotcha(number: int, chance: random.Random, concepts: list[str], sources: list[str]) -> str:
    def prose(words: int, start: str) -> str:
        text, line = "", "  " + start
        for _ in range(words):
            word = chance.choice(WORDS)
            if len(line) + len(word) > 100:
                text, line = text + line + "\n", "  "
            line += (" " if line.strip() else "") + word
        return text + line + ".\n"

    own = ", ".join(chance.sample(concepts, 4))
    return (
        "# yaml-language-server: $schema=../../schemas/gotcha.schema.json\n"
        f"id: gotchas/bench-{number:06d}\ntitle: Measured surprise number {number} with {chance.choice(WORDS)}\nconcepts: [{own}]\n"
        f"symptom: >-\n{prose(55, 'The')}root_cause: >-\n{prose(55, 'Because the')}workaround: >-\n{prose(55, 'Use the')}"
        "severity: warning\napplies_when:\n  all:\n    - {fact: model_is_moe, is: true}\n"
        f"    - {{fact: context_tokens, at_least: {chance.choice((8192, 32768, 131072))}}}\n"
        f'sources: [{chance.choice(sources)}]\nsince: v6.0\nreviewed: "2026-11-01"\n'
    )


def timed(name: str, command: list[str], env: dict[str, str]) -> tuple[str, float, float, float]:
    """Wall seconds, processor seconds and peak MB of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, _, usage = os.wait4(process.pid, 0)
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return name, time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale


def main() -> None:
    """Write the corpus, run everything once, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--peers", type=Path, help="bin folder with check-jsonschema and yamllint")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "kb"
        folder.mkdir()
        write_corpus(folder, arguments.count)
        size = sum(path.stat().st_size for path in (folder / "gotchas").iterdir()) / arguments.count
        print(f"{arguments.count:,} gotchas of {size:,.0f} bytes")
        env = {**os.environ, "XDG_CACHE_HOME": str(Path(temporary) / "cache")}
        lint = [
            sys.executable,
            "-m",
            "advisor.cli.main",
            "lint",
            str(folder),
            "--no-config",
            "--format",
            "concise",
        ]
        rows = [timed("rackfit lint, cold", lint, env), timed("rackfit lint, warm", lint, env)]
        shipped = [sys.executable, "-m", "advisor.cli.main", "lint", str(kb_folder()), "--no-config"]
        rows += [timed("shipped KB, cold", shipped, env), timed("shipped KB, warm", shipped, env)]
        if arguments.peers:
            rows += _peers(arguments.peers, folder, env)
        _, wall, processor, _ = rows[0]
        print(f"{'':<24} {'wall':>8} {'':>8} {'processor':>10} {'':>9} {'peak':>8}")
        for name, seconds, busy, memory in rows:
            print(
                f"{name:<24} {seconds:8.2f} s {seconds / wall:5.1f}x {busy:10.2f} s {busy / processor:5.1f}x {memory:6.0f} MB"
            )


def _peers(folder: Path, kb: Path, env: dict[str, str]) -> list[tuple[str, float, float, float]]:
    schema = schema_folder() / "gotcha.schema.json"
    files = sorted(str(path) for path in (kb / "gotchas").iterdir())
    base = ["--schemafile", str(schema), "--base-uri", schema_folder().as_uri() + "/"]
    return [
        timed("check-jsonschema", [str(folder / "check-jsonschema"), *base, *files], env),
        timed("yamllint -d relaxed", [str(folder / "yamllint"), "-d", "relaxed", str(kb / "gotchas")], env),
    ]


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
