"""/sessions/{ref}/logs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from carrel.apps.logs import LogReader, prompt, zipped
from carrel.apps.schemas import LogParameters
from carrel.apps.services import AccessServices
from carrel.http.auth import CurrentActor, names
from carrel.http.compressed import may_be_guessed, takes
from carrel.http.services import ServicesOf
from carrel.sessions import containers
from carrel.sessions import service as sessions
from carrel.tables.session_states import ContainerRole

router = APIRouter(tags=["access"])
Ref = Annotated[str, Path(max_length=64, description="An id, a unique prefix of it, or a name.")]


@router.get(
    "/sessions/{ref}/logs",
    operation_id="sessions.logs",
    summary="Read the log of a session",
    openapi_extra=names("session.read"),
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "application/x-ndjson": {"schema": {"type": "string"}},
            },
            "description": "The log",
        }
    },
)
async def logs(
    request: Request,
    services: ServicesOf[AccessServices],
    actor: CurrentActor,
    ref: Ref,
    query: Annotated[LogParameters, Query()],
) -> StreamingResponse:
    """The output of the session's main process; kept after the end, compressed, up to the size in the policy:
    the beginning and the end.
    """
    async with services.database.transaction() as tx:
        session = await sessions.find(tx, actor, ref)
        inside = await containers.named(tx, session, query.container)
        # Reading one's own log is not audited: the page does it all the time.
        if query.download or session.owner_id != actor.user_id:
            details = {"read": "log", "download": query.download}
            sessions.note(tx, actor, "session.read", session, details=details)
    reader = LogReader(services.database, services.container_engines, services.session_changes, services.logs)
    sent_as = query.sent_as()
    content = await prompt(reader.read(inside.id, query.of_log(), sent_as, follow=query.follow))
    if query.follow and sessions.is_by_share(actor, session, "session.read"):
        content = services.access_watch.while_permitted(actor, session, "session.read", content)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if query.download:
        part = "" if inside.role == ContainerRole.MAIN else f"-{inside.name}"
        headers["Content-Disposition"] = f'attachment; filename="{session.name}-{session.id}{part}.log"'
        headers["Vary"] = "Accept-Encoding"
        accepted = request.headers.get("accept-encoding", "")
        if not query.follow and takes(accepted, "gzip") and not may_be_guessed(request.scope):
            headers["Content-Encoding"] = "gzip"
            content = zipped(content)
    return StreamingResponse(content, media_type=sent_as.media_type, headers=headers)
