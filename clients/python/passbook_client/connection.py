"""A connection to one person's account: it renews its tokens, and makes narrower connections."""
from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Literal, Mapping, Sequence, TypedDict

from .credentials import read_part
from .errors import PassbookError
from .token_endpoint import TokenEndpoint

#: A token is renewed if it expires within this time: earlier than `PassbookClient` needs, which is a minute.
_RENEW_BEFORE = timedelta(seconds=90)

_ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token"
_REFRESH_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:refresh_token"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


class SpendingCap(TypedDict):
    """The most that a connection may spend in a period."""

    credits: int
    period: Literal["day", "week", "month", "total"]


class ConnectionTokens(TypedDict):
    """The tokens of a connection, as the app stores them. They are secrets. They can be stored as JSON."""

    access_token: str
    expires_at: str
    """When the access token expires, RFC 3339 in UTC."""
    refresh_token: str | None
    """None: the connection ends with the access token."""
    scopes: list[str]
    resource: str | None
    """The protected resource that the access token is for; None: the service's API."""
    identity_id: str | None
    """The person, if the scopes have `openid`."""


#: Stores the new tokens after each renewal. A renewal waits for it.
OnTokens = Callable[[ConnectionTokens], None]


class Connection:
    """
    A person's permission to use their account. Calls raise `PassbookError`; `invalid_grant` means that the connection
    has ended. Threads may share a connection. `OAuthClient` makes connections.
    """

    def __init__(self, endpoint: TokenEndpoint, tokens: ConnectionTokens, on_tokens: OnTokens | None) -> None:
        self._endpoint = endpoint
        self._tokens = tokens
        self._on_tokens = on_tokens
        # Concurrent callers share one renewal.
        self._lock = threading.RLock()

    @property
    def tokens(self) -> ConnectionTokens:
        """The current tokens."""
        return self._tokens

    def token(self) -> str:
        """A valid access token, renewed in time: `PassbookClient(base_url, token=connection.token)`."""
        with self._lock:
            left = datetime.fromisoformat(self._tokens["expires_at"].replace("Z", "+00:00")) - _now()
            is_last = self._tokens["refresh_token"] is None
            if left > _RENEW_BEFORE or (is_last and left > timedelta()):
                return self._tokens["access_token"]
            return self.refresh()["access_token"]

    def refresh(self) -> ConnectionTokens:
        """Renews the tokens now."""
        with self._lock:
            old = self._tokens
            if old["refresh_token"] is None:
                message = "The connection has ended: it has no refresh token. Connect again."
                raise PassbookError("invalid_grant", message)
            form = {
                "grant_type": "refresh_token",
                "refresh_token": old["refresh_token"],
                "resource": old["resource"],
            }
            try:
                body = self._endpoint.request_tokens(form)
            except PassbookError as error:
                if error.code != "no_response":
                    raise
                # Safe: the service repeats its response to a token that it received a moment ago.
                body = self._endpoint.request_tokens(form)
            new = tokens_of(self._endpoint, body, old["scopes"], old["resource"])
            new["refresh_token"] = new["refresh_token"] or old["refresh_token"]
            new["identity_id"] = new["identity_id"] or old["identity_id"]
            self._tokens = new
            if self._on_tokens is not None:
                self._on_tokens(new)
            return new

    def exchange(
        self,
        *,
        scopes: Sequence[str] | None = None,
        resource: str | None = None,
        caps: Sequence[SpendingCap] | None = None,
        apps: Sequence[str] | None = None,
        expires_in: int | None = None,
    ) -> Connection:
        """
        Makes a narrower connection, such as for an agent. Its spending counts against this connection too. Each limit may
        only shrink what this connection has. If this connection has no refresh token, the narrower one ends with its access
        token.

        :param caps: The most it may spend, at most one cap a period.
        :param apps: The slugs of the only apps whose jobs it may create.
        :param expires_in: How long it lives, in seconds.
        """
        target = resource or self._tokens["resource"]
        # Not during a renewal, which replaces the refresh token.
        with self._lock:
            refresh_token = self._tokens["refresh_token"]
            form = {
                "grant_type": _EXCHANGE,
                "subject_token": refresh_token or self.token(),
                "subject_token_type": _REFRESH_TOKEN_TYPE if refresh_token else _ACCESS_TOKEN_TYPE,
                "scope": None if scopes is None else " ".join(scopes),
                "resource": target,
                "authorization_details": details_of(caps, apps, expires_in),
            }
            body = self._endpoint.request_tokens(form)
        granted = self._tokens["scopes"] if scopes is None else scopes
        tokens = tokens_of(self._endpoint, body, granted, target)
        tokens["identity_id"] = self._tokens["identity_id"]
        return Connection(self._endpoint, tokens, None)

    def revoke(self) -> None:
        """Ends these tokens at the service, and the connection itself if `exchange` made it.

        A connection that the person approved stays in their list with its limits, so that connecting again makes no
        second limit.
        """
        with self._lock:
            self._endpoint.revoke(self._tokens["refresh_token"] or self._tokens["access_token"])


def details_of(
    caps: Sequence[SpendingCap] | None, apps: Sequence[str] | None, expires_in: int | None
) -> str | None:
    """The parameter `authorization_details` (RFC 9396); None if there is no limit."""
    limits = {"caps": caps, "apps": apps, "expires_in": expires_in}
    given = {name: value for name, value in limits.items() if value is not None}
    return json.dumps([{"type": "passbook_spending", **given}]) if given else None


def tokens_of(
    endpoint: TokenEndpoint,
    body: Mapping[str, Any],
    scopes: Sequence[str],
    resource: str | None,
    nonce: str | None = None,
) -> ConnectionTokens:
    """The tokens of a response. `nonce`: that of the authorization, whose response must have an ID token."""
    granted = body["scope"].split() if isinstance(body.get("scope"), str) else list(scopes)
    id_token = body.get("id_token")
    if nonce is not None and "openid" in granted and id_token is None:
        raise PassbookError("invalid_response", "The response has no ID token.")
    expires_at = _now() + timedelta(seconds=body["expires_in"])
    return {
        "access_token": body["access_token"],
        "expires_at": expires_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "refresh_token": body.get("refresh_token"),
        "scopes": granted,
        "resource": resource,
        "identity_id": None if id_token is None else _read_person(endpoint, str(id_token), nonce),
    }


def _read_person(endpoint: TokenEndpoint, id_token: str, nonce: str | None) -> str:
    """
    The person that an ID token is about (OpenID Connect Core, section 3.1.3.7). Its signature need not be verified: it
    comes from the token endpoint, over TLS and in response to this client's own request (rule 6).
    """
    claims = read_part(id_token, 1)
    person, exp = claims.get("sub"), claims.get("exp")
    is_mine = claims.get("iss") == endpoint.origin and claims.get("aud") == endpoint.client_id
    is_current = isinstance(exp, (int, float)) and exp > _now().timestamp()
    if is_mine and is_current and nonce in (None, claims.get("nonce")) and isinstance(person, str) and person:
        return person
    raise PassbookError("invalid_response", "The ID token is not for this sign-in.")


def _now() -> datetime:
    return datetime.now(timezone.utc)
