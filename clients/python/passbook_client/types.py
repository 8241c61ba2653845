"""The JSON of requests and responses, field for field as in the API. Generated from docs/openapi.json by `npm run openapi`: do not change this file."""
from __future__ import annotations

from typing import Any, Literal, TypedDict


class Account(TypedDict):
    id: str
    """A UUID."""
    identity_id: str
    """The person's id at the identity provider; also `sub` of session tokens."""
    plan: str
    """`free`, or a plan that an operator set."""
    credits: int
    """The available credits, without the credits that started jobs reserve."""


class AppEntry(TypedDict):
    slug: str
    """An app's slug."""
    starter_credits: int
    """The granted amount, or the amount that a grant would have now."""
    granted: bool
    """Whether the starter credits were ever granted."""
    granted_at: str | None
    """RFC 3339, in UTC with milliseconds."""


class WalletAppGrant(TypedDict):
    slug: str
    """An app's slug."""
    starter_credits: int
    granted: bool
    """True only in the response to the request that made the grant."""


class _Wallet(TypedDict):
    account: Account
    apps: list[AppEntry]
    app_grant: WalletAppGrant | None
    """The app of the query; null without `app`."""


class Wallet(_Wallet, total=False):
    room: int
    """The credits that the caller's caps still allow; only for a token with a cap."""
    spendable: int
    """The credits that the caller can spend now: its `room`, or the balance if lower."""


JobStatus = Literal["started", "completed", "failed"]


#: Any JSON object. Pages show `description` and `previewUrl`.
Metadata = dict[str, Any]


class Job(TypedDict):
    id: str
    """A UUID."""
    app_slug: str | None
    """An app's slug."""
    action: str
    status: JobStatus
    reserved: int
    """Credits reserved: at creation, or by the last progress report."""
    actual_cost: int
    """0 while the job is started, then its final cost."""
    refunded: int
    """Credits of the cost that operators gave back later."""
    step: int
    """The number of the last progress report; 0 before the first."""
    spent: int | None
    """Credits that the job costs if it expires; null until a progress report says so."""
    failure: Literal["reported", "expired"] | None
    """`reported`: its client failed it. `expired`: its time ran out, or the holder cancelled it."""
    failure_reason: str | None
    """The client's `reason`; null without one."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    updated_at: str
    """RFC 3339, in UTC with milliseconds."""
    expires_at: str
    """
    A job that is still started at this time expires. It is charged what it has `spent`. Without a
    progress report, its reserve is refunded, or charged if the app's `on_expiry` says so.
    """
    metadata: Metadata | None


class _JobPage(TypedDict):
    jobs: list[Job]


class JobPage(_JobPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class CreatedJob(TypedDict):
    job_id: str
    """A UUID."""
    credits: int
    """The balance after this request. It can be negative after an overage."""


class _CreateJobsJobs(TypedDict):
    app: str
    action: str
    cost_estimate: int


class CreateJobsJobs(_CreateJobsJobs, total=False):
    ttl_seconds: int
    metadata: dict[str, Any]
    """Any JSON object of at most 16 KiB. Pages show `description` and `previewUrl`."""


class CreatedItemRefusal1(TypedDict):
    error: str
    """A message for people."""
    code: Literal["invalid_request", "metadata_too_large", "balance_limit", "scope", "app_settles", "suspended", "unavailable", "too_many_open_jobs", "account_full", "token_storage_full"]
    """A stable code for programs."""


CapPeriod = Literal["day", "week", "month", "30_days", "total"]


class CreatedItemRefusal2Cap(TypedDict):
    credits: int
    period: CapPeriod


class CreatedItemRefusal2(TypedDict):
    error: str
    """A message for people."""
    code: Literal["token_budget_exceeded"]
    """A stable code for programs."""
    cap: CreatedItemRefusal2Cap
    spent: int
    """The credits that the token has spent of its cap."""
    room: int
    """The credits that the token can still spend."""
    required: int
    """The credits that the request needs."""
    resets_at: str | None
    """The start of the next period of the cap; null for a cap with the period `total`."""
    approval: str | None
    """
    Repeat `POST /api/jobs` with this after the holder approved the job. Null if what was requested
    cannot be approved.
    """
    approval_url: str | None
    """The page where the account's holder approves or denies this one job."""


class CreatedItemRefusal3(TypedDict):
    error: str
    """A message for people."""
    code: Literal["insufficient_credits"]
    """A stable code for programs."""
    credits: int
    """The available credits: the balance without held credits."""
    held: int
    """The credits reserved by started jobs."""
    required: int
    """The credits that the request needs."""


#: The item was refused; no job was created.
CreatedItemRefusal = CreatedItemRefusal1 | CreatedItemRefusal2 | CreatedItemRefusal3


class CreatedJobs(TypedDict):
    results: list[CreatedJob | CreatedItemRefusal]
    """One result per item, in the order of the items."""
    credits: int
    """The balance after all items."""


