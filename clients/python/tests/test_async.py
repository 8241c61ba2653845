"""The client for asyncio: with a stub transport, and against the running service through threads."""
from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import sys
import unittest
from typing import Any, AsyncGenerator, Mapping
from unittest import mock

from passbook_client import AsyncPassbookClient, PassbookError
from test_client import JOB, URL, sign_in


class Response:
    def __init__(self, status: int, body: Any, lines: list[str] | None = None, replayed: bool = False) -> None:
        self.status_code = status
        self.headers = {"Content-Type": "application/json"}
        self.content = json.dumps(body).encode()
        self._lines = lines or []

    async def aread(self) -> bytes:
        return self.content

    async def aiter_lines(self) -> AsyncGenerator[str, None]:
        for line in self._lines:
            yield line


class StubHttp:
    """Responds in order. An exception is raised instead."""

    def __init__(self, *responses: Response | Exception) -> None:
        self._responses = list(responses)
        self.requests: list[tuple[str, str, Mapping[str, str], Any]] = []

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None, timeout: float
    ) -> Response:
        self.requests.append((method, url, headers, None if content is None else json.loads(content)))
        response = self._responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    @contextlib.asynccontextmanager
    async def stream(
        self, method: str, url: str, *, headers: Mapping[str, str], timeout: float
    ) -> AsyncGenerator[Response, None]:
        yield await self.request(method, url, headers=headers, content=None, timeout=timeout)


def event(line: int, kind: str = "reserve") -> list[str]:
    return [f"id: {line}", "data: " + json.dumps({"line": line, "kind": kind, "credits": 1, "held": 0}), ""]


ACCOUNT = Response(200, {"account": {"credits": 90}, "apps": []})
REFUSED = Response(403, {"error": "No.", "code": "scope"})


