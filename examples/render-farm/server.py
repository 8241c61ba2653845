"""The same render farm in Python: `pip install ./clients/python`, then `python3 server.py`."""
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from passbook_client import AppServer, PassbookError, verify_webhook

BASE_URL = os.environ.get("PASSBOOK_URL", "http://localhost:8787")
APP = os.environ.get("PASSBOOK_APP", "render-farm")
PORT = int(os.environ.get("PORT", "3000"))
ORIGIN = os.environ.get("ORIGIN", f"http://localhost:{PORT}")
FRAMES = 5
CREDITS_PER_FRAME = 4

PAGE = (
    (Path(__file__).parent / "page.html")
    .read_text("utf-8")
    .replace("%PASSBOOK_URL%", BASE_URL)
    .replace("%PASSBOOK_APP%", APP)
)
passbook = AppServer(BASE_URL, app_key=os.environ.get("PASSBOOK_APP_KEY", ""))
accounts: dict[str, dict] = {}
secret = ""


def account_of(identity: str) -> dict:
    return accounts.setdefault(identity, {"credits": None, "held": None, "line": 0, "progress": ""})


def render(identity: str) -> None:
    account = account_of(identity)
    try:
        with passbook.account(identity).run_job(
            app=APP,
            action="film",
            cost_estimate=FRAMES * CREDITS_PER_FRAME,
            ttl_seconds=300,
            on_failure="charge_spent",
        ) as job:
            for frame in range(1, FRAMES + 1):
                time.sleep(0.1)  # the real work
                # If this server dies, the person pays only for the frames that are done.
                job.progress(spent=frame * CREDITS_PER_FRAME, ttl_seconds=300)
                account["progress"] = f"{frame} of {FRAMES} frames"
            job.actual_cost = FRAMES * CREDITS_PER_FRAME
    except PassbookError as error:
        account["progress"] = str(error)


def open_webhook() -> str:
    """Creates the webhook, or replaces its secret, which a restarted server does not know."""
    if any(webhook["id"] == "balance" for webhook in passbook.list_webhooks()["webhooks"]):
        return passbook.rotate_webhook_secret("balance")["secret"] or ""
    events = ["job.created", "job.completed", "job.failed", "job.expired"]
    saved = passbook.save_webhook("balance", url=f"{ORIGIN}/webhook", events=events)
    return saved["secret"] or ""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/":
            return self.send(200, PAGE.encode(), "text/html; charset=utf-8")
        self.answer(lambda: self.state() if path == "/state" else (404, {"error": "Not found."}))

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        calls = {"/render": self.start, "/webhook": self.receive}
        self.answer(calls.get(path, lambda: (404, {"error": "Not found."})))

    def person(self) -> str:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return passbook.identify(token, origins=[ORIGIN])

    def state(self) -> tuple[int, dict]:
        return 200, account_of(self.person())

    def start(self) -> tuple[int, dict]:
        identity = self.person()
        account_of(identity)["progress"] = "Starting …"
        threading.Thread(target=render, args=[identity]).start()
        return 202, {}

    def receive(self) -> tuple[int, dict]:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        data = verify_webhook(body, dict(self.headers), secret).event["data"]
        account = account_of(data["identity_id"])
        # A repeated delivery may be older than what is known.
        if data["line"] >= account["line"]:
            account.update(line=data["line"], credits=data["credits"], held=data["held"])
        return 200, {}

    def answer(self, call) -> None:
        try:
            status, body = call()
        except PassbookError as error:
            status, body = error.status or 401, {"error": str(error)}
        self.send(status, json.dumps(body).encode(), "application/json")

    def send(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
try:
    secret = open_webhook()
except PassbookError as error:
    sys.exit(str(error))
print(f"Listening on {ORIGIN}", flush=True)
threading.Event().wait()
