"""Hardware of the shipped knowledge base against data sheets, device logs and audited files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from advisor.errors import UnknownIdError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Alternative, Cell, System

GIB = 1024**3
MIB = 1024**2

DATA_SHEETS = [
    # accelerator, bf16 TFLOP/s, fp8 TFLOP/s, memory TB/s, fabric GB/s both directions, W; the sheet
    (
        "h100",
        989,
        1979,
        3.35,
        900,
        700,
    ),  # NVIDIA H100 Tensor Core GPU data sheet, SXM column, halved for sparsity
    (
        "h200",
        989,
        1979,
        4.8,
        900,
        700,
    ),  # NVIDIA H200 Tensor Core GPU data sheet, SXM column, halved for sparsity
    ("b200", 2250, 4500, 8.0, 1800, 1000),  # NVIDIA DGX B200 data sheet, eighths, halved for sparsity
    ("gb200", 2500, 5000, 8.0, 1800, 1200),  # NVIDIA GB200 NVL72 page, seventy-seconds, halved for sparsity
    ("mi300x", 1307, 2615, 5.3, 896, 750),  # AMD Instinct MI300X data sheet
    ("mi325x", 1307, 2615, 6.0, 896, 1000),  # AMD Instinct MI325X data sheet
]

DEVICE_LOGS = [
    ("h100", 81559 * MIB),  # nvidia-smi, dstackai/benchmarks gpu-usage.md
    ("b200", 183359 * MIB),  # nvidia-smi, modal-labs/gpu-glossary
    ("l40s", 46068 * MIB),  # MLPerf v4.1 NeuralMagic gpu_info.txt
    ("mi300x", 206141652992),  # rocm-smi, ROCm/legacy-rocm-build issue 4750
    ("mi355x", 288 * GIB - 16 * MIB),  # rocm-smi: 309220868096
]


def cells(entry: Accelerator | System) -> Iterator[tuple[str, Cell | Alternative]]:
    """Every sourced value of an entry with the name of its field, second values included."""
    for name in ("hbm_visible_bytes", "hbm_marketed_gb", "hbm_bandwidth_tb_per_s", "scale_up_gb_per_s", "tdp_w",
                 "power_kw", "scale_out_gb_per_s"):  # fmt: skip
        cell = getattr(entry, name, None)
        if cell is not None:
            yield name, cell
    groups = (entry.dense_tflops, entry.facts) if isinstance(entry, Accelerator) else (entry.facts,)
    for group in groups:
        yield from group.items()


@pytest.mark.parametrize(("slug", "bf16", "fp8", "bandwidth", "fabric", "watts"), DATA_SHEETS)
def test_rates_are_the_dense_ones_of_the_data_sheet(
    kb: KnowledgeBase, slug: str, bf16: float, fp8: float, bandwidth: float, fabric: float, watts: float
) -> None:
    """Arithmetic is dense, bandwidth and power are the vendor's figures (the sheet is named beside each row)."""
    accelerator = kb.accelerators[f"accelerators/{slug}"]
    assert accelerator.dense_tflops["bf16"].number == pytest.approx(bf16, rel=0.001)
    assert accelerator.dense_tflops["fp8"].number == pytest.approx(fp8, rel=0.001)
    assert accelerator.hbm_bandwidth_tb_per_s.number == bandwidth
    assert accelerator.scale_up_gb_per_s is not None
    assert accelerator.scale_up_gb_per_s.number == fabric
    assert accelerator.tdp_w is not None
    assert accelerator.tdp_w.number == watts


@pytest.mark.parametrize(("slug", "visible"), DEVICE_LOGS)
def test_visible_memory_is_what_the_driver_printed(kb: KnowledgeBase, slug: str, visible: int) -> None:
    """Visible bytes come from device logs, not from the label (the log is named beside each row)."""
    assert kb.accelerators[f"accelerators/{slug}"].hbm_visible_bytes.value == visible


def test_one_label_hides_three_sizes_of_memory(kb: KnowledgeBase) -> None:
    """B300, GB300 and MI355X are sold as 288; the largest holds 7.2% more than the smallest (their device logs)."""
    labels = [kb.accelerators[f"accelerators/{slug}"] for slug in ("b300", "gb300", "mi355x")]
    assert {accelerator.hbm_marketed_gb.value for accelerator in labels} == {288}
    sizes = [accelerator.hbm_visible_bytes.number for accelerator in labels]
    assert sizes == sorted(sizes)
    assert sizes[-1] / sizes[0] == pytest.approx(1.072, abs=0.001)


