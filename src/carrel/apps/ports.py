"""Ports for apps, where app host names cannot be resolved.

A port is free when its app's session has ended or no valid grant is left. Ports are therefore never released
explicitly and cannot leak.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps.service import holds
from carrel.core.errors import Refused
from carrel.core.ids import SessionId
from carrel.db.database import notify
from carrel.tables.apps import AppGrant, AppPort

NOBODY = SessionId("")
"""Marks a port on which the gateway cannot listen because another program does."""

TOPIC = "app-ports"
"""Notified when a port is given to another app."""


@dataclass(frozen=True)
class _Taken:
    port: int
    lives: bool
    in_use: bool


async def give(
    tx: AsyncSession,
    ports: range,
    *,
    session: SessionId,
    app: str,
    lives: ColumnElement[bool],
    now: datetime,
) -> int:
    """The app's port, the same for as long as it is needed.

    lives: condition for an AppPort whose session has not ended. Raises: Refused when all ports are in use.
    """
    await tx.execute(text("LOCK TABLE app_ports IN SHARE ROW EXCLUSIVE MODE"))
    own = AppPort.session_id == session, AppPort.app == app
    port = (await tx.execute(select(AppPort.port).where(*own))).scalar_one_or_none()
    if port is not None and port in ports:
        return port
    free = _choose(ports, await _taken(tx, lives, now))
    if free is None:
        raise Refused(
            "app.no_port",
            f"All {len(ports)} ports for apps are in use.",
            hint="End a session that you no longer need, or ask an administrator to extend CARREL_APP_PORTS.",
            details={"ports": f"{ports[0]}-{ports[-1]}"},
        )
    await tx.execute(delete(AppPort).where((AppPort.port == free) | (own[0] & own[1])))
    tx.add(AppPort(port=free, session_id=session, app=app, given_at=now))
    await notify(tx, TOPIC)
    return free


async def place_at(tx: AsyncSession, port: int) -> tuple[str, SessionId] | None:
    """Name and session of the app that last had the port."""
    row = await tx.get(AppPort, port)
    return (row.app, row.session_id) if row and row.session_id != NOBODY else None


async def report(tx: AsyncSession, *, open: Collection[int], closed: Collection[int], now: datetime) -> None:
    """Mark ports on which the gateway cannot listen. Their apps get another port."""
    await tx.execute(text("LOCK TABLE app_ports IN SHARE ROW EXCLUSIVE MODE"))
    gone = (AppPort.port.in_(open) & (AppPort.session_id == NOBODY)) | AppPort.port.in_(closed)
    await tx.execute(delete(AppPort).where(gone))
    tx.add_all(AppPort(port=port, session_id=NOBODY, app=str(port), given_at=now) for port in closed)


async def _taken(tx: AsyncSession, lives: ColumnElement[bool], now: datetime) -> Sequence[_Taken]:
    """All assigned ports, least recently assigned first."""
    is_in_use = exists().where(
        AppGrant.session_id == AppPort.session_id, AppGrant.app == AppPort.app, holds(now)
    )
    closed = AppPort.session_id == NOBODY
    rows = await tx.execute(
        select(AppPort.port, lives | closed, is_in_use | closed).order_by(AppPort.given_at, AppPort.port)
    )
    return [_Taken(*row) for row in rows]


def _choose(ports: range, taken: Sequence[_Taken]) -> int | None:
    """An unused port, because browsers keep data of earlier apps; otherwise the best one to reuse."""
    known = {one.port for one in taken}
    unused = next((port for port in ports if port not in known), None)
    if unused is not None:
        return unused
    ended = [one.port for one in taken if one.port in ports and not one.lives]
    idle = [one.port for one in taken if one.port in ports and not one.in_use]
    return next(iter(ended + idle), None)
