"""Measure `rackfit understand --batch` on a file of labelled sentences.

    python tests/benchmarks/utterances.py FILE.jsonl [--wrong]

Each line of the file has text, intent (one or a list of acceptable ones), slots and perhaps optional_slots. Prints precision
and recall of the facts, the shares of right intents and of sentences that are right as a whole, and the time a sentence
takes. Ends with status 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dialogue"))

from expectations import Score

TARGETS = {"precision": 0.97, "recall": 0.92, "intent": 0.92, "whole": 0.85}
MOST_MS = 3.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--wrong", action="store_true", help="print the sentences that are not right")
    arguments = parser.parse_args()
    rows = [
        json.loads(line) for line in arguments.file.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    command = [sys.executable, "-m", "advisor.cli.main", "understand", "--batch", str(arguments.file)]
    read = [
        json.loads(line)
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    ]
    score = Score()
    for wanted, got in zip(rows, read, strict=True):
        score.add(
            wanted,
            {"intent": got["intent"], "facts": {name: fact["value"] for name, fact in got["facts"].items()}},
        )
    if arguments.wrong:
        print("\n".join(score.wrong))
    reached = {
        "precision": score.precision,
        "recall": score.recall,
        "intent": score.intents / score.sentences,
        "whole": score.whole / score.sentences,
    }
    took = _milliseconds([row["text"] for row in rows])
    print(f"{score.sentences} sentences")
    for name, target in TARGETS.items():
        print(
            f"{name:10} {reached[name]:.3f}  target {target:.2f}  {'ok' if reached[name] >= target else 'MISSED'}"
        )
    print(f"{'ms each':10} {took:.2f}  target {MOST_MS:.2f}  {'ok' if took < MOST_MS else 'MISSED'}")
    return int(took >= MOST_MS or any(reached[name] < target for name, target in TARGETS.items()))


def _milliseconds(texts: list[str]) -> float:
    """Mean time of one sentence in this process, the knowledge base loaded and its phrases compiled."""
    from advisor.dialogue.understand import understand
    from advisor.knowledge import load_knowledge

    kb = load_knowledge()
    understand(kb, texts[0])
    start = time.perf_counter()
    for text in texts:
        understand(kb, text)
    return (time.perf_counter() - start) / len(texts) * 1000


if __name__ == "__main__":
    raise SystemExit(main())
