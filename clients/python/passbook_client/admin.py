"""The client of an operator."""
from __future__ import annotations

import time
from typing import Any, Callable

from .call import Call
from .calls import AdminCalls
from .client import PassbookClient
from .credentials import Token


class PassbookAdmin(AdminCalls):
    """
    The calls of operators: `token` is a token of one with the scope `admin`. Where a call takes an identity, it also takes
    the person's e-mail address. They raise `PassbookError`, with the code `not_operator` for other callers. Threads may
    share an instance.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Token,
        timeout_seconds: float = 10.0,
        retries: int = 4,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Sends nothing yet. The parameters are those of `PassbookClient`."""
        self._client = PassbookClient(
            base_url, token=token, timeout_seconds=timeout_seconds, retries=retries, wait=wait
        )

    def _send(self, call: Call) -> Any:
        return self._client._send(call)
