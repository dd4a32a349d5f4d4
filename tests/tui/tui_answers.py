"""A hand-written answer and a conversation that gives it: the screen is tested against these, not against the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from advisor.dialogue.messages import Chip, Message
from advisor.errors import InputError
from advisor.knowledge.base import KnowledgeBase
from advisor.records import (
    Candidate,
    Choice,
    Citation,
    Comparison,
    Concept,
    Condition,
    Confidence,
    Effect,
    Estimate,
    Evidence,
    Exclusion,
    Fact,
    Facts,
    FactValue,
    Fleet,
    Flip,
    Gotcha,
    LatencyEstimate,
    Layout,
    Memory,
    NoiseBand,
    Pair,
    PairSide,
    RaisedGotcha,
    Recommendation,
    Result,
    Rule,
    Scale,
    Source,
    TraceStep,
)
from tui.engine import Opened

GIB = 1024**3

FACTS = (
    Fact(id="facts/model", title="Model", name="model", type="entry", entry_kind="concepts", ask="always", order=1,
         question="Which model do you want to serve?", flag="--model"),
    Fact(id="facts/weight-precision", title="Weight precision", name="weight_precision", type="choice", ask="always", order=2,
         question="In which precision are the weights?", flag="--precision",
         choices=(Choice(value="bf16", label="BF16", help="16 bit"), Choice(value="fp8", label="FP8", help="8 bit"),
                  Choice(value="fp4", label="FP4", help="4 bit with scales"))),
    Fact(id="facts/context-tokens", title="Context length", name="context_tokens", type="integer", unit="tokens", ask="always",
         order=3, minimum=1, question="How long may one conversation get?", suggestions=(8192, 32768, 131072), flag="--context"),
    Fact(id="facts/concurrency", title="Concurrent users", name="concurrency", type="integer", ask="decisive", order=4, minimum=1,
         suggestions=(16, 64, 256), flag="--concurrency"),
    Fact(id="facts/tpot-ms", title="Time per output token", name="tpot_ms", type="number", unit="ms", ask="decisive", order=5,
         minimum=1, suggestions=(15, 40, 200), flag="--tpot-ms"),
    Fact(id="facts/cooling", title="Cooling", name="cooling", type="choice", ask="decisive", order=6, flag="--cooling",
         choices=(Choice(value="air", label="Air"), Choice(value="liquid", label="Liquid"))),
)  # fmt: skip

ENTRIES = (
    *FACTS,
    Concept(id="concepts/scale-up", title="Scale-up domain", summary="Accelerators that share one fast fabric.",
            related=("concepts/tensor-parallelism",)),
    Concept(id="concepts/tensor-parallelism", title="Tensor parallelism", summary="Each layer is split over several accelerators.",
            broader=("concepts/parallelism",), aliases=("TP",)),
    Concept(id="concepts/parallelism", title="Parallelism", summary="Ways to spread one model."),
    Gotcha(id="gotchas/rack-is-not-faster-per-gpu", title="A rack is not faster per GPU at 70B",
           concepts=("concepts/scale-up",), symptom="The per-GPU rate of the rack is the node's.",
           root_cause="The model fits in one node.", workaround="Buy nodes.", severity="warning",
           applies_when=Condition(fact="tpot_ms", above=20)),
    Rule(id="rules/tie-goes-to-nodes", title="A tie goes to the smaller unit", when=Condition(fact="cost_outcome", is_="tie"),
         then=(Effect(kind="favour", target="node"),), reason="Inside the noise the smaller failure domain decides.",
         because=("gotchas/rack-is-not-faster-per-gpu",)),
    Source(id="sources/mlperf", title="MLPerf Inference", publisher="MLCommons", url="https://mlcommons.org"),
    *(
        Evidence(id=f"evidence/mlperf-v6.1/acme/{name}", title=title, source="sources/mlperf", round="v6.1", submitter="Acme",
                 system_name=title, scale=Scale(accelerators=count, nodes=1, unit=unit), grade="audited",
                 results=(Result(benchmark="llama2-70b", model="models/llama-2-70b", scenario="offline", metric="tokens_per_s",
                                 value=value, record="6.1-0001"),))
        for name, title, count, unit, value in (
            ("b300-x8", "8x B300", 8, "node", 115_528.0), ("gb300-x72", "72x GB300", 72, "rack", 1_136_088.0))
    ),
)  # fmt: skip


def knowledge() -> KnowledgeBase:
    """A knowledge base of a dozen entries."""
    return KnowledgeBase(sorted(ENTRIES, key=lambda entry: entry.id), fingerprint="hand-written")


def _estimate(value: float, unit: str = "tokens/s") -> Estimate:
    return Estimate(value=value, low=value * 0.93, high=value * 1.07, unit=unit, basis="audited",
                    evidence=("evidence/mlperf-v6.1/acme/b300-x8",))  # fmt: skip


def _memory(hbm: float, weights: float, kv: float) -> Memory:
    return Memory(hbm_bytes=hbm * GIB, weights_bytes=weights * GIB, kv_bytes_per_token=160 * 1024, kv_bytes_needed=kv * GIB,
                  kv_capacity_tokens=900_000, max_sequences=110, reserve_bytes=16 * GIB, activation_bytes=2 * GIB,
                  headroom_bytes=(hbm - weights - kv - 16) * GIB, limiting="KV cache")  # fmt: skip


def _candidate(
    name: str, title: str, unit: Any, size: int, memory: Memory, rate: float, systems: int
) -> Candidate:
    fits = memory.headroom_bytes >= 0
    fleet = Fleet(accelerators_needed=22, systems=systems, spare_systems=0, accelerators_installed=systems * size,
                  accelerators_idle=systems * size - 22, replicas=11, utilisation=22 / (systems * size), power_kw=14.3 * systems,
                  failure_domain=size, capacity_lost_on_failure=1 / systems)  # fmt: skip
    latency = LatencyEstimate(ttft_ms=_estimate(310, "ms"), tpot_ms=_estimate(31, "ms"), batch_per_replica=64)
    out = () if fits else (Exclusion(constraint="memory", text="weights and KV cache need 48.0 GiB more per GPU",
                                     nearest="context 16k"),)  # fmt: skip
    return Candidate(system=f"systems/{name}", title=title, unit=unit, accelerator=f"accelerators/{name}", fits=fits,
                     feasible=fits, layout=Layout(tp=2, replicas=size // 2), memory=memory, throughput_per_accelerator=_estimate(rate),
                     latency=latency, fleet=fleet if fits else None, exclusions=out,
                     arithmetic=(f"{rate:,.0f} tokens/s x 22 = {rate * 22:,.0f} tokens/s",))  # fmt: skip


def _side(name: str, accelerator: str, count: int, value: float, unit: str) -> PairSide:
    return PairSide(evidence=f"evidence/mlperf-v6.1/acme/{name}", record="6.1-0001", submitter="Acme", platform=name,
                    accelerator=f"accelerators/{accelerator}", accelerators=count, unit=unit, value=value,
                    per_accelerator=value / count, software="TensorRT-LLM 1.2")  # fmt: skip


def _pair(
    grade: Any, scenario: str, small: float, large: float, *, tie: bool, confounders: tuple[str, ...] = ()
) -> Pair:
    return Pair(kind="node-rack", round="v6.1", benchmark="llama2-70b", scenario=scenario, metric="tokens_per_s",
                small=_side("b300-x8", "b300", 8, small, "node"), large=_side("gb300-x72", "gb300", 72, large, "rack"),
                ratio=(large / 72) / (small / 8), grade=grade, tie=tie, noise_low=0.94, noise_high=1.06, confounders=confounders)  # fmt: skip


def recommendation(**changes: Any) -> Recommendation:
    """Nodes for a 70B model: a tie on cost, broken towards the smaller unit."""
    requirement: Facts = {
        "model": FactValue(value="concepts/parallelism", origin="said"),
        "weight_precision": FactValue(value="fp8", origin="said"),
        "context_tokens": FactValue(value=32768, origin="said"),
        "concurrency": FactValue(value=256, origin="said"),
        "tpot_ms": FactValue(value=40, origin="assumed", text="a chat that reads well"),
    }
    pairs = (
        _pair("A", "offline", 115_528.0, 1_136_088.0, tie=True),
        _pair("B", "server", 98_000.0, 901_200.0, tie=True, confounders=("software version",)),
        _pair("C", "interactive", 41_000.0, 702_000.0, tie=False, confounders=("disaggregated", "submitter")),
    )
    answer = Recommendation(
        verdict="node", confidence=Confidence(level="medium", reasons=("one assumption", "a tie on cost")),
        headline="3 × HGX B300: 11 replicas × 2 GPUs, 24 installed, 2 idle",
        summary="Three nodes meet the load. The rack's edge of 9% per GPU is inside the noise, so the smaller unit decides.",
        requirement=requirement,
        candidates=(
            _candidate("hgx-b300", "HGX B300", "node", 8, _memory(268, 36, 92), 14_441, 3),
            _candidate("gb300-nvl72", "GB300 NVL72", "rack", 72, _memory(276, 36, 92), 15_779, 1),
            _candidate("hgx-h100", "HGX H100", "node", 8, _memory(80, 20, 92), 3_100, 9),
        ),
        comparison=Comparison(rack_over_node=_estimate(1.09, ""), silicon_effect=_estimate(1.14, ""), scale_effect=_estimate(0.96, ""),
                              noise_band=NoiseBand(spread=1.06, submissions=4), confounders=("power limit",), pairs=pairs,
                              cost_ratio_low=0.95, cost_ratio_high=1.34, break_even_premium=1.02, tie=True),
        flips=(Flip(fact="tpot_ms", from_=40, to=18, verdict="rack", text="At 18 ms per token the rack wins"),),
        gotchas=(RaisedGotcha(id="gotchas/rack-is-not-faster-per-gpu", title="A rack is not faster per GPU at 70B",
                              why="because time per output token 40"),),
        trace=(TraceStep(rule="rules/tie-goes-to-nodes", subject="", fired=True, reads={"cost_outcome": "tie"},
                         concluded=("favour node (+1)",), reason="Inside the noise the smaller failure domain decides."),),
        evidence=(Citation(id="evidence/mlperf-v6.1/acme/b300-x8", text="Acme, MLPerf Inference v6.1", grade="audited", verified=True),),
        assumptions=("Time per output token 40 ms: a chat that reads well",), warnings=(), disclaimers=("Derived figures are not verified.",),
        best_node="systems/hgx-b300", best_rack="systems/gb300-nvl72", decided_by=("rules/tie-goes-to-nodes",),
    )  # fmt: skip
    return replace(answer, **changes)


ANSWER = """# 3 × HGX B300: 11 replicas × 2 GPUs

