"""Tests of connections and of an app's server, against a running service. `npm test` plays the person in the browser."""
from __future__ import annotations

import json
import os
import time
import unittest
import urllib.parse
import urllib.request
import uuid
from typing import Any

from faulty_proxy import FaultyProxy
from passbook_client import AppServer, Connection, ConnectionTokens, OAuthClient, PassbookClient, PassbookError

URL = os.environ["PASSBOOK_URL"]
APP_KEY = os.environ["PASSBOOK_APP_KEY"]
SECRET = os.environ["PASSBOOK_CLIENT_SECRET"]
RESOURCE = "https://mcp.sketch.example.com/mcp"
CLIENT: Any = {"client_id": "sketch~web", "client_secret": SECRET, "redirect_uri": "https://sketch.example.com/callback"}
JOB: Any = {"app": "sketch", "action": "draw"}


def visit(url: str, email: str, **choices: str) -> str:
    """Opens an address as a person who allows what the page suggests. Returns where the browser ends."""
    query = urllib.parse.urlencode({"url": url, "email": email, **choices})
    with urllib.request.urlopen(f"{os.environ['PASSBOOK_BROWSER']}/?{query}") as response:
        return str(response.read().decode())


class OAuthTest(unittest.TestCase):
    def setUp(self) -> None:
        self.oauth = OAuthClient(URL, **CLIENT)
        self.email = f"{uuid.uuid4()}@example.com"
        self.saved: list[ConnectionTokens] = []

    def connect(self, *scopes: str, resource: str | None = None) -> Connection:
        url, pending = self.oauth.start(scopes, resource=resource)
        # The app stores it as JSON until the person returns.
        pending = json.loads(json.dumps(pending))
        return self.oauth.callback(visit(url, self.email, unlimited="yes"), pending, on_tokens=self.saved.append)

    def assert_raises(self, code: str, call: Any, *args: Any, **options: Any) -> PassbookError:
        with self.assertRaises(PassbookError) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_a_connection_identifies_the_person_renews_its_tokens_and_ends_when_it_is_revoked(self) -> None:
        connection = self.connect("openid", "read", "write", "offline_access")
        account = PassbookClient(URL, token=connection.token).wallet(app="sketch")["account"]
        identity = connection.tokens["identity_id"] or ""
        self.assertEqual(AppServer(URL, app_key=APP_KEY).account(identity).wallet()["account"], account)
        self.assertEqual(self.saved, [])
        self.assertEqual(connection.token(), connection.tokens["access_token"])

        stored = json.loads(json.dumps({**connection.tokens, "expires_at": "2026-01-01T00:00:00.000Z"}))
        later = self.oauth.connection(stored, on_tokens=self.saved.append)
        later.token()
        self.assertEqual(self.saved, [later.tokens])
        self.assertNotIn(later.tokens["refresh_token"], (None, stored["refresh_token"]))
        self.assertEqual((later.tokens["identity_id"], later.tokens["scopes"]), (identity, connection.tokens["scopes"]))
        self.assertEqual(PassbookClient(URL, token=later.token).wallet()["account"]["id"], account["id"])

        later.revoke()
        self.assert_raises("invalid_grant", later.refresh)

    def test_a_renewal_whose_response_is_lost_is_repeated(self) -> None:
        connection = self.connect("read", "offline_access")
        proxy = FaultyProxy(urllib.parse.urlsplit(URL).port or 0)
        self.addCleanup(proxy.close)
        proxy.break_next(["response_lost"])
        renewed = OAuthClient(proxy.url, **CLIENT).connection(connection.tokens).refresh()
        self.assertEqual(proxy.connections, 2)
        PassbookClient(URL, token=renewed["access_token"]).wallet()
        proxy.break_next(["response_lost", "page"])
        self.assert_raises("invalid_response", OAuthClient(proxy.url, **CLIENT).connection(renewed).refresh)

    def test_an_agents_connection_spends_at_most_its_cap_and_ends_with_the_one_above(self) -> None:
        connection = self.connect("read", "write", "offline_access")
        passbook = PassbookClient(URL, token=connection.token)
        passbook.wallet(app="sketch")
        agent = connection.exchange(caps=[{"credits": 50, "period": "total"}], apps=["sketch"], expires_in=600)
        client = PassbookClient(URL, token=agent.token)
        with client.run_job(**JOB, cost_estimate=40) as job:
            job.actual_cost = 40
        error = self.assert_raises("token_budget_exceeded", client.create_job, **JOB, cost_estimate=20)
        self.assertEqual(error.body["room"], 10)
        self.assertEqual(passbook.wallet()["account"]["credits"], 60)
        reader = agent.exchange(scopes=["read"])
        self.assertEqual(reader.tokens["scopes"], ["read"])
        self.assert_raises("scope", PassbookClient(URL, token=reader.token).create_job, **JOB, cost_estimate=1)
        self.assert_raises("invalid_scope", reader.exchange, scopes=["read", "write"])
        agent.revoke()
        self.assert_raises("unauthorized", PassbookClient(URL, token=reader.token).wallet)

    def test_a_response_that_this_browser_did_not_request_is_refused(self) -> None:
        url, pending = self.oauth.start(["read"])
        back = visit(url, self.email)
        _, other = self.oauth.start(["read"])
        self.assert_raises("signin_failed", self.oauth.callback, back, other)
        self.assert_raises("signin_failed", self.oauth.callback, back, None)
        issuer = urllib.parse.quote(URL, safe="")
        foreign = back.replace(f"iss={issuer}", "iss=https%3A%2F%2Fother.example.com")
        self.assertNotEqual(foreign, back)
        self.assert_raises("signin_failed", self.oauth.callback, foreign, pending)
        self.oauth.callback(back, pending)
        self.assert_raises("invalid_grant", self.oauth.callback, back, pending)
        url, pending = self.oauth.start(["read"], prompt="none")
        silent = visit(url, f"{uuid.uuid4()}@example.com")
        self.assert_raises("login_required", self.oauth.callback, silent, pending)

    def test_the_person_sees_the_limits_that_the_app_suggests(self) -> None:
        url, pending = self.oauth.start(["read", "write"], caps=[{"credits": 30, "period": "month"}], apps=["sketch"])
        connection = self.oauth.callback(visit(url, self.email), pending)
        client = PassbookClient(URL, token=connection.token)
        self.assert_raises("token_budget_exceeded", client.create_job, **JOB, cost_estimate=31)

    def test_introspection_shows_an_app_the_tokens_of_its_resources_until_they_are_revoked(self) -> None:
        sketch = AppServer(URL, app_key=APP_KEY)
        connection = self.connect("draw", "offline_access", resource=RESOURCE)
        token = connection.token()
        claims = sketch.introspect(token)
        assert claims is not None
        self.assertEqual((claims["aud"], claims["client_id"], claims["scope"].split()[0]), (RESOURCE, "sketch~web", "draw"))
        connection.revoke()
        self.assertIsNone(sketch.introspect(token))
        self.assertIsNone(sketch.introspect("forged"))
        self.assert_raises("invalid_client", AppServer(URL, app_key="pb_app_unknown").introspect, token)

    def test_an_apps_key_reads_the_app_and_its_jobs_and_manages_its_webhooks(self) -> None:
        sketch = AppServer(URL, app_key=APP_KEY)
        self.assertEqual((sketch.read_app()["slug"], sketch.read_app()["settle"]), ("sketch", "holder"))
        connection = self.connect("openid", "read", "write")
        PassbookClient(URL, token=connection.token).wallet(app="sketch")
        identity = connection.tokens["identity_id"] or ""
        job_id = sketch.account(identity).create_job(app="sketch", action="draw", cost_estimate=0)["job_id"]
        deadline = time.monotonic() + 20
        jobs: dict[str, str] = {}
        while job_id not in jobs and time.monotonic() < deadline:
            time.sleep(0.1)
            jobs = {job["id"]: job["identity_id"] for job in sketch.list_jobs()["jobs"]}
        self.assertEqual(jobs.get(job_id), identity)

        saved = sketch.save_webhook("main", url="http://127.0.0.1:9/", events=["job.completed"], active=False)
        rotated = sketch.rotate_webhook_secret("main")
        self.assertNotIn(rotated["secret"], (None, saved["secret"]))
        self.assertEqual([it["id"] for it in sketch.list_webhooks()["webhooks"]], ["main"])
        sketch.delete_webhook("main")
        self.assertEqual(sketch.list_webhooks()["webhooks"], [])
        with self.assertRaisesRegex(PassbookError, "pb_app_"):
            AppServer(URL, app_key="pb_pat_x")


if __name__ == "__main__":
    unittest.main()
