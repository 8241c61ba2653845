"""The client of an app's server, for what concerns the app itself and not one person's account."""
from __future__ import annotations

import re
import time
from typing import Any, Callable, Sequence

from .call import Call
from .calls import AppCalls
from .client import PassbookClient, check_app_key
from .credentials import FixedToken, read_part
from .errors import PassbookError
from .token_endpoint import TokenEndpoint
from .transport import Transport, read_origin

#: The header's `typ` of a session token.
_SESSION_TYPE = "session+jwt"


class AppServer(AppCalls):
    """
    The calls that an app's key may make without an account: the app's settings, its jobs of all accounts, its webhooks,
    and the check of access tokens for its resources. They raise `PassbookError`. Threads may share an instance.
    """

    def __init__(
        self,
        base_url: str,
        *,
        app_key: str,
        timeout_seconds: float = 10.0,
        retries: int = 4,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Sends nothing yet. The parameters are those of `PassbookClient`."""
        check_app_key(app_key)
        origin = read_origin(base_url)
        self._app_key = app_key
        self._app_slug: str | None = None
        self._transport = Transport(origin, {}, timeout_seconds, retries, wait)
        self._endpoint = TokenEndpoint(origin, None, app_key, timeout_seconds)

    def account(self, identity: str) -> PassbookClient:
        """The client for one person's account. `identity` is their `identity_id`."""
        transport = self._transport
        return PassbookClient(
            transport.origin,
            app_key=self._app_key,
            identity=identity,
            timeout_seconds=transport.timeout_seconds,
            retries=transport.retries,
            wait=transport.wait,
        )

    def identify(self, token: str | None, *, origins: Sequence[str]) -> str:
        """
        The `identity_id` of the person whose session token a page of yours sent. The service verifies the token. It raises
        `unauthorized` for a missing token and for another one, such as one that was issued to another app's page, and `token_expired`.

        :param origins: The origins of your own pages, such as `https://sketch.example.com`.
        """
        if isinstance(origins, str):
            # `in` would look for the token's origin anywhere in the text.
            raise PassbookError("invalid_argument", f'origins must be a list, such as ["{origins}"].')
        token = token or ""
        header, claims = (read_part(token, place) for place in (0, 1))
        is_jwt = re.fullmatch(r"[A-Za-z0-9_.-]+", token) is not None
        if not is_jwt or header.get("typ") != _SESSION_TYPE:
            message = "This is not a session token of this service."
            raise PassbookError("unauthorized", message, status=401)
        if claims.get("azp") not in origins:
            azp = claims.get("azp")
            message = f"This session token is of a page at {azp!r}, which is not among the origins of this server."
            raise PassbookError("unauthorized", message, status=401)
        me = self._transport.send(Call("GET", "/api/me", field="identity_id"), FixedToken(token))
        return str(me["identity_id"])

    def introspect(self, token: str) -> dict[str, Any] | None:
        """
        The claims of an access token for one of the app's resources, such as `sub` (the person), `client_id`, `aud` and
        `scope` (RFC 7662). None if it is not valid now: forged, expired, revoked, or for a resource of another app.
        Check that `aud` is your resource and `scope` has what the request needs.
        """
        claims = self._endpoint.introspect(token)
        return claims if claims["active"] else None

    def _send(self, call: Call) -> Any:
        return self._transport.send(call, FixedToken(self._app_key))

    def _slug(self) -> str:
        # A key belongs to one app for ever. Two threads may both read it.
        if self._app_slug is None:
            self._app_slug = self.read_app()["slug"]
        return self._app_slug
