"""Speed of the rule engine and of the checks of the rule base: `python tests/benchmarks/rules.py`.

Process time, best of several batches. Generated rules look like the shipped ones: one to four comparisons on 60 facts, three in
four with an equality; all are tested against one full set of facts.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.knowledge.build import build_record
from advisor.reasoning.conditions import values_of
from advisor.reasoning.engine import program, run_rules
from advisor.reasoning.verify import verify_rules
from advisor.records import Entry, Facts, FactValue

SIZES = (500, 5000)
CHOICES = [f"kind {number}" for number in range(12)]


def generated(count: int) -> KnowledgeBase:
    """A knowledge base of `count` rules over 30 choices and 30 numbers."""
    chance = random.Random(count)
    entries: list[Entry] = []
    for number in range(30):
        choices = [{"value": value} for value in CHOICES]
        for kind, extra in (("choice", {"choices": choices}), ("number", {"minimum": 0, "maximum": 1000})):
            name = f"{kind}_{number}"
            data = {
                "id": f"facts/{kind}-{number}",
                "title": name,
                "name": name,
                "type": kind,
                "used_by": ["sizing"],
                **extra,
            }
            entries.append(build_record("facts", data))
    for number in range(count):
        atoms: list[dict[str, Any]] = []
        if chance.random() < 0.75:
            atoms.append({"fact": f"choice_{chance.randrange(30)}", "is": chance.choice(CHOICES)})
        for _ in range(chance.randrange(1, 4)):
            bound = chance.choice(["above", "at_least", "below", "at_most"])
            atoms.append({"fact": f"number_{chance.randrange(30)}", bound: chance.randrange(1, 1000)})
        then = [{"favour": chance.choice(["node", "rack"])}]
        rule = {
            "id": f"rules/r-{number}",
            "title": "generated",
            "reason": "generated",
            "when": {"all": atoms},
            "then": then,
        }
        entries.append(build_record("rules", rule))
    return KnowledgeBase(sorted(entries, key=lambda entry: entry.id))


def some_facts(kb: KnowledgeBase) -> Facts:
    """A value for every fact."""
    chance = random.Random(7)
    return {
        name: FactValue(
            value=chance.choice(CHOICES) if fact.choices else chance.randrange(1000), origin="said"
        )
        for name, fact in kb.facts.items()
    }


def best(action: Callable[[], object], repeats: int, batches: int = 7) -> float:
    """Seconds of process time per call, best batch."""
    times = []
    for _ in range(batches):
        started = time.process_time()
        for _ in range(repeats):
            action()
        times.append((time.process_time() - started) / repeats)
    return min(times)


def main() -> None:
    """Print one line per measurement."""
    for count in SIZES:
        kb = generated(count)
        facts = some_facts(kb)
        compiled = time.process_time()
        rules = program(kb, "comparison")
        compiled = time.process_time() - compiled
        run = run_rules(kb, facts, scope="comparison")
        values = values_of(facts)
        assert run.fired == {
            rule.id for rule, test in zip(rules.rules, rules.tests, strict=True) if test(values)
        }
        seconds = best(lambda kb=kb, facts=facts: run_rules(kb, facts, scope="comparison"), 20)
        plain = best(lambda rules=rules, values=values: [test(values) for test in rules.tests], 20)
        trace = best(lambda kb=kb, facts=facts: run_rules(kb, facts, scope="comparison").trace, 3, 3)
        print(
            f"{count:5} rules: run {seconds * 1e6:7.0f} us ({len(run.fired)} fired), with the whole trace {trace * 1e3:6.2f} ms, "
            f"testing every rule {plain * 1e6:6.0f} us, compiling once {compiled * 1e3:5.1f} ms"
        )
    small = generated(500)
    print(f"  500 rules: checks {best(lambda: verify_rules(small), 1, 3) * 1e3:.0f} ms")
    shipped = load_knowledge()
    requirement = {"model": FactValue(value="models/deepseek-r1", origin="said")}
    for scope in ("requirement", "candidate", "comparison"):
        seconds = best(lambda scope=scope: run_rules(shipped, requirement, scope=scope), 200)
        print(f"shipped {scope} rules ({len(program(shipped, scope).rules)}): run {seconds * 1e6:.0f} us")
    print(f"shipped rule base: checks {best(lambda: verify_rules(shipped), 1, 5) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
