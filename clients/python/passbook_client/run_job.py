"""
Runs work as a job. While the process lives, every job that it reserved is settled or refunded, even if responses are
lost. If the process dies, a run under the caller's own key resumes the job, or else the job expires.
"""
from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import threading
import time
import uuid
from decimal import Decimal
from typing import Any, Callable, Iterator, Literal, Mapping

from . import types
from .calls import Calls
from .cost import is_cost, nearest_cost
from .errors import PassbookError
from .job_progress import STEPS_OF_A_RUN, HeldJob, JobProgress, expiry_of
from .transport import Options

#: How long a request without a response is repeated: an hour less than the service keeps idempotency keys.
_PERSISTENCE_SECONDS = 23 * 60 * 60

_DEFAULT_TTL_SECONDS = 24 * 60 * 60

#: The pauses between two requests for the holder's decision.
_APPROVAL_WAIT_MIN_SECONDS = 2.0
_APPROVAL_WAIT_MAX_SECONDS = 10.0

#: How long an automatic top-up is waited for in all, and the pause between two looks at the balance.
_TOP_UP_WAIT_SECONDS = 60.0
_TOP_UP_PAUSE_SECONDS = 2.0

#: Longest `reason` of a failed job, in UTF-16 code units.
_REASON_MAX_LENGTH = 500

#: Codes with which the service may refuse the metadata.
_METADATA_REFUSALS = frozenset(["metadata_too_large", "body_too_large", "invalid_request"])

#: Codes with which the service may refuse the cost.
_COST_REFUSALS = frozenset(["token_budget_exceeded", "overage_limit", "balance_limit"])

#: Refusals of a step for lack of room. The run may go on without it.
_NO_ROOM = frozenset(["limit_reached", "account_full", "token_storage_full"])

#: Runs that resume one job at the same time take it over from each other. The last of them has it.
_TAKE_OVERS_MAX = 10

#: How an error's message says how a job failed.
_FAILURES = {"reported": "failed", "expired": "expired", "cancelled": "been cancelled"}

#: The reason that people read instead of an error's text.
_GENERAL_REASON = "The app could not finish this job."


@dataclasses.dataclass
class RunningJob:
    """The job that `run_job` has reserved for your work."""

    id: str
    #: The balance after reserving, then the balance after settling. None after an app's key ended the job in an account
    #: that is not open for the app.
    credits: int | None
    #: Set this to the real cost in credits before the block ends. A fraction is rounded up.
    actual_cost: int | float | Decimal | None = None
    #: Set this to metadata that the settled job should get; new keys replace old ones.
    metadata: Mapping[str, Any] | None = None
    #: The settled job, after the block.
    settled: types.Job | None = None
    #: Credits of `actual_cost` that were not charged, because a token's cap or the app's settings do not allow them.
    unsettled: int = 0
    #: Credits that the job holds, as far as this run knows.
    reserved: int = 0
    _progress: JobProgress | None = dataclasses.field(default=None, repr=False)

    def progress(
        self,
        *,
        spent: int | float | Decimal | None = None,
        reserve: int | float | Decimal | None = None,
        ttl_seconds: int | None = None,
        done: float | None = None,
        message: str | None = None,
    ) -> types.ProgressedJob | None:
        """
        Reports how far the work is (`done` from 0 to 1, and a `message` for people) and what it has spent so far, raises or
        lowers the reserve, and moves the expiry. If no response comes,
        it returns None, and the report is repeated in the background until the job expires. It raises
        `insufficient_credits`, `token_budget_exceeded`, `overage_limit` and `spent_limit`, which you may catch if the work
        can go on; and `job_ended` and `step_too_old` (another process has resumed the job): stop. The block then raises
        too, and neither completes nor fails the job. Credits are rounded up.
        """
        if self._progress is None:
            raise PassbookError("invalid_argument", "Only the job of run_job can report progress.")
        progressed = self._progress.report(spent, reserve, ttl_seconds, done, message)
        if progressed is not None:
            self.reserved, self.credits = progressed["job"]["reserved"], progressed["credits"]
        return progressed


