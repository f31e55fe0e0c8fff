"""Services of event routes."""

from dataclasses import dataclass

from carrel.events.service import EventStream
from carrel.http.services import Services


@dataclass(frozen=True, kw_only=True)
class EventServices(Services):
    """`events`: those of this process's followers."""

    events: EventStream
