"""What is kept of kinds of slots."""

from sqlalchemy import ARRAY, BigInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.slots import SlotType
from carrel.db.tables import Table


class SlotKindRow(Table):
    """A `core.slots.SlotKind` that a node has declared, whether or not one has it still: past sessions may name it."""

    __tablename__ = "slot_kinds"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    family: Mapped[str] = mapped_column(String(60))
    type: Mapped[SlotType] = mapped_column(String(10))
    quantum: Mapped[int] = mapped_column(BigInteger)
    allowed: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    title: Mapped[str] = mapped_column(String(200))
    unit: Mapped[str] = mapped_column(String(60))