class _CompleteJobsJobs(TypedDict):
    job_id: str
    actual_cost: int


class CompleteJobsJobs(_CompleteJobsJobs, total=False):
    step: int
    metadata: dict[str, Any]
    """Any JSON object of at most 16 KiB. Pages show `description` and `previewUrl`."""


class SettledJob(TypedDict):
    job: Job
    credits: int | None
    """
    The balance after this request. It can be negative after an overage. Null for an app's key if the
    account is not open for the app.
    """


class SettledItemRefusal1(TypedDict):
    error: str
    """A message for people."""
    code: Literal["invalid_request", "metadata_too_large", "balance_limit", "scope", "app_settles", "suspended", "unavailable", "job_unknown", "job_ended"]
    """A stable code for programs."""


class SettledItemRefusal2Cap(TypedDict):
    credits: int
    period: CapPeriod


class SettledItemRefusal2(TypedDict):
    error: str
    """A message for people."""
    code: Literal["token_budget_exceeded"]
    """A stable code for programs."""
    cap: SettledItemRefusal2Cap
    spent: int
    """The credits that the token has spent of its cap."""
    room: int
    """The credits that the token can still spend."""
    required: int
    """The credits that the request needs."""
    resets_at: str | None
    """The start of the next period of the cap; null for a cap with the period `total`."""
    approval: str | None
    """
    Repeat `POST /api/jobs` with this after the holder approved the job. Null if what was requested
    cannot be approved.
    """
    approval_url: str | None
    """The page where the account's holder approves or denies this one job."""


class SettledItemRefusal3(TypedDict):
    error: str
    """A message for people."""
    code: Literal["overage_limit"]
    """A stable code for programs."""
    limit: int
    """The highest allowed cost of this job."""


class SettledItemRefusal4(TypedDict):
    error: str
    """A message for people."""
    code: Literal["step_too_old"]
    """A stable code for programs."""
    step: int
    """The job's last step."""


#: The item was refused; its job is unchanged.
SettledItemRefusal = SettledItemRefusal1 | SettledItemRefusal2 | SettledItemRefusal3 | SettledItemRefusal4


class SettledJobs(TypedDict):
    results: list[SettledJob | SettledItemRefusal]
    """One result per item, in the order of the items."""
    credits: int | None
    """The balance after all items. Null for an app's key if the account is not open for the app."""


class ProgressedJob(TypedDict):
    job: Job
    credits: int | None
    """
    The balance after this request. It can be negative after an overage. Null for an app's key if the
    account is not open for the app.
    """


class Checkout(TypedDict):
    url: str
    """The checkout page for the buyer."""


EntryKind = Literal["open", "grant", "reserve", "settle", "refund", "job_refund", "adjustment", "purchase", "purchase_refund", "plan", "suspend", "restore", "debt"]


class Entry(TypedDict):
    """An entry of the ledger."""
    line: int
    """
    The number of the entry. A report of progress that changes no credits has a number too; it is in the
    stream, and not in lists.
    """
    kind: EntryKind
    amount: int
    """The signed change of the balance."""
    balance_after: int
    job_id: str | None
    """A UUID."""
    app: str | None
    """An app's slug."""
    note: str | None
    """An operator's reason; null for an entry that no operator made."""
    at: str
    """RFC 3339, in UTC with milliseconds."""


class _EntryPage(TypedDict):
    entries: list[Entry]


