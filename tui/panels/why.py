"""Why: the proof of the verdict as a tree, then what became of each system, then every rule considered."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message as Event
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from advisor.records import TraceStep
from tui.paint import ORIGIN_MARK, hang, wrap
from tui.panels.base import NO_ANSWER, Panel, hint

if TYPE_CHECKING:
    from advisor.reasoning.proof import Proof
    from tui.engine import Snapshot

_KIND_MARK = {"verdict": "■", "rule": "→", "candidate": "▣"}
_OPEN_LEVELS = 2


class ProofTree(Tree["Proof | TraceStep"]):
    """The proof; arrows open and close its branches."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "select_cursor", "open/close", id="why.toggle"),
        Binding("right", "expand", "Open", show=False, id="why.expand"),
        Binding("left", "collapse", "Close or go up", show=False, id="why.collapse"),
        Binding("o", "want", "read entry", id="why.open"),
        Binding("e", "expand_all", "open all", id="why.expand-all"),
    ]

    def render_label(self, node: TreeNode[Proof | TraceStep], base_style: Style, style: Style) -> Text:
        """One line that fits into the panel; the whole of it stands below the tree."""
        label = super().render_label(node, base_style, style)
        depth, parent = 0, node.parent
        while parent is not None:
            depth, parent = depth + 1, parent.parent
        label.truncate(
            max(8, self.scrollable_content_region.width - depth * self.guide_depth), overflow="ellipsis"
        )
        return label

    class Wanted(Event):
        """The reader wants the entry that the current node rests on."""

    def action_expand(self) -> None:
        """Open the current node."""
        if self.cursor_node is not None:
            self.cursor_node.expand()

    def action_collapse(self) -> None:
        """Close the current node, or go to its parent."""
        node = self.cursor_node
        if node is not None and node.is_expanded and node.children:
            node.collapse()
        else:
            self.action_cursor_parent()

    def action_expand_all(self) -> None:
        """Open everything below the current node."""
        if self.cursor_node is not None:
            self.cursor_node.expand_all()

    def action_want(self) -> None:
        """Ask for the entry."""
        self.post_message(self.Wanted())


class WhyPanel(Panel):
    """Proof tree and the detail of its current node."""

    NAME = "why"
    FOCUS = "#proof"
    HELP = "The proof of the verdict. → rule, ● said, ○ assumed, ∴ follows or computed. Enter opens and closes a node, o reads its entry."

    def compose(self) -> ComposeResult:
        """Tree and detail."""
        tree = ProofTree("", id="proof")
        tree.show_root = False
        tree.guide_depth = 2
        yield tree
        with VerticalScroll(id="proof-detail", can_focus=False):
            yield Static("", id="proof-text")

    @property
    def _tree(self) -> ProofTree:
        return self.query_one(ProofTree)

    def draw(self, snapshot: Snapshot) -> None:
        """Build the proof of this answer."""
        if snapshot.recommendation is None:
            self._tree.clear()
            self.query_one("#proof-text", Static).update(hint(NO_ANSWER))
            return
        self.run_worker(self.rackfit.guard(self._build, snapshot), exclusive=True)

    async def _build(self, snapshot: Snapshot) -> None:
        proof, systems = await self.rackfit.compute("writing the proof", _prove, snapshot)
        tree, answer = self._tree, snapshot.recommendation
        assert answer is not None
        tree.clear()
        _grow(tree.root, proof, _OPEN_LEVELS)
        branch = tree.root.add(Text(f"Systems considered ({len(systems)})", style="bold"))
        for system in systems:
            _grow(branch, system, 0)
        fired = [step for step in answer.trace if step.fired]
        rules = tree.root.add(
            Text(f"Rules considered: {len(fired)} of {len(answer.trace)} fired", style="bold")
        )
        for step in sorted(answer.trace, key=lambda step: not step.fired):
            rules.add_leaf(_step_label(step), data=step)
        tree.cursor_line = 0

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Proof | TraceStep]) -> None:
        """Tell more about the node."""
        event.stop()
        data = event.node.data
        detail = self.query_one("#proof-text", Static)
        detail.update(_detail(data, detail.size.width) if data is not None else Content(""))
        self.query_one("#proof-detail", VerticalScroll).scroll_home(animate=False)

    def on_proof_tree_wanted(self, event: ProofTree.Wanted) -> None:
        """Read the entry that the node rests on."""
        event.stop()
        node = self._tree.cursor_node
        snapshot = self._drawn
        if node is None or node.data is None or snapshot is None:
            return
        target = _target(node.data, snapshot)
        if target:
            self.rackfit.action_open_entry(target)


def _prove(snapshot: Snapshot) -> tuple[Proof, list[Proof]]:
    from advisor.reasoning.proof import ProofBuilder
    from advisor.report import parts

    answer = snapshot.recommendation
    assert answer is not None
    proof = ProofBuilder(snapshot.kb, answer).verdict()
    return proof, [
        ProofBuilder(snapshot.kb, answer).candidate(c.system) for c in parts.feasible_first(answer)
    ]


def _grow(parent: TreeNode[Proof | TraceStep], proof: Proof, open_levels: int) -> None:
    mark = ORIGIN_MARK.get(proof.origin or "", "") if proof.kind == "fact" else _KIND_MARK.get(proof.kind, "")
    label = Text(
        f"{mark or '·'} {proof.claim}", style="bold" if proof.kind in ("verdict", "candidate") else ""
    )
    if not proof.parts:
        parent.add_leaf(label, data=proof)
        return
    node = parent.add(label, data=proof, expand=open_levels > 0)
    for part in proof.parts:
        _grow(node, part, open_levels - 1)


def _step_label(step: TraceStep) -> Text:
    what = "; ".join(step.concluded) if step.fired else "did not fire"
    subject = f" for {step.subject.partition('/')[2]}" if step.subject else ""
    return Text(
        f"{'✓' if step.fired else '·'} {step.rule.partition('/')[2]}{subject}: {what}",
        style="" if step.fired else "dim",
    )


def _detail(data: Proof | TraceStep, width: int) -> Content:
    lines: list[Content] = []
    if isinstance(data, TraceStep):
        lines.append(Content(data.reason))
        lines += [Content.assemble((f"{name} ", "$quiet"), str(value)) for name, value in data.reads.items()]
        return Content("\n").join(lines)
    lines.append(Content(data.claim).stylize("bold"))
    if data.detail:
        lines.append(Content(data.detail))
    lines += [line for step in data.arithmetic for line in hang(step, width)]
    for name, ids in (("evidence", data.evidence), ("because", data.because)):
        if ids:
            lines += wrap(Content.assemble((f"{name} ", "$quiet"), ", ".join(ids)), max(8, width))
    return Content("\n").join(lines)


def _target(data: Proof | TraceStep, snapshot: Snapshot) -> str:
    if isinstance(data, TraceStep):
        return data.rule
    if data.kind == "fact":
        fact = snapshot.kb.facts.get(data.key)
        return data.evidence[0] if data.evidence else fact.id if fact else ""
    return data.key if data.key in snapshot.kb.entries else ""
