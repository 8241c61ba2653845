"""
Requests and their retries. Only requests that are safe to repeat are repeated: reads, and writes with an idempotency key
that was chosen before the first attempt.
"""
from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime
from typing import Any, Callable, Iterator, Mapping
from urllib.parse import urlencode, urlsplit

from .call import Call
from .credentials import Credentials, FixedToken
from .errors import PassbookError

_BACKOFF_MIN_SECONDS = 0.25
_BACKOFF_MAX_SECONDS = 15.0

#: Some firewalls refuse the name that Python gives itself.
_USER_AGENT = "passbook-client-python"

#: If `Retry-After` is longer than this, the call fails instead of waiting.
_RETRY_AFTER_MAX_SECONDS = 60.0

#: Codes of failures that an attempt soon after would meet again.
_LASTING_FAILURES = frozenset(
    [
        "account_full",
        "misconfigured",
        "payments_refused",
        "token_storage_full",
        "upstream_error",
        "upstream_not_configured",
    ]
)


def _nothing() -> None:
    pass


@dataclasses.dataclass(frozen=True)
class Options:
    """How one call is retried."""

    #: Retry until this time of `time.monotonic()`, instead of a fixed number of times.
    until: float | None = None
    #: Called when an attempt was sent and its outcome is unknown.
    on_unknown: Callable[[], None] = _nothing
    #: Called before the wait for the next attempt.
    on_wait: Callable[[], None] = _nothing
    #: Called when the service repeats the response of an earlier request.
    on_replayed: Callable[[], None] = _nothing


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The service never redirects a call. A redirect could take the token elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclasses.dataclass(frozen=True)
class Transport:
    origin: str
    headers: Mapping[str, str]
    timeout_seconds: float
    #: Attempts after the first.
    retries: int
    wait: Callable[[float], None]

    def send(self, call: Call, credentials: Credentials | FixedToken, options: Options = Options()) -> Any:
        """Sends a call, with retries. @raises PassbookError"""
        key = (call.idempotency_key or str(uuid.uuid4())) if call.keyed else None
        attempt = 0
        reauthorised = False
        while True:
            attempt += 1
            token = credentials.token()
            try:
                return self._attempt(call, token, key, options)
            except PassbookError as error:
                if error.status == 401 and not reauthorised:
                    reauthorised = True
                    if credentials.replace(token):
                        continue
                delay = pause_before(attempt, error)
                if not may_repeat(call, error, options) or self.is_exhausted(attempt, delay, options):
                    raise
            options.on_wait()
            self.wait(delay)

    def send_once(self, call: Call, credentials: Credentials | FixedToken) -> Any:
        """Sends a call without retries. @raises PassbookError"""
        return self._attempt(call, credentials.token(), None, Options())

    @contextlib.contextmanager
    def open_stream(self, call: Call, token: str, silence_seconds: float) -> Iterator[Iterator[str]]:
        """The lines of a server-sent event stream. @raises PassbookError"""
        request = self._request(call, token, None)
        request.add_header("Accept", "text/event-stream")
        opener = urllib.request.build_opener(_NoRedirects)
        try:
            try:
                with opener.open(request, timeout=silence_seconds) as response:
                    yield (line.decode().rstrip("\r\n") for line in response)
            except urllib.error.HTTPError as response:
                with response:
                    read_response(response.code, response.headers, response.read(), call)
        except (OSError, http.client.HTTPException) as error:
            raise no_response_of(request.full_url, error) from error

    def is_exhausted(self, attempt: int, delay: float, options: Options) -> bool:
        if options.until is not None:
            return time.monotonic() + delay > options.until
        return attempt > self.retries or delay > _RETRY_AFTER_MAX_SECONDS

    def _attempt(self, call: Call, token: str, key: str | None, options: Options) -> Any:
        request = self._request(call, token, key)
        try:
            status, headers, text = fetch(request, self.timeout_seconds)
        except BaseException:
            # No response, or the program is interrupted while it waits for one.
            options.on_unknown()
            raise
        try:
            body = read_response(status, headers, text, call)
        except PassbookError as error:
            if not error.is_refusal and not error.is_limited:
                options.on_unknown()
            raise
        if headers.get("Idempotency-Replayed") == "true":
            options.on_replayed()
        return body

    def prepared(self, call: Call, token: str, key: str | None) -> tuple[str, dict[str, str], bytes | None]:
        """The address, headers and body of a call. Without a token: an empty one."""
        accept = "text/csv" if call.csv else "application/json"
        headers = {"Accept": accept, "User-Agent": _USER_AGENT, **self.headers}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        query = {name: _query_value(name, value) for name, value in call.query.items() if value is not None}
        url = self.origin + call.path + (f"?{urlencode(query)}" if query else "")
        if call.body is None:
            return url, headers, None
        headers["Content-Type"] = "application/json"
        given = {
            name: value
            for name, value in call.body.items()
            if value is not ... and (value is not None or name in call.nullable)
        }
        return url, headers, _json(given)

    def _request(self, call: Call, token: str, key: str | None) -> urllib.request.Request:
        url, headers, data = self.prepared(call, token, key)
        return urllib.request.Request(url, data=data, headers=headers, method=call.method)


