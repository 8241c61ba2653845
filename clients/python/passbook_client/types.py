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


class Lot(TypedDict):
    """Credits with terms. Credits without terms are in no lot."""
    expires_at: str | None
    """Null: the credits never expire."""
    app_slugs: list[str] | None
    """The only apps that can use the credits; null: all apps."""
    bought: bool
    """Whether they were bought; else they were given."""
    id: str
    """A UUID."""
    origin: Literal["starter", "purchase", "adjustment", "recurring", "rollover", "returned"]
    """`returned`: a job gave them back after their lot had expired."""
    left: int
    """Credits available."""
    held: int
    """Credits that started jobs hold, in addition to `left`. They do not expire."""
    note: str | None
    """An operator's reason or a package's name; null for an app."""


class WalletNextExpiry(TypedDict):
    credits: int
    at: str
    """RFC 3339, in UTC with milliseconds."""


class TopUp(TypedDict):
    on: bool
    threshold: int
    """A charge follows when fewer credits are available."""
    package: str
    """The id of the package that is bought."""
    currency: str
    month_limit_minor: int
    """The most that may be charged in a calendar month (UTC), in the smallest unit."""
    month_spent_minor: int
    """The charges of this month, with those that are pending."""
    state: Literal["ready", "pending", "retrying", "limit_reached", "holder", "declined", "authentication_required", "refused", "package_changed", "suspended"]
    """
    `ready`; `pending`: a charge is due; `retrying`: one failed, and the next follows; `limit_reached`:
    nothing more fits into the month. It is off if the `holder` switched it off, the card was `declined`
    three times, the bank requires the person's confirmation (`authentication_required`), Stripe
    `refused` the card or a refund or dispute left too few credits, the package changed
    (`package_changed`), or the account was `suspended`.
    """


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
    held: int
    """Credits that started jobs hold, not included in the account's `credits`."""
    bought: int
    """The bought part of the account's `credits`."""
    lots: list[Lot]
    """
    Credits with terms, in the order of use. An app, or a token limited to apps, gets those that it can
    use.
    """
    next_expiry: WalletNextExpiry | None
    """What expires next if it is not used or held; null: nothing expires."""
    apps: list[AppEntry]
    app_grant: WalletAppGrant | None
    """The app of the query; null without `app`."""


class Wallet(_Wallet, total=False):
    topup: TopUp | None
    """
    Automatic top-up; null: it was never set. Only a session gets it: neither an app's key nor a
    personal access token or connection.
    """
    room: int
    """The credits that the caller's caps still allow; only for a token with a cap."""
    spendable: int
    """
    With `app`: the credits that this app can reserve for the caller now. A token with a cap gets at
    most its `room`, also without `app`. Below zero if the account owes credits.
    """


JobStatus = Literal["started", "completed", "failed"]


class StartedBy1(TypedDict):
    kind: Literal["browser"]
    """The person's session, through no page of a registered app: mostly this service's own pages."""
    id: None
    name: None


class StartedBy2(TypedDict):
    kind: Literal["app"]
    """A key of the app, or the person's session through a page of the app."""
    id: str
    """An app's slug."""
    name: str | None
    """Null: the app was not registered."""


class _StartedBy3(TypedDict):
    kind: Literal["connection", "token"]
    """An OAuth client's connection, or a personal access token."""
    id: str
    """A UUID."""
    name: str | None
    """
    The name that it had then. Null for a token if the caller may not learn the names of the person's
    tokens: an app, a client, and another token with limits may not.
    """


class StartedBy3(_StartedBy3, total=False):
    root_id: str
    """If it was exchanged: the connection or token that the person approved."""


#: The credential that started the job. It stays the same if another one settles the job.
StartedBy = StartedBy1 | StartedBy2 | StartedBy3


class JobPart(TypedDict):
    lot_id: str | None
    """Null: credits without terms."""
    bought: bool
    credits: int


#: Any JSON object. Pages show `description` and `previewUrl`.
Metadata = dict[str, Any]


Job = TypedDict("Job", {"id": str, "app_slug": str | None, "action": str, "status": JobStatus, "reserved": int, "actual_cost": int, "refunded": int, "step": int, "spent": int | None, "done": float | None, "message": str | None, "failure": Literal["reported", "expired", "cancelled"] | None, "failure_reason": str | None, "created_at": str, "updated_at": str, "expires_at": str, "by": StartedBy, "from": list[JobPart], "metadata": Metadata | None})


class _JobPage(TypedDict):
    jobs: list[Job]


