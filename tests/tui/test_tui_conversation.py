"""The conversation on the screen: typing, answers, replies, history, copying, and what must never be lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.events import Key, Paste
from tui_answers import ANSWER, opened
from tui_driving import ask, conversation, press, screen_text, settle, type_text

from tui.app import RackfitApp
from tui.settings import History, Settings
from tui.widgets.bars import StatusBar
from tui.widgets.completion import Completion, Name
from tui.widgets.message import MessageView
from tui.widgets.prompt import MAX_CHARACTERS
from tui.widgets.replies import Replies
from tui.widgets.transcript import MOUNTED


async def test_the_prompt_has_the_focus_at_once(running, app: RackfitApp) -> None:
    """Nothing has to be pressed before typing."""
    async with running() as pilot:
        await type_text(pilot, "llama")
        assert app.chat.prompt.text == "llama"


async def test_a_question_gets_an_answer_with_verdict_chips_and_replies(running, app: RackfitApp) -> None:
    """Sending a line shows it, what was understood, the answer, the next question, and the verdict on top."""
    async with running() as pilot:
        await ask(pilot, "llama 70b")
        text = screen_text(app)
        for part in (
            "❯ llama 70b",
            "● Model: Llama 3.1 70B",
            "HGX B300",
            "How is the site cooled?",
            "[Air]",
            "NODE",
            "●●○ medium",
        ):
            assert part in text
        assert conversation(app).said == ["llama 70b"]


async def test_what_was_typed_before_loading_ended_is_answered(tmp_path: Path) -> None:
    """A line sent while the knowledge base still loads waits for it."""
    app = RackfitApp(opened, settings=Settings(motion=False), history=History(tmp_path / "history"))
    async with app.run_test() as pilot:
        app.submit("early")
        await settle(pilot)
        assert conversation(app).said == ["early"]
        assert app.snapshot is not None
        assert app.snapshot.recommendation is not None


async def test_a_reply_is_chosen_with_the_keyboard(running, app: RackfitApp) -> None:
    """Tab goes to the replies, arrows choose, enter replies and returns to the prompt."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "tab")
        assert app.focused is app.chat.query_one(Replies)
        await press(pilot, "right", "enter")
        assert conversation(app).said[-1] == "Liquid"
        assert app.focused is app.chat.prompt


