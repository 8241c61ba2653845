"""A proxy in front of the service, whose connections a test breaks. The client opens one connection for each request."""
from __future__ import annotations

import contextlib
import re
import socket
import threading
from typing import Iterator, Sequence

_TOP_UP = b'{"error": "-", "code": "insufficient_credits", "credits": %d, "topup": "pending"}'
_HEAD = b"HTTP/1.1 402 Payment Required\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def _top_up_pending(credits: int) -> bytes:
    body = _TOP_UP % credits
    return _HEAD % len(body) + body


#: Responses that do not come from the service.
FOREIGN = {
    "topup": _top_up_pending(credits=0),
    "topup_never": _top_up_pending(credits=1_000),
    "page": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 26\r\n\r\n<p>Welcome to the hotel</p>",
    "json": b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 16\r\n\r\n{"status": "up"}',
    "redirect": b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: /api/me\r\n\r\n",
}


class FaultyProxy:
    """
    Applies faults to the next connections in turn.

    - `request_lost`: it is closed before the request reaches the service.
    - `response_lost`: the service carries the request out, and the connection is closed instead of its response.
    - `page`, `json`, `redirect`: the service carries the request out, and another server's response is the response.
    - `topup`, `topup_never`: the same with a 402 that promises an automatic top-up, at a balance of 0 and of 1,000.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._server = socket.create_server(("127.0.0.1", 0))
        self._faults: list[str] = []
        self.connections = 0
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def break_next(self, faults: Sequence[str]) -> None:
        self._faults = list(faults)

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.connections += 1
                fault = self._faults.pop(0) if self._faults else "none"
                threading.Thread(target=self._serve, args=(connection, fault), daemon=True).start()

    def _serve(self, connection: socket.socket, fault: str) -> None:
        with connection, contextlib.suppress(OSError):
            request = b"".join(_message(connection))
            if fault == "request_lost":
                return
            # Tokens name the address that issued them, so the service must see its own.
            host = b"\r\nHost: localhost:%d\r\n" % self._target_port
            request = re.sub(rb"\r\nHost: [^\r]+\r\n", host, request, count=1)
            with socket.create_connection(("localhost", self._target_port)) as service:
                service.sendall(request)
                response = b"".join(iter(lambda: service.recv(65536), b""))
            if fault != "response_lost":
                connection.sendall(FOREIGN.get(fault, response))


def _message(connection: socket.socket) -> Iterator[bytes]:
    """One request: its head, and as many bytes as `Content-Length` says."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = connection.recv(65536)
        if part == b"":
            raise ConnectionResetError
        head += part
    yield head
    length = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = int(length[0]) - len(head.split(b"\r\n\r\n", 1)[1]) if length else 0
    while missing > 0:
        part = connection.recv(65536)
        if part == b"":
            raise ConnectionResetError
        missing -= len(part)
        yield part
