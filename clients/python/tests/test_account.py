"""Tests of the calls that have the names of the JavaScript client, against a running service."""
from __future__ import annotations

import json
import unittest
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any

from passbook_client import PassbookClient, PassbookError, types
from test_client import JOB, PAGE, URL, NoRedirects


def sign_in() -> tuple[str, str]:
    """A session token of a new person, and the cookies of their browser."""
    form = urllib.parse.urlencode({"email": f"account-{uuid.uuid4()}@example.com", "redirect_to": f"{PAGE}/"})
    try:
        urllib.request.build_opener(NoRedirects).open(f"{URL}/signin/dev", form.encode())
    except urllib.error.HTTPError as response:
        with response:
            query = urllib.parse.urlsplit(response.headers["Location"]).query
            cookies = [cookie.split(";")[0] for cookie in response.headers.get_all("Set-Cookie", [])]
        return urllib.parse.parse_qs(query)["token"][0], "; ".join(cookies)
    raise AssertionError("the service did not redirect")


class AccountTest(unittest.TestCase):
    def setUp(self) -> None:
        self.token, self.cookies = sign_in()
        self.waited: list[float] = []
        self.passbook = PassbookClient(URL, token=self.token, wait=self.waited.append)
        self.passbook.wallet(app="demo")

    def assert_raises(self, code: str, call: Any) -> None:
        with self.assertRaises(PassbookError) as caught:
            call()
        self.assertEqual(caught.exception.code, code)

    def test_a_person_is_known_by_a_session_token_and_by_one_made_from_it(self) -> None:
        me = self.passbook.me()
        self.assertTrue((me["email"] or "").startswith("account-"))
        renewed = PassbookClient(URL, token=self.passbook.session_token())
        self.assertEqual(renewed.me()["identity_id"], me["identity_id"])
        with self.assertRaises(PassbookError) as caught:
            self.passbook.session_token(template="none")
        self.assertEqual(caught.exception.status, 404)

    def test_tokens_of_providers_and_purchases_raise_why_there_are_none(self) -> None:
        for call in (
            self.passbook.social_token,
            lambda: self.passbook.oauth_token("git hub"),
            lambda: self.passbook.checkout(package="small", return_to=PAGE),
        ):
            with self.assertRaises(PassbookError) as caught:
                call()
            self.assertIn(caught.exception.status, (400, 403, 404, 501))

    def test_tokens_are_listed_changed_by_their_holder_and_revoked_by_themselves(self) -> None:
        device = PassbookClient(URL, token=self.log_in())
        [own] = device.tokens.list()
        self.assertTrue(own["current"])
        changed = self.passbook.tokens.change(own["id"], label="Lamp", caps=[{"credits": 5, "period": "day"}])
        self.assertEqual((changed["label"], changed["apps"], changed["caps"][0]["credits"]), ("Lamp", None, 5))
        self.assertEqual(self.passbook.tokens.change(own["id"], apps=["demo"])["apps"], ["demo"])
        device.tokens.revoke(own["id"])
        self.assert_raises("unauthorized", device.tokens.list)

    def test_a_device_login_waits_for_the_person_and_returns_a_token(self) -> None:
        self.assertRegex(self.log_in(), "^pb_pat_")
        self.assertEqual(self.login_waits[:2], [5.0, 5.0])

    def test_a_device_login_that_nobody_approves_ends_in_time(self) -> None:
        waited: list[float] = []
        program = PassbookClient(URL, wait=waited.append)
        # The clock of the service does not move, and polling too fast makes the program wait longer.
        self.assert_raises("expired_token", lambda: program.log_in_device(on_code=lambda _: None))
        self.assertGreater(sum(waited), 895)

    def test_events_begin_with_a_snapshot_come_in_order_and_resume_after_an_entry(self) -> None:
        events = self.passbook.events()
        snapshot = next(events)
        assert snapshot["kind"] == "snapshot"
        job_id = self.passbook.create_job(**JOB)["job_id"]
        self.passbook.report_progress(job_id=job_id, step=1, done=0.5)
        self.passbook.complete_job(job_id=job_id, actual_cost=3)
        seen: list[Any] = [next(events) for _ in range(3)]
        events.close()
        self.assertEqual([event["kind"] for event in seen], ["reserve", "job.progressed", "settle"])
        self.assertEqual((seen[1]["job"]["done"], seen[2]["credits"]), (0.5, 97))
        later = self.passbook.events(after=seen[0]["line"])
        self.assertEqual(next(later), seen[2])
        later.close()
        self.assert_raises("unauthorized", lambda: next(PassbookClient(URL, token="refused").events()))

    def log_in(self) -> str:
        """A token of a device login that this person approves while the program waits for the second time."""
        shown: list[types.DeviceAuthorization] = []
        self.login_waits: list[float] = []

        def wait(seconds: float) -> None:
            self.login_waits.append(seconds)
            if len(self.login_waits) == 2:
                self.approve(shown[0]["user_code"])

        program = PassbookClient(URL, wait=wait)
        return program.log_in_device(on_code=shown.append, client_name="A lamp")

    def approve(self, user_code: str) -> None:
        headers = {"Content-Type": "application/json", "Cookie": self.cookies, "Origin": URL}
        body = json.dumps({"user_code": user_code}).encode()
        request = urllib.request.Request(f"{URL}/api/device/complete", data=body, headers=headers)
        with urllib.request.urlopen(request) as response:
            self.assertEqual(response.status, 200)
