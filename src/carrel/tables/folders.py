"""Folders, shares, tasks and mounts in sessions."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    SmallInteger,
    String,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import (
    DomainId,
    FolderId,
    FolderTaskId,
    ProjectId,
    SessionId,
    ShareId,
    StorageHostId,
    UserId,
)
from carrel.db.tables import Table
from carrel.tables.folder_states import FolderState

TASKS = "vfolder_tasks"
"""Notified when there is work on a folder."""


TOPIC = "folders.changed"
"""Notified when files in a folder changed, so that it is measured."""


class UsageMode(StrEnum):
    GENERAL = "general"
    MODEL = "model"
    DATA = "data"


class Permission(StrEnum):
    """Permission on the files of a folder; each includes the ones before it."""

    READ = "ro"
    WRITE = "rw"
    DELETE = "rw-delete"


class ShareState(StrEnum):
    INVITED = "invited"
    ACCEPTED = "accepted"


class TaskKind(StrEnum):
    """CLONE: copy a folder into a new one. MOVE: to another storage host. REMOVE: delete a folder permanently.

    COPY: files within or between folders. CLEAN: free the space of files removed from a folder.
    """

    CLONE = "clone"
    MOVE = "move"
    REMOVE = "remove"
    COPY = "copy"
    CLEAN = "clean"


class TaskState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


def _one_of(column: str, kind: type[StrEnum]) -> CheckConstraint:
    words = ", ".join(f"'{one}'" for one in kind)
    return CheckConstraint(f"{column} IN ({words})", name=column)


class VFolder(Table):
    """A personal folder has an owner, a project folder has a project; domain_id: theirs.

    permission: most that members of the project may do, and mode of its mounts at most. reason: why it failed.
    used_bytes, files: as last measured, including writes until measured_at. Directories are not files.
    """

    __tablename__ = "vfolders"
    __table_args__ = (
        _one_of("usage_mode", UsageMode),
        _one_of("permission", Permission),
        _one_of("state", FolderState),
        CheckConstraint("(owner_id IS NULL) <> (project_id IS NULL)", name="one_owner"),
        CheckConstraint("(trashed_at IS NOT NULL) = (state IN ('TRASHED', 'DELETING'))", name="trashed"),
        Index(
            "uq_vfolders_owner_id_name",
            "owner_id",
            "name",
            unique=True,
            postgresql_where=text("state NOT IN ('TRASHED', 'DELETING')"),
        ),
        Index(
            "uq_vfolders_project_id_name",
            "project_id",
            "name",
            unique=True,
            postgresql_where=text("state NOT IN ('TRASHED', 'DELETING')"),
        ),
        Index("uq_vfolders_created_by_idempotency_key", "created_by", "idempotency_key", unique=True),
        Index("ix_vfolders_created_at_id", "created_at", "id"),
        Index("ix_vfolders_domain_id_created_at_id", "domain_id", "created_at", "id"),
        Index(
            "ix_vfolders_to_measure",
            "host_id",
            postgresql_where=text("measured_at IS NULL OR touched_at > measured_at"),
        ),
        Index("ix_vfolders_host_id_measured_at", "host_id", "measured_at"),
        Index("ix_vfolders_trashed", "trashed_at", postgresql_where=text("state = 'TRASHED'")),
        Index("ix_vfolders_creating", "created_at", postgresql_where=text("state = 'CREATING'")),
    )

    id: Mapped[FolderId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    host_id: Mapped[StorageHostId] = mapped_column(String, ForeignKey("storage_hosts.id"))
    owner_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id"), index=True)
    project_id: Mapped[ProjectId | None] = mapped_column(String, ForeignKey("projects.id"), index=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    scope: Mapped[str] = mapped_column(String(20), index=True)
    """The quota scope under which the storage keeps it: "user-ID" or "project-ID"."""
    usage_mode: Mapped[UsageMode] = mapped_column(String(10), server_default=UsageMode.GENERAL)
    permission: Mapped[Permission] = mapped_column(String(10), server_default=Permission.WRITE)
    state: Mapped[FolderState] = mapped_column(String(10))
    reason: Mapped[str | None]
    used_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    files: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    measured_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    touched_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When the API last changed a file in it; measured again when this is later than measured_at."""
    idempotency_key: Mapped[str | None] = mapped_column(String(100))
    created_by: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    owned_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    """Start of the current ownership."""
    trashed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class FolderShare(Table):
    """A share with a user, or with a project's members. Projects need not accept."""

    __tablename__ = "vfolder_shares"
    __table_args__ = (
        _one_of("permission", Permission),
        _one_of("state", ShareState),
        CheckConstraint("(user_id IS NULL) <> (project_id IS NULL)", name="one_with"),
        Index("uq_vfolder_shares_folder_id_user_id", "folder_id", "user_id", unique=True),
        Index("uq_vfolder_shares_folder_id_project_id", "folder_id", "project_id", unique=True),
    )

    id: Mapped[ShareId] = mapped_column(String, primary_key=True)
    folder_id: Mapped[FolderId] = mapped_column(String, ForeignKey("vfolders.id", ondelete="CASCADE"))
    user_id: Mapped[UserId | None] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), index=True
    )
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="CASCADE"), index=True
    )
    permission: Mapped[Permission] = mapped_column(String(10))
    state: Mapped[ShareState] = mapped_column(String(10))
    invited_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    accepted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class FolderTask(Table):
    """A long-running operation of the leader; restarted from the beginning after a crash.

    arguments: by kind, see `folders.tasks`. total_*: None while unknown. problem: why it failed.
    """

    __tablename__ = "vfolder_tasks"
    __table_args__ = (
        _one_of("kind", TaskKind),
        _one_of("state", TaskState),
        CheckConstraint("(ended_at IS NULL) = (state IN ('waiting', 'running'))", name="ended"),
        Index("ix_vfolder_tasks_open", "created_at", postgresql_where=text("ended_at IS NULL")),
        Index("ix_vfolder_tasks_actor_id_created_at_id", "actor_id", "created_at", "id"),
    )

    id: Mapped[FolderTaskId] = mapped_column(String, primary_key=True)
    kind: Mapped[TaskKind] = mapped_column(String(10))
    folder_id: Mapped[FolderId | None] = mapped_column(
        String, ForeignKey("vfolders.id", ondelete="SET NULL"), index=True
    )
    folder_name: Mapped[str] = mapped_column(String(64))
    actor_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id"))
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    arguments: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    state: Mapped[TaskState] = mapped_column(String(10), server_default=TaskState.WAITING)
    done_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    total_bytes: Mapped[int | None] = mapped_column(BigInteger)
    done_files: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    total_files: Mapped[int | None] = mapped_column(BigInteger)
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    problem: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class FolderMount(Table):
    """A mount of a folder in a session, from the session's creation until its end (released_at).

    owner_id: of the session. path: in the session. subpath: directory of the folder; "": all of it.
    """

    __tablename__ = "vfolder_mounts"
    __table_args__ = (
        Index("ix_vfolder_mounts_held", "folder_id", postgresql_where=text("released_at IS NULL")),
    )

    session_id: Mapped[SessionId] = mapped_column(
        String, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    folder_id: Mapped[FolderId | None] = mapped_column(
        String, ForeignKey("vfolders.id", ondelete="SET NULL"), index=True
    )
    folder_name: Mapped[str] = mapped_column(String(64))
    owner_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    path: Mapped[str] = mapped_column(String(512))
    subpath: Mapped[str] = mapped_column(String(1024), server_default="")
    read_only: Mapped[bool]
    released_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
