"""Services of the routes of builds."""

from dataclasses import dataclass

from carrel.folders.files.transfers import TransferLimits
from carrel.folders.hosts.services import StorageServices


@dataclass(frozen=True, kw_only=True)
class BuildServices(StorageServices):
    """`micromamba`: see `conda.tool`. `fetches`: repositories and folders that this process is reading."""

    micromamba: str
    fetches: TransferLimits
