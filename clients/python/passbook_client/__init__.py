"""Passbook's client for Python. It needs only the standard library."""
from . import types
from .client import PassbookClient
from .credentials import Token
from .errors import PassbookError
from .run_job import RunningJob
from .webhooks import VerifiedWebhook, verify_webhook

__all__ = [
    "PassbookClient",
    "PassbookError",
    "RunningJob",
    "Token",
    "VerifiedWebhook",
    "types",
    "verify_webhook",
]
