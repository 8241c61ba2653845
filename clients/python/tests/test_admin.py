"""Tests of the operators' calls, against a running service."""
from __future__ import annotations

import os
import unittest
import uuid

from passbook_client import PassbookAdmin, PassbookError

from test_client import URL, sign_in


class AdminTest(unittest.TestCase):
    def setUp(self) -> None:
        self.admin = PassbookAdmin(URL, token=os.environ["PASSBOOK_ADMIN_TOKEN"])

    def test_an_operator_saves_an_app_whose_null_fields_are_sent_and_whose_omitted_ones_are_kept(self) -> None:
        slug = f"app-{uuid.uuid4()}"
        saved = self.admin.save_app(
            slug, name="App", starter_credits=5, origins=[], daily_starter_budget=None, color="#12507b", max_overage_percent=20
        )["app"]
        changed = self.admin.save_app(
            slug,
            name="App",
            starter_credits=5,
            origins=[],
            daily_starter_budget=50,
            color=None,
            version=saved["version"],
        )["app"]
        self.assertEqual((saved["daily_starter_budget"], saved["color"]), (None, "#12507b"))
        self.assertEqual((changed["daily_starter_budget"], changed["color"]), (50, None))
        self.assertEqual(changed["max_overage_percent"], 20)

    def test_an_operator_finds_an_account_by_its_address_and_changes_its_credits_once(self) -> None:
        self.admin.save_oauth_client("sketch", "python", name="S", redirect_uris=["https://s.example.com/b"], public=False)
        replaced = self.admin.replace_client_secret("sketch", "python", now=True)
        self.assertRegex(replaced["client_secret"] or "", "^pb_cs_")
        operator = self.admin.list_operators()["operators"][0]["entry"]
        key = str(uuid.uuid4())
        given = [
            self.admin.adjust_credits(operator, amount=7, reason="a test", idempotency_key=key)["credits"]
            for _ in range(2)
        ]
        self.assertEqual(given[0], given[1])
        self.assertEqual(self.admin.inspect_account(operator)["account"]["credits"], given[0])
        csv = self.admin.list_audit_csv(act="account.credits")
        self.assertIn('"a test"', csv)
        self.assertIn("person", self.admin.export_account(operator))

    def test_a_call_of_operators_raises_the_refusal_of_other_callers_also_for_csv(self) -> None:
        ada = PassbookAdmin(URL, token=sign_in("ada"))
        for call in (ada.find_accounts, ada.list_audit_csv):
            with self.assertRaises(PassbookError) as caught:
                call()
            self.assertEqual((caught.exception.code, caught.exception.status), ("not_operator", 403))
