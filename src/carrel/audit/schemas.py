"""API types of the audit trail."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from carrel.audit.proof import FaultKind
from carrel.http.paging import MAX_CURSOR, MAX_LIMIT
from carrel.http.query import DECIMAL, QueryInt
from carrel.http.validation import says


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


When = Annotated[
    datetime,
    AfterValidator(_in_utc),
    says("A time is written as 2026-01-31 or 2026-01-31T14:00:00Z; without a zone it is UTC."),
]
Noted = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{1,18}:[0-9a-fA-F]{64}$"),
    says("A place in the chain is written as POSITION:HASH, as an earlier check printed it."),
]


# Shorter texts cannot use an index, and a trail is long.
Part = Annotated[
    str,
    StringConstraints(min_length=3, max_length=100),
    says("A part of an e-mail or of a name has 3 to 100 letters here."),
]


class AuditFilter(BaseModel):
    """Filter of entries; all given conditions must match."""

    id: Annotated[int, Field(ge=1, lt=2**63), DECIMAL] | None = Field(
        default=None, description="only this entry"
    )
    from_: When | None = Field(default=None, alias="from", description="start of the period, inclusive")
    to: When | None = Field(default=None, description="end of the period, exclusive")
    actor: str | None = Field(default=None, max_length=254, description="id or e-mail of the actor")
    action: str | None = Field(
        default=None, max_length=60, description="an action, or all of a kind: session.*"
    )
    object_kind: str | None = Field(default=None, max_length=30)
    object_id: str | None = Field(default=None, max_length=254)
    outcome: Literal["done", "refused"] | None = None
    address: str | None = Field(default=None, max_length=60, description="source address")
    q: Part | None = Field(default=None, description="part of the actor's e-mail or object's name")
    owner: Literal["me", "all"] = Field(
        default="all", description="me: your actions, and actions on your objects"
    )


class AuditQuery(AuditFilter):
    """Filter and page of the list, newest first."""

    limit: QueryInt = Field(default=50, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(default=None, max_length=MAX_CURSOR)


class AuditExportQuery(AuditFilter):
    """Filter and format of the export."""

    format: Literal["csv", "jsonl"] = "jsonl"


class AuditActor(BaseModel):
    """id: null for an unknown user (a sign-in with an unknown e-mail), and for Carrel itself."""

    id: str | None
    email: str


class AuditObject(BaseModel):
    kind: str
    id: str
    name: str


class AuditEntryView(BaseModel):
    """An action on an object. outcome: done or refused; reason: code and sentence of the refusal.

    owner_id, project_id, domain_id: of the object. credential: cookie, keypair:KEY or token:ID; for a sign-in its
    method. details: what changed, as before and after, or other facts. position and hash: in the chain, null until the
    entry is sealed.
    """

    id: int
    at: datetime
    actor: AuditActor
    action: str
    object: AuditObject
    owner_id: str | None
    project_id: str | None
    domain_id: str | None
    outcome: str
    reason: str
    credential: str
    address: str
    request_id: str
    details: dict[str, Any]
    position: int | None
    hash: str | None


class AuditList(BaseModel):
    items: list[AuditEntryView]
    next_cursor: str | None


class AuditLink(BaseModel):
    """A position in the chain. hash: in hexadecimal."""

    position: int
    hash: str


class AuditFault(BaseModel):
    """position: the first faulty one. entry_id: of the row there; null when there is none."""

    kind: FaultKind
    position: int
    entry_id: int | None
    sentence: str


class AuditVerifyQuery(BaseModel):
    """The part of the chain to check."""

    after: QueryInt = Field(
        default=0, ge=0, lt=2**62, description="continue after this position: `reached` of the previous part"
    )
    expect: Noted | None = Field(
        default=None, description="POSITION:HASH of an earlier check, compared with the last part"
    )


class AuditCheck(BaseModel):
    """The result of checking a part of the chain: repeat with after=reached until done.

    checked: entries in this part. head: the last entry; store it elsewhere to compare later. start: the link before the
    first retained entry; cut_at: time of the retention cut, if any. faults: the first 100 of this part. waiting:
    entries not sealed yet.
    """

    checked: int
    reached: int
    done: bool
    head: AuditLink
    start: AuditLink
    cut_at: datetime | None
    waiting: int
    faults: list[AuditFault]
