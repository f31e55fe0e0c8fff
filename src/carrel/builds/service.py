"""Requests to build environments, their recipes and logs. The leader has an engine build them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.builds import build_recipes as recipes
from carrel.builds import contexts, devcontainer
from carrel.builds import dockerfile as dockerfiles
from carrel.builds.schemas import (
    MOST_OF_SOURCE,
    BuildContextView,
    BuildLogView,
    BuildRecipe,
    EnvironmentBuild,
    EnvironmentRebuild,
)
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Forbidden, Invalid, NotFound, Refused
from carrel.core.ids import LOCAL_ENGINE, ProjectId, new_id
from carrel.db.database import notify
from carrel.engines.optional import BUILDS
from carrel.engines.references import LOCAL, never_an_id, registry_of
from carrel.environments import environment_access as access
from carrel.environments import environment_views as views
from carrel.environments import image_origins, quota
from carrel.environments import service as environments
from carrel.environments.image_origins import Origin
from carrel.environments.schemas import EnvironmentView
from carrel.images import service as images
from carrel.permissions.decide import Actor, Target, require
from carrel.sessions import resolution
from carrel.tables import builds as tables
from carrel.tables.builds import BUILDS_TOPIC, BuildContext, BuildLog
from carrel.tables.environments import Environment, EnvironmentVersion, VersionState
from carrel.tables.images import Image
from carrel.tables.nodes import Node, NodeState
from carrel.tables.tenancy import Project

_STARTER = "starter"
_PARTS = 200
MOST_UNUSED = 20
"""Contexts of a person that no build uses."""
MOST_OPEN = 20
"""Builds of a person that have not ended."""
_OPEN = (VersionState.WAITING, VersionState.RUNNING)


async def keep_context(
    tx: AsyncSession, clock: Clock, actor: Actor, packed: contexts.Packed, *, source: str = ""
) -> BuildContextView:
    """Keep the files for a build. source: as much of it as a version keeps. Raises: Forbidden, Refused."""
    await require_context(tx, actor)
    source = source[:MOST_OF_SOURCE]
    row = BuildContext(
        id=new_id(),
        owner_id=actor.user_id,
        content=packed.content,
        files=packed.files,
        size_bytes=packed.size_bytes,
        created_at=clock.now(),
    )
    tx.add(row)
    await tx.flush()
    return BuildContextView(id=row.id, files=row.files, size_bytes=row.size_bytes, source=source)


async def require_context(tx: AsyncSession, actor: Actor) -> None:
    """Check that the actor may have another context. Raises: Forbidden, Refused."""
    require(actor, "environment.build", Target(actor.user_id, domain_id=actor.domain_id))
    mine = select(func.count()).select_from(BuildContext).where(BuildContext.owner_id == actor.user_id)
    unused = mine.where(~exists().where(tables.BuiltVersion.context_id == BuildContext.id))
    if (await tx.execute(unused)).scalar_one() >= MOST_UNUSED:
        raise Refused(
            "build.too_many_contexts",
            f"{MOST_UNUSED} of your build contexts are unused.",
            hint="Build from one of them, or wait: each is deleted a day after it was sent.",
        )


async def build(
    tx: AsyncSession, clock: Clock, actor: Actor, request: EnvironmentBuild, *, micromamba: str
) -> EnvironmentView:
    """Have a version of an environment built, of the actor or of one of their projects. micromamba: see `conda.tool`.

    Raises: NotFound, Forbidden, Invalid, Conflict; Refused over the quota.
    """
    require(actor, "environment.build", Target(actor.user_id, domain_id=actor.domain_id))
    files, listing = await _files(tx, actor, request)
    base = request.base or await _default_base(tx, actor, files, request.file)
    recipe = recipes.plan(files, listing, chosen=request.file, base=base, micromamba=micromamba)
    project = None
    if request.project is not None:
        project = await tx.get_one(Project, await resolution.project_of(tx, actor, request.project))
    environment = await environments.for_saving(tx, actor, request.name, project, clock.now())
    row = tables.BuiltVersion(
        kind=recipe.kind,
        file=request.file,
        base=request.base,
        source=request.source,
        dockerfile=recipe.dockerfile,
        files=dict(recipe.files),
        added={**request.files, **recipe.added},
        notes=list(recipe.notes),
        context_id=request.context,
    )
    return await _enqueue(tx, clock, actor, environment, row, request.version, request.note)


async def rebuild(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, name: str, request: EnvironmentRebuild
) -> EnvironmentView:
    """Have another version built from the recipe and the files of that one. Raises: as `build`."""
    environment = await access.find(tx, actor, ref, "environment.build")
    former, _ = await _built(tx, environment, name)
    fields = ("kind", "file", "base", "source", "dockerfile", "files", "added", "notes", "context_id")
    row = tables.BuiltVersion(**{field: getattr(former, field) for field in fields})
    return await _enqueue(tx, clock, actor, environment, row, request.new_version, request.note)


async def recipe(tx: AsyncSession, actor: Actor, ref: str, name: str) -> BuildRecipe:
    """What the version is built from. Raises: NotFound, also for one that was saved from a session."""
    row, _ = await _built(tx, await access.find(tx, actor, ref), name)
    counted = select(BuildContext.files).where(BuildContext.id == row.context_id)
    return BuildRecipe(
        kind=row.kind,
        file=row.file,
        files=row.files,
        dockerfile=row.dockerfile,
        base=row.base,
        source=row.source,
        images=sorted(set(row.images.values())),
        context_files=(await tx.execute(counted)).scalar() or 0,
    )


async def log(tx: AsyncSession, actor: Actor, ref: str, name: str, after: int) -> BuildLogView:
    """The log of the build after that part. Raises: NotFound."""
    _, version = await _built(tx, await access.find(tx, actor, ref), name)
    chosen: ColumnElement[bool] = (BuildLog.version_id == version.id) & (BuildLog.number > after)
    statement = select(BuildLog.number, BuildLog.text).where(chosen).order_by(BuildLog.number)
    parts = (await tx.execute(statement.limit(_PARTS))).all()
    return BuildLogView(
        state=version.state,
        text="".join(text for _, text in parts),
        next=parts[-1].number if parts else after,
        complete=version.state not in _OPEN and len(parts) < _PARTS,
    )


async def _built(
    tx: AsyncSession, environment: Environment, name: str
) -> tuple[tables.BuiltVersion, EnvironmentVersion]:
    version = await access.version_of(tx, environment, name)
    row = await tx.get(tables.BuiltVersion, version.id)
    if row is None:
        raise NotFound(
            "environment.not_built",
            f"Version {version.name} of {environment.name} was saved from a session: it has no recipe.",
            hint="Only a version that was built has one.",
        )
    return row, version


async def _files(
    tx: AsyncSession, actor: Actor, request: EnvironmentBuild
) -> tuple[Mapping[str, str], list[str]]:
    """Texts of recipes, and all paths."""
    if request.context is None:
        return request.files, list(request.files)
    row = await tx.get(BuildContext, request.context)
    if row is None or row.owner_id != actor.user_id:
        raise NotFound(
            "build.context_not_found",
            f"There is no context {request.context}.",
            hint="Send it again: one that no build uses is kept for a day.",
            field="context",
        )
    stored = select(BuildContext.content).where(BuildContext.id == row.id)
    content = (await tx.execute(stored)).scalar_one()
    chosen = {*recipes.candidates(), *([request.file] if request.file else [])}
    listing = {*contexts.listing(content), *request.files}
    files = {**contexts.texts(content, chosen), **request.files}
    more = contexts.texts(content, recipes.referenced(files, request.file))
    return {**more, **files}, sorted(listing)


async def _default_base(tx: AsyncSession, actor: Actor, files: Mapping[str, str], chosen: str | None) -> str:
    """The starter image, or another of the catalogue. Raises: Invalid if there is none."""
    known = [one.name for one in await images.usable(tx, actor)]
    if known:
        return _STARTER if _STARTER in known else known[0]
    named = {path.rpartition("/")[2].removeprefix(".") for path in (chosen, *files) if path}
    if named & {dockerfiles.FILE, devcontainer.FILE}:
        return dockerfiles.SCRATCH
    raise Invalid(
        "build.no_base",
        "There is no image to build on.",
        hint="Name one: --base IMAGE.",
        field="base",
    )


@dataclass(frozen=True)
class _Below:
    """images: references by their names in the Dockerfile. catalogue: the entry below the result, if it has one.
    origins: of the result.
    """

    images: Mapping[str, str]
    catalogue: Image | None
    origins: Sequence[Origin]


async def _resolved(
    tx: AsyncSession, actor: Actor, environment: Environment, file: dockerfiles.Dockerfile
) -> _Below:
    """Raises: Invalid, NotFound, Conflict, Forbidden for an image that the actor may not use."""
    own = environment.project_id
    projects = [own] if own else sorted(actor.projects) or [ProjectId("")]
    references: dict[str, str] = {}
    origins: list[Origin] = []
    below = None
    for name in file.images:
        image = await resolution.named_image(tx, actor, name)
        reference = image.reference if image else name
        await _require_permitted(tx, actor, projects, image, name)
        references[name] = reference if registry_of(reference) == LOCAL else never_an_id(reference)
        origins += await image_origins.with_image(tx, image, reference, below=name == file.below)
        below = image if name == file.below else below
    return _Below(references, below, origins)


async def _require_permitted(
    tx: AsyncSession, actor: Actor, projects: Sequence[ProjectId], image: Image | None, name: str
) -> None:
    """Raises: Forbidden if sessions of none of the projects may use it."""
    for project in projects[:-1]:
        with suppress(Forbidden):
            await resolution.require_permitted(tx, actor, project, image, name)
            return
    await resolution.require_permitted(tx, actor, projects[-1], image, name)


async def _require_few(tx: AsyncSession, actor: Actor) -> None:
    """Raises: Refused."""
    mine = select(func.count()).select_from(EnvironmentVersion)
    mine = mine.where(EnvironmentVersion.created_by == actor.user_id, EnvironmentVersion.state.in_(_OPEN))
    if (await tx.execute(mine)).scalar_one() >= MOST_OPEN:
        raise Refused(
            "build.too_many",
            f"{MOST_OPEN} of your versions are being made or are queued.",
            hint="Wait until one has ended, or cancel one: `carrel environment ls`.",
        )


async def _enqueue(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    environment: Environment,
    row: tables.BuiltVersion,
    name: str | None,
    note: str,
) -> EnvironmentView:
    file = dockerfiles.read(row.dockerfile, name=row.file or dockerfiles.FILE)
    below = await _resolved(tx, actor, environment, file)
    await _require_few(tx, actor)
    await quota.require_room(tx, owner=environment.owner_id, project=environment.project_id)
    node = await _node(tx, below.images)
    base, now = below.catalogue, clock.now()
    version = EnvironmentVersion(
        note=note,
        state=VersionState.WAITING,
        recipe=row.kind,
        engine_id=node.engine_id,
        node_id=node.id,
        session_name="",
        container_id="",
        base=file.below or dockerfiles.SCRATCH,
        origins=image_origins.to_json(below.origins),
        apps=base.apps if base else [],
        min_slots=dict(base.least_slots if base else images.DEFAULT_MIN_SLOTS),
        cancel=False,
        created_by=actor.user_id,
        created_at=now,
    )
    version = await environments.add_version(tx, environment, version, name)
    row.version_id, row.images, row.below = version.id, dict(below.images), file.below
    tx.add(row)
    environment.updated_at = now
    await tx.flush()
    environments.record(
        tx, actor, "environment.build", environment, {"version": version.name, "recipe": row.kind}
    )
    await notify(tx, BUILDS_TOPIC)
    return await views.show(tx, actor, environment.id)


async def _node(tx: AsyncSession, references: Mapping[str, str]) -> Node:
    """One whose engine builds images: where the environments below are, or any. Raises: Conflict."""
    own = [one for one in references.values() if registry_of(one) == LOCAL]
    there = [Node.images.contains([reference]) for reference in own]
    able = (Node.capabilities.contains([BUILDS]), Node.state == NodeState.READY, Node.engine_id.is_not(None))
    order = (Node.engine_id != LOCAL_ENGINE, Node.cordoned, Node.id)
    for conditions in ((*able, *there), able):
        node = (await tx.execute(select(Node).where(*conditions).order_by(*order).limit(1))).scalar()
        if node is not None:
            return node
    raise Conflict(
        "build.no_engine",
        "No engine of this installation that is reachable now builds images.",
        hint="See `carrel engine ls`. Save a running session instead.",
    )
