"""The one error class of this package."""
from __future__ import annotations

from typing import Any, Mapping

from . import types

#: RFC 4918, section 11.5: the account is full. This is a refusal, although its status is a 5xx.
_INSUFFICIENT_STORAGE = 507

_TOO_MANY_REQUESTS = 429


class PassbookError(Exception):
    """
    Every error that this package raises. `code` is the service's error code, or one of the client's own:

    - `no_response`: the network failed or took too long. The service may or may not have carried out the request.
    - `invalid_response`: the response does not come from the service.
    - `no_credentials`: there is no token; nothing was sent.
    - `invalid_argument`: an argument is invalid; nothing was sent.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        body: Mapping[str, Any] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: The HTTP status; None without a response.
        self.status = status
        #: The whole error body, with the fields that a code adds, such as `required`.
        self.body: Mapping[str, Any] = body or {}
        self.retry_after_seconds = retry_after_seconds

    @property
    def job(self) -> types.Job | None:
        """The job of the caller's own key, if `run_job` found that it had ended (`job_ended`); otherwise None."""
        return self.body.get("job") if self.code == "job_ended" else None

    @property
    def is_limited(self) -> bool:
        """Whether the service limited the rate: it did not carry out the request, and a later one may succeed."""
        return self.status == _TOO_MANY_REQUESTS and self.code != "invalid_response"

    @property
    def is_refusal(self) -> bool:
        """
        Whether the service refused the request: it changed nothing, and a retry would be refused too. Missing
        responses, failures of the service, and responses of a firewall or proxy are not refusals.
        """
        if self.status is None or self.code == "invalid_response" or self.is_limited:
            return False
        return 400 <= self.status < 500 or self.status == _INSUFFICIENT_STORAGE
