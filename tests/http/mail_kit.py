"""A real SMTP server on loopback, and the letters that it was given."""

import email
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import Message
from email.policy import default

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from auth_kit import set_site
from installation import Api
from people import eventually


@dataclass
class Letters:
    """A mail server on loopback, and what it was given."""

    port: int = 0
    got: list[Message] = field(default_factory=list)
    refuse: str = ""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.refuse:
            return self.refuse
        assert envelope.content
        self.got.append(email.message_from_bytes(bytes(envelope.content), policy=default))
        return "250 OK"

    async def newest(self, count: int) -> tuple[Message, str]:
        """The newest letter, once there are so many, with its plain text."""

        async def there() -> bool:
            return len(self.got) >= count

        await eventually(there)
        assert len(self.got) == count
        body = self.got[-1].get_body(("plain",))  # type: ignore[attr-defined]
        return self.got[-1], body.get_content()


def check(server: SMTP, session: Session, envelope: Envelope, mechanism: str, auth: object) -> AuthResult:
    right = isinstance(auth, LoginPassword) and (auth.login, auth.password) == (b"carrel", b"mail secret")
    return AuthResult(success=right, handled=False)


class FreePort(Controller):
    """A controller whose port is known once it listens."""

    def _trigger_server(self) -> None:
        assert self.server
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@asynccontextmanager
async def mail_server(api: Api) -> AsyncIterator[Letters]:
    """The mail server of the installation, until the block ends."""
    letters = Letters()
    server = FreePort(
        letters, hostname="127.0.0.1", port=0, authenticator=check, auth_required=True, auth_require_tls=False
    )
    server.start()
    letters.port = server.port
    await set_site(
        api,
        mail_host="127.0.0.1",
        mail_port=letters.port,
        mail_tls="none",
        mail_sender="carrel@example.org",
        mail_user="carrel",
        mail_password="mail secret",
    )
    yield letters
    server.stop()
