"""The calls of the API, as coroutines. Generated from docs/openapi.json by `npm run openapi`: do not change this file."""
from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from types import EllipsisType
from typing import Any, Literal, Mapping, Sequence
from urllib.parse import quote

from . import types
from .call import Call


class AsyncCalls(ABC):
    """The calls in one account. Each sends one request, and returns the body of its response."""

    @abstractmethod
    async def _send(self, call: Call) -> Any:
        """Sends the call, with retries if they are safe."""

    async def wallet(
        self,
        *,
        app: str | None = None,
    ) -> types.Wallet:
        """
        The account and its apps. Opens the account if it does not exist. With `app`, adds the app and
        grants its starter credits, once per account and app. An app that is not registered here is added
        only with its first job. With cookies, `app` requires an allowed origin.
        """
        return await self._send(
            Call(
                "GET",
                "/api/wallet",
                query={"app": app},
                field="account",
            )
        )

    async def list_jobs(
        self,
        *,
        app: str | None = None,
        status: types.JobStatus | None = None,
        by: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.JobPage:
        """
        The caller's jobs, newest first. With an app's key and without `Passbook-Identity`: the app's jobs
        of all accounts, without metadata, some seconds late (`FoundJobPage`). `by` is an app's slug, or the
        id of a connection or token: then what was exchanged from it counts too. Filters can be combined. A
        filtered page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`.
        """
        return await self._send(
            Call(
                "GET",
                "/api/jobs",
                query={"app": app, "status": status, "by": by, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="jobs",
            )
        )

    async def create_job(
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
        return await self._send(
            Call(
                "POST",
                "/api/jobs",
                body={"app": app, "action": action, "cost_estimate": cost_estimate, "ttl_seconds": ttl_seconds, "metadata": metadata, "approval": approval},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job_id",
            )
        )

    async def create_jobs(
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
        return await self._send(
            Call(
                "POST",
                "/api/jobs/batch",
                body={"jobs": jobs},
                keyed=True,
                idempotency_key=idempotency_key,
                field="results",
            )
        )

    async def complete_jobs(
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
        return await self._send(
            Call(
                "POST",
                "/api/jobs/complete/batch",
                body={"jobs": jobs},
                keyed=True,
                idempotency_key=idempotency_key,
                field="results",
            )
        )

    async def read_job(
        self,
        id: str,
    ) -> types.Job:
        """
        One job. A job of another account has the same response as one that does not exist. An app's key
        reads its app's jobs wherever it may complete them.
        """
        return await self._send(
            Call(
                "GET",
                f"/api/jobs/{quote(id, safe='')}",
                field="id",
            )
        )

    async def complete_job(
        self,
        *,
        job_id: str,
        actual_cost: int,
        step: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> types.SettledJob:
        """
        Settle a job at its real cost. The part of the reserve that exceeds the cost is refunded. If the
        cost exceeds the reserve, the difference is charged in full, even if the balance falls below zero.
        An expired job can still be completed, once. `step` is the last step that the caller took, 0 for
        none: if another process has taken a later one, the request is refused.
        """
        return await self._send(
            Call(
                "POST",
                "/api/jobs/complete",
                body={"job_id": job_id, "actual_cost": actual_cost, "step": step, "metadata": metadata},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job",
            )
        )

    async def fail_job(
        self,
        *,
        job_id: str,
        cost: int | None = None,
        refund: bool | None = None,
        step: int | None = None,
        reason: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> types.SettledJob:
        """
        Fail a job. The reserve is refunded. `cost` says what the failed job costs, at most its reserve, and
        the rest is refunded; `refund: false` charges the whole reserve. `step` is as in a completion.
        `reason` (up to 500 characters) is returned as `failure_reason`. `metadata` is merged as in a
        completion.
        """
        return await self._send(
            Call(
                "POST",
                "/api/jobs/fail",
                body={"job_id": job_id, "cost": cost, "refund": refund, "step": step, "reason": reason, "metadata": metadata},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job",
            )
        )

    async def report_progress(
        self,
        *,
        job_id: str,
        step: int,
        run: str | None = None,
        spent: int | None = None,
        reserve: int | None = None,
        ttl_seconds: int | None = None,
        done: float | None = None,
        message: str | None = None,
    ) -> types.ProgressedJob:
        """
        Report a step of a long job. `reserve` sets what the job holds from now on: the difference is
        reserved or returned. It cannot be raised beyond what the app's `max_overage_percent` allows for the
        job's estimate, nor by an app's key in an account that is not open for the app. `spent` is what the
        job costs if it expires, at most what it holds. `ttl_seconds` moves the expiry to so many seconds
        from now. `done` (from 0 to 1) and `message` (up to 200 characters, empty for none) are shown to
        people; both may go back. A report that changes no credits and no expiry adds no ledger entry;
        streams get it as `job.progressed`. Fields that are missing stay as they are. `step` grows with each
        report: a repeated step gets its first response with `Idempotency-Replayed: true`, and an older step
        is refused, so a process that lost the job to another one notices. `run` names the caller's run of
        the work: a step that another run took is refused too.
        """
        return await self._send(
            Call(
                "POST",
                "/api/jobs/progress",
                body={"job_id": job_id, "step": step, "run": run, "spent": spent, "reserve": reserve, "ttl_seconds": ttl_seconds, "done": done, "message": message},
                keyed=True,
                field="job",
            )
        )

    async def cancel_job(
        self,
        *,
        job_id: str,
    ) -> types.SettledJob:
        """
        Cancel a started job of any app. Ends the job now, with `failure` `cancelled`. Its reserve is
        refunded, or charged if the app's `on_expiry` says so. Only the account holder's own session can
        cancel a job. A cancelled job can still be completed late, so finished work is still paid for.
        Repeating the request changes nothing.
        """
        return await self._send(
            Call(
                "POST",
                "/api/jobs/cancel",
                body={"job_id": job_id},
                field="job",
            )
        )

    async def checkout(
        self,
        *,
        package: str,
        return_to: str,
        idempotency_key: str | None = None,
    ) -> types.Checkout:
        """
        Open a checkout of a package of credits. Send the buyer to `url`. The buyer returns to `return_to`
        with `checkout=success` and `checkout_session`, or with `checkout=cancelled`, in its query. Neither
        proves a payment: paid credits appear as a `purchase` in the ledger and in the event stream. A
        personal access token with limits, and a connection, are refused: the `topup_url` of a 402 leads the
        person to the page that sells credits. If the service sells no credits, the response is 404.
        """
        return await self._send(
            Call(
                "POST",
                "/api/checkout",
                body={"package": package, "return_to": return_to},
                keyed=True,
                idempotency_key=idempotency_key,
                field="url",
            )
        )

    async def list_ledger(
        self,
        *,
        app: str | None = None,
        job_id: str | None = None,
        by: str | None = None,
        kind: types.EntryKind | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.EntryPage:
        """
        The ledger: every change of the balance, newest first. An app's key sees the entries of the app's
        own jobs and grants, without notes. `by` is an app's slug, or the id of a connection or token, and
        selects the entries of the jobs that it started; what was exchanged from it counts too. `from` is
        inclusive, `to` is exclusive. Reports of progress that change no credits are left out. A page can
        have fewer entries than `limit`, or no entries, and still have a `next_cursor`.
        """
        return await self._send(
            Call(
                "GET",
                "/api/ledger",
                query={"app": app, "job_id": job_id, "by": by, "kind": kind, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="entries",
            )
        )

    async def me(self) -> types.Me:
        """
        The caller's person, plan and rights. A client of the OAuth server gets the name and the e-mail
        address only with the scopes `profile` and `email`, and a personal access token only if it has no
        limits. A personal access token that is limited to some apps is refused.
        """
        return await self._send(
            Call(
                "GET",
                "/api/me",
                field="identity_id",
            )
        )

    async def stop_app(
        self,
        slug: str,
        *,
        started_jobs: Literal["keep", "expire"] | None = None,
    ) -> types.StopAppResponse:
        """
        Stop an app. Until it is allowed again, the app's key, its pages and other credentials start no job
        for it, and its key and pages read nothing except its jobs that were started before. Those can still
        be completed; with `started_jobs: expire` they expire now, as the app's policy says. Connections of
        the app's clients and to its resources are revoked for good. The same callers as for the list.
        """
        return await self._send(
            Call(
                "POST",
                f"/api/access/apps/{quote(slug, safe='')}/stop",
                body={"started_jobs": started_jobs},
                field="app",
            )
        )

    async def allow_app(
        self,
        slug: str,
    ) -> types.AllowAppResponse:
        """
        Allow a stopped app again. Only on the service's own pages. Revoked connections stay revoked. The
        account does not become open for an app that it was never open for: then `app` is null.
        """
        return await self._send(
            Call(
                "POST",
                f"/api/access/apps/{quote(slug, safe='')}/allow",
                field="app",
            )
        )

    async def read_access(self) -> types.Access:
        """
        Everything that may act on the account. Each list has the newest use first. Only for the service's
        own pages, and for a personal access token without limits; others get 403 `scope`.
        """
        return await self._send(
            Call(
                "GET",
                "/api/access",
                field="apps",
            )
        )
