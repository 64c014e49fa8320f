"""A model file as a page on this computer that follows the file: saved, it runs again.

The server listens on 127.0.0.1 alone. Everything it answers is below a token that only its printed address has, and requests that
name another host are refused, so that no other page in the browser can reach it.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

from pliant.errors import PliantError

HOST = "127.0.0.1"
LOOK = 0.3  # s between two looks at the file


@dataclass
class FollowedPage:
    """The page of a file, written anew when the file has changed; what is wrong with the file is kept beside the last good page."""

    file: Path
    write: Callable[[], str]
    text: str = ""
    trouble: str = ""
    version: int = 0
    _seen: object = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def follow(self) -> None:
        """Look at the file once; a file that is being replaced is looked at again later."""
        with self._lock:
            try:
                stat = self.file.stat()
            except OSError:
                return
            if (stat.st_mtime_ns, stat.st_size) == self._seen:
                return
            self._seen = stat.st_mtime_ns, stat.st_size
            try:
                self.text, self.trouble = self.write(), ""
            except (PliantError, OSError) as trouble:
                self.trouble = str(trouble)
            self.version += 1

    @property
    def state(self) -> dict[str, Any]:
        return {"version": self.version, "trouble": self.trouble}


class PageServer:
    """Serves a followed page until it is closed."""

    def __init__(self, page: FollowedPage, port: int = 0) -> None:
        self.page, self.token = page, secrets.token_urlsafe(16)
        self._server = ThreadingHTTPServer((HOST, port), _handler(self))
        self._server.daemon_threads = True
        self._closed = threading.Event()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self._server.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What requests may call this server."""
        return tuple(f"{name}:{self._server.server_port}" for name in (HOST, "localhost"))

    def run(self) -> None:
        """Serve, and follow the file, until `close` or Ctrl-C."""
        serving = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        serving.start()
        try:
            while not self._closed.is_set():
                self.page.follow()
                self._closed.wait(LOOK)
        finally:
            self._server.shutdown()
            self._server.server_close()

    def close(self) -> None:
        self._closed.set()

    def answer(self, path: str) -> tuple[str, str] | None:
        """(kind, text) of a path; None if there is nothing."""
        begin = f"/{self.token}/"
        if not path.startswith(begin):
            return None
        name = path.removeprefix(begin).partition("?")[0]
        if name == "":
            frame = resources.files("pliant.live") / "page" / "follow.html"
            return "text/html; charset=utf-8", frame.read_text(encoding="utf-8")
        if name == "page":
            return "text/html; charset=utf-8", self.page.text
        if name == "state":
            return "application/json", json.dumps(self.page.state)
        return None


def _handler(server: PageServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = server.answer(self.path) if self.headers.get("Host") in server.hosts else None
            if found is None:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            kind, data = found[0], found[1].encode()
            self.send_response(HTTPStatus.OK)
            for name, value in (("Content-Type", kind), ("Content-Length", str(len(data))), ("Cache-Control", "no-store"),
                                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")):  # fmt: skip
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            """Requests are not printed."""

    return Handler