async def test_a_reply_is_chosen_with_the_mouse(running, app: RackfitApp) -> None:
    """A click on a reply sends it."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        row = int(app.chat.query_one(Replies).away)  # below the question when that is out of view
        await pilot.click("#replies", offset=(4, row))
        await settle(pilot)
        assert conversation(app).said[-1] == "Air"


async def test_tab_reaches_every_part_and_comes_back(running, app: RackfitApp) -> None:
    """All parts of the screen can be reached with tab alone."""
    async with running() as pilot:
        await ask(pilot)
        reached = []
        for _ in range(8):
            await pilot.press("tab")
            reached.append(app.focused.id if app.focused else None)
        assert {"tabs-side", "fact-list", "transcript", "replies", "prompt"} <= set(reached)


async def test_enter_in_a_line_that_ends_in_a_backslash_continues(running, app: RackfitApp) -> None:
    """Several lines can be typed in any terminal."""
    async with running() as pilot:
        await type_text(pilot, "one\\")
        await pilot.press("enter")
        await type_text(pilot, "two")
        assert app.chat.prompt.text == "one\ntwo"
        await press(pilot, "enter")
        assert conversation(app).said == ["one\ntwo"]


async def test_enter_does_not_overtake_the_letters_before_it(running, app: RackfitApp) -> None:
    """A line that arrives in one piece, as from a script or a slow connection, is sent whole."""
    async with running() as pilot:
        for letter in "hi":
            app.post_message(Key(letter, letter))
        app.post_message(Key("enter", "\r"))
        app.post_message(Key("x", "x"))
        await settle(pilot)
        assert conversation(app).said == ["hi"]
        assert app.chat.prompt.text == "x"


async def test_pasted_lines_stay_until_sent(running, app: RackfitApp) -> None:
    """A paste of several lines is not sent line by line."""
    async with running() as pilot:
        app.post_message(Paste("a\nb\nc"))
        await settle(pilot)
        assert app.chat.prompt.text == "a\nb\nc"
        assert conversation(app).said == []


async def test_an_enormous_paste_is_refused_with_a_word(running, app: RackfitApp) -> None:
    """Text beyond the limit is not taken, and the user is told."""
    async with running() as pilot:
        app.post_message(Paste("x" * (MAX_CHARACTERS + 1)))
        await settle(pilot)
        assert app.chat.prompt.text == ""
        assert "at most 20,000 fit" in screen_text(app)


async def test_typing_stops_where_a_paste_would_be_refused(running, app: RackfitApp) -> None:
    """A terminal that pastes as if it were typed cannot fill the prompt without end; deleting makes room again."""
    async with running() as pilot:
        app.chat.prompt.put("x" * MAX_CHARACTERS)
        await press(pilot, "a", "b")
        assert app.chat.prompt.text == "x" * MAX_CHARACTERS
        await press(pilot, "backspace", "a", "b")
        assert app.chat.prompt.text == "x" * (MAX_CHARACTERS - 1) + "a"


async def test_history_walks_back_and_returns_to_the_draft(running, app: RackfitApp) -> None:
    """↑ brings back earlier lines, ↓ the line that was being typed."""
    async with running() as pilot:
        await ask(pilot, "first")
        await ask(pilot, "second")
        await type_text(pilot, "draft")
        await pilot.press("up")
        assert app.chat.prompt.text == "second"
        await pilot.press("up")
        assert app.chat.prompt.text == "first"
        await pilot.press("up", "down", "down")
        assert app.chat.prompt.text == "draft"


async def test_lines_brought_back_offer_no_completions(running, app: RackfitApp) -> None:
    """Walking through the history is not held up by lists of completions."""
    async with running() as pilot:
        app.chat.query_one(Completion).learn([Name(key="llama 3.3 70b", text="Llama 3.3 70B", what="model")])
        await ask(pilot, "llama")
        await ask(pilot, "llama 3.3")
        await press(pilot, "up")
        assert not app.chat.query_one(Completion).is_open
        await press(pilot, "up")
        assert app.chat.prompt.text == "llama"


async def test_history_survives_the_session(running, app: RackfitApp, tmp_path: Path) -> None:
    """Typed lines are kept for the next run, readable by the user only."""
    async with running() as pilot:
        await ask(pilot, "kept")
    path = tmp_path / "history.jsonl"
    assert [json.loads(line) for line in path.read_text().splitlines()] == ["kept"]
    assert path.stat().st_mode & 0o077 == 0
    again = History(path)
    again.load()
    assert again.older("") == "kept"


async def test_names_complete_with_tab(running, app: RackfitApp) -> None:
    """A name is offered while it is typed; tab puts it in."""
    async with running() as pilot:
        app.chat.query_one(Completion).learn([Name(key="llama 3.3 70b", text="Llama 3.3 70B", what="model")])
        await type_text(pilot, "serve lla")
        assert "Llama 3.3 70B  model" in screen_text(app)
        await pilot.press("tab")
        assert app.chat.prompt.text == "serve Llama 3.3 70B "


async def test_enter_sends_even_while_completions_are_offered(running, app: RackfitApp) -> None:
    """A completion is taken by enter only after the user moved to it."""
    async with running() as pilot:
        app.chat.query_one(Completion).learn([Name(key="llama 3.3 70b", text="Llama 3.3 70B", what="model")])
        await ask(pilot, "llama")
        assert conversation(app).said == ["llama"]
        await type_text(pilot, "llama")
        await press(pilot, "down", "enter")
        assert app.chat.prompt.text == "Llama 3.3 70B "


async def test_escape_closes_completions_and_keeps_the_text(running, app: RackfitApp) -> None:
    """esc never discards what was typed."""
    async with running() as pilot:
        await type_text(pilot, "/ex")
        assert app.chat.query_one(Completion).is_open
        await pilot.press("escape")
        assert not app.chat.query_one(Completion).is_open
        await pilot.press("escape", "escape")
        assert app.chat.prompt.text == "/ex"


async def test_a_slash_command_runs(running, app: RackfitApp) -> None:
    """`/fit` shows the panel and is not said to the advisor."""
    async with running() as pilot:
        await ask(pilot, "/fit")
        assert app.chat.panel_name == "fit"
        assert conversation(app).said == []


async def test_an_unknown_command_names_the_nearest(running, app: RackfitApp) -> None:
    """A mistyped command is told what exists."""
    async with running() as pilot:
        await ask(pilot, "/exprot")
        assert "no command /exprot; try /export" in screen_text(app)


async def test_a_defect_in_one_answer_does_not_end_the_conversation(running, app: RackfitApp) -> None:
    """When answering fails, the screen says so and goes on."""
    async with running() as pilot:
        await ask(pilot, "broken")
        assert "hit a defect in rackfit (RuntimeError)" in screen_text(app)
        await ask(pilot, "llama")
        assert "NODE" in screen_text(app)


async def test_console_markup_in_a_line_is_shown_as_typed(running, app: RackfitApp) -> None:
    """User text is never parsed as markup, in the transcript or in notices."""
    async with running() as pilot:
        app.submit("[bold]x[/] [@click=app.quit]y[/] [/nope")
        await settle(pilot)
        app.submit("/[bold]")
        await settle(pilot)
        text = screen_text(app)
        assert "❯ [bold]x[/] [@click=app.quit]y[/] [/nope" in text
        assert "no command /[bold]" in text


async def test_escape_sequences_in_a_line_do_not_reach_the_terminal(running, app: RackfitApp) -> None:
    """Control characters of a pasted text are not drawn."""
    async with running() as pilot:
        app.submit("a\x1b[31mb\x07c")
        await settle(pilot)
        assert "\x1b" not in screen_text(app)
        assert "\x07" not in screen_text(app)


async def test_the_reader_stays_where_they_scrolled(running, app: RackfitApp) -> None:
    """A new message does not move a reader who scrolled up; a line below says that there is more."""
    async with running((80, 24)) as pilot:
        for number in range(3):
            await ask(pilot, f"question {number}")
        transcript = app.chat.transcript
        await press(pilot, "pageup", "pageup")
        place = transcript.scroll_y
        app.set_facts({"context_tokens": "8192"})
        await settle(pilot)
        assert transcript.scroll_y == place
        assert "more lines below" in screen_text(app)


async def test_a_click_into_the_conversation_does_not_move_it(running, app: RackfitApp) -> None:
    """Clicking into an old part of the transcript leaves the page where it is."""
    async with running((80, 24)) as pilot:
        for number in range(3):
            await ask(pilot, f"question {number}")
        await press(pilot, "pageup", "pageup")
        place = app.chat.transcript.scroll_y
        await pilot.click("#transcript", offset=(10, 5))
        await settle(pilot)
        assert app.focused is app.chat.transcript
        assert app.chat.transcript.scroll_y == place


async def test_answers_that_arrive_together_stay_in_order(running, app: RackfitApp) -> None:
    """Several changes at once are shown one after the other, none lost."""
    async with running() as pilot:
        for number in range(4):
            app.submit(f"question {number}")
            app.set_facts({"context_tokens": str(1024 * (number + 1))})
        await settle(pilot)
        shown = [view.said for view in app.chat.transcript.views]
        assert shown == app.chat.transcript.said
        asked = [said.markdown for said in shown if said.role == "user"]
        assert asked == [f"question {number}" for number in range(4)]


async def test_a_long_answer_is_read_from_its_top(running, app: RackfitApp) -> None:
    """After an answer that is longer than the screen, what the user said stands at the top."""
    async with running((80, 24)) as pilot:
        await ask(pilot, "llama")
        lines = screen_text(app).splitlines()
        assert lines[2].strip() == "▌ ❯ llama"


async def test_streaming_reveals_the_answer_and_escape_finishes_it(tmp_path: Path) -> None:
    """An answer appears line by line; esc shows the rest at once."""
    app = RackfitApp(opened, settings=Settings(), history=History(tmp_path / "history"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.submit("llama")
        await app.workers.wait_for_complete()
        view = next(view for view in app.chat.transcript.views if view.said.kind == "answer")
        assert view.shown < 1.0
        await pilot.press("escape")
        assert view.shown == 1.0
        assert app.focused is app.chat.prompt


async def test_resizing_while_an_answer_streams(tmp_path: Path) -> None:
    """The size may change at any time, also while lines appear."""
    app = RackfitApp(opened, settings=Settings(), history=History(tmp_path / "history"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.submit("llama")
        for size in ((60, 20), (200, 50), (30, 8), (100, 30)):
            await asyncio.sleep(0.05)
            await pilot.resize_terminal(*size)
        await pilot.pause(0.7)
        assert all(view.shown == 1.0 for view in app.chat.transcript.views)


async def test_the_answer_to_a_changed_fact_comes_into_view(running, app: RackfitApp) -> None:
    """A fact set in its editor is answered where the reader looks, not below an older answer."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await ask(pilot)
        app.set_facts({"context_tokens": "8192"})
        await settle(pilot)
        assert "With context_tokens = 8192" in screen_text(app)


