"""The table of slot kinds."""

from sqlalchemy import ARRAY, BigInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.slots import SlotType
from carrel.db.tables import Table


class SlotKindRow(Table):
    """A `core.slots.SlotKind` declared by a node, kept without such a node: past sessions may refer to it."""

    __tablename__ = "slot_kinds"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    family: Mapped[str] = mapped_column(String(60))
    type: Mapped[SlotType] = mapped_column(String(10))
    quantum: Mapped[int] = mapped_column(BigInteger)
    allowed: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    title: Mapped[str] = mapped_column(String(200))
    unit: Mapped[str] = mapped_column(String(60))
