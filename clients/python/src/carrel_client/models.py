"""Wire types of the HTTP API."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class SlotAmounts(TypedDict):
    cpu: int
    mem: int


class NamedRef(TypedDict):
    id: str
    name: str


class UserView(TypedDict):
    id: str
    email: str
    name: str
    role: str
    domain: NamedRef


class MeView(TypedDict):
    user: UserView
    projects: list[NamedRef]
    csrf_token: str | None


class KeypairView(TypedDict):
    access_key: str
    created_at: str
    last_used_at: str | None
    active: bool


class KeypairList(TypedDict):
    items: list[KeypairView]
    next_cursor: str | None


class KeypairSecret(TypedDict):
    access_key: str
    secret_key: str
    created_at: str


class PartView(TypedDict):
    name: str
    state: Literal["ok", "down"]
    version: str
    detail: str
    address: str


class ServerView(TypedDict):
    name: str
    version: str
    apps_url: str
    parts: list[PartView]


class HealthView(TypedDict):
    status: Literal["ok", "down"]


class AppRef(TypedDict):
    name: str
    title: str
    protocol: str


class ImageView(TypedDict):
    id: str
    name: str
    reference: str
    title: str
    description: str
    architecture: str | None
    size_bytes: int | None
    present: bool
    min_slots: SlotAmounts
    apps: list[AppRef]


class ImageList(TypedDict):
    items: list[ImageView]
    next_cursor: str | None


class ResourcesView(TypedDict):
    nodes: int
    capacity: SlotAmounts
    used: SlotAmounts
    left: SlotAmounts
    largest: SlotAmounts


class ProgressView(TypedDict):
    phase: str
    fraction: float | None
    text: str


class OwnerRef(TypedDict):
    id: str
    email: str


class SessionView(TypedDict):
    id: str
    name: str
    kind: str
    state: str
    reason: str | None
    progress: ProgressView | None
    image: str
    image_name: str | None
    project: NamedRef
    owner: OwnerRef
    slots: SlotAmounts
    node: str | None
    warnings: list[str]
    created_at: str
    started_at: str | None
    ended_at: str | None
    queue_position: int | None


class SessionDetail(SessionView):
    env: dict[str, str]
    apps: list[AppRef]


class SessionList(TypedDict):
    items: list[SessionView]
    next_cursor: str | None


class HistoryEntry(TypedDict):
    at: str
    from_state: str | None
    to_state: str
    cause: str
    reason: str | None
    actor: str | None


class HistoryList(TypedDict):
    items: list[HistoryEntry]
    next_cursor: str | None


class UsageSample(TypedDict):
    at: str
    cpu_millis: int
    mem_bytes: int


class UsageView(TypedDict):
    samples: list[UsageSample]


class RecentSeries(TypedDict):
    cpu_millis: list[int]
    mem_bytes: list[int]


class RecentUsage(TypedDict):
    items: dict[str, RecentSeries]


class AppView(TypedDict):
    name: str
    title: str
    protocol: str
    port: int
    running: bool


class AppList(TypedDict):
    items: list[AppView]
    next_cursor: str | None


class OpenedApp(TypedDict):
    url: str
    expires_at: str


class EventObject(TypedDict):
    kind: str
    id: str


class EventView(TypedDict):
    id: str | None
    at: str | None
    kind: str
    object: EventObject
    data: dict[str, Any]


class EventList(TypedDict):
    items: list[EventView]
    next_cursor: str | None