async def test_a_long_session_keeps_few_widgets_and_gives_the_rest_back(running, app: RackfitApp) -> None:
    """Of 161 messages only the newest are mounted; going up brings earlier ones."""
    async with running() as pilot:
        for _ in range(40):
            app.submit("again")
        await settle(pilot)
        transcript = app.chat.transcript
        assert len(transcript.said) == 1 + 40 * 4
        assert len(transcript.views) == MOUNTED
        transcript.focus()
        await press(pilot, "g", "up")
        assert len(transcript.views) == 2 * MOUNTED
        assert "earlier messages" in transcript.query_one("#earlier").render().plain  # type: ignore[union-attr]


async def test_messages_are_walked_and_copied_with_keys(running, app: RackfitApp) -> None:
    """In the transcript, arrows choose a message and y copies it as Markdown."""
    async with running() as pilot:
        await ask(pilot)
        app.chat.transcript.focus()
        await press(pilot, "up")
        cursor = app.chat.transcript.cursor
        assert isinstance(cursor, MessageView)
        assert cursor.said.kind == "answer"
        await press(pilot, "y")
        assert app.clipboard == ANSWER


async def test_the_menu_of_a_message_opens_what_it_cites(running, app: RackfitApp) -> None:
    """Citations and links can be opened without a mouse."""
    async with running() as pilot:
        await ask(pilot)
        app.chat.transcript.focus()
        await press(pilot, "up", "enter")
        assert "Open evidence/mlperf-v6.1/acme/b300-x8" in screen_text(app)
        await press(pilot, "down", "enter")
        assert "8x B300" in screen_text(app)


