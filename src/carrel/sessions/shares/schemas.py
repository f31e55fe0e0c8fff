"""API types of session shares."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import SessionId, ShareId
from carrel.tables.session_shares import AccessLevel
from carrel.tenancy.schemas import ProjectRef, UserRef

LONGEST_LINK_S = 30 * 86_400
_LONGEST_S = 366 * 86_400


class SessionShareCreate(BaseModel):
    """user: e-mail or id; project: id or name; link: a link for any user of the session's domain. Exactly one of them.

    level: look permits to see the session, its log, usage and history; use also permits to open its apps and terminals
    and to run commands in it. expires_in_s: required for links, at most 30 days; null: until it is revoked.
    """

    model_config = {"extra": "forbid"}

    user: Annotated[str, Field(max_length=254)] | None = None
    project: Annotated[str, Field(max_length=64)] | None = None
    link: bool = False
    level: AccessLevel = AccessLevel.LOOK
    expires_in_s: int | None = Field(default=None, ge=60, le=_LONGEST_S)


class SessionShareView(BaseModel):
    """user, project: who has access; both null: a link. via_link: id of the link by which the user came; it ends with
    the link.
    """

    id: ShareId
    user: UserRef | None
    project: ProjectRef | None
    via_link: ShareId | None
    level: AccessLevel
    granted_by: UserRef | None
    created_at: datetime
    expires_at: datetime | None


class SessionShareList(BaseModel):
    items: list[SessionShareView]


class CreatedSessionShare(SessionShareView):
    """url: of a link; shown only once."""

    url: str | None


class LeftSession(BaseModel):
    """shared_as: what shares with your projects still permit you to do; null: nothing."""

    id: SessionId
    name: str
    shared_as: AccessLevel | None


class SessionJoin(BaseModel):
    """token: of the link."""

    model_config = {"extra": "forbid"}

    token: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class JoinedSession(BaseModel):
    """The session that a link is for. level: what you may do with it; null: it is your own."""

    id: SessionId
    name: str
    level: AccessLevel | None
    expires_at: datetime