def test_rack_and_node_chips_of_one_generation_differ_in_power_as_submitters_state(kb: KnowledgeBase) -> None:
    """GB200 may draw 1.20 times B200, GB300 1.27 times B300, VR200 1.64 times GB300 (hw_notes of MLPerf system files)."""
    watts = {
        slug: kb.accelerators[f"accelerators/{slug}"].tdp_w
        for slug in ("b200", "gb200", "b300", "gb300", "vr200")
    }
    power = {slug: cell.number for slug, cell in watts.items() if cell is not None}
    assert power["gb200"] / power["b200"] == pytest.approx(1.20)
    assert power["gb300"] / power["b300"] == pytest.approx(1.27, abs=0.005)
    assert power["vr200"] / power["gb300"] == pytest.approx(1.64, abs=0.005)


def test_fp4_of_blackwell_ultra_is_not_half_of_its_sparse_rate(kb: KnowledgeBase) -> None:
    """B300 does 108 PF dense per eight (NVIDIA HGX page), not half of the 144 PF sparse."""
    fp4 = kb.accelerators["accelerators/b300"].dense_tflops["fp4"]
    assert fp4.number * 8 == 108_000
    assert [other.value for other in fp4.alternatives] == [14000]


def test_integer_rate_of_blackwell_ultra_is_a_thirtieth_of_fp8(kb: KnowledgeBase) -> None:
    """INT8 is practically gone on B300 (aiconfigurator b300_sxm.yaml: 153.5 against 4,500)."""
    dense = kb.accelerators["accelerators/b300"].dense_tflops
    assert dense["fp8"].number / dense["int8"].number == pytest.approx(29.3, abs=0.1)


def test_measured_node_power_is_the_audited_one(kb: KnowledgeBase) -> None:
    """Lenovo's air-cooled B200 node drew 10,442 W on Llama 2 70B Server (MLPerf Inference v5.1, Power_Result)."""
    facts = kb.systems["systems/hgx-b200"].facts
    assert facts["measured_power_kw"].value == 10.442
    assert facts["measured_power_liquid_kw"].value == 9.892


def test_node_and_rack_of_a_generation_share_a_family(kb: KnowledgeBase) -> None:
    """B200 is compared with GB200 and B300 with GB300; nothing of another generation is in their family."""
    families: dict[str, set[str]] = {}
    for accelerator in kb.accelerators.values():
        families.setdefault(accelerator.family, set()).add(accelerator.slug)
    assert families["blackwell"] == {"b200", "gb200"}
    assert families["blackwell-ultra"] == {"b300", "gb300"}


def test_every_figure_names_its_source_or_says_that_it_is_unverified(kb: KnowledgeBase) -> None:
    """No cell without a source unless it is marked unverified, and no source that does not exist."""
    for entry in (*kb.accelerators.values(), *kb.systems.values()):
        for name, cell in cells(entry):
            for value in (cell, *getattr(cell, "alternatives", ())):
                assert value.source or value.trust == "unverified", f"{entry.id} {name}"
                assert not value.source or value.source in kb.sources, f"{entry.id} {name}"


def test_units_are_plausible(kb: KnowledgeBase) -> None:
    """Visible memory is within a tenth of the label read as GB or as GiB: no factor of a thousand or 1,024 slipped in."""
    for accelerator in kb.accelerators.values():
        label = accelerator.hbm_marketed_gb.number
        assert 0.92 * label * 1e9 <= accelerator.hbm_visible_bytes.number <= 1.01 * label * GIB, (
            accelerator.id
        )
        assert 0.1 <= accelerator.hbm_bandwidth_tb_per_s.number <= 40, accelerator.id


def test_racks_are_bought_whole_and_nodes_by_eight(kb: KnowledgeBase) -> None:
    """An NVL72 is 72 accelerators in one domain, 18 trays of four, liquid cooled; an HGX node is eight and exists on air."""
    for slug in ("gb200-nvl72", "gb300-nvl72", "vr-nvl72"):
        rack = kb.systems[f"systems/{slug}"]
        assert (rack.kind_of_unit, rack.accelerators, rack.scale_up_domain, rack.minimum_purchase) == (
            "rack",
            72,
            72,
            72,
        )
        assert rack.accelerators / rack.accelerators_per_host == 18
        assert rack.cooling == ("liquid",)
        assert rack.power_kw is not None
        assert rack.power_kw.number >= 120
    for slug in ("hgx-h100", "hgx-h200", "hgx-b200", "hgx-b300"):
        node = kb.systems[f"systems/{slug}"]
        assert (node.kind_of_unit, node.accelerators, node.scale_up_domain, node.minimum_purchase) == (
            "node",
            8,
            8,
            8,
        )
        assert "air" in node.cooling


