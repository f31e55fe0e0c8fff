"""The SSH server over one container of an engine, for everybody: what needs no database."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import cast

from carrel.core.ids import ContainerId, SessionId, UserId
from carrel.db.encryption import SecretBox
from carrel.engines.port import Engine
from carrel.gateway.ssh_access import Cut, Entrance, SshAccess, SshProof
from carrel.gateway.ssh_listener import SshListener, SshServer
from carrel.http.guard import ConnectionLimit
from carrel.permissions.decide import Actor
from carrel.tables.sessions import Session
from carrel.usage.idle.activity import Activity

SOMEBODY = SshProof(UserId("somebody"), key="any")


class OpenAccess:
    """In place of `SshAccess`: every key opens the container."""

    def __init__(self, container: ContainerId, address: str | None) -> None:
        session = Session(id=SessionId("any"), name="any")
        self._entrance = Entrance(SOMEBODY, cast(Actor, None), session, container, address, "")

    async def by_key(self, fingerprint: str) -> list[SshProof]:
        return [SOMEBODY]

    async def enter(self, proofs: Sequence[SshProof], ref: str, address: str) -> Entrance:
        return self._entrance

    async def note(self, entrance: Entrance, details: dict[str, object]) -> None:
        """Nothing."""

    @contextmanager
    def watching(self, entrance: Entrance, cut: Cut) -> Iterator[None]:
        yield


@asynccontextmanager
async def ssh_over(engine: Engine, container: ContainerId, address: str | None) -> AsyncIterator[int]:
    """The port of a server that lets everybody into the container."""

    async def engine_of(_: ContainerId) -> Engine:
        return engine

    access = cast(SshAccess, OpenAccess(container, address))
    activity = cast(Activity, SimpleNamespace(recorder_of=lambda _: lambda: None))
    listener = SshListener(SshServer(access, activity, SecretBox(b"k" * 32), engine_of), ConnectionLimit(0))
    port = listener.start("127.0.0.1", 0)
    assert port
    try:
        yield port
    finally:
        await listener.close()
