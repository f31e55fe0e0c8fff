"""Services of the queue's routes."""

from dataclasses import dataclass

from carrel.http.services import Services
from carrel.queue.queue import Plans


@dataclass(frozen=True, kw_only=True)
class QueueServices(Services):
    """`plans`: the scheduler's current plan."""

    plans: Plans
