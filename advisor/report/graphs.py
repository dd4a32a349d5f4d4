"""Neighbourhoods of the knowledge graph as text, DOT, JSON and SVG."""

from __future__ import annotations

import json
import math
from html import escape
from typing import TYPE_CHECKING

from advisor.knowledge import KnowledgeBase

if TYPE_CHECKING:
    import networkx as nx

_MAX_NODES = 90
_COLOURS = {
    "concepts": "#3b6ea5", "gotchas": "#b5532a", "evidence": "#4d7c3f", "rules": "#7a5195", "models": "#00798c",
    "systems": "#8a6d1d", "accelerators": "#8a6d1d", "facts": "#6b6b6b", "sources": "#9a9a9a",
}  # fmt: skip
_HIERARCHY = ("broader", "related", "prerequisites")


def neighbourhood(kb: KnowledgeBase, centre: str | None, *, depth: int = 1) -> nx.MultiDiGraph[str]:
    """The subgraph within `depth` links of `centre`; without a centre, concepts and the links among them.

    At most 90 entries are kept: nearest first, then the most linked.
    """
    graph = kb.graph
    if centre is None:
        return graph.subgraph([node for node in graph if node.startswith("concepts/")]).copy()
    import networkx as nx

    distance = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True), centre, cutoff=depth)
    kept = sorted(distance, key=lambda node: (distance[node], -graph.degree(node), node))[:_MAX_NODES]
    return graph.subgraph(kept).copy()


def graph_as(form: str, kb: KnowledgeBase, graph: nx.MultiDiGraph[str], centre: str | None) -> str:
    """The graph in one of the forms text, dot, json, svg."""
    return {"text": _text, "dot": _dot, "json": _json, "svg": _svg}[form](kb, graph, centre)


def _edges(graph: nx.MultiDiGraph[str]) -> list[tuple[str, str, str]]:
    return sorted({(a, b, d["relation"]) for a, b, d in graph.edges(data=True)})


def _text(kb: KnowledgeBase, graph: nx.MultiDiGraph[str], centre: str | None) -> str:
    lines: list[str] = []
    for node in [centre] if centre else sorted(graph):
        lines.append(f"{node}  {kb.entries[node].title}")
        for origin, target, relation in _edges(graph):
            if origin == node:
                lines.append(f"  {relation:<14} → {target}  {kb.entries[target].title}")
            elif target == node and centre:
                lines.append(f"  {relation:<14} ← {origin}  {kb.entries[origin].title}")
    if centre and len(graph) > 1:
        near = {n for a, b, _ in _edges(graph) for n in (a, b) if centre in (a, b)}
        further = sorted(set(graph) - near - {centre})
        if further:
            lines.append("  further off:")
            lines += [f"    {node}  {kb.entries[node].title}" for node in further]
    return "\n".join(lines) + "\n"


def _dot(kb: KnowledgeBase, graph: nx.MultiDiGraph[str], _centre: str | None) -> str:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = ["digraph rackfit {", "  rankdir=LR;", "  node [shape=box, fontname=sans];"]
    lines += [f"  {quoted(n)} [label={quoted(kb.entries[n].title)}];" for n in sorted(graph)]
    lines += [f"  {quoted(a)} -> {quoted(b)} [label={quoted(relation)}];" for a, b, relation in _edges(graph)]
    return "\n".join([*lines, "}"]) + "\n"


def _json(kb: KnowledgeBase, graph: nx.MultiDiGraph[str], centre: str | None) -> str:
    nodes = [{"id": n, "kind": kb.entries[n].kind, "title": kb.entries[n].title} for n in sorted(graph)]
    links = [{"from": a, "to": b, "relation": relation} for a, b, relation in _edges(graph)]
    return json.dumps({"centre": centre, "nodes": nodes, "links": links}, indent=2, ensure_ascii=False) + "\n"


def _svg(kb: KnowledgeBase, graph: nx.MultiDiGraph[str], centre: str | None) -> str:
    places = _places(graph, centre)
    width, height = 1200.0, 760.0
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
    ]

    def at(node: str) -> tuple[float, float]:
        x, y = places[node]
        return width / 2 + x * (width / 2 - 110), height / 2 + y * (height / 2 - 40)

    for a, b, relation in _edges(graph):
        (x1, y1), (x2, y2) = at(a), at(b)
        dash = "" if relation in _HIERARCHY else ' stroke-dasharray="4 3"'
        out.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#bbbbbb"{dash}><title>{escape(relation)}</title></line>'
        )
    for node in sorted(graph):
        x, y = at(node)
        title = kb.entries[node].title
        label = title if len(title) <= 30 else title[:28] + "…"
        weight = ' font-weight="bold"' if node == centre else ""
        colour = _COLOURS.get(kb.entries[node].kind, "#444444")
        out.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"><title>{escape(node)}</title></circle>'
        )
        out.append(
            f'<text x="{x:.1f}" y="{y - 9:.1f}" text-anchor="middle" fill="#222222"{weight}>{escape(label)}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def _places(graph: nx.MultiDiGraph[str], centre: str | None) -> dict[str, tuple[float, float]]:
    """Positions in [-1, 1]: rings around the centre, kinds side by side; without a centre, one spiral by degree."""
    others = sorted((n for n in graph if n != centre), key=lambda n: (n.partition("/")[0], n))
    places: dict[str, tuple[float, float]] = {centre: (0.0, 0.0)} if centre else {}
    rings = max(1, math.ceil(len(others) / 22))
    for index, node in enumerate(others):
        radius = 1.0 if rings == 1 else 0.4 + 0.6 * (index % rings) / (rings - 1)
        angle = 2 * math.pi * index / max(len(others), 1)
        places[node] = (radius * math.cos(angle), radius * math.sin(angle))
    return places
