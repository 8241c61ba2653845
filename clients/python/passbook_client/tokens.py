"""Personal access tokens and connections of one account."""
from __future__ import annotations

from types import EllipsisType
from typing import Any, Awaitable, Callable, Mapping, Sequence
from urllib.parse import quote

from . import types
from .call import Call


class Tokens:
    """Each call sends one request."""

    def __init__(self, send: Callable[[Call], Any]) -> None:
        self._send = send

    def list(self) -> list[types.PersonalToken]:
        """The valid ones, newest first."""
        tokens: list[types.PersonalToken] = self._send(_LIST)["tokens"]
        return tokens

    def change(
        self,
        id: str,
        *,
        label: str | None = None,
        caps: Sequence[Mapping[str, Any]] | None = None,
        apps: Sequence[str] | None | EllipsisType = ...,
    ) -> types.PersonalToken:
        """
        Changes the name, the caps or the apps. Only a session of the holder may, and only Passbook's own pages give more.

        :param caps: All caps from now on, such as `{"credits": 50, "period": "month"}`; an empty list removes them.
        :param apps: The only apps; None allows all.
        """
        changed: types.PersonalToken = self._send(_change(id, {"label": label, "caps": caps, "apps": apps}))
        return changed

    def revoke(self, id: str) -> None:
        """Revokes one with immediate effect. A token may revoke only itself and what was exchanged from it."""
        self._send(Call("DELETE", _path(id)))


class AsyncTokens:
    """The same calls, as coroutines."""

    def __init__(self, send: Callable[[Call], Awaitable[Any]]) -> None:
        self._send = send

    async def list(self) -> list[types.PersonalToken]:
        """As `Tokens.list`."""
        tokens: list[types.PersonalToken] = (await self._send(_LIST))["tokens"]
        return tokens

    async def change(
        self,
        id: str,
        *,
        label: str | None = None,
        caps: Sequence[Mapping[str, Any]] | None = None,
        apps: Sequence[str] | None | EllipsisType = ...,
    ) -> types.PersonalToken:
        """As `Tokens.change`."""
        changed: types.PersonalToken = await self._send(_change(id, {"label": label, "caps": caps, "apps": apps}))
        return changed

    async def revoke(self, id: str) -> None:
        """As `Tokens.revoke`."""
        await self._send(Call("DELETE", _path(id)))


_LIST = Call("GET", "/api/tokens", field="tokens")


def _change(id: str, body: Mapping[str, Any]) -> Call:
    # A repetition sets the same values again.
    return Call("PATCH", _path(id), body=body, nullable=("apps",), keyed=True, field="id")


def _path(id: str) -> str:
    return f"/api/tokens/{quote(id, safe='')}"
