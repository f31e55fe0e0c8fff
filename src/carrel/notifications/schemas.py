"""API types of notifications and webhooks."""

from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.notifications.signature import is_secret
from carrel.tables.notifications import SESSION_KINDS, DeliveryState, NotificationChannel, NotificationKind
from carrel.tenancy.schemas import DomainRef, PersonName, ProjectRef, Ref, UserRef


def _url(text: str) -> str:
    parts = urlsplit(text)
    # Reading the port checks it.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("not an HTTP URL")
    if parts.username is not None or parts.fragment:
        raise ValueError("has user information or a fragment")
    return text


def _secret(text: str) -> str:
    if not is_secret(text):
        raise ValueError("not a secret")
    return text


WebhookUrl = Annotated[
    str,
    StringConstraints(max_length=2000, strip_whitespace=True, pattern=r"^[\x21-\x7e]+$"),
    AfterValidator(_url),
    says("The URL of a webhook is like https://example.org/hook: http or https, no user name, no fragment."),
]
Secret = Annotated[
    str,
    StringConstraints(max_length=128),
    AfterValidator(_secret),
    says("A secret is whsec_ and 24 to 64 bytes in Base64; omit it to generate one."),
]
Overlap = Annotated[
    int, Field(ge=0, le=7 * 86_400), says("An overlap is a whole number of seconds, at most 604800 (7 days).")
]
Kinds = Annotated[list[NotificationKind], Field(min_length=1, max_length=len(NotificationKind))]
Channels = Annotated[list[NotificationChannel], Field(max_length=len(NotificationChannel))]


class NotificationChoices(BaseModel):
    """The channels on which each kind reaches the user. shared: another user's session. device_out_of_order and
    device_back: an accelerator, for superadmins only. The others: own sessions. page: while the page is open. browser:
    by the system, from the open page. mail: by e-mail, if the installation sends mail. webhook: to the user's own
    webhooks.
    """

    started: list[NotificationChannel]
    ended: list[NotificationChannel]
    failed: list[NotificationChannel]
    about_to_end: list[NotificationChannel]
    shared: list[NotificationChannel]
    device_out_of_order: list[NotificationChannel]
    device_back: list[NotificationChannel]


class NotificationUpdate(BaseModel):
    """Omitted kinds keep their channels."""

    model_config = {"extra": "forbid"}

    started: Channels = []
    ended: Channels = []
    failed: Channels = []
    about_to_end: Channels = []
    shared: Channels = []
    device_out_of_order: Channels = []
    device_back: Channels = []


class WebhookCreate(BaseModel):
    """project, domain: id or name of the project or domain that owns it, for its administrators; omitted: you own it.
    kinds: omitted, all of sessions; those of accelerators are delivered to superadmins' own webhooks only. secret:
    generated if omitted.
    """

    model_config = {"extra": "forbid"}

    name: PersonName
    url: WebhookUrl
    kinds: Kinds = list(SESSION_KINDS)
    project: Ref | None = None
    domain: Ref | None = None
    secret: Secret | None = None


class WebhookUpdate(BaseModel):
    """Omitted fields keep their values."""

    model_config = {"extra": "forbid"}

    name: PersonName = ""
    url: WebhookUrl = ""
    kinds: Kinds = []
    active: bool = True


class SecretRotate(BaseModel):
    """secret: the new one; generated if omitted. overlap_s: how long the present one remains valid: deliveries have
    a signature by each; 0: it ends at once.
    """

    model_config = {"extra": "forbid"}

    secret: Secret | None = None
    overlap_s: Overlap = 86_400


class WebhookView(BaseModel):
    """Belongs to one of user, project and domain. kinds: those that are delivered; of a user's own webhook also only
    those that the user has chosen for webhooks. old_secret_until: until when the secret before the present one remains
    valid. waiting, failed: numbers of deliveries in the last 30 days.
    """

    id: str
    name: str
    url: str
    kinds: list[NotificationKind]
    active: bool
    user: UserRef | None
    project: ProjectRef | None
    domain: DomainRef | None
    created_at: datetime
    old_secret_until: datetime | None
    waiting: int
    failed: int


class WebhookList(BaseModel):
    items: list[WebhookView]


class WebhookCreated(WebhookView):
    """secret: to verify signatures with; shown this once."""

    secret: str


class DeliveryView(BaseModel):
    """id: the header webhook-id. type: of the message. session: that it is about. attempts: so far. status_code,
    error: of the last attempt; null: no response, or no error. next_at: of the next attempt.
    """

    id: str
    type: str
    session: str | None
    state: DeliveryState
    attempts: int
    status_code: int | None
    error: str | None
    created_at: datetime
    last_at: datetime | None
    next_at: datetime | None


class DeliveryDetail(DeliveryView):
    """body: as sent."""

    body: str


class DeliveryQuery(PageQuery):
    """Which deliveries to list."""

    state: DeliveryState | None = Field(default=None, description="omitted: all")


class DeliveryList(BaseModel):
    items: list[DeliveryView]
    next_cursor: str | None
