"""The application: paints first, loads the advisor behind the first frame, and owns what all screens can do."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tui.commands import SLASH
from tui.garbage import make_passes_rare
from tui.panels import PANELS
from tui.preferences import PreferencesApp
from tui.reading import ReadingApp
from tui.screens.chat import WIDE
from tui.widgets.bars import CHAT
from tui.widgets.replies import Replies

if TYPE_CHECKING:
    from textual.command import Provider

    from advisor.dialogue.messages import Message as Said
    from tui.widgets.message import MessageView

_SWITCH_INTERVAL_SECONDS = 0.002
_LEAVING_SECONDS = 2.0


def _palette() -> type[Provider]:
    from tui.palette import RackfitCommands

    return RackfitCommands


GOING_ON = "Answer, ask why, or change anything"
"""What the prompt says once something was said."""


class RackfitApp(ReadingApp, PreferencesApp):
    """rackfit on a screen. `opener` loads the knowledge base and the conversation, in a thread."""

    TITLE = "rackfit"
    CSS_PATH = "styles.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  # Textual's own form
    COMMANDS = {_palette}  # noqa: RUF012  # Textual's own form
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", show=False, priority=True, id="app.help"),
        Binding("question_mark", "help", "Help", show=False, id="app.help-sign"),
        *(Binding(key.lower(), f"panel({name!r})", title, show=False, priority=True, id=f"app.panel-{name}")
          for name, (key, title, *_) in PANELS.items()),
        Binding("f9", "export", "Export", show=False, priority=True, id="app.export"),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit"),
    ]  # fmt: skip

    # start and end

    def on_load(self) -> None:
        """Before the terminal is taken over, see to it that it is given back."""
        self._leave_on_signals()

    def on_mount(self) -> None:
        """Load everything else once the first frame is out."""
        sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
        make_passes_rare()
        self.call_after_refresh(self._begin)

    def _leave_on_signals(self) -> None:
        """Let a signal end the screen like a key would: between two events, with the terminal given back."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                with contextlib.suppress(
                    NotImplementedError, ValueError, RuntimeError
                ):  # Windows; no main thread
                    asyncio.get_running_loop().add_signal_handler(number, self._leave, 128 + number)

    def _leave(self, status: int) -> None:
        """End between two events; at once when there are so many that this takes long."""

        def give_up() -> None:
            raise SystemExit(status)

        if not self._exit:
            self.exit(return_code=status)
            asyncio.get_running_loop().call_later(_LEAVING_SECONDS, give_up)

    def watch_app_focus(self, focus: bool) -> None:
        """A browser starts without the focus: the first key must find the prompt."""
        if focus and len(self.screen_stack) == 1 and self.screen.focused is None:
            self.screen.set_focus(self.chat.prompt, scroll_visible=False)

    def _handle_exception(self, error: Exception) -> None:
        """What fails because the screen is being taken down already, half built maybe, is of no interest."""
        if not self._exit:
            super()._handle_exception(error)

    def _begin(self) -> None:
        self.run_worker(self.guard(self._load), group="load")

    async def _load(self) -> None:
        from advisor.errors import RackfitError

        try:
            await self._start(self._resume)
        except RackfitError as error:
            self.failure = str(error)
            self.exit(return_code=2)
            return
        except Exception as error:  # without a knowledge base there is nothing to stay for
            self.failure = await self.defect(error)
            self.exit(return_code=1)
            return
        self.show_cursor()
        self._loaded.set()
        if self._first:
            self.submit(self._first)
        self.run_worker(self.guard(self._prepare), group="load")

    async def _start(self, resume: str | None) -> None:
        earlier, opening = await self.busy("reading the knowledge base", self.engine.start(resume))
        transcript = self.chat.transcript
        await transcript.clear()
        await transcript.add(earlier)
        await self._show(opening, stream=False, turn=bool(earlier))
        if earlier:
            self.chat.prompt.placeholder = GOING_ON
        unsaved = self.engine.opened.unsaved if self.engine.opened else ""
        if unsaved:
            self.notify(f"This conversation is not being saved: {unsaved}", severity="warning", markup=False)

    async def _prepare(self) -> None:
        """What can wait until the screen stands."""
        from tui.background import completions, fetch_modules
        from tui.widgets.completion import Completion

        await self.engine.run(self.history.load)
        snapshot = self.snapshot
        if snapshot is not None:
            self.chat.query_one(Completion).learn(await self.engine.run(completions, snapshot.kb))
        await self.engine.run(fetch_modules)

    async def action_quit(self) -> None:
        """Leave; asks only when typed text would be lost (the conversation is saved as it goes)."""
        from tui.screens.confirm import Confirm

        if not self.chat.prompt.text.strip():
            self.exit()
            return
        if isinstance(self.screen, Confirm):
            return

        def answered(agreed: bool | None) -> None:
            if agreed:
                self.exit()

        text = "What you typed has not been sent. The conversation so far is saved."
        self.push_screen(Confirm("Quit?", text, yes="Quit and lose the typed line", no="Stay"), answered)

    async def on_unmount(self) -> None:
        """Close the session, however the application ends."""
        await self.engine.close()

    def action_help_quit(self) -> None:
        """ctrl+c without a selection: say how to quit."""
        self.notify("ctrl+q quits; the conversation is saved as it goes.")

    # conversation

    def submit(self, text: str) -> None:
        """Say something, or run a `/` command."""
        if text.startswith("/"):
            word = next(iter(text[1:].split()), "")
            command = SLASH.get(word)
            if command is not None:
                self.call_later(self.run_action, command.action)
            else:
                from difflib import get_close_matches

                near = get_close_matches(word, SLASH, n=3, cutoff=0.4) or list(SLASH)[:6]
                self.notify(
                    f"no command /{word[:30]}; try {', '.join('/' + name for name in near)}", markup=False
                )
            return
        self.run_worker(self.guard(self._say, text), group="say")

    def action_say(self, text: str) -> None:
        """Say something on behalf of a command."""
        self.submit(text)

    async def _say(self, text: str) -> None:
        from advisor.dialogue.messages import Message

        await self._loaded.wait()
        await self.chat.transcript.add([Message(role="user", kind="echo", markdown=text)], topic=True)
        self.chat.query_one(Replies).choices = ()
        self.chat.prompt.placeholder = GOING_ON
        self._tell(await self._converse(self.engine.say(text)))

    def _tell(self, problem: str) -> None:
        if problem:
            self.notify(problem, severity="error", markup=False)

    async def _converse(self, work: Any, *, turn: bool = False) -> str:
        """Await an answer and show it. Returns what was wrong with the input, else an empty text.

        turn: nothing was said before it, so that the view follows the answer itself.
        """
        from advisor.errors import RackfitError

        try:
            messages = await self.busy("working", work)
        except RackfitError as error:
            return str(error)
        except Exception as error:  # the conversation must survive a defect in one answer
            from advisor.dialogue.messages import Message

            message = Message(role="rackfit", kind="error", markdown=await self.defect(error))
            await self.chat.transcript.add([message])
            return ""
        await self._show(messages, turn=turn)
        if self.engine.opened is not None and self.engine.opened.conversation.closed:
            await self.action_quit()
        return ""

    async def _show(self, messages: Iterable[Said], *, stream: bool = True, turn: bool = False) -> None:
        new = [message for message in messages if message.role != "user"]
        moving = stream and self.animation_level != "none"
        await self.chat.transcript.add(new, stream=moving, turn=turn)
        if self.snapshot is not None:
            self.chat.take(self.snapshot)
        offering = next((message for message in reversed(new) if message.choices), None)
        replies = self.chat.query_one(Replies)
        replies.question = offering.markdown if offering is not None and offering.kind == "question" else ""
        replies.choices = offering.choices if offering is not None else ()

    def action_reply(self, index: int) -> None:
        """A click on a quick reply."""
        self.chat.query_one(Replies).action_reply(index)

    def set_facts(self, values: Mapping[str, Any]) -> None:
        """Set or forget (None) facts; one answer follows, and what is wrong is notified."""

        async def work() -> None:
            self._tell(await self._converse(self.engine.set_facts(values), turn=True))

        self.run_worker(self.guard(work), group="say")

    def action_edit_fact(self, name: str) -> None:
        """Open the editor of a fact."""
        snapshot = self.snapshot
        fact = snapshot.kb.facts.get(name) if snapshot else None
        if snapshot is None or fact is None:
            return
        from advisor.report import parts
        from tui.screens.fact_editor import FactEditor

        requirement = snapshot.recommendation.requirement if snapshot.recommendation else {}
        value = snapshot.facts.get(name) or requirement.get(name)
        current = parts.fact_value(snapshot.kb, name, value) if value else ""

        async def setter(text: str | None) -> str:
            return await self._converse(self.engine.set_facts({name: text}), turn=True)

        self.push_screen(FactEditor(snapshot.kb, fact, current, setter))

    def action_choose_fact(self) -> None:
        """Choose a fact to change."""
        snapshot = self.snapshot
        if snapshot is None:
            return
        facts = [
            fact
            for fact in snapshot.kb.facts.values()
            if fact.scope == "requirement" and (fact.flag or fact.ask != "never")
        ]
        items = [(fact.name, Content(fact.title)) for fact in sorted(facts, key=lambda f: (f.order, f.name))]
        self.pick("Change a fact", items, self.action_edit_fact)

    def message_menu(self, view: MessageView) -> None:
        """Offer what can be done with a message: copy it, open what it cites, edit the facts it shows."""
        items = [("copy", Content("Copy this message"))]
        items += [(f"link:{link}", Content(f"Open {link}")) for link in view.links]
        items += [(f"fact:{chip.fact}", Content(f"Change {chip.label}: {chip.text}")) for chip in view.chips]

        def chosen(item: str) -> None:
            what, _, target = item.partition(":")
            if what == "copy":
                self.copy(view.markdown)
            elif what == "link":
                self.open(target)
            else:
                self.action_edit_fact(target)

        self.pick("Message", items, chosen)

    # what the keys and the command palette do

    async def action_panel(self, name: str) -> None:
        """Bring a panel (or `chat`) on screen; a second press returns to the prompt."""
        from tui.screens.reader import Reader

        while isinstance(self.screen, Reader):
            self.pop_screen()
        if len(self.screen_stack) > 1:
            return  # a window with something typed in it is left with esc only
        inside = self.focused is not None and any(
            node.id == f"panel-{name}" for node in self.focused.ancestors
        )
        await self.chat.show_panel(CHAT if inside and not self.chat.wide else name)
        if inside and self.chat.wide:
            self.chat.prompt.focus()

    async def action_next_panel(self) -> None:
        """Show the next panel."""
        names = [CHAT, *PANELS] if not self.chat.wide else list(PANELS)
        place = names.index(self.chat.panel_name)
        await self.chat.show_panel(names[(place + 1) % len(names)])

    def action_help(self) -> None:
        """Explain the screen."""
        from tui.screens.help import help_page

        self._read("Help", help_page(self))

    def action_show_earlier(self) -> None:
        """Bring back earlier messages."""
        self.run_worker(self.guard(self.chat.transcript.show_earlier), group="earlier")

    def action_command_palette(self) -> None:
        """Open the command palette, unless it is open below another window already."""
        from textual.command import CommandPalette

        if not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            super().action_command_palette()

    def action_export(self) -> None:
        """Choose what to export and where to."""
        from tui.exporting import export_window

        window = export_window(self)
        if window is None:
            self.notify("The knowledge base is still being read.")
        elif not isinstance(self.screen, type(window)):
            self.push_screen(window)

    def action_sessions(self) -> None:
        """Go on with a saved conversation, rename or delete one."""
        if self.snapshot is None:
            return
        from tui.screens.sessions import Sessions

        def chosen(session_id: str | None) -> None:
            if session_id:
                self.run_worker(self.guard(self._switch, session_id), group="say")

        self.push_screen(Sessions(), chosen)

    async def _switch(self, session_id: str) -> None:
        from advisor.errors import RackfitError

        try:
            await self._start(session_id)
        except RackfitError as error:
            self._tell(str(error))
