"""Send mail in the background, so that response times reveal neither the mail server nor existing accounts."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.mail.smtp import Letter, MailError, send
from carrel.site import outbox
from carrel.site import service as site

log = structlog.get_logger()

_FAREWELL_S = 5.0


class Mailer:
    """Sends mail after the response, with retries."""

    def __init__(self, database: Database, seal: SecretBox, clock: Clock) -> None:
        self._database = database
        self._seal = seal
        self._clock = clock
        self._under_way: set[asyncio.Task[None]] = set()

    def soon(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run the work in the background."""
        task = asyncio.create_task(self._kept(work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def put(self, tx: AsyncSession, to: str, letter: Letter, lifetime: timedelta) -> None:
        """Queue a letter in this transaction; retried until it expires."""
        await outbox.put(tx, self._seal, to, letter, self._clock.now(), lifetime)

    async def try_now(self, to: str, letter: Letter) -> str | None:
        """Send a letter once; returns the error, or None."""
        async with self._database.transaction() as tx:
            server = outbox.server_of(await site.mail_account(tx, self._seal))
        if server is None:
            return "No mail server is set."
        error = None
        try:
            await send(server, to, letter)
        except MailError as why:
            error = str(why)
            log.warning("mail.failed", server=server.host, error=error)
        async with self._database.transaction() as tx:
            await site.note_mail(tx, self._clock.now(), error)
        return error

    async def close(self) -> None:
        """Wait a few seconds for work in progress. Twice: no-op."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_FAREWELL_S)
            for task in late:
                task.cancel()

    async def _kept(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except CarrelError as error:
            log.warning("mail.not_written", code=error.code)
