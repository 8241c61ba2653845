"""Requests to the OAuth endpoints (RFC 6749, RFC 7009, RFC 7662, RFC 8693), and their errors."""
from __future__ import annotations

import base64
import dataclasses
import json
import re
import urllib.request
from typing import Any, Mapping
from urllib.parse import quote_plus, urlencode

from .errors import PassbookError
from .transport import fetch, read_retry_after


@dataclasses.dataclass(frozen=True)
class TokenEndpoint:
    origin: str
    #: None: the secret is an app's key, which is sent as a bearer token.
    client_id: str | None
    #: None: a public client, which is only named.
    client_secret: str | None = dataclasses.field(repr=False)
    timeout_seconds: float

    def request_tokens(self, form: Mapping[str, str | None]) -> dict[str, Any]:
        """Requests tokens, once. @raises PassbookError with the service's error as `code`"""
        body = self._post("/oauth/token", form)
        is_bearer = str(body.get("token_type")).lower() == "bearer"
        if isinstance(body.get("access_token"), str) and is_bearer and isinstance(body.get("expires_in"), int):
            return body
        raise PassbookError("invalid_response", f"{self.origin} sent no tokens. Check base_url.")

    def revoke(self, token: str) -> None:
        """Revokes a token. An unknown token counts as revoked (RFC 7009, section 2.2)."""
        self._post("/oauth/revoke", {"token": token})

    def introspect(self, token: str) -> dict[str, Any]:
        body = self._post("/oauth/introspect", {"token": token})
        if isinstance(body.get("active"), bool):
            return body
        raise PassbookError("invalid_response", f"{self.origin} described no token. Check base_url.")

    def _post(self, path: str, form: Mapping[str, str | None]) -> dict[str, Any]:
        fields = {name: value for name, value in form.items() if value is not None}
        if self.client_secret is None:
            fields["client_id"] = self.client_id or ""
        request = urllib.request.Request(self.origin + path, data=urlencode(fields).encode(), method="POST")
        request.add_header("Accept", "application/json")
        if self.client_secret is not None:
            request.add_header("Authorization", _authorization(self.client_id, self.client_secret))
        status, headers, text = fetch(request, self.timeout_seconds)
        body = _read_object(text)
        if 200 <= status < 300:
            return body
        raise _error_of(status, headers, body)


def _authorization(client_id: str | None, client_secret: str) -> str:
    if client_id is None:
        return f"Bearer {client_secret}"
    # RFC 6749, section 2.3.1: both parts are encoded as in a form.
    pair = f"{quote_plus(client_id)}:{quote_plus(client_secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _error_of(status: int, headers: Mapping[str, str], body: Mapping[str, Any]) -> PassbookError:
    code = body.get("error")
    if not is_error_code(code):
        message = f"A response of status {status} does not come from the token endpoint."
        return PassbookError("no_response" if status >= 500 else "invalid_response", message, status=status)
    return PassbookError(
        str(code),
        str(body.get("error_description") or code),
        status=status,
        body=body,
        retry_after_seconds=read_retry_after(headers.get("Retry-After")),
    )


def is_error_code(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[a-z][a-z_]*", value) is not None


def _read_object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
