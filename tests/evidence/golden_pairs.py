"""Ratios per accelerator worked out by hand from the published summaries, as printed there: two or three decimals.

Source: summary_results.json of mlcommons/inference_results_v5.1 at 965182b and of gbeezybez/inference_results_v6.0 at
232fbf9, summary.json of mlcommons/inference_results_v6.1 at 10ecdff. Columns: round, benchmark, scenario, small side
(submitter, accelerator, count), large side, ratio as text.
"""

from __future__ import annotations

Row = tuple[str, str, str, tuple[str, str, int], tuple[str, str, int], str]


def _rows(table: str) -> list[Row]:
    rows = []
    for line in table.strip().splitlines():
        round_, benchmark, scenario, small, large, ratio = line.split()
        sides = [side.split("/") for side in (small, large)]
        a, b = ((who.replace("_", " "), part, int(count)) for who, part, count in sides)
        rows.append((round_, benchmark, scenario, a, b, ratio))
    return rows


NODE_RACK = _rows("""
v5.1 deepseek-r1 offline NVIDIA/b200/8 NVIDIA/gb200/72 0.96
v5.1 deepseek-r1 server NVIDIA/b200/8 NVIDIA/gb200/72 1.00
v5.1 llama3.1-405b interactive NVIDIA/b200/8 NVIDIA/gb200/72 1.47
v5.1 llama3.1-405b offline NVIDIA/b200/8 NVIDIA/gb200/72 1.01
v5.1 llama3.1-405b server NVIDIA/b200/8 NVIDIA/gb200/72 1.04
v6.0 deepseek-r1 offline Google/b200/8 Google/gb200/72 0.60
v6.0 deepseek-r1 offline NVIDIA/b300/8 NVIDIA/gb300/288 0.985
v6.0 deepseek-r1 offline NVIDIA/b300/8 NVIDIA/gb300/72 1.02
v6.0 deepseek-r1 offline Nebius/b300/8 Nebius/gb300/72 1.08
v6.0 deepseek-r1 server Google/b200/8 Google/gb200/72 0.42
v6.0 deepseek-r1 server NVIDIA/b300/8 NVIDIA/gb300/288 1.01
v6.0 deepseek-r1 server NVIDIA/b300/8 NVIDIA/gb300/72 1.04
v6.0 deepseek-r1 server Nebius/b300/8 Nebius/gb300/72 1.06
v6.0 gpt-oss-120b offline NVIDIA/b300/8 NVIDIA/gb300/72 1.11
v6.0 gpt-oss-120b offline Nebius/b300/8 Nebius/gb300/72 1.09
v6.0 gpt-oss-120b server NVIDIA/b300/8 NVIDIA/gb300/72 1.19
v6.0 gpt-oss-120b server Nebius/b300/8 Nebius/gb300/72 1.21
v6.0 llama2-70b-99.9 offline NVIDIA/b300/8 NVIDIA/gb300/72 1.11
v6.0 llama2-70b-99.9 server NVIDIA/b300/8 NVIDIA/gb300/72 0.90
v6.0 llama3.1-405b offline NVIDIA/b300/8 NVIDIA/gb300/72 1.11
v6.0 llama3.1-405b server NVIDIA/b300/8 NVIDIA/gb300/72 1.42
v6.1 deepseek-r1 offline CoreWeave/b200/8 CoreWeave/gb200/72 1.00
v6.1 deepseek-r1 offline NVIDIA/b300/8 NVIDIA/gb300/288 1.07
v6.1 deepseek-r1 offline NVIDIA/b300/8 NVIDIA/gb300/72 1.08
v6.1 deepseek-r1 offline Nebius/b300/8 Nebius/gb300/72 1.10
v6.1 deepseek-r1 server CoreWeave/b200/8 CoreWeave/gb200/72 0.83
v6.1 deepseek-r1 server NVIDIA/b300/8 NVIDIA/gb300/288 0.94
v6.1 deepseek-r1 server NVIDIA/b300/8 NVIDIA/gb300/72 1.11
v6.1 deepseek-r1 server Nebius/b300/8 Nebius/gb300/72 1.05
v6.1 gpt-oss-120b offline CoreWeave/b200/8 CoreWeave/gb200/72 1.11
v6.1 gpt-oss-120b offline CoreWeave/b300/8 CoreWeave/gb300/72 1.18
v6.1 gpt-oss-120b offline NVIDIA/b300/8 NVIDIA/gb300/72 1.17
v6.1 gpt-oss-120b offline Nebius/b300/8 Nebius/gb300/72 1.215
v6.1 gpt-oss-120b server CoreWeave/b200/8 CoreWeave/gb200/72 1.11
v6.1 gpt-oss-120b server CoreWeave/b300/8 CoreWeave/gb300/72 1.16
v6.1 gpt-oss-120b server NVIDIA/b300/8 NVIDIA/gb300/72 1.24
v6.1 gpt-oss-120b server Nebius/b300/8 Nebius/gb300/72 1.15
v6.1 llama2-70b-99.9 offline CoreWeave/b200/8 CoreWeave/gb200/72 0.97
v6.1 llama2-70b-99.9 offline CoreWeave/b300/8 CoreWeave/gb300/72 1.09
v6.1 llama2-70b-99.9 server CoreWeave/b200/8 CoreWeave/gb200/72 0.99
v6.1 llama2-70b-99.9 server CoreWeave/b300/8 CoreWeave/gb300/72 0.92
v6.1 qwen3-vl-235b-a22b interactive NVIDIA/b300/8 NVIDIA/gb300/72 9.72
v6.1 qwen3-vl-235b-a22b offline NVIDIA/b300/8 NVIDIA/gb300/72 1.12
v6.1 qwen3-vl-235b-a22b server NVIDIA/b300/8 NVIDIA/gb300/72 1.29
v6.0 deepseek-r1 interactive GigaComputing/b300/8 NVIDIA/gb300/72 5.64
v6.0 gpt-oss-120b interactive ASUSTeK/b300/8 NVIDIA/gb300/72 2.89
v6.0 gpt-oss-120b interactive Nebius/b200/8 NVIDIA/gb200/72 5.28
v6.0 llama3.1-405b interactive GigaComputing/b300/8 NVIDIA/gb300/72 2.67
v6.0 llama2-70b-99.9 interactive Dell/b300/8 NVIDIA/gb300/72 1.28
v6.0 llama2-70b-99.9 interactive GigaComputing/b300/8 NVIDIA/gb300/72 1.38
v6.0 llama2-70b-99.9 interactive HPE/b200/8 NVIDIA/gb200/72 1.37
v6.0 llama3.1-405b server Google/b200/8 NVIDIA/gb200/72 1.60
""")
"""A node of eight against a rack, within one submitter and, in the last lines, across submitters."""

