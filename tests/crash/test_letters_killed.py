"""`kill -9` of the control plane while it hands a letter to a real mail server."""

import asyncio
import email
import json
from collections.abc import Callable, Iterator
from email.message import Message

import httpx2
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from crash.control_plane import API, ControlPlaneProcess
from crash.place import Place
from people import eventually
from ports import free_port


class MailServer:
    """Takes every letter. strike: called once, when this moment of handing one in is reached, before the reply."""

    def __init__(self) -> None:
        self.taken: list[Message] = []
        self.moment = ""
        self.strike: Callable[[], None] = lambda: None

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, name: str, replies: list[str]
    ) -> list[str]:
        session.host_name = name
        self._reach("greeting", "")
        return replies

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, to: str, options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(to)
        return self._reach("recipient", "250 OK")

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert envelope.content
        self.taken.append(email.message_from_bytes(bytes(envelope.content)))
        return self._reach("letter", "250 OK")

    async def handle_QUIT(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        return self._reach("farewell", "221 Bye")

    def _reach(self, moment: str, reply: str) -> str:
        if moment == self.moment:
            self.moment = ""
            self.strike()
        return reply


@pytest.fixture
def mail() -> Iterator[tuple[MailServer, int]]:
    letters, port = MailServer(), free_port()
    server = Controller(letters, hostname="127.0.0.1", port=port)
    server.start()
    yield letters, port
    server.stop()


@pytest.mark.parametrize(
    ("moment", "most"), [("greeting", 1), ("recipient", 1), ("letter", 2), ("farewell", 2)]
)
async def test_a_letter_survives_a_kill_and_comes_twice_at_most(
    place: Place, mail: tuple[MailServer, int], moment: str, most: int
) -> None:
    letters, port = mail
    plane = place.plane
    assert isinstance(plane, ControlPlaneProcess)
    struck = asyncio.Event()
    loop = asyncio.get_running_loop()

    def strike() -> None:
        plane.kill()
        loop.call_soon_threadsafe(struck.set)

    letters.moment, letters.strike = moment, strike
    await place.comes_to_rest()
    settings = {
        "mail_host": "127.0.0.1",
        "mail_port": port,
        "mail_tls": "none",
        "mail_sender": "c@example.org",
    }
    with place.looking() as look:
        look.execute(
            "INSERT INTO site (id, values) VALUES (1, %(v)s) ON CONFLICT (id) DO UPDATE SET values = %(v)s",
            {"v": json.dumps(settings)},
        )

    async def ask() -> bool:
        try:
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{plane.port}{API}") as client:
                return (
                    await client.post("/auth/forgot", json={"email": "user@example.org"})
                ).status_code == 202
        except httpx2.TransportError:
            return False

    def waiting() -> int:
        with place.looking() as look:
            row = look.execute("SELECT count(*) FROM outbox").fetchone()
        return int(str(row[0])) if row else 0

    await eventually(ask, every_s=0.2)
    async with asyncio.timeout(30):
        await struck.wait()
    assert waiting() == 1, "it is removed when the mail server has taken it, no sooner"
    plane.start()

    async def sent() -> bool:
        return waiting() == 0

    await eventually(sent, every_s=0.1)
    assert 1 <= len(letters.taken) <= most
    assert {letter["To"] for letter in letters.taken} == {"user@example.org"}
    assert len({letter["Message-ID"] for letter in letters.taken}) == 1, (
        "by which a mailbox knows a second copy"
    )
    assert "reset-password#token" in letters.taken[0].as_string()
