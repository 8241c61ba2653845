"""Tests against a running service. `npm test` starts it, and passes its address and the credentials."""
from __future__ import annotations

import base64
import itertools
import json
import os
import pathlib
import re
import threading
import time
import typing
import unittest
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any
from unittest import mock

from faulty_proxy import FaultyProxy
from passbook_client import AppServer, PassbookClient, PassbookError, types
from passbook_client.credentials import Credentials

URL = os.environ["PASSBOOK_URL"]
#: The origin of a page that the settings allow.
PAGE = "http://localhost:3000"
JOB: Any = {"app": "demo", "action": "draw", "cost_estimate": 10}


class WorkFailed(Exception):
    pass


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def sign_in(person: str) -> str:
    """A session token of a new person with 100 credits."""
    form = urllib.parse.urlencode({"email": f"{person}-{uuid.uuid4()}@example.com", "redirect_to": f"{PAGE}/"})
    try:
        urllib.request.build_opener(NoRedirects).open(f"{URL}/signin/dev", form.encode())
    except urllib.error.HTTPError as response:
        with response:
            query = urllib.parse.urlsplit(response.headers["Location"]).query
        return urllib.parse.parse_qs(query)["token"][0]
    raise AssertionError("the service did not redirect")


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.proxy = FaultyProxy(urllib.parse.urlsplit(URL).port or 0)
        self.addCleanup(self.proxy.close)
        self.token = sign_in(re.sub("[^a-z]", "-", self.id().rsplit(".", 1)[-1]))
        self.waited: list[float] = []
        self.warnings: list[str] = []
        self.passbook = self.client()
        self.passbook.wallet(app="demo")

    def client(self, **options: Any) -> PassbookClient:
        given: Any = {"token": self.token, "wait": self.waited.append, **options}
        return PassbookClient(URL, **given)

    def faulty(self, *faults: str, **options: Any) -> PassbookClient:
        """The client over a network with these faults."""
        self.proxy.break_next(faults)
        given: Any = {"token": self.token, "wait": self.waited.append, **options}
        return PassbookClient(self.proxy.url, **given)

    def credits(self) -> int:
        return self.passbook.wallet()["account"]["credits"]

    def newest_job(self) -> Any:
        return self.passbook.list_jobs(limit=1)["jobs"][0]

    def test_run_job_waits_for_a_top_up_if_it_should_and_one_is_on_its_way(self) -> None:
        with self.faulty("topup").run_job(**JOB, wait_for_top_up=True) as job:
            job.actual_cost = 4
        self.assertEqual((self.waited, self.credits()), ([2.0], 96))
        for wait_for_top_up, waited in ((False, 0.0), (True, 60.0)):
            self.waited.clear()
            passbook = self.faulty("topup_never")
            with self.assertRaises(PassbookError) as caught:
                with passbook.run_job(**JOB, wait_for_top_up=wait_for_top_up):
                    self.fail("there is no job")
            self.assertEqual((caught.exception.code, sum(self.waited)), ("insufficient_credits", waited))
            passbook.when_idle()

    def test_run_job_charges_the_actual_cost_and_returns_the_rest(self) -> None:
        with self.passbook.run_job(**JOB, metadata={"kept": 1}) as job:
            self.assertEqual(job.credits, 90)
            job.actual_cost = 7
            job.metadata = {"description": "A lighthouse"}
        self.assertEqual((job.credits, job.unsettled, self.credits()), (93, 0, 93))
        assert job.settled is not None
        self.assertEqual(job.settled["status"], "completed")
        self.assertEqual(job.settled["metadata"], {"kept": 1, "description": "A lighthouse"})

    def test_an_exception_refunds_the_reserve_and_its_message_is_the_reason(self) -> None:
        for error, reason in [
            (WorkFailed("The model is busy."), "The model is busy."),
            (WorkFailed(), None),
            (WorkFailed("x" * 600), "x" * 499 + "…"),
            (WorkFailed("a\0b\ud800"), "ab?"),
            (KeyboardInterrupt(), None),
        ]:
            with self.assertRaises(type(error)), self.passbook.run_job(**JOB):
                raise error
            job = self.newest_job()
            self.assertEqual((job["status"], job["failure_reason"]), ("failed", reason))
        with self.assertRaises(WorkFailed), self.passbook.run_job(**JOB, report_reason=False):
            raise WorkFailed("secret")
        self.assertIsNone(self.newest_job()["failure_reason"])
        self.assertEqual(self.credits(), 100)

    def test_lost_connections_charge_the_cost_once_and_leave_no_job_started(self) -> None:
        faults = ("none", "request_lost", "response_lost")
        # Some of the faults hit the creation, the rest the settlement.
        cases = [*itertools.product(faults, repeat=3), ("page", "json", "page"), ("json", "none", "json"), ("none", "json", "page")]
        spent = 0
        for number, case in enumerate(cases):
            passbook = self.faulty(*case)
            fails = number % 2 == 1
            try:
                with passbook.run_job(app="demo", action="draw", cost_estimate=3) as job:
                    if fails:
                        raise WorkFailed
                    job.actual_cost = 1
                    spent += 1
            except WorkFailed:
                passbook.when_idle()
            self.assertEqual(self.credits(), 100 - spent, case)
        statuses = [job["status"] for job in self.passbook.list_jobs(limit=200)["jobs"]]
        self.assertEqual((statuses.count("completed"), statuses.count("failed"), len(statuses)), (15, 15, 30))

    def test_a_settlement_and_a_refund_outlast_a_long_outage(self) -> None:
        outage = ["request_lost"] * 20
        with self.faulty("none", *outage).run_job(**JOB) as job:
            job.actual_cost = 4
        self.assertEqual((self.credits(), max(self.waited) <= 15), (96, True))
        passbook = self.faulty("none", *outage)
        with self.assertRaises(WorkFailed), passbook.run_job(**JOB):
            raise WorkFailed
        passbook.when_idle()
        self.assertEqual((self.credits(), self.newest_job()["status"]), (96, "failed"))

    def test_a_retry_after_a_lost_response_has_the_key_of_the_first_attempt(self) -> None:
        passbook = self.faulty("response_lost")
        created = passbook.create_job(**JOB)
        self.assertEqual((self.credits(), self.newest_job()["id"]), (90, created["job_id"]))
        self.assertEqual(self.proxy.connections, 2)
        self.assertTrue(0.1 < self.waited[0] < 0.3)

    def test_a_redirect_is_not_followed_so_that_the_token_stays_here(self) -> None:
        with self.assertRaises(PassbookError) as caught:
            self.faulty("redirect", retries=0).wallet()
        self.assertEqual((caught.exception.code, self.proxy.connections), ("invalid_response", 1))

    def test_a_write_without_a_key_is_not_repeated(self) -> None:
        job_id = self.passbook.create_job(**JOB)["job_id"]
        with self.assertRaises(PassbookError) as caught:
            self.faulty("response_lost").cancel_job(job_id=job_id)
        self.assertEqual((caught.exception.code, self.proxy.connections), ("no_response", 1))

    def test_a_reserve_without_a_response_is_refunded_in_the_background(self) -> None:
        passbook = self.faulty("response_lost", retries=0)
        with self.assertRaises(PassbookError) as caught, passbook.run_job(**JOB):
            self.fail("the work must not run")
        self.assertEqual(caught.exception.code, "no_response")
        passbook.when_idle()
        self.assertEqual((self.newest_job()["status"], self.credits()), ("failed", 100))

    def test_a_run_under_the_same_key_resumes_the_job_of_a_process_that_died(self) -> None:
        job_id = self.passbook.create_job(**JOB, idempotency_key="order-1:create")["job_id"]
        with self.passbook.run_job(**JOB, key="order-1") as job:
            self.assertEqual((job.id, self.credits()), (job_id, 90))
            job.actual_cost = 4
        with self.assertRaises(PassbookError) as caught, self.passbook.run_job(**JOB, key="order-1"):
            self.fail("the work must not run again")
        ended = caught.exception.job
        assert ended is not None
        self.assertEqual((caught.exception.code, ended["status"]), ("job_ended", "completed"))
        self.assertEqual(self.credits(), 96)
        with self.assertRaisesRegex(PassbookError, "key must be"), self.passbook.run_job(**JOB, key="two words"):
            pass

    def test_a_job_reports_its_progress_and_settles_within_the_raised_reserve(self) -> None:
        with self.faulty("none", "response_lost").run_job(**JOB, on_warning=self.warnings.append) as job:
            job.progress(spent=4, ttl_seconds=3_600)
            done = job.progress(spent=14.2, reserve=30)
            assert done is not None
            self.assertEqual((done["job"]["step"], done["job"]["spent"], job.credits, self.credits()), (2, 15, 70, 70))
        self.assertEqual(self.credits(), 70)
        self.assertIn("at its reserve, 30", self.warnings[0])

    def test_a_job_shows_people_how_far_it_is_and_what_it_shows_never_stops_the_work(self) -> None:
        with self.passbook.run_job(**JOB) as job:
            shown = job.progress(done=0.4, message="Frame 40 of 100")
            assert shown is not None
            self.assertEqual((shown["job"]["done"], shown["job"]["message"]), (0.4, "Frame 40 of 100"))
            wrong = job.progress(done=1.2, message="x" * 199 + "\U0001f600")
            assert wrong is not None
            self.assertEqual((wrong["job"]["done"], wrong["job"]["message"]), (1, "x" * 199))
            job.actual_cost = 3

    def test_a_run_whose_job_another_process_resumed_leaves_the_job_to_it(self) -> None:
        with self.assertRaises(PassbookError) as caught, self.passbook.run_job(**JOB, key="long") as first:
            first.progress(spent=1)
            with self.client().run_job(**JOB, key="long") as second:
                done = second.progress(spent=2)
                assert done is not None
                self.assertEqual(done["job"]["step"], 1_000_001)
                with self.assertRaises(PassbookError):
                    first.progress(spent=9)
                second.actual_cost = 3
        self.assertEqual(caught.exception.code, "step_too_old")
        self.passbook.when_idle()
        self.assertEqual((self.newest_job()["status"], self.credits()), ("completed", 97))

    def test_a_run_that_lost_its_job_and_raises_does_not_fail_it_although_neither_reported(self) -> None:
        first = self.passbook.run_job(**JOB, key="long")
        first.__enter__()
        with self.client().run_job(**JOB, key="long") as second:
            self.assertFalse(first.__exit__(WorkFailed, WorkFailed(), None))
            self.passbook.when_idle()
            self.assertEqual((self.newest_job()["status"], self.newest_job()["step"]), ("started", 1_000_000))
            second.actual_cost = 4
        self.assertEqual((self.newest_job()["status"], self.credits()), ("completed", 96))

    def test_an_outage_does_not_stop_the_work_and_its_reports_follow_as_one(self) -> None:
        passbook = self.faulty("none", *["request_lost"] * 40)
        with passbook.run_job(**JOB, on_warning=self.warnings.append) as job:
            self.assertIsNone(job.progress(spent=1, reserve=30))
            for spent in (2, 3):
                job.progress(spent=spent)
            for _ in range(500):
                if self.newest_job()["spent"] == 3:
                    break
                time.sleep(0.01)
            self.assertEqual((self.newest_job()["reserved"], self.newest_job()["spent"]), (30, 3))
            done = job.progress(spent=4)
            assert done is not None
            self.assertEqual(done["job"]["spent"], 4)
            job.actual_cost = 5
        passbook.when_idle()
        self.assertEqual((self.credits(), self.warnings), (95, []))

    def test_a_refused_report_of_another_kind_is_a_warning(self) -> None:
        with self.passbook.run_job(**JOB, on_warning=self.warnings.append) as job:
            self.assertIsNone(job.progress(ttl_seconds=5))
            with self.assertRaises(PassbookError) as caught:
                job.progress(reserve=500)
            self.assertEqual(caught.exception.code, "insufficient_credits")
            job.actual_cost = 1
        self.assertIn("ttl_seconds", self.warnings[0])
        self.assertEqual(self.credits(), 99)

    def test_a_cancelled_job_is_not_completed_by_the_run_that_was_told(self) -> None:
        with self.assertRaises(PassbookError) as caught, self.passbook.run_job(**JOB) as job:
            job.progress(spent=4)
            self.client().cancel_job(job_id=job.id)
            with self.assertRaises(PassbookError):
                job.progress(spent=5)
            job.actual_cost = 9
        self.assertEqual(caught.exception.code, "job_ended")
        self.passbook.when_idle()
        self.assertEqual((self.newest_job()["status"], self.credits()), ("failed", 96))

    def test_failed_work_costs_what_it_has_spent_if_the_run_says_so(self) -> None:
        cases: list[tuple[Any, int]] = [("refund", 0), ("charge_spent", 7)]
        for on_failure, cost in cases:
            with self.assertRaises(WorkFailed), self.passbook.run_job(**JOB, on_failure=on_failure) as job:
                job.progress(spent=6.5)
                raise WorkFailed("no paper")
            self.assertEqual((self.newest_job()["actual_cost"], self.newest_job()["failure_reason"]), (cost, "no paper"))
        with self.assertRaises(WorkFailed), self.passbook.run_job(**JOB, on_failure="charge_spent") as job:
            with self.assertRaises(PassbookError):
                job.progress(spent=20)
            raise WorkFailed
        self.assertEqual((self.newest_job()["status"], self.newest_job()["actual_cost"]), ("failed", 10))

    def test_under_its_own_key_a_reserve_without_a_response_waits_for_the_next_run(self) -> None:
        passbook = self.faulty("response_lost", retries=0)
        with self.assertRaises(PassbookError), passbook.run_job(**JOB, key="order-2"):
            self.fail("the work must not run")
        passbook.when_idle()
        self.assertEqual(self.credits(), 90)
        with self.passbook.run_job(**JOB, key="order-2") as job:
            job.actual_cost = 10
        self.assertEqual(self.credits(), 90)

    def test_a_refused_run_raises_the_refusal_and_leaves_no_job(self) -> None:
        request = {**JOB, "cost_estimate": 500}
        with self.assertRaises(PassbookError) as caught, self.passbook.run_job(**request):
            self.fail("the work must not run")
        error = caught.exception
        self.assertEqual((error.code, error.status, error.is_refusal), ("insufficient_credits", 402, True))
        self.assertEqual((error.body["credits"], error.body["required"]), (100, 500))
        self.assertEqual(self.passbook.list_jobs()["jobs"], [])
        with self.assertRaisesRegex(PassbookError, "math.ceil"), self.client().run_job(**{**JOB, "cost_estimate": 1.5}):
            pass

    def test_finished_work_with_a_wrong_cost_or_metadata_is_settled_with_a_warning(self) -> None:
        cases: list[tuple[Any, Any, int, str]] = [
            (None, None, 10, "at its reserve, 10"),
            (float("nan"), None, 10, "at its reserve"),
            (-1, None, 10, "at its reserve"),
            (True, None, 10, "at its reserve"),
            (2.1, None, 3, "it is rounded up, 3"),
            (1, {"when": datetime.now()}, 1, "cannot be written as JSON"),
            (1, {"text": "x" * 20_000}, 1, "without its metadata"),
        ]
        for cost, metadata, charged, warning in cases:
            warnings: list[str] = []
            with self.passbook.run_job(**JOB, on_warning=warnings.append) as job:
                job.actual_cost = cost
                job.metadata = metadata
            assert job.settled is not None
            self.assertEqual(job.settled["actual_cost"], charged, warning)
            self.assertIn(warning, " ".join(warnings))

    def test_an_apps_key_settles_at_the_cost_that_the_app_allows(self) -> None:
        with urllib.request.urlopen(
            urllib.request.Request(f"{URL}/api/me", headers={"Authorization": f"Bearer {self.token}"})
        ) as response:
            identity = json.load(response)["identity_id"]
        self.passbook.wallet(app="sketch")
        key = os.environ["PASSBOOK_APP_KEY"]
        passbook = PassbookClient(URL, app_key=key, identity=identity)
        request: Any = {**JOB, "app": "sketch"}
        with passbook.run_job(**request, on_warning=self.warnings.append) as job:
            job.actual_cost = 30
        assert job.settled is not None
        self.assertEqual((job.settled["actual_cost"], job.unsettled), (15, 15))
        self.assertIn("settled at 15 of 30 credits", self.warnings[0])
        cases: list[tuple[Any, Any]] = [(None, "The app could not finish this job."), (True, "secret"), (False, None)]
        for report_reason, reason in cases:
            with self.assertRaises(WorkFailed), passbook.run_job(**request, report_reason=report_reason):
                raise WorkFailed("secret")
            self.assertEqual(self.newest_job()["failure_reason"], reason)
        with self.assertRaises(PassbookError) as caught, passbook.run_job(**JOB):
            self.fail("the work must not run")
        self.assertEqual(caught.exception.code, "scope")

    def test_the_example_of_the_docs_runs(self) -> None:
        page = pathlib.Path(__file__).parents[3] / "docs" / "apps.md"
        found = re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        assert found is not None
        self.passbook.wallet(app="sketch")
        os.environ["SKETCH_KEY"] = os.environ["PASSBOOK_APP_KEY"]
        scope: dict[str, Any] = {"token": self.token, "render": lambda: "a lighthouse"}
        before = self.credits()
        example = found[1].replace("https://passbook.example.com", URL)
        exec(example.replace("https://sketch.example.com", PAGE), scope)
        self.assertEqual((scope["picture"], before - self.credits()), ("a lighthouse", 25))

    def test_an_apps_server_identifies_the_person_only_by_a_session_token_of_its_own_page(self) -> None:
        sketch = AppServer(URL, app_key=os.environ["PASSBOOK_APP_KEY"])
        self.assertEqual(sketch.identify(self.token, origins=[PAGE]), self.passbook.me()["identity_id"])
        head, claims, signature = self.token.split(".")
        forged = f"{head}.{claims}.{signature[::-1]}"
        cases = [(self.token, "https://other.example.com"), (forged, PAGE), (f"{self.token}\n", PAGE), ("", PAGE), (None, PAGE)]
        for token, origin in cases:
            with self.assertRaises(PassbookError) as caught:
                sketch.identify(token, origins=[origin])
            self.assertEqual((caught.exception.code, caught.exception.status), ("unauthorized", 401))

    def test_a_missing_key_is_refused_as_an_argument(self) -> None:
        missing: Any = None
        with self.assertRaisesRegex(PassbookError, "pb_app_"):
            AppServer(URL, app_key=missing)

    def test_an_apps_server_accepts_no_text_as_its_list_of_origins(self) -> None:
        sketch = AppServer(URL, app_key=os.environ["PASSBOOK_APP_KEY"])
        for origins in (PAGE, f"{PAGE}.example.com"):
            with self.assertRaises(PassbookError) as caught:
                sketch.identify(self.token, origins=origins)
            self.assertEqual(caught.exception.code, "invalid_argument")

    def test_lists_take_times_and_cursors(self) -> None:
        for action in ("one", "two"):
            self.passbook.create_job(app="demo", action=action, cost_estimate=1)
        hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
        page = self.passbook.list_jobs(from_=hour_ago, limit=1)
        rest = self.passbook.list_jobs(from_=hour_ago, cursor=page["next_cursor"])
        self.assertEqual([job["action"] for job in page["jobs"] + rest["jobs"]], ["two", "one"])
        self.assertEqual(self.passbook.list_jobs(to=hour_ago)["jobs"], [])
        self.assertEqual(self.passbook.read_job(page["jobs"][0]["id"])["action"], "two")
        kinds = [entry["kind"] for entry in self.passbook.list_ledger(app="demo")["entries"]]
        self.assertEqual(kinds[:2], ["reserve", "reserve"])
        with self.assertRaisesRegex(PassbookError, "time zone"):
            self.passbook.list_jobs(from_=datetime.now())

    def test_a_token_function_is_called_again_after_its_token_was_refused(self) -> None:
        tokens = iter(["refused", self.token])
        self.assertEqual(self.client(token=lambda: next(tokens)).wallet()["account"]["credits"], 100)
        with self.assertRaises(PassbookError) as caught:
            self.client(token="refused").wallet()
        self.assertEqual((caught.exception.code, caught.exception.status), ("unauthorized", 401))
        with self.assertRaises(PassbookError) as caught:
            self.client(token=None).wallet()
        self.assertEqual(caught.exception.code, "no_credentials")


