"""The calls of the API. Generated from docs/openapi.json by `npm run openapi`: do not change this file."""
from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from types import EllipsisType
from typing import Any, Literal, Mapping, Sequence
from urllib.parse import quote

from . import types
from .call import Call


class Calls(ABC):
    """The calls in one account. Each sends one request, and returns the body of its response."""

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """Sends the call, with retries if they are safe."""

    def wallet(
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
        return self._send(
            Call(
                "GET",
                "/api/jobs",
                query={"app": app, "status": status, "by": by, "from": from_, "to": to, "limit": limit, "cursor": cursor},
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
        return self._send(
            Call(
                "POST",
                "/api/jobs/progress",
                body={"job_id": job_id, "step": step, "run": run, "spent": spent, "reserve": reserve, "ttl_seconds": ttl_seconds, "done": done, "message": message},
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
        Cancel a started job of any app. Ends the job now, with `failure` `cancelled`. Its reserve is
        refunded, or charged if the app's `on_expiry` says so. Only the account holder's own session can
        cancel a job. A cancelled job can still be completed late, so finished work is still paid for.
        Repeating the request changes nothing.
        """
        return self._send(
            Call(
                "POST",
                "/api/jobs/cancel",
                body={"job_id": job_id},
                field="job",
            )
        )

    def checkout(
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
        return self._send(
            Call(
                "POST",
                "/api/checkout",
                body={"package": package, "return_to": return_to},
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
        return self._send(
            Call(
                "GET",
                "/api/ledger",
                query={"app": app, "job_id": job_id, "by": by, "kind": kind, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="entries",
            )
        )

    def me(self) -> types.Me:
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

    def stop_app(
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
        return self._send(
            Call(
                "POST",
                f"/api/access/apps/{quote(slug, safe='')}/stop",
                body={"started_jobs": started_jobs},
                field="app",
            )
        )

    def allow_app(
        self,
        slug: str,
    ) -> types.AllowAppResponse:
        """
        Allow a stopped app again. Only on the service's own pages. Revoked connections stay revoked. The
        account does not become open for an app that it was never open for: then `app` is null.
        """
        return self._send(
            Call(
                "POST",
                f"/api/access/apps/{quote(slug, safe='')}/allow",
                field="app",
            )
        )

    def read_access(self) -> types.Access:
        """
        Everything that may act on the account. Each list has the newest use first. Only for the service's
        own pages, and for a personal access token without limits; others get 403 `scope`.
        """
        return self._send(
            Call(
                "GET",
                "/api/access",
                field="apps",
            )
        )


class AppCalls(ABC):
    """
    The calls that concern an app's server itself. Each sends one request, and returns the body of its
    response.
    """

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """Sends the call, with retries if they are safe."""

    @abstractmethod
    def _slug(self) -> str:
        """The slug of the app whose key it is."""

    def list_jobs(
        self,
        *,
        app: str | None = None,
        status: types.JobStatus | None = None,
        by: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.FoundJobPage:
        """
        The caller's jobs, newest first. With an app's key and without `Passbook-Identity`: the app's jobs
        of all accounts, without metadata, some seconds late (`FoundJobPage`). `by` is an app's slug, or the
        id of a connection or token: then what was exchanged from it counts too. Filters can be combined. A
        filtered page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`.
        """
        return self._send(
            Call(
                "GET",
                "/api/jobs",
                query={"app": app, "status": status, "by": by, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="jobs",
            )
        )

    def read_app(self) -> types.OwnApp:
        """
        The app itself, for its server. Settings as of at most a minute ago. While `paused` is not null, new
        jobs get 403 `app_paused`; started jobs can end. Send the app's key, and no account.
        """
        return self._send(
            Call(
                "GET",
                "/api/app",
                field="slug",
            )
        )

    def list_webhooks(self) -> types.WebhookList:
        """The app's webhooks. All of them, by id, without their secrets."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{self._slug()}/webhooks",
                field="webhooks",
            )
        )

    def save_webhook(
        self,
        id: str,
        *,
        url: str,
        events: Sequence[Literal["job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"]],
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
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}",
                body={"url": url, "events": events, "thresholds": thresholds, "active": active, "version": version, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="webhook",
            )
        )

    def delete_webhook(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.DeleteWebhookResponse:
        """Delete a webhook. Nothing is sent to it any more. Its events that were not delivered are lost."""
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def rotate_webhook_secret(
        self,
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
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}/rotate",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="secret",
            )
        )

    def test_webhook(
        self,
        id: str,
        *,
        type: Literal["ping", "job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"] | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.TestedWebhook:
        """
        Send a test to a webhook. Sends `type` once, now, also to a paused webhook and if it does not list
        the type, and returns how the receiver responded within 10 seconds. `ping`, which is sent without a
        `type`, has no data; any other type is a sample with every member of a real event. Each has `"test":
        true` and the header `webhook-test: true`, and its ids belong to nobody. A request that is repeated
        with its `Idempotency-Key` sends the same `webhook-id` again. At most 6 a minute for a webhook.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}/test",
                body={"type": type, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="status",
            )
        )

    def list_webhook_attempts(
        self,
        id: str,
        *,
        identity_id: str | None = None,
    ) -> types.WebhookAttemptList:
        """
        Events that were sent. The last attempts of 7 days, at most 20. With `identity_id`, those of that
        account: each event that was sent, with the receiver's status. Without it, those of all accounts
        that the webhook's list knows: each attempt that failed, and of those that succeeded about one a
        minute. Operators may send an e-mail address as `identity_id`.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}/attempts",
                query={"identity_id": identity_id},
                field="attempts",
            )
        )

    def list_webhook_deliveries(
        self,
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
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}/deliveries",
                query={"status": status, "limit": limit, "cursor": cursor},
                field="replays_since",
            )
        )

    def retry_webhook(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RetryWebhookResponse:
        """
        Send the events that wait now. Each account's event that waits is tried now instead of at its
        `retry_at`, and its attempts are counted from the beginning. Without a waiting event it does
        nothing. A paused webhook stays paused.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}/retry",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def replay_webhook(
        self,
        id: str,
        *,
        identity_id: str | None = None,
        after_line: int | None = None,
        since: str | datetime | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ReplayWebhookResponse:
        """
        Send events again. With `identity_id` and `after_line`: sends the events of the account's entries
        after this one again, in order and with the same `webhook-id`s. 0 begins with the events since the
        webhook was created. An operator may name the person by e-mail address. With `since`, at most 7 days
        ago, and neither of them: does the same for the entries since then of all accounts that have the
        app, a hundred accounts after the other, in the background; the list of deliveries has
        `replays_since` until each has begun. Accounts are found by the read model, which is some seconds
        late and has days as far back as `READ_MODEL_DAYS`.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{self._slug()}/webhooks/{quote(id, safe='')}/replay",
                body={"identity_id": identity_id, "after_line": after_line, "since": since, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )


class AdminCalls(ABC):
    """The calls of operators. Each sends one request, and returns the body of its response."""

    @abstractmethod
    def _send(self, call: Call) -> Any:
        """Sends the call, with retries if they are safe."""

    def find_accounts(
        self,
        *,
        q: str | None = None,
        sort: Literal["created", "credits"] | None = None,
        order: Literal["desc", "asc"] | None = None,
        state: Literal["active", "suspended"] | None = None,
        app: str | None = None,
        domain: str | None = None,
        created_from: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.FoundAccountPage:
        """
        Find accounts. `q` is an account's id, an identity, or the beginning of an e-mail address. `state`,
        `app` (accounts that got starter credits of this app), `domain` (of the e-mail address) and
        `created_from` narrow the list. `app` considers the 2,400 accounts that got them last, and `domain`
        the 2,400 people who joined last. `sort` and `order` sort it: `desc` is newest or most first. A page
        of active accounts can have fewer accounts than `limit`, or none, and still have a `next_cursor`.
        The order by credits of all, or of all active, accounts is a list of 500 accounts that the schedule
        writes: `credits` and `as_of` are those of the list. With `created_from` or suspended accounts, it
        considers the 2,400 that were created last. The data comes from the read model.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/accounts",
                query={"q": q, "sort": sort, "order": order, "state": state, "app": app, "domain": domain, "created_from": created_from, "limit": limit, "cursor": cursor},
                field="accounts",
            )
        )

    def suspend_accounts(
        self,
        *,
        identity_ids: Sequence[str],
        reason: str,
        public_reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SuspendedAccounts:
        """
        Suspend many accounts for one reason. Suspends up to 100 accounts. Each succeeds or fails by itself
        and has its own audit record. If the request is repeated with its `Idempotency-Key`, accounts that
        it suspended are not suspended again, and the others are tried again. A key belongs to one list and
        reason. `public_reason`: why, as their holders read it.
        """
        return self._send(
            Call(
                "POST",
                "/api/admin/accounts/suspend",
                body={"identity_ids": identity_ids, "reason": reason, "public_reason": public_reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="results",
            )
        )

    def inspect_account(
        self,
        identity_id: str,
    ) -> types.InspectedAccount:
        """Read one account with its tokens, sessions and started jobs. The data comes from the account itself."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}",
                field="account",
            )
        )

    def delete_account(
        self,
        identity_id: str,
        *,
        confirm: str,
        reason: str,
        idempotency_key: str | None = None,
    ) -> types.DeleteAccountResponse:
        """
        Delete a person's account. For a person who asks for it: deletes as the holder would, also a
        suspended account. `confirm` repeats the `identity_id`. The audit log keeps the reason. A repeated
        request gets the same response for at least an hour.
        """
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/accounts/{quote(identity_id, safe='')}",
                body={"confirm": confirm, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def export_account(
        self,
        identity_id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PersonData:
        """
        Everything that is stored about a person. For a person who asks for their data: the same document as
        the holder's own download. Also for a suspended account. Adds an audit record, which the person sees
        in the document.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/export",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="",
            )
        )

    def list_account_jobs(
        self,
        identity_id: str,
        *,
        app: str | None = None,
        status: types.JobStatus | None = None,
        by: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.JobPage:
        """An account's jobs, as its holder sees them. The data comes from the account itself."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/jobs",
                query={"app": app, "status": status, "by": by, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="jobs",
            )
        )

    def read_account_job(
        self,
        identity_id: str,
        job_id: str,
    ) -> types.Job:
        """
        One job of an account. The data comes from the account itself. `/ledger?job_id=` below the account
        lists its entries.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/jobs/{quote(job_id, safe='')}",
                field="id",
            )
        )

    def refund_job(
        self,
        identity_id: str,
        job_id: str,
        *,
        reason: str,
        amount: int | None = None,
        idempotency_key: str | None = None,
    ) -> types.RefundedJob:
        """
        Give back the cost of an ended job. Requires `Idempotency-Key`. Gives back `amount`, or all that is
        left; in all at most what the job cost, otherwise the response is 400 `refund_limit`. The holder
        sees the reason in the ledger, as the note of an entry of kind `job_refund`. A refunded job can no
        longer be completed late. If a token with a cap created the job, the cap gets the room back if the
        job belongs to its current period.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/jobs/{quote(job_id, safe='')}/refund",
                body={"amount": amount, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="job",
            )
        )

    def list_account_purchases(
        self,
        identity_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AccountPurchasePage:
        """An account's purchases, newest first. The data comes from the account itself."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/purchases",
                query={"limit": limit, "cursor": cursor},
                field="purchases",
            )
        )

    def list_account_ledger(
        self,
        identity_id: str,
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
        """An account's ledger, as its holder sees it. The data comes from the account itself."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/ledger",
                query={"app": app, "job_id": job_id, "by": by, "kind": kind, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="entries",
            )
        )

    def adjust_credits(
        self,
        identity_id: str,
        *,
        amount: int,
        reason: str,
        allow_negative: bool | None = None,
        expires_at: str | datetime | None = None,
        app_slugs: Sequence[str] | None = None,
        bought: bool | None = None,
        paid_minor: int | None = None,
        currency: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.AdjustedCredits:
        """
        Add or take credits. Requires `Idempotency-Key`. Taking more credits than available requires
        `allow_negative: true`; otherwise the response is 400 `balance_below_zero`. Given credits can have
        terms: `expires_at` (in the future), `app_slugs` (the only apps that can use them), and `bought`.
        Bought credits can have `paid_minor` and `currency`, such as 2000 and `eur`: they then count in
        `revenue`, and in the `liability` of a month. A negative amount takes credits for all apps, in the
        order of use. The holder sees the reason in the ledger.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/credits",
                body={"amount": amount, "allow_negative": allow_negative, "expires_at": expires_at, "app_slugs": app_slugs, "bought": bought, "paid_minor": paid_minor, "currency": currency, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="entry",
            )
        )

    def change_plan(
        self,
        identity_id: str,
        *,
        plan: str,
        reason: str,
        anchor: str | datetime | None = None,
        idempotency_key: str | None = None,
    ) -> types.ChangedPlan:
        """
        Set the plan. If the plan is saved, the account copies its rules, and the credits of the period that
        runs come at once. `anchor`, now or in the past, says where the periods are counted from (default
        now). The same plan again changes nothing. An account that leaves a plan keeps the credits of the
        period; if it comes back within that period, it goes on with it and gets no second credits. A plan
        that nobody saved can be any slug and is only a name. The holder sees the plan in the wallet, and
        the change in the ledger.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/plan",
                body={"plan": plan, "anchor": anchor, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def sign_out_account(
        self,
        identity_id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SignOutAccountResponse:
        """
        End all sessions. Also revokes the personal tokens that end with a session. Other personal tokens
        stay valid.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/signout",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def rebuild_account(
        self,
        identity_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> types.RebuildAccountResponse:
        """Send the account to the read model again. Safe to repeat at any time."""
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/rebuild",
                body={},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def suspend_account(
        self,
        identity_id: str,
        *,
        reason: str,
        public_reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SuspendAccountResponse:
        """
        Suspend the account. Every request of the holder except sign-out gets 403 `suspended`; with a
        session, `public_reason` says why if it is given here. Started jobs can still be settled, and still
        expire. Suspending a suspended account changes only the `public_reason`, if one is given.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/suspend",
                body={"reason": reason, "public_reason": public_reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def restore_account(
        self,
        identity_id: str,
        *,
        reason: str,
        idempotency_key: str | None = None,
    ) -> types.RestoreAccountResponse:
        """End a suspension. Sessions and tokens that are still valid work again."""
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/restore",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def revoke_account_token(
        self,
        identity_id: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RevokeAccountTokenResponse:
        """Revoke a personal token. The next call with the token is refused, in every location."""
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/personal-tokens/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def list_archive_heads(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.ArchiveHeadPage:
        """
        List the newest archive segment of every account. Segments form a chain, and the head ends it
        (docs/keep.md). The data comes from the read model. Without the bucket `ARCHIVE`, the response is
        404.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/archive",
                query={"limit": limit, "cursor": cursor},
                field="heads",
            )
        )

    def archive_accounts(
        self,
        *,
        cursor: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ArchivedPage:
        """
        Write to the archive at once, a page of accounts at a time. The accounts of one page of people write
        what the archive lacks, within seconds. Repeat with `cursor` set to `next_cursor` until the response
        has no `next_cursor`. Without the bucket `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                "/api/admin/archive",
                body={"cursor": cursor},
                keyed=True,
                idempotency_key=idempotency_key,
                field="requested",
            )
        )

    def read_account_archive(
        self,
        identity_id: str,
        *,
        cursor: str | None = None,
    ) -> types.AccountArchive:
        """
        List the archive segments of an account. The head comes from the account itself. Without the bucket
        `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/archive",
                query={"cursor": cursor},
                field="account_id",
            )
        )

    def archive_account(
        self,
        identity_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> types.ArchiveAccountResponse:
        """
        Write an account to the archive at once. The account writes what the archive lacks, within seconds.
        Without the bucket `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/archive",
                body={},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def read_archive_segment(
        self,
        identity_id: str,
        segment: str,
    ) -> types.ArchiveSegment:
        """
        Read one archive segment. The stored bytes, which are gzip, in base64url. Without the bucket
        `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/archive/{quote(segment, safe='')}",
                field="name",
            )
        )

    def copy_directory(
        self,
        *,
        cursor: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.CopiedDirectory:
        """
        Copy the directory to the archive at once, a portion at a time. The schedule makes the same copy
        each day: of apps, their keys, OAuth clients, resources and webhooks, plans and the audit log.
        People are copied with each of their changes; those that wait are copied too. Repeat with `cursor`
        set to `next_cursor` until the response has no `next_cursor`. Without the bucket `ARCHIVE`, the
        response is 404.
        """
        return self._send(
            Call(
                "POST",
                "/api/admin/directory/copy",
                body={"cursor": cursor},
                keyed=True,
                idempotency_key=idempotency_key,
                field="copy",
            )
        )

    def rebuild_directory(
        self,
        *,
        copy: str | None = None,
        cursor: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RebuiltDirectory:
        """
        Rebuild a lost directory from the archive, a portion at a time. Restores what the directory lacks,
        from the newest complete copy or `copy`, and people (docs/keep.md). A row that the directory has
        stays as it is, so a repeated rebuild is safe. `decide` lists what a person must look at. Repeat
        with `cursor` set to `next_cursor` until the response has no `next_cursor`. Without the bucket
        `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                "/api/admin/directory/rebuild",
                body={"copy": copy, "cursor": cursor},
                keyed=True,
                idempotency_key=idempotency_key,
                field="copy",
            )
        )

    def list_differences(
        self,
        *,
        cursor: str | None = None,
    ) -> types.ComparedPage:
        """
        Compare accounts with their copies, a page at a time. Compares the accounts of one page of people
        with their own sums, their newest archive segment and the read model, and their newest purchases
        with the payment service. The first page also compares the daily totals with all balances. Nothing
        is repaired. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/differences",
                query={"cursor": cursor},
                field="checked",
            )
        )

    def list_account_differences(
        self,
        identity_id: str,
    ) -> types.ComparedPage:
        """Compare an account with its copies. As for all accounts. Nothing is repaired."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/differences",
                field="checked",
            )
        )

    def plan_recovery(
        self,
        identity_id: str,
        *,
        to: str | datetime,
    ) -> types.RecoveryPlan:
        """
        Show what a restore of an account would undo. Changes nothing. To a time of the last 30 days, by the
        platform's point-in-time recovery. `decisions` lists what a person must decide. Other times are 409
        `recovery_refused`. Without the bucket `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/recovery",
                query={"to": to},
                field="now",
            )
        )

    def recover_account(
        self,
        identity_id: str,
        *,
        to: str | datetime,
        reason: str,
        idempotency_key: str | None = None,
    ) -> types.RecoveredAccount:
        """
        Restore an account to an earlier time. To a time of the last 30 days, by the platform's
        point-in-time recovery. `decisions` lists what a person must decide. Other times are 409
        `recovery_refused`. The ledger keeps the undone entries, and an entry of the kind `recovery` takes
        the balance back. Access stays as it is now, and payments after the time are booked again
        (docs/keep.md). Without the bucket `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/recovery",
                body={"to": to, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="now",
            )
        )

    def plan_lost_restore(
        self,
        identity_id: str,
    ) -> types.LostAccount:
        """
        Show what is known of an account whose storage was lost. Changes nothing. The read model and the
        archive know the account. Without the bucket `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/lost-storage",
                field="account_id",
            )
        )

    def restore_lost(
        self,
        identity_id: str,
        *,
        reason: str,
        idempotency_key: str | None = None,
    ) -> types.RestoredAccount:
        """
        Restore an account whose storage was lost, from the archive. Only if the account was not used since
        (409 `recovery_refused`). Until the last segment is read, other requests for the account get 503
        `account_restoring`. Repeat a request that broke off: it continues (docs/keep.md). Without the
        bucket `ARCHIVE`, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/accounts/{quote(identity_id, safe='')}/lost-storage",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="now",
            )
        )

    def rebuild_accounts(
        self,
        *,
        cursor: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RepairedPage:
        """
        Repair the read model of all accounts, a page at a time. Compares the accounts of one page of people
        with the read model; each account sends the rows that are missing. Repeat with `cursor` set to
        `next_cursor` until the response has no `next_cursor`. A repeated `Idempotency-Key` repairs the same
        page again, which is safe.
        """
        return self._send(
            Call(
                "POST",
                "/api/admin/rebuild",
                body={"cursor": cursor},
                keyed=True,
                idempotency_key=idempotency_key,
                field="checked",
            )
        )

    def reconcile_payments(
        self,
        *,
        cursor: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ReconciledPage:
        """
        Book payments whose webhook did not arrive, a page at a time. Compares Stripe's checkouts and
        refunds of the last 30 days, and its disputes of the last 120 days, with the accounts, and books
        what is missing, once. Repeat with `cursor` set to `next_cursor` until the response has no
        `next_cursor`. A repeated `Idempotency-Key` compares the same page again, which is safe. If the
        service sells no credits, the response is 404.
        """
        return self._send(
            Call(
                "POST",
                "/api/admin/payments/reconcile",
                body={"cursor": cursor},
                keyed=True,
                idempotency_key=idempotency_key,
                field="checked",
            )
        )

    def find_jobs(
        self,
        *,
        app: str | None = None,
        status: types.JobStatus | None = None,
        by: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        sort: Literal["created", "cost"] | None = None,
        identity_id: str | None = None,
    ) -> types.FoundJobPage:
        """
        Jobs across accounts. The data comes from the read model, which has no metadata. The newest first. A
        page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`. With `sort=cost`,
        those that cost most (`actual_cost` less `refunded`) among the newest 4,000 jobs of all accounts up
        to `to`, and then there is no further page.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/jobs",
                query={"app": app, "status": status, "by": by, "from": from_, "to": to, "limit": limit, "cursor": cursor, "sort": sort, "identity_id": identity_id},
                field="jobs",
            )
        )

    def read_stats(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        app: str | None = None,
    ) -> types.Stats:
        """Totals by day. UTC days from `from` up to and excluding `to`. Without a query, the last 30 days."""
        return self._send(
            Call(
                "GET",
                "/api/admin/stats",
                query={"from": from_, "to": to, "app": app},
                field="series",
            )
        )

    def read_money(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        month: str | None = None,
        list: Literal["by_app", "revenue", "accounts", "month"] | None = None,
    ) -> types.Money | types.MonthMoney:
        """
        Credits and money of a period, to close a month. Without `from` and `to`, the last 30 days. A period
        has at most 366 days. With `Accept: text/csv`, the list that `list` names as CSV: `by_app`,
        `revenue`, `accounts` with the identity, balance and held credits of each account now, or `month`.
        With `month` instead of `from` and `to`, the response is `MonthMoney`: what all people owned before
        and after a month, each change between, and what was paid for the bought credits that are left. The
        data comes from the read model.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/money",
                query={"from": from_, "to": to, "month": month, "list": list},
                field="",
            )
        )

    def read_money_csv(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        month: str | None = None,
        list: Literal["by_app", "revenue", "accounts", "month"] | None = None,
    ) -> str:
        """Credits and money of a period, to close a month, as CSV"""
        return self._send(
            Call(
                "GET",
                "/api/admin/money",
                query={"from": from_, "to": to, "month": month, "list": list},
                csv=True,
            )
        )

    def inspect_health(self) -> types.Health:
        """
        Figures that show whether the service is healthy. Each figure has a limit, and is a warning above
        it. A store that does not respond makes its figures unknown, and the response is still 200.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/health",
                field="status",
            )
        )

    def list_operators(self) -> types.OperatorList:
        """
        List the entries of OPERATORS with their roles. A person whom several entries name has the role of
        the most specific one: an identity id, then an address with its provider, then an address.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/operators",
                field="operators",
            )
        )

    def list_requests(
        self,
        *,
        request_id: str | None = None,
        account: str | None = None,
        app: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
    ) -> types.Requests:
        """
        The service's traffic, and requests that failed or that you look for. Rates of the last hour and
        day, and the routes of the last hour. `requests` are the newest of the last seven days with this
        `request_id`, `account` (an identity, or an address of one person) or `app`; without a filter, those
        that failed. The data comes from Cloudflare's Analytics Engine, seconds late, and a busy route is
        sampled; a local service remembers its last 1,000 requests.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/requests",
                query={"request_id": request_id, "account": account, "app": app, "from": from_, "to": to},
                field="source",
            )
        )

    def list_audit(
        self,
        *,
        actor: str | None = None,
        act: str | None = None,
        subject: str | None = None,
        request_id: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AuditPage:
        """
        List operators' actions, newest first. One record per action, with its actor, time, reason and
        request id. `actor` and `subject` may be e-mail addresses. An action on several accounts has one
        record for each, with the same request id. With `Accept: text/csv`, the newest 10,000 records as
        CSV.
        """
        return self._send(
            Call(
                "GET",
                "/api/admin/audit",
                query={"actor": actor, "act": act, "subject": subject, "request_id": request_id, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                field="entries",
            )
        )

    def list_audit_csv(
        self,
        *,
        actor: str | None = None,
        act: str | None = None,
        subject: str | None = None,
        request_id: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> str:
        """List operators' actions, newest first, as CSV"""
        return self._send(
            Call(
                "GET",
                "/api/admin/audit",
                query={"actor": actor, "act": act, "subject": subject, "request_id": request_id, "from": from_, "to": to, "limit": limit, "cursor": cursor},
                csv=True,
            )
        )

    def list_apps(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AppPage:
        """The registered apps, by slug. The settings of the apps, without their keys."""
        return self._send(
            Call(
                "GET",
                "/api/admin/apps",
                query={"limit": limit, "cursor": cursor},
                field="apps",
            )
        )

    def save_app(
        self,
        slug: str,
        *,
        name: str,
        starter_credits: int,
        origins: Sequence[str],
        daily_starter_budget: int | None,
        settle: Literal["holder", "app"] | None = None,
        on_expiry: Literal["refund", "charge"] | None = None,
        max_overage_percent: int | None | EllipsisType = ...,
        upstream_providers: Sequence[str] | None = None,
        icon: str | None | EllipsisType = ...,
        color: str | None | EllipsisType = ...,
        suggested_cap: types.SaveAppSuggestedCap | None | EllipsisType = ...,
        starter_excluded_domains: Sequence[str] | None = None,
        starter_expires_after_days: int | None | EllipsisType = ...,
        starter_only_here: bool | None = None,
        version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavedApp:
        """
        Register an app, or change it. To change an app, send the `version` that you read; to register one,
        omit it or send 0. If the app was saved in the meantime, or a new one's slug is registered with
        other settings, the response is 409 `app_changed` and nothing changes. An omitted optional field
        gets its default in a new app, and keeps its value in a registered app. With `settle: app`, only the
        app's key can complete and fail its jobs. `on_expiry` decides whether the reserve of an expired job
        is refunded or charged. `max_overage_percent` limits how far a job's cost may exceed its estimate: a
        higher cost gets 400 `overage_limit`, and a job with an estimate of 0 must cost 0. A job keeps the
        settings that it was created with. `upstream_providers` lists the sign-in providers whose tokens the
        app's origins may receive. `icon` is copied once, when you save another address than before: at most
        64 KiB of PNG, JPEG, WebP or ICO, over https, without redirects. Otherwise the response is 400
        `invalid_request`, and nothing changes. Pages show only the copy. `starter_excluded_domains` names
        e-mail domains, with their subdomains, whose people get no starter credits of this app; if the list
        is not empty, people without a verified e-mail address get none either. `starter_expires_after_days`
        and `starter_only_here` are the terms of starter credits from the next grant on. Null removes
        `icon`, `color` and `suggested_cap`. Changes take effect everywhere within a minute.
        """
        return self._send(
            Call(
                "PUT",
                f"/api/admin/apps/{quote(slug, safe='')}",
                body={"name": name, "starter_credits": starter_credits, "origins": origins, "daily_starter_budget": daily_starter_budget, "settle": settle, "on_expiry": on_expiry, "max_overage_percent": max_overage_percent, "upstream_providers": upstream_providers, "icon": icon, "color": color, "suggested_cap": suggested_cap, "starter_excluded_domains": starter_excluded_domains, "starter_expires_after_days": starter_expires_after_days, "starter_only_here": starter_only_here, "version": version, "reason": reason},
                nullable=("daily_starter_budget", "max_overage_percent", "icon", "color", "suggested_cap", "starter_expires_after_days",),
                keyed=True,
                idempotency_key=idempotency_key,
                field="app",
            )
        )

    def change_app(
        self,
        slug: str,
        *,
        version: int,
        name: str | None = None,
        starter_credits: int | None = None,
        origins: Sequence[str] | None = None,
        daily_starter_budget: int | None | EllipsisType = ...,
        settle: Literal["holder", "app"] | None = None,
        on_expiry: Literal["refund", "charge"] | None = None,
        max_overage_percent: int | None | EllipsisType = ...,
        upstream_providers: Sequence[str] | None = None,
        icon: str | None | EllipsisType = ...,
        color: str | None | EllipsisType = ...,
        suggested_cap: types.ChangeAppSuggestedCap | None | EllipsisType = ...,
        starter_excluded_domains: Sequence[str] | None = None,
        starter_expires_after_days: int | None | EllipsisType = ...,
        starter_only_here: bool | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavedApp:
        """
        Change some settings of an app. Settings that the body does not name keep their values; `saveApp`
        says what each means. Send the `version` that you read. If the app was saved in the meantime, also
        by a request about other settings, the response is 409 `app_changed` and nothing changes. The audit
        log has only the settings that differ. Changes take effect everywhere within a minute.
        """
        return self._send(
            Call(
                "PATCH",
                f"/api/admin/apps/{quote(slug, safe='')}",
                body={"name": name, "starter_credits": starter_credits, "origins": origins, "daily_starter_budget": daily_starter_budget, "settle": settle, "on_expiry": on_expiry, "max_overage_percent": max_overage_percent, "upstream_providers": upstream_providers, "icon": icon, "color": color, "suggested_cap": suggested_cap, "starter_excluded_domains": starter_excluded_domains, "starter_expires_after_days": starter_expires_after_days, "starter_only_here": starter_only_here, "version": version, "reason": reason},
                nullable=("daily_starter_budget", "max_overage_percent", "icon", "color", "suggested_cap", "starter_expires_after_days",),
                keyed=True,
                idempotency_key=idempotency_key,
                field="app",
            )
        )

    def pause_app(
        self,
        slug: str,
        *,
        reason: str,
        message: str,
        idempotency_key: str | None = None,
    ) -> types.SavedApp:
        """
        Pause an app. New jobs of the app get 403 `app_paused` with `message` as their error, whatever
        credential creates them, and the app makes no starter grants. Started jobs go on: progress,
        completing, failing and checkout work as before. An approval that its holder gave waits, and can be
        used when the app continues and the approval has not ended. Takes effect everywhere within a minute.
        A repetition with another message changes only the message. Only a registered app can be paused; a
        slug that nobody registered can be registered first.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/pause",
                body={"reason": reason, "message": message},
                keyed=True,
                idempotency_key=idempotency_key,
                field="app",
            )
        )

    def continue_app(
        self,
        slug: str,
        *,
        reason: str,
        idempotency_key: str | None = None,
    ) -> types.SavedApp:
        """
        Let a paused app continue. The app starts jobs and makes starter grants again, everywhere within a
        minute. An app that is not paused stays as it is.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/continue",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="app",
            )
        )

    def list_app_keys(
        self,
        slug: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AppKeyPage:
        """
        The app's valid keys. Revoked keys are not listed. The keys themselves are not stored and not
        returned. `last_used_at` is the start of the UTC day on which a request with the key was last
        accepted, and null for a key that was never used.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/keys",
                query={"limit": limit, "cursor": cursor},
                field="keys",
            )
        )

    def add_app_key(
        self,
        slug: str,
        *,
        label: str,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.NewAppKey:
        """
        Create a key for the app's server. The response contains the key only once. If the request is
        repeated with its `Idempotency-Key`, `key` is null: if you lost the first response, revoke the key
        and create another. After the key is revoked, a repeated request gets 409 `app_key_revoked`. No two
        valid keys of an app have the same label: a label in use is 409 `app_key_label_taken`.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/keys",
                body={"label": label, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="id",
            )
        )

    def revoke_app_key(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RevokeAppKeyResponse:
        """
        Revoke a key. The key stops working everywhere within a minute. The app's started jobs stay started;
        another key of the app can settle them.
        """
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/apps/{quote(slug, safe='')}/keys/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def list_oauth_clients(
        self,
        slug: str,
    ) -> types.OAuthClientList:
        """The app's OAuth clients. All of them, by id. Their secrets are not stored, and so never shown again."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/clients",
                field="clients",
            )
        )

    def read_oauth_client(
        self,
        slug: str,
        id: str,
    ) -> types.OneOAuthClient:
        """One OAuth client of the app. Its settings and the day of its last use."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/clients/{quote(id, safe='')}",
                field="client",
            )
        )

    def save_oauth_client(
        self,
        slug: str,
        id: str,
        *,
        name: str,
        redirect_uris: Sequence[str],
        public: bool,
        post_logout_redirect_uris: Sequence[str] | None = None,
        pkce_optional: bool | None = None,
        version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavedOAuthClient:
        """
        Register an OAuth client, or replace its settings. A redirect address is https, an own scheme such
        as `com.example.app:/callback`, or plain http on `127.0.0.1`, `[::1]` or `localhost`. It has no
        fragment and no wildcard, and is compared exactly; only the port of a loopback address may differ. A
        confidential client (`public: false`) authenticates with a secret of its own, which works only at
        `/oauth/*`. The response that makes a client confidential contains it as `client_secret`, only once:
        if you lost it, replace it. `pkce_optional` is only for confidential clients that cannot use PKCE.
        Omitted optional settings are `false` or empty. To change a client, send the `version` that you
        read; to register one, omit it or send 0. If the client was saved in the meantime, or a new one's id
        is registered with other settings, the response is 409 `client_changed` and nothing changes. Changes
        take effect everywhere within a minute.
        """
        return self._send(
            Call(
                "PUT",
                f"/api/admin/apps/{quote(slug, safe='')}/clients/{quote(id, safe='')}",
                body={"name": name, "redirect_uris": redirect_uris, "post_logout_redirect_uris": post_logout_redirect_uris, "public": public, "pkce_optional": pkce_optional, "version": version, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="client",
            )
        )

    def delete_oauth_client(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.DeleteOAuthClientResponse:
        """
        Delete an OAuth client. Within a minute it can neither ask a person for a connection nor get, renew
        or use tokens of this service; another resource that does not introspect them accepts them until
        they expire, at most ten minutes. Its id is not used again: registering it gets 409
        `client_deleted`. Its secret ends with it. People still see its connections, and can end them.
        """
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/apps/{quote(slug, safe='')}/clients/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def replace_client_secret(
        self,
        slug: str,
        id: str,
        *,
        now: bool | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ReplacedClientSecret:
        """
        Replace the secret of a confidential client. The new secret works within a minute. The old one works
        for 24 hours too, so that you can change one server after another; with `?now=true` it stops within
        a minute, and so do those that were replaced before it. A public client has no secret, so it gets
        400.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/clients/{quote(id, safe='')}/secret",
                query={"now": now},
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="client_secret",
            )
        )

    def list_resources(
        self,
        slug: str,
    ) -> types.ResourceList:
        """The app's protected resources. All of them, by id."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/resources",
                field="resources",
            )
        )

    def read_resource(
        self,
        slug: str,
        id: str,
    ) -> types.OneResource:
        """One protected resource of the app. Its address, its scopes, and whether it charges."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/resources/{quote(id, safe='')}",
                field="resource",
            )
        )

    def save_resource(
        self,
        slug: str,
        id: str,
        *,
        uri: str,
        scopes: Sequence[str],
        charges: bool | None = None,
        version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.OneResource:
        """
        Register a protected resource, or change it. A protected resource is an API or MCP server of the app
        that accepts this service's tokens. `uri` is https, or plain http on this machine, without query and
        fragment, and not on this service's own address. Clients must send exactly this address; only a
        slash after a bare origin does not matter. No two resources have the same address. `scopes` are the
        resource's own words, and none of `openid`, `profile`, `email`, `offline_access`, `read`, `write`,
        `upstream`, `charge` and `admin`, which have a meaning here. With `charges` (default false), a
        person who connects a client to it sets a limit for the app, and the app's confidential clients
        exchange the tokens for it for tokens that may charge within this limit; people who connected a
        client before are asked again. To change a resource, send the `version` that you read; to register
        one, omit it or send 0. If the resource was saved in the meantime, or a new one's id is registered
        with other settings, the response is 409 `resource_changed` and nothing changes. Changes take effect
        everywhere within a minute.
        """
        return self._send(
            Call(
                "PUT",
                f"/api/admin/apps/{quote(slug, safe='')}/resources/{quote(id, safe='')}",
                body={"uri": uri, "scopes": scopes, "charges": charges, "version": version, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="resource",
            )
        )

    def delete_resource(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.DeleteResourceResponse:
        """
        Delete a protected resource. Within a minute no tokens are issued for it anywhere. Tokens that were
        issued work until they expire, at most ten minutes.
        """
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/apps/{quote(slug, safe='')}/resources/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def list_plans(self) -> types.PlanList:
        """All plans. All of them, by id, each with how many accounts have it."""
        return self._send(
            Call(
                "GET",
                "/api/admin/plans",
                field="plans",
            )
        )

    def read_plan(
        self,
        id: str,
    ) -> types.OneListedPlan:
        """One plan. Its rules, and how many accounts have it."""
        return self._send(
            Call(
                "GET",
                f"/api/admin/plans/{quote(id, safe='')}",
                field="plan",
            )
        )

    def save_plan(
        self,
        id: str,
        *,
        name: str,
        recurring: Sequence[types.SavePlanRecurring],
        version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.OnePlan:
        """
        Create a plan, or change it. Each rule of `recurring` (at most 4) brings credits every `day`, `week`
        or `month`, which expire when the next ones come. At most `rollover_max` of what is left (default 0)
        stays usable for one more period. `app_slugs` are the only apps that can use the credits (default:
        all). To change a plan, send the `version` that you read; to create one, omit it or send 0. If the
        plan was saved in the meantime, the response is 409 `plan_changed` and nothing changes. Accounts
        that have the plan use changed rules from their next turn on: the schedule brings them, or the
        account's next call, and `behind` counts the accounts that wait. The id `free` is the plan of new
        accounts and cannot be saved.
        """
        return self._send(
            Call(
                "PUT",
                f"/api/admin/plans/{quote(id, safe='')}",
                body={"name": name, "recurring": recurring, "version": version, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="plan",
            )
        )

    def delete_plan(
        self,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.DeletePlanResponse:
        """Delete a plan. If accounts have the plan, the response is 409 `plan_in_use`."""
        return self._send(
            Call(
                "DELETE",
                f"/api/admin/plans/{quote(id, safe='')}",
                query={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
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
        events: Sequence[Literal["job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"]],
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
        type: Literal["ping", "job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"] | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.TestedWebhook:
        """
        Send a test to a webhook. Sends `type` once, now, also to a paused webhook and if it does not list
        the type, and returns how the receiver responded within 10 seconds. `ping`, which is sent without a
        `type`, has no data; any other type is a sample with every member of a real event. Each has `"test":
        true` and the header `webhook-test: true`, and its ids belong to nobody. A request that is repeated
        with its `Idempotency-Key` sends the same `webhook-id` again. At most 6 a minute for a webhook.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/test",
                body={"type": type, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="status",
            )
        )

    def list_webhook_attempts(
        self,
        slug: str,
        id: str,
        *,
        identity_id: str | None = None,
    ) -> types.WebhookAttemptList:
        """
        Events that were sent. The last attempts of 7 days, at most 20. With `identity_id`, those of that
        account: each event that was sent, with the receiver's status. Without it, those of all accounts
        that the webhook's list knows: each attempt that failed, and of those that succeeded about one a
        minute. Operators may send an e-mail address as `identity_id`.
        """
        return self._send(
            Call(
                "GET",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/attempts",
                query={"identity_id": identity_id},
                field="attempts",
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
                field="replays_since",
            )
        )

    def retry_webhook(
        self,
        slug: str,
        id: str,
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.RetryWebhookResponse:
        """
        Send the events that wait now. Each account's event that waits is tried now instead of at its
        `retry_at`, and its attempts are counted from the beginning. Without a waiting event it does
        nothing. A paused webhook stays paused.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/retry",
                body={"reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )

    def replay_webhook(
        self,
        slug: str,
        id: str,
        *,
        identity_id: str | None = None,
        after_line: int | None = None,
        since: str | datetime | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ReplayWebhookResponse:
        """
        Send events again. With `identity_id` and `after_line`: sends the events of the account's entries
        after this one again, in order and with the same `webhook-id`s. 0 begins with the events since the
        webhook was created. An operator may name the person by e-mail address. With `since`, at most 7 days
        ago, and neither of them: does the same for the entries since then of all accounts that have the
        app, a hundred accounts after the other, in the background; the list of deliveries has
        `replays_since` until each has begun. Accounts are found by the read model, which is some seconds
        late and has days as far back as `READ_MODEL_DAYS`.
        """
        return self._send(
            Call(
                "POST",
                f"/api/admin/apps/{quote(slug, safe='')}/webhooks/{quote(id, safe='')}/replay",
                body={"identity_id": identity_id, "after_line": after_line, "since": since, "reason": reason},
                keyed=True,
                idempotency_key=idempotency_key,
                field="ok",
            )
        )
