"""Services of routes that access storage."""

from dataclasses import dataclass

from carrel.folders.hosts.storages import Storages
from carrel.http.services import Services


@dataclass(frozen=True, kw_only=True)
class StorageServices(Services):
    """`storages`: the storage of each host, with its threads."""

    storages: Storages
