"""The commands of the screen in Textual's command palette; imported when the palette opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tui.commands import Command, commands

if TYPE_CHECKING:
    from tui.app import RackfitApp


class RackfitCommands(Provider):
    """The commands for the command palette."""

    @property
    def _rackfit(self) -> RackfitApp:
        return cast("RackfitApp", self.app)

    def _run(self, command: Command) -> None:
        self._rackfit.call_later(self._rackfit.run_action, command.action)

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for command in commands():
            yield DiscoveryHit(command.title, lambda command=command: self._run(command), help=command.help)

    async def search(self, query: str) -> Hits:
        """Commands whose title or help matches."""
        matcher = self.matcher(query)
        for command in commands():
            score = max(matcher.match(command.title), 0.7 * matcher.match(command.help))
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(command.title),
                    lambda command=command: self._run(command),
                    help=command.help,
                )
