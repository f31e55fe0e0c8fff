"""What routes of the queue work with."""

from dataclasses import dataclass

from carrel.http.services import Services
from carrel.queue.queue import Plans


@dataclass(frozen=True, kw_only=True)
class QueueServices(Services):
    """`plans`: what the scheduler would do now."""

    plans: Plans
