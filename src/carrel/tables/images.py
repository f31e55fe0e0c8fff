"""Images from which sessions can be started by name."""

from typing import Any

from sqlalchemy import BigInteger, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import ImageId
from carrel.db.tables import Table


class Image(Table):
    """apps: templates as `apps.app_templates` reads them."""

    __tablename__ = "images"

    id: Mapped[ImageId] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    reference: Mapped[str] = mapped_column(String(512), index=True)
    title: Mapped[str] = mapped_column(String(120))
    description: Mapped[str] = mapped_column(String(1000))
    architecture: Mapped[str | None] = mapped_column(String(30))
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    present: Mapped[bool] = mapped_column(default=False)
    min_slots: Mapped[dict[str, int]] = mapped_column(JSONB)
    apps: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
