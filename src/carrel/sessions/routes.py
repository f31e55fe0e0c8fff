"""/sessions: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from carrel.core.ids import SessionId
from carrel.folders.schemas import MountList
from carrel.http.auth import CurrentActor, names
from carrel.http.fast_path import FastRoute
from carrel.http.query import QueryBool
from carrel.http.services import Services, ServicesOf
from carrel.permissions.decide import Actor
from carrel.sessions import environment, graph, mounting, queries, repeating, service, session_json, timeline
from carrel.sessions.schemas import (
    CountQuery,
    HistoryList,
    HistoryView,
    SessionCounts,
    SessionCreate,
    SessionDetail,
    SessionGraph,
    SessionList,
    SessionPriority,
    SessionQuery,
    SessionRename,
    SessionTimeLimit,
    SessionTimeline,
)
from carrel.sessions.spec import GraceS, StopSignal
from carrel.sessions.templates import service as templates

router = APIRouter(tags=["sessions"])
Ref = Annotated[str, Path(max_length=64, description="An id, a unique prefix of it, or a name.")]


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status_code=status, media_type="application/json")


async def _detail(services: Services, actor: Actor, session: SessionId, status: int = 200) -> Response:
    """The session as the change left it."""
    async with services.database.transaction() as tx:
        return _json(await session_json.detail(tx, services.seal, actor, session), status)


@router.post(
    "/sessions",
    operation_id="sessions.create",
    summary="Create a session",
    openapi_extra=names("session.create"),
    status_code=201,
    response_model=SessionDetail,
)
async def create(
    services: ServicesOf[Services],
    actor: CurrentActor,
    body: SessionCreate,
    replaces: Annotated[
        str | None,
        Query(max_length=64, description="A pending session to cancel in the same step; its name is kept."),
    ] = None,
    template: Annotated[
        str | None,
        Query(max_length=64, description="The template that the request was made from; recorded."),
    ] = None,
    template_revision: Annotated[
        int | None, Query(ge=1, description="Its revision then; default: the current one.")
    ] = None,
    idempotency_key: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Create a session. It is PENDING and starts as soon as there is capacity."""
    spec = environment.closed_spec(services.seal, body)
    session = await service.enqueue(
        services.database,
        services.clock,
        actor,
        spec,
        replaces=replaces,
        idempotency_key=idempotency_key,
        template=await templates.origin(services.database, actor, template, revision=template_revision)
        if template
        else None,
    )
    return await _detail(services, actor, session, 201)


async def list_sessions(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[SessionQuery, Query()]
) -> Response:
    """Your sessions, newest first unless sorted; with owner=all, every session that you may see.

    By default an array is one row: its first session, with the array's counts. It counts as live while one of its
    sessions is.
    """
    return _json(await session_json.page(services.database, actor, query))


router.add_api_route(
    "/sessions",
    list_sessions,
    methods=["GET"],
    operation_id="sessions.list",
    summary="List sessions",
    openapi_extra=names("session.read"),
    response_model=SessionList,
    route_class_override=FastRoute,
)


@router.get(
    "/session-counts",
    operation_id="sessions.counts",
    summary="Count sessions",
    openapi_extra=names("session.read"),
)
async def counts(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[CountQuery, Query()]
) -> SessionCounts:
    """How many sessions match, by kind and by state, as rows of the list: an array is one.

    Of a list with ended sessions only the newest 10,000 rows are counted.
    """
    return await session_json.counts(services.database, actor, query)