async def test_the_menu_of_an_echo_edits_its_facts(running, app: RackfitApp) -> None:
    """The chips of what was understood lead to the editor of the fact."""
    async with running() as pilot:
        await ask(pilot)
        app.chat.transcript.focus()
        await press(pilot, "up", "up", "enter", "down", "down", "enter")
        assert "How long may one conversation get?" in screen_text(app)


async def test_a_click_on_a_chip_edits_the_fact(running, app: RackfitApp) -> None:
    """A chip is a button as well."""
    async with running() as pilot:
        await ask(pilot)
        echo = next(view for view in app.chat.transcript.views if view.chips)
        await pilot.click(echo, offset=(12, 2))
        await settle(pilot)
        assert "Which model do you want to serve?" in screen_text(app)


async def test_copying_the_whole_answer(running, app: RackfitApp) -> None:
    """The answer is copied as Markdown with its headline."""
    async with running() as pilot:
        await ask(pilot)
        await ask(pilot, "/copy")
        assert app.clipboard.startswith("# 3 × HGX B300")


async def test_quitting_asks_only_when_a_typed_line_would_be_lost(running, app: RackfitApp) -> None:
    """An unsent line makes quitting ask; enter then stays, and the line is still there."""
    async with running() as pilot:
        await type_text(pilot, "unsent")
        await press(pilot, "ctrl+q")
        assert "What you typed has not been sent" in screen_text(app)
        await press(pilot, "enter")
        assert app.chat.prompt.text == "unsent"
        assert app.is_running


async def test_quitting_an_empty_prompt_is_immediate(running, app: RackfitApp) -> None:
    """Nothing is asked when nothing can be lost."""
    async with running() as pilot:
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert not app.is_running


async def test_control_c_says_how_to_quit(running, app: RackfitApp) -> None:
    """ctrl+c does not end the conversation."""
    async with running() as pilot:
        await press(pilot, "ctrl+c")
        assert app.is_running
        assert "ctrl+q quits" in screen_text(app)


async def test_long_work_is_named_in_the_status_line(
    running, app: RackfitApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work beyond 200 ms shows what is being done, and typing goes on meanwhile."""
    import threading

    gate = threading.Event()
    async with running() as pilot:
        original = conversation(app).say

        def slow(text: str) -> list[object]:
            gate.wait(5)
            return original(text)  # type: ignore[return-value]

        monkeypatch.setattr(conversation(app), "say", slow)
        app.submit("slow")
        await pilot.pause(0.4)
        assert app.chat.query_one(StatusBar).busy == "working"
        await type_text(pilot, "next")
        assert app.chat.prompt.text == "next"
        gate.set()
        await settle(pilot)
        assert app.chat.query_one(StatusBar).busy == ""
