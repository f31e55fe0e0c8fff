"""API types of storage hosts."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from carrel.core.ids import StorageHostId
from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.nodes.engines.schemas import EngineRef
from carrel.tables.storage_hosts import POSIX, HostState
from carrel.tenancy.schemas import Description, DomainRef, ProjectRef, Ref

HostName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$"),
    says("A storage host's name has 1 to 64 lowercase letters and digits, with _ . - between them."),
]
Root = Annotated[
    str,
    StringConstraints(pattern=r"^/[^\x00]*$", max_length=4096),
    says("The root is a directory's absolute path, such as /srv/folders."),
]


Kind = Annotated[str, StringConstraints(min_length=1, max_length=60)]


class StorageHostKind(BaseModel):
    """settings: JSON schema of its settings, including `root`; secrets are writeOnly.

    hard_quota, instant_clone: see StorageHostView.
    """

    kind: str
    title: str
    description: str
    settings: dict[str, Any]
    hard_quota: bool
    instant_clone: bool


class StorageHostKindList(BaseModel):
    items: list[StorageHostKind]
    next_cursor: str | None = None


class StorageHostCreate(BaseModel):
    """backend: the storage kind, as in `GET /storage-host-kinds`.

    settings: settings of the kind besides the root; never shown again. root: a directory on the server. active: accepts
    new folders. public: open to users of every domain that permits the host; otherwise only to its access list.
    """

    model_config = {"extra": "forbid"}

    name: HostName
    backend: Kind = POSIX
    root: Root
    settings: dict[str, Any] = Field(default={}, max_length=50)
    description: Description = ""
    active: bool = True
    public: bool = True


class StorageHostUpdate(BaseModel):
    """Omitted fields keep their values. Back end and root cannot be changed."""

    model_config = {"extra": "forbid"}

    name: HostName = ""
    description: Description = ""
    active: bool = True
    public: bool = True


class StorageHostAccessUpdate(BaseModel):
    """The access list of a host that is not public: ids or names. It replaces the current list."""

    model_config = {"extra": "forbid"}

    domains: list[Ref] = Field(default=[], max_length=500)
    projects: list[Ref] = Field(default=[], max_length=500)


class StorageHostLocationUpdate(BaseModel):
    """location: where the containers of the engine have the host's root: a path on its nodes, `volume://NAME/PREFIX`
    (a volume that the engine has; on Kubernetes a PersistentVolumeClaim), `nfs://SERVER/EXPORT` or
    `csi://DRIVER/PREFIX?ATTRIBUTE=VALUE`. "": at the same path as on the server. null: nowhere, so sessions with
    folders of the host do not run on the engine.
    """

    model_config = {"extra": "forbid"}

    location: Annotated[str, StringConstraints(max_length=1000, strip_whitespace=True)] | None


class StorageHostLocationView(BaseModel):
    engine: EngineRef
    location: str | None


class StorageCheckRequest(BaseModel):
    """image: a reference, or null for one of the catalogue; it needs a shell."""

    model_config = {"extra": "forbid"}

    image: Annotated[str, StringConstraints(min_length=1, max_length=512)] | None = None


class StorageCheckStep(BaseModel):
    """place: a node, which reads what all before it wrote and then writes; finally "server". problem: "" if none."""

    place: str
    problem: str


class StorageCheck(BaseModel):
    ok: bool
    steps: list[StorageCheckStep]


class StorageHostAccessView(BaseModel):
    domains: list[DomainRef]
    projects: list[ProjectRef]


Level = Literal["adequate", "caution", "insufficient", "unknown"]


class StorageHostView(BaseModel):
    """level: free space: caution from 80 % used, insufficient from 95 %.

    hard_quota: writes beyond a quota fail immediately, in sessions too. instant_clone: whole folders are cloned in
    constant time. folders, used_bytes: number and size of the folders on it that you may see.

    root, access, problem (what is wrong when the state is not "ok") and locations (on engines that do not have the root
    at the same path; null: nowhere): None unless you administer storage.
    """

    id: StorageHostId
    name: str
    description: str
    backend: str
    root: str | None
    active: bool
    public: bool
    state: HostState
    problem: str | None
    hard_quota: bool
    instant_clone: bool
    level: Level
    total_bytes: int | None
    free_bytes: int | None
    folders: int
    used_bytes: int
    access: StorageHostAccessView | None
    locations: list[StorageHostLocationView] | None
    checked_at: datetime | None
    created_at: datetime


class StorageHostQuery(PageQuery):
    """Filter of the list. sort: name or created_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name")


class StorageHostList(BaseModel):
    items: list[StorageHostView]
    next_cursor: str | None


class StorageHostRef(BaseModel):
    id: StorageHostId
    name: str
