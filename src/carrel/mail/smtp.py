"""One letter to one person, handed to a mail server."""

from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Literal

import aiosmtplib

_TIMEOUT_S = 10.0


class MailError(Exception):
    """The mail server did not take it; the text says why, for an administrator."""


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed in. user empty: nobody signs in."""

    host: str
    port: int
    tls: Literal["none", "starttls", "tls"]
    sender: str
    user: str = ""
    password: str = ""


@dataclass(frozen=True)
class Letter:
    """The same words twice: as plain text and as HTML."""

    subject: str
    text: str
    html: str


async def send(server: MailServer, to: str, letter: Letter) -> None:
    """Hand a letter in. Raises: MailError."""
    message = EmailMessage()
    message["From"] = server.sender
    message["To"] = to
    message["Subject"] = letter.subject
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=server.sender.rpartition("@")[2])
    # Nobody answers a machine, and no machine should.
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
        raise MailError(f"{server.host}:{server.port}: {error or type(error).__name__}") from error