class Runner:
    """What `run_job` needs from the client."""

    def __init__(
        self,
        calls_with: Callable[[Options], Calls],
        kept_fresh: Callable[[], Any],
        wait: Callable[[float], None],
        is_app: bool,
    ) -> None:
        self._wait = wait
        #: Whether the caller is an app's server, whose errors are not for the account's holder.
        self._is_app = is_app
        self._calls_with = calls_with
        self._kept_fresh = kept_fresh
        self._running: set[threading.Thread] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def run(
        self,
        request: Mapping[str, Any],
        key: str | None,
        report_reason: bool | None,
        on_failure: Literal["refund", "charge_spent"],
        on_warning: Callable[[str], None],
        on_approval_needed: Callable[[str], None] | None,
        wait_for_top_up: bool,
    ) -> Iterator[RunningJob]:
        def warn(message: str) -> None:
            # The caller's function must not undo finished work.
            with contextlib.suppress(Exception):
                on_warning(message)

        _check_estimate(request["cost_estimate"])
        keys = _Keys.of(key)
        job, progress = self._reserve(request, keys, warn, on_approval_needed, wait_for_top_up)
        try:
            with self._kept_fresh():
                yield job
            progress.finish()
            if progress.lost is not None:
                raise progress.lost
        except BaseException as error:
            progress.stop()
            if progress.lost is None:
                cost = progress.spent if on_failure == "charge_spent" else 0
                self._fail(job.id, progress.step, cost, keys, self._reason_for(error, report_reason))
            raise
        self._settle(job, progress, keys, warn)

    def _reason_for(self, error: BaseException, report_reason: bool | None) -> str | None:
        """What the account's holder reads."""
        if report_reason is False:
            return None
        is_shown = report_reason or not self._is_app
        return _reason_of(error) if is_shown else _GENERAL_REASON

    def when_idle(self) -> None:
        """Returns when no background request is left."""
        while True:
            with self._lock:
                threads = list(self._running)
            if not threads:
                return
            for thread in threads:
                thread.join()

    def _create(
        self,
        calls: Calls,
        request: Mapping[str, Any],
        keys: _Keys,
        on_approval_needed: Callable[[str], None] | None,
    ) -> types.CreatedJob:
        """
        Creates a job. If a cap does not allow it, repeats the request with its approval until the account's holder has
        decided, which the service bounds to 15 minutes.
        """
        approval: str | None = None
        seconds = _APPROVAL_WAIT_MIN_SECONDS
        while True:
            try:
                return calls.create_job(**request, approval=approval, idempotency_key=keys.create)
            except PassbookError as error:
                offered, url = error.body.get("approval"), error.body.get("approval_url")
                if on_approval_needed is None or error.code != "token_budget_exceeded" or not offered:
                    raise
                if approval is None:
                    on_approval_needed(str(url))
                approval = str(offered)
            self._wait(seconds)
            seconds = min(_APPROVAL_WAIT_MAX_SECONDS, seconds * 1.5)

    def _with_top_up(self, calls: Calls, create: Callable[[], types.CreatedJob]) -> types.CreatedJob:
        """Creates a job. While it is refused for credits that an automatic top-up is about to bring, waits for them."""
        left = _TOP_UP_WAIT_SECONDS
        while True:
            try:
                return create()
            except PassbookError as error:
                if error.code != "insufficient_credits" or error.body.get("topup") != "pending":
                    raise
                before, has_risen = error.body["credits"], False
                while not has_risen and left > 0:
                    self._wait(_TOP_UP_PAUSE_SECONDS)
                    left -= _TOP_UP_PAUSE_SECONDS
                    has_risen = calls.wallet()["account"]["credits"] > before
                if not has_risen:
                    raise

    def _reserve(
        self,
        request: Mapping[str, Any],
        keys: _Keys,
        warn: Callable[[str], None],
        on_approval_needed: Callable[[str], None] | None,
        wait_for_top_up: bool,
    ) -> tuple[RunningJob, JobProgress]:
        """
        Reserves credits, or finds the job that this key reserved before. If it is unknown whether a job was reserved, a
        background request finds out and refunds it. Under the caller's own key it does so only if the program is
        interrupted, since the caller may be about to resume the job.
        """
        unknown, replayed, step = threading.Event(), threading.Event(), 0
        calls = self._calls_with(Options(on_unknown=unknown.set, on_replayed=replayed.set))
        try:
            create = lambda: self._create(calls, request, keys, on_approval_needed)
            created = self._with_top_up(calls, create) if wait_for_top_up else create()
            job_id, expires = created["job_id"], time.monotonic() + _ttl_seconds(request)
            held = HeldJob(job_id, 0, request["cost_estimate"], 0, expires)
            if replayed.is_set() and keys.is_own:
                held = self._take_over(job_id, keys.run, warn)
            step = held.step
            progress = JobProgress(self._calls_with, held, keys.run, self._in_background, warn)
            job = RunningJob(job_id, created["credits"], reserved=held.reserved, _progress=progress)
            return job, progress
        except BaseException as error:
            is_failure = isinstance(error, PassbookError)
            resumable = keys.is_own and is_failure
            refused = isinstance(error, PassbookError) and error.is_refusal
            if unknown.is_set() and not resumable and not refused:
                self._in_background(lambda: self._refund_unknown(request, keys, step))
            raise

    def _take_over(self, job_id: str, run: str, warn: Callable[[str], None]) -> HeldJob:
        """
        Takes a step of a job that another process reserved, before the work begins, so that the service refuses that
        process's reports and its end of the job.
        """
        for attempt in range(1, _TAKE_OVERS_MAX + 1):
            job = self._read_started(job_id)
            step = (job["step"] // STEPS_OF_A_RUN + 1) * STEPS_OF_A_RUN
            try:
                job = self._calls_with(Options()).report_progress(job_id=job_id, step=step, run=run)["job"]
            except PassbookError as error:
                if error.code in _NO_ROOM:
                    warn(f"Job {job_id} is resumed without a step of its own: {error}")
                elif error.code not in ("step_too_old", "job_ended") or attempt == _TAKE_OVERS_MAX:
                    raise
                else:
                    continue
            return HeldJob(job_id, step, job["reserved"], job["spent"] or 0, expiry_of(job))
        raise AssertionError("the last attempt returns or raises")

    def _read_started(self, job_id: str) -> types.Job:
        """The work of a job that has ended must not run again."""
        job = self._calls_with(Options()).read_job(job_id)
        if job["status"] == "started":
            return job
        failure = job["failure"]
        message = f"The job of this key has {'been completed' if failure is None else _FAILURES[failure]}."
        following = "" if failure is None else " To run the work again, use another key."
        raise PassbookError("job_ended", message + following, body={"job": job})

    def _refund_unknown(self, request: Mapping[str, Any], keys: _Keys, step: int) -> None:
        """
        Repeats the creation under the same key to learn whether a job was reserved, and refunds it, unless another run
        has taken a step of it. Accepted: a run under the same key that created the job and has not reported yet loses it.
        """
        # After this time the job has expired, and the service may have forgotten the key.
        until = time.monotonic() + min(_ttl_seconds(request), _PERSISTENCE_SECONDS)
        calls = self._calls_with(Options(until=until))
        # If it was refused, no job exists. If no response came, the job expires.
        with contextlib.suppress(PassbookError):
            created = calls.create_job(**request, idempotency_key=keys.create)
            persistent = self._calls_with(_persistently())
            persistent.fail_job(job_id=created["job_id"], step=step, idempotency_key=keys.fail)

    def _fail(self, job_id: str, step: int, cost: int, keys: _Keys, reason: str | None) -> None:
        """
        Fails the job. The caller needs the error of the work more than an error of this request, and soon. So one
        attempt is awaited, and the retries run in the background.
        """
        attempted = threading.Event()
        calls = self._calls_with(_persistently(on_wait=attempted.set))

        def fail() -> None:
            most = cost
            try:
                with contextlib.suppress(PassbookError):
                    try:
                        calls.fail_job(job_id=job_id, step=step, cost=most, reason=reason, idempotency_key=keys.fail)
                    except PassbookError as error:
                        if error.code != "spent_limit":
                            raise
                        # The job holds less than the work has spent.
                        most = int(error.body["limit"])
                        calls.fail_job(job_id=job_id, step=step, cost=most, reason=reason, idempotency_key=keys.fail)
            finally:
                attempted.set()

        self._in_background(fail)
        attempted.wait()

    def _in_background(self, task: Callable[[], None]) -> None:
        def run() -> None:
            try:
                task()
            finally:
                with self._lock:
                    self._running.discard(thread)

        # Python waits for such a thread before the process ends.
        thread = threading.Thread(target=run, name="passbook-refund", daemon=False)
        with self._lock:
            self._running.add(thread)
        thread.start()

    def _settle(self, job: RunningJob, progress: JobProgress, keys: _Keys, warn: Callable[[str], None]) -> None:
        """
        Completes the job of finished work. If its cost or metadata is refused, retries with less. If the job cannot be
        settled at all, it stays started, so that it can be completed later.
        """
        job.reserved = reserved = progress.reserved
        wanted = cost = _read_cost(job.actual_cost, reserved, warn)
        metadata = _read_metadata(job.metadata, warn)
        calls = self._calls_with(_persistently())
        while True:
            try:
                done = calls.complete_job(
                    job_id=job.id,
                    actual_cost=cost,
                    step=progress.step,
                    metadata=metadata,
                    idempotency_key=keys.complete,
                )
            except PassbookError as error:
                if error.is_refusal and metadata is not None and error.code in _METADATA_REFUSALS:
                    metadata = None
                    warn(f"Job {job.id} is settled without its metadata: {error}")
                    continue
                allowed = _allowed_cost(cost, reserved, error)
                if allowed is None:
                    raise
                cost = allowed
                warn(f"Job {job.id} is settled at {cost} of {wanted} credits: {error}")
                continue
            job.settled, job.credits, job.unsettled = done["job"], done["credits"], wanted - cost
            return


@dataclasses.dataclass(frozen=True)
class _Keys:
    """The id of one run of a job, and its idempotency keys."""

    run: str
    create: str
    complete: str
    fail: str
    #: Whether the caller chose the key, so that another process can use it again.
    is_own: bool

    @staticmethod
    def of(key: str | None) -> _Keys:
        # The service accepts 255 characters, and the derived key adds a suffix.
        if key is not None and not re.fullmatch(r"[\x21-\x7e]{1,200}", key):
            message = "key must be 1 to 200 printable ASCII characters without a space."
            raise PassbookError("invalid_argument", message)
        base = key if key is not None else str(uuid.uuid4())
        run = str(uuid.uuid4())
        # Another run of the job ends it with a step of its own, so its request is another one.
        return _Keys(run, f"{base}:create", f"{run}:complete", f"{run}:fail", key is not None)


def _ttl_seconds(request: Mapping[str, Any]) -> int:
    return request.get("ttl_seconds") or _DEFAULT_TTL_SECONDS


def _persistently(on_wait: Callable[[], None] | None = None) -> Options:
    """Options of a request that is repeated as long as the service remembers its key."""
    until = time.monotonic() + _PERSISTENCE_SECONDS
    return Options(until=until) if on_wait is None else Options(until=until, on_wait=on_wait)


def _check_estimate(cost_estimate: Any) -> None:
    if not is_cost(cost_estimate):
        message = f"cost_estimate must be a whole number of credits from 0, not {cost_estimate!r}."
        raise PassbookError("invalid_argument", f"{message} Round it up: math.ceil(cost).")


def _read_cost(cost: Any, estimate: int, warn: Callable[[str], None]) -> int:
    rounded = nearest_cost(cost)
    if rounded is not None and rounded == cost:
        return rounded
    nearest = estimate if rounded is None else rounded
    why = "the job is settled at its reserve" if rounded is None else "it is rounded up"
    warn(f"actual_cost must be a whole number of credits from 0, not {cost!r}: {why}, {nearest}.")
    return nearest


def _read_metadata(
    metadata: Mapping[str, Any] | None, warn: Callable[[str], None]
) -> Mapping[str, Any] | None:
    try:
        json.dumps(metadata, allow_nan=False)
        return metadata
    except (TypeError, ValueError, RecursionError) as error:
        warn(f"The job is settled without its metadata, which cannot be written as JSON: {error}")
        return None


def _allowed_cost(cost: int, reserved: int, error: PassbookError) -> int | None:
    """The highest cost that the service may accept after it refused `cost`; None if a lower one would not help."""
    if not error.is_refusal or error.code not in _COST_REFUSALS:
        return None
    limit, room, required = (error.body.get(name) for name in ("limit", "room", "required"))
    allowed = reserved
    if is_cost(limit):
        allowed = int(limit)  # type: ignore[arg-type]
    elif is_cost(room) and is_cost(required):
        # `required` is the part of the cost that exceeds the reserve.
        allowed = max(0, cost - int(required) + int(room))  # type: ignore[arg-type]
    return allowed if allowed < cost else None


def _reason_of(error: BaseException) -> str | None:
    """
    The message of an error, shortened to what the service accepts; None if it has none. The client's own errors may name
    an internal address, so people do not read them.
    """
    if isinstance(error, PassbookError) and not error.is_refusal:
        return _GENERAL_REASON
    text = str(error).encode("utf-8", "replace").decode().replace("\0", "").strip()
    units = text.encode("utf-16-le")
    if len(units) > 2 * _REASON_MAX_LENGTH:
        text = units[: 2 * (_REASON_MAX_LENGTH - 1)].decode("utf-16-le", "ignore") + "…"
    return text or None
