"""What all routes of the API together work with."""

from dataclasses import dataclass

from carrel.access.services import AccessServices
from carrel.events.services import EventServices
from carrel.files.services import FileServices
from carrel.providers.services import ProviderServices
from carrel.scheduler.services import QueueServices
from carrel.server.settings import Settings


@dataclass(frozen=True, kw_only=True)
class ApiServices(AccessServices, EventServices, FileServices, ProviderServices, QueueServices):
    """Every room's services. Made in `compose.api`, and nowhere else."""

    settings: Settings
