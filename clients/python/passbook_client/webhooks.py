"""Verification of webhooks on an app's server (standardwebhooks.com)."""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Mapping, NamedTuple, Sequence, cast

from .errors import PassbookError
from .types import WebhookEvent

_SECRET_PREFIX = "whsec_"

#: Signatures that are compared: more than any sender needs.
_SIGNATURES_MAX = 10


class VerifiedWebhook(NamedTuple):
    """An event, with the id by which a repeated delivery is recognised."""

    #: The same in every attempt: store it to handle the event once.
    id: str
    event: WebhookEvent


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
) -> VerifiedWebhook:
    """
    The event of a request, if one of your secrets signed it in the last minutes. A replayed request is valid within
    that time: handle each id once. Raises `PassbookError` with the code `signature_invalid` if it is not valid.

    :param body: The body exactly as it was received, not parsed.
    :param headers: The request's headers, in any case.
    :param secret: The webhook's secret, `whsec_…`; several while you replace one.
    :param tolerance_seconds: How old or how far ahead the request's time may be.
    """
    if not isinstance(body, (bytes, bytearray, str)):
        message = "body must be the text or the bytes as received, not what a parser made of it."
        raise PassbookError("invalid_argument", message)
    # A variable of the environment may be missing.
    keys = [_read_secret(text) for text in ([secret] if isinstance(secret, str) else secret or [""])]
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
    )
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", timestamp) or not signatures:
        raise _refusal("The request lacks a header of Standard Webhooks.")
    if not abs(time.time() - int(timestamp)) <= tolerance_seconds:
        raise _refusal("The request is too old, or this server's clock is wrong.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + content
    if not _is_signed(signed, signatures, keys):
        raise _refusal("No signature of the request is of this secret. Pass the body as received.")
    return VerifiedWebhook(message_id, _read_event(content))


def _read_secret(secret: str) -> bytes:
    key = _decoded(secret[len(_SECRET_PREFIX) :]) if secret.startswith(_SECRET_PREFIX) else None
    if not key:
        message = "secret must be a webhook's secret, which begins with whsec_."
        raise PassbookError("invalid_argument", message)
    return key


def _is_signed(signed: bytes, signatures: str, keys: Sequence[bytes]) -> bool:
    for signature in signatures.split(" ")[:_SIGNATURES_MAX]:
        given = _decoded(signature[len("v1,") :]) if signature.startswith("v1,") else None
        if given is None:
            continue
        for key in keys:
            if hmac.compare_digest(given, hmac.new(key, signed, hashlib.sha256).digest()):
                return True
    return False


def _read_event(content: bytes) -> WebhookEvent:
    try:
        event: Any = json.loads(content)
    except ValueError:
        event = None
    if isinstance(event, dict) and isinstance(event.get("type"), str) and isinstance(event.get("data"), dict):
        return cast(WebhookEvent, event)
    raise _refusal("The body is signed, but is not an event of Passbook.")


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _refusal(message: str) -> PassbookError:
    return PassbookError("signature_invalid", message)
