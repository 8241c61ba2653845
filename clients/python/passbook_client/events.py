"""The account's changes as they happen, as server-sent events. After a lost connection the next stream resumes at the last entry."""
from __future__ import annotations

import json
from typing import Any, Generator, Mapping

from . import types
from .call import Call
from .credentials import Credentials
from .errors import PassbookError
from .transport import Transport

Event = types.AccountEvent

_PAUSE_MIN_SECONDS = 0.5
_PAUSE_MAX_SECONDS = 30.0


class Following:
    """Where a caller is in the events of an account, over any number of streams. It sends nothing itself."""

    def __init__(self, after: int | None, retries: int) -> None:
        self._last = after
        self._retries = retries
        self._failures = 0
        self._has_opened = False
        self._reauthorised = False

    @property
    def call(self) -> Call:
        return Call("GET", "/api/events", query={"after": self._last})

    def is_new(self, event: Mapping[str, Any]) -> bool:
        """Notes an event of a stream. An event without an entry is sent once."""
        self._has_opened, self._reauthorised, self._failures = True, False, 0
        line, last = event.get("line"), self._last
        if not isinstance(line, int):
            return True
        self._last = line
        # A snapshot of an older entry is new: the account was restored to it.
        return last is None or (line != last if event["kind"] == "snapshot" else line > last)

    def may_reauthorise(self, error: PassbookError) -> bool:
        """Whether another token may help, once for each refusal."""
        may = error.status == 401 and not self._reauthorised
        self._reauthorised = self._reauthorised or may
        return may

    def failed(self, error: PassbookError) -> None:
        """Raises the error if no other stream should be opened."""
        if error.is_refusal or error.code in ("no_credentials", "invalid_argument"):
            raise error
        # Before the first stream, as often as other calls retry. After it, without limit.
        if not self._has_opened and self._failures >= self._retries:
            raise error

    def pause(self) -> float:
        """How long to wait before the next stream, in seconds."""
        self._failures += 1
        return min(_PAUSE_MAX_SECONDS, _PAUSE_MIN_SECONDS * 2.0 ** min(self._failures - 1, 16))


class Lines:
    """Reads events from the lines of a stream."""

    #: The service sends a comment at least this often. A longer silence means that the connection was lost.
    SILENCE_SECONDS = 60.0

    def __init__(self) -> None:
        self._data: list[str] = []

    def read(self, line: str) -> Event | None:
        """The event that the line completes."""
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
        if line != "" or not self._data:
            return None
        text, self._data = "\n".join(self._data), []
        return _event_of(text)


def follow_events(
    transport: Transport, credentials: Credentials, after: int | None
) -> Generator[Event, None, None]:
    following = Following(after, transport.retries)
    while True:
        token = credentials.token()
        try:
            for event in _stream(transport, following.call, token):
                if following.is_new(event):
                    yield event
        except PassbookError as error:
            if following.may_reauthorise(error) and credentials.replace(token):
                continue
            following.failed(error)
        transport.wait(following.pause())


def _stream(transport: Transport, call: Call, token: str) -> Generator[Event, None, None]:
    """The events of one stream, until the service ends it."""
    lines = Lines()
    with transport.open_stream(call, token, Lines.SILENCE_SECONDS) as texts:
        for text in texts:
            event = lines.read(text)
            if event is not None:
                yield event


def _event_of(text: str) -> Event:
    try:
        event = json.loads(text)
    except ValueError:
        event = None
    if isinstance(event, dict) and isinstance(event.get("kind"), str):
        read: Any = event
        return read
    raise PassbookError("invalid_response", "The stream is not one of the service's.")