class StubTest(unittest.IsolatedAsyncioTestCase):
    def client(self, *responses: Response | Exception) -> AsyncPassbookClient:
        self.http = StubHttp(*responses)
        self.waited: list[float] = []

        async def wait(seconds: float) -> None:
            self.waited.append(seconds)

        return AsyncPassbookClient("https://passbook.example.com", token="pb_pat_x", http=self.http, wait=wait)

    async def test_a_call_sends_its_token_and_query_and_returns_the_body(self) -> None:
        wallet = await self.client(ACCOUNT).wallet(app="sketch")
        self.assertEqual(wallet["account"]["credits"], 90)
        method, url, headers, body = self.http.requests[0]
        self.assertEqual((method, url, body), ("GET", "https://passbook.example.com/api/wallet?app=sketch", None))
        self.assertEqual(headers["Authorization"], "Bearer pb_pat_x")

    async def test_a_write_without_a_response_is_repeated_under_its_key_and_a_refusal_is_not(self) -> None:
        created = Response(200, {"job_id": "j", "credits": 80})
        passbook = self.client(OSError("cut"), Response(503, {"error": "Later.", "code": "unavailable"}), created)
        self.assertEqual((await passbook.create_job(**JOB))["job_id"], "j")
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in self.http.requests}
        self.assertEqual((len(self.http.requests), len(keys), len(self.waited)), (3, 1, 2))
        with self.assertRaises(PassbookError) as caught:
            await self.client(REFUSED).create_job(**JOB)
        self.assertEqual((caught.exception.code, len(self.http.requests)), ("scope", 1))

    async def test_errors_of_the_program_are_not_taken_for_a_lost_connection(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            await self.client(ZeroDivisionError()).me()

    async def test_events_resume_after_the_last_entry_and_a_refusal_ends_them(self) -> None:
        first = Response(200, {}, [*event(7, "snapshot"), ": ping", "", *event(8)])
        progress = ["data: " + json.dumps({"id": "x", "kind": "job.progressed", "job": {}}), ""]
        second = Response(200, {}, [*event(8), *progress, *event(9)])
        seen = []
        with self.assertRaises(PassbookError) as caught:
            async for it in self.client(first, OSError("cut"), second, REFUSED).events():
                seen.append((it["kind"], it.get("line")))
        self.assertEqual(caught.exception.code, "scope")
        self.assertEqual(seen, [("snapshot", 7), ("reserve", 8), ("job.progressed", None), ("reserve", 9)])
        urls = [url.rpartition("/")[2] for _, url, _, _ in self.http.requests]
        self.assertEqual(urls, ["events", "events?after=8", "events?after=8", "events?after=9"])

    async def test_a_device_login_polls_at_the_interval_and_slows_down(self) -> None:
        started = Response(200, {"device_code": "d", "user_code": "AB", "interval": 5, "expires_in": 900})
        slow = Response(202, {"code": "slow_down", "interval": 5})
        shown: list[Any] = []
        passbook = self.client(started, OSError("cut"), slow, Response(200, {"token": "pb_pat_new"}))
        self.assertEqual(await passbook.log_in_device(on_code=shown.append, client_name="Lamp"), "pb_pat_new")
        self.assertEqual((self.waited, shown[0]["user_code"]), ([5, 10, 15], "AB"))
        self.assertNotIn("Authorization", self.http.requests[0][2])

    async def test_tokens_are_listed_changed_and_revoked(self) -> None:
        passbook = self.client(Response(200, {"tokens": [{"id": "t"}]}), Response(200, {"id": "t"}), Response(200, {"ok": True}))
        self.assertEqual(await passbook.tokens.list(), [{"id": "t"}])
        await passbook.tokens.change("t", apps=None)
        await passbook.tokens.revoke("t")
        self.assertEqual([(it[0], it[3]) for it in self.http.requests[1:]], [("PATCH", {"apps": None}), ("DELETE", None)])

    async def test_without_httpx_the_error_says_how_to_install_it(self) -> None:
        with mock.patch.dict(sys.modules, {"httpx": None}), self.assertRaises(PassbookError) as caught:
            AsyncPassbookClient("https://passbook.example.com")
        self.assertIn("passbook-client[httpx]", str(caught.exception))


class RunJobTest(unittest.IsolatedAsyncioTestCase):
    async def test_a_job_is_settled_at_its_cost_and_refunded_if_the_block_raises_or_is_cancelled(self) -> None:
        token = sign_in("asyncio")
        async with AsyncPassbookClient(URL, token=token, http=StubHttp()) as passbook:
            await asyncio.to_thread(passbook._sync.wallet, app="demo")
            async with passbook.run_job(**JOB) as job:
                progressed = await job.progress(done=0.5)
                assert progressed is not None
                self.assertEqual(progressed["job"]["done"], 0.5)
                job.actual_cost = 3
            self.assertEqual(job.credits, 97)

            async def cancelled() -> None:
                async with passbook.run_job(**JOB):
                    await asyncio.sleep(60)

            task = asyncio.create_task(cancelled())
            await asyncio.sleep(0.5)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        self.assertEqual((await asyncio.to_thread(passbook._sync.wallet))["account"]["credits"], 97)


@unittest.skipUnless(importlib.util.find_spec("httpx"), "httpx cannot be installed here: apt-get install python3-httpx")
class HttpxTest(unittest.IsolatedAsyncioTestCase):
    async def test_the_client_works_with_httpx(self) -> None:
        async with AsyncPassbookClient(URL, token=sign_in("httpx")) as passbook:
            self.assertEqual((await passbook.wallet(app="demo"))["account"]["credits"], 100)
            events = passbook.events()
            self.assertEqual((await anext(events))["kind"], "snapshot")
            await events.aclose()
        async with AsyncPassbookClient("http://localhost:1", token="pb_pat_x", retries=0) as nobody:
            with self.assertRaises(PassbookError) as caught:
                await nobody.wallet()
        self.assertEqual(caught.exception.code, "no_response")
