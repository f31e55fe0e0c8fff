"""Requests to save a running session as an environment, and what its image has and lacks. The leader makes it."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Conflict
from carrel.engines import left_out
from carrel.engines.optional import COMMITS
from carrel.engines.port import BOOTSTRAP, WORK_HOME
from carrel.environments import environment_views as views
from carrel.environments import image_origins, quota, service
from carrel.environments import session_images as environment_images
from carrel.environments.schemas import EnvironmentView, LeftOutPaths, SavePreview, SessionSave
from carrel.images import service as images
from carrel.permissions.decide import Actor
from carrel.sessions import containers, resolution
from carrel.sessions import service as sessions
from carrel.sessions.spec import SessionSpec
from carrel.tables.dotfiles import Dotfile
from carrel.tables.engines import EngineRow
from carrel.tables.environments import EnvironmentVersion, VersionState
from carrel.tables.folders import FolderMount
from carrel.tables.nodes import Node
from carrel.tables.session_states import ContainerState, SessionState
from carrel.tables.sessions import Container, Session
from carrel.tables.tenancy import Project
from carrel.tables.usage import Sample


async def preview(tx: AsyncSession, actor: Actor, ref: str) -> SavePreview:
    """What an image of the session would have and lack. Raises: NotFound, Forbidden; Conflict if it does not run."""
    session, container, node = await _running(tx, actor, ref)
    spec = await _spec(tx, session)
    engine = await tx.get_one(EngineRow, node.engine_id)
    mounts = (
        select(FolderMount.path).where(FolderMount.session_id == session.id).order_by(FolderMount.position)
    )
    changed = select(Sample.disk_bytes).where(
        Sample.container_id == container.id, Sample.disk_bytes.is_not(None)
    )
    return SavePreview(
        session=session.id,
        base=session.image_name or session.image,
        engine=engine.name,
        changed_bytes=(await tx.execute(changed.order_by(Sample.at.desc()).limit(1))).scalar(),
        folders=list((await tx.execute(mounts)).scalars()),
        variables=sorted(spec.container_requests[0].env),
        files=await given_files(tx, session),
        left_out=[LeftOutPaths(kind=kind, paths=list(paths)) for kind, paths in left_out.PATHS.items()],
        refusal=_refusal(node, engine),
    )


async def save(
    tx: AsyncSession, clock: Clock, actor: Actor, ref: str, request: SessionSave
) -> EnvironmentView:
    """Have the running session saved as a version of an environment, of the actor or of one of their projects.

    Raises: NotFound, Forbidden; Conflict if it does not run, its engine cannot make images, or the version exists;
    Refused over the quota.
    """
    session, container, node = await _running(tx, actor, ref)
    engine = await tx.get_one(EngineRow, node.engine_id)
    if refusal := _refusal(node, engine):
        raise Conflict(
            "environment.engine_cannot",
            refusal,
            hint="Run the session in a resource group of another engine.",
        )
    project = None
    if request.project is not None:
        project = await tx.get_one(Project, await resolution.project_of(tx, actor, request.project))
    listed = await images.find(tx, session.image, domain=session.domain_id, projects=[session.project_id])
    base = listed or await environment_images.of_reference(tx, session.image)
    now = clock.now()
    environment = await service.for_saving(tx, actor, request.name, project, now)
    await quota.require_room(tx, owner=environment.owner_id, project=environment.project_id)
    version = EnvironmentVersion(
        note=request.note,
        state=VersionState.WAITING,
        engine_id=engine.id,
        node_id=node.id,
        session_id=session.id,
        session_name=session.name,
        container_id=container.id,
        base=session.image_name or session.image,
        origins=image_origins.to_json(await image_origins.with_image(tx, listed, session.image)),
        apps=session.apps,
        min_slots=dict(base.least_slots if base else images.DEFAULT_MIN_SLOTS),
        cancel=False,
        created_by=actor.user_id,
        created_at=now,
    )
    version = await service.add_version(tx, environment, version, request.version)
    environment.updated_at = now
    await tx.flush()
    saved = f"{environment.name}:{version.name}"
    sessions.note(
        tx, actor, "session.save", session, details={"environment": environment.id, "version": saved}
    )
    return await views.show(tx, actor, environment.id)


async def given_files(tx: AsyncSession, session: Session) -> list[str]:
    """Paths of files that its main container was given at its start, as far as they are known now."""
    dotfiles = select(Dotfile.path).where(Dotfile.user_id == session.owner_id).order_by(Dotfile.path)
    spec = await _spec(tx, session)
    own = [f"{WORK_HOME}/{path}" for path in (await tx.execute(dotfiles)).scalars()]
    return [*own, *([BOOTSTRAP] if spec.bootstrap else [])]


async def _spec(tx: AsyncSession, session: Session) -> SessionSpec:
    stored = (await tx.execute(select(Session.spec).where(Session.id == session.id))).scalar_one()
    return SessionSpec.from_json(stored)


async def _running(tx: AsyncSession, actor: Actor, ref: str) -> tuple[Session, Container, Node]:
    session = await sessions.find(tx, actor, ref, "session.save")
    container = await containers.named(tx, session, None)
    running = session.state == SessionState.RUNNING and container.state == ContainerState.RUNNING
    if not running or container.node_id is None:
        raise Conflict(
            "session.not_running",
            f"{session.name} is not running.",
            hint="Only a running session can be saved.",
            details={"state": session.state},
        )
    return session, container, await tx.get_one(Node, container.node_id)


def _refusal(node: Node, engine: EngineRow) -> str | None:
    if COMMITS in node.capabilities:
        return None
    return f"The engine {engine.name} cannot make images of sessions."
