"""Resource groups, their access lists, and fair share weights."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ARRAY, CheckConstraint, DateTime, ForeignKey, Index, String, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import GroupId
from carrel.db.tables import Table
from carrel.scheduling.snapshot import QueueOrder, Strategy
from carrel.tables.session_states import Rights


class NodeLoss(StrEnum):
    """Handling of sessions whose node has been gone for longer than `node_loss_s`."""

    END = "end"
    RESCHEDULE = "reschedule"


class LeastTier(StrEnum):
    """How shares of devices must be enforced at least, as of `accelerators.port.ShareTier`. NONE: they need not be."""

    NONE = "none"
    SLICE = "slice"
    MPS3 = "mps3"

    def refuses(self, sharing: Mapping[str, str] | None) -> str:
        """Why a node that enforces them so is not enough, as a clause; empty if it is. sharing: as of `Node`."""
        tier = sharing["tier"] if sharing else "none"
        if self is LeastTier.NONE or tier in list(LeastTier)[list(LeastTier).index(self) :]:
            return ""
        does = "does not enforce shares" if tier not in ("slice", "mps3") else f"enforces shares by {tier}"
        return f"{does}, its resource group requires {self}"


class ScopeKind(StrEnum):
    DOMAIN = "domain"
    PROJECT = "project"
    USER = "user"


def _one_of(column: str, kind: type[StrEnum]) -> CheckConstraint:
    words = ", ".join(f"'{one}'" for one in kind)
    return CheckConstraint(f"{column} IN ({words})", name=column)


class ResourceGroup(Table):
    """public: open to users of every domain that permits it; otherwise only to `resource_group_access`.

    session_kinds: accepted kinds. slot_priority: slots by which nodes are compared, in order; empty: by the scarcest
    slot. pending_timeout_s: pending sessions are cancelled after this; None: never. patience_s: how long others may
    overtake a pending session. half_life_s: decay of past usage for the fair share.
    max_rights: the most that its sessions may have inside. node_selector: of labels; nodes that meet it join by
    themselves; None: none do. required_capabilities: of nodes; others take no new sessions. runtime: of its containers;
    None: the engine's usual one. min_share_tier: of nodes that take its sessions with shares of devices. topology:
    labels of nodes whose values are domains, the narrowest first; cluster sessions are placed by them. elastic: its
    nodes are left to the cluster of an engine, which may add some: `engine`, its id; `limit`, the slots that its
    sessions may hold together; `wait_s`, how long a start waits for a machine.
    """

    __tablename__ = "resource_groups"
    __table_args__ = (
        _one_of("scheduler", QueueOrder),
        _one_of("placement", Strategy),
        _one_of("on_node_loss", NodeLoss),
        _one_of("max_rights", Rights),
        _one_of("min_share_tier", LeastTier),
        CheckConstraint("patience_s >= 0 AND half_life_s > 0 AND node_loss_s >= 0", name="times"),
        Index("uq_resource_groups_name_lower", text("lower(name)"), unique=True),
    )

    id: Mapped[GroupId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(String(500), server_default="")
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    public: Mapped[bool] = mapped_column(server_default=text("true"))
    session_kinds: Mapped[list[str]] = mapped_column(
        ARRAY(String), server_default=text("'{interactive,batch,inference}'")
    )
    scheduler: Mapped[QueueOrder] = mapped_column(String(20), server_default=QueueOrder.FIFO)
    placement: Mapped[Strategy] = mapped_column(String(20), server_default=Strategy.DISPERSED)
    slot_priority: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    pending_timeout_s: Mapped[int | None]
    patience_s: Mapped[int] = mapped_column(server_default=text("300"))
    half_life_s: Mapped[int] = mapped_column(server_default=text("604800"))
    on_node_loss: Mapped[NodeLoss] = mapped_column(String(20), server_default=NodeLoss.END)
    node_loss_s: Mapped[int] = mapped_column(server_default=text("120"))
    max_rights: Mapped[Rights] = mapped_column(String(10), server_default=Rights.ROOT)
    app_address: Mapped[str | None] = mapped_column(String(300))
    node_selector: Mapped[str | None] = mapped_column(String(1000))
    required_capabilities: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    topology: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    runtime: Mapped[str | None] = mapped_column(String(63))
    min_share_tier: Mapped[LeastTier] = mapped_column(String(10), server_default=LeastTier.NONE)
    elastic: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=text("now()"))


class GroupAccess(Table):
    """A domain, a project or a user that may use a group that is not public."""

    __tablename__ = "resource_group_access"
    __table_args__ = (_one_of("kind", ScopeKind),)

    group_id: Mapped[GroupId] = mapped_column(
        String, ForeignKey("resource_groups.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[ScopeKind] = mapped_column(String(10), primary_key=True)
    scope_id: Mapped[str] = mapped_column(String, primary_key=True)


class FairShareWeight(Table):
    """Weight of a claimant relative to others at the same level. Not listed: 1."""

    __tablename__ = "fair_share_weights"
    __table_args__ = (_one_of("kind", ScopeKind), CheckConstraint("weight > 0", name="weight"))

    group_id: Mapped[GroupId] = mapped_column(
        String, ForeignKey("resource_groups.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[ScopeKind] = mapped_column(String(10), primary_key=True)
    scope_id: Mapped[str] = mapped_column(String, primary_key=True)
    weight: Mapped[float]
