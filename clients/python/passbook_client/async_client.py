"""The client of one service for asyncio. It needs httpx: `pip install "passbook-client[httpx]"`."""
from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any, AsyncContextManager, AsyncGenerator, Callable, Protocol
from urllib.parse import quote

from . import types
from .async_calls import AsyncCalls
from .call import Call
from .client import PassbookClient
from .credentials import Credentials, FixedToken, Token
from .device_login import DeviceLogin
from .errors import PassbookError
from .events import Event, Following, Lines
from .run_job import RunningJob
from .tokens import AsyncTokens
from .transport import Options, Transport, may_repeat, no_response_of, pause_before, read_response


class AsyncResponse(Protocol):
    """The part of `httpx.Response` that the client needs."""

    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def content(self) -> bytes: ...
    async def aread(self) -> bytes: ...
    def aiter_lines(self) -> AsyncIterator[str]: ...


class AsyncHttp(Protocol):
    """The part of `httpx.AsyncClient` that the client needs. It must not follow redirects, as httpx does not by itself."""

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None, timeout: float
    ) -> AsyncResponse: ...
    def stream(
        self, method: str, url: str, *, headers: Mapping[str, str], timeout: float
    ) -> AsyncContextManager[AsyncResponse]: ...


class AsyncPassbookClient(AsyncCalls):
    """
    The calls of `PassbookClient`, as coroutines. Tasks of one event loop may share a client.

    `run_job` and the renewal of a session token run in threads, with the standard library: so a job keeps all promises of the
    other client's.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Token | None = None,
        app_key: str | None = None,
        identity: str | None = None,
        on_token: Callable[[str], None] | None = None,
        timeout_seconds: float = 10.0,
        retries: int = 4,
        http: AsyncHttp | None = None,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """
        Sends nothing yet. The other parameters are those of `PassbookClient`.

        :param http: An `httpx.AsyncClient` of your own. If omitted, the client makes one, which `aclose` closes.
        """
        self._sync = PassbookClient(
            base_url,
            token=token,
            app_key=app_key,
            identity=identity,
            on_token=on_token,
            timeout_seconds=timeout_seconds,
            retries=retries,
        )
        self._transport: Transport = self._sync._transport
        self._credentials: Credentials = self._sync._credentials
        self._own_http = None if http is not None else _new_http()
        self._http: Any = http if http is not None else self._own_http
        self._wait = wait

    async def __aenter__(self) -> AsyncPassbookClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections, and waits for the background requests of jobs."""
        if self._own_http is not None:
            await self._own_http.aclose()
        await asyncio.to_thread(self._sync.when_idle)

    @contextlib.asynccontextmanager
    async def run_job(self, **options: Any) -> AsyncGenerator[AsyncRunningJob, None]:
        """`PassbookClient.run_job`, with the same parameters, for `async with`."""
        running = self._sync.run_job(**options)
        job = await asyncio.to_thread(running.__enter__)
        try:
            yield AsyncRunningJob(job)
        except BaseException as error:
            # The refund is sent also if the task is cancelled meanwhile.
            await asyncio.shield(asyncio.to_thread(running.__exit__, type(error), error, error.__traceback__))
            raise
        await asyncio.shield(asyncio.to_thread(running.__exit__, None, None, None))

    @property
    def tokens(self) -> AsyncTokens:
        """As `PassbookClient.tokens`."""
        return AsyncTokens(self._send)

    async def session_token(self, *, template: str | None = None) -> str:
        """As `PassbookClient.session_token`."""
        return await self._token(Call("GET", "/api/sessionToken", query={"template": template}, field="token"))

    async def oauth_token(self, provider: str) -> str:
        """As `PassbookClient.oauth_token`."""
        return await self._token(Call("GET", f"/api/oauthToken/{quote(provider, safe='')}", field="token"))

    async def social_token(self) -> str:
        """As `PassbookClient.social_token`."""
        return await self._token(Call("GET", "/api/socialToken", field="token"))

    async def log_in_device(
        self,
        *,
        on_code: Callable[[types.DeviceAuthorization], None],
        client_name: str | None = None,
        app: str | None = None,
    ) -> str:
        """As `PassbookClient.log_in_device`."""
        login = DeviceLogin({"client_name": client_name, "app": app})
        on_code(login.started(await self._send_by(login.start, FixedToken(""))))
        while login.goes_on:
            await self._wait(login.interval)
            try:
                token = login.polled(await self._attempt(login.poll, "", None, Options()))
            except PassbookError as error:
                login.failed(error)
                continue
            if token is not None:
                return token
        raise login.too_late()

    async def events(self, *, after: int | None = None) -> AsyncGenerator[Event, None]:
        """As `PassbookClient.events`."""
        following = Following(after, self._transport.retries)
        while True:
            token = await asyncio.to_thread(self._credentials.token)
            try:
                async for event in self._stream(following.call, token):
                    if following.is_new(event):
                        yield event
            except PassbookError as error:
                if following.may_reauthorise(error) and await asyncio.to_thread(self._credentials.replace, token):
                    continue
                following.failed(error)
            await self._wait(following.pause())

    async def _stream(self, call: Call, token: str) -> AsyncGenerator[Event, None]:
        url, headers, _ = self._transport.prepared(call, token, None)
        lines = Lines()
        try:
            request = {"headers": {**headers, "Accept": "text/event-stream"}, "timeout": Lines.SILENCE_SECONDS}
            async with self._http.stream("GET", url, **request) as response:
                if response.status_code != 200:
                    read_response(response.status_code, response.headers, await response.aread(), call)
                async for line in response.aiter_lines():
                    event = lines.read(line)
                    if event is not None:
                        yield event
        except (PassbookError, GeneratorExit):
            raise
        except Exception as error:
            if not _is_of_network(error):
                raise
            raise no_response_of(url, error) from error

    async def _token(self, call: Call) -> str:
        return str((await self._send(call))["token"])

    async def _send(self, call: Call) -> Any:
        return await self._send_by(call, self._credentials)

    async def _send_by(self, call: Call, credentials: Credentials | FixedToken) -> Any:
        options = Options()
        key = (call.idempotency_key or str(uuid.uuid4())) if call.keyed else None
        attempt, reauthorised = 0, False
        while True:
            attempt += 1
            # A renewal sends a request.
            token = await asyncio.to_thread(credentials.token)
            try:
                return await self._attempt(call, token, key, options)
            except PassbookError as error:
                if error.status == 401 and not reauthorised:
                    reauthorised = True
                    if await asyncio.to_thread(credentials.replace, token):
                        continue
                delay = pause_before(attempt, error)
                if not may_repeat(call, error, options) or self._transport.is_exhausted(attempt, delay, options):
                    raise
            await self._wait(delay)

    async def _attempt(self, call: Call, token: str, key: str | None, options: Options) -> Any:
        url, headers, content = self._transport.prepared(call, token, key)
        try:
            response = await self._http.request(
                call.method, url, headers=headers, content=content, timeout=self._transport.timeout_seconds
            )
        except Exception as error:
            if not _is_of_network(error):
                raise
            raise no_response_of(url, error) from error
        return read_response(response.status_code, response.headers, response.content, call)


class AsyncRunningJob:
    """A `RunningJob` for `async with`: set its `actual_cost`, and await its `progress`."""

    def __init__(self, job: RunningJob) -> None:
        object.__setattr__(self, "_job", job)

    async def progress(self, **report: Any) -> types.ProgressedJob | None:
        """As `RunningJob.progress`, with the same parameters."""
        return await asyncio.to_thread(lambda: self._job.progress(**report))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._job, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._job, name, value)


def _new_http() -> Any:
    try:
        import httpx
    except ImportError as error:
        message = "AsyncPassbookClient needs httpx: pip install 'passbook-client[httpx]', or pass http."
        raise PassbookError("invalid_argument", message) from error
    return httpx.AsyncClient(follow_redirects=False)


def _is_of_network(error: Exception) -> bool:
    """Whether no response came. httpx has exceptions of its own, which are not imported without it."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return isinstance(error, OSError) or "TransportError" in names
