"""The panels beside the conversation; each is imported and mounted when it is first shown."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.panels.base import Panel

PANELS: dict[str, tuple[str, str, str, str]] = {
    "facts": ("F2", "Facts", "FactsPanel", "What was said, assumed and derived; change any of it"),
    "fit": ("F3", "Fit", "FitPanel", "Memory per accelerator of every system, and the fleet it would take"),
    "evidence": ("F4", "Evidence", "EvidencePanel", "Comparable audited pairs with effects, noise and grade"),
    "map": ("F5", "Map", "MapPanel", "The verdict over two facts, with the current point"),
    "why": ("F6", "Why", "WhyPanel", "The proof of the verdict, down to facts and evidence"),
    "graph": ("F7", "Graph", "GraphPanel", "Walk from concept to concept and what hangs from them"),
    "kb": ("F8", "KB", "KnowledgePanel", "Browse and search every entry"),
}
"""Panel -> key, title, class, what it shows. The module is tui.panels.<panel>."""


def build(name: str) -> Panel:
    """A new panel."""
    module = import_module(f"tui.panels.{name}")
    panel: Panel = getattr(module, PANELS[name][2])()
    return panel
