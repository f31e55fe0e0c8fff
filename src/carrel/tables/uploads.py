"""Unfinished uploads. How much of one has arrived is the size of its file in the folder's stage, and nowhere else."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, DateTime, ForeignKey, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import FolderId, UploadId, UserId
from carrel.db.tables import Table
from carrel.storage.tree import Clash

_CLASHES = ", ".join(f"'{one}'" for one in Clash)


class Upload(Table):
    """length: bytes in all; None while the client has not said. partial: a piece of a later upload, without a path.

    parts: the partial uploads that it was put together from. done_path: where the file is; None while it is none. What
    is done is kept until it expires, for clients that did not get the last answer.
    """

    __tablename__ = "uploads"
    __table_args__ = (CheckConstraint(f"clash IN ({_CLASHES})", name="clash"),)

    id: Mapped[UploadId] = mapped_column(String, primary_key=True)
    folder_id: Mapped[FolderId] = mapped_column(
        String, ForeignKey("vfolders.id", ondelete="CASCADE"), index=True
    )
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    path: Mapped[str]
    length: Mapped[int | None] = mapped_column(BigInteger)
    partial: Mapped[bool] = mapped_column(server_default=text("false"))
    parts: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    done_path: Mapped[str | None]
    clash: Mapped[Clash] = mapped_column(String(10))
    metadata_text: Mapped[str] = mapped_column(server_default="")
    """The Upload-Metadata header as the client wrote it."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)
