"""The client of one service, for one caller."""
from __future__ import annotations

import logging
import re
import time
from typing import Any, Callable, ContextManager, Generator, Literal, Mapping
from urllib.parse import quote

from . import types
from .call import Call
from .calls import Calls
from .credentials import Credentials, FixedToken, Token
from .device_login import log_in_device
from .errors import PassbookError
from .events import Event, follow_events
from .run_job import Runner, RunningJob
from .tokens import Tokens
from .transport import Options, Transport, read_origin

_log = logging.getLogger("passbook_client")


class _CallsWith(Calls):
    """Calls with other retries."""

    def __init__(self, transport: Transport, credentials: Credentials, options: Options) -> None:
        self._transport = transport
        self._credentials = credentials
        self._options = options

    def _send(self, call: Call) -> Any:
        return self._transport.send(call, self._credentials, self._options)


class PassbookClient(Calls):
    """
    The calls of the API, and `run_job`. They raise `PassbookError`. Threads may share a client.

    Pass `token` to act for a person: a session token, a personal access token, or a function that returns one. Pass
    `app_key` and `identity` on an app's server to act for the app in one person's account.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Token | None = None,
        app_key: str | None = None,
        identity: str | None = None,
        on_token: Callable[[str], None] | None = None,
        timeout_seconds: float = 10.0,
        retries: int = 4,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Sends nothing yet.

        :param base_url: The service's origin, such as https://passbook.example.com.
        :param on_token: Called with each new token when a session token is renewed.
        :param timeout_seconds: How long one attempt may take to connect, and between two parts of a response.
        :param retries: Attempts after the first, for calls that may be repeated.
        :param wait: Waits between attempts. Tests replace it.
        """
        if app_key is not None:
            _check_app(token, app_key, identity)
        elif identity is not None:
            raise PassbookError("invalid_argument", "identity needs app_key. A token names its person itself.")
        headers = {} if identity is None else {"Passbook-Identity": identity}
        self._transport = Transport(read_origin(base_url), headers, timeout_seconds, retries, wait)
        self._credentials = Credentials(app_key if app_key is not None else token, self._renew, on_token)
        self._runner = Runner(
            lambda options: _CallsWith(self._transport, self._credentials, options),
            self._credentials.kept_fresh,
            wait,
            is_app=app_key is not None,
        )

    def run_job(
        self,
        *,
        app: str,
        action: str,
        cost_estimate: int,
        ttl_seconds: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        on_failure: Literal["refund", "charge_spent"] = "refund",
        report_reason: bool | None = None,
        on_warning: Callable[[str], None] = _log.warning,
        on_approval_needed: Callable[[str], None] | None = None,
        wait_for_top_up: bool = False,
    ) -> ContextManager[RunningJob]:
        """
        Reserves credits, runs the block, and settles the job at the `actual_cost` that the block sets. If the block
        raises, the reserve is refunded (see `on_failure`) and the error passed on. If the service is unreachable at that time, the refund
        is retried in the background: see `when_idle`. Requests without a response are repeated for up to 23 hours under
        the same idempotency key, so nothing is charged twice and no reserve is left while the process lives. If the
        service refuses the cost, the job is settled at the amount it allows: see `RunningJob.unsettled`.

        :param key: Your own id of this piece of work, up to 200 printable ASCII characters without a space. A process
            that restarts within 24 hours and runs the same job under the same key resumes the job instead of reserving
            again. If the job has ended, the call raises `job_ended` with the job as `error.job`.
        :param on_failure: What the job costs if the block raises: nothing, or what it has reported as `spent`.
        :param report_reason: Whether the message of an error becomes the job's `failure_reason`, which the account's holder
            reads. By default it does, but not with an app's key: then the reason is a general sentence. If False, there is
            none.
        :param on_approval_needed: Called if a cap of the token does not allow the job, with the address of the page where
            the account's holder approves or denies it. The call waits for the decision, up to 15 minutes, and then raises
            `approval_denied` or `approval_ended` if the job was not approved.
        :param wait_for_top_up: Whether to wait for an automatic top-up, if the balance does not cover the job and one is on its
            way: at most a minute, then it raises `insufficient_credits`. By default it raises at once.
        :param on_warning: Called if the job was not settled exactly as the block set it.
        """
        request = {
            "app": app,
            "action": action,
            "cost_estimate": cost_estimate,
            "ttl_seconds": ttl_seconds,
            "metadata": metadata,
        }
        run = self._runner.run
        return run(request, key, report_reason, on_failure, on_warning, on_approval_needed, wait_for_top_up)

    @property
    def tokens(self) -> Tokens:
        """The account's tokens and connections. A token sees itself and what was exchanged from it."""
        return Tokens(self._send)

    def session_token(self, *, template: str | None = None) -> str:
        """
        A new session token; with `template`, a token for another service. An OAuth client's session token expires with the
        access token that it was obtained with.
        """
        return self._token(Call("GET", "/api/sessionToken", query={"template": template}, field="token"))

    def oauth_token(self, provider: str) -> str:
        """The person's token at a sign-in provider, such as `github`, for its API."""
        return self._token(Call("GET", f"/api/oauthToken/{quote(provider, safe='')}", field="token"))

    def social_token(self) -> str:
        """The person's token at the social network of the service."""
        return self._token(Call("GET", "/api/socialToken", field="token"))

    def events(self, *, after: int | None = None) -> Generator[Event, None, None]:
        """
        The account's changes as they happen, each entry once and in order, until you leave the loop. After a lost connection it
        resumes at the last entry. It raises `PassbookError` if the service refuses the stream.

        :param after: The number of the last ledger entry that you know. If omitted, the events begin with a snapshot.
        """
        return follow_events(self._transport, self._credentials, after)

    def log_in_device(
        self,
        *,
        on_code: Callable[[types.DeviceAuthorization], None],
        client_name: str | None = None,
        app: str | None = None,
    ) -> str:
        """
        Signs a person in on a device without a browser, and returns a personal access token. It is returned only once: store it
        as a secret. It raises `access_denied`, `expired_token`, or `already_used` if the response with the token was lost.

        :param on_code: Shows the person the `user_code` and where to enter it, `verification_uri`.
        :param client_name: The program's name, which the person sees.
        :param app: The slug of the app that the program belongs to.
        """
        return log_in_device(self._transport, on_code, {"client_name": client_name, "app": app})

    def when_idle(self) -> None:
        """Returns when no background request is left. Python also waits for them before the process ends."""
        self._runner.when_idle()

    def _token(self, call: Call) -> str:
        return str(self._send(call)["token"])

    def _send(self, call: Call) -> Any:
        return self._transport.send(call, self._credentials)

    def _renew(self, token: str) -> str:
        # The token itself, without a renewal of its own.
        call = Call("GET", "/api/sessionToken", field="token")
        return str(self._transport.send(call, FixedToken(token))["token"])


def _check_app(token: Token | None, app_key: str, identity: str | None) -> None:
    if token is not None:
        raise PassbookError("invalid_argument", "Pass token or app_key, not both.")
    check_app_key(app_key)
    if identity is None or not re.fullmatch(r"[\x21-\x7e]{1,255}", identity):
        message = "identity must be the identity_id of the account's holder."
        raise PassbookError("invalid_argument", message)


def check_app_key(app_key: str | None) -> None:
    # A variable of the environment may be missing.
    if not re.fullmatch(r"pb_app_[A-Za-z0-9_-]+", app_key or ""):
        raise PassbookError("invalid_argument", "app_key must be an app's key, which begins with pb_app_.")
