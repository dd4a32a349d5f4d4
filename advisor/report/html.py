"""Markdown of ours as one self-contained HTML file: everything escaped, no script, a strict content policy."""

from __future__ import annotations

from html import escape

from advisor.visible import one_line, visible

_POLICY = (
    "default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
)
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.55 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #8884}
table{border-collapse:collapse;font-size:.92rem}td,th{border:1px solid #8886;padding:.25rem .6rem;text-align:left;vertical-align:top}
code{font-size:.9em}pre{overflow-x:auto}
"""


def render_html(markdown: str, title: str) -> str:
    """A whole HTML page. Raw HTML in the text is shown, not obeyed; links are http(s) only."""
    import base64
    import hashlib

    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("entity")
    parser.validateLink = lambda url: url.lower().startswith(("http://", "https://"))  # type: ignore[method-assign]  # documented hook
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(digest=digest)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(one_line(title))}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{parser.render(visible(markdown))}</body>\n</html>\n"
    )
