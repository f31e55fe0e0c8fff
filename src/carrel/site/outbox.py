"""The mail outbox: letters are written transactionally and retried until they are accepted or expire."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from datetime import datetime, timedelta

import orjson
import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Unavailable
from carrel.core.ids import new_id
from carrel.db.database import notify
from carrel.db.encryption import SecretBox
from carrel.mail.smtp import Letter, MailError, MailServer, send
from carrel.site import service as site
from carrel.tables.site import QueuedLetter

log = structlog.get_logger()

TOPIC = "outbox"
_FIRST_PAUSE = timedelta(seconds=30)
_LONGEST_PAUSE = timedelta(minutes=30)

_Transaction = Callable[[], AbstractAsyncContextManager[AsyncSession]]


async def put(
    tx: AsyncSession, seal: SecretBox, to: str, letter: Letter, now: datetime, lifetime: timedelta
) -> None:
    """Queue a letter, sent soon after this transaction commits; without a mail server: no-op."""
    if not (await site.settings(tx)).sends_mail:
        return
    letter_id = new_id()
    sealed = seal.close(orjson.dumps(asdict(letter)), _purpose(letter_id))
    tx.add(QueuedLetter(id=letter_id, recipient=to, letter=sealed, next_at=now, expires_at=now + lifetime))
    await tx.flush()
    await notify(tx, TOPIC)


async def send_due(transaction: _Transaction, seal: SecretBox, now: datetime) -> timedelta | None:
    """Send each due letter. Returns the time of the next retry; None: wait for a new letter.

    After a failure the mail server is not contacted for a while. A letter that is sent twice (after a crash before
    the acknowledgement) has the same Message-ID.
    """
    while True:
        async with transaction() as tx:
            await tx.execute(delete(QueuedLetter).where(QueuedLetter.expires_at <= now))
            # Failed letters come last, so that they do not block others.
            due = select(QueuedLetter).where(QueuedLetter.next_at <= now)
            row = (await tx.execute(due.order_by(QueuedLetter.tries, QueuedLetter.next_at).limit(1))).scalar()
            if row is None:
                earliest = (await tx.execute(select(func.min(QueuedLetter.next_at)))).scalar()
                return earliest - now if earliest else None
            server = server_of(await site.mail_account(tx, seal))
        error = await _try(server, seal, row) if server else MailError("No mail server is set.")
        async with transaction() as tx:
            await _settle(tx, row, error, now)


def server_of(account: site.MailAccount) -> MailServer | None:
    """The mail server of the settings; None: there is none."""
    settings = account.settings
    if settings.mail_sender is None or not settings.mail_host:
        return None
    return MailServer(
        settings.mail_host,
        settings.mail_port,
        settings.mail_tls.value,
        settings.mail_sender,
        user=settings.mail_user,
        password=account.password or "",
    )


async def _try(server: MailServer, seal: SecretBox, row: QueuedLetter) -> MailError | None:
    try:
        letter = Letter(**orjson.loads(seal.open(row.letter, _purpose(row.id))))
    except Unavailable as error:  # encrypted with another installation's key
        return MailError(error.message, for_good=True)
    except (TypeError, ValueError) as error:  # written by another version
        return MailError(f"A letter cannot be read: {error}", for_good=True)
    try:
        await send(server, row.recipient, letter, name=row.id)
    except MailError as error:
        log.warning("mail.failed", server=server.host, error=str(error), tries=row.tries + 1)
        return error
    return None


async def _settle(tx: AsyncSession, row: QueuedLetter, error: MailError | None, now: datetime) -> None:
    """Delete or postpone a letter, and store the mail status."""
    if error is None or error.for_good:
        await tx.execute(delete(QueuedLetter).where(QueuedLetter.id == row.id))
    else:
        # Doubling overflows timedelta after a day of retries.
        pause = min(_FIRST_PAUSE * 2 ** min(row.tries, 10), _LONGEST_PAUSE)
        await tx.execute(
            update(QueuedLetter)
            .where(QueuedLetter.next_at < now + _FIRST_PAUSE)
            .values(next_at=now + _FIRST_PAUSE)
        )
        await tx.execute(
            update(QueuedLetter)
            .where(QueuedLetter.id == row.id)
            .values(tries=row.tries + 1, next_at=now + pause)
        )
    await site.note_mail(tx, now, str(error) if error else None)


def _purpose(letter_id: str) -> str:
    return f"outbox:{letter_id}"
