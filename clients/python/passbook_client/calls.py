"""The calls of the API. Generated from docs/openapi.json by `npm run openapi`: do not change this file."""
from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, Literal, Mapping, Sequence
from urllib.parse import quote

from . import types
from .call import Call


class Calls(ABC):
    """The calls in one account. Each sends one request, and returns the body of its response."""

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
        grants its starter credits, once per account and app. An app that is not registered here is added
        only with its first job. With cookies, `app` requires an allowed origin.
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
        """
        One job. A job of another account has the same response as one that does not exist. An app's key
        reads its app's jobs wherever it may complete them.
        """
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
        return self._send(
            Call(
                "POST",
                "/api/jobs/complete",
                body={"job_id": job_id, "actual_cost": actual_cost, "step": step, "metadata": metadata},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job",
            )
        )

    def fail_job(
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
        return self._send(
            Call(
                "POST",
                "/api/jobs/fail",
                body={"job_id": job_id, "cost": cost, "refund": refund, "step": step, "reason": reason, "metadata": metadata},
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
        run: str | None = None,
        spent: int | None = None,
        reserve: int | None = None,
        ttl_seconds: int | None = None,
    ) -> types.ProgressedJob:
        """
        Report a step of a long job. `reserve` sets what the job holds from now on: the difference is
        reserved or returned. It cannot be raised beyond what the app's `max_overage_percent` allows for the
        job's estimate, nor by an app's key in an account that is not open for the app. `spent` is what the
        job costs if it expires, at most what it holds. `ttl_seconds` moves the expiry to so many seconds
        from now. Fields that are missing stay as they are. `step` grows with each report: a repeated step
        gets its first response with `Idempotency-Replayed: true`, and an older step is refused, so a
        process that lost the job to another one notices. `run` names the caller's run of the work: a step
        that another run took is refused too.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/progress",
                body={"job_id": job_id, "step": step, "run": run, "spent": spent, "reserve": reserve, "ttl_seconds": ttl_seconds},
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
        own jobs and grants, without notes. `from` is inclusive, `to` is exclusive. Reports of progress that
        change no credits are left out. A page can have fewer entries than `limit`, or no entries, and still
        have a `next_cursor`.
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
        The caller's person, plan and rights. A client of the OAuth server gets the name and the e-mail
        address only with the scopes `profile` and `email`, and a personal access token only if it has no
        limits. A personal access token that is limited to some apps is refused.
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
        `template`, the token is for another service. An OAuth client's session token expires with the
        access token that it was obtained with.
        """
        return self._send(
            Call(
                "GET",
                "/api/sessionToken",
                query={"template": template},
                field="token",
            )
        )


class AppCalls(ABC):
    """
    The calls of an app's server that concern the app itself. Each sends one request, and returns the
    body of its response.
    """

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """Sends the call, with retries if they are safe."""

    def list_jobs(
        self,
        *,
        app: str | None = None,
        status: types.JobStatus | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.FoundJobPage:
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

    def read_app(self) -> types.OwnApp:
        """
        The app itself, for its server. Settings as of at most a minute ago. Send the app's key, and no
        account.
        """
        return self._send(
            Call(
                "GET",
                "/api/app",
                field="slug",
            )
        )

    def list_webhooks(
        self,
        slug: str,
    ) -> types.WebhookList:
        """The app's webhooks. All of them, by id, without their secrets."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks",
                field="webhooks",
            )
        )

    def save_webhook(
        self,
        slug: str,
        id: str,
        *,
        url: str,
        events: Sequence[Literal["job.created", "job.completed", "job.failed", "job.expired", "credits.granted", "credits.low", "credits.refused", "purchase.completed", "purchase.refunded", "account.deleted"]],
        thresholds: Sequence[int] | None = None,
        active: bool | None = None,
        version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavedWebhook:
        """
        Create a webhook, or change it. Events are sent as Standard Webhooks (standardwebhooks.com). The
        response that creates a webhook has its `secret`, only once: if you lost it, rotate the secret.
        Omitted `thresholds` and `active` keep their values; a new webhook is active. `active: true`
        continues a paused webhook where it stopped. To change a webhook, send the `version` that you read;
        to create one, omit it or send 0. If the webhook was saved in the meantime, or a new one's id is
        used with other settings, the response is 409 `webhook_changed` and nothing changes. The address
        begins with `https://` and has a public host name and no port. Changes take effect everywhere within
        a minute.
        """
        return self._send(
            Call(
                "PUT",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}",
                body={"url": url, "events": events, "thresholds": thresholds, "active": active, "version": version, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="webhook",
            )
        )

    def delete_webhook(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.DeleteWebhookResponse:
        """Delete a webhook. Nothing is sent to it any more. Its events that were not delivered are lost."""
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def rotate_webhook_secret(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RotatedSecret:
        """
        Replace a webhook's secret. For 24 hours each delivery carries two signatures, with the new secret
        and with the previous one. If the request is repeated with its `Idempotency-Key`, `secret` is null:
        if you lost the first response, rotate again with another key.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/rotate",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="secret",
            )
        )

    def test_webhook(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.TestedWebhook:
        """
        Send a ping to a webhook. Sends the event `ping` once, now, also to a paused webhook, and returns
        how the receiver responded within 10 seconds. A request that is repeated with its `Idempotency-Key`
        sends the same `webhook-id` again. At most 6 a minute for a webhook.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/test",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="status",
            )
        )

    def list_webhook_deliveries(
        self,
        slug: str,
        id: str,
        *,
        status: Literal["pending", "failed"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.WebhookDeliveryPage:
        """
        Events that were not delivered. At most one for each account, because the events of an account are
        delivered in order, by identity. They are listed for 30 days. `status=pending` lists only those that
        will be tried again; `status=failed` lists both, as without `status`.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/deliveries",
                query={"status": status, "limit": limit, "cursor": cursor},
                field="deliveries",
            )
        )

    def replay_webhook(
        self,
        slug: str,
        id: str,
        *,
        identity_id: str,
        after_line: int,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ReplayWebhookResponse:
        """
        Send an account's events again. Sends the events of the account's entries after `after_line` again,
        in order and with the same `webhook-id`s. 0 begins with the events since the webhook was created. An
        operator may name the person by e-mail address.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/replay",
                body={"identity_id": identity_id, "after_line": after_line, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )
