"""Sending mail beside what people wait for: a slow or broken mail server holds nobody up."""

import asyncio
from collections.abc import Coroutine

import structlog

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.db.database import Database
from carrel.db.seal import Seal
from carrel.mail.smtp import Letter, MailError, MailServer, send
from carrel.site import service as site

log = structlog.get_logger()

_FAREWELL_S = 5.0


class Mailer:
    """Lives in `app.state.mailer`. What goes wrong is logged, and shown in the settings."""

    def __init__(self, database: Database, seal: Seal, clock: Clock) -> None:
        self._database = database
        self._seal = seal
        self._clock = clock
        self._under_way: set[asyncio.Task[None]] = set()

    def soon(self, work: Coroutine[None, None, None]) -> None:
        """Do the work, which ends in a letter, without anybody waiting for it."""
        task = asyncio.create_task(self._kept(work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def deliver(self, to: str, letter: Letter) -> str | None:
        """Hand a letter to the mail server; gives why not, or None."""
        async with self._database.transaction() as tx:
            account = await site.mail_account(tx, self._seal)
        wanted = account.settings
        if wanted.mail_sender is None or not wanted.mail_host:
            return "No mail server is set."
        server = MailServer(
            wanted.mail_host, wanted.mail_port, wanted.mail_tls.value, wanted.mail_sender,
            user=wanted.mail_user, password=account.password or "",
        )  # fmt: skip
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

    async def _kept(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except CarrelError as error:
            log.warning("mail.not_written", code=error.code)