class EntryPage(_EntryPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class _Me(TypedDict):
    identity_id: str
    name: str | None
    """
    Null if it is unknown, or if the caller may not learn it: an OAuth client needs the scope `profile`,
    and a personal access token must be without limits.
    """
    email: str | None
    """As the name; an OAuth client needs the scope `email`."""
    email_verified: bool | None
    """Null if the caller may not learn the address."""
    plan: str
    operator: bool
    """
    Whether this caller has operator rights: the person is an operator, and uses a token with the scope
    `admin` or a page of the service.
    """


class Me(_Me, total=False):
    role: Literal["viewer", "support", "admin"]
    """Only with `operator: true`."""


class TokenResponse(TypedDict):
    token: str


class FoundJob(TypedDict):
    id: str
    """A UUID."""
    app_slug: str | None
    """An app's slug."""
    action: str
    status: JobStatus
    reserved: int
    """Credits reserved: at creation, or by the last progress report."""
    actual_cost: int
    """0 while the job is started, then its final cost."""
    refunded: int
    """Credits of the cost that operators gave back later."""
    step: int
    """The number of the last progress report; 0 before the first."""
    spent: int | None
    """Credits that the job costs if it expires; null until a progress report says so."""
    failure: Literal["reported", "expired"] | None
    """`reported`: its client failed it. `expired`: its time ran out, or the holder cancelled it."""
    failure_reason: str | None
    """The client's `reason`; null without one."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    updated_at: str
    """RFC 3339, in UTC with milliseconds."""
    expires_at: str
    """
    A job that is still started at this time expires. It is charged what it has `spent`. Without a
    progress report, its reserve is refunded, or charged if the app's `on_expiry` says so.
    """
    identity_id: str


class _FoundJobPage(TypedDict):
    jobs: list[FoundJob]
    as_of: str
    """The time of the query to the read model, which can be some seconds behind the accounts."""


class FoundJobPage(_FoundJobPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class OwnApp(TypedDict):
    """The app of the key."""
    slug: str
    """An app's slug."""
    name: str
    settle: Literal["holder", "app"]
    """The caller that completes and fails its jobs."""
    on_expiry: Literal["refund", "charge"]
    """Whether the reserve of an expired job is refunded or charged."""
    starter_credits: int
    daily_starter_budget: int | None
    """The most that its grants of one UTC day may add up to; null: no limit."""
    granted_today: int | None
    """
    Starter credits granted since midnight UTC, some seconds late; null: unknown, because the read model
    does not respond.
    """


class Webhook(TypedDict):
    id: str
    url: str
    events: list[Literal["job.created", "job.completed", "job.failed", "job.expired", "credits.granted", "credits.low", "credits.refused", "purchase.completed", "purchase.refunded", "account.deleted"]]
    thresholds: list[int]
    """Balances in credits, in ascending order, at which `credits.low` is sent."""
    active: bool
    """False: nothing is delivered, but events are not lost."""
    paused_at: str | None
    """Since when it is not active; null: it is."""
    paused_reason: str | None
    """Why the service paused it; null: it is active, or its owner paused it."""
    last_success_at: str | None
    """The minute of the last delivery that succeeded; null: none."""
    last_error: str | None
    """Why the last delivery that failed did so; null: none did."""
    last_error_at: str | None
    """RFC 3339, in UTC with milliseconds."""
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""


class WebhookList(TypedDict):
    """All webhooks of the app, by id."""
    webhooks: list[Webhook]


class SavedWebhook(TypedDict):
    webhook: Webhook
    secret: str | None
    """`whsec_` and 32 bytes in base64, only in the response that created the webhook; otherwise null."""


class DeleteWebhookResponse(TypedDict):
    ok: Literal[True]


class RotatedSecret(TypedDict):
    secret: str | None
    """The new secret; null in the response to a repeated request."""


class TestedWebhook(TypedDict):
    status: int | None
    """The receiver's status; null: it did not respond."""
    duration_ms: int
    error: str | None
    """Why the receiver did not accept the event; null: it did."""


class WebhookDelivery(TypedDict):
    """The event of an account that holds up those after it."""
    event_id: str
    """`webhook-id` of the event."""
    type: Literal["job.created", "job.completed", "job.failed", "job.expired", "credits.granted", "credits.low", "credits.refused", "purchase.completed", "purchase.refunded", "account.deleted"]
    identity_id: str
    """The account's holder."""
    line: int
    """The entry after which the account's deliveries wait."""
    attempts: int
    """0: it was not tried, because the webhook is paused."""
    status: Literal["pending", "failed"]
    """`failed`: the webhook was paused after its last attempt."""
    last_error: str | None
    at: str
    """When it was tried last, or began to wait."""
    retry_at: str | None
    """When it is tried again; null: when the webhook is active."""


class _WebhookDeliveryPage(TypedDict):
    deliveries: list[WebhookDelivery]


class WebhookDeliveryPage(_WebhookDeliveryPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class ReplayWebhookResponse(TypedDict):
    ok: Literal[True]


class JobWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int | None
    """The balance after that entry. Null unless the account was open for the app then and is open now."""
    held: int | None
    """As `credits`: what started jobs hold."""
    job: Job
    """The job as it is when the event is sent."""


class JobWebhookEvent(TypedDict):
    """One of the app's own jobs."""
    type: Literal["job.created", "job.completed", "job.failed", "job.expired"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: JobWebhookEventData


class _CreditsWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""


class CreditsWebhookEventData(_CreditsWebhookEventData, total=False):
    job: Job
    """The app's own job whose cost an operator gave back."""


class CreditsWebhookEvent(TypedDict):
    """An account that is open for the app. `credits.refused`: a request got 402."""
    type: Literal["credits.granted", "credits.refused", "purchase.completed", "purchase.refunded", "account.deleted"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: CreditsWebhookEventData


class LowCreditsWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    threshold: int
    """The lowest threshold that the balance fell to or below."""


class LowCreditsWebhookEvent(TypedDict):
    """The balance crossed a threshold."""
    type: Literal["credits.low"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: LowCreditsWebhookEventData


class PingWebhookEventData(TypedDict):
    pass


class PingWebhookEvent(TypedDict):
    """Sent by a test."""
    type: Literal["ping"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: PingWebhookEventData


#: The body of a request to a webhook, a Standard Webhook. Its headers are `webhook-id` (the same in every attempt), `webhook-timestamp` and `webhook-signature`.
WebhookEvent = JobWebhookEvent | CreditsWebhookEvent | LowCreditsWebhookEvent | PingWebhookEvent
