"""Whose output is collected, up to which size, and what an earlier version stored of it."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import ContainerId, EngineId
from carrel.tables.keypairs import Keypair
from carrel.tables.limits import LOG_BYTES, ResourcePolicy
from carrel.tables.nodes import Node
from carrel.tables.policies import most
from carrel.tables.session_states import ContainerState
from carrel.tables.sessions import IS_LIVE, Container, KeptLog, Session
from carrel.tables.tenancy import User


@dataclass(frozen=True, slots=True)
class LoggedContainer:
    """most_bytes: kept of its log, compressed; None: no limit. begun_at: creation of its file system."""

    id: ContainerId
    engine: EngineId
    state: ContainerState
    most_bytes: int | None
    begun_at: datetime | None


async def logged(tx: AsyncSession) -> Sequence[LoggedContainer]:
    """The containers of live sessions that run, or have run and still exist."""
    states = (ContainerState.RUNNING, ContainerState.EXITED)
    rows = await tx.execute(_chosen().where(IS_LIVE, Container.state.in_(states)))
    return [_logged(row) for row in rows]


async def one(tx: AsyncSession, container: ContainerId) -> LoggedContainer | None:
    """This container; None if it is on no node."""
    row = (await tx.execute(_chosen().where(Container.id == container))).first()
    return _logged(row) if row else None


def _chosen() -> Select[*tuple[Any, ...]]:
    # If the keypair was removed, the limits of use without a keypair apply.
    policy = func.coalesce(Keypair.policy_id, User.keypair_policy_id)
    return (
        select(Container.id, Container.state, Container.started_at, Node.engine_id, LOG_BYTES.label("most"))
        .join(Session, Session.id == Container.session_id)
        .join(Node, Node.id == Container.node_id)
        .join(User, User.id == Session.owner_id)
        .outerjoin(Keypair, Keypair.access_key == Session.access_key)
        .join(ResourcePolicy, ResourcePolicy.id == policy)
    )


def _logged(row: Any) -> LoggedContainer:
    return LoggedContainer(row.id, row.engine_id, ContainerState(row.state), most(row.most), row.started_at)


async def kept_log(tx: AsyncSession, container: ContainerId) -> bytes:
    """The end of a log that an earlier version stored; empty if there is none."""
    packed = (
        await tx.execute(select(KeptLog.content).where(KeptLog.container_id == container))
    ).scalar_one_or_none()
    return zlib.decompress(packed) if packed else b""
