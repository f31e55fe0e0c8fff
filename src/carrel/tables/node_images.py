"""Images on nodes, and pulls ahead of sessions."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, DateTime, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ImagePullId, NodeId, ProjectId, UserId
from carrel.db.tables import Table

TOPIC = "node_images"
"""Notified when images are to be removed from nodes, or have been pulled."""
PULL_TOPIC = "image_pulls"
"""Notified when a pull is requested or cancelled."""


class PullState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_STATES = ", ".join(f"'{state}'" for state in PullState)


class NodeImage(Table):
    """An image on a node, as its engine last listed it.

    image_id: of the engine. references: tags, as the engine spells them. names: all references, by tag and by digest,
    as `references.canonical`, and the alias. alias: what sessions call it, if it was pulled from a mirror. since: when
    it was first listed. used_at: when a container last used it. in_use: a container uses it. pulled_at: when Carrel
    pulled it; None: somebody else did, and Carrel never removes it. pulled_names: the names by which it did: one that
    has further tags is somebody else's too. removing_at: since when it is to be removed.
    problem: why that failed.
    """

    __tablename__ = "node_images"
    __table_args__ = (
        Index("ix_node_images_names", "names", postgresql_using="gin"),
        Index("ix_node_images_removing_at", "removing_at", postgresql_where=text("removing_at IS NOT NULL")),
    )

    node_id: Mapped[NodeId] = mapped_column(
        String, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True
    )
    image_id: Mapped[str] = mapped_column(String(600), primary_key=True)
    references: Mapped[list[str]] = mapped_column(ARRAY(String))
    names: Mapped[list[str]] = mapped_column(ARRAY(String))
    alias: Mapped[str | None] = mapped_column(String(600))
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    in_use: Mapped[bool] = mapped_column(server_default=text("false"))
    pulled_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    pulled_names: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    removing_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    problem: Mapped[str | None]


class PulledReference(Table):
    """A reference that Carrel has begun to pull on a node where it was missing, until the node lists the image.

    reference: as pulled. name: as sessions call it; both as `references.canonical`.
    """

    __tablename__ = "pulled_references"

    node_id: Mapped[NodeId] = mapped_column(
        String, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True
    )
    reference: Mapped[str] = mapped_column(String(600), primary_key=True)
    name: Mapped[str] = mapped_column(String(600))
    pulled_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class ImagePull(Table):
    """A request to pull an image to nodes. project_id: whose registries give the credentials; None: those of the
    installation.
    """

    __tablename__ = "image_pulls"
    __table_args__ = (Index("ix_image_pulls_created_at_id", "created_at", "id"),)

    id: Mapped[ImagePullId] = mapped_column(String, primary_key=True)
    reference: Mapped[str] = mapped_column(String(512))
    project_id: Mapped[ProjectId | None] = mapped_column(
        String, ForeignKey("projects.id", ondelete="SET NULL")
    )
    requested_by: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class NodePull(Table):
    """A pull on one node, by the leader; after a crash the next one begins it again. progress: 0..1. problem: why it
    failed, or why it is not done yet. size_bytes: of the image, once it is there.
    """

    __tablename__ = "node_pulls"
    __table_args__ = (
        CheckConstraint(f"state IN ({_STATES})", name="state"),
        CheckConstraint("(ended_at IS NULL) = (state IN ('waiting', 'running'))", name="ended"),
        Index("ix_node_pulls_open", "pull_id", postgresql_where=text("ended_at IS NULL")),
    )

    pull_id: Mapped[ImagePullId] = mapped_column(
        String, ForeignKey("image_pulls.id", ondelete="CASCADE"), primary_key=True
    )
    node_id: Mapped[NodeId] = mapped_column(
        String, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True
    )
    state: Mapped[PullState] = mapped_column(String(10), server_default=PullState.WAITING)
    cancel: Mapped[bool] = mapped_column(server_default=text("false"))
    progress: Mapped[float | None]
    problem: Mapped[str | None]
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
