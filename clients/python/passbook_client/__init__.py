"""Passbook's client for Python. It needs only the standard library."""
from . import types
from .admin import PassbookAdmin
from .app_server import AppServer
from .async_client import AsyncPassbookClient
from .client import PassbookClient
from .connection import Connection, ConnectionTokens, SpendingCap
from .credentials import Token
from .errors import PassbookError
from .events import Event
from .oauth import OAuthClient, PendingAuthorization, StartedAuthorization
from .run_job import RunningJob
from .tokens import Tokens
from .webhooks import VerifiedWebhook, verify_webhook

__all__ = [
    "AppServer",
    "AsyncPassbookClient",
    "Connection",
    "ConnectionTokens",
    "Event",
    "OAuthClient",
    "PassbookAdmin",
    "PassbookClient",
    "PassbookError",
    "PendingAuthorization",
    "RunningJob",
    "SpendingCap",
    "StartedAuthorization",
    "Token",
    "Tokens",
    "VerifiedWebhook",
    "types",
    "verify_webhook",
]
