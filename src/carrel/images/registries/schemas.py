"""API types of registries."""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, StringConstraints
from pydantic.functional_validators import BeforeValidator

from carrel.core.ids import RegistryId, ScanId
from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.tables.registries import MayPush, RegistryKind, ScanState
from carrel.tenancy.schemas import DomainRef, ProjectRef, Ref


def _address(text: str) -> str:
    parts = urlsplit(text)
    # Reading the port checks it.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("not an HTTP URL")
    if parts.username is not None or parts.query or parts.fragment or parts.path not in ("", "/"):
        raise ValueError("more than an address")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _empty_as_none(value: Any) -> Any:
    return value or None


RegistryName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$"),
    says("A registry's name has 1 to 64 lowercase letters and digits, with _ . - between them."),
]
RegistryUrl = Annotated[
    str,
    StringConstraints(max_length=300, strip_whitespace=True, pattern=r"^[\x21-\x7e]+$"),
    AfterValidator(_address),
    says("The URL of a registry is like https://registry.example.org:5000: no user name and no path."),
]
OptionalUrl = Annotated[RegistryUrl | None, BeforeValidator(_empty_as_none)]
Namespace = Annotated[
    str,
    StringConstraints(
        max_length=255, pattern=r"^(?:[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)?$"
    ),
    says("A namespace is the beginning of repository names, such as team or team/project, in lower case."),
]
Glob = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")]
Globs = Annotated[list[Glob], Field(max_length=1000)]
Certificates = Annotated[str, StringConstraints(max_length=100_000, strip_whitespace=True)]
Credential = Annotated[
    str, StringConstraints(max_length=255, pattern=r"^[^\x00-\x1f:]*$", strip_whitespace=True)
]
Secret = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]


class RegistryCreate(BaseModel):
    """url: omitted: the public one of the kind. A URL with http:// is used without encryption.

    namespace: prefix of its repositories, such as `library` or a Harbor project; "": all. username: omitted with a
    secret: the usual one of the kind, such as `$oauthtoken` of NGC; for ECR also an access key of AWS with its secret
    key, or `instance-role` without a secret for the installation: passwords are then renewed. secret: password or
    token; never shown. ca_pem:
    certificates of an authority to trust besides the system's. mirror: URL of a registry from which images are scanned
    and pulled instead; it receives the credentials. repositories, tags: allow-lists of globs; empty: all. repositories
    are without the namespace; names without * ? [ are also used where the registry cannot be listed. domain, project:
    id or name of the one for which it is; omitted: what the creator administers: the installation, their domain or
    their only project. images_enabled: whether images that its scans add can be used unless a superadmin says
    otherwise. push: who may push environments to it; `members`: of its project, its domain or the installation.
    push_repositories: globs of the repositories to which they may, without the namespace, such as `team-a/*`.
    read_packages: whether scans download the layers of images, each once, to read package databases.
    """

    model_config = {"extra": "forbid"}

    name: RegistryName
    kind: RegistryKind = RegistryKind.GENERIC
    url: OptionalUrl = None
    namespace: Namespace = ""
    username: Credential = ""
    secret: Secret = ""
    ca_pem: Certificates = ""
    mirror: OptionalUrl = None
    repositories: Globs = []
    tags: Globs = []
    images_enabled: bool = True
    push: MayPush = MayPush.NOBODY
    push_repositories: Globs = []
    read_packages: bool = False
    domain: Ref | None = None
    project: Ref | None = None


class RegistryUpdate(BaseModel):
    """Omitted fields keep their values. Kind and scope cannot be changed.

    secret: "" removes it. It must be sent again when the registry moves to another URL or mirror.
    """

    model_config = {"extra": "forbid"}

    name: RegistryName = ""
    url: RegistryUrl = ""
    namespace: Namespace = ""
    username: Credential = ""
    secret: Secret = ""
    ca_pem: Certificates = ""
    mirror: OptionalUrl = None
    repositories: Globs = []
    tags: Globs = []
    images_enabled: bool = True
    push: MayPush = MayPush.NOBODY
    push_repositories: Globs = []
    read_packages: bool = False


class RegistryRef(BaseModel):
    id: RegistryId
    name: str


class RegistryView(BaseModel):
    """host: as in image references. has_secret: whether there is a password or token; it is never shown.

    password_until: the end of a password that is renewed by keys; null: none is, or there is none yet.
    password_problem: why the last renewal failed; it is tried again every five minutes, and by a check.

    domain, project: for which it is; both null: the installation.
    """

    id: RegistryId
    name: str
    kind: RegistryKind
    url: str
    host: str
    namespace: str
    username: str
    has_secret: bool
    password_until: datetime | None
    password_problem: str | None
    ca_pem: str
    mirror: str
    repositories: list[str]
    tags: list[str]
    images_enabled: bool
    push: MayPush
    push_repositories: list[str]
    read_packages: bool
    domain: DomainRef | None
    project: ProjectRef | None
    created_at: datetime


class RegistryQuery(PageQuery):
    """Which registries to list. sort: name or created_at."""

    q: str | None = Field(default=None, max_length=100, description="part of the name or URL")


class RegistryList(BaseModel):
    items: list[RegistryView]
    next_cursor: str | None


class RegistryCheckStep(BaseModel):
    """name: password where it is renewed, connection, repositories, tags or manifest."""

    name: str
    ok: bool
    sentence: str


class RegistryCheck(BaseModel):
    """steps: in execution order; the first failed one is the last."""

    ok: bool
    steps: list[RegistryCheckStep]


class RegistryScanView(BaseModel):
    """repositories: to read; null while they are not listed. repositories_failed: those that could not be read.

    tags: read so far. added, updated, removed: images of the catalogue. requests: sent to the registry, once it has
    ended. layers, layer_bytes: downloaded to read package databases. problem: why it failed, or why the last failed
    repository or image could not be read.
    """

    id: ScanId
    registry_id: RegistryId
    state: ScanState
    cancel: bool
    repositories: int | None
    repositories_done: int
    repositories_failed: int
    tags: int
    added: int
    updated: int
    removed: int
    requests: int
    layers: int
    layer_bytes: int
    problem: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class RegistryScanList(BaseModel):
    items: list[RegistryScanView]
    next_cursor: str | None
