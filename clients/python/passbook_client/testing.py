"""The whole service on this machine, for the tests of an app.

It needs Node 22 or newer, and the npm package: ``npm install --save-dev passbook-client miniflare``.
"""
from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = ["Passbook", "start_passbook"]

_STOP_SECONDS = 20


class Passbook:
    """A running service. Use it as a context manager, or call ``stop``."""

    def __init__(self, process: subprocess.Popen[str], url: str, seed: Mapping[str, Any]) -> None:
        self.url = url
        """The service's address: the ``base_url`` of your clients."""
        self._process = process
        self._seed = seed
        self._keys: dict[str, str] = {}
        self._identities: dict[str, str] = {}

    def token_of(self, email: str, *, origin: str | None = None) -> str:
        """A new session token of a person, for 15 minutes of the kit's clock. ``origin``: the page that it is for."""
        self.identity_of(email)
        person = {"email": email} if origin is None else {"email": email, "origin": origin}
        return str(self._post("/dev/seed", {"people": [person]})["people"][0]["token"])

    def key_of(self, slug: str) -> str:
        """The key of an app's server. It begins with ``pb_app_test_``, and is the same in every run."""
        return _known(self._keys, slug, "apps")

    def identity_of(self, email: str) -> str:
        """The identity of a person, by which an app's server names the account."""
        return _known(self._identities, email, "people")

    def give(self, email: str, credits: int) -> int:
        """Gives credits to a person. Returns their balance."""
        self.identity_of(email)
        return int(self._post("/dev/give", {"email": email, "credits": credits})["credits"])

    def advance(self, seconds: int) -> datetime:
        """Moves the service's clock. What is due on the way happens at its time. Returns the time."""
        now = str(self._post("/dev/clock", {"advance_seconds": seconds})["now"])
        return datetime.fromisoformat(now.replace("Z", "+00:00"))

    def reset(self) -> None:
        """As after the start: no jobs, the same apps and people, the real time."""
        self._post("/dev/reset", {})
        self._prepare()

    def stop(self) -> None:
        """Ends the service and its processes."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Passbook:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _prepare(self) -> None:
        seeded = self._post("/dev/seed", self._seed)
        self._keys = {app["slug"]: app["key"] for app in seeded["apps"]}
        self._identities = {person["email"]: person["identity_id"] for person in seeded["people"]}

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method="POST")
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode(errors="replace")
            raise RuntimeError(f"POST {path} gave {error.code}: {text}") from None


def start_passbook(
    *,
    apps: Sequence[str | Mapping[str, Any]] = (),
    people: Sequence[str | Mapping[str, Any]] = (),
    credits: int = 0,
) -> Passbook:
    """Starts the service with apps and people. Two may run at once.

    ``apps``: slugs, or mappings of ``slug`` with ``name``, ``settle`` and ``starter_credits``. ``people``: addresses, or
    mappings of ``email`` with ``credits``. ``credits``: the credits of people without their own number. Their accounts are
    open for all apps. Raises ``RuntimeError`` if Node or the npm package is missing; the message says what to install.
    """
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("The service runs on Node 22 or newer, and there is no node on the PATH.")
    # The service ends with this process, even if that is killed.
    command = [node, str(_find_command()), "--json", "dev", "--port", "0", "--with-parent"]
    # A file, because nobody reads a pipe while the service runs.
    log = tempfile.TemporaryFile("w+")
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if line == "":
        process.stdout.close()
        process.wait()
        log.seek(0)
        problem = log.read().strip()
        log.close()
        raise RuntimeError(f"The service did not start: {problem}")
    seed = {"apps": list(apps), "people": list(people), "credits": credits}
    log.close()
    passbook = Passbook(process, json.loads(line)["url"], seed)
    try:
        passbook._prepare()
    except BaseException:
        passbook.stop()
        raise
    return passbook


def _find_command() -> Path:
    """The command line of the npm package, in this folder or one above it."""
    for folder in [Path.cwd(), *Path.cwd().parents]:
        command = folder / "node_modules" / "passbook-client" / "cli" / "main.js"
        if command.is_file():
            return command
    raise RuntimeError(
        "The service comes with the npm package, which is not installed in this folder or one above it. "
        "Run: npm install --save-dev passbook-client miniflare"
    )


def _known(values: Mapping[str, str], name: str, argument: str) -> str:
    if name not in values:
        raise RuntimeError(f"{argument} has no {name}. Name it in start_passbook.")
    return values[name]
