"""Usage samples of running containers."""

from datetime import datetime

from sqlalchemy import BigInteger, DateTime, Index, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ContainerId
from carrel.db.tables import Table


class Sample(Table):
    """cpu_millis: mean since the previous sample. Unlogged: a crash may lose a minute of charts.

    accelerator_percent, accelerator_mem_percent: of the busiest of its devices; None: not measured.
    """

    __tablename__ = "usage_samples"
    __table_args__ = (Index("ix_usage_samples_at", "at"), {"prefixes": ["UNLOGGED"]})

    container_id: Mapped[ContainerId] = mapped_column(String, primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), primary_key=True)
    cpu_millis: Mapped[int]
    mem_bytes: Mapped[int] = mapped_column(BigInteger)
    accelerator_percent: Mapped[int | None] = mapped_column(SmallInteger)
    accelerator_mem_percent: Mapped[int | None] = mapped_column(SmallInteger)