def test_trays_of_four_can_be_rented_but_slices_of_eight_not_bought(kb: KnowledgeBase) -> None:
    """Clouds rent four GPUs of a rack (Azure ND128isr GB200 and GB300 v6); eight are not a unit that anybody sells."""
    for slug in ("gb200-nvl72", "gb300-nvl72"):
        slices = kb.systems[f"systems/{slug}"].rentable_slices
        assert 4 in slices
        assert 8 not in slices


def test_domains_other_than_8_and_72_are_represented(kb: KnowledgeBase) -> None:
    """PCIe cards share nothing, TPU pods and Trainium servers share more than eight (their vendors' documentation)."""
    domains = {system.slug: system.scale_up_domain for system in kb.systems.values()}
    assert domains["l40s-node"] == domains["rtx-pro-6000-node"] == 1
    assert domains["tpu-v6e-pod"] == 256
    assert domains["tpu-v7x-pod"] == 9216
    assert domains["trn2-ultraserver"] == 64


def test_a_system_is_made_of_whole_hosts_and_known_accelerators(kb: KnowledgeBase) -> None:
    """Hosts divide the unit, the domain fits in it, and the accelerator and its availability agree."""
    for system in kb.systems.values():
        accelerator = kb.accelerators[system.accelerator]
        assert system.accelerators % system.accelerators_per_host == 0, system.id
        assert system.scale_up_domain <= system.accelerators, system.id
        assert system.availability == accelerator.availability, system.id
        assert all(1 <= size <= system.accelerators for size in system.rentable_slices), system.id


@pytest.mark.parametrize(
    ("seller", "date", "premium"),
    # ratio of list prices of GB200 and B200: coreweave.com/pricing, aws.amazon.com/ec2/capacityblocks/pricing
    [("CoreWeave", "2026-09-19", 1.22), ("AWS", "2026-09-19", 0.86), ("AWS", "2026-06-19", 1.03)],
)
def test_rack_premium_of_one_seller_on_one_day(
    kb: KnowledgeBase, seller: str, date: str, premium: float
) -> None:
    """Prices carry seller and day, so the premium of a rack is a range that can be recomputed."""

    def price(slug: str) -> float:
        found = [
            p.usd_per_accelerator_hour
            for p in kb.systems[f"systems/{slug}"].prices
            if (p.seller, p.date) == (seller, date) and p.basis != "on demand"
        ]
        assert len(found) == 1
        return found[0]

    assert price("gb200-nvl72") / price("hgx-b200") == pytest.approx(premium, abs=0.005)


@pytest.mark.parametrize(
    ("kind", "typed", "expected"),
    [
        ("systems", "8xH100", "hgx-h100"),
        ("systems", "DGX B200", "hgx-b200"),
        ("systems", "HGX H200", "hgx-h200"),
        ("systems", "GB300 NVL72", "gb300-nvl72"),
        ("systems", "MI300X platform", "mi300x-node"),
        ("systems", "Helios", "helios-mi455x"),
        ("accelerators", "H100 SXM", "h100"),
        ("accelerators", "NVIDIA B300-SXM-270GB", "b300"),
        ("accelerators", "Ironwood", "tpu-v7x"),
        ("accelerators", "rtx pro 6000", "rtx-pro-6000"),
    ],
)
def test_names_that_people_type_lead_to_one_entry(
    kb: KnowledgeBase, kind: str, typed: str, expected: str
) -> None:
    """Aliases cover the names of sellers, result files and everyday speech."""
    assert kb.find(kind, typed).slug == expected


def test_nvl72_alone_asks_which_rack(kb: KnowledgeBase) -> None:
    """`NVL72` names three racks, so it is not guessed."""
    with pytest.raises(UnknownIdError, match="gb200-nvl72, gb300-nvl72, vr-nvl72"):
        kb.find("systems", "NVL72")
