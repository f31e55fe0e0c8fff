"""The services of all API routes."""

from dataclasses import dataclass

from carrel.apps.services import AccessServices
from carrel.events.services import EventServices
from carrel.folders.files.services import FileServices
from carrel.nodes.engines.services import EngineServices
from carrel.queue.services import QueueServices
from carrel.server.settings import Settings
from carrel.signin.providers.services import ProviderServices


@dataclass(frozen=True, kw_only=True)
class ApiServices(
    AccessServices, EngineServices, EventServices, FileServices, ProviderServices, QueueServices
):
    """The services of every package. Created only in `compose.api`."""

    settings: Settings