@router.get(
    "/sessions/{ref}",
    operation_id="sessions.show",
    summary="Get a session",
    openapi_extra=names("session.read"),
    response_model=SessionDetail,
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> Response:
    """Get one session with its environment and apps. The name of an array gives its first session."""
    async with services.database.transaction() as tx:
        session, _ = await service.find_any(tx, actor, ref)
        return _json(await session_json.detail(tx, services.seal, actor, session.id))


@router.patch(
    "/sessions/{ref}",
    operation_id="sessions.rename",
    summary="Rename a session",
    openapi_extra=names("session.update"),
    response_model=SessionDetail,
)
async def rename(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: SessionRename
) -> Response:
    """Rename a live session."""
    session = await service.rename(services.database, actor, ref, body.name)
    return await _detail(services, actor, session)


@router.put(
    "/sessions/{ref}/priority",
    operation_id="sessions.prioritise",
    summary="Set the priority of a pending session",
    openapi_extra=names("session.update"),
    response_model=SessionDetail,
)
async def prioritise(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    body: SessionPriority,
    array: Annotated[QueryBool, Query(description="change all pending sessions of its array")] = False,
) -> Response:
    """Change the priority of a pending session; for the name of an array, of all its pending sessions.

    Only administrators may exceed what your policy allows.
    """
    async with services.database.transaction() as tx:
        session = await service.prioritise(tx, actor, ref, body.priority, array=array)
    return await _detail(services, actor, session)


@router.put(
    "/sessions/{ref}/time-limit",
    operation_id="sessions.extend",
    summary="Extend the time limit of a session",
    openapi_extra=names("session.update"),
    response_model=SessionDetail,
)
async def extend(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: SessionTimeLimit
) -> Response:
    """Set a longer time limit of a live session, up to what your policy allows."""
    async with services.database.transaction() as tx:
        session = await repeating.extend(tx, services.clock, actor, ref, body.time_limit_s)
    return await _detail(services, actor, session)


@router.post(
    "/sessions/{ref}/restart",
    operation_id="sessions.restart",
    summary="Restart a session in place",
    openapi_extra=names("session.restart"),
    status_code=202,
    response_model=SessionDetail,
)
async def restart(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> Response:
    """Restart a running interactive session: the same session on the same node, with new containers. It keeps its
    slots and folders; files outside of folders are lost.
    """
    async with services.database.transaction() as tx:
        session = await repeating.restart(tx, services.clock, actor, ref)
    return await _detail(services, actor, session, 202)


@router.post(
    "/sessions/{ref}/again",
    operation_id="sessions.again",
    summary="Start a session again",
    openapi_extra=names("session.again"),
    status_code=201,
    response_model=SessionDetail,
)
async def again(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    exact_image: Annotated[
        QueryBool,
        Query(description="With the digests of the images that it ran, whatever their tags mean now."),
    ] = False,
    idempotency_key: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Start one of your sessions again: another session with its present definition, and its name if that is free."""
    session = await repeating.again(
        services.database,
        services.clock,
        actor,
        ref,
        exact_image=exact_image,
        idempotency_key=idempotency_key,
    )
    return await _detail(services, actor, session, 201)


@router.delete(
    "/sessions/{ref}",
    operation_id="sessions.remove",
    summary="Terminate or cancel a session",
    openapi_extra=names("session.remove"),
    status_code=202,
    response_model=SessionDetail,
)
async def remove(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    force: Annotated[
        QueryBool, Query(description="End it now, even if the engine does not respond.")
    ] = False,
    signal: Annotated[
        StopSignal | None, Query(description="Sent to its main process; default: as requested with it.")
    ] = None,
    grace_s: Annotated[
        GraceS | None, Query(description="Seconds until it is killed; default: as requested with it.")
    ] = None,
    array: Annotated[QueryBool, Query(description="end all sessions of its array")] = False,
) -> Response:
    """Terminate a session, or cancel it while it is pending; for the name of an array, all its sessions. Idempotent.

    With force it has ended on return; containers that may remain on the engine are ABANDONED and hold their slots until
    the engine confirms that they are gone.
    """
    async with services.database.transaction() as tx:
        session = await service.remove(
            tx, services.clock, actor, ref, force=force, array=array, signal=signal, grace_s=grace_s
        )
    return await _detail(services, actor, session, 202)


@router.get(
    "/sessions/{ref}/history",
    operation_id="sessions.history",
    summary="Show the state history of a session",
    openapi_extra=names("session.read"),
)
async def history(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> HistoryList:
    """Every transition with its time, cause and actor, oldest first."""
    async with services.database.transaction() as tx:
        session = await service.find(tx, actor, ref)
        entries = await queries.history(tx, session.id)
    return HistoryList(
        items=[
            HistoryView(
                at=entry.at,
                from_state=entry.from_state,
                to_state=entry.to_state,
                cause=entry.cause,
                reason=entry.reason,
                actor=email,
            )
            for entry, email in entries
        ]
    )


@router.get(
    "/sessions/{ref}/timeline",
    operation_id="sessions.timeline",
    summary="Show the timeline of a session's start",
    openapi_extra=names("session.read"),
)
async def start_timeline(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> SessionTimeline:
    """The steps of its last start with their times: queue, mounts, image and container of each container, apps."""
    async with services.database.transaction() as tx:
        session = await service.find(tx, actor, ref)
        return await timeline.of_session(tx, session.id)


@router.get(
    "/sessions/{ref}/graph",
    operation_id="sessions.graph",
    summary="Show the dependencies around a session",
    openapi_extra=names("session.read"),
)
async def dependency_graph(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> SessionGraph:
    """All sessions that it starts after and all that start after it, directly or not."""
    async with services.database.transaction() as tx:
        session, _ = await service.find_any(tx, actor, ref)
        return await graph.around(tx, actor, session.id)


@router.get(
    "/vfolders/{ref}/mounts",
    operation_id="vfolders.mounts",
    summary="List sessions that mount a folder",
    openapi_extra=names("vfolder.read"),
)
async def mounts(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> MountList:
    """Live sessions that mount a folder; for those that you may not see, only their number."""
    async with services.database.transaction() as tx:
        return MountList(items=await mounting.mounted_in(tx, actor, ref))
