"""Sessions, their containers, their history, and stored logs."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    BindParameter,
    CheckConstraint,
    ColumnElement,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    SmallInteger,
    String,
    UniqueConstraint,
    bindparam,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId, DomainId, GroupId, NodeId, ProjectId, SessionId, UserId
from carrel.db.tables import Table
from carrel.tables.session_states import (
    LIFECYCLE,
    ClusterPlacement,
    ContainerRole,
    ContainerState,
    OnFailure,
    Result,
    Rights,
    SessionKind,
    SessionState,
)

_ALL = ", ".join(f"'{state}'" for state in SessionState)
_LIVE = ", ".join(f"'{state}'" for state in sorted(LIFECYCLE.live))
_RESULTS = ", ".join(f"'{result}'" for result in Result)
_PLACEMENTS = ", ".join(f"'{one}'" for one in ClusterPlacement)
_ON_FAILURE = ", ".join(f"'{one}'" for one in OnFailure)
_RIGHTS = ", ".join(f"'{rights}'" for rights in Rights)
_CONTAINER_STATES = ", ".join(f"'{state}'" for state in ContainerState)
_FINAL = ", ".join(f"'{state}'" for state in sorted(LIFECYCLE.final))


COLLAPSED = "array_id IS NULL OR array_id = id"
"""A condition for sessions outside arrays and the first session of each array."""


class SessionArray(Table):
    """Sessions that one request created. id: of its first session. max_parallel: most at once; None: no limit. counts:
    its sessions by state and result, without the changes in `ArrayCountChange`.
    """

    __tablename__ = "session_arrays"

    id: Mapped[SessionId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), index=True)
    first_index: Mapped[int]
    last_index: Mapped[int]
    max_parallel: Mapped[int | None]
    counts: Mapped[list[dict[str, Any]]] = mapped_column(
        JSON, default=list, server_default=text("'[]'"), nullable=True
    )
    """Null only in what the former version inserts, which a trigger replaces."""


class ArrayCountChange(Table):
    """A change of how many sessions of an array have this state and result, not in the array's `counts` yet.

    Triggers write it with the change of the sessions. Rows of its own, because all sessions of an array would wait for
    each other's transactions if each updated the counts.
    """

    __tablename__ = "array_count_changes"

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    array_id: Mapped[SessionId] = mapped_column(String, index=True)
    state: Mapped[SessionState] = mapped_column(String(20))
    result: Mapped[Result | None] = mapped_column(String(20))
    change: Mapped[int]


class Session(Table):
    """slots: of each of its containers; if these differ (mixed), of the main one. placement, on_failure: of several.
    topology: the level of its group's topology that all of them are within, a label or "node"; None: none is required.
    outcome: target state of TERMINATING, or the final state.

    warnings: codes such as "out_of_memory", each at most once. access_key: the keypair that requested it; None:
    requested on the page or with a token. accepted_groups: if several, the preferred first, which is group_id while it
    is pending; later group_id is where it was placed. priority: 0..100, the highest goes first. wanted_node: required
    node, set by an administrator. avoided_nodes: where it failed to start. time_limit_s: maximum run time;
    limit_used_s: how much of it was used before its present start. idle_ends_at: when it ends for being idle,
    limit_ends_at: at its time limit, once announced. not_before: earliest next start. result: of a batch session, set
    when its end is known; retries_left: how often its command may still be repeated after a failure. stop_signal,
    grace_s: how its main processes are asked to end, and for how long. disk_limit_bytes: what each container may write
    outside its folders; None: no limit. array_id, array_index: of a session of an array. The first session of an array
    has its id, and stands for it in lists. template: id, name and revision of that which it was started from.

    spec: the request as admitted: a `sessions.spec.SessionSpec` as JSON. It is immutable; fields that are listed,
    joined, sorted by, changed later, or read in each scheduler pass have a column of their own as well. It is loaded on
    demand only (`sessions.queries.with_specs`).
    """

    __tablename__ = "sessions"
    __table_args__ = (
        CheckConstraint(f"state IN ({_ALL})", name="state"),
        CheckConstraint(f"(ended_at IS NOT NULL) = (state IN ({_FINAL}))", name="ended"),
        CheckConstraint("(outcome IS NOT NULL) OR state <> 'TERMINATING'", name="outcome"),
        CheckConstraint("priority BETWEEN 0 AND 100", name="priority"),
        CheckConstraint(f"result IN ({_RESULTS})", name="result"),
        CheckConstraint(f"placement IN ({_PLACEMENTS})", name="placement"),
        CheckConstraint(f"on_failure IN ({_ON_FAILURE})", name="on_failure"),
        CheckConstraint(f"rights IN ({_RIGHTS})", name="rights"),
        Index(
            "uq_sessions_owner_id_name_live",
            "owner_id",
            "name",
            unique=True,
            postgresql_where=text(f"state IN ({_LIVE})"),
        ),
        Index("uq_sessions_owner_id_idempotency_key", "owner_id", "idempotency_key", unique=True),
        Index("ix_sessions_state_live", "state", postgresql_where=text(f"state IN ({_LIVE})")),
        Index("ix_sessions_created_at_id", "created_at", "id"),
        Index("ix_sessions_owner_id_created_at_id", "owner_id", "created_at", "id"),
        Index("ix_sessions_id_prefix", "id", postgresql_ops={"id": "text_pattern_ops"}),
        Index("ix_sessions_name", "name"),
        CheckConstraint("(array_id IS NULL) = (array_index IS NULL)", name="array"),
        Index(
            "ix_sessions_array_id",
            "array_id",
            "state",
            "result",
            postgresql_where=text("array_id IS NOT NULL"),
        ),
        Index(
            "ix_sessions_array_id_ended_at",
            "array_id",
            "ended_at",
            postgresql_where=text("array_id IS NOT NULL"),
        ),
        Index("ix_sessions_collapsed", "created_at", "id", postgresql_where=text(COLLAPSED)),
        Index(
            "ix_sessions_owner_id_collapsed", "owner_id", "created_at", "id", postgresql_where=text(COLLAPSED)
        ),
        Index("ix_sessions_searched", text("trigrams((name || ' ') || image)"), postgresql_using="gin"),
    )

    id: Mapped[SessionId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    kind: Mapped[SessionKind] = mapped_column(String(20), default=SessionKind.INTERACTIVE)
    owner_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id"))
    project_id: Mapped[ProjectId] = mapped_column(String, ForeignKey("projects.id"), index=True)
    domain_id: Mapped[DomainId] = mapped_column(String, ForeignKey("domains.id"))
    group_id: Mapped[GroupId] = mapped_column(
        String, ForeignKey("resource_groups.id"), server_default="default", index=True
    )
    accepted_groups: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    access_key: Mapped[str | None] = mapped_column(String(24))
    array_id: Mapped[SessionId | None] = mapped_column(String, ForeignKey("session_arrays.id"))
    array_index: Mapped[int | None]
    priority: Mapped[int] = mapped_column(SmallInteger, server_default=text("50"))
    wanted_node: Mapped[NodeId | None] = mapped_column(String, ForeignKey("nodes.id"))
    avoided_nodes: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    time_limit_s: Mapped[int | None]
    limit_used_s: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    image: Mapped[str] = mapped_column(String(512))
    image_name: Mapped[str | None] = mapped_column(String(64))
    apps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    mixed: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    placement: Mapped[ClusterPlacement] = mapped_column(
        String(10), default=ClusterPlacement.SPREAD, server_default=ClusterPlacement.SPREAD
    )
    topology: Mapped[str | None] = mapped_column(String(317))
    on_failure: Mapped[OnFailure] = mapped_column(
        String(10), default=OnFailure.END, server_default=OnFailure.END
    )
    rights: Mapped[Rights] = mapped_column(String(10), default=Rights.PLAIN, server_default=Rights.PLAIN)
    disk_limit_bytes: Mapped[int | None] = mapped_column(BigInteger)
    spec: Mapped[dict[str, Any]] = mapped_column(JSONB, deferred=True, deferred_raiseload=True)
    state: Mapped[SessionState] = mapped_column(String(20), default=SessionState.PENDING)
    outcome: Mapped[SessionState | None] = mapped_column(String(20))
    result: Mapped[Result | None] = mapped_column(String(20))
    retries_left: Mapped[int] = mapped_column(SmallInteger, default=0, server_default=text("0"))
    reason: Mapped[str | None]
    progress: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    warnings: Mapped[list[str]] = mapped_column(JSONB, default=list)
    queue_position: Mapped[int | None]
    stop_signal: Mapped[str] = mapped_column(String(10), server_default="SIGTERM")
    grace_s: Mapped[int] = mapped_column(SmallInteger, server_default=text("10"))
    attempts: Mapped[int] = mapped_column(default=0)
    restarts: Mapped[int] = mapped_column(default=0)
    not_before: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    deadline: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    idle_ends_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    limit_ends_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    template: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    idempotency_key: Mapped[str | None] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


def state_in(states: Iterable[SessionState]) -> ColumnElement[bool]:
    """A condition for sessions in these states."""
    # Literals, so that prepared plans can use the partial index of live sessions.
    literals: BindParameter[Any] = bindparam(
        "states", sorted(map(str, states)), unique=True, expanding=True, literal_execute=True
    )
    return Session.state.in_(literals)


IS_LIVE: ColumnElement[bool] = state_in(LIFECYCLE.live)
"""A condition for sessions that have not ended."""


class Container(Table):
    """A container of a session. `derive` computes the session's state from the states of all its containers.

    A restarted container keeps its row, on its node or elsewhere. index: 0 is the main one. host: its name in the
    session's network: its role in the request and its number in that role, such as worker2. has_command: it runs a
    command once, instead of idling. node_id: current or last node; None while it is pending. address: where it is
    reachable while RUNNING; None if it ended before that was known. exit_code: of its main process, once it is EXITED.
    resize: a requested change of its slots, see `sessions.resizing`. started_at: creation of its file system. ended_at:
    when its end was observed. Of its last start: mounted_at: when the folders of the session could be mounted; None
    without folders. image_at: when its image was present. launched_at: when the engine had started it. image_digest:
    of what its image's reference meant then, in its registry; image_id: the engine's own id of it. In an elastic group:
    machine_due_at: when its cluster first had no node for it; None: it has not waited. machine_at: when its node was
    known.
    """

    __tablename__ = "containers"
    __table_args__ = (
        CheckConstraint(f"state IN ({_CONTAINER_STATES})", name="state"),
        CheckConstraint("(role = 'main') = (index = 0)", name="role"),
        CheckConstraint("state <> 'PENDING' OR node_id IS NULL", name="node"),
        UniqueConstraint("session_id", "index", name="uq_containers_session_id_index"),
        Index("ix_containers_abandoned", "session_id", postgresql_where=text("state = 'ABANDONED'")),
        Index(
            "ix_containers_machine_at",
            "machine_at",
            postgresql_where=text("machine_at IS NOT NULL AND machine_due_at IS NOT NULL"),
        ),
    )

    id: Mapped[ContainerId] = mapped_column(String, primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"))
    role: Mapped[ContainerRole] = mapped_column(String(10))
    index: Mapped[int] = mapped_column(SmallInteger)
    host: Mapped[str] = mapped_column(String(24), default="main1")
    has_command: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    node_id: Mapped[NodeId | None] = mapped_column(String, ForeignKey("nodes.id"))
    image: Mapped[str] = mapped_column(String(512))
    image_digest: Mapped[str | None] = mapped_column(String(80))
    image_id: Mapped[str | None] = mapped_column(String(80))
    slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    state: Mapped[ContainerState] = mapped_column(String(20), default=ContainerState.PENDING)
    address: Mapped[str | None]
    exit_code: Mapped[int | None]
    resize: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    mounted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    image_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    launched_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    machine_due_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    machine_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))

    @property
    def name(self) -> str:
        """Its name within the session: main, sub1, sub2 ..."""
        return self.role if self.role == ContainerRole.MAIN else self.host


class HistoryEntry(Table):
    """A transition, or a note (from_state = to_state). cause: a code; reason: a sentence."""

    __tablename__ = "session_history"

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    session_id: Mapped[SessionId] = mapped_column(String, ForeignKey("sessions.id"), index=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    from_state: Mapped[SessionState | None] = mapped_column(String(20))
    to_state: Mapped[SessionState] = mapped_column(String(20))
    cause: Mapped[str] = mapped_column(String(40))
    reason: Mapped[str | None]
    actor: Mapped[str | None]


class KeptLog(Table):
    """The end of the log of a container that an earlier version removed; later ones are in `sessions/logs`. content:
    zlib of the last 1 MiB.
    """

    __tablename__ = "container_logs"

    container_id: Mapped[ContainerId] = mapped_column(String, ForeignKey("containers.id"), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)
