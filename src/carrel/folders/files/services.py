"""Services of file routes."""

from dataclasses import dataclass

from carrel.folders.files.arriving import Arrivals
from carrel.folders.files.change_events import FileChanges
from carrel.folders.files.notes import FileNotes
from carrel.folders.files.transfers import TransferLimits
from carrel.folders.hosts.services import StorageServices


@dataclass(frozen=True, kw_only=True)
class FileServices(StorageServices):
    """`downloads`, `uploads`: open transfers of this process. `arrivals`: the uploads that it is receiving."""

    file_changes: FileChanges
    file_notes: FileNotes
    arrivals: Arrivals
    downloads: TransferLimits
    uploads: TransferLimits
