"""The JSON body of webhook deliveries. Fields are added to it, never renamed or removed."""

from datetime import datetime

from pydantic import BaseModel

from carrel.tables.session_states import Result, SessionKind, SessionState

TEST = "webhook.test"


class Named(BaseModel):
    id: str
    name: str


class Owner(BaseModel):
    id: str
    email: str


class SessionFacts(BaseModel):
    """state, reason: at the time of the event. result: of a batch session that has ended. ends_at, cause: with
    session.about_to_end; cause is idle_warning, time_limit_warning, disk_nearly_full or node_leaving. slots: of each
    container. url: its details on the page.
    """

    id: str
    name: str
    kind: SessionKind
    state: SessionState
    result: Result | None
    reason: str | None
    image: str
    slots: dict[str, int]
    owner: Owner
    project: Named
    domain: Named
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    ends_at: datetime | None
    cause: str | None
    url: str


class DeviceFacts(BaseModel):
    """An accelerator. problem: empty with device.back. url: the resources on the page."""

    id: str
    model: str
    problem: str
    node: Named
    url: str


class MessageContent(BaseModel):
    """session or device, what the message is about; neither in a test."""

    session: SessionFacts | None = None
    device: DeviceFacts | None = None


class Message(BaseModel):
    """type: session.started, session.ended, session.failed, session.about_to_end, session.shared,
    device.out_of_order, device.back or webhook.test. timestamp: of the event, not of the attempt.
    """

    type: str
    timestamp: datetime
    data: MessageContent

    def encoded(self) -> str:
        """The bytes to sign and send, as text."""
        return self.model_dump_json(exclude_unset=True)
