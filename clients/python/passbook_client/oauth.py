"""Connecting an app to a person's account: authorization code with PKCE (RFC 7636), `state` and `iss` (RFC 9207)."""
from __future__ import annotations

import base64
import hashlib
import re
import secrets
from typing import Literal, NamedTuple, Sequence, TypedDict
from urllib.parse import parse_qs, urlencode, urlsplit

from .connection import Connection, ConnectionTokens, OnTokens, SpendingCap, details_of, tokens_of
from .errors import PassbookError
from .token_endpoint import TokenEndpoint, is_error_code
from .transport import read_origin


class PendingAuthorization(TypedDict):
    """Kept by the app until the person returns, for this browser only. It can be stored as JSON."""

    state: str
    nonce: str
    verifier: str
    scopes: list[str]
    resource: str | None


class StartedAuthorization(NamedTuple):
    #: Send the person's browser here.
    url: str
    pending: PendingAuthorization


class OAuthClient:
    """The OAuth client of an app. Calls raise `PassbookError`, with the error of the service as `code`."""

    def __init__(
        self,
        base_url: str,
        *,
        client_id: str,
        client_secret: str | None = None,
        redirect_uri: str,
        timeout_seconds: float = 10.0,
    ) -> None:
        """
        Sends nothing yet.

        :param client_id: The id of a registered client, or the https address of your client's metadata document.
        :param client_secret: For a registered client that is not public.
        :param redirect_uri: Where the person returns to. It must be one of the client's registered addresses.
        """
        if not re.fullmatch(r"[\x21-\x7e]+", client_id) or not urlsplit(redirect_uri).scheme:
            message = "client_id must be the id of a client, and redirect_uri its address."
            raise PassbookError("invalid_argument", message)
        self._redirect_uri = redirect_uri
        self._endpoint = TokenEndpoint(read_origin(base_url), client_id, client_secret, timeout_seconds)

    def start(
        self,
        scopes: Sequence[str],
        *,
        resource: str | None = None,
        caps: Sequence[SpendingCap] | None = None,
        apps: Sequence[str] | None = None,
        expires_in: int | None = None,
        prompt: Literal["login", "consent", "none"] | None = None,
    ) -> StartedAuthorization:
        """
        Starts an authorization. It sends nothing. Keep `pending` in the visitor's session, and redirect them to `url`.

        :param scopes: `read` and `write` for the service's API, `openid`, `profile` and `email` to know the person,
            `offline_access` to stay connected after the person signs out; or the scopes of `resource`.
        :param resource: The address of another protected resource, such as an MCP server; the service's API if None.
        :param caps: Limits to suggest on the page, like `apps` and `expires_in`. The person decides.
        """
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        digest = hashlib.sha256(verifier.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": self._endpoint.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "nonce": nonce if "openid" in scopes else None,
            "resource": resource,
            "prompt": prompt,
            "authorization_details": details_of(caps, apps, expires_in),
        }
        query = urlencode({name: value for name, value in parameters.items() if value is not None})
        pending: PendingAuthorization = {
            "state": state,
            "nonce": nonce,
            "verifier": verifier,
            "scopes": list(scopes),
            "resource": resource,
        }
        return StartedAuthorization(f"{self._endpoint.origin}/oauth/authorize?{query}", pending)

    def callback(
        self, url: str, pending: PendingAuthorization | None, *, on_tokens: OnTokens | None = None
    ) -> Connection:
        """
        Completes an authorization: `url` is the address that the person returned to, with its query. A code is valid
        once, for a minute. It raises `signin_failed` if this browser did not start the authorization or another service
        sent the response, and `access_denied` if the person refused.
        """
        response = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        if pending is None or not secrets.compare_digest(response.get("state", "").encode(), pending["state"].encode()):
            message = "This browser did not start that authorization. Start it again."
            raise PassbookError("signin_failed", message)
        if response.get("iss") != self._endpoint.origin:
            raise PassbookError("signin_failed", f"The response is not from {self._endpoint.origin}.")
        if "error" in response:
            code = response["error"] if is_error_code(response["error"]) else "invalid_response"
            raise PassbookError(code, response.get("error_description", code))
        if "code" not in response:
            raise PassbookError("invalid_response", "The response has no code.")
        body = self._endpoint.request_tokens(
            {
                "grant_type": "authorization_code",
                "code": response["code"],
                "redirect_uri": self._redirect_uri,
                "code_verifier": pending["verifier"],
                "resource": pending["resource"],
            }
        )
        tokens = tokens_of(self._endpoint, body, pending["scopes"], pending["resource"], pending["nonce"])
        return Connection(self._endpoint, tokens, on_tokens)

    def connection(self, tokens: ConnectionTokens, *, on_tokens: OnTokens | None = None) -> Connection:
        """The connection of tokens that the app stored. It sends nothing."""
        return Connection(self._endpoint, tokens, on_tokens)
