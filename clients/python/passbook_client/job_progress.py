"""
The progress reports of one run of a job: one after another, each with the next step. A report without a response is
repeated in the background, so that an outage does not stop the work.
"""
from __future__ import annotations

import dataclasses
import math
import threading
import time
from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, Mapping

from . import types
from .calls import Calls
from .cost import nearest_cost
from .errors import PassbookError
from .transport import Options

#: The steps of one run of a job. A later run begins at the next multiple, so that the service refuses the steps of the
#: earlier run as too old, however many it still reports.
STEPS_OF_A_RUN = 1_000_000

#: Longest message of a report, in UTF-16 code units.
_MESSAGE_MAX_LENGTH = 200

#: Attempts that a report waits for, as other calls do.
_AWAITED_ATTEMPTS = 5

#: Refusals that say that this run has lost its job.
_LOST = frozenset(["step_too_old", "job_ended"])

#: Refusals of what a report says. The work must know them.
_TERMS_REFUSED = frozenset(["insufficient_credits", "token_budget_exceeded", "spent_limit", "overage_limit"])


class _Stopped(Exception):
    """No report is needed any more."""


@dataclasses.dataclass
class HeldJob:
    """The job at the beginning of a run."""

    id: str
    step: int
    reserved: int
    spent: int
    #: When it expires, in seconds of `time.monotonic()`.
    expires: float


@dataclasses.dataclass
class _Outcome:
    """What became of a report."""

    known: threading.Event = dataclasses.field(default_factory=threading.Event)
    done: types.ProgressedJob | None = None
    error: PassbookError | None = None


class JobProgress:
    def __init__(
        self,
        calls_with: Callable[[Options], Calls],
        job: HeldJob,
        run: str,
        in_background: Callable[[Callable[[], None]], None],
        warn: Callable[[str], None],
    ) -> None:
        self._calls_with = calls_with
        self._in_background = in_background
        self._warn = warn
        self._run = run
        self._job_id = job.id
        #: The last step of this run; 0 before the first step of a job.
        self.step = job.step
        #: Credits that the job holds, as far as this run knows.
        self.reserved = job.reserved
        #: Credits that the work has spent, by its last report.
        self.spent = job.spent
        #: The refusal that said that the job has ended or another run has it; None: this run still has the job.
        self.lost: PassbookError | None = None
        self._expires = job.expires
        self._reporting = threading.Lock()
        self._state = threading.Lock()
        self._stopped = threading.Event()
        self._is_unanswered = False
        #: What the work has reported since the service stopped responding.
        self._unsent: dict[str, Any] = {}
        #: The refusal of a report that the work did not wait for.
        self._refused: PassbookError | None = None

    def report(
        self,
        spent: int | float | Decimal | None,
        reserve: int | float | Decimal | None,
        ttl_seconds: int | None,
        done: float | None = None,
        message: str | None = None,
    ) -> types.ProgressedJob | None:
        with self._reporting:
            if self.lost is not None:
                raise self.lost
            terms = {**self._read(spent, reserve, ttl_seconds), **_shown(done, message)}
            outcome = _Outcome()
            with self._state:
                refused, self._refused = self._refused, None
                is_queued = self._is_unanswered
                if is_queued:
                    self._unsent.update(terms)
            if not is_queued:
                self._in_background(lambda: self._deliver_all(terms, outcome))
                outcome.known.wait()
            error = refused or outcome.error
            if error is not None:
                raise error
            return outcome.done

    def finish(self) -> None:
        """Waits for reports of other threads; while the service does not respond, gives up the reports."""
        with self._reporting:
            self.stop()
        if self._refused is not None:
            self._warn(f"A report of job {self._job_id}: {self._refused}")

    def stop(self) -> None:
        self._stopped.set()

    def _read(self, spent: Any, reserve: Any, ttl_seconds: int | None) -> dict[str, int]:
        """Rounds credits up, as a cost."""
        terms: dict[str, int] = {} if ttl_seconds is None else {"ttl_seconds": ttl_seconds}
        for name, value in (("spent", spent), ("reserve", reserve)):
            if value is None:
                continue
            nearest = nearest_cost(value)
            if nearest is None:
                message = f"{name} must be a whole number of credits from 0, not {value!r}"
                self._warn(f"{message}: the report leaves it out.")
            else:
                terms[name] = nearest
        self.spent = terms.get("spent", self.spent)
        return terms

    def _deliver_all(self, terms: Mapping[str, Any], outcome: _Outcome) -> None:
        try:
            self._deliver(terms, outcome)
        finally:
            outcome.known.set()

    def _deliver(self, terms: Mapping[str, Any], outcome: _Outcome) -> None:
        """Sends a report, and then what the work reported while it had no response."""
        while True:
            done, error = self._send(terms, outcome)
            with self._state:
                if outcome.known.is_set():
                    if self.lost is None and error is not None:
                        self._refused = error
                else:
                    outcome.done, outcome.error = done, error
                    outcome.known.set()
                terms, self._unsent = self._unsent, {}
                self._is_unanswered = bool(terms)
                if not terms or self.lost is not None or self._stopped.is_set():
                    return

    def _send(
        self, terms: Mapping[str, Any], outcome: _Outcome
    ) -> tuple[types.ProgressedJob | None, PassbookError | None]:
        self.step += 1
        attempts = 0

        def on_wait() -> None:
            nonlocal attempts
            attempts += 1
            if self._stopped.is_set():
                raise _Stopped
            if attempts == _AWAITED_ATTEMPTS:
                # The service does not respond: the work goes on, and the report is repeated.
                with self._state:
                    self._is_unanswered = True
                    outcome.known.set()

        calls = self._calls_with(Options(until=self._expires, on_wait=on_wait))
        given: Any = terms
        try:
            done = calls.report_progress(job_id=self._job_id, step=self.step, run=self._run, **given)
        except _Stopped:
            return None, None
        except PassbookError as error:
            if error.code in _LOST:
                self.lost = error
                return None, error
            if error.code in _TERMS_REFUSED:
                return None, error
            if not self._stopped.is_set():
                self._warn(f"A report of job {self._job_id} was not taken: {error}")
            return None, None
        self.reserved = done["job"]["reserved"]
        self._expires = expiry_of(done["job"])
        return done, None


def _shown(done: float | None, message: str | None) -> dict[str, Any]:
    """What people see never stops the work: a fraction outside 0 to 1 is moved to its end, and a long message is cut."""
    terms: dict[str, Any] = {}
    if done is not None and not math.isnan(done):
        terms["done"] = min(1.0, max(0.0, float(done)))
    if message is not None:
        units = message.encode("utf-16-le", "ignore")[: 2 * _MESSAGE_MAX_LENGTH]
        terms["message"] = units.decode("utf-16-le", "ignore")
    return terms


def expiry_of(job: types.Job) -> float:
    """When a job that the service just changed expires, in seconds of `time.monotonic()`."""
    expires, updated = (datetime.fromisoformat(job[name].replace("Z", "+00:00")) for name in ("expires_at", "updated_at"))
    return time.monotonic() + (expires - updated).total_seconds()
