"""Sends a mail to one recipient by SMTP."""

from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Literal

import aiosmtplib

_TIMEOUT_S = 10.0
_FOR_GOOD = 500


class MailError(Exception):
    """The mail server rejected it; the text is the reason, for administrators.

    for_good: permanent, so that retries are useless.
    """

    def __init__(self, text: str, *, for_good: bool = False) -> None:
        super().__init__(text)
        self.for_good = for_good


@dataclass(frozen=True)
class MailServer:
    """The mail server. user empty: no authentication."""

    host: str
    port: int
    tls: Literal["none", "starttls", "tls"]
    sender: str
    user: str = ""
    password: str = ""


@dataclass(frozen=True)
class Letter:
    """A mail, as plain text and as HTML."""

    subject: str
    text: str
    html: str


async def send(server: MailServer, to: str, letter: Letter, *, name: str | None = None) -> None:
    """Send a mail. name: its message id, equal for all retries, by which mailboxes detect duplicates; generated if
    None. Raises: MailError.
    """
    message = EmailMessage()
    message["From"] = server.sender
    message["To"] = to
    message["Subject"] = letter.subject
    message["Date"] = formatdate()
    message["Message-ID"] = _message_id(name, server.sender.rpartition("@")[2])
    # Prevents automatic replies.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    message.add_alternative(letter.html, subtype="html")
    try:
        await aiosmtplib.send(
            message,
            hostname=server.host,
            port=server.port,
            use_tls=server.tls == "tls",
            start_tls=server.tls == "starttls",
            username=server.user or None,
            password=server.password if server.user else None,
            timeout=_TIMEOUT_S,
        )
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        detail = f"{server.host}:{server.port}: {error or type(error).__name__}"
        raise MailError(detail, for_good=_is_for_good(error)) from error


def _message_id(name: str | None, domain: str) -> str:
    return f"<{name}@{domain}>" if name else make_msgid(domain=domain)


def _is_for_good(error: Exception) -> bool:
    """True for replies from 500 on that concern the mail, not the sender's access (RFC 5321, 4.2.1)."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        return all(refused.code >= _FOR_GOOD for refused in error.recipients)
    if isinstance(error, aiosmtplib.SMTPDataError | aiosmtplib.SMTPRecipientRefused):
        return error.code >= _FOR_GOOD
    return False