NODE_SLICE = _rows("""
v5.1 llama2-70b-99.9 interactive NVIDIA/b200/8 NVIDIA/gb200/4 1.00
v5.1 llama2-70b-99.9 offline NVIDIA/b200/8 NVIDIA/gb200/4 1.02
v5.1 llama2-70b-99.9 offline Nebius/b200/8 Nebius/gb200/4 0.98
v5.1 llama2-70b-99.9 server NVIDIA/b200/8 NVIDIA/gb200/4 1.00
v5.1 llama2-70b-99.9 server Nebius/b200/8 Nebius/gb200/4 0.97
v5.1 llama3.1-405b offline Nebius/b200/8 Nebius/gb200/4 1.03
v5.1 llama3.1-405b server Nebius/b200/8 Nebius/gb200/4 0.93
v6.0 deepseek-r1 offline Nebius/b300/8 Nebius/gb300/8 1.10
v6.0 deepseek-r1 server Nebius/b300/8 Nebius/gb300/8 1.07
v6.0 gpt-oss-120b offline Nebius/b300/8 Nebius/gb300/1 1.15
v6.0 gpt-oss-120b server Nebius/b300/8 Nebius/gb300/1 1.19
v6.0 qwen3-vl-235b-a22b offline Nebius/b300/8 Nebius/gb300/4 1.55
v6.0 qwen3-vl-235b-a22b server Nebius/b300/8 Nebius/gb300/4 1.91
v6.1 deepseek-r1 offline NVIDIA/b300/8 NVIDIA/gb300/8 1.08
v6.1 deepseek-r1 server NVIDIA/b300/8 NVIDIA/gb300/8 1.13
v6.1 gpt-oss-120b offline NVIDIA/b300/8 NVIDIA/gb300/8 1.23
v6.1 gpt-oss-120b offline Nebius/b300/8 Nebius/gb300/8 1.22
v6.1 gpt-oss-120b server NVIDIA/b300/8 NVIDIA/gb300/8 1.27
v6.1 gpt-oss-120b server Nebius/b300/8 Nebius/gb300/8 1.18
v6.1 llama2-70b-99.9 offline NVIDIA/b300/8 NVIDIA/gb300/8 1.20
v6.1 llama2-70b-99.9 server NVIDIA/b300/8 NVIDIA/gb300/8 1.20
v6.1 qwen3-vl-235b-a22b offline Nebius/b300/8 Nebius/gb300/4 1.11
v6.1 qwen3-vl-235b-a22b server Nebius/b300/8 Nebius/gb300/4 1.15
""")
"""A node against a slice of the rack of its generation: the silicon effect."""

