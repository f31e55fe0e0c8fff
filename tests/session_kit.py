"""Sessions: small requests, sessions in the queue without a server, and rows in any state."""

from typing import Any

from people import People
from sqlalchemy import text, update

import carrel.tables.nodes  # noqa: F401 - sessions refer to it
from carrel.core.clock import SystemClock
from carrel.core.ids import ContainerId, SessionId, new_id
from carrel.db.database import Database
from carrel.permissions.decide import Actor
from carrel.sessions import service
from carrel.sessions.spec import SessionSpec
from carrel.tables.session_states import LIFECYCLE, ContainerRole, ContainerState, SessionState
from carrel.tables.sessions import Container, Session

SMALL = {"cpu": 100, "mem": 64 << 20}
TINY = SessionSpec(image="tiny", slots={"cpu": 1, "mem": 1})
_HISTORY = """
    WITH filled AS (
        INSERT INTO sessions (id, name, kind, owner_id, project_id, domain_id, image, apps, slots, spec, state,
            warnings, attempts, restarts, created_at, ended_at)
        SELECT 'a' || translate(lpad(to_hex(n), 11, '0'), '0189', 'ghij'), 'desk-' || n, 'interactive', :user,
            :project, :domain, 'debian:12', '[]', '{}', '{}', 'TERMINATED', '[]', 0, 0,
            now() - n * interval '30 s', now()
        FROM generate_series(1, CAST(:count AS integer)) n RETURNING *
    )
    INSERT INTO containers (id, session_id, role, index, host, image, slots, state, ended_at)
    SELECT id, id, 'main', 0, 'main1', image, slots, 'GONE', ended_at FROM filled
"""


def request(**changes: object) -> dict[str, Any]:
    """The body of a request for a small session. changes: what differs in this one."""
    return {"image": "debian:12", "slots": SMALL, **changes}


def spec(**changes: object) -> SessionSpec:
    """The same request as the control plane passes it on."""
    return SessionSpec(**request(**changes))


async def enqueue(
    database: Database, actor: Actor, *, key: str | None = None, **changes: object
) -> SessionId:
    """A small session of the actor's, PENDING. key: the idempotency key."""
    return await service.enqueue(database, SystemClock(), actor, spec(**changes), idempotency_key=key)


async def overwrite(database: Database, session: SessionId | str, **columns: object) -> None:
    """Set columns of a session directly, past every rule."""
    async with database.transaction() as tx:
        await tx.execute(update(Session).where(Session.id == session).values(**columns))


async def force_state(database: Database, session: SessionId | str, state: SessionState) -> None:
    """The session is in this state, however it could get there."""
    ended_at = SystemClock().now() if state in LIFECYCLE.final else None
    await overwrite(database, session, state=state, outcome=SessionState.ERROR, ended_at=ended_at)


def main_of(session: SessionId) -> ContainerId:
    """The id of the main container in `rows`."""
    return ContainerId("m" + session[1:])


def rows(people: People, **values: Any) -> tuple[Session, Container]:
    """A session of the user with its main container, in the state that gives the session its own.

    values: columns of the session that differ; it is RUNNING unless they say otherwise.
    """
    id_ = SessionId(new_id())
    defaults = {
        "name": f"s-{id_}",
        "owner_id": people.user.user_id,
        "project_id": people.project,
        "domain_id": people.domain,
        "image": TINY.image,
        "apps": [],
        "slots": TINY.slots,
        "spec": TINY.to_json(),
        "state": SessionState.RUNNING,
        "created_at": SystemClock().now(),
    }
    session = Session(id=id_, **{**defaults, **values})
    ended = ContainerState.GONE if session.state in LIFECYCLE.final else ContainerState.EXITED
    state = ContainerState(session.state) if session.state in {*ContainerState} else ended
    main = Container(
        id=main_of(id_),
        session_id=id_,
        role=ContainerRole.MAIN,
        index=0,
        image=session.image,
        slots=session.slots,
        state=state,
        address="127.0.0.1" if state is ContainerState.RUNNING else None,
    )
    return session, main


async def fill_history(database: Database, people: People, count: int) -> None:
    """Many ended sessions of the user, each with its container: desk-1 is the newest."""
    owner = {"user": people.user.user_id, "project": people.project, "domain": people.domain}
    async with database.transaction() as tx:
        await tx.execute(text(_HISTORY), {**owner, "count": count})
    async with database.transaction() as tx:
        await tx.execute(text("ANALYZE sessions, containers"))
