"""How long predictions take, and the rack over multi-node curve as the model sees it.

python tests/benchmarks/performance_speed.py
"""

from __future__ import annotations

import time

from advisor.knowledge import load_knowledge
from advisor.records import Accelerator, Layout, Model, System
from advisor.sizing.deployment import deployment_of
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.operating_point import largest_batch
from advisor.sizing.performance import Prefill, Speculation, operating_point, predict

MEASURED = {25: 1.15, 45: 1.15, 60: 1.20, 75: 1.35, 90: 1.73, 100: 2.23, 125: 4.39, 150: 3.30, 175: 1.93, 200: 1.30,
            225: 1.09, 250: 0.97, 275: 0.82}  # fmt: skip
"""tok/s a user -> GB200 NVL72 over multi-node B200 per GPU, DeepSeek-R1 FP4 1k/1k (InferenceX run 26306422380)."""


def microseconds(call: object, times: int) -> float:
    assert callable(call)
    started = time.perf_counter()
    for index in range(times):
        call(index)
    return (time.perf_counter() - started) / times * 1e6


def main() -> None:
    kb = load_knowledge()
    model, system = kb.find("models", "deepseek-r1"), kb.find("systems", "hgx-b200")
    assert isinstance(model, Model)
    assert isinstance(system, System)
    accelerator = kb.entries[system.accelerator]
    assert isinstance(accelerator, Accelerator)
    checkpoint, layout = pick_checkpoint(model, "fp4"), Layout(tp=8, ep=8)

    def one(index: int, output: int = 1024) -> None:
        predict(
            kb, model, checkpoint, system, accelerator, layout, batch_per_replica=1 + index % 512, input_tokens=1024,
            output_tokens=output,
        )  # fmt: skip

    def edge(index: int) -> None:
        operating_point(
            kb, model, checkpoint, system, accelerator, layout, ttft_ms=2000, tpot_ms=10 + index % 60, input_tokens=1024,
            output_tokens=1024, max_batch=4096,
        )  # fmt: skip

    def first(index: int) -> None:
        kb.memo.pop(
            next((key for key in kb.memo if isinstance(key, tuple) and key[0] == "deployment"), None), None
        )
        deployment_of(kb, model, checkpoint, system, accelerator, Layout(tp=1, dp=1 + index, ep=1))

    print(f"predict, same workload       {microseconds(one, 5000):8.1f} us")
    print(f"predict, a new workload      {microseconds(lambda i: one(i, 100 + i), 2000):8.1f} us")
    print(f"operating point              {microseconds(edge, 5000):8.1f} us")
    print(f"a deployment's first question {microseconds(first, 100):7.1f} us")
    print("\nGB200 NVL72 over B200, decoding, three drafts of which 1.2 are kept")
    for speed, measured in MEASURED.items():
        rates = [_rate(kb, name, speed) for name in ("hgx-b200", "gb200-nvl72")]
        print(
            f"{speed:4} tok/s/user  measured {measured:4.2f}  model {rates[1] / rates[0] if rates[0] else float('nan'):5.2f}"
        )


def _rate(kb: object, name: str, speed: float) -> float:
    from advisor.knowledge import KnowledgeBase

    assert isinstance(kb, KnowledgeBase)
    model, system = kb.find("models", "deepseek-r1"), kb.find("systems", name)
    assert isinstance(model, Model)
    assert isinstance(system, System)
    accelerator = kb.entries[system.accelerator]
    assert isinstance(accelerator, Accelerator)
    best = 0.0
    for layout in (
        Layout(tp=4, ep=4),
        Layout(tp=8, ep=8),
        *(Layout(tp=1, dp=w, ep=w) for w in (4, 8, 16, 32, 48, 64)),
    ):
        deployment = deployment_of(
            kb, model, pick_checkpoint(model, "fp4"), system, accelerator, layout, engine="trtllm",
            prefill=Prefill(layout=Layout(tp=4, ep=4)),
        )  # fmt: skip
        curve = deployment.curve(1024, 1024, 1536, Speculation(drafted=3, accepted=1.2))
        batch = largest_batch(curve, ttft_ms=None, tpot_ms=1000 / speed, max_batch=1e6)
        if batch is not None:
            best = max(best, batch * 1000 / curve.tpot_ms(batch) / layout.accelerators)
    return best


if __name__ == "__main__":
    main()
