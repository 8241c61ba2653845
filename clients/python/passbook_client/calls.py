"""The calls of the API. Generated from docs/openapi.json by `npm run openapi`: do not change this file."""
from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, Mapping, Sequence
from urllib.parse import quote

from . import types
from .call import Call


class Calls(ABC):
    """Each method sends one request, and returns the body of its response."""

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """Sends the call, with retries if they are safe."""

    def read_wallet(
        self,
        *,
        app: str | None = None,
    ) -> types.Wallet:
        """
        The account and its apps. Opens the account if it does not exist. With `app`, adds the app and
        grants its starter credits, once per account and app. With cookies, `app` requires an allowed
        origin.
        """
        return self._send(
            Call(
                "GET",
                "/api/wallet",
                query={"app": app},
                field="account",
            )
        )

    def list_jobs(
        self,
        *,
        app: str | None = None,
        status: types.JobStatus | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.JobPage:
        """
        The caller's jobs, newest first. With an app's key and without `Passbook-Identity`: the app's jobs
        of all accounts, without metadata, some seconds late (`FoundJobPage`). Filters can be combined. A
        filtered page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`.
        """
        return self._send(
            Call(
                "GET",
                "/api/jobs",
                query={"app": app, "status": status, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="jobs",
            )
        )

    def create_job(
        self,
        *,
        app: str,
        action: str,
        cost_estimate: int,
        ttl_seconds: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        approval: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.CreatedJob:
        """
        Create a job and reserve its estimate. Requires `credits >= cost_estimate`. A job that is still
        started after `ttl_seconds` expires, and its reserve is refunded unless the app's `on_expiry` says
        otherwise. A token that exceeds a cap gets 402 `token_budget_exceeded` with an `approval_url`: if
        the account's holder approves the job there, the same request with `approval` creates it once,
        within 15 minutes.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs",
                body={"app": app, "action": action, "cost_estimate": cost_estimate, "ttl_seconds": ttl_seconds, "metadata": metadata, "approval": approval},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job_id",
            )
        )

    def create_jobs(
        self,
        *,
        jobs: Sequence[types.CreateJobsJobs],
        idempotency_key: str | None = None,
    ) -> types.CreatedJobs:
        """
        Create up to 100 jobs in one transaction. All items run in one transaction, in order. Each item has
        the result that it would have in a request of its own; a refused or malformed item does not stop the
        others. The idempotency key covers the whole batch; its response is stored if any item took effect.
        Every ten items count as one write.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/batch",
                body={"jobs": jobs},
                keyed=True,
                idempotency_key=idempotency_key,
                field="results",
            )
        )

    def complete_jobs(
        self,
        *,
        jobs: Sequence[types.CompleteJobsJobs],
        idempotency_key: str | None = None,
    ) -> types.SettledJobs:
        """
        Settle up to 100 jobs in one transaction. All items run in one transaction, in order. Each item has
        the result that it would have in a request of its own; a refused or malformed item does not stop the
        others. The idempotency key covers the whole batch; its response is stored if any item took effect.
        Every ten items count as one write.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/complete/batch",
                body={"jobs": jobs},
                keyed=True,
                idempotency_key=idempotency_key,
                field="results",
            )
        )

    def read_job(
        self,
        id: str,
    ) -> types.Job:
        """One job. A job of another account has the same response as one that does not exist."""
        return self._send(
            Call(
                "GET",
                f"/api/jobs/{quote(id, safe='')}",
                field="id",
            )
        )

    def complete_job(
        self,
        *,
        job_id: str,
        actual_cost: int,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> types.SettledJob:
        """
        Settle a job at its real cost. The part of the reserve that exceeds the cost is refunded. If the
        cost exceeds the reserve, the difference is charged in full, even if the balance falls below zero.
        An expired job can still be completed, once.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/complete",
                body={"job_id": job_id, "actual_cost": actual_cost, "metadata": metadata},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job",
            )
        )

    def fail_job(
        self,
        *,
        job_id: str,
        refund: bool | None = None,
        reason: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> types.SettledJob:
        """
        Fail a job. The reserve is refunded; with `refund: false` it is charged as the job's cost. `reason`
        (up to 500 characters) is returned as `failure_reason`. `metadata` is merged as in a completion.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/fail",
                body={"job_id": job_id, "refund": refund, "reason": reason, "metadata": metadata},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job",
            )
        )

    def report_progress(
        self,
        *,
        job_id: str,
        step: int,
        spent: int | None = None,
        reserve: int | None = None,
        ttl_seconds: int | None = None,
    ) -> types.ProgressedJob:
        """
        Report a step of a long job. `reserve` sets what the job holds from now on: the difference is
        reserved or returned. `spent` is what the job costs if it expires, at most what it holds.
        `ttl_seconds` moves the expiry to so many seconds from now. Fields that are missing stay as they
        are. `step` grows with each report: a repeated step gets its first response with
        `Idempotency-Replayed: true`, and an older step is refused, so a process that lost the job to
        another one notices.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/progress",
                body={"job_id": job_id, "step": step, "spent": spent, "reserve": reserve, "ttl_seconds": ttl_seconds},
                keyed=True,
                field="job",
            )
        )

    def cancel_job(
        self,
        *,
        job_id: str,
    ) -> types.SettledJob:
        """
        Cancel a started job of any app. Expires the job now. Its reserve is refunded, or charged if the
        app's `on_expiry` says so. Only the account holder's own session can cancel a job. A cancelled job
        can still be completed late, so finished work is still paid for. Repeating the request changes
        nothing.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/cancel",
                body={"job_id": job_id},
                field="job",
            )
        )

    def start_checkout(
        self,
        *,
        package: str,
        return_url: str,
        idempotency_key: str | None = None,
    ) -> types.Checkout:
        """
        Open a checkout of a package of credits. Send the buyer to `url`. The buyer returns to `return_url`
        with `checkout=success` and `checkout_session`, or with `checkout=cancelled`, in its query. Neither
        proves a payment: paid credits appear as a `purchase` in the ledger and in the event stream. A
        personal access token with limits is refused. If the service sells no credits, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                "/api/checkout",
                body={"package": package, "return_url": return_url},
                keyed=True,
                idempotency_key=idempotency_key,
                field="url",
            )
        )

    def list_ledger(
        self,
        *,
        app: str | None = None,
        job_id: str | None = None,
        kind: types.EntryKind | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.EntryPage:
        """
        The ledger: every change of the balance, newest first. An app's key sees the entries of the app's
        own jobs and grants, without notes. `from` is inclusive, `to` is exclusive. A filtered page can have
        fewer entries than `limit`, or no entries, and still have a `next_cursor`.
        """
        return self._send(
            Call(
                "GET",
                "/api/ledger",
                query={"app": app, "job_id": job_id, "kind": kind, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="entries",
            )
        )

    def read_me(self) -> types.Me:
        """
        The caller's person, plan and rights. A personal access token that is limited to some apps is
        refused.
        """
        return self._send(
            Call(
                "GET",
                "/api/me",
                field="identity_id",
            )
        )

    def issue_session_token(
        self,
        *,
        template: str | None = None,
    ) -> types.TokenResponse:
        """
        Get a new session token. For a caller with cookies or a bearer token whose session is live. With
        `template`, the token is for another service.
        """
        return self._send(
            Call(
                "GET",
                "/api/sessionToken",
                query={"template": template},
                field="token",
            )
        )