class CredentialsTest(unittest.TestCase):
    @staticmethod
    def expiring(seconds: float) -> str:
        claims = base64.urlsafe_b64encode(json.dumps({"exp": time.time() + seconds}).encode())
        return f"head.{claims.decode().rstrip('=')}.signature"

    def test_a_session_token_is_renewed_before_it_expires(self) -> None:
        fresh, stored = self.expiring(900), []
        credentials = Credentials(self.expiring(30), lambda _: fresh, stored.append)
        self.assertEqual((credentials.token(), credentials.token(), stored), (fresh, fresh, [fresh]))

    def test_a_session_token_is_renewed_while_long_work_sends_no_requests(self) -> None:
        renewed = threading.Event()
        credentials = Credentials(self.expiring(30), lambda _: self.expiring(900), lambda _: renewed.set())
        with mock.patch("passbook_client.credentials._CHECK_INTERVAL_SECONDS", 0.01), credentials.kept_fresh():
            self.assertTrue(renewed.wait(10))

    def test_a_failed_renewal_fails_only_requests_whose_token_has_expired(self) -> None:
        def fail(_: str) -> str:
            raise PassbookError("no_response", "the service is down")

        valid = self.expiring(30)
        self.assertEqual(Credentials(valid, fail, None).token(), valid)
        with self.assertRaisesRegex(PassbookError, "the service is down"):
            Credentials(self.expiring(-1), fail, None).token()

    def test_every_generated_type_is_complete(self) -> None:
        declared = [it for it in vars(types).values() if typing.is_typeddict(it)]
        self.assertGreater(len(declared), 10)
        for declaration in declared:
            if declaration is types.PingWebhookEventData:  # A ping has no data.
                continue
            self.assertNotEqual(typing.get_type_hints(declaration), {})

    def test_an_address_or_credential_that_would_leak_is_refused(self) -> None:
        for url in ("http://passbook.example.com", "https://a@b.example.com", "https://a.example.com/api", "ftp://a", ""):
            with self.assertRaisesRegex(PassbookError, "base_url must be"):
                PassbookClient(url, token="t")
        for options in ({"token": "two\nlines"}, {"app_key": "pb_pat_x", "identity": "a"}, {"app_key": "pb_app_x"}):
            with self.assertRaises(PassbookError):
                PassbookClient("https://passbook.example.com", **options)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
