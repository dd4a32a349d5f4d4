"""Reading and copying: entries, pairs, links, messages, the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.frame import FrameApp

if TYPE_CHECKING:
    from advisor.records import Pair


class ReadingApp(FrameApp):
    """Actions that open something to read or put it into the clipboard."""

    def open(self, link: str) -> None:
        """Open an entry id or a web address."""
        if "://" in link:
            self.action_open_link(link)
        else:
            self.action_open_entry(link)

    def action_open_link(self, url: str) -> None:
        """Open a web address in the browser: the user's choice, never done by itself."""
        if url.startswith(("https://", "http://")):
            self.open_url(url)

    def action_open_entry(self, entry_id: str) -> None:
        """Read an entry."""
        entry_id = entry_id.partition("#")[0]

        async def work() -> None:
            snapshot = self.snapshot
            entry = snapshot.kb.entries.get(entry_id) if snapshot else None
            if snapshot is None or entry is None:
                self.notify(f"{entry_id} is not in this knowledge base", markup=False)
                return
            from advisor.report.page import entry_page

            text = await self.compute("reading", entry_page, snapshot.kb, entry)
            self._read(entry.title, text, entry_id=entry_id)

        self.run_worker(self.guard(work), group="read")

    def open_pair(self, pair: Pair) -> None:
        """Read what is known about a comparable pair; its records are links."""
        from advisor.report import parts
        from advisor.visible import inert

        sides = (("small side", pair.small), ("large side", pair.large))
        lines = [
            f"# {inert(pair.benchmark)} {pair.scenario}, {inert(pair.round)}",
            "",
            inert(parts.pair_words(pair)),
            "",
        ]
        lines += [
            f"- {name}: `{side.evidence}`, record {inert(side.record)}, {inert(side.platform)}, {inert(side.software)}"
            for name, side in sides
        ]
        lines += ["", f"Noise of the same silicon: {pair.noise_low:.2f} to {pair.noise_high:.2f}."]
        lines += (
            ["", "It differs in:", "", *(f"- {inert(text)}" for text in pair.confounders)]
            if pair.confounders
            else []
        )
        text = "\n".join([*lines, "", f"Rates per accelerator are {parts.DERIVED_NOTE}."])
        self._read(f"{pair.kind} pair", text)

    def _read(self, title: str, text: str, *, entry_id: str = "") -> None:
        from tui.screens.reader import Reader

        if isinstance(self.screen, Reader):
            self.screen.show(title, text, entry_id=entry_id)
        else:
            self.push_screen(Reader(title, text, entry_id=entry_id))

    def action_find_entry(self) -> None:
        """Go to the search field of the knowledge base."""
        self.call_later(self.run_action, "panel('kb')")

    def show_in_graph(self, entry_id: str) -> None:
        """Put an entry in the middle of the graph."""

        async def work() -> None:
            from tui.panels.graph import GraphPanel

            await self.chat.show_panel("graph")
            panel = self.chat.panel("graph")
            assert isinstance(panel, GraphPanel)
            panel.go(entry_id)

        self.run_worker(self.guard(work), group="read")

    def copy(self, text: str) -> None:
        """Put text into the clipboard, through the terminal (OSC 52, which works over ssh too)."""
        self.copy_to_clipboard(text)
        self.notify(
            f"Copied {len(text):,} characters. If nothing arrives, the terminal does not take OSC 52: export instead (F9)."
        )

    def action_copy_message(self) -> None:
        """Copy the current message of the transcript."""
        cursor = self.chat.transcript.cursor
        if cursor is not None:
            self.copy(cursor.markdown)

    def action_copy_answer(self) -> None:
        """Copy the whole answer as Markdown."""
        snapshot = self.snapshot
        if snapshot is None or snapshot.recommendation is None:
            self.notify("There is no answer yet.")
            return

        async def work() -> None:
            from advisor.report.markdown import render_markdown

            self.copy(
                await self.compute(
                    "writing the answer", render_markdown, snapshot.kb, snapshot.recommendation
                )
            )

        self.run_worker(self.guard(work), group="copy")