class JobPage(_JobPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class CreatedJob(TypedDict):
    job_id: str
    """A UUID."""
    credits: int | None
    """
    The balance after this request. It can be negative after an overage. Null for an app that charges
    for a connection.
    """


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
    code: Literal["invalid_request", "metadata_too_large", "balance_limit", "too_many_lots", "scope", "app_settles", "app_stopped", "unavailable", "app_paused", "account_full", "token_storage_full", "app_not_registered"]
    """A stable code for programs."""


CapPeriod = Literal["day", "week", "month", "total"]


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
    """
    The page where the account's holder approves or denies this one job. `return_to` in its query is an
    address of the app or the OAuth client that it leads back to.
    """
    topup_url: str | None
    """
    The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null:
    nothing is for sale.
    """


class _CreatedItemRefusal3(TypedDict):
    error: str
    """A message for people."""
    code: Literal["suspended"]
    """A stable code for programs."""


class CreatedItemRefusal3(_CreatedItemRefusal3, total=False):
    public_reason: str
    """Why, if an operator gave a reason for people. Only for a session."""


class _CreatedItemRefusal4(TypedDict):
    error: str
    """A message for people."""
    code: Literal["insufficient_credits"]
    """A stable code for programs."""
    credits: int | None
    """
    The available credits: the balance without held credits. Null for an app that charges for a
    connection.
    """
    spendable: int | None
    """
    The credits of these that the job's app can reserve: without those for other apps only. Null where
    `credits` is.
    """
    held: int | None
    """The credits that started jobs hold. Null where `credits` is."""
    required: int
    """The credits that the request needs."""
    topup_url: str | None
    """
    The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null:
    nothing is for sale.
    """


class CreatedItemRefusal4(_CreatedItemRefusal4, total=False):
    topup: Literal["pending"]
    """An automatic top-up is due. A job does not wait for it; try again in a few seconds."""


class CreatedItemRefusal5(TypedDict):
    error: str
    """A message for people."""
    code: Literal["limit_reached"]
    """A stable code for programs."""
    of: Literal["started_jobs", "started_jobs_of_app", "started_jobs_of_token", "job_steps", "streams", "streams_of_token", "apps", "unregistered_apps", "tokens", "app_keys", "webhooks", "clients", "resources", "plans"]
    """The limited thing."""
    limit: int
    """How many there can be at once."""


#: The item was refused; no job was created.
CreatedItemRefusal = CreatedItemRefusal1 | CreatedItemRefusal2 | CreatedItemRefusal3 | CreatedItemRefusal4 | CreatedItemRefusal5


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
    account is not open for the app, and for an app that charges for a connection.
    """


class SettledItemRefusal1(TypedDict):
    error: str
    """A message for people."""
    code: Literal["invalid_request", "metadata_too_large", "balance_limit", "too_many_lots", "scope", "app_settles", "app_stopped", "unavailable", "account_unknown", "job_unknown", "job_ended"]
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
    """
    The page where the account's holder approves or denies this one job. `return_to` in its query is an
    address of the app or the OAuth client that it leads back to.
    """
    topup_url: str | None
    """
    The page where the account's holder buys credits, with `return_to` as in `approval_url`. Null:
    nothing is for sale.
    """


class _SettledItemRefusal3(TypedDict):
    error: str
    """A message for people."""
    code: Literal["suspended"]
    """A stable code for programs."""


class SettledItemRefusal3(_SettledItemRefusal3, total=False):
    public_reason: str
    """Why, if an operator gave a reason for people. Only for a session."""


class SettledItemRefusal4(TypedDict):
    error: str
    """A message for people."""
    code: Literal["overage_limit"]
    """A stable code for programs."""
    limit: int
    """The highest allowed cost of this job."""


class SettledItemRefusal5(TypedDict):
    error: str
    """A message for people."""
    code: Literal["step_too_old"]
    """A stable code for programs."""
    step: int
    """The job's last step."""


#: The item was refused; its job is unchanged.
SettledItemRefusal = SettledItemRefusal1 | SettledItemRefusal2 | SettledItemRefusal3 | SettledItemRefusal4 | SettledItemRefusal5


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
    account is not open for the app, and for an app that charges for a connection.
    """


class Checkout(TypedDict):
    url: str
    """The checkout page for the buyer."""


EntryKind = Literal["open", "grant", "reserve", "settle", "refund", "job_refund", "adjustment", "purchase", "purchase_refund", "plan", "suspend", "restore", "debt", "expire", "recurring", "rollover", "recovery"]


class Terms(TypedDict):
    expires_at: str | None
    """Null: the credits never expire."""
    app_slugs: list[str] | None
    """The only apps that can use the credits; null: all apps."""
    bought: bool
    """Whether they were bought; else they were given."""


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
    lot_id: str | None
    """The lot that the entry concerns; null: none, or several."""
    terms: Terms | None
    """Of an entry that brought credits: the terms that they have now; null for others."""
    by: StartedBy | None
    """The starter of the entry's job; null for an entry without a job."""
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


class AccessApp(TypedDict):
    slug: str
    """An app's slug."""
    name: str
    """The slug if the app is not registered."""
    icon: str | None
    host: str | None
    """The host of its pages; null if none is registered."""
    state: Literal["open", "stopped"]
    """`open`: its key and its pages may use the account. `stopped`: the holder ended that."""
    last_used_at: str | None
    """
    When its key or its pages last started a job. Null: none of the account's newest 20,000 entries says
    so.
    """
    spent_this_month: int | None
    """
    As of a connection, for jobs that its key or its pages started, also those of another app. Jobs that
    the holder started in a browser count for the job's app, and what a connection or a token spends in
    the app counts there.
    """
    started_jobs: int
    """Its jobs that are started now, whatever started them."""


class StopAppResponse(TypedDict):
    app: AccessApp


class AllowAppResponse(TypedDict):
    app: AccessApp | None


class AccessConnectionCaps(TypedDict):
    credits: int
    period: CapPeriod
    spent: int
    """The credits that count in the current period."""
    approved: int
    """
    The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits` by
    them.
    """
    room: int
    resets_at: str | None
    """The start of the next period; null: `total` has none."""


class AccessConnection(TypedDict):
    id: str
    """A UUID."""
    resource: str | None
    """The address that it is for; null: this API."""
    scopes: list[str]
    """`read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource."""
    apps: list[str] | None
    """The only apps that the token may use; null: all apps."""
    caps: list[AccessConnectionCaps]
    ends_with_session: bool
    """Whether the token ends with the session that approved it."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """
    Updated at most once an hour. A connection for a resource is used when its tokens are refreshed,
    introspected or exchanged; what the resource accepts without that is not seen here.
    """
    expires_at: str
    """RFC 3339, in UTC with milliseconds."""
    spent_this_month: int | None
    """
    The cost of its jobs, and of its children's jobs, that ended in this month (UTC), less refunds by
    operators. Null if the account has more than 20,000 entries of this month.
    """
    client_id: str | None
    """Null for a program's token that was exchanged without a client."""
    name: str
    host: str | None
    """The host of the client's address; null if registered."""
    registered: bool
    """Whether an operator of this service registered the client."""
    children: list[AccessConnection]
    """The tokens that were exchanged from it, and end with it."""


class AccessTokenCaps(TypedDict):
    credits: int
    period: CapPeriod
    spent: int
    """The credits that count in the current period."""
    approved: int
    """
    The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits` by
    them.
    """
    room: int
    resets_at: str | None
    """The start of the next period; null: `total` has none."""


class AccessToken(TypedDict):
    id: str
    """A UUID."""
    resource: str | None
    """The address that it is for; null: this API."""
    scopes: list[str]
    """`read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource."""
    apps: list[str] | None
    """The only apps that the token may use; null: all apps."""
    caps: list[AccessTokenCaps]
    ends_with_session: bool
    """Whether the token ends with the session that approved it."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """
    Updated at most once an hour. A connection for a resource is used when its tokens are refreshed,
    introspected or exchanged; what the resource accepts without that is not seen here.
    """
    expires_at: str
    """RFC 3339, in UTC with milliseconds."""
    spent_this_month: int | None
    """
    The cost of its jobs, and of its children's jobs, that ended in this month (UTC), less refunds by
    operators. Null if the account has more than 20,000 entries of this month.
    """
    label: str
    current: bool
    """Whether this request was sent with this token."""
    children: list[AccessToken]
    """The tokens that were exchanged from it, and end with it."""


class AccessBrowser(TypedDict):
    id: str
    current: bool
    """Whether this request was sent from this browser."""
    browser: str | None
    """The browser and its system; null if unknown."""
    place: str | None
    """Where it was last used; null if unknown."""
    started_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """Accurate to a day."""


class Access(TypedDict):
    apps: list[AccessApp]
    connections: list[AccessConnection]
    tokens: list[AccessToken]
    browsers: list[AccessBrowser]
    """At most 50."""


FoundJob = TypedDict("FoundJob", {"id": str, "app_slug": str | None, "action": str, "status": JobStatus, "reserved": int, "actual_cost": int, "refunded": int, "step": int, "spent": int | None, "failure": Literal["reported", "expired", "cancelled"] | None, "failure_reason": str | None, "created_at": str, "updated_at": str, "expires_at": str, "by": StartedBy, "from": list[JobPart], "identity_id": str})


class _FoundJobPage(TypedDict):
    jobs: list[FoundJob]
    as_of: str
    """The time of the query to the read model, which can be some seconds behind the accounts."""


class FoundJobPage(_FoundJobPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class AppPause(TypedDict):
    since: str
    """RFC 3339, in UTC with milliseconds."""
    message: str
    """The error of requests for jobs."""


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
    paused: AppPause | None
    """An operator's pause of the app; null: it is not paused."""


class Webhook(TypedDict):
    id: str
    url: str
    events: list[Literal["job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"]]
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
    failing_since: str | None
    """When the first delivery failed after the last success; null: the last one succeeded."""
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
    response: str | None
    """The first 1,024 bytes of a response that did not accept it. Null for an app's key."""


class WebhookAttempt(TypedDict):
    """An event that was sent."""
    at: str
    """When it ended."""
    event_id: str
    """`webhook-id` of the event."""
    type: Literal["job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"]
    identity_id: str | None
    """The account's holder; null: the event concerns the app itself."""
    line: int
    """The ledger entry, or the newest one when it happened."""
    attempts: int
    """How often the event was tried by then."""
    status: int | None
    """The receiver's status; null: it did not respond."""
    duration_ms: int
    error: str | None
    """Why the receiver did not accept the event; null: it did."""
    response: str | None
    """
    The first 1,024 bytes of a response that did not accept it. Null for roles below admin, for an app's
    key, and with `identity_id`.
    """


class WebhookAttemptList(TypedDict):
    """The newest first."""
    attempts: list[WebhookAttempt]


class WebhookDelivery(TypedDict):
    """The event of an account that holds up those after it."""
    event_id: str
    """`webhook-id` of the event."""
    type: Literal["job.created", "job.progressed", "job.completed", "job.failed", "job.expired", "credits.changed", "credits.granted", "credits.low", "credits.expiring", "credits.expired", "credits.refused", "topup.failed", "topup.disabled", "purchase.completed", "purchase.refunded", "account.deleted", "approval.approved", "approval.denied", "connection.revoked", "connection.limit_reached", "access.stopped", "access.allowed", "app.paused", "app.continued"]
    identity_id: str | None
    """The account's holder; null: the event concerns the app itself."""
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
    replays_since: str | None
    """Since when the events of all accounts are being sent again; null: they are not."""
    deliveries: list[WebhookDelivery]


class WebhookDeliveryPage(_WebhookDeliveryPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class RetryWebhookResponse(TypedDict):
    ok: Literal[True]


class ReplayWebhookResponse(TypedDict):
    ok: Literal[True]


class FoundAccount(TypedDict):
    id: str
    """A UUID."""
    identity_id: str
    """The person's id at the identity provider; also `sub` of session tokens."""
    plan: str
    """`free`, or a plan that an operator set."""
    credits: int
    """The available credits, without the credits that started jobs reserve."""
    name: str | None
    email: str | None
    held: int
    """Credits that started jobs hold, not included in `credits`."""
    state: Literal["active", "suspended"]
    created_at: str
    """RFC 3339, in UTC with milliseconds."""


class _FoundAccountPage(TypedDict):
    accounts: list[FoundAccount]
    as_of: str
    """The time of the query to the read model, which can be some seconds behind the accounts."""


class FoundAccountPage(_FoundAccountPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class _SuspendedAccountsResults(TypedDict):
    identity_id: str


class SuspendedAccountsResults(_SuspendedAccountsResults, total=False):
    ok: Literal[True]
    """The account is suspended."""
    error: str
    """Why it is not suspended, or may not be."""
    code: str
    """As in an error response."""


class SuspendedAccounts(TypedDict):
    results: list[SuspendedAccountsResults]
    """One result per identity, in their order: `ok`, or `error` and `code`."""


class InspectedAccountAccount(TypedDict):
    id: str
    """A UUID."""
    identity_id: str
    """The person's id at the identity provider; also `sub` of session tokens."""
    plan: str
    """`free`, or a plan that an operator set."""
    credits: int
    """The available credits, without the credits that started jobs reserve."""
    name: str | None
    email: str | None
    email_verified: bool
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    suspended_at: str | None
    """The start of the suspension; null if the account is not suspended."""
    suspended_public_reason: str | None
    """Why it is suspended, as its holder reads it; null without such a reason."""


class PersonalTokenClient(TypedDict):
    id: str
    host: str | None
    """The host of the client's address, if it has one."""


class PersonalTokenCaps(TypedDict):
    credits: int
    period: CapPeriod
    spent: int
    """The credits that count in the current period."""
    approved: int
    """
    The credits of `spent` in jobs that the holder approved one by one. `spent` can exceed `credits` by
    them.
    """
    room: int
    resets_at: str | None
    """The start of the next period; null: `total` has none."""


class PersonalToken(TypedDict):
    """The token itself is not stored and not returned."""
    id: str
    """A UUID."""
    kind: Literal["device", "code", "exchange"]
    """
    `device`: a personal access token. `code`: a client that the person connected. `exchange`: exchanged
    from the token `parent_id`, whose limits bind it too.
    """
    parent_id: str | None
    """A UUID."""
    client: PersonalTokenClient | None
    """
    The OAuth client that holds it, or that collected a device’s token; null for another personal access
    token.
    """
    resource: str | None
    """The address that it is for; null: this API."""
    label: str
    app: str | None
    """The app that requested the token, as its client named it."""
    scopes: list[str]
    """`read`, `write`, `upstream`, `admin`, or scopes of OpenID Connect or the resource."""
    apps: list[str] | None
    """The only apps that the token may use; null: all apps."""
    caps: list[PersonalTokenCaps]
    current: bool
    """Whether this request was sent with this token."""
    ends_with_session: bool
    """Whether the token ends with the session that approved it."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """Updated at most once an hour."""
    expires_at: str
    """RFC 3339, in UTC with milliseconds."""


class InspectedAccountSessions(TypedDict):
    id: str
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """RFC 3339, in UTC with milliseconds."""
    browser: str | None
    place: str | None


class AutomaticTopUp(TypedDict):
    number: int
    attempt: int
    """The failed charges in a row before it, plus 1."""
    outcome: Literal["due", "done", "failed", "dropped"]
    """`due`: its charge is not known yet. `dropped`: nothing was charged."""
    failure: Literal["declined", "authentication_required", "refused"] | None
    package_name: str
    credits: int
    amount_minor: int
    currency: str
    payment_intent_id: str | None
    created_at: str
    """RFC 3339, in UTC with milliseconds."""


class InspectedAccount(TypedDict):
    account: InspectedAccountAccount
    held: int
    lots: list[Lot]
    """Credits with terms, in the order of use."""
    apps: list[AppEntry]
    personal_tokens: list[PersonalToken]
    sessions: list[InspectedAccountSessions]
    topup: TopUp | None
    """Automatic top-up; null: it was never set."""
    top_ups: list[AutomaticTopUp]
    """The newest 20 automatic top-ups."""
    started_jobs: list[Job]
    """The newest 200. `/jobs?status=started` lists all of them."""


class DeleteAccountResponse(TypedDict):
    ok: Literal[True]


PersonData = dict[str, Any]


class RefundedJob(TypedDict):
    job: Job
    entry: Entry
    credits: int
    """The balance after this request. It can be negative after an overage."""


class AccountPurchase(TypedDict):
    checkout_session_id: str
    """The checkout's id at Stripe."""
    payment_intent_id: str
    """The payment's id at Stripe."""
    payment_url: str | None
    """The payment in Stripe's dashboard; null if this service does not sell credits now."""
    package: str
    package_name: str
    credits: int
    taken_back: int
    """Credits taken back for refunds and disputes."""
    currency: str
    amount_minor: int
    """The money paid, in the currency's smallest unit, such as cents."""
    refunded_minor: int
    """The money returned, in the currency's smallest unit, such as cents."""
    at: str
    """RFC 3339, in UTC with milliseconds."""


class _AccountPurchasePage(TypedDict):
    purchases: list[AccountPurchase]


class AccountPurchasePage(_AccountPurchasePage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class AdjustedCredits(TypedDict):
    entry: Entry
    credits: int
    """The balance after this request. It can be negative after an overage."""


class ChangedPlan(TypedDict):
    ok: Literal[True]
    account: Account


class SignOutAccountResponse(TypedDict):
    ok: Literal[True]


class RebuildAccountResponse(TypedDict):
    ok: Literal[True]


class SuspendAccountResponse(TypedDict):
    ok: Literal[True]


class RestoreAccountResponse(TypedDict):
    ok: Literal[True]


class RevokeAccountTokenResponse(TypedDict):
    ok: Literal[True]


class ArchiveHeadPageHeadsHead(TypedDict):
    line: int
    """The number of its last entry."""
    sha256: str
    """The SHA-256 of its stored bytes, in hexadecimal."""


class ArchiveHeadPageHeads(TypedDict):
    account_id: str
    identity_id: str
    line: int
    """The number of the account's newest entry."""
    head: ArchiveHeadPageHeadsHead | None
    """The newest segment; null before the first one."""


class _ArchiveHeadPage(TypedDict):
    heads: list[ArchiveHeadPageHeads]


class ArchiveHeadPage(_ArchiveHeadPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class _ArchivedPage(TypedDict):
    requested: int
    """People whose accounts got the request."""
    failed: list[str]
    """Identities whose accounts did not respond."""


class ArchivedPage(_ArchivedPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class AccountArchiveHead(TypedDict):
    line: int
    """The number of its last entry."""
    sha256: str
    """The SHA-256 of its stored bytes, in hexadecimal."""


class _AccountArchive(TypedDict):
    account_id: str
    identity_id: str
    line: int
    """The number of the account's newest entry."""
    head: AccountArchiveHead | None
    """The newest segment; null before the first one."""
    segments: list[str]
    """Names in the folder `ledger/v1/{account_id}/`."""


class AccountArchive(_AccountArchive, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class ArchiveAccountResponse(TypedDict):
    ok: Literal[True]


class ArchiveSegment(TypedDict):
    name: str
    content: str
    """The bytes in base64url (RFC 4648, section 5)."""


class _CopiedDirectory(TypedDict):
    copy: str
    """The id of the copy."""
    rows: int
    """Rows that the copy has so far; 0 if it had ended before."""
    people: int
    """Changes of people that this call copied."""


class CopiedDirectory(_CopiedDirectory, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class RebuiltDirectoryCopy(TypedDict):
    id: str
    completed_at: str


class RebuiltDirectoryDecide(TypedDict):
    why: Literal["newer_record", "page_missing", "page_damaged", "person_taken", "person_unreadable"]
    """
    `newer_record`: the directory has another version, which stays. `page_missing`, `page_damaged`: a
    file of the copy cannot be used. `person_taken`: another person has a sign-in method of this one.
    `person_unreadable`: the encryption key of the copy is missing.
    """
    subject: str
    """A record, a file, or an identity."""


class _RebuiltDirectory(TypedDict):
    copy: RebuiltDirectoryCopy | None
    """The copy that is restored; null: the archive has no copy, so only people are restored."""
    table: str
    """The table that the numbers are about."""
    restored: int
    known: int
    """Rows that the directory had."""
    decide: list[RebuiltDirectoryDecide]


class RebuiltDirectory(_RebuiltDirectory, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class ComparedPageDifferences(TypedDict):
    identity_id: str | None
    """Null: the whole service."""
    where: Literal["account", "archive", "read_model", "payments"]
    """The copy that differs, or the account's own sums."""
    what: Literal["balance", "held", "purchases", "entry", "segment_missing", "segment_changed", "purchase", "daily_totals", "daily_totals_bought", "liability"]
    expected: int | None
    """What the account's rows give: credits, or the number of an entry."""
    found: int | None


class _ComparedPage(TypedDict):
    checked: int
    """Accounts that were compared."""
    differences: list[ComparedPageDifferences]
    failed: list[str]
    """Identities whose accounts or copies did not respond."""


class ComparedPage(_ComparedPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class RecoveryPlanNow(TypedDict):
    line: int
    """The number of the entry."""
    at: str
    """The time of the entry."""
    credits: int
    held: int
    started_jobs: int


class RecoveryPlanTarget(TypedDict):
    """The account at the time."""
    line: int
    """The number of the entry."""
    at: str
    """The time of the entry."""
    credits: int
    held: int
    started_jobs: int


class RecoveryPlanDecisions(TypedDict):
    what: Literal["job_gone", "job_open_again", "credits_undone", "plan_undone"]
    """
    The job was created after the time; it ended after the time, and is started again for a day; an
    operator's change of credits or plan is undone.
    """
    line: int
    """The number of the undone entry."""
    job_id: str | None
    amount: int
    """What it changed of the balance."""
    note: str | None


class RecoveryPlan(TypedDict):
    now: RecoveryPlanNow
    target: RecoveryPlanTarget
    """The account at the time."""
    undone_entries: int
    kept_credits: int
    """The credits of purchases, refunds and debts after the time. They stay."""
    decisions: list[RecoveryPlanDecisions]
    """What a person must decide, at most 500."""
    decisions_total: int


class RecoveredAccountNow(TypedDict):
    line: int
    """The number of the entry."""
    at: str
    """The time of the entry."""
    credits: int
    held: int
    started_jobs: int


class RecoveredAccountTarget(TypedDict):
    """The account at the time."""
    line: int
    """The number of the entry."""
    at: str
    """The time of the entry."""
    credits: int
    held: int
    started_jobs: int


class RecoveredAccountDecisions(TypedDict):
    what: Literal["job_gone", "job_open_again", "credits_undone", "plan_undone"]
    """
    The job was created after the time; it ended after the time, and is started again for a day; an
    operator's change of credits or plan is undone.
    """
    line: int
    """The number of the undone entry."""
    job_id: str | None
    amount: int
    """What it changed of the balance."""
    note: str | None


class RecoveredAccountLost(TypedDict):
    line: int
    """The number of the undone entry."""
    job_id: str | None
    amount: int
    """What it changed of the balance."""


class RecoveredAccount(TypedDict):
    now: RecoveredAccountNow
    target: RecoveredAccountTarget
    """The account at the time."""
    undone_entries: int
    kept_credits: int
    """The credits of purchases, refunds and debts after the time. They stay."""
    decisions: list[RecoveredAccountDecisions]
    """What a person must decide, at most 500."""
    decisions_total: int
    lost: list[RecoveredAccountLost]
    """Entries of requests that arrived while the account restarted. They are undone."""


class LostAccountHead(TypedDict):
    line: int
    """The number of its last entry."""
    sha256: str
    """The SHA-256 of its stored bytes, in hexadecimal."""


class LostAccountReadModel(TypedDict):
    """The account as the read model knows it. The archive may have less."""
    line: int
    """The number of the entry."""
    credits: int
    held: int
    at: str
    """The time of the entry."""


class LostAccount(TypedDict):
    account_id: str
    head: LostAccountHead
    read_model: LostAccountReadModel
    """The account as the read model knows it. The archive may have less."""
    refusal: str | None
    """Why it cannot be restored; null: it can."""


class RestoredAccountNow(TypedDict):
    line: int
    """The number of the entry."""
    at: str
    """The time of the entry."""
    credits: int
    held: int
    started_jobs: int


class RestoredAccount(TypedDict):
    now: RestoredAccountNow
    lost_entries: int
    """Entries that the read model had, and the archive has not."""


class _RepairedPage(TypedDict):
    checked: int
    """People whose accounts were compared with the read model."""
    repaired: int
    """Accounts that sent missing rows."""
    failed: list[str]
    """Identities whose accounts could not be repaired."""


class RepairedPage(_RepairedPage, total=False):
    people: int
    """The number of people; only on the first page."""
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class ReconciledPageBooked(TypedDict):
    list: Literal["checkouts", "top_ups", "refunds", "disputes"]
    """Its kind: a checkout, a refund or a dispute."""
    id: str
    """Its id at Stripe."""
    identity_id: str
    """The account's identity."""
    payment_intent_id: str
    credits: int | None
    """The credits of the purchase; null for a refund or dispute."""


class ReconciledPageNotBooked(TypedDict):
    list: Literal["checkouts", "top_ups", "refunds", "disputes"]
    """Its kind: a checkout, a refund or a dispute."""
    id: str
    """Its id at Stripe."""
    code: str
    """Why: an error code, or the name of an error in the log."""


class _ReconciledPage(TypedDict):
    checked: int
    """Stripe's objects that were compared with the accounts, also those of other services."""
    booked: list[ReconciledPageBooked]
    """The missing objects that are booked now."""
    not_booked: list[ReconciledPageNotBooked]
    """The missing objects that could not be booked."""


class ReconciledPage(_ReconciledPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class DailyTotals(TypedDict):
    """One UTC day. Sums are in credits."""
    day: str
    """A UTC day; a day on which nothing happened is left out."""
    granted: int
    reserved: int
    settled: int
    """The real cost of jobs that ended that day, less what late completions refunded of charged time-outs."""
    refunded: int
    """Credits that jobs gave back: the reserves of failed jobs, and `job_refunded`."""
    job_refunded: int
    """Cost of ended jobs that operators gave back."""
    purchased: int
    """Credits bought, before reversals."""
    adjusted: int
    """The signed sum of adjustments."""
    expired: int
    """Credits whose time was over, below zero."""
    taken_back: int
    """
    Credits taken back because a purchase's money was returned, below zero; above zero if disputes that
    were won gave back more.
    """
    forfeited: int
    """
    Credits of deleted accounts, below zero; their debts count above zero, and below zero again if the
    holder returns.
    """
    jobs: int
    failed: int
    active_accounts: int


class Stats(TypedDict):
    series: list[DailyTotals]
    as_of: str
    """The time of the query to the read model, which can be some seconds behind the accounts."""


class MoneyOutstanding(TypedDict):
    """Now, whatever the period."""
    credits: int
    """The sum of all balances. A balance below zero lowers it."""
    held: int
    """Credits that started jobs hold, not included in `credits`."""
    accounts: int
    """Accounts whose balance or held credits are not 0."""


class MoneyByApp(TypedDict):
    app: str
    granted: int
    """Starter credits."""
    settled: int
    """The cost of jobs."""
    refunded: int
    """Credits that jobs gave back: the reserves of failed jobs, and `job_refunded`."""
    job_refunded: int
    """Cost of ended jobs that operators gave back."""


class MoneyRevenue(TypedDict):
    package: str | None
    """Null: operators gave the credits, with `paid_minor`."""
    currency: str
    purchases: int
    amount_minor: int
    """Money paid in the period, in the currency's smallest unit, such as cents."""
    refunded_minor: int
    """
    Money returned in the period by refunds and disputes, in the currency's smallest unit, such as
    cents. Negative if more was won back in disputes.
    """


class Money(TypedDict):
    outstanding: MoneyOutstanding
    """Now, whatever the period."""
    by_app: list[MoneyByApp]
    revenue: list[MoneyRevenue]
    as_of: str
    """The time of the query to the read model, which can be some seconds behind the accounts."""


class CreditsByPart(TypedDict):
    """Credits that were bought, and those that were given."""
    bought: int
    given: int


class MonthMoneyLiability(TypedDict):
    currency: str | None
    """Null: what was paid for these credits is unknown."""
    credits: int
    """With those that started jobs hold."""
    amount_minor: int | None
    """
    What was paid for these credits, in the currency's smallest unit, such as cents. Null without a
    currency.
    """


class MonthMoney(TypedDict):
    """Each change has the sign by which it changes `closing`."""
    month: str
    """A UTC month, such as 2026-10."""
    opening: CreditsByPart
    """All balances and held credits before the month: what the service owed."""
    granted: CreditsByPart
    """Starter credits, and those of plans."""
    purchased: CreditsByPart
    """Credits bought."""
    adjusted: CreditsByPart
    """Operators' adjustments, up and down."""
    spent: CreditsByPart
    """
    The cost of jobs, below zero. Bought credits that pay what an account owed count as bought ones
    spent, and as many given ones not spent.
    """
    job_refunded: CreditsByPart
    """Cost of ended jobs that operators gave back."""
    expired: CreditsByPart
    """Credits whose time was over, below zero."""
    taken_back: CreditsByPart
    """Credits that refunds and disputes of purchases took, below zero, less what won disputes gave back."""
    forfeited: CreditsByPart
    """
    Credits of deleted accounts, below zero; their debts count above zero, and below zero again if the
    holder returns.
    """
    closing: CreditsByPart
    """After the month, or so far. Each part is that of `opening` with all changes added, exactly."""
    liability: list[MonthMoneyLiability]
    """
    The bought credits of `closing`, by the currency of their payments. All `credits` add up to
    `closing.bought`.
    """
    as_of: str
    """The time of the query to the read model, which can be some seconds behind the accounts."""


class HealthFigure(TypedDict):
    name: Literal["fast_burn", "slow_burn", "limited_requests", "failed_requests", "read_model_lag", "failed_deliveries", "archive_failing", "people_waiting", "directory_copy_age", "database_size", "half_full_accounts", "filling_accounts", "differences", "comparison_age", "overdue_jobs", "schedule_age", "failing_tasks", "failed_payment_events", "payments_not_booked", "failed_top_ups", "dropped_payment_events", "paused_webhooks", "failing_webhooks", "used_up_budgets", "spent_today"]
    """docs/alerts.md has a paragraph for each."""
    status: Literal["ok", "warning"]
    value: float | None
    """Null if it is unknown, which is a warning, unless its `reason` is `metrics_not_set`."""
    limit: float | None
    """A higher value is a warning; null: no limit."""
    unit: str
    newest_at: str | None
    """The newest failure or run that it counts."""
    reason: str | None
    """Why the value is unknown, or the reason of the newest failure."""


class ScheduledTask(TypedDict):
    """One task of the schedule, after its last run."""
    task: str
    ended_at: str
    """RFC 3339, in UTC with milliseconds."""
    failing_since: str | None
    """Null: the last run succeeded."""
    reason: str | None


class UsedBudget(TypedDict):
    """The daily starter budget of one app."""
    app: str
    used: int
    """Starter credits granted today (UTC), by the read model."""
    limit: int
    used_up: bool
    """Whether too few credits are left for another grant today."""


class Health(TypedDict):
    status: Literal["ok", "warning"]
    """`warning` if any figure is one."""
    figures: list[HealthFigure]
    tasks: list[ScheduledTask] | None
    """Null: unknown."""
    budgets: list[UsedBudget] | None
    """Null: unknown."""
    as_of: str
    """RFC 3339, in UTC with milliseconds."""


class Operator(TypedDict):
    entry: str
    """The entry of `OPERATORS`, without its role."""
    role: Literal["viewer", "support", "admin"]
    problem: str | None
    """Why the entry names nobody, and what to write; null: it can."""


class OperatorList(TypedDict):
    operators: list[Operator]


class RequestSums(TypedDict):
    requests: int
    failed: int
    """Responses with a status of 500 or more."""
    limited: int
    """Responses with the status 429."""


class RequestsRoutes(TypedDict):
    requests: int
    failed: int
    """Responses with a status of 500 or more."""
    limited: int
    """Responses with the status 429."""
    method: str
    route: str | None
    """Null: no route matched."""
    p50_ms: float
    """The median of the durations."""
    p95_ms: float
    """95 of 100 requests took no longer."""


class Request(TypedDict):
    at: str
    """RFC 3339, in UTC with milliseconds."""
    request_id: str
    method: str
    route: str | None
    status: int
    code: str | None
    """The code of the refusal."""
    app: str | None
    caller: str | None
    """The kind of caller."""
    account: str | None
    """Stands for the account in logs and metrics."""
    release: str | None
    colo: str | None
    """Cloudflare's location."""
    duration_ms: float
    """Time spent waiting, without computing."""
    account_calls: int
    """Calls of accounts' objects."""


class Requests(TypedDict):
    source: Literal["metrics", "memory"]
    """`memory`: a local service, which remembers its last 1,000 requests."""
    hour: RequestSums
    day: RequestSums
    routes: list[RequestsRoutes]
    requests: list[Request]


class AuditEntry(TypedDict):
    """One line of the audit log."""
    id: str
    at: str
    """RFC 3339, in UTC with milliseconds."""
    actor: str
    """The operator's identity, or `app_key:` and the id of the app's key that acted."""
    act: str
    subject: str
    """The subject of the change: an identity or an app's slug."""
    reason: str | None
    request_id: str
    changed: dict[str, Any] | None
    """The changed fields, before and after; null: none, or it is unknown."""
    details: dict[str, Any]
    """`outcome`: `done`, `refused`, `replayed`, or `unknown` if the end was not seen."""


class _AuditPage(TypedDict):
    entries: list[AuditEntry]


class AuditPage(_AuditPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class RegisteredAppSuggestedCap(TypedDict):
    credits: int
    period: CapPeriod


class RegisteredApp(TypedDict):
    slug: str
    """An app's slug."""
    name: str
    starter_credits: int
    origins: list[str]
    daily_starter_budget: int | None
    """The most that its grants of one UTC day may add up to; null: no limit."""
    settle: Literal["holder", "app"]
    """The caller that completes and fails its jobs."""
    on_expiry: Literal["refund", "charge"]
    """Whether the reserve of an expired job is refunded or charged."""
    max_overage_percent: int | None
    """How far a job's cost may exceed its estimate, in percent; null: no limit."""
    upstream_providers: list[str]
    """Sign-in providers whose upstream tokens the app's origins may receive."""
    icon: str | None
    """The address that the icon was copied from; null: no icon. Pages show the copy."""
    color: str | None
    """The app's colour, such as #12507b; null: none."""
    suggested_cap: RegisteredAppSuggestedCap | None
    """The cap that the page suggests when a person approves a device for the app."""
    starter_excluded_domains: list[str]
    """E-mail domains whose people get no starter credits of this app."""
    paused: AppPause | None
    """An operator's pause of the app; null: it is not paused."""
    starter_expires_after_days: int | None
    """After how many days its starter credits expire; null: never."""
    starter_only_here: bool
    """Whether only this app can use its starter credits."""
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    granted_today: int | None
    """
    Starter credits granted since midnight UTC, some seconds late; null: unknown, because the read model
    does not respond.
    """


class _AppPage(TypedDict):
    apps: list[RegisteredApp]


class AppPage(_AppPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class SaveAppSuggestedCap(TypedDict):
    credits: int
    period: CapPeriod


class AppRecordSuggestedCap(TypedDict):
    credits: int
    period: CapPeriod


class AppRecord(TypedDict):
    slug: str
    """An app's slug."""
    name: str
    starter_credits: int
    origins: list[str]
    daily_starter_budget: int | None
    """The most that its grants of one UTC day may add up to; null: no limit."""
    settle: Literal["holder", "app"]
    """The caller that completes and fails its jobs."""
    on_expiry: Literal["refund", "charge"]
    """Whether the reserve of an expired job is refunded or charged."""
    max_overage_percent: int | None
    """How far a job's cost may exceed its estimate, in percent; null: no limit."""
    upstream_providers: list[str]
    """Sign-in providers whose upstream tokens the app's origins may receive."""
    icon: str | None
    """The address that the icon was copied from; null: no icon. Pages show the copy."""
    color: str | None
    """The app's colour, such as #12507b; null: none."""
    suggested_cap: AppRecordSuggestedCap | None
    """The cap that the page suggests when a person approves a device for the app."""
    starter_excluded_domains: list[str]
    """E-mail domains whose people get no starter credits of this app."""
    paused: AppPause | None
    """An operator's pause of the app; null: it is not paused."""
    starter_expires_after_days: int | None
    """After how many days its starter credits expire; null: never."""
    starter_only_here: bool
    """Whether only this app can use its starter credits."""
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""


class SavedApp(TypedDict):
    app: AppRecord


class ChangeAppSuggestedCap(TypedDict):
    credits: int
    period: CapPeriod


class ListedAppKey(TypedDict):
    id: str
    """A UUID."""
    label: str
    last_four: str
    """The last four characters of the key."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """The start of the UTC day of its last use; null: it was never used."""


class _AppKeyPage(TypedDict):
    keys: list[ListedAppKey]


class AppKeyPage(_AppKeyPage, total=False):
    next_cursor: str
    """Send this as `cursor` to get the next page. Missing on the last page."""


class NewAppKey(TypedDict):
    id: str
    """A UUID."""
    label: str
    last_four: str
    """The last four characters of the key."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    key: str | None
    """The secret, shown only once; null in the response to a repeated request."""


class RevokeAppKeyResponse(TypedDict):
    ok: Literal[True]


class OAuthClient(TypedDict):
    id: str
    client_id: str
    """The value that the client sends as `client_id`."""
    name: str
    """The name that people see on the consent page."""
    redirect_uris: list[str]
    post_logout_redirect_uris: list[str]
    """Where a browser may go after the client signed a person out."""
    public: bool
    """Without a secret."""
    pkce_optional: bool
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    last_used_at: str | None
    """The start of the UTC day on which it last got tokens; null: never."""


class OAuthClientList(TypedDict):
    """All OAuth clients of the app, by id."""
    clients: list[OAuthClient]


class OneOAuthClient(TypedDict):
    client: OAuthClient


class _SavedOAuthClient(TypedDict):
    client: OAuthClient
    client_id: str


class SavedOAuthClient(_SavedOAuthClient, total=False):
    client_secret: str
    """Only in the response that made the client confidential."""


class DeleteOAuthClientResponse(TypedDict):
    ok: Literal[True]


class ReplacedClientSecret(TypedDict):
    client_secret: str | None
    """The new secret. Null in the response to a retry, because it is shown only once."""
    client: OAuthClient


class Resource(TypedDict):
    id: str
    uri: str
    """The value that clients send as `resource`, and the `aud` of its tokens."""
    scopes: list[str]
    """The scopes that clients may request for it."""
    charges: bool
    """Whether people who connect a client to it let the app charge them for it."""
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""


class ResourceList(TypedDict):
    """All protected resources of the app, by id."""
    resources: list[Resource]


class OneResource(TypedDict):
    resource: Resource


class DeleteResourceResponse(TypedDict):
    ok: Literal[True]


class PlanRule(TypedDict):
    credits: int
    """The credits of each period. They expire when the next ones come."""
    every: Literal["day", "week", "month"]
    rollover_max: int
    """The most that is left of a period's credits for one more period."""
    app_slugs: list[str] | None
    """The only apps that can use the credits; null: all apps."""


class ListedPlan(TypedDict):
    id: str
    """The plan's id, a slug."""
    name: str
    recurring: list[PlanRule]
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""
    accounts: int
    """How many accounts have the plan, some seconds late. At most 4,000 are counted."""
    behind: int
    """How many accounts do not have its newest rules yet. At most 4,000 are counted."""


class PlanList(TypedDict):
    plans: list[ListedPlan]


class OneListedPlan(TypedDict):
    plan: ListedPlan


class _SavePlanRecurring(TypedDict):
    credits: int
    every: Literal["day", "week", "month"]


class SavePlanRecurring(_SavePlanRecurring, total=False):
    rollover_max: int
    app_slugs: list[str] | None


class Plan(TypedDict):
    id: str
    """The plan's id, a slug."""
    name: str
    recurring: list[PlanRule]
    version: int
    """Increases with each save, from 1. Send it with the next save."""
    created_at: str
    """RFC 3339, in UTC with milliseconds."""


class OnePlan(TypedDict):
    plan: Plan


class DeletePlanResponse(TypedDict):
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


class _JobWebhookEvent(TypedDict):
    type: Literal["job.created", "job.completed", "job.failed", "job.expired"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: JobWebhookEventData


class JobWebhookEvent(_JobWebhookEvent, total=False):
    """One of the app's own jobs."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ProgressedJobWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    job_id: str
    step: int
    """Grows with each step of the job."""
    spent: int | None
    """Credits spent so far; null: never reported."""
    done: float | None
    """The part that is done; null: unknown."""
    message: str | None


class _ProgressedJobWebhookEvent(TypedDict):
    type: Literal["job.progressed"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ProgressedJobWebhookEventData


class ProgressedJobWebhookEvent(_ProgressedJobWebhookEvent, total=False):
    """
    A step of one of the app's own jobs, as it was then. Of steps that wait, only the newest of each job
    is sent.
    """
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ChangedCreditsWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    bought: int
    """The bought part of `credits`."""


class _ChangedCreditsWebhookEvent(TypedDict):
    type: Literal["credits.changed"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ChangedCreditsWebhookEventData


class ChangedCreditsWebhookEvent(_ChangedCreditsWebhookEvent, total=False):
    """
    The newest balance of an account that is open for the app, at most once a second. Changes in between
    have no event.
    """
    test: Literal[True]
    """Only in a test: the event is a sample."""


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


class _CreditsWebhookEvent(TypedDict):
    type: Literal["credits.granted", "credits.refused", "purchase.completed", "purchase.refunded", "account.deleted"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: CreditsWebhookEventData


class CreditsWebhookEvent(_CreditsWebhookEvent, total=False):
    """An account that is open for the app. `credits.refused`: a request got 402."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class LowCreditsWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    spendable: int
    """The credits that the app can use, which the thresholds count."""
    threshold: int
    """The lowest threshold that they fell to or below."""


class _LowCreditsWebhookEvent(TypedDict):
    type: Literal["credits.low"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: LowCreditsWebhookEventData


class LowCreditsWebhookEvent(_LowCreditsWebhookEvent, total=False):
    """The credits that the app can use crossed a threshold."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ExpiringCreditsWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    lot_id: str
    expiring: int
    """What is left of the lot, without held credits."""
    expires_at: str
    """RFC 3339, in UTC with milliseconds."""


class _ExpiringCreditsWebhookEvent(TypedDict):
    type: Literal["credits.expiring"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ExpiringCreditsWebhookEventData


class ExpiringCreditsWebhookEvent(_ExpiringCreditsWebhookEvent, total=False):
    """Sent a week and a day before credits expire that the app can use."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ExpiredCreditsWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    lot_id: str
    expired: int
    """The credits that expired."""


class _ExpiredCreditsWebhookEvent(TypedDict):
    type: Literal["credits.expired"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ExpiredCreditsWebhookEventData


class ExpiredCreditsWebhookEvent(_ExpiredCreditsWebhookEvent, total=False):
    """Credits that the app could use have expired."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class FailedTopUpWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    reason: Literal["declined", "authentication_required", "refused"]
    attempt: int
    """The failed charges in a row, with this one."""


class _FailedTopUpWebhookEvent(TypedDict):
    type: Literal["topup.failed"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: FailedTopUpWebhookEventData


class FailedTopUpWebhookEvent(_FailedTopUpWebhookEvent, total=False):
    """A charge of automatic top-up failed. After three in a row it is switched off."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class DisabledTopUpWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    line: int
    """The number of the ledger entry, or of the newest one when it happened."""
    credits: int
    """The balance after that entry."""
    held: int
    """Credits that started jobs hold after that entry."""
    reason: Literal["holder", "declined", "authentication_required", "refused", "package_changed", "suspended"]


class _DisabledTopUpWebhookEvent(TypedDict):
    type: Literal["topup.disabled"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: DisabledTopUpWebhookEventData


class DisabledTopUpWebhookEvent(_DisabledTopUpWebhookEvent, total=False):
    """Automatic top-up was switched off: by the `holder`, or for another reason."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ApprovalWebhookEventDataToken(TypedDict):
    """The token that requested it; without `client_id` it is a personal access token."""
    id: str
    """A UUID."""
    client_id: str | None


class ApprovalWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    approval: str
    """The request that the 402 response named."""
    app: str
    """An app's slug."""
    action: str
    credits: int
    """The most that the job may reserve."""
    token: ApprovalWebhookEventDataToken
    """The token that requested it; without `client_id` it is a personal access token."""


class _ApprovalWebhookEvent(TypedDict):
    type: Literal["approval.approved", "approval.denied"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ApprovalWebhookEventData


class ApprovalWebhookEvent(_ApprovalWebhookEvent, total=False):
    """The holder decided about a job beyond a cap, which one of the app's clients requested."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ConnectionRevokedWebhookEventDataConnection(TypedDict):
    """The connection, as in `GET /api/access`, and its OAuth client."""
    id: str
    """A UUID."""
    client_id: str


class ConnectionRevokedWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    connection: ConnectionRevokedWebhookEventDataConnection
    """The connection, as in `GET /api/access`, and its OAuth client."""
    by: Literal["holder", "client", "operator", "service"]
    """
    `client`: the OAuth client itself, or the one whose token it was exchanged from. `service`: what it
    depended on has ended, such as a session.
    """


class _ConnectionRevokedWebhookEvent(TypedDict):
    type: Literal["connection.revoked"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ConnectionRevokedWebhookEventData


class ConnectionRevokedWebhookEvent(_ConnectionRevokedWebhookEvent, total=False):
    """A connection of one of the app's clients was revoked."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class ConnectionLimitWebhookEventDataConnection(TypedDict):
    """The connection, as in `GET /api/access`, and its OAuth client."""
    id: str
    """A UUID."""
    client_id: str


class ConnectionLimitWebhookEventDataCap(TypedDict):
    credits: int
    period: CapPeriod


class ConnectionLimitWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    connection: ConnectionLimitWebhookEventDataConnection
    """The connection, as in `GET /api/access`, and its OAuth client."""
    cap: ConnectionLimitWebhookEventDataCap
    resets_at: str | None
    """The start of the cap's next period; null: `total` has none."""


class _ConnectionLimitWebhookEvent(TypedDict):
    type: Literal["connection.limit_reached"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: ConnectionLimitWebhookEventData


class ConnectionLimitWebhookEvent(_ConnectionLimitWebhookEvent, total=False):
    """
    A cap of a connection of one of the app's clients refused a request, for the first time in its
    period.
    """
    test: Literal[True]
    """Only in a test: the event is a sample."""


class AppAccessWebhookEventData(TypedDict):
    identity_id: str
    """The account's holder."""
    app: str
    """An app's slug."""


class _AppAccessWebhookEvent(TypedDict):
    type: Literal["access.stopped", "access.allowed"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: AppAccessWebhookEventData


class AppAccessWebhookEvent(_AppAccessWebhookEvent, total=False):
    """The holder stopped the app, or allowed it again."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class AppWebhookEventData(TypedDict):
    app: str
    """The app's slug."""
    paused: AppPause | None
    """An operator's pause of the app; null: it is not paused."""


class _AppWebhookEvent(TypedDict):
    type: Literal["app.paused", "app.continued"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: AppWebhookEventData


class AppWebhookEvent(_AppWebhookEvent, total=False):
    """An operator paused the app or changed the message of its pause, or let it continue."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


class PingWebhookEventData(TypedDict):
    pass


class _PingWebhookEvent(TypedDict):
    type: Literal["ping"]
    timestamp: str
    """When it happened. The same in every attempt."""
    data: PingWebhookEventData


class PingWebhookEvent(_PingWebhookEvent, total=False):
    """Sent by a test."""
    test: Literal[True]
    """Only in a test: the event is a sample."""


#: The body of a request to a webhook, a Standard Webhook. Its headers are `webhook-id` (the same in every attempt), `webhook-timestamp` and `webhook-signature`.
WebhookEvent = JobWebhookEvent | ProgressedJobWebhookEvent | ChangedCreditsWebhookEvent | CreditsWebhookEvent | LowCreditsWebhookEvent | ExpiringCreditsWebhookEvent | ExpiredCreditsWebhookEvent | FailedTopUpWebhookEvent | DisabledTopUpWebhookEvent | ApprovalWebhookEvent | ConnectionRevokedWebhookEvent | ConnectionLimitWebhookEvent | AppAccessWebhookEvent | AppWebhookEvent | PingWebhookEvent


class EntryEvent(TypedDict):
    """A new ledger entry, with the balance after it."""
    line: int
    """The number of the ledger entry."""
    kind: EntryKind
    amount: int
    """The signed change of the balance."""
    credits: int
    """The balance after this entry."""
    held: int
    """The credits that started jobs hold after this entry."""
    job: Job | None
    """The job as it is now; null for an entry without a job."""
    app: str | None
    """An app's slug."""
    lot_id: str | None
    """The lot that the entry concerns; null: none, or several."""
    terms: Terms | None
    """Of an entry that brought credits: the terms that they have now; null for others."""
    at: str
    """RFC 3339, in UTC with milliseconds."""


class SnapshotEvent(TypedDict):
    """The state of the account when the stream begins."""
    line: int
    """The number of the newest ledger entry."""
    kind: Literal["snapshot"]
    credits: int
    """The balance."""
    held: int
    """The credits that started jobs hold."""


class JobProgressedEvent(TypedDict):
    """A report of progress that changed no credits and no expiry. It has no entry, and is not replayed."""
    id: str
    """A UUID."""
    at: str
    """RFC 3339, in UTC with milliseconds."""
    kind: Literal["job.progressed"]
    job: Job


class ApprovalEventToken(TypedDict):
    """The token that requested it; without `client_id` it is a personal access token."""
    id: str
    """A UUID."""
    client_id: str | None


class ApprovalEvent(TypedDict):
    """The holder decided about a job beyond a cap."""
    id: str
    """The same as in the event for webhooks."""
    at: str
    """RFC 3339, in UTC with milliseconds."""
    kind: Literal["approval.approved", "approval.denied"]
    approval: str
    """The request that the 402 response named."""
    app: str
    """An app's slug."""
    action: str
    credits: int
    """The most that the job may reserve."""
    token: ApprovalEventToken
    """The token that requested it; without `client_id` it is a personal access token."""


class ConnectionRevokedEventConnection(TypedDict):
    """The connection, as in `GET /api/access`, and its OAuth client."""
    id: str
    """A UUID."""
    client_id: str


class ConnectionRevokedEvent(TypedDict):
    """A connection was revoked."""
    id: str
    """The same as in the event for webhooks."""
    at: str
    """RFC 3339, in UTC with milliseconds."""
    kind: Literal["connection.revoked"]
    connection: ConnectionRevokedEventConnection
    """The connection, as in `GET /api/access`, and its OAuth client."""
    by: Literal["holder", "client", "operator", "service"]
    """
    `client`: the OAuth client itself, or the one whose token it was exchanged from. `service`: what it
    depended on has ended, such as a session.
    """


class ConnectionLimitEventConnection(TypedDict):
    """The connection, as in `GET /api/access`, and its OAuth client."""
    id: str
    """A UUID."""
    client_id: str


class ConnectionLimitEventCap(TypedDict):
    credits: int
    period: CapPeriod


class ConnectionLimitEvent(TypedDict):
    """A cap of a connection refused a request, for the first time in its period."""
    id: str
    """The same as in the event for webhooks."""
    at: str
    """RFC 3339, in UTC with milliseconds."""
    kind: Literal["connection.limit_reached"]
    connection: ConnectionLimitEventConnection
    """The connection, as in `GET /api/access`, and its OAuth client."""
    cap: ConnectionLimitEventCap
    resets_at: str | None
    """The start of the cap's next period; null: `total` has none."""


class AppAccessEvent(TypedDict):
    """The holder stopped an app, or allowed it again."""
    id: str
    """The same as in the event for webhooks."""
    at: str
    """RFC 3339, in UTC with milliseconds."""
    kind: Literal["access.stopped", "access.allowed"]
    app: str
    """An app's slug."""


#: The access to the account has changed. The event has no entry, and is not replayed.
AccessEvent = ApprovalEvent | ConnectionRevokedEvent | ConnectionLimitEvent | AppAccessEvent


#: The JSON of one message of the event stream.
AccountEvent = EntryEvent | SnapshotEvent | JobProgressedEvent | AccessEvent


class DeviceAuthorization(TypedDict):
    """RFC 8628, section 3.2."""
    device_code: str
    """The secret of the program. Do not display it."""
    user_code: str
    """The code that the person compares or types."""
    verification_uri: str
    verification_uri_complete: str
    """Includes the user code, for a link or a QR code."""
    expires_in: int
    """Seconds."""
    interval: int
    """Seconds between two polls."""
