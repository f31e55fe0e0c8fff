"""Writing to people beside what they wait for: neither the mail server nor who has an account shows in an answer."""

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
    """Sends letters after the answer, and tries again."""

    def __init__(self, database: Database, seal: SecretBox, clock: Clock) -> None:
        self._database = database
        self._seal = seal
        self._clock = clock
        self._under_way: set[asyncio.Task[None]] = set()

    def soon(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work, which ends in a letter, without anybody waiting for it."""
        task = asyncio.create_task(self._kept(work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def put(self, tx: AsyncSession, to: str, letter: Letter, lifetime: timedelta) -> None:
        """Have a letter sent when this transaction has committed, tried again for as long as it is of use."""
        await outbox.put(tx, self._seal, to, letter, self._clock.now(), lifetime)

    async def try_now(self, to: str, letter: Letter) -> str | None:
        """Hand a letter to the mail server once; gives why not, or None."""
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
        """Give what is under way a few seconds. Twice: no-op."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_FAREWELL_S)
            for task in late:
                task.cancel()

    async def _kept(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except CarrelError as error:
            log.warning("mail.not_written", code=error.code)
