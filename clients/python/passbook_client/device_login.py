"""Device login (RFC 8628): how a program without a browser gets a personal access token."""
from __future__ import annotations

from typing import Any, Callable, Mapping

from . import types
from .call import Call
from .credentials import FixedToken
from .errors import PassbookError
from .transport import Transport

#: Added to the polling interval for each `slow_down` response (RFC 8628, section 3.5).
_SLOW_DOWN_SECONDS = 5.0
_INTERVAL_MAX_SECONDS = 60.0


class DeviceLogin:
    """The requests of one login, and what follows from their responses. It sends nothing itself."""

    def __init__(self, client: Mapping[str, str | None]) -> None:
        #: A repeated request starts another login. The first one expires unused.
        self.start = Call("POST", "/api/device/start", body=client, keyed=True, field="device_code")
        self.interval = 0.0
        self._left = 0.0
        self._device_code = ""

    def started(self, code: types.DeviceAuthorization) -> types.DeviceAuthorization:
        self.interval, self._left = float(code["interval"]), float(code["expires_in"])
        self._device_code = code["device_code"]
        return code

    @property
    def goes_on(self) -> bool:
        return self._left >= 0

    @property
    def poll(self) -> Call:
        """To be sent once: a lost response may have had the token, and the next poll says so."""
        return Call("GET", "/api/device/poll", query={"device_code": self._device_code})

    def polled(self, response: Mapping[str, Any]) -> str | None:
        """The token; None while the person has not decided."""
        self._left -= self.interval
        if isinstance(response.get("token"), str):
            return str(response["token"])
        if response.get("code") == "slow_down":
            self.interval += _SLOW_DOWN_SECONDS
        return None

    def failed(self, error: PassbookError) -> None:
        """Raises the error if the login has ended. After a network failure the interval doubles (section 3.5)."""
        if error.is_refusal:
            raise error
        self._left -= self.interval
        self.interval = min(_INTERVAL_MAX_SECONDS, self.interval * 2)

    def too_late(self) -> PassbookError:
        return PassbookError("expired_token", "The login was not approved in time. Start it again.")


def log_in_device(
    transport: Transport,
    on_code: Callable[[types.DeviceAuthorization], None],
    client: Mapping[str, str | None],
) -> str:
    """Starts a login, shows its code, and polls until a person has decided."""
    nobody = FixedToken("")
    login = DeviceLogin(client)
    on_code(login.started(transport.send(login.start, nobody)))
    while login.goes_on:
        transport.wait(login.interval)
        try:
            token = login.polled(transport.send_once(login.poll, nobody))
        except PassbookError as error:
            login.failed(error)
            continue
        if token is not None:
            return token
    raise login.too_late()
