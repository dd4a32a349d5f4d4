"""The same screen in a browser: textual-serve on the loopback address, its own page only, for who has the key."""

from __future__ import annotations

import argparse
import hmac
import logging
import secrets
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from advisor.errors import InputError

_TEMPLATES = Path(__file__).parent / "web"
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_LARGEST_PORT = 65_535
KEY = "key"
"""Name of the parameter that carries the key of this run; the page puts it into a cookie and out of the address."""


def serve(arguments: argparse.Namespace, narrate: Callable[[str], None]) -> int:
    """Serve until interrupted; `narrate` tells the user where. Raises InputError when that cannot start."""
    try:
        from textual_serve.server import Server
    except ImportError as error:
        raise InputError("--serve: needs textual-serve; install rackfit[serve]") from error
    from aiohttp import web

    host, port = arguments.host, _free_port(arguments.host, arguments.port)
    loopback = is_loopback(host)
    key = secrets.token_urlsafe(24)
    cookie = f"rackfit-{port}"  # cookies belong to a host, whatever the port

    class OwnPageServer(Server):
        """Answers pages of its own origin only, and whoever has the key, so that nobody else can drive the terminal."""

        def initialize_logging(self) -> None:
            """Say nothing about requests."""
            logging.basicConfig(level=logging.ERROR, format="rackfit: %(message)s")

        async def on_startup(self, app: Any) -> None:  # noqa: ARG002  # textual-serve's
            """Say where the page is."""
            narrate(f"rackfit: open {self.public_url}/?{KEY}={key} in a browser; ctrl+c ends it")
            if not loopback:
                narrate(
                    f"rackfit: {host} is reachable from other machines, and what they send is not encrypted; keep the key to yourself"
                )

        async def _make_app(self) -> Any:
            app = await super()._make_app()
            app.middlewares.append(own_page)
            return app

    @web.middleware
    async def own_page(request: Any, handler: Any) -> Any:
        if not allowed(request.headers.get("Host", ""), request.headers.get("Origin"), loopback=loopback):
            raise web.HTTPForbidden(text="rackfit answers its own page only\n")
        if hmac.compare_digest(request.query.get(KEY, "").encode(), key.encode()):
            entered = web.HTTPSeeOther("/")
            entered.set_cookie(cookie, key, httponly=True, samesite="Strict")
            raise entered
        if not hmac.compare_digest(request.cookies.get(cookie, "").encode(), key.encode()):
            raise web.HTTPForbidden(
                text="open the address that rackfit printed when it started, key included\n"
            )
        response = await handler(request)
        if not response.prepared:
            response.headers["Content-Security-Policy"] = _POLICY
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Referrer-Policy"] = "no-referrer"
        return response

    server = OwnPageServer(
        _command(arguments), host=host, port=port, title="rackfit", templates_path=_TEMPLATES
    )
    server.serve()
    return 0


def is_loopback(host: str) -> bool:
    """True for addresses that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def allowed(host_header: str, origin: str | None, *, loopback: bool) -> bool:
    """Whether a request may be answered: from our own page, and, on the loopback address, by a name that means it.

    The second check keeps out pages whose host name was pointed at this machine (DNS rebinding).
    """
    name = host_header.rpartition(":")[0] if host_header.rpartition(":")[2].isdigit() else host_header
    if loopback and not is_loopback(name.strip("[]")):
        return False
    return origin is None or origin.partition("://")[2] == host_header


def _free_port(host: str, port: int) -> int:
    if not 0 <= port <= _LARGEST_PORT:
        raise InputError(f"--port: {port} is no port; give 0 to {_LARGEST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return int(probe.getsockname()[1])
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"--host, --port: cannot listen on {host[:80]}:{port}: {reason}; give another, or --port 0"
        ) from error


def _command(arguments: argparse.Namespace) -> str:
    words = [sys.executable, "-m", "advisor.cli.main", "chat"]
    for folder in arguments.kb:
        words += ["--kb", str(Path(folder).resolve())]
    if arguments.resume is not None:
        words += ["--resume", arguments.resume] if arguments.resume else ["--resume"]
    if arguments.text:
        words += ["--", *arguments.text]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
