"""Typed ids.

An id is 12 characters of a-z and 2-7 and starts with a letter: 59 random bits, short enough to read aloud, valid as a
DNS label, as a container name and as a unique prefix on the command line.
"""

import secrets
from typing import NewType

SessionId = NewType("SessionId", str)
ContainerId = NewType("ContainerId", str)
UserId = NewType("UserId", str)
ProjectId = NewType("ProjectId", str)
DomainId = NewType("DomainId", str)
EngineId = NewType("EngineId", str)
NodeId = NewType("NodeId", str)
ImageId = NewType("ImageId", str)
GroupId = NewType("GroupId", str)
PolicyId = NewType("PolicyId", str)
PresetId = NewType("PresetId", str)
StorageHostId = NewType("StorageHostId", str)
FolderId = NewType("FolderId", str)
ShareId = NewType("ShareId", str)
FolderTaskId = NewType("FolderTaskId", str)
ScheduleId = NewType("ScheduleId", str)
TemplateId = NewType("TemplateId", str)
AppTemplateId = NewType("AppTemplateId", str)
EnvironmentId = NewType("EnvironmentId", str)
EnvironmentVersionId = NewType("EnvironmentVersionId", str)
UploadId = NewType("UploadId", str)
ViewId = NewType("ViewId", str)
RegistryId = NewType("RegistryId", str)
ScanId = NewType("ScanId", str)
ImageScanId = NewType("ImageScanId", str)
RescanId = NewType("RescanId", str)
ImagePullId = NewType("ImagePullId", str)
AcceleratorCheckId = NewType("AcceleratorCheckId", str)
PushId = NewType("PushId", str)

DEFAULT_GROUP = GroupId("default")
"""The default resource group of new nodes and of sessions without one; created by the migration, never removed."""

LOCAL_ENGINE = EngineId("local")
"""The engine detected or installed by the first command; created by the migration, with the URL in CARREL_ENGINE_URL.
"""

ID_LENGTH = 12
ID_PATTERN = r"^[a-z][a-z2-7]{11}$"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ALPHABET = _LETTERS + "234567"


def new_id() -> str:
    """A new random id; the primary key ensures uniqueness."""
    return secrets.choice(_LETTERS) + "".join(secrets.choice(_ALPHABET) for _ in range(ID_LENGTH - 1))
