"""Word lists of the prose checks: names as their owners spell them, verbs that tell what to do, phrases that say nothing."""

from __future__ import annotations

import re

_NAMES = """
NVIDIA AMD Intel Google Microsoft Azure CoreWeave Supermicro Dell HPE Lenovo Cisco Oracle
NVLink NVSwitch InfiniBand PCIe RoCE RDMA Ethernet NCCL CUDA ROCm HBM
H100 H200 B200 B300 GB200 GB300 GH200 A100 L40S NVL72 HGX DGX MI300X MI325X MI350X MI355X Blackwell Hopper Instinct Gaudi
vLLM SGLang TensorRT-LLM TensorRT TRT-LLM PyTorch FlashAttention FlashInfer DeepGEMM DeepEP LLMBoost
MLPerf MLCommons Llama DeepSeek DeepSeek-R1 DeepSeek-V3 Qwen Mixtral Mistral Gemma Kimi MiniMax Nemotron
NVFP4 MXFP4 TPOT TTFT MoE MLA GQA GPU GPUs LLM LLMs GiB
"""

PRODUCT_NAMES: dict[str, str] = {name.lower(): name for name in _NAMES.split()}
"""Lower-case name -> name as its owner spells it."""

IMPERATIVES = frozenset(
    """
    accept add adjust aim allow allocate apply ask assume avoid balance bear begin benchmark bind book bound budget build buy
    calculate calibrate cap change check choose cite combine compare compute confirm consider consult convert copy correct
    count cross-check cut decide default demand deploy derate derive describe design disable discount discard distrust divide do
    don double drain drop enable enforce estimate evaluate exclude expect extrapolate feed fill find fix follow force get give
    go group halve hold identify ignore import include increase insist inspect isolate judge keep label leave let limit list
    load log look lower make mark match measure mind mix move multiply name negotiate never note offer offload open order pad
    pass pay pick pin place plan plot prefer price probe profile provision publish pull put quantise quantize quote raise read
    reach recompute record reduce refuse reject rely remember remove rent repeat replace replay report request require rerun
    reserve restrict retest reuse review round route rule run sample save scale search see select send separate serve set shard
    share shift ship shorten show shrink size skip sort specify split spread stagger start state stay stop store subtract sum swap
    switch take tell test throttle tie time trace track train treat trim trust try tune turn understand update upgrade use
    validate vary verify wait warm watch weigh widen work write
    """.split()
)
"""Verbs that begin an instruction."""

HOLLOW = re.compile(
    r"\b(?:it (?:all )?depends(?: on the (?:workload|case|situation|model|system))?|be (?:very )?(?:careful|aware|mindful)"
    r"|keep (?:this|it|that) in mind|as (?:appropriate|needed|required|necessary)|if (?:necessary|needed|possible)"
    r"|(?:use|follow) best practices?|(?:consult|read|see) (?:the |your )?(?:documentation|docs|manual|vendor)"
    r"|(?:contact|ask) (?:the |your )?vendor|test (?:it |everything )?(?:thoroughly|carefully)|your mileage may vary"
    r"|monitor (?:it |this )?(?:closely|carefully)|tune (?:as needed|accordingly)|there is no workaround|none(?: known)?"
    r"|no workaround|not applicable|n/a|take care|pay attention|think twice|plan ahead|choose wisely)\b"
)
"""Phrases that take the place of advice; matched in lower case."""
