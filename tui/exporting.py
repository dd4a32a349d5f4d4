"""Exports from the screen: the window, and writing what it asked for."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from advisor.atomic import replace_file
from tui.screens.export import WHAT, Export

if TYPE_CHECKING:
    from tui.app import RackfitApp
    from tui.engine import Opened, Snapshot


def export_window(app: RackfitApp) -> Export | None:
    """The window; None while there is nothing to export."""
    snapshot = app.snapshot
    if snapshot is None:
        return None

    async def export(name: str, path: Path) -> str:
        from advisor.errors import RackfitError

        def render(opened: Opened) -> str:
            return rendered(opened, name)

        try:
            text = await app.busy("writing", app.engine.with_opened(render))
            if app.served:
                app.deliver_text(io.StringIO(text), save_filename=path.name, open_method="download")
            else:
                await app.engine.run(replace_file, path, text.encode())
        except RackfitError as error:
            return str(error)
        except OSError as error:
            return f"cannot write {path}: {error.strerror or error}; give a path in a writable folder"
        app.notify(f"Saved {path.name if app.served else path}", markup=False)
        return ""

    return Export(_stem(snapshot), export, answered=snapshot.recommendation is not None, local=not app.served)


def rendered(opened: Opened, name: str) -> str:
    """The text of one of the exports of `WHAT`."""
    from advisor.report.html import render_html
    from advisor.report.json import render_json
    from advisor.report.markdown import render_markdown
    from advisor.report.transcript import render_conversation

    form = cast('Literal["markdown", "html", "json"]', WHAT[name][1].lower())
    answer = opened.conversation.recommendation
    if name.startswith("conversation") or answer is None:
        return render_conversation(opened.kb, opened.conversation.transcript, answer, form)
    if form == "json":
        return render_json(answer) + "\n"
    markdown = render_markdown(opened.kb, answer)
    return markdown if form == "markdown" else render_html(markdown, f"rackfit: {answer.headline}")


def _stem(snapshot: Snapshot) -> str:
    """`rackfit-llama-3.1-70b`: the file name without its ending."""
    model = snapshot.facts.get("model")
    name = str(model.value).rpartition("/")[2] if model is not None else ""
    return "-".join(
        part for part in ("rackfit", re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")[:60]) if part
    )
