"""Use cases of the settings of images: what scans find out stays, and what is set here survives scans."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import exists, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.units import format_slot
from carrel.images import cuda_nodes, service
from carrel.images import watched_images as updates
from carrel.images.schemas import ImageDetail, ImageScopeRef, ImageSettingsView, ImageUpdate
from carrel.nodes import queries as nodes
from carrel.nodes.groups import service as groups
from carrel.permissions.decide import Actor, Target, allows, require
from carrel.slot_kinds import service as slot_kinds
from carrel.tables.groups import ResourceGroup
from carrel.tables.images import Image, ImageSettings, WatchRule, shown_name
from carrel.tables.nodes import Node
from carrel.tables.tenancy import Domain, Project
from carrel.tenancy import queries as tenancy

_UPDATE = "image.update"
_FIELDS = tuple(column.name for column in ImageSettings.__table__.columns if column.name != "image")


async def show(tx: AsyncSession, actor: Actor, ref: str) -> ImageDetail:
    """An image that the actor may use, by id or by what a request could name it; for superadmins any.

    Raises: NotFound.
    """
    image = await service.seen(tx, actor, ref)
    if image is None:
        raise _missing(ref)
    own: dict[str, Any] = {name: getattr(image, name) for name in ("labels", "min_slots", "requires_cuda")}
    own |= {"settings": None, "cuda_nodes": (await cuda_nodes.counted(tx, actor, [image])).get(image.id)}
    if allows(actor, _UPDATE, Target()):
        own |= {"settings": await _settings_view(tx, image), "update": updates.view(image)}
    return ImageDetail.model_validate(_viewed(image) | own)


async def change(tx: AsyncSession, actor: Actor, ref: str, changes: ImageUpdate) -> ImageDetail:
    """Change the given settings. Raises: Forbidden, NotFound, Invalid; Conflict when an alias is taken."""
    require(actor, _UPDATE, Target())
    # Aliases and preferred versions are unique among all images.
    await tx.execute(text("LOCK TABLE image_settings IN SHARE ROW EXCLUSIVE MODE"))
    image = await _image(tx, actor, ref)
    before = {field: getattr(image.settings, field) for field in _FIELDS}
    after = before | await _resolved(tx, actor, changes)
    if after["deprecated"] is False and "successor" not in changes.model_fields_set:
        after["successor"] = None
    changed = {field: value for field, value in after.items() if value != before[field]}
    if changed:
        await _require_possible(tx, image, after, changed)
        await _store(tx, image, after)
        if "watch" in changed:
            await updates.rule_changed(tx, image, after["watch"])
        details = {"before": {field: before[field] for field in changed}, "after": changed}
        audit.record(tx, actor, _UPDATE, image.id, name=image.shown_name, target=Target(), details=details)
        await updates.published(tx, image)
    return await show(tx, actor, image.id)


async def to_change(tx: AsyncSession, actor: Actor, ref: str) -> Image:
    """The image that the actor may change. Raises: Forbidden, NotFound."""
    require(actor, _UPDATE, Target())
    return await _image(tx, actor, ref)


async def _resolved(tx: AsyncSession, actor: Actor, changes: ImageUpdate) -> dict[str, Any]:
    """The given settings, with ids instead of names."""
    given = changes.model_dump(exclude_unset=True)
    if "aliases" in given:
        given["aliases"] = sorted({*changes.aliases})
    if changes.successor is not None:
        given["successor"] = (await _image(tx, actor, changes.successor, field="successor")).shown_name
    if "domains" in given:
        given["domains"] = _ids([await tenancy.domain(tx, actor, ref) for ref in changes.domains])
    if "projects" in given:
        given["projects"] = _ids([await tenancy.project(tx, actor, ref) for ref in changes.projects])
    for field in ("groups", "pull_groups"):
        if field in given:
            given[field] = _ids([await groups.find(tx, ref) for ref in getattr(changes, field)])
    if "pull_nodes" in given:
        given["pull_nodes"] = sorted({await nodes.find(tx, actor, ref) for ref in changes.pull_nodes})
    for field in ("min_slots", "recommended_slots"):
        await slot_kinds.require_known(tx, given.get(field, ()), field=field)
    return given


def _ids(rows: Iterable[Any]) -> list[str]:
    return sorted({row.id for row in rows})


async def _require_possible(
    tx: AsyncSession, image: Image, after: Mapping[str, Any], changed: Mapping[str, Any]
) -> None:
    """Raises: Invalid, Conflict."""
    if after["successor"] and not after["deprecated"]:
        raise Invalid(
            "image.not_deprecated",
            "Only a deprecated image has a successor.",
            hint="Set deprecated as well.",
            field="successor",
        )
    if changed.get("successor"):
        await _require_no_loop(tx, image.shown_name, after["successor"])
    if after["watch"] != WatchRule.OFF and image.registry_id is None:
        raise Invalid(
            "image.not_scanned",
            f"{image.shown_name} is not from a registry that is scanned, so its tag cannot be watched.",
            hint="Add its registry and scan it.",
            field="watch",
        )
    least = image.min_slots | after["min_slots"]
    for slot, amount in after["recommended_slots"].items():
        if amount < least.get(slot, 0):
            raise Invalid(
                "image.recommended_too_small",
                f"Sessions of this image have at least {format_slot(slot, least[slot])}.",
                hint="Recommend as much or more, or lower the minimum.",
                field=f"recommended_slots.{slot}",
            )
    if taken := await _taken(tx, image, changed.get("aliases", ())):
        raise Conflict(
            "image.alias_taken",
            f"{taken} is the name or an alias of another image.",
            hint="Choose another alias, or remove it there.",
            field="aliases",
            details={"alias": taken},
        )


async def _require_no_loop(tx: AsyncSession, image: str, successor: str) -> None:
    name: str | None = successor
    while name is not None:
        if name == image:
            raise Invalid(
                "image.successor_loop",
                "An image cannot succeed itself.",
                hint="Choose an image that is not succeeded by this one.",
                field="successor",
            )
        following = select(ImageSettings.successor).where(ImageSettings.image == name)
        name = (await tx.execute(following)).scalar()


async def _taken(tx: AsyncSession, image: Image, aliases: Sequence[str]) -> str | None:
    """The first of the aliases that means another image."""
    if not aliases:
        return None
    there = exists().where(shown_name() == ImageSettings.image)
    others = ImageSettings.image != image.shown_name, ImageSettings.aliases.overlap(list(aliases)), there
    rows = await tx.execute(select(ImageSettings.aliases).where(*others))
    names = await tx.execute(select(Image.name).where(Image.name.in_(aliases)))
    taken = {name for row in rows.scalars() for name in row} | {*names.scalars()}
    return next((alias for alias in aliases if alias in taken), None)


async def _store(tx: AsyncSession, image: Image, settings: Mapping[str, Any]) -> None:
    if settings["preferred"]:
        family = select(shown_name()).where(Image.family == image.family, Image.id != image.id)
        await tx.execute(update(ImageSettings).where(ImageSettings.image.in_(family)).values(preferred=False))
    statement = insert(ImageSettings).values(image=image.shown_name, **settings)
    await tx.execute(
        statement.on_conflict_do_update(index_elements=[ImageSettings.image], set_=dict(settings))
    )


async def _image(tx: AsyncSession, actor: Actor, ref: str, *, field: str | None = None) -> Image:
    image = await service.seen(tx, actor, ref)
    if image is None:
        raise _missing(ref, field)
    return image


def _missing(ref: str, field: str | None = None) -> NotFound:
    return NotFound(
        "image.not_found",
        f"There is no image {ref} in the catalogue that you can use.",
        hint="See `carrel image ls`.",
        field=field,
    )


def _viewed(image: Image) -> dict[str, Any]:
    """The fields of `ImageView` under the names by which they are read."""
    shown = service.view(image).model_dump()
    return shown | {"shown_name": shown.pop("name"), "least_slots": shown.pop("min_slots")}


async def _settings_view(tx: AsyncSession, image: Image) -> ImageSettingsView:
    settings = image.settings
    return ImageSettingsView(
        enabled=settings.enabled,
        min_slots=settings.min_slots,
        domains=await _refs(tx, Domain, settings.domains),
        projects=await _refs(tx, Project, settings.projects),
        groups=await _refs(tx, ResourceGroup, settings.groups),
        watch=settings.watch,
        pull_groups=await _refs(tx, ResourceGroup, settings.pull_groups),
        pull_nodes=await _refs(tx, Node, settings.pull_nodes),
    )


async def _refs(tx: AsyncSession, table: Any, ids: Sequence[str]) -> list[ImageScopeRef]:
    """Those that exist by name, the others by id: an image that is limited to what is gone stays limited."""
    rows = await tx.execute(select(table.id, table.name).where(table.id.in_(ids))) if ids else ()
    names: dict[str, str] = {id_: name for id_, name in rows}
    return sorted((ImageScopeRef(id=id_, name=names.get(id_, id_)) for id_ in ids), key=lambda one: one.name)
