"""The caller's token, and its renewal."""
from __future__ import annotations

import base64
import contextlib
import json
import math
import re
import threading
import time
from typing import Any, Callable, Iterator, Union

from .errors import PassbookError

#: A token, or a function that returns one. The function is called again when its token is about to expire.
Token = Union[str, Callable[[], str]]

#: A token is renewed if it expires within this time.
_RENEW_BEFORE_SECONDS = 60

#: Less than half of it, so that a failed renewal is repeated in time.
_CHECK_INTERVAL_SECONDS = 20


class FixedToken:
    """A token that is sent as it is."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        return self._token

    def replace(self, refused: str) -> bool:
        return False


class Credentials:
    """A bearer token. Session tokens live 15 minutes, and are renewed at the service before they expire."""

    def __init__(
        self,
        token: Token | None,
        renew: Callable[[str], str],
        on_token: Callable[[str], None] | None,
    ) -> None:
        self._source = token if callable(token) else None
        self._current = None if token is None or callable(token) else _checked(token)
        self._renew = renew
        self._on_token = on_token
        # Concurrent requests share one renewal.
        self._lock = threading.RLock()

    def token(self) -> str:
        """The token to send. It raises PassbookError `no_credentials` without one."""
        with self._lock:
            current = self._current
            if current is None:
                return self._next(None)
            left_seconds = _remaining_life_seconds(current)
            if left_seconds > _RENEW_BEFORE_SECONDS:
                return current
            try:
                return self._next(current)
            except Exception:
                # While the old token is valid, a failed renewal does not fail the request.
                if left_seconds > 0:
                    return current
                raise

    def replace(self, refused: str) -> bool:
        """Gets another token after the service refused this one. False if there is no other."""
        with self._lock:
            if self._source is None:
                return False
            return self._current != refused or self._next(refused) != refused

    def _next(self, current: str | None) -> str:
        if self._source is not None:
            token = _checked(self._source())
        elif current is not None:
            token = _checked(self._renew(current))
        else:
            raise PassbookError("no_credentials", "There is no token. Pass token or app_key to PassbookClient.")
        self._current = token
        if self._on_token is not None:
            self._on_token(token)
        return token

    @contextlib.contextmanager
    def kept_fresh(self) -> Iterator[None]:
        """Renews the token in time while long work sends no requests: an expired token cannot be renewed."""
        if self._current is not None and math.isinf(_remaining_life_seconds(self._current)):
            yield
            return
        stopped = threading.Event()

        def renew_if_due() -> None:
            while not stopped.wait(_CHECK_INTERVAL_SECONDS):
                with contextlib.suppress(Exception):
                    self.token()

        threading.Thread(target=renew_if_due, name="passbook-renewal", daemon=True).start()
        try:
            yield
        finally:
            stopped.set()


def _checked(token: str) -> str:
    """The value of a header must be one line of visible characters."""
    if isinstance(token, str) and re.fullmatch(r"[\x21-\x7e]+", token):
        return token
    raise PassbookError("no_credentials", "The token must be text of visible ASCII characters without spaces.")


def _remaining_life_seconds(token: str) -> float:
    """Seconds until a JWT expires; infinite for keys, personal access tokens and tokens without `exp`."""
    if token.startswith(("pb_pat_", "pb_app_")):
        return math.inf
    exp = read_part(token, 1).get("exp")
    return exp - time.time() if isinstance(exp, (int, float)) else math.inf


def read_part(token: str, place: int) -> dict[str, Any]:
    """The JSON object of a part of a JWT, not verified; an empty one if there is none."""
    try:
        part = token.split(".")[place]
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (IndexError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