SLICE_RACK = _rows("""
v6.0 deepseek-r1 offline Nebius/gb300/8 Nebius/gb300/72 0.98
v6.0 deepseek-r1 server Nebius/gb300/8 Nebius/gb300/72 0.99
v6.0 gpt-oss-120b offline Nebius/gb300/1 Nebius/gb300/72 0.945
v6.0 gpt-oss-120b server Nebius/gb300/1 Nebius/gb300/72 1.02
v6.1 deepseek-r1 offline NVIDIA/gb300/8 NVIDIA/gb300/288 0.99
v6.1 deepseek-r1 offline NVIDIA/gb300/8 NVIDIA/gb300/72 0.99
v6.1 deepseek-r1 server NVIDIA/gb300/8 NVIDIA/gb300/288 0.83
v6.1 deepseek-r1 server NVIDIA/gb300/8 NVIDIA/gb300/72 0.98
v6.1 gpt-oss-120b offline NVIDIA/gb300/8 NVIDIA/gb300/72 0.95
v6.1 gpt-oss-120b offline Nebius/gb300/8 Nebius/gb300/72 1.00
v6.1 gpt-oss-120b server NVIDIA/gb300/8 NVIDIA/gb300/72 0.97
v6.1 gpt-oss-120b server Nebius/gb300/8 Nebius/gb300/72 0.97
v6.1 qwen3-vl-235b-a22b offline CoreWeave/gb300/4 CoreWeave/gb300/72 0.87
v6.1 qwen3-vl-235b-a22b server CoreWeave/gb300/4 CoreWeave/gb300/72 1.04
v6.1 llama2-70b-99.9 offline NVIDIA/gb300/8 CoreWeave/gb300/72 0.96
""")
"""A slice against its whole rack: the scale effect."""

RACK_RACKS = _rows("""
v6.0 deepseek-r1 offline NVIDIA/gb300/72 NVIDIA/gb300/288 0.96
v6.0 deepseek-r1 server NVIDIA/gb300/72 NVIDIA/gb300/288 0.97
v6.1 deepseek-r1 offline Azure/gb200/72 Azure/gb200/288 0.96
v6.1 deepseek-r1 offline NVIDIA/gb300/72 NVIDIA/gb300/288 0.99
v6.1 deepseek-r1 server Azure/gb200/72 Azure/gb200/288 0.94
v6.1 deepseek-r1 server NVIDIA/gb300/72 NVIDIA/gb300/288 0.85
""")
"""One rack against four."""

NODE_NODES = _rows("""
v5.1 llama2-70b-99.9 offline Dell_MangoBoost/mi300x/8 Dell_MangoBoost/mi300x/16 0.968
v5.1 llama2-70b-99.9 server Dell_MangoBoost/mi300x/8 Dell_MangoBoost/mi300x/16 0.969
v6.0 gpt-oss-120b offline AMD/mi355x/8 AMD/mi355x/94 0.924
v6.0 gpt-oss-120b server AMD/mi355x/8 AMD/mi355x/94 0.933
v6.0 llama2-70b-99.9 interactive AMD/mi355x/8 AMD/mi355x/87 0.981
v6.0 llama2-70b-99.9 offline AMD/mi355x/8 AMD/mi355x/87 0.926
v6.0 llama2-70b-99.9 server AMD/mi355x/8 AMD/mi355x/87 0.932
v6.1 gpt-oss-120b offline AMD/mi355x/8 AMD/mi355x/72 0.949
v6.1 gpt-oss-120b server AMD/mi355x/8 AMD/mi355x/72 0.946
v5.1 llama2-70b-99.9 offline Cisco/h200/8 Cisco/h200/16 0.997
v5.1 llama2-70b-99.9 server Cisco/h200/8 Cisco/h200/16 1.002
v6.1 deepseek-r1 offline Cisco/b300/8 Cisco/b300/16 0.975
v6.1 deepseek-r1 server Cisco/b300/8 Cisco/b300/16 0.672
v6.1 gpt-oss-120b offline AMD/mi355x/8 Crusoe/mi355x/512 0.737
v6.1 gpt-oss-120b server AMD/mi355x/8 Crusoe/mi355x/512 0.744
""")
"""A node against several: scale-out over Ethernet or InfiniBand."""
