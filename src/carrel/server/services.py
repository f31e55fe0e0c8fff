"""The services of all API routes."""

from dataclasses import dataclass

from carrel.apps.services import AccessServices
from carrel.builds.services import BuildServices
from carrel.events.services import EventServices
from carrel.folders.files.services import FileServices
from carrel.folders.hosts.services import StorageHostServices
from carrel.gateway.ssh_access import SshAccess
from carrel.gateway.ssh_listener import SshServer
from carrel.queue.services import QueueServices
from carrel.server.settings import Settings
from carrel.signin.providers.services import ProviderServices


@dataclass(frozen=True, kw_only=True)
class ApiServices(
    AccessServices,
    BuildServices,
    EventServices,
    FileServices,
    ProviderServices,
    QueueServices,
    StorageHostServices,
):
    """The services of every package. Created only in `compose.api`."""

    settings: Settings
    ssh: SshServer
    ssh_access: SshAccess