**Verdict: node** · confidence **medium**

Three nodes meet the load. The rack's edge of *9% per GPU* is inside the noise, so the smaller unit decides.

| system | per GPU tok/s | installed | idle |
|---|--:|--:|--:|
| HGX B300 | 14,441 | 24 | 2 |
| GB300 NVL72 | 15,779 | 72 | 50 |

- At 18 ms per token the rack wins (`rules/tie-goes-to-nodes`)
- See `gotchas/rack-is-not-faster-per-gpu`
"""


class ScriptedConversation:
    """Answers everything with the hand-written answer; `slow` texts and `broken` ones behave as their names say."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.facts: Facts = {}
        self.recommendation: Recommendation | None = None
        self.transcript: list[Message] = []
        self.closed = False
        self.said: list[str] = []
        self.answer = recommendation()

    def _keep(self, messages: list[Message]) -> list[Message]:
        self.transcript += messages
        return messages

    def open(self) -> list[Message]:
        text = "Name a model and I size it: 8-GPU nodes or a 72-GPU rack, and how many."
        return self._keep([Message(role="rackfit", kind="question", markdown=text)])

    def say(self, text: str) -> list[Message]:
        self.said.append(text)
        if "broken" in text:
            raise RuntimeError("scripted defect")
        self.recommendation = self.answer
        self.facts = {
            name: value for name, value in self.recommendation.requirement.items() if value.origin == "said"
        }
        chips = (
            Chip(fact="model", label="Model", text="Llama 3.1 70B"),
            Chip(fact="context_tokens", label="Context length", text="32k"),
        )
        return self._keep(
            [
                Message(role="rackfit", kind="echo", markdown="Understood:", chips=chips),
                Message(role="rackfit", kind="answer", markdown=ANSWER, citations=("evidence/mlperf-v6.1/acme/b300-x8",)),
                Message(role="rackfit", kind="question", markdown="How is the site cooled?", choices=("Air", "Liquid", "skip")),
            ]
        )  # fmt: skip

    def set_fact(self, name: str, value: Any) -> list[Message]:
        if value == "nonsense":
            raise InputError(f"{name}: 'nonsense' is not a value; give a number such as 8192")
        if value is None:
            self.facts.pop(name, None)
        else:
            self.facts[name] = FactValue(value=int(value) if str(value).isdigit() else value, origin="said")
        base = self.answer
        self.recommendation = replace(base, requirement={**base.requirement, **self.facts})
        return self._keep(
            [Message(role="rackfit", kind="answer", markdown=f"With {name} = {value}: **still nodes**.")]
        )


def opened(_resume: str | None = None, _before: Opened | None = None) -> Opened:
    """What the application gets instead of the shipped knowledge base."""
    kb = knowledge()
    return Opened(kb=kb, conversation=ScriptedConversation(kb))
