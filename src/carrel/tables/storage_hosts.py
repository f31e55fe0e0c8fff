"""Storage hosts and their access lists."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint, DateTime, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import EngineId, StorageHostId
from carrel.db.tables import Table

TOPIC = "storage_hosts"
"""Notified when a host is added, changed or removed."""


POSIX = "posix"
"""The default storage kind of a host."""


class HostState(StrEnum):
    """UNKNOWN: not checked yet. UNAVAILABLE: no response in time. UNUSABLE: an administrator must intervene."""

    UNKNOWN = "unknown"
    OK = "ok"
    UNAVAILABLE = "unavailable"
    UNUSABLE = "unusable"


class HostScopeKind(StrEnum):
    DOMAIN = "domain"
    PROJECT = "project"


def _one_of(column: str, kind: type[StrEnum]) -> CheckConstraint:
    words = ", ".join(f"'{one}'" for one in kind)
    return CheckConstraint(f"{column} IN ({words})", name=column)


class StorageHost(Table):
    """backend: kind of its plug-in. root: a directory on the control plane's machine, at the same path on all nodes of
    engines without a `StorageHostLocation`.

    settings: further settings of its kind, sealed; None: none. active: accepts new folders. public: open to users of
    every domain that permits it; otherwise only to `storage_host_access`. total_bytes, free_bytes, state, problem: as
    of checked_at.
    """

    __tablename__ = "storage_hosts"
    __table_args__ = (
        _one_of("state", HostState),
        Index("uq_storage_hosts_name_lower", text("lower(name)"), unique=True),
    )

    id: Mapped[StorageHostId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500), server_default="")
    backend: Mapped[str] = mapped_column(String(60))
    root: Mapped[str] = mapped_column(String(4096))
    settings: Mapped[bytes | None] = mapped_column(LargeBinary)
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    public: Mapped[bool] = mapped_column(server_default=text("true"))
    state: Mapped[HostState] = mapped_column(String(12), server_default=HostState.UNKNOWN)
    problem: Mapped[str | None]
    total_bytes: Mapped[int | None] = mapped_column(BigInteger)
    free_bytes: Mapped[int | None] = mapped_column(BigInteger)
    checked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=text("now()"))


class StorageHostAccess(Table):
    """A domain or a project that may use a host that is not public."""

    __tablename__ = "storage_host_access"
    __table_args__ = (_one_of("kind", HostScopeKind),)

    host_id: Mapped[StorageHostId] = mapped_column(
        String, ForeignKey("storage_hosts.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[HostScopeKind] = mapped_column(String(10), primary_key=True)
    scope_id: Mapped[str] = mapped_column(String, primary_key=True)


class StorageHostLocation(Table):
    """Where the containers of an engine have the host's root: a location as in `engines.volumes`; None: nowhere; "": at
    the same path, as without a row, but as somebody has set it.
    """

    __tablename__ = "storage_host_locations"

    host_id: Mapped[StorageHostId] = mapped_column(
        String, ForeignKey("storage_hosts.id", ondelete="CASCADE"), primary_key=True
    )
    engine_id: Mapped[EngineId] = mapped_column(
        String, ForeignKey("engines.id", ondelete="CASCADE"), primary_key=True
    )
    location: Mapped[str | None] = mapped_column(String(1000))