def fetch(request: urllib.request.Request, timeout_seconds: float) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of the response. @raises PassbookError `no_response`"""
    request.add_header("User-Agent", _USER_AGENT)
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        try:
            with opener.open(request, timeout=timeout_seconds) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as response:
            with response:
                return response.code, response.headers, response.read()
    except (OSError, http.client.HTTPException) as error:
        raise no_response_of(request.full_url, error) from error


def no_response_of(url: str, error: Exception) -> PassbookError:
    reason = getattr(error, "reason", None) or error
    host = urlsplit(url).netloc
    message = f"{host} gave no response: {reason}. Check base_url, and that the service is running."
    return PassbookError("no_response", message)


def _json(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise PassbookError("invalid_argument", f"The request cannot be written as JSON: {error}.") from error


def _query_value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, datetime):
        return str(value)
    if value.tzinfo is None:
        message = f"{name} must have a time zone, such as datetime.now(timezone.utc)."
        raise PassbookError("invalid_argument", message)
    return value.isoformat()


def read_response(status: int, headers: Mapping[str, str], text: bytes, call: Call) -> Any:
    """The body of a successful response. @raises PassbookError for any other one"""
    if call.csv and status == 200 and headers.get("Content-Type", "").startswith("text/csv"):
        return text.decode()
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    body = parsed if isinstance(parsed, dict) else None
    if 200 <= status < 300 and body is not None:
        if not call.csv and (call.field == "" or call.field in body):
            return body
        message = "The response does not come from a Passbook service. Check base_url."
        raise PassbookError("invalid_response", message)
    retry_after_seconds = read_retry_after(headers.get("Retry-After"))
    if status >= 400 and body is not None and isinstance(body.get("error"), str):
        code = body.get("code")
        known = code if isinstance(code, str) and re.fullmatch("[a-z][a-z_]*", code) else "invalid_response"
        raise PassbookError(
            known, body["error"], status=status, body=body, retry_after_seconds=retry_after_seconds
        )
    if status >= 500:
        raise PassbookError("no_response", f"The service failed with status {status}.")
    message = f"A response of status {status} does not come from a Passbook service. Check base_url."
    raise PassbookError("invalid_response", message, status=status)


def read_retry_after(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) else None


def may_repeat(call: Call, error: PassbookError, options: Options) -> bool:
    """Whether another attempt is safe and may succeed."""
    if error.is_limited:
        return True
    if error.is_refusal or not (call.keyed or call.method == "GET"):
        return False
    if error.code in ("no_credentials", "invalid_argument"):
        return False
    # A call that retries for hours also outlasts a wrong setting of the service.
    return options.until is not None or error.code not in _LASTING_FAILURES


def pause_before(attempt: int, error: PassbookError) -> float:
    """The pause before the attempt after this one, in seconds."""
    backoff = min(_BACKOFF_MAX_SECONDS, _BACKOFF_MIN_SECONDS * 2 ** min(attempt - 1, 16))
    # Half of it is random, so that clients that failed together do not retry together.
    return max(error.retry_after_seconds or 0.0, backoff * (0.5 + random.random() / 2))


def read_origin(text: str) -> str:
    """The origin of all requests. Tokens must not be sent over plain http through a network."""
    message = (
        f'base_url must be an origin such as https://passbook.example.com, but it is "{text}". '
        "Plain http is allowed only for this machine."
    )
    try:
        url = urlsplit(text)
        port = "" if url.port is None else f":{url.port}"
    except ValueError as error:
        raise PassbookError("invalid_argument", message) from error
    host = url.hostname or ""
    is_local = re.fullmatch(r"localhost|.+\.localhost|127(\.[0-9]+){3}|::1", host) is not None
    is_secure = url.scheme == "https" or (url.scheme == "http" and is_local)
    is_bare = url.path in ("", "/") and not url.query and not url.fragment and "@" not in url.netloc
    if host == "" or not is_secure or not is_bare:
        raise PassbookError("invalid_argument", message)
    return f"{url.scheme}://{f'[{host}]' if ':' in host else host}{port}"
