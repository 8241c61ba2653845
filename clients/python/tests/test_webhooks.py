"""Tests of `verify_webhook`, with a request that the reference implementation of Standard Webhooks signed."""
from __future__ import annotations

import base64
import json
import os
import time
import unittest
from typing import Any
from unittest import mock

from passbook_client import PassbookError, verify_webhook

SIGNED: Any = json.loads(os.environ["PASSBOOK_SIGNED_WEBHOOK"])
OTHER = "whsec_" + base64.b64encode(b"8" * 32).decode()


class VerifyWebhookTest(unittest.TestCase):
    def verify(self, headers: Any = None, **changed: Any) -> Any:
        request = {"body": SIGNED["body"], "secret": SIGNED["secret"], **changed}
        return verify_webhook(headers=SIGNED["headers"] | (headers or {}), **request)

    def refused(self, code: str = "signature_invalid", **request: Any) -> None:
        with self.assertRaises(PassbookError) as raised:
            self.verify(**request)
        self.assertEqual(raised.exception.code, code)

    def test_a_request_of_the_reference_implementation_gives_its_event_and_its_id(self) -> None:
        verified = self.verify()
        self.assertEqual(verified.id, "8c7e.17.credits.low")
        self.assertEqual(verified.event, json.loads(SIGNED["body"]))
        self.assertEqual(self.verify(body=SIGNED["body"].encode()), verified)
        upper = {name.upper(): value for name, value in SIGNED["headers"].items()}
        self.assertEqual(verify_webhook(SIGNED["body"], upper, SIGNED["secret"]), verified)

    def test_one_of_several_secrets_and_one_of_several_signatures_suffice(self) -> None:
        self.verify(secret=[OTHER, SIGNED["secret"]])
        signature = SIGNED["headers"]["webhook-signature"]
        self.verify({"webhook-signature": f"v1a,AAAA v1,AAAA {signature}"})

    def test_a_request_that_differs_from_what_was_signed_is_refused(self) -> None:
        self.refused(secret=OTHER)
        self.refused(body=SIGNED["body"].replace("18", "19"))
        self.refused(headers={"webhook-id": "other"})
        self.refused(headers={"webhook-timestamp": str(int(SIGNED["headers"]["webhook-timestamp"]) + 1)})
        for signature in ("", "v1,", "v1,!", "v1,AAAA", SIGNED["headers"]["webhook-signature"].replace("v1", "v2")):
            self.refused(headers={"webhook-signature": signature})

    def test_a_request_without_a_header_or_with_a_time_that_is_not_a_number_is_refused(self) -> None:
        for name in SIGNED["headers"]:
            self.refused(headers={name: ""})
        for text in ("nan", "1e9", "\u0661" * 10):
            self.refused(headers={"webhook-timestamp": text})

    def test_a_request_is_accepted_for_five_minutes_before_and_after_its_time(self) -> None:
        sent = int(SIGNED["headers"]["webhook-timestamp"])
        for seconds in (-300, 300):
            with mock.patch.object(time, "time", return_value=sent + seconds):
                self.verify()
            with mock.patch.object(time, "time", return_value=sent + seconds * 1.01):
                self.refused()
                self.verify(tolerance_seconds=900)
                self.refused(tolerance_seconds=float("nan"))

    def test_a_secret_that_is_not_one_is_refused_as_an_argument(self) -> None:
        for secret in ("", "whsec_", "whsec_!", SIGNED["secret"][6:], [], None):
            self.refused("invalid_argument", secret=secret)

    def test_a_body_that_a_parser_of_json_has_read_is_refused_as_an_argument(self) -> None:
        self.refused("invalid_argument", body=json.loads(SIGNED["body"]))


if __name__ == "__main__":
    unittest.main()
