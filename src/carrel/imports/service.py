"""The use case of imports: what the import of an address would do."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Forbidden, Invalid, first_few
from carrel.core.ids import new_id
from carrel.engines.port import WORK_HOME
from carrel.folders import access
from carrel.images import service as images
from carrel.imports import sources
from carrel.imports.fetching import KEY_VARIABLE, TOKEN_VARIABLE, Steps, page, script
from carrel.imports.schemas import ImportCredentials, ImportPreview, ImportRequest, ImportWarning
from carrel.imports.sources import HUB_KINDS, VERSIONED, ImportSource, SourceKind
from carrel.permissions.decide import Actor, Target, require
from carrel.sessions import mount_paths, resolution
from carrel.sessions.spec import MountRequest, SessionSpec
from carrel.site import service as site
from carrel.tables.folders import Permission
from carrel.tables.images import Image
from carrel.tables.session_states import SessionKind

_USUAL = "starter"
_NOTEBOOKS = "jupyter"
_SLOTS = {"cpu": 1000, "mem": 1 << 30}
_SUFFIX = 4
_LEARNING = ("torch", "tensorflow", "transformers", "cuda")
_VARIABLES = {ImportCredentials.TOKEN: TOKEN_VARIABLE, ImportCredentials.KEY: KEY_VARIABLE}


async def preview(tx: AsyncSession, actor: Actor, request: ImportRequest) -> ImportPreview:
    """What the import would do, with the request of its session.

    Raises: Invalid; Forbidden for a source that the site does not permit; NotFound for the folder.
    """
    project = await resolution.project_of(tx, actor, None)
    require(actor, "session.create", Target(actor.user_id, project, actor.domain_id))
    source = sources.read(request.url, kind=request.kind, ref=request.ref, path=request.path)
    source = with_credentials(source, request.credentials)
    await require_permitted(tx, source)
    root, mounts = WORK_HOME, tuple[MountRequest, ...]()
    if request.folder:
        held = await access.find(tx, actor, request.folder, "vfolder.use")
        access.require(held, Permission.WRITE)
        folder = held.folder
        root = mount_paths.place(None, folder.name, field="folder")
        mounts = (MountRequest(folder=folder.id),)
    into_session = not request.folder
    install = request.install and into_session and source.kind != SourceKind.NOTEBOOK
    text = script(source, Steps(root=root, install=install, opens=into_session))
    known = await images.usable(tx, actor)
    image = next((one for one in known if one.name == request.image), None)
    if request.image is None:
        image = suggested(known, source.kind)
    name = request.image or (image.name if image else _USUAL)
    apps = [app["name"] for app in image.apps] if image and into_session else []
    least = image.least_slots if image else {}
    variable = _VARIABLES.get(request.credentials)
    spec = SessionSpec(
        image=name,
        name=f"{source.name.removesuffix('.ipynb')[:40].rstrip('-.')}-{new_id()[:_SUFFIX]}",
        description=f"Import of {source.place}"[:500],
        slots={slot: max(amount, least.get(slot, 0)) for slot, amount in _SLOTS.items()},
        mounts=mounts,
        **(
            {"bootstrap": text}
            if into_session
            else {"kind": SessionKind.BATCH, "command": ("/bin/sh", "-c", text)}
        ),
    )
    return ImportPreview(
        kind=source.kind,
        url=source.url,
        host=source.host,
        name=source.name,
        repository=source.repository or None,
        ref=source.ref,
        path=source.path,
        target=f"{root}/{source.name}",
        image=name,
        app=_NOTEBOOKS if _NOTEBOOKS in apps else next(iter(apps), None),
        opens=f"/lab/tree/{page(source)}" if _NOTEBOOKS in apps else None,
        variable=variable,
        warnings=list(_warnings(source, request, install=install)),
        script=text,
        session=spec.to_json(),
    )


def suggested(known: Sequence[Image], kind: SourceKind) -> Image | None:
    """The image of the catalogue for a source of this kind."""

    def rank(image: Image) -> tuple[bool, bool, bool]:
        words = f"{image.name} {image.title} {image.description}".lower()
        learns = kind in HUB_KINDS and any(word in words for word in _LEARNING)
        opens = any(app["name"] == _NOTEBOOKS for app in image.apps)
        return learns, opens, image.name == _USUAL

    return max(known, key=rank, default=None)


async def require_permitted(tx: AsyncSession, source: ImportSource) -> bool:
    """True if the site names this source, False if it permits all of them. Raises: Forbidden."""
    rules = (await site.settings(tx)).import_sources
    if rules and not sources.permitted(source.place, rules):
        raise Forbidden(
            "import.source_not_permitted",
            f"Imports from {source.place.partition('/')[0]} are not permitted here.",
            hint=f"Permitted: {first_few(rules)}",
            field="url",
            details={"sources": list(rules)},
        )
    return bool(rules)


def with_credentials(source: ImportSource, credentials: ImportCredentials) -> ImportSource:
    """The source as these credentials open it. Raises: Invalid."""
    parts = urlsplit(source.url)
    if credentials == ImportCredentials.TOKEN and parts.scheme == "ssh":
        raise Invalid(
            "import.wrong_credentials",
            "An SSH address is opened by a key, not by a token.",
            hint="Enter the address that begins with https://, or use a key.",
            field="credentials",
        )
    if credentials != ImportCredentials.KEY or parts.scheme == "ssh":
        return source
    if source.kind != SourceKind.GIT:
        raise Invalid(
            "import.wrong_credentials",
            "Only a Git repository is opened by a key.",
            hint="Use a token.",
            field="credentials",
        )
    return sources.by_ssh(source)


def _warnings(source: ImportSource, request: ImportRequest, *, install: bool) -> Iterable[ImportWarning]:
    parts = urlsplit(source.url)
    if source.guessed and request.kind is None:
        yield ImportWarning.GUESSED
    if parts.scheme == "http":
        yield ImportWarning.PLAIN_HTTP
    if parts.query:
        yield ImportWarning.QUERY_KEPT
    if request.ref and source.kind not in VERSIONED:
        yield ImportWarning.REF_UNUSED
    if request.path and source.kind == SourceKind.NOTEBOOK:
        yield ImportWarning.PATH_UNUSED
    if request.install and not install:
        yield ImportWarning.INSTALL_UNUSED
    if parts.scheme == "ssh" and request.credentials != ImportCredentials.KEY:
        yield ImportWarning.KEY_NEEDED
