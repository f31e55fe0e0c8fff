"""Use cases of kinds of slots: learning them from nodes, and checking requests by them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from sqlalchemy import select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid, first_few
from carrel.core.slots import SHARES_SUFFIX, SlotKind, SlotType
from carrel.core.units import format_slot
from carrel.tables.slot_kinds import SlotKindRow

BASE = frozenset({"cpu", "mem"})
"""The slots that every node has."""
_USUAL = (".device", SHARES_SUFFIX)
"""How slots are named of accelerators that may be limited before the first node with one has joined."""
_FIELDS = ("family", "type", "quantum", "allowed", "title", "unit")


async def known(tx: AsyncSession) -> dict[str, SlotKind]:
    """All that nodes have ever declared, by name."""
    rows = (await tx.execute(select(SlotKindRow).order_by(SlotKindRow.name))).scalars()
    return {row.name: _kind(row) for row in rows}


async def learn(tx: AsyncSession, kinds: Iterable[SlotKind]) -> None:
    """Remember what nodes declare; the latest declaration of a name counts. Twice: nothing is written."""
    rows = [
        {**asdict(kind), "allowed": list(kind.allowed)}
        for kind in {kind.name: kind for kind in kinds}.values()
    ]
    if not rows:
        return
    statement = insert(SlotKindRow).values(rows)
    new = [statement.excluded[field] for field in _FIELDS]
    before = [getattr(SlotKindRow, field) for field in _FIELDS]
    await tx.execute(
        statement.on_conflict_do_update(
            index_elements=[SlotKindRow.name],
            set_=dict(zip(_FIELDS, new, strict=True)),
            where=tuple_(*before).is_distinct_from(tuple_(*new)),
        )
    )


async def require_known(tx: AsyncSession, slots: Iterable[str], *, field: str) -> None:
    """Refuse a misspelt slot, which would limit nothing, and nobody would see it. Raises: Invalid."""
    unknown = [slot for slot in slots if "." in slot and not slot.endswith(_USUAL)]
    if not unknown:
        return
    there = await known(tx)
    if wrong := next((slot for slot in unknown if slot not in there), None):
        raise Invalid(
            "slot.unknown",
            f"No node has a slot named {wrong}.",
            hint=f"Use one of {first_few(['cpu', 'mem', *there])}",
            field=f"{field}.{wrong}",
        )


async def require_possible(tx: AsyncSession, slots: Mapping[str, int], *, field: str = "slots") -> None:
    """Refuse amounts that no container may have. Raises: Invalid naming the nearest that it may."""
    accelerators = {slot: amount for slot, amount in slots.items() if amount and slot not in BASE}
    if not accelerators:
        return
    there = await known(tx)
    kinds = [there.get(slot) or _usual(slot) for slot in accelerators]
    for kind in kinds:
        if not kind.allows(accelerators[kind.name]):
            raise _not_allowed(kind, accelerators[kind.name], field)
    families = Counter(kind.family for kind in kinds)
    if both := [kind.name for kind in kinds if families[kind.family] > 1]:
        raise Invalid(
            "slot.not_both",
            f"A container can have only one of {', '.join(both)}: they use the same devices.",
            hint="Request one of them.",
            field=f"{field}.{both[1]}",
        )


def _usual(slot: str) -> SlotKind:
    """What a slot is that nobody has declared yet."""
    shares = slot.endswith(SHARES_SUFFIX)
    return SlotKind(slot, slot.rpartition(".")[0], SlotType.SHARES if shares else SlotType.COUNT)


def _not_allowed(kind: SlotKind, amount: int, field: str) -> Invalid:
    near = " or ".join(format_slot(kind.name, one) for one in kind.nearest(amount))
    why = "A container can have at most one" if kind.type is SlotType.UNIQUE else "This is not a valid amount"
    return Invalid(
        "slot.amount_not_allowed",
        f"{why} of {kind.name}.",
        hint=f"Request {near}.",
        field=f"{field}.{kind.name}",
        details={"slot": kind.name, "asked": amount, "nearest": list(kind.nearest(amount))},
    )


def _kind(row: SlotKindRow) -> SlotKind:
    return SlotKind(
        row.name, row.family, SlotType(row.type), row.quantum, tuple(row.allowed), row.title, row.unit
    )
