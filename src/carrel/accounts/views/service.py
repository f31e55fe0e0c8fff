"""Use cases of saved views."""

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.accounts.views.schemas import ViewCreate, ViewUpdate
from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.core.ids import ViewId, new_id
from carrel.permissions.decide import Actor
from carrel.tables.saved_views import SavedView

MAX_VIEWS = 50


async def list_own(tx: AsyncSession, actor: Actor) -> list[SavedView]:
    """The actor's views, by name."""
    own = select(SavedView).where(SavedView.user_id == actor.user_id)
    return list((await tx.execute(own.order_by(SavedView.list, SavedView.name))).scalars())


async def create(tx: AsyncSession, clock: Clock, actor: Actor, request: ViewCreate) -> SavedView:
    """Save a view. Raises: Conflict if the name is taken, or there are too many."""
    # One after the other, so that two at once do not both take the last place.
    await tx.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"views:{actor.user_id}"))))
    if len(await list_own(tx, actor)) >= MAX_VIEWS:
        raise Conflict("view.too_many", f"The limit is {MAX_VIEWS} views per user.", hint="Delete one first.")
    view = SavedView(
        id=ViewId(new_id()), user_id=actor.user_id, created_at=clock.now(), **request.model_dump()
    )
    tx.add(view)
    await _store(tx, request.name)
    audit.record(tx, actor, "view.update", view.id, name=view.name, details={"after": request.model_dump()})
    return view


async def update(tx: AsyncSession, actor: Actor, view: ViewId, request: ViewUpdate) -> SavedView:
    """Rename a view, or replace its parameters. Raises: NotFound; Conflict if the name is taken."""
    saved = await _own(tx, actor, view)
    changes = request.model_dump(exclude_none=True)
    before = {name: getattr(saved, name) for name in changes}
    for name, value in changes.items():
        setattr(saved, name, value)
    await _store(tx, saved.name)
    details = {"before": before, "after": changes}
    audit.record(tx, actor, "view.update", view, name=saved.name, details=details)
    return saved


async def remove(tx: AsyncSession, actor: Actor, view: ViewId) -> None:
    """Delete a view. Raises: NotFound."""
    saved = await _own(tx, actor, view)
    await tx.delete(saved)
    details = {"before": {"name": saved.name, "search": saved.search}}
    audit.record(tx, actor, "view.update", view, name=saved.name, details=details)


async def _own(tx: AsyncSession, actor: Actor, view: ViewId) -> SavedView:
    saved = await tx.get(SavedView, view)
    if saved is None or saved.user_id != actor.user_id:
        raise NotFound("view.not_found", f"You have no view {view}.", hint="See `carrel view ls`.")
    return saved


async def _store(tx: AsyncSession, name: str) -> None:
    try:
        await tx.flush()
    except IntegrityError as error:
        raise Conflict(
            "view.name_taken",
            f"You have a view {name} already.",
            hint="Choose another name, or replace that view.",
            field="name",
        ) from error
