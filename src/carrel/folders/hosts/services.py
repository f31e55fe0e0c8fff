"""Services of routes that access storage."""

from dataclasses import dataclass

from carrel.folders.hosts.storages import Storages
from carrel.http.services import Services
from carrel.nodes.engines.services import EngineServices


@dataclass(frozen=True, kw_only=True)
class StorageServices(Services):
    """`storages`: the storage of each host, with its threads."""

    storages: Storages


@dataclass(frozen=True, kw_only=True)
class StorageHostServices(StorageServices, EngineServices):
    """The engines too, whose containers mount folders."""
